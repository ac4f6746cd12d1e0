#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# samples/ftrace: direct calls, callbacks, instances

. "$(dirname "$0")/functions.sh"

# A task that is woken up by a timer; says which
sleeper()
{
	sleep 0.1 &
	echo $!
	wait
}

# function_hit TEXT FUNCTION: TEXT and the address of FUNCTION's entry are traced
function_hit()
{
	local base ip
	base=$(sed -n "s/^\([0-9a-f]*\) [tT] $2\$/\1/p" /proc/kallsyms)
	grep -o "$1 ip [0-9a-f]*" "$TRACING/trace" | sed 's/.* //' | sort -u |
	while read -r ip; do
		[ $((0x$ip - 0x$base)) -lt 0 ] || [ $((0x$ip - 0x$base)) -gt 16 ] || echo yes
	done | grep -q yes
}

a_direct_call()
{
	local pid
	load ftrace-direct
	grep -q '^wake_up_process .*D' "$TRACING/enabled_functions" ||
		fail "enabled: $(cat "$TRACING/enabled_functions")"
	pid=$(sleeper)
	expect_traced "my_direct_func: waking up sleep-$pid"
	unload ftrace_direct
	echo > "$TRACING/trace"
	sleeper > /dev/null
	! traced my_direct_func || fail "still called: $(tail -n1 "$TRACING/trace")"
}

a_direct_call_with_more_arguments()
{
	load ftrace-direct-too
	sleeper > /dev/null
	expect_traced "handle mm fault vma=[0-9a-f]* address=[0-9a-f]* flags=[0-9a-f]* regs="
	unload ftrace_direct_too
}

two_functions_with_a_direct_call_each()
{
	local pid
	load ftrace-direct
	load ftrace-direct-too
	pid=$(sleeper)
	expect_traced "waking up sleep-$pid"
	expect_traced "handle mm fault"
	unload ftrace_direct
	echo > "$TRACING/trace"
	sleeper > /dev/null
	expect_traced "handle mm fault"
	unload ftrace_direct_too
}

a_function_has_one_direct_call()
{
	local pid
	load ftrace-direct
	! modprobe ftrace-direct-multi 2> /dev/null || fail "a second one on wake_up_process"
	pid=$(sleeper)
	expect_traced "waking up sleep-$pid"
	unload ftrace_direct
}

# It changes every two seconds.
a_direct_call_that_is_modified()
{
	local i
	load ftrace-direct-modify
	for i in 1 2 1; do
		echo > "$TRACING/trace"
		expect_traced "my direct func$i"
	done
	unload ftrace_direct_modify
}

a_direct_call_of_two_functions()
{
	load ftrace-direct-multi
	sleeper > /dev/null
	wait_for 10 function_hit "my_direct_func:" wake_up_process || fail "not wake_up_process"
	wait_for 10 function_hit "my_direct_func:" schedule || fail "not schedule"
	unload ftrace_direct_multi
}

a_direct_call_of_two_functions_that_is_modified()
{
	local i
	load ftrace-direct-multi-modify
	for i in 1 2 1; do
		echo > "$TRACING/trace"
		wait_for 10 function_hit "my direct func$i" schedule || fail "func$i: not schedule"
		wait_for 10 function_hit "my direct func$i" wake_up_process ||
			fail "func$i: not wake_up_process"
	done
	unload ftrace_direct_multi_modify
}

callbacks_are_counted()
{
	load ftrace-ops nr_function_calls=1000 nr_ops_relevant=2 nr_ops_irrelevant=1 \
		check_count=Y persist=Y
	expect 'Attempted 1000 calls to tracee_relevant'
	! says 'Counter called' || fail "$(messages | grep Counter)"
	grep -q '^tracee_relevant .*(2)' "$TRACING/enabled_functions" ||
		fail "enabled: $(cat "$TRACING/enabled_functions")"
	unload ftrace_ops
}

# It asks for the events of some subsystems only, and so does without its own.
an_instance_of_a_module()
{
	local instance=$TRACING/instances/sample-instance
	load sample-trace-array
	wait_for 10 grep -q 'simple_thread: trace_array_printk: count=2' $instance/trace ||
		fail "$(tail -n3 $instance/trace)"
	[ -e $instance/events/sched ] || fail "no events of the scheduler"
	[ ! -e $instance/events/irq ] || fail "events of interrupts"
	! traced trace_array_printk || fail "traced outside of the instance"
	unload sample_trace_array
	[ ! -e $instance ] || fail "the instance is still there"
}

run_tests a_direct_call a_direct_call_with_more_arguments \
	two_functions_with_a_direct_call_each a_function_has_one_direct_call \
	a_direct_call_that_is_modified a_direct_call_of_two_functions \
	a_direct_call_of_two_functions_that_is_modified callbacks_are_counted \
	an_instance_of_a_module
