#!/bin/bash
# trace-cmd, as it is in Debian
. "$DIR/lib"

record() { trace-cmd record "$@" && trace-cmd report; }

# It prints whole pages of the ring buffer until it is interrupted; with a command, it does not end.
stream()
{
	timeout -k 60 -s INT 20 trace-cmd stream "$@"
	[ $? -eq 124 ]
}

# What has arrived is written to a file after the sender has ended, the events last.
over_network()
{
	local listener status=1
	trace-cmd listen -p 12345 -d "$PWD" >listen 2>&1 &
	listener=$!
	until grep -q ':3039 ' /proc/net/tcp /proc/net/tcp6; do sleep 0.2; done
	if trace-cmd record -N 127.0.0.1:12345 -p function -l 'vfs_*' ls /; then
		for _ in {1..60}; do
			trace-cmd report -i trace.*.dat >report 2>&1 && grep -q vfs_read report &&
				status=0 && break
			sleep 1
		done
	fi
	kill "$listener"
	cat listen report
	return "$status"
}

plan 8
prints 'record and report: function' ' function: +vfs_read' \
	record -p function -l 'vfs_*' ls /
prints 'record and report: function_graph' ' funcgraph_entry: .* vfs_read\(\)' \
	record -p function_graph -g vfs_read --max-graph-depth 3 ls /
prints 'record and report: all functions' ' function: +do_sys_openat2' \
	record -p function -b 20000 true
prints 'record and report: stack traces' '=> ksys_read ' \
	record -p function -l vfs_read --func-stack ls /
prints 'record and report: events' ' sched_switch: ' record -e sched_switch sleep 0.1
prints 'stream' ' function: +vfs_open' busy stream -p function -l 'vfs_*'
prints 'listen' ' function: +vfs_read' over_network
trace-cmd reset
no_trace 'nothing is traced after it'
finish
