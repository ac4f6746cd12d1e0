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

# "mod" without a module narrows nothing down.
mod_without_a_module()
{
	echo 'vfs_read:mod' > set_ftrace_filter
	equal "traced" "$(filter)" vfs_read
	echo '!vfs_read:mod' >> set_ftrace_filter
	equal "gone" "$(filter)" ""
	! echo no_such:mod 2> /dev/null > set_ftrace_filter || fail "no_such:mod is taken"
	equal "still gone" "$(filter)" ""
}

# The instance's own tracing_on decides whether its stacks are recorded.
stacktrace_in_an_instance()
{
	mkdir instances/i
	trap 'echo 1 > tracing_on' EXIT
	echo 0 > tracing_on
	echo 'ksys_read:stacktrace:2' > instances/i/set_ftrace_filter
	cat /proc/version > /dev/null
	equal "stack traces" "$(grep -c '<stack trace>' instances/i/trace)" 2
	echo > instances/i/set_ftrace_filter
	echo '!ksys_read:stacktrace:0' >> instances/i/set_ftrace_filter
	echo 1 > tracing_on
	echo 0 > instances/i/tracing_on
	echo 'ksys_read:stacktrace:2' > instances/i/set_ftrace_filter
	cat /proc/version > /dev/null
	grep -q 'ksys_read:stacktrace:count=2' instances/i/set_ftrace_filter ||
		fail "it has counted: $(cat instances/i/set_ftrace_filter)"
}

# dumps COMMAND: how often the buffer is dumped when a function with it is called twice
dumps()
{
	printk=$(cut -f1 /proc/sys/kernel/printk)
	trap 'echo "$printk" > /proc/sys/kernel/printk' EXIT
	echo "cmdline_proc_show:$1" > set_ftrace_filter
	dmesg -c > /dev/null
	echo 1 > /proc/sys/kernel/printk
	cat /proc/cmdline > /dev/null
	cat /proc/cmdline > /dev/null
	dmesg | grep -c 'Dumping ftrace buffer'
	echo "!cmdline_proc_show:$1" >> set_ftrace_filter
}

dumps_once()
{
	local command
	for command in dump cpudump; do
		equal "$command" "$(dumps $command)" 1
	done
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

# A latency tracer that goes leaves the snapshot buffer to a command that still needs it.
snapshots_beside_a_latency_tracer()
{
	[ -e snapshot ] || skip "no snapshot"
	grep -qw irqsoff available_tracers || skip "no irqsoff"
	echo 'ksys_read:snapshot' > set_ftrace_filter
	echo irqsoff > current_tracer
	echo nop > current_tracer
	echo marker > trace_marker
	cat /proc/version > /dev/null
	equal "tracing_on" "$(cat tracing_on)" 1
	echo '!ksys_read:snapshot' >> set_ftrace_filter
	echo 0 > snapshot
}

# refuses_maps: the buffer cannot be mapped, as is so while a snapshot may swap it
refuses_maps()
{
	! perl -e '
		open my $pipe, "<", "per_cpu/cpu0/trace_pipe_raw" or die;
		my ($mmap, $read, $shared) = (9, 1, 1);
		exit(syscall($mmap, 0, 4096, $read, $shared, fileno $pipe, 0) == -1);
	'
}

snapshots_are_counted()
{
	[ -e snapshot ] || skip "no snapshot"
	[ "$(uname -m)" = x86_64 ] || skip "mmap() has another number"
	echo 'vfs_rea*:snapshot' > set_ftrace_filter
	[ "$(filter | wc -w)" -gt 2 ] || fail "too few functions: $(filter)"
	echo '!vfs_read:snapshot' >> set_ftrace_filter
	echo '!vfs_readv:snapshot' >> set_ftrace_filter
	refuses_maps || fail "mapped while functions take snapshots"
	echo 'ksys_read:snapshot:1' >> set_ftrace_filter
	echo '!*:snapshot' >> set_ftrace_filter
	refuses_maps || fail "mapped while one function takes snapshots"
	echo '!ksys_read:snapshot:0' >> set_ftrace_filter
	equal "left" "$(filter)" ""
	! refuses_maps || fail "not mapped although nothing takes snapshots"
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
	mod_without_a_module stacktrace_in_an_instance dumps_once enable_event snapshot_command \
	snapshots_beside_a_latency_tracer snapshots_are_counted beside_the_tracer
