#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a grammar makes is written to each control file, see fuzz_files.c. After a thousand
# writes each time, sites hold what they are said to hold. The kernel's command line, or the
# environment, says how many writes there are, and with which seed the first thousand are
# made: fuzz_writes=NUMBER, fuzz_seed=NUMBER.

. "$(dirname "$0")/functions.sh"

ROUND_WRITES=1000
MODULES="functions_many tables_test copies_000"

modules()
{
	local name
	for name in $MODULES; do
		[ ! -e "$HERE/test_modules/$name.ko" ] || echo "$HERE/test_modules/$name.ko"
	done
}

# Everything is as it was before, in the top directory and without instances. What cannot be put
# back is for nothing_left() to find.
put_back()
{
	local dir name line
	echo 1 > /proc/sys/kernel/ftrace_enabled
	echo 0 > /proc/sys/kernel/stack_tracer_enabled
	echo 3072 > $ROUND
	for dir in . instances/*/; do
		[ -e "$dir/current_tracer" ] || continue
		echo nop > "$dir/current_tracer"
		while read -r line; do
			echo "!$line" > "$dir/events/sched/sched_switch/trigger"
		done < <(sed 's/:unlimited//; s/:count=/:/; /^#/d' "$dir/events/sched/sched_switch/trigger")
		echo 0 > "$dir/events/enable"
		echo > "$dir/set_event"
		for name in set_event_pid set_event_notrace_pid set_ftrace_pid set_ftrace_notrace_pid; do
			[ ! -e "$dir/$name" ] || echo > "$dir/$name"
		done
		# Commands are taken away one by one, and as often as they are there.
		while read -r line; do
			line=${line%:unlimited}
			echo "!${line/:count=/:}" >> "$dir/set_ftrace_filter"
		done < <(grep -v '^#' "$dir/set_ftrace_filter" | grep ':' | grep -v ':mod:')
		for name in set_ftrace_filter set_ftrace_notrace; do
			echo > "$dir/$name"
		done
		for name in function-fork func-no-repeats func_stack_trace event-fork record-tgid \
			sym-addr func-args funcgraph-args funcgraph-retaddr; do
			[ ! -e "$dir/options/$name" ] || echo 0 > "$dir/options/$name"
		done
		echo local > "$dir/trace_clock"
		printf "%x\n" $(((1 << $(nproc)) - 1)) > "$dir/tracing_cpumask"
		echo 0 > "$dir/snapshot"
		echo 4 > "$dir/buffer_subbuf_size_kb"
		echo 1408 > "$dir/buffer_size_kb"
		echo 1 > "$dir/tracing_on"
	done
	for name in set_graph_function set_graph_notrace stack_trace_filter set_marker graph_keep; do
		[ ! -e $name ] || echo > $name
	done
	[ ! -e max_graph_depth ] || echo 0 > max_graph_depth
	[ ! -e function_profile_enabled ] || echo 0 > function_profile_enabled
	[ ! -e kprobe_events ] || echo > kprobe_events
	[ ! -e dynamic_events ] || echo > dynamic_events
	for dir in instances/*/; do
		[ ! -d "$dir" ] || rmdir "$dir"
	done
	for name in $(modules); do
		name=${name##*/}
		! grep -q "^${name%.ko} " /proc/modules || rmmod "${name%.ko}"
	done
}

# The tasks have gone: nobody changes anything.
agree()
{
	equal "calls in text" "$(site_text | sed -n 's/^call //p')" \
		"$(wc -l < enabled_functions | sed 's/^0$//')"
	equal "breakpoints" "$(site_text | sed -n 's/^int3 //p')" ''
}

nothing_left()
{
	equal "attached" "$(wc -l < enabled_functions)" 0
	equal "text" "$(site_text)" "nop $(nr_available)"
	equal "all" "$(cut -d' ' -f1 dyn_ftrace_total_info)" "$(nr_available)"
	equal "instances" "$(ls instances)" ''
	equal "modules" "$(grep -cE "^(${MODULES// /|}) " /proc/modules)" 0
}

# fuzz WRITES SEED TASKS: each round begins in the same state, so that its seed reproduces it
fuzz()
{
	local seed=$2 left=$1 now what
	trap 'stop_jobs; put_back || :' EXIT
	old=$(complaints)
	while [ "$left" -gt 0 ]; do
		now=$((left < ROUND_WRITES ? left : ROUND_WRITES))
		what="seed $seed, $now writes, $3 tasks"
		echo "# $what"
		# shellcheck disable=SC2046
		echo "# $what: $("$HERE/fuzz_files" "$seed" $now "$3" $(modules))"
		agree || fail "after $what"
		put_back || :
		nothing_left || fail "put back after $what"
		[ "$(complaints)" = "$old" ] || fail "$what: $(complaints | tail -n1)"
		left=$((left - now)) seed=$((seed + 1))
	done
}

by_one_task()
{
	local writes; writes=$(setting fuzz_writes 1000)
	fuzz $((writes / 4)) "$(setting fuzz_seed 1)" 1
}

by_four_tasks()
{
	local writes; writes=$(setting fuzz_writes 1000)
	fuzz $((writes * 3 / 4)) "$(setting fuzz_seed 1)" 4
}

run_tests by_one_task by_four_tasks
