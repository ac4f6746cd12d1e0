#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# How late a real-time task is while others have text changed. Who starts the kernel knows
# what its clock is worth, and how late that may be: "max_delay=MICROSECONDS" on its command
# line. The test machine does so where time is the number of instructions executed.

. "$(dirname "$0")/functions.sh"

# not_late COMMANDS: a task that is to run every 500 us does so meanwhile
not_late()
{
	local max worst times
	max=$(sed -n 's/.*\<max_delay=\([0-9]*\).*/\1/p' /proc/cmdline)
	[ -n "$max" ] || skip "no max_delay= on the command line"
	"$HERE/rt_delay" 500 bash -e -c "for ((i = 0; i < 20; i++)); do $1; done" > /tmp/delays
	worst=$(sed -n 's/^worst //p' /tmp/delays)
	times=$(awk '$1 != "worst" { n += $2 } END { print n + 0 }' /tmp/delays)
	echo "# $times times, $worst ns at most"
	[ "$times" -ge 100 ] || fail "it ran $times times"
	[ "$worst" -le $((max * 1000)) ] || fail "$worst ns late"
}

while_functions_are_switched()
{
	[ -e set_ftrace_filter ] || skip "no function tracer"
	echo 0 > tracing_on
	not_late 'echo function > current_tracer; echo nop > current_tracer'
}

while_events_are_switched()
{
	echo 0 > tracing_on
	not_late 'echo 1 > events/enable; echo 0 > events/enable'
}

while_markers_are_switched()
{
	local module=$HERE/test_modules/markers_many.ko
	[ -e available_markers ] || skip "no markers"
	[ -e "$module" ] || skip "no module markers_many"
	trap 'stop_jobs; rmmod markers_many' EXIT
	insmod "$module"
	echo 0 > tracing_on
	not_late 'echo "many:*" > set_marker; echo > set_marker'
}

run_tests while_functions_are_switched while_events_are_switched while_markers_are_switched
