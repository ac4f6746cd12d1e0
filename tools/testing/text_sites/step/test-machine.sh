#!/bin/bash
# Runs the tests that need a machine: those listed in machines.tab.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

results=$HARNESS/results
list=${TS_LIST:-$HARNESS/base-failures.tab}

# listed NAME COLLECTION PATTERNS: what the list says about this machine's tests
listed()
{
	local line
	sed -n "/^$1: /p" "$list"
	sed -n "/^$2: /p" "$list" | while IFS= read -r line; do
		line=${line#"$2: "}
		[ -z "$("$HARNESS/vm/pick" "$3" <<<"${line%%$'\t'*}")" ] || printf '%s\n' "$2: $line"
	done
}

# choose_job COLLECTION PATTERNS: the job, as arguments for the machine
choose_job()
{
	case $1 in
	counts) job=("$HARNESS/bench/machine.sh" "$2") ;;
	startup) job=(--startup-tests "$HARNESS/vm/startup.sh") ;;
	ftrace) job=("$HARNESS/vm/ftracetest.sh" "$2") ;;
	*) job=("$HARNESS/vm/kselftest.sh" "$1" "$2") ;;
	esac
}

# as_tap COLLECTION: what the tests printed
as_tap()
{
	case $1 in
	counts) "$HARNESS/bench/guard" "$HARNESS/bench/limits.tab" ;;
	*) cat ;;
	esac
}

# read_results NAME COLLECTION STATUS: those of the machine that ended
read_results()
{
	local out=$LOG/test-$1.out console=$LOG/test-$1.console label=$2 log
	for log in "$out" "$console"; do [ -e "$log" ] || : >"$log"; done

	# The base's tests have the same name in whatever machine they run.
	case $2 in text_sites | counts) label=$1 ;; esac
	as_tap "$2" <"$out" |
		"$results" read --label "$label" --log "$(short "$out")" --status "$3"
	"$results" console --label "$1" --log "$(short "$console")" <"$console"
}

# judged NAME COLLECTION PATTERNS: results compared with what is expected of them
judged()
{
	case $2 in
	text_sites | counts) cat ;;
	*) "$results" judge --list <(listed "$@") --log "$(short "$LOG/test-$1.out")" ;;
	esac
}

# chosen: those lines of the list that are asked for, with a collection in each
chosen()
{
	local name accel smp time append tests
	# all of it at once: it may be edited while machines run
	while read -r name accel smp time append tests; do
		case $name in '' | '#'*) continue ;; esac
		[ -n "$("$HARNESS/vm/pick" "$MACHINES" <<<"$name")" ] || continue
		case $tests in *:*) ;; *) tests=text_sites:$tests ;; esac
		printf '%s\n' "$name $accel $smp $time $append $tests"
	done < <(cat "${TS_MACHINES:-$HARNESS/machines.tab}")
}

# threads_of ACCEL SMP: how many of the host it keeps busy
threads_of()
{
	case $1 in multi*) echo "$2" ;; *) echo 1 ;; esac
}

# took NAME [SECONDS]: how long a machine took when it ran last, or that it takes so long
took()
{
	local file=$BUILD/took/$KERNEL-$1
	if [ $# -gt 1 ]; then
		mkdir -p "${file%/*}"
		echo "$2" >"$file"
	else
		cat "$file" 2>/dev/null || :
	fi
}

# end_of LINE...: when these machines will have run, if it is known how long each takes
end_of()
{
	local line seconds sum=0
	local name accel smp _
	for line; do
		read -r name accel smp _ <<<"$line"
		seconds=$(took "$name")
		[ -n "$seconds" ] || return 0
		sum=$((sum + seconds * $(threads_of "$accel" "$smp")))
	done
	date -d "+$((sum / $(nproc))) seconds" '+, all until %H:%M'
}

# test_in PLACE NAME ACCEL SMP TIME APPEND COLLECTION PATTERNS: one machine, and its results;
# PLACE says how far that is
test_in()
{
	local place=$1
	shift
	local name=$1 accel=${2%+*} smp=$3 time=$4 append=$5 status=0 job options=()
	local label=test-$name to=$BUILD/results/machine-$KERNEL-$name

	case $append in -) append='' ;; esac
	# A comma is between parameters, but for \,
	append=${append//\\,/$'\n'}
	append=${append//,/ }
	append=${append//$'\n'/,}
	case $2 in *+*) options=(--nmi "${2#*+}") ;; esac
	choose_job "$6" "$7"
	say "$name: booting, $place (log: $(short "$LOG/$label.out"), .console)"
	SECONDS=0
	"$HARNESS/vm/machine" --name "$label" --accel "$accel" --smp "$smp" \
		--timeout "$time" --append "kunit.enable=1 $append" "${options[@]}" "${job[@]}" \
		>/dev/null 2>"$LOG/$label.err" </dev/null || status=$?
	cat "$LOG/$label.err" >&2
	read_results "$name" "$6" "$status" | judged "$name" "$6" "$7" >"$to"
	took "$name" $SECONDS
	say "$name: $("$results" brief "$to") ($((SECONDS / 60)):$(printf '%02d' $((SECONDS % 60))))"
}

# Not one of them may be lost
wait_for_one()
{
	local pid
	wait -n -p pid "${!threads[@]}" || die "the results of a machine could not be had"
	used=$((used - threads[$pid]))
	unset "threads[$pid]"
}

main()
{
	# the machines that run: host threads, by process
	local -A threads=()
	local used=0 need slots machines i
	local name accel smp time append tests
	slots=$(nproc)
	mapfile -t machines < <(chosen)
	for ((i = 0; i < ${#machines[@]}; i++)); do
		read -r name accel smp time append tests <<<"${machines[i]}"
		need=$(threads_of "$accel" "$smp")
		while [ "$used" -gt 0 ] && [ $((used + need)) -gt "$slots" ]; do wait_for_one; done
		test_in "$((i + 1)) of ${#machines[@]}$(end_of "${machines[@]:i}")" \
			"$name" "$accel" "$smp" "$time" "$append" "${tests%%:*}" "${tests#*:}" &
		threads[$!]=$need
		used=$((used + need))
	done
	while [ "$used" -gt 0 ]; do wait_for_one; done
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
