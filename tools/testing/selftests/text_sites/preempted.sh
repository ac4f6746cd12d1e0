#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tasks that are preempted for a long time while they are in a traced function,
# or in a trampoline, come back to one that is still there. A switch of few functions is finished
# although the thread that changes text cannot run.

. "$(dirname "$0")/functions.sh"

# Runs on CPU 1 through traced functions, whenever the CPU is free
victim()
{
	taskset -p -c 1 $BASHPID > /dev/null
	while :; do dd if=/dev/zero of=/dev/null bs=1 count=2000 status=none; done
}

# The subshell that calls this is a real-time task on CPU 1.
real_time()
{
	taskset -p -c 1 $BASHPID > /dev/null
	chrt -f -p "$1" $BASHPID
}

# Takes CPU 1 away, most of the time, in bursts of different length
bully()
{
	real_time 50
	local i n
	while :; do
		for n in 100 3000 20000 500 9000; do
			for ((i = 0; i < n; i++)); do :; done
			sleep 0.001
		done
	done
}

# All real-time tasks together may otherwise have only 95 % of a CPU.
no_limit()
{
	trap 'stop_jobs; echo 950000 > /proc/sys/kernel/sched_rt_runtime_us' EXIT
	echo -1 > /proc/sys/kernel/sched_rt_runtime_us
}

preempted_while_tracers_come_and_go()
{
	[ -e /sys/devices/system/cpu/cpu1 ] || skip "one CPU only"
	local i
	taskset -p -c 0 $BASHPID > /dev/null
	no_limit
	for i in 1 2 3; do endlessly victim; done
	endlessly bully
	mkdir instances/a
	for i in $(seq 20); do
		echo function > current_tracer
		echo function > instances/a/current_tracer
		echo nop > current_tracer
		echo nop > instances/a/current_tracer
	done
	rmdir instances/a
	stop_endless
}

# Stacks of tasks that ran on CPU 1 until they were preempted in return_to_handler, when it
# switched preemption on: how many there are, and how many end there. Those of tasks that an
# interrupt preempts do not count: they may be about to return from it.
stacks()
{
	awk '
		! / => / { if (switched && inside) { n++; ends += last ~ /return_to_handler/ }
			   switched = inside = 0 }
		/ => / { last = $0 }
		/ => return_to_handler/ { inside = 1 }
		/ => preempt_schedule_notrace/ { switched = 1 }
		END { print n + 0, ends + 0 }' per_cpu/cpu1/trace
}

preempted_while_functions_return()
{
	[ -e /sys/devices/system/cpu/cpu1 ] || skip "one CPU only"
	! grep -q function_graph available_tracers && skip "no function_graph"
	local i n=0 ends
	taskset -p -c 0 $BASHPID > /dev/null
	for i in 1 2 3; do victim & done
	bully &
	echo 'vfs_* ksys_* rw_verify_area fdget_pos' > set_ftrace_filter
	echo function_graph > current_tracer
	echo stacktrace > events/sched/sched_switch/trigger
	for ((i = 0; i < 5 && n == 0; i++)); do
		echo 1 > tracing_on
		sleep 10
		echo 0 > tracing_on
		read -r n ends <<< "$(stacks)"
	done
	echo '!stacktrace' > events/sched/sched_switch/trigger
	equal "stacks that end too early" "$ends" 0
	[ "$n" -gt 0 ] || skip "nobody was preempted there"
	echo "# $n in $i times ten seconds"
}

# Switches all functions, and may run on CPU 1 only
asker()
{
	real_time 1
	while :; do
		echo function > current_tracer
		echo nop > current_tracer
		echo > /tmp/preempted_asked
	done
}

has_asked() { [ -e /tmp/preempted_asked ]; }

# Takes CPU 1 away for good
hog()
{
	real_time 50
	while :; do :; done
}

