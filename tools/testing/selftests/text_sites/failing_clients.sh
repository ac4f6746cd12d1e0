#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each allocation of memory fails once, in what other users of function tracing do: the graph
# tracer, the stack tracer, their filters, options, lists of pids, and instances that go.

. "$(dirname "$0")/failing_functions.sh"

the_graph_tracer_comes()
{
	local all
	grep -q function_graph available_tracers || skip "no function_graph"
	begin_tracing
	all=$(grep -vc '^#' set_ftrace_filter)
	each on_or_off write current_tracer function_graph
	end_tracing
}

still_traced()
{
	[ "$(attached)" -ge "$all" ] || fail "$(attached) attached, not $all"
	[ -z "$file" ] || echo "$text" > $file
	[ "$(attached)" -le "$((all + 1))" ] || fail "$(attached) attached, not $all"
}

options_change()
{
	local all file text=0
	begin_tracing
	echo function > current_tracer
	all=$(attached)
	for file in options/func_stack_trace options/func-no-repeats options/function-fork; do
		[ -e $file ] || continue
		each still_traced write $file 1
	done
	end_tracing
}

# What the option says is so: a probe that is not there cannot be unregistered in silence.
follows_forks_or_not()
{
	# shellcheck disable=SC2154 # of try() in failing_functions.sh
	equal "event-fork" "$(< options/event-fork)" $((error == 0))
	echo 0 > options/event-fork
}

event_filters_follow_forks()
{
	begin_failing
	each follows_forks_or_not write options/event-fork 1
}

graph_filters_change()
{
	local all file text=
	[ -e set_graph_function ] || skip "no function graph tracer"
	begin_tracing
	echo function_graph > current_tracer
	all=$(attached)
	for file in set_graph_function set_graph_notrace; do
		each still_traced write $file 'vfs_r*'
	done
	end_tracing
}

# The filter that is there says whether there was an error.
new_filter_or_not()
{
	local filter='duration > 1s'
	[ "$error" != 0 ] || filter=$text
	equal "filter" "$(head -n1 graph_keep)" "$filter"
	equal "attached" "$(attached)" "$all"
	echo 'duration > 1s' > graph_keep
}

filters_of_trees_change()
{
	local all text='duration > 2s || duration < 1us'
	[ -e graph_keep ] || skip "no graph_keep"
	[ ! -e options/funcgraph-retval ] || text='duration > 2s || ret < 0'
	begin_tracing
	trap 'stop_jobs; echo nop > current_tracer; echo 0 > graph_keep' EXIT
	echo function_graph > current_tracer
	echo 'duration > 1s' > graph_keep
	all=$(attached)
	each new_filter_or_not write graph_keep "$text"
	echo 0 > graph_keep
	end_tracing
}

filter_back()
{
	echo 'vfs_*' > stack_trace_filter
	equal "attached" "$(attached)" 0
}

stack_off()
{
	echo 0 > /proc/sys/kernel/stack_tracer_enabled
	equal "attached" "$(attached)" 0
}

the_stack_tracer_comes()
{
	[ -e stack_trace_filter ] || skip "no stack tracer"
	begin_failing
	trap 'stop_jobs; stack_off; echo > stack_trace_filter' EXIT
	echo 'vfs_*' > stack_trace_filter
	each filter_back append stack_trace_filter 'ksys_*'
	each stack_off write /proc/sys/kernel/stack_tracer_enabled 1
}

no_pids()
{
	equal "attached" "$(attached)" "$all"
	echo > set_ftrace_notrace_pid
	equal "pids" "$(< set_ftrace_notrace_pid)" "no pid"
}

pids_that_are_not_traced_change()
{
	local all
	begin_tracing
	echo function > current_tracer
	all=$(attached)
	each no_pids append set_ftrace_notrace_pid $$
	end_tracing
}

instance_there()
{
	[ ! -d instances/failing ] || rmdir instances/failing
	equal "attached" "$(attached)" 0
}

# If mkdir succeeds although an allocation has failed, the instance can trace.
instance_usable()
{
	if [ -d instances/failing ]; then
		echo function > instances/failing/current_tracer
		! grep -q function_graph available_tracers ||
			echo function_graph > instances/failing/current_tracer
		echo nop > instances/failing/current_tracer
	fi
	instance_there
}

instance_away()
{
	if [ ! -d instances/failing ]; then
		# What is freed with the instance must not be called any more.
		equal "attached, without it" "$(attached)" 0
		mkdir instances/failing
		echo 'vfs_open:stacktrace' > instances/failing/set_ftrace_filter
		echo 'vfs_write:traceoff' >> instances/failing/set_ftrace_filter
		echo 'vfs_r*' >> instances/failing/set_ftrace_filter
	fi
	echo function > instances/failing/current_tracer
	[ "$(attached)" -gt 0 ] || fail "its tracer does nothing"
}

instances_come_and_go()
{
	local often=40
	begin_failing
	instance_away
	each instance_away rmdir instances/failing
	instance_there
	# Of thousands of allocations for one, few are ours.
	[ -n "$all_fail" ] || often=200
	every=$often each instance_there mkdir instances/failing
	only_structures_fail
	every=1 each instance_usable mkdir instances/failing
}

run_tests the_graph_tracer_comes options_change event_filters_follow_forks \
	graph_filters_change filters_of_trees_change the_stack_tracer_comes \
	pids_that_are_not_traced_change instances_come_and_go
