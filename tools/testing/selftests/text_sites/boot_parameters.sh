#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Nonsense in boot parameters is passed over; what is good beside it counts. For
# a machine with such a command line: in each list is a word with "no_such".

. "$(dirname "$0")/functions.sh"

# at_boot FILE: what is in a control file now, before the first test
at_boot()
{
	[ ! -e "$TRACING/$1" ] || grep -v '^#' "$TRACING/$1" | xargs
}

FILTER=$(at_boot set_ftrace_filter)
NOTRACE=$(at_boot set_ftrace_notrace)
GRAPH_FILTER=$(at_boot set_graph_function)
GRAPH_NOTRACE=$(at_boot set_graph_notrace)
GRAPH_DEPTH=$(at_boot max_graph_depth)
TRACER=$(at_boot current_tracer)
OPTIONS=$(at_boot trace_options)
ENABLED=$(at_boot enabled_functions)
MARKERS=$(at_boot set_marker)
EARLY=$(sed -n 's/.*: early: /early: /p' $TRACING/trace)

# given PARAMETER: with nonsense in it
given()
{
	grep -qE "(^| )$1=[^ ]*no_such" /proc/cmdline || skip "no $1=...no_such on the command line"
}

for_graphs()
{
	[ -e set_graph_function ] || skip "no function graph tracer"
}

# It is set long before interrupts are on for the first time.
the_clock()
{
	grep -qE '(^| )trace_clock=global' /proc/cmdline || skip "no trace_clock=global"
	equal "clock" "$(grep -o '\[.*\]' trace_clock)" "[global]"
	equal "told" "$(dmesg | grep -c 'enabled \*very\* early')" 0
}

a_tracer_that_is_not_there()
{
	given ftrace
	equal "tracer" "$TRACER" nop
	equal "enabled" "$ENABLED" ""
	dmesg | grep -q "ftrace bootup tracer 'no_such.*' not registered" || fail "no message"
}

filters()
{
	given ftrace_filter
	equal "filter" "$FILTER" vfs_read
	given ftrace_notrace
	equal "notrace" "$NOTRACE" vfs_statx
}

filters_of_graphs()
{
	for_graphs
	given ftrace_graph_filter
	equal "filter" "$GRAPH_FILTER" vfs_read
	given ftrace_graph_notrace
	equal "notrace" "$GRAPH_NOTRACE" vfs_write
	# The engines say it in words of their own
	dmesg | grep -qE "function no_such.* not traceable|no function matches 'no_such" ||
		fail "no message"
}

a_depth_that_is_no_number()
{
	for_graphs
	given ftrace_graph_max_depth
	equal "depth" "$GRAPH_DEPTH" 0
	dmesg | grep -q 'Unknown kernel command line parameters.*ftrace_graph_max_depth=no_such' ||
		fail "no message"
}

options()
{
	local set
	given trace_options
	# The one good word, and those that are set anyway
	[[ " $OPTIONS " == *" function-fork "* ]] || fail "$OPTIONS"
	echo 0 > options/function-fork
	set=$(xargs < trace_options)
	equal "others" "${OPTIONS/function-fork/nofunction-fork}" "$set"
}

# One that is passed by an initcall, one of a module to come
markers()
{
	given markers
	[ -e set_marker ] || skip "no markers"
	grep -q '^marker_test:early ' available_markers || skip "no test of markers in the kernel"
	equal "enabled" "$MARKERS" marker_test:early
	equal "passed" "$EARLY" "early: 1"
	modprobe marker_sample || skip "no module marker_sample"
	equal "a module's" "$(grep sample: set_marker | sort | xargs)" "sample:line sample:lines"
	rmmod marker_sample
}

run_tests the_clock a_tracer_that_is_not_there filters filters_of_graphs a_depth_that_is_no_number \
	options markers
