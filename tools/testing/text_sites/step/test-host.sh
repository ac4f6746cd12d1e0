#!/bin/bash
# Runs the tests that need no machine: host/*.t
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"
shopt -s extglob

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

# As many at once as there may be processes
main()
{
	local test name
	# model.t takes longest and uses one processor: the others run beside it.
	for test in "$HARNESS"/host/model.t "$HARNESS"/host/!(model).t; do
		[ -e "$test" ] || continue
		name=$(basename "$test" .t)
		[ -n "$("$HARNESS/vm/pick" "$MACHINES" <<<"host-$name")" ] || continue
		if kept "host-$name" "$of"; then
			say "$name: as before: $("$HARNESS/results" brief "$RESULTS/host-$name")"
			continue
		fi
		room_in "$JOBS"
		one "$test" &
		started 1
	done
	room_in 1
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