# Five times the asker is stopped wherever it is, most of the time in a batch, and more often until
# it was in one. It may hold any lock then, so the sites are listed beforehand.
a_real_time_task_that_cannot_go_on_leaves_no_breakpoints()
{
	local asker hog hit=0 text i
	[ -e /sys/devices/system/cpu/cpu1 ] || skip "one CPU only"
	taskset -p -c 0 $BASHPID > /dev/null
	cat available_filter_functions_addrs > /tmp/preempted_sites
	no_limit
	asker & asker=$!
	for ((i = 0; i < 5 || (i < 30 && hit == 0); i++)); do
		rm -f /tmp/preempted_asked
		within 120 has_asked || fail "it switches nothing"
		sleep 1
		hog & hog=$!
		sleep 2
		text=$("$HERE/site_text" int3 < /tmp/preempted_sites)
		equal "breakpoints" "$text" ''
		! grep -q text_site_commit "/proc/$asker/stack" || hit=$((hit + 1))
		kill $hog
		wait $hog || :
	done
	stop_jobs
	[ $hit -gt 0 ] || fail "it was in no batch"
	echo "# $hit of $i times in a batch"
}

# thread_on CPUS: where the thread that changes text may run
thread_on()
{
	local pid; pid=$(ps -C text_site -o pid= || :)
	[ -n "$pid" ] || skip "no thread"
	taskset -p -c "$1" "$pid" > /dev/null
}

preemption_is_off() { [ -n "$(ps -C preempt_test -o pid=)" ]; }

# When another task wants the processor, a task that switches few functions offers the remaining
# passes to the thread. It takes them back if the thread cannot run: here, preemption is off on the
# thread's processor for four seconds, the longest that the module can count to on 32 bits.
#
# A switch that waits for the thread takes seconds every time, a busy host delays only some. In one
# of five attempts, the thread must have been asked and all switches have been quick.
functions_are_switched_while_the_thread_waits()
{
	[ -e /sys/devices/system/cpu/cpu1 ] || skip "one CPU only"
	local most queued _
	modprobe -n preemptirq_delay_test 2> /dev/null || skip "no module preemptirq_delay_test"
	taskset -p -c 1 $BASHPID > /dev/null
	thread_on 0
	trap 'stop_jobs; thread_on "$(< /sys/devices/system/cpu/online)"; rmmod preemptirq_delay_test 2> /dev/null || :' EXIT
	mkdir instances/a
	echo 1 > instances/a/events/sched/sched_kthread_work_queue_work/enable
	echo vfs_read > set_ftrace_filter
	echo function > current_tracer
	while :; do :; done &
	while :; do sleep 0.001; done &
	for _ in 1 2 3 4 5; do
		switch_while_the_thread_waits
		[ "$most" -ge 1500 ] || [ "$queued" = 0 ] || break
	done
	rmdir instances/a
	[ "$most" -lt 1500 ] || fail "one takes $most ms"
	[ "$queued" -gt 0 ] || fail "nobody wanted the processor meanwhile"
}

# Sets $most, how many ms a switch took at most, and $queued, how often the thread was asked.
switch_while_the_thread_waits()
{
	local took n=0 function job
	most=0
	echo > instances/a/trace
	modprobe preemptirq_delay_test test_mode=preempt delay=4200000 cpu_affinity=0 & job=$!
	within 60 preemption_is_off || fail "preemption is not off"
	while kill -0 $job 2> /dev/null; do
		for function in vfs_write vfs_read; do
			took=${EPOCHREALTIME/./}
			echo $function > set_ftrace_filter
			took=$(((${EPOCHREALTIME/./} - took) / 1000))
			most=$((took > most ? took : most))
			n=$((n + 1))
		done
	done
	wait "$job"
	rmmod preemptirq_delay_test
	queued=$(grep -c patch_work_func instances/a/trace || :)
	echo "# $n times, $most ms at most; the thread was asked $queued times"
}

run_tests preempted_while_tracers_come_and_go preempted_while_functions_return \
	a_real_time_task_that_cannot_go_on_leaves_no_breakpoints \
	functions_are_switched_while_the_thread_waits
