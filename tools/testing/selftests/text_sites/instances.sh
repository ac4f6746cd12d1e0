#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instances, each with its own filter, on one engine.

. "$(dirname "$0")/functions.sh"

events_of()
{
	sed -n 's/.*: \([^ ]*\) <-.*/\1/p' "$1/trace" | sort -u | xargs
}

two_instances_with_different_filters()
{
	mkdir instances/a instances/b
	echo 'vfs_read vfs_open' > instances/a/set_ftrace_filter
	echo 'vfs_open vfs_statx' > instances/b/set_ftrace_filter
	echo function > instances/a/current_tracer
	echo function > instances/b/current_tracer
	equal "callbacks" "$(sed -E 's/ \(([0-9]+)\).*/:\1/' enabled_functions | sort | xargs)" \
		"vfs_open:2 vfs_read:1 vfs_statx:1"
	cat /proc/version > /dev/null; ls -l / > /dev/null
	echo 0 > instances/a/tracing_on
	echo 0 > instances/b/tracing_on
	equal "a" "$(events_of instances/a)" "vfs_open vfs_read"
	equal "b" "$(events_of instances/b)" "vfs_open vfs_statx"
	equal "top" "$(grep -vc '^#' trace)" 0
	rmdir instances/a instances/b
}

with_the_top_instance_tracing_everything()
{
	mkdir instances/a
	echo vfs_read > instances/a/set_ftrace_filter
	echo function > instances/a/current_tracer
	echo function > current_tracer
	equal "vfs_read" "$(sed -n -E 's/^vfs_read \(([0-9]+)\).*/\1/p' enabled_functions)" 2
	equal "others" "$(grep -vc '^vfs_read (2)' enabled_functions)" $(($(nr_available) - 1))
	cat /proc/version > /dev/null
	echo nop > current_tracer
	echo 0 > instances/a/tracing_on
	equal "a" "$(events_of instances/a)" "vfs_read"
	rmdir instances/a
	equal "text" "$(site_text)" "nop $(nr_available)"
}

an_instance_goes_while_tracing()
{
	local i
	load &
	for i in $(seq 5); do
		mkdir instances/a
		echo 'vfs_*' > instances/a/set_ftrace_filter
		echo function > instances/a/current_tracer
		rmdir instances/a
	done
}

many_instances_on_one_function()
{
	local i
	for i in $(seq 12); do
		mkdir instances/i$i
		echo vfs_read > instances/i$i/set_ftrace_filter
		echo function > instances/i$i/current_tracer
	done
	equal "callbacks" "$(sed -n -E 's/^vfs_read \(([0-9]+)\).*/\1/p' enabled_functions)" 12
	cat /proc/version > /dev/null
	for i in $(seq 12); do
		grep -q ': vfs_read <-' instances/i$i/trace || fail "nothing in instance $i"
		rmdir instances/i$i
	done
}

# Only the top instance records graphs. In another one, irqsoff records functions, and
# unregisters what it has registered.
latencies_in_an_instance_that_displays_graphs()
{
	local tracer option
	grep -qw irqsoff available_tracers || skip "no irqsoff"
	mkdir instances/a
	echo 'vfs_*' > instances/a/set_ftrace_filter
	echo 1 > instances/a/options/display-graph
	for tracer in irqsoff preemptoff irqsoff; do
		grep -qw $tracer available_tracers || continue
		echo $tracer > instances/a/current_tracer
		for option in function-trace display-graph; do
			echo 0 > instances/a/options/$option
			echo 1 > instances/a/options/$option
		done
		[ -n "$(cat enabled_functions)" ] || fail "$tracer: no functions"
		echo nop > instances/a/current_tracer
		equal "functions after $tracer" "$(wc -l < enabled_functions)" 0
	done
	rmdir instances/a
}

# measured_preemption_off MICROSECONDS: disables preemption for so long. Succeeds if the tracer
# has measured that, which it does not each time.
measured_preemption_off()
{
	modprobe preemptirq_delay_test test_mode=preempt delay="$1"
	rmmod preemptirq_delay_test
	[ "$(< tracing_max_latency)" -ge "$1" ]
}

only_one_instance_measures_latencies()
{
	grep -qw preemptoff available_tracers && grep -qw irqsoff available_tracers ||
		skip "no irqsoff, or no preemptoff"
	modinfo preemptirq_delay_test > /dev/null 2>&1 || skip "no module preemptirq_delay_test"
	trap 'echo nop > current_tracer; rmmod preemptirq_delay_test 2> /dev/null || :' EXIT
	mkdir instances/a
	echo preemptoff > current_tracer
	! echo irqsoff > instances/a/current_tracer || fail "two measure"
	echo 0 > tracing_max_latency
	within 5 measured_preemption_off 200000 ||
		fail "preemption off for 200000 us, measured $(< tracing_max_latency)"
}

run_tests two_instances_with_different_filters \
	with_the_top_instance_tracing_everything an_instance_goes_while_tracing \
	many_instances_on_one_function latencies_in_an_instance_that_displays_graphs \
	only_one_instance_measures_latencies
