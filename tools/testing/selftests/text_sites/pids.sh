#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# set_ftrace_pid and set_ftrace_notrace_pid.

. "$(dirname "$0")/functions.sh"

# The pids that have events, in order
pids()
{
	sed -n 's/^ *.*-\([0-9]*\) *\[.*/\1/p' trace | sort -un | xargs
}

no_pids() { [ -z "$(cat set_ftrace_pid)" ]; }

reader()
{
	while :; do read -r _ < /proc/version; done
}

only_one_task()
{
	reader & local pid=$!
	# All functions are traced: to print a full buffer takes long.
	trap 'stop_jobs; echo 1408 > buffer_size_kb' EXIT
	echo 300 > buffer_size_kb
	equal "no list" "$(cat set_ftrace_pid)" "no pid"
	echo $pid > set_ftrace_pid
	equal "list" "$(cat set_ftrace_pid)" "$pid"
	echo function > current_tracer
	sleep 0.5
	echo 0 > tracing_on
	equal "traced" "$(pids)" "$pid"
}

switched_on_while_tracing()
{
	reader & local pid=$!
	echo 'vfs_*' > set_ftrace_filter
	echo function > current_tracer
	echo $pid > set_ftrace_pid
	echo > trace
	sleep 0.5
	echo 0 > tracing_on
	equal "traced" "$(pids)" "$pid"
	echo 1 > tracing_on
	echo > set_ftrace_pid
	cat /proc/version > /dev/null
	echo 0 > tracing_on
	[ "$(pids | wc -w)" -gt 1 ] || fail "still only $(pids)"
}

children_with_the_option()
{
	echo 1 > options/function-fork
	rm -f /tmp/go
	mkfifo /tmp/go
	( read -r _ < /tmp/go; cat /proc/version > /dev/null; ls > /dev/null ) & local pid=$!
	echo $pid > set_ftrace_pid
	echo 'vfs_*' > set_ftrace_filter
	echo function > current_tracer
	echo > /tmp/go
	wait $pid
	echo 0 > tracing_on
	[ "$(pids | wc -w)" -ge 3 ] || fail "traced: $(pids)"
	# Tasks are freed some time after their end
	within 60 no_pids || :
	equal "gone with their tasks" "$(cat set_ftrace_pid)" ""
	echo 0 > options/function-fork
}

all_but_one_task()
{
	reader & local pid=$!
	reader &
	echo $pid > set_ftrace_notrace_pid
	echo 'vfs_*' > set_ftrace_filter
	echo function > current_tracer
	sleep 0.5
	echo 0 > tracing_on
	! pids | grep -qw $pid || fail "$pid is traced"
	[ -n "$(pids)" ] || fail "nothing is traced"
}

# Events of tasks: when the last one has exited, writing nothing removes the list.
the_last_task_exits()
{
	local pid
	echo 1 > options/event-fork
	sleep 60 & pid=$!
	echo $pid > set_event_pid
	equal "pids" "$(< set_event_pid)" $pid
	kill $pid
	wait $pid || :
	within 60 no_event_pids || fail "it is still there: $(< set_event_pid)"
	echo >> set_event_pid
	echo $$ >> set_event_pid
	equal "another" "$(< set_event_pid)" $$
	echo > set_event_pid
	equal "none" "$(< set_event_pid)" ""
	echo 0 > options/event-fork
}

no_event_pids() { [ -z "$(< set_event_pid)" ]; }

run_tests only_one_task switched_on_while_tracing children_with_the_option \
	all_but_one_task the_last_task_exits
