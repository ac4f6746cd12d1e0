#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A task stays in a callback while its ops is unregistered and freed, while what is called
# directly changes, and while modules go: each waits for it where it has to, and the task
# comes back to where it was called.

. "$(dirname "$0")/functions.sh"

DEBUG=/sys/kernel/debug
HELD=$DEBUG/held_ops
RESULT=/tmp/held_result

begin()
{
	[ -e "$HERE/test_modules/held_ops.ko" ] || skip "no module held_ops"
	[ "$(nproc)" -gt 1 ] || skip "one CPU only"
	insmod "$HERE/test_modules/held_function.ko"
	trap end EXIT
	insmod "$HERE/test_modules/held_ops.ko" \
		register_graph="$(address register_ftrace_graph)" \
		unregister_graph="$(address unregister_ftrace_graph)"
}

end()
{
	[ ! -e $HELD/hold ] || echo 0 > $HELD/hold
	stop_jobs
	! grep -q '^held_ops ' /proc/modules || rmmod held_ops
	rmmod held_function
}

address()
{
	local addr; addr=$(sed -n "s/^\([0-9a-f]*\) [Tt] $1\$/\1/p" /proc/kallsyms)
	echo "0x${addr:-0}"
}

ask() { echo "$*" > $HELD/do; }

is_held() { [ "$(< $HELD/hold)" = 2 ]; }

# hold_one: a task is in the callback; $task is its process
hold_one()
{
	echo 1 > $HELD/hold
	cat $DEBUG/held_function > $RESULT & task=$!
	within 60 is_held || fail "nobody comes"
}

# let_go: it goes on, and the function returns what it always does
let_go()
{
	echo 0 > $HELD/hold
	wait "$task" || fail "the task has died"
	equal "returned" "$(< $RESULT)" 654321
}

# The trampolines that there are, by their addresses, but for the first: that one is there for
# good, for functions that cannot have one of their own.
trampolines()
{
	sed -n 's/ t ftrace_trampoline\t\[__builtin__ftrace\]$//p' /proc/kallsyms | tail -n +2 | sort
}

# none_left ADDRESSES: none of these trampolines is there any more; $left are those that are
none_left()
{
	left=$(comm -12 <(trampolines) <(echo "$1"))
	[ -z "$left" ]
}

# gone ADDRESSES: the same, at once or some seconds later
gone()
{
	local left
	within 60 none_left "$1" || fail "not freed: $left"
}

# ends JOB: it does within half a minute, which only a busy host needs. A task is held until
# let_go, so a job that waits for it does not end by then.
ends() { within 30 has_ended "$1"; }

# waits COMMAND...: it does not end before the task that is held is let go, but ends then. This
# watches it for at least twice as long as it takes when no task is held ($took, see quick).
waits()
{
	"$@" & local job=$!
	sleep $((took < 1500 ? 3 : took / 500))
	kill -0 $job 2> /dev/null || fail "'$*' does not wait for the task"
	equal "returned to others" "$(< $DEBUG/held_function)" 654321
	let_go
	ends $job || fail "'$*' does not end"
	wait $job || fail "'$*' fails"
}

# does_not_wait COMMAND...: it ends though the task is held
does_not_wait()
{
	"$@" & local job=$!
	ends $job || fail "'$*' waits for the task"
	wait $job || fail "'$*' fails"
}

# That something waits is seen by its taking longer than when nobody is held: $took ms.
quick()
{
	local start=${EPOCHREALTIME/./}
	"$@"
	took=$(((${EPOCHREALTIME/./} - start) / 1000))
	echo "# $*: $took ms"
}

# one_at_most: there is one trampoline, $held, or none
one_at_most()
{
	held=$(trampolines)
	[ "$(wc -w <<< "$held")" -le 1 ]
}

# attach SHAPE: $held is the trampoline that is used, if there is one, when those of the steps on
# the way to it are gone
attach()
{
	ask attach "$1"
	within 60 one_at_most || fail "not freed: $held"
	[ "$1" = direct ] || [ -n "$held" ] || fail "$1: no trampoline of its own"
}

# goes SHAPE: it is unregistered and freed with a task in it, and so is its module
goes()
{
	local held
	begin
	ask attach "$1"
	equal "returned" "$(< $DEBUG/held_function)" 654321
	quick ask detach
	attach "$1"
	hold_one
	waits ask detach
	gone "$held"
	ask attach "$1"
	hold_one
	waits rmmod held_ops
	equal "returned" "$(< $DEBUG/held_function)" 654321
}

one_callback() { goes one; }

many_callbacks() { goes many; }

all_registers() { goes regs; }

a_direct_call() { goes direct; }

on_the_way_to_a_direct_call() { goes both; }

need_graph() { grep -q function_graph available_tracers || skip "no function_graph"; }

the_entry_of_function_graph() { need_graph; goes entry; }

the_return_of_function_graph() { need_graph; goes return; }

# With another ops, the function gets another trampoline. Nobody waits for the task; the one that
# it is in stays.
another_trampoline_is_used()
{
	local shape held
	begin
	for shape in one many regs both entry return; do
		attach $shape
		hold_one
		does_not_wait ask other
		sleep 2
		equal "where the task is" "$(comm -12 <(trampolines) <(echo "$held"))" "$held"
		equal "returned to others" "$(< $DEBUG/held_function)" 654321
		let_go
		gone "$held"
		ask detach
	done
}

another_function_is_called_directly()
{
	local shape held
	begin
	for shape in direct both; do
		attach $shape
		hold_one
		does_not_wait ask redirect
		grep -q 'direct-->held_ops_two+0x0/' enabled_functions || fail "it is not called"
		equal "returned to others" "$(< $DEBUG/held_function)" 654321
		sleep 2
		equal "where the task is" "$(comm -12 <(trampolines) <(echo "$held"))" "$held"
		let_go
		hold_one
		waits ask detach
	done
	attach both
	hold_one
	does_not_wait ask redirect
	waits rmmod held_ops
}

run_tests one_callback many_callbacks all_registers a_direct_call on_the_way_to_a_direct_call \
	the_entry_of_function_graph the_return_of_function_graph another_trampoline_is_used \
	another_function_is_called_directly
