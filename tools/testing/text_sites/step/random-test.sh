#!/bin/bash
# Compiles and boots small kernels with random tracing options; each number, 1 to 12 or those in
# NUMBERS, is the seed of one kernel. Every fourth number takes the classic engine. A kernel that
# has run with the same source is not run again.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"
. "$HARNESS/small.sh"

log=$LOG/random-test.log
out=$BUILD/random

# tracers: those that the kernel has
tracers()
{
	echo function
	! has FUNCTION_GRAPH_TRACER || echo function_graph
	! has FTRACE_SYSCALLS || echo events
}

# kernel_of NUMBER: compiles the kernel, which then boots in the background
kernel_of()
{
	local engine=text_sites options of log why='' warning traced
	[ $((10#$1 % 4)) -ne 0 ] || engine=classic
	options=$("$HARNESS/random_options" "$1" "$TREE")
	choose "$options"
	of=$(of "$(source_id)")
	if ran "$1" "$of"; then
		say "$1 ($engine): as before: $(cut -f3 "$RESULTS/$1")"
		return
	fi
	rm -f "$RESULTS/$1" "$RESULTS/$1.of"
	SECONDS=0
	log=$LOG/random-$1.log
	compile "$1"
	warning=$(warnings "$log" | sed -n 1p)
	[ -z "$warning" ] || why=${why:-compiles with warnings: $warning}
	has "FTRACE_ENGINE_${engine^^}" || why=${why:-has another engine}
	mapfile -t traced < <(tracers)
	room_in 1
	boot "$1" "$1" "$of" "${traced[@]}" &
	started 1
}

main()
{
	local number
	compiler_cache
	mkdir -p "$RESULTS" "$out"
	[ -e "$rootfs" ] || die "$(short "$rootfs") is missing: 'make rootfs' makes it"
	[ "$NUMBERS" != all ] || NUMBERS=$(seq 12)
	for number in $NUMBERS; do
		kernel_of "$number"
	done
	room_in 1
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
