#!/bin/bash
# Runs the tests that need a machine: those listed in machines.tab.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

results=$HARNESS/results

main()
{
	while read -r name accel smp time append tests; do
		case $name in '' | '#'*) continue ;; esac
		case $append in -) append='' ;; esac
		label=test-$name
		say "$name: booting (log: $(short "$LOG/$label.out"), .console)"
		status=0
		"$HARNESS/vm/machine" --name "$label" --accel "$accel" --smp "$smp" \
			--timeout "$time" --append "kunit.enable=1 ${append//,/ }" "$HARNESS/vm/kselftest.sh" "$tests" \
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
	done <"${TS_MACHINES:-$HARNESS/machines.tab}"
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
