#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An instance whose buffer is in memory that outlives a reboot, made by trace_instance=NAME@MEMORY
# on the kernel's command line. Its buffer has one size, and there is none for snapshots.

. "$(dirname "$0")/functions.sh"

NAME=$(boot_instances | head -n1)

put_back()
{
	cd "$TRACING/instances/$NAME" || return
	echo nop > current_tracer
	echo > set_ftrace_filter
	echo 1 > options/overwrite
	echo > trace
	echo 1 > tracing_on
}

need_instance()
{
	[ -n "$NAME" ] || skip "no trace_instance=NAME@MEMORY on the command line"
	[ -d "instances/$NAME" ] || fail "no instance $NAME: $(dmesg | grep -E 'Tracing: |reserve_mem')"
	trap 'stop_jobs; put_back' EXIT
	put_back
}

# refused FILE TEXT: writing it fails with EBUSY, and the file has its old content
refused()
{
	local before; before=$(< "$1")
	expect_error "$2 to $1" "Device or resource busy" "$1" "$2"
	equal "$1" "$(< "$1")" "$before"
}

functions_are_recorded()
{
	need_instance
	echo vfs_read > set_ftrace_filter
	echo function > current_tracer
	cat /proc/version > /dev/null
	echo 0 > tracing_on
	grep -q ': vfs_read <-' trace || fail "nothing: $(tail -n3 trace)"
	! grep -v '^#' trace | grep -v ': vfs_read <-' || fail "other functions"
	echo > trace
	equal "emptied" "$(grep -vc '^#' trace)" 0
	put_back
}

graphs_are_recorded()
{
	need_instance
	grep -qw function_graph available_tracers || skip "no function_graph"
	echo vfs_read > set_ftrace_filter
	echo function_graph > current_tracer
	cat /proc/version > /dev/null
	echo 0 > tracing_on
	grep -q ' vfs_read();$' trace || fail "nothing: $(tail -n3 trace)"
	put_back
}

# consumed PATTERN: there is a line of it in what trace_pipe gives
consumed() { timeout 2 cat trace_pipe > /tmp/consumed; grep -q "$1" /tmp/consumed; }

events_are_recorded_and_consumed()
{
	need_instance
	echo 1 > events/sched/sched_switch/enable
	sleep 0.1
	echo 0 > events/sched/sched_switch/enable
	[ "$(grep -c ': sched_switch: ' trace)" -gt 1 ] || fail "no events"
	consumed ': sched_switch: ' || fail "nothing to consume: $(head -n3 /tmp/consumed)"
	equal "left" "$(grep -vc '^#' trace)" 0
}

# The base used the snapshot buffer in both cases, which is not there.
its_processors_and_what_is_overwritten()
{
	local all
	need_instance
	all=$(< tracing_cpumask)
	echo 1 > tracing_cpumask
	equal "processors" "$((0x$(< tracing_cpumask)))" 1
	taskset -c 0 bash -c 'echo on 0 > trace_marker'
	[ "$(nproc)" = 1 ] || ! taskset -c 1 bash -c 'echo on 1 > trace_marker' 2> /dev/null ||
		fail "written on another one"
	equal "written" "$(grep -o 'on [0-9]$' trace)" "on 0"
	echo "$all" > tracing_cpumask
	echo 0 > options/overwrite
	equal "overwrite" "$(< options/overwrite)" 0
	echo > trace
	echo function > current_tracer
	ls -R /proc/self > /dev/null 2>&1 || :
	echo 0 > tracing_on
	grep -qv '^#' trace || fail "nothing"
	put_back
}

its_size_is_what_it_is()
{
	need_instance
	refused buffer_size_kb 100
	refused buffer_subbuf_size_kb 8
	[ ! -e snapshot ] || fail "it has a snapshot"
}

it_stays()
{
	need_instance
	! rmdir "../$NAME" 2> /tmp/said || fail "it has gone"
	grep -q 'busy' /tmp/said || fail "$(< /tmp/said)"
	[ -e trace ] || fail "it has gone in part"
}

run_tests functions_are_recorded graphs_are_recorded events_are_recorded_and_consumed \
	its_processors_and_what_is_overwritten its_size_is_what_it_is it_stays
