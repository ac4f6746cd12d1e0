#!/bin/bash
# perf, as it is in Debian
. "$DIR/lib"

record() { perf record -q -o data "$@" && perf script -i data; }

probed()
{
	perf probe -q --add "$1" && record -e "probe:${2:-vfs_read}*" -a cat /proc/version
}

plan 12
prints 'ftrace: function' ' vfs_read <-' perf ftrace trace -T 'vfs_*' cat /proc/version
prints 'ftrace: function_graph' '\| +vfs_read\(\) \{' perf ftrace trace -G vfs_read cat /proc/version
prints 'ftrace: latency' '^ +[0-9.]+ - +[0-9.]+ .*\| +[1-9][0-9]* +\|' \
	perf ftrace latency -T vfs_read cat /proc/version
prints 'trace: a system call' 'openat\(dfd: CWD, filename: .*\) += [0-9]' perf trace -e openat cat /proc/version
prints 'trace: an event' ' sched:sched_switch' perf trace --no-syscalls -e sched:sched_switch sleep 0.1
prints 'probe: a function' ' probe:vfs_read: ' probed vfs_read
prints 'probe: its return' ' probe:vfs_read__return: ' probed vfs_read%return vfs_read__return
prints 'probe: is listed' 'probe:vfs_read +\(on vfs_read' perf probe -l
holds 'probe: goes away' perf probe -q -d 'probe:*'
prints 'record: ftrace:function' ' ftrace:function: ' \
	record -e ftrace:function --filter 'ip == vfs_read' cat /proc/version
prints 'record: samples by time, with stacks' ' cpu-clock:' \
	record -e cpu-clock -g -a sleep 0.5
no_trace 'nothing is traced after it'
finish
