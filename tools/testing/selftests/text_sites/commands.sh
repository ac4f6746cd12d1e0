#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Commands in set_ftrace_filter.

. "$(dirname "$0")/functions.sh"

traceoff_and_traceon()
{
	echo 'ksys_read:traceoff' > set_ftrace_filter
	equal "shown" "$(filter)" "ksys_read:traceoff:unlimited"
	cat /proc/version > /dev/null
	equal "tracing_on" "$(cat tracing_on)" 0
	echo '!ksys_read:traceoff' >> set_ftrace_filter
	equal "shown when gone" "$(filter)" ""
	echo 'ksys_read:traceon' >> set_ftrace_filter
	cat /proc/version > /dev/null
	equal "tracing_on" "$(cat tracing_on)" 1
	echo '!ksys_read:traceon' >> set_ftrace_filter
}

with_a_count()
{
	echo 'ksys_read:traceoff:1' > set_ftrace_filter
	cat /proc/version > /dev/null
	equal "once" "$(cat tracing_on)" 0
	echo 1 > tracing_on
	cat /proc/version > /dev/null
	equal "no second time" "$(cat tracing_on)" 1
	echo '!ksys_read:traceoff:0' >> set_ftrace_filter
	equal "gone" "$(filter)" ""
}

on_several_functions()
{
	echo 'vfs_r*:traceoff' > set_ftrace_filter
	[ "$(filter | wc -w)" -gt 3 ] || fail "$(filter)"
	echo '!vfs_read:traceoff' >> set_ftrace_filter
	! filter | grep -qw vfs_read:traceoff:unlimited || fail "vfs_read is still there"
	grep -q '^vfs_readlink:traceoff' set_ftrace_filter || fail "the others are not"
	echo '!vfs_r*:traceoff' >> set_ftrace_filter
	equal "gone" "$(filter)" ""
}

stacktrace()
{
	echo 'ksys_read:stacktrace:2' > set_ftrace_filter
	cat /proc/version > /dev/null
	echo '!ksys_read:stacktrace:0' >> set_ftrace_filter
	equal "stack traces" "$(grep -c '<stack trace>' trace)" 2
	grep -qE "=> $SYSCALL" trace || fail "$(head -n30 trace)"
}

enable_event()
{
	echo 'ksys_read:enable_event:sched:sched_switch' > set_ftrace_filter
	cat /proc/version > /dev/null
	equal "enabled" "$(cat events/sched/sched_switch/enable)" "1*"
	echo '!ksys_read:enable_event:sched:sched_switch' >> set_ftrace_filter
	echo 0 > events/sched/sched_switch/enable
	equal "gone" "$(filter)" ""
}

snapshot_command()
{
	[ -e snapshot ] || skip "no snapshot"
	echo marker > trace_marker
	echo 'ksys_read:snapshot:1' > set_ftrace_filter
	cat /proc/version > /dev/null
	echo '!ksys_read:snapshot:0' >> set_ftrace_filter
	grep -q marker snapshot || fail "$(cat snapshot)"
	echo 0 > snapshot
}

beside_the_tracer()
{
	echo 'vfs_read' > set_ftrace_filter
	echo 'ksys_read:traceoff' >> set_ftrace_filter
	echo function > current_tracer
	equal "attached" "$(cut -d' ' -f1,2 enabled_functions | sort | xargs)" \
		"ksys_read (1) vfs_read (1)"
	echo '!ksys_read:traceoff' >> set_ftrace_filter
	equal "filter" "$(filter)" vfs_read
}

run_tests traceoff_and_traceon with_a_count on_several_functions stacktrace \
	enable_event snapshot_command beside_the_tracer
