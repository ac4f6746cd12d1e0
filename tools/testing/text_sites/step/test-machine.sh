#!/bin/bash
# Runs the tests that need a machine: those listed in machines.tab.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

results=$HARNESS/results

# test_in NAME ACCEL SMP TIME APPEND TESTS: one machine, and its results
test_in()
{
	local name=$1 accel=$2 smp=$3 time=$4 append=$5 tests=$6 status=0 log
	local label=test-$name

	case $append in -) append='' ;; esac
	# A comma is between parameters, but for \,
	append=${append//\\,/$'\n'}
	append=${append//,/ }
	append=${append//$'\n'/,}
	say "$name: booting (log: $(short "$LOG/$label.out"), .console)"
	"$HARNESS/vm/machine" --name "$label" --accel "$accel" --smp "$smp" \
		--timeout "$time" --append "kunit.enable=1 $append" \
		"$HARNESS/vm/kselftest.sh" "$tests" \
		>/dev/null 2>"$LOG/$label.err" </dev/null || status=$?
	cat "$LOG/$label.err" >&2
	for log in "$LOG/$label.out" "$LOG/$label.console"; do
		[ -e "$log" ] || : >"$log"
	done
	{
		"$results" read --label "$name" --log "$(short "$LOG/$label.out")" \
			--status "$status" <"$LOG/$label.out"
		"$results" console --label "$name" --log "$(short "$LOG/$label.console")" \
			<"$LOG/$label.console"
	} >"$BUILD/results/machine-$name"
	say "$name: $("$results" brief "$BUILD/results/machine-$name")"
}

# Not one of them may be lost
wait_for()
{
	local pid
	for pid; do wait "$pid" || die "the results of a machine could not be had"; done
}

main()
{
	local running=()
	while read -r name accel smp time append tests; do
		case $name in '' | '#'*) continue ;; esac
		# An emulator with one thread leaves the other processors to others.
		case $accel in
		single)
			test_in "$name" "$accel" "$smp" "$time" "$append" "$tests" &
			running+=($!) ;;
		*)
			wait_for "${running[@]}"
			running=()
			test_in "$name" "$accel" "$smp" "$time" "$append" "$tests" ;;
		esac
		# all of it at once: it may be edited while machines run
	done < <(cat "${TS_MACHINES:-$HARNESS/machines.tab}")
	wait_for "${running[@]}"
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
