#!/bin/bash
# Runs the tests that need no machine: host/*.t
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

# What they look at: our files, and the kernel that was compiled last
of=$({
	stamp tree
	stamp "kernel-$KERNEL"
	find "$HARNESS" -type f -print0 | sort -z | xargs -0 sha256sum
} | hash)

# one TEST: runs it, and keeps what it says
one()
{
	local name log status=0
	name=$(basename "$1" .t)
	log=$LOG/host-$name.log
	SECONDS=0
	prove -v "$1" >"$log" 2>&1 </dev/null || status=$?
	"$HARNESS/results" read --label "host/$name" --log "$(short "$log")" \
		--status "$status" <"$log" | keep "host-$name" "$of"
	say "$name: $("$HARNESS/results" brief "$RESULTS/host-$name")"
}

# Not one of them may be lost
wait_for_one()
{
	wait -n || die "the results of a test could not be had"
	running=$((running - 1))
}

# As many at once as there may be processes
main()
{
	local test name running=0
	for test in "$HARNESS"/host/*.t; do
		name=$(basename "$test" .t)
		[ -n "$("$HARNESS/vm/pick" "$MACHINES" <<<"host-$name")" ] || continue
		if kept "host-$name" "$of"; then
			say "$name: as before: $("$HARNESS/results" brief "$RESULTS/host-$name")"
			continue
		fi
		[ "$running" -lt "$JOBS" ] || wait_for_one
		one "$test" &
		running=$((running + 1))
	done
	while [ "$running" -gt 0 ]; do wait_for_one; done
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
