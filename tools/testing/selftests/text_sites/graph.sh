#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What restricts function_graph does so from the next call on, and no longer than it is there:
# whether a call may be recorded the short way is found out beforehand.

. "$(dirname "$0")/functions.sh"

# What reading a file of procfs calls: each calls the next one, and nobody else does.
CALLS='ksys_read vfs_read proc_reg_read_iter'

begin_graph()
{
	echo "$CALLS${1:+ $1}" > set_ftrace_filter
	echo function_graph > current_tracer
}

end_graph()
{
	echo nop > current_tracer
	echo > set_ftrace_filter
}

# Which of the calls a task's read is traced with, in this order. Reading the trace would
# be traced, too.
traced()
{
	local call
	echo > trace
	echo 1 > tracing_on
	cat /proc/version > /dev/null
	echo 0 > tracing_on
	for call in $CALLS; do
		# With nothing traced in it, a call is one line.
		! grep -q "$call();\|$call() {" trace || echo "$call"
	done | xargs
}

# Each call is as deep as it is, also where nothing restricts the tracer. A file may be read
# by the kernel itself, or be another one, which calls nothing.
calls_are_nested()
{
	begin_graph
	equal "calls" "$(traced)" "$CALLS"
	equal "nested" "$(sed -nE 's/.*\|  ( *[a-z_]+\(\) \{| *proc.*;)/\1/p' trace | sort -u)" \
		"    proc_reg_read_iter();
  vfs_read() {
ksys_read() {"
	end_graph
}

a_function_to_begin_with()
{
	begin_graph
	equal "calls" "$(traced)" "$CALLS"
	echo vfs_read > set_graph_function
	equal "calls, from vfs_read on" "$(traced)" "vfs_read proc_reg_read_iter"
	echo > set_graph_function
	equal "calls, from everywhere again" "$(traced)" "$CALLS"
	end_graph
}

a_function_to_leave_out()
{
	begin_graph
	echo vfs_read > set_graph_notrace
	equal "calls, without vfs_read" "$(traced)" "ksys_read"
	echo > set_graph_notrace
	equal "calls, all again" "$(traced)" "$CALLS"
	end_graph
}

a_depth()
{
	begin_graph
	echo 2 > max_graph_depth
	equal "calls, two deep" "$(traced)" "ksys_read vfs_read"
	echo 0 > max_graph_depth
	equal "calls, as deep as they are" "$(traced)" "$CALLS"
	end_graph
}

restricted_before_it_begins()
{
	echo 2 > max_graph_depth
	begin_graph
	equal "calls, two deep" "$(traced)" "ksys_read vfs_read"
	echo 0 > max_graph_depth
	equal "calls, all" "$(traced)" "$CALLS"
	end_graph
}

timers_have_interrupted() { [ "$(interrupts LOC)" -ge "$1" ]; }

# How many of the timer interrupts that happen meanwhile are traced
in_interrupts()
{
	local now; now=$(interrupts LOC)
	echo > trace
	echo 1 > tracing_on
	within 60 timers_have_interrupted $((now + 20)) || fail "no timer interrupts"
	echo 0 > tracing_on
	grep -c 'hrtimer_interrupt()' trace || :
}

not_in_interrupts()
{
	begin_graph hrtimer_interrupt
	[ "$(in_interrupts)" -gt 0 ] || fail "no interrupt is traced"
	echo 0 > options/funcgraph-irqs
	equal "interrupts, left out" "$(in_interrupts)" 0
	equal "calls, without interrupts" "$(traced)" "$CALLS"
	echo 1 > options/funcgraph-irqs
	[ "$(in_interrupts)" -gt 0 ] || fail "no interrupt is traced again"
	end_graph
}

some_tasks_only()
{
	begin_graph
	echo $$ > set_ftrace_pid
	equal "calls, of another task" "$(traced)" ""
	echo > set_ftrace_pid
	equal "calls, of all tasks" "$(traced)" "$CALLS"
	end_graph
}

an_instance_of_its_own()
{
	mkdir instances/graph
	cd instances/graph || return
	begin_graph
	equal "calls in an instance" "$(traced)" "$CALLS"
	cd ../..
	begin_graph
	equal "calls with two" "$(traced)" "$CALLS"
	cd instances/graph || return
	equal "calls in the instance with two" "$(traced)" "$CALLS"
	echo nop > current_tracer
	cd ../..
	equal "calls with one left" "$(traced)" "$CALLS"
	end_graph
	rmdir instances/graph
}

# It never returns from where its processor went. Where it begins, it is not three functions deep.
an_idle_task_begins_anew()
{
	local online=/sys/devices/system/cpu/cpu1/online
	[ -w $online ] || skip "no CPU that can go offline"
	echo 3 > max_graph_depth
	echo 1 > options/funcgraph-proc
	echo function_graph > current_tracer
	echo 0 > $online
	echo 1 > $online
	echo > trace
	sleep 0.3
	echo 0 > tracing_on
	grep -q '<idle>-0' per_cpu/cpu1/trace || fail "no function of the idle task of CPU 1"
	echo nop > current_tracer
	echo 1 > tracing_on
	echo 0 > options/funcgraph-proc
	echo 0 > max_graph_depth
}

entries_of_cpu() { awk '/^entries:/ { print $2 }' "per_cpu/cpu$1/stats"; }

some_cpus_only()
{
	local tracer all; all=$(< tracing_cpumask)
	[ -d per_cpu/cpu1 ] || skip "there is one CPU only"
	# shellcheck disable=SC2064 # the mask as it is now
	trap "stop_jobs; echo $all > tracing_cpumask" EXIT
	for tracer in function function_graph; do
		echo "$CALLS" > set_ftrace_filter
		echo $tracer > current_tracer
		echo 1 > tracing_on
		echo 1 > tracing_cpumask
		echo > trace
		taskset -c 0 cat /proc/version > /dev/null
		taskset -c 1 cat /proc/version > /dev/null
		equal "$tracer, events of CPU 1, left out" "$(entries_of_cpu 1)" 0
		[ "$(entries_of_cpu 0)" -gt 0 ] || fail "$tracer: no events of CPU 0"
		echo "$all" > tracing_cpumask
		taskset -c 1 cat /proc/version > /dev/null
		[ "$(entries_of_cpu 1)" -gt 0 ] || fail "$tracer: no events of CPU 1"
		end_graph
	done
}

# Also where the file was opened before
the_files_show_what_is_in_use()
{
	local file
	for file in set_graph_function set_graph_notrace; do
		exec 3< $file
		echo vfs_read > $file
		equal "$file" "$(cat <&3)" vfs_read
		exec 3<&-
		echo > $file
	done
}

run_tests calls_are_nested the_files_show_what_is_in_use \
	a_function_to_begin_with a_function_to_leave_out a_depth \
	restricted_before_it_begins not_in_interrupts some_tasks_only \
	an_instance_of_its_own an_idle_task_begins_anew some_cpus_only
