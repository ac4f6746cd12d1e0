#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A tracer that the command line asks for, which traces everything from early boot on: for a
# machine with ftrace=TRACER and trace_options=nooverwrite, which keeps the first events.

TRACER=$(sed -n 's/.*ftrace=\(function[a-z_]*\) .*/\1/p' /proc/cmdline)
# As it was at boot: each test begins and ends with no tracer.
if [ -n "$TRACER" ]; then
	CURRENT=$(cat /sys/kernel/tracing/current_tracer)
	echo 0 > /sys/kernel/tracing/tracing_on
	ENABLED=$(wc -l < /sys/kernel/tracing/enabled_functions)
	AVAILABLE=$(wc -l < /sys/kernel/tracing/available_filter_functions)
	TEXT=$("$(dirname "$0")/site_text" < /sys/kernel/tracing/available_filter_functions_addrs)
	cp /sys/kernel/tracing/trace /tmp/early
fi

. "$(dirname "$0")/functions.sh"

asked() { [ -n "$TRACER" ] || skip "no ftrace=function or function_graph on the command line"; }

it_is_the_tracer()
{
	asked
	equal "tracer" "$CURRENT" "$TRACER"
	equal "enabled functions" "$ENABLED" "$AVAILABLE"
	equal "text of all sites" "$TEXT" "call $AVAILABLE"
}

# By the first task, when there was no clock yet; graphs, while the kernel was initialised
it_has_traced_early_boot()
{
	local first='<idle>-0 .* 0\.[0-9]*: '
	asked
	[ "$TRACER" = function ] || first=' do_one_initcall\| kernel_init_freeable\| smp_init'
	grep -q "$first" /tmp/early || fail "$(grep -v '^#' /tmp/early | head -n 3)"
	[ "$(grep -vc '^#' /tmp/early)" -gt 10000 ] || fail "few events"
}

it_can_be_replaced()
{
	local tracer all
	asked
	all=$(nr_available)
	equal "text of all sites without it" "$(site_text)" "nop $all"
	for tracer in function function_graph; do
		echo '*' > set_ftrace_filter
		echo > set_ftrace_filter
		echo $tracer > current_tracer
		equal "text of all sites with $tracer" "$(site_text)" "call $all"
		# What has come so far may have filled the buffer.
		echo > trace
		read -r _ < /proc/version
		echo 0 > tracing_on
		grep -q vfs_ trace || fail "$tracer has not traced anything"
		echo nop > current_tracer
		echo 1 > tracing_on
		equal "text of all sites after $tracer" "$(site_text)" "nop $all"
	done
}

run_tests it_is_the_tracer it_has_traced_early_boot it_can_be_replaced
