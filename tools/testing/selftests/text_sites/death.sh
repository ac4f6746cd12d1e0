#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The thread that changes text dies in the middle of a batch: whoever waits for it says so and
# does the rest, and functions can be switched after that. There is no other thread then, so the
# machine is of no use to other tests. It says on its command line at which synchronisation the
# thread dies, of three for each round, and how: death=NTH, death_by=exit or oops; or where else
# it dies: death_at=FUNCTION, one without a site.

. "$(dirname "$0")/functions.sh"

says() { dmesg | grep -c 'text_site: the thread that patches has died' || :; }

thread_there() { [ -n "$(ps -C text_site -o pid=)" ]; }

# called TIMES: a function that is being switched returns what it should
called()
{
	local i
	for ((i = 0; i < $1; i++)); do
		equal "returned" "$(< /sys/kernel/debug/held_function)" 654321
	done
}

switched()
{
	local n=$1
	while ((n--)); do
		echo function > current_tracer
		equal "on" "$(site_text)" "call $(nr_available)"
		called 1
		echo nop > current_tracer
		equal "off" "$(site_text)" "nop $(nr_available)"
		called 1
	done
}

functions_are_switched_though_the_thread_dies()
{
	local nth how where at i job old
	nth=$(setting death '')
	how=$(setting death_by exit)
	where=$(setting death_at '')
	[ -n "$nth" ] || skip "not on this machine"
	[ -e "$HERE/test_modules/death_test.ko" ] || skip "no module death_test"
	thread_there || skip "no thread"

	if [ -n "$where" ]; then
		at=0x$(awk -v where="$where" '$3 == where { print $1 }' /proc/kallsyms)
	else
		at=$(printf '0x%x' $((0x$(site_of text_poke_sync) + 5)))
	fi
	insmod "$HERE/test_modules/held_function.ko"
	insmod "$HERE/test_modules/death_test.ko" nth="$nth" how="$how" at="$at"
	trap 'stop_jobs; rmmod death_test held_function' EXIT
	[ "$how" != oops ] || echo 0 > /proc/sys/kernel/panic_on_oops
	old=$(complaints | wc -l)
	load & load &

	echo function > current_tracer & job=$!
	for ((i = 0; i < 1000; i++)); do
		thread_there || break
	done
	! thread_there || fail "it does not die"
	called 10
	within 120 has_ended $job || fail "the batch does not end"
	wait $job || fail "the tracer is not there"
	equal "said" "$(says)" 1
	equal "on" "$(site_text)" "call $(nr_available)"
	called 1
	echo nop > current_tracer
	switched 3
	echo 'vfs_*' > set_ftrace_filter
	echo function > current_tracer
	[ "$(site_text | wc -l)" = 2 ] || fail "no filter: $(site_text)"
	echo nop > current_tracer
	echo 1 > events/sched/enable
	echo 0 > events/sched/enable
	equal "said" "$(says)" 1
	# An oops that was asked for has two lines.
	equal "complaints" "$(($(complaints | wc -l) - old))" "$([ "$how" = oops ] && echo 2 || echo 0)"
	[ "$how" != oops ] || dmesg -c > /dev/null
}

run_tests functions_are_switched_though_the_thread_dies
