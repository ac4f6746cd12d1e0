#!/bin/bash
# Compiles and boots small kernels whose tracing options are chosen by chance, each from a
# number: 1 to 12, or NUMBERS. Every fourth has the classic engine. What has run with the same
# source is not run again.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"
. "$HARNESS/small.sh"

log=$LOG/random-test.log
tree=$TREE
out=$BUILD/random

choose()
{
	mkdir -p "$out"
	{
		cat "$fragment"
		"$HARNESS/random_options" "$1" "$tree"
		# Without it, there is no choice between engines.
		printf 'CONFIG_%s=y\n' FTRACE FUNCTION_TRACER DYNAMIC_FTRACE
		case $engine in
		classic) echo CONFIG_FTRACE_ENGINE_CLASSIC=y ;;
		*) echo CONFIG_FTRACE_ENGINE_TEXT_SITES=y ;;
		esac
	} >"$out/$engine.fragment" || die "cannot write to $(short "$out")"
}

# of: what the results are of
of()
{
	{
		source_id
		gcc --version
		cat "$out/$engine.fragment" "$HARNESS"/{,vm/}small.sh "$0"
		stamp programs-text_sites
	} | hash
}

# tracers: those that the kernel has
tracers()
{
	echo function
	! has FUNCTION_GRAPH_TRACER || echo function_graph
	! has FTRACE_SYSCALLS || echo events
}

# kernel_of NUMBER: it boots while the next one is compiled
kernel_of()
{
	local engine=text_sites of log why='' first traced=()
	[ $(($1 % 4)) -ne 0 ] || engine=classic
	choose "$1"
	of=$(of)
	if kept "$1" "$of"; then
		say "$1 ($engine): as before: $(cut -f3 "$RESULTS/$1")"
		return
	fi
	rm -f "$RESULTS/$1" "$RESULTS/$1.of"
	SECONDS=0
	log=$LOG/random-$1.log
	compile "$1"
	first=$(warnings "$log" | sed -n 1p)
	if [ -z "$why" ] && [ -n "$first" ]; then
		why="compiles with warnings: $first"
	fi
	mapfile -t traced < <(tracers)
	room_in 1
	boot "$1" "$1" "$of" "${traced[@]}" &
	started 1
}

main()
{
	local number
	compiler_cache
	mkdir -p "$RESULTS"
	[ -e "$rootfs" ] || die "$(short "$rootfs") is missing: 'make rootfs' makes it"
	[ "$NUMBERS" != all ] || NUMBERS=$(seq 12)
	for number in $NUMBERS; do
		case $number in
		*[!0-9]*) die "NUMBERS are numbers, not '$number'" ;;
		esac
		kernel_of "$number"
	done
	room_in 1
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
