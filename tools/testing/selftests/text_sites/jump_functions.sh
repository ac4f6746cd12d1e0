#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Jump functions: what their sample shows, modules that come and go, tracepoints.

. "$(dirname "$0")/functions.sh"

SAMPLE=jump_function_sample
PROVIDER=jump_provider
DIR=/sys/kernel/debug/jump_function

remove_modules()
{
	rmmod $PROVIDER 2> /dev/null || :
	rmmod $SAMPLE 2> /dev/null || :
}

need_sample()
{
	modinfo $SAMPLE > /dev/null 2>&1 || skip "no module $SAMPLE"
	trap 'stop_jobs; remove_modules' EXIT
	remove_modules
	modprobe $SAMPLE
}

need_provider()
{
	need_sample
	[ -e "$HERE/test_modules/$PROVIDER.ko" ] || skip "no module $PROVIDER"
	insmod "$HERE/test_modules/$PROVIDER.ko"
}

# Whether they are patched, or pointers
patched() { configured JUMP_FUNCTION; }

# What the sample's functions return, on one line
results()
{
	sed 's/.*= //' $DIR/all | xargs
}

each_has_three_targets()
{
	need_sample
	equal "at first" "$(cat $DIR/*e $DIR/t*)" "$(printf '%s\n' 'none() = 0' 'one(1) = 1' \
		'three(1, 2, 3) = 123' 'three(1, 2, 3) = 123' 'two(1, 2) = 12')"
	echo 1 > $DIR/none
	equal "none" "$(results)" "1000 1 12 123"
	echo 2 > $DIR/one
	equal "one" "$(results)" "1000 2001 12 123"
	echo 1 > $DIR/two
	equal "two" "$(results)" "1000 2001 1012 123"
	echo 2 > $DIR/three
	equal "three" "$(results)" "1000 2001 1012 2123"
	echo 0 > $DIR/two
	equal "back" "$(results)" "1000 2001 12 2123"
}

several_at_once()
{
	need_sample
	echo 2 > $DIR/all
	equal "all" "$(results)" "2000 2001 2012 2123"
	echo 1 > $DIR/one
	echo 1 > $DIR/all
	equal "all" "$(results)" "1000 1001 1012 1123"
	echo 0 > $DIR/all
	equal "all" "$(results)" "0 1 12 123"
}

a_wrong_choice_changes_nothing()
{
	need_sample
	echo 1 > $DIR/all
	local wrong
	for wrong in 3 -1 1x ''; do
		expect_error "'$wrong'" "Invalid argument" $DIR/two "$wrong"
	done
	expect_error "a large number" "Numerical result out of range" $DIR/two 99999999999
	equal "all" "$(results)" "1000 1001 1012 1123"
}

changed_while_they_are_called()
{
	need_sample
	endlessly 'echo 1 > $DIR/all; echo 2 > $DIR/two; echo 0 > $DIR/all'
	local i line seen=()
	for ((i = 0; i < 1000; i++)); do
		read -r line < $DIR/three
		case $line in
		*' = 123') seen[0]=123 ;;
		*' = 1123') seen[1]=1123 ;;
		*) fail "$line" ;;
		esac
	done
	stop_endless
	equal "results" "${seen[*]}" "123 1123"
}

targets_of_another_module()
{
	need_provider
	equal "provided" "$(results)" "9000 1 9012 123"
	! rmmod $SAMPLE 2> /dev/null || fail "$SAMPLE went while $PROVIDER is there"
	echo 1 > $DIR/two
	equal "replaced" "$(results)" "9000 1 1012 123"
}

when_the_targets_module_goes_they_are_the_default_again()
{
	need_provider
	patched || { echo 0 > $DIR/all; skip "pointers are not looked after"; }
	echo 1 > $DIR/one
	rmmod $PROVIDER
	equal "without it" "$(results)" "0 1001 12 123"
	dmesg | grep -q "jump_function: .*goes with $PROVIDER: dynfunc_jump_sample_two" ||
		fail "no message"
}

modules_come_and_go_while_they_are_called()
{
	need_provider
	patched || skip "pointers are not looked after"
	endlessly 'mapfile -t < $DIR/all'
	local i
	for ((i = 0; i < 5; i++)); do
		rmmod $PROVIDER
		insmod "$HERE/test_modules/$PROVIDER.ko"
	done
	rmmod $PROVIDER
	stop_endless
	equal "after all" "$(results)" "0 1 12 123"
	rmmod $SAMPLE
	modprobe $SAMPLE
	equal "come again" "$(results)" "0 1 12 123"
}

is_waited_for() { [ "$(< /sys/module/jump_watch/parameters/waiting)" = Y ]; }

# Functions of its parameters still run then, and nobody looks after what they jump to.
those_of_a_module_that_goes_are_the_default_again()
{
	local dir="$HERE/test_modules"
	patched || skip "pointers are not looked after"
	[ -e "$dir/jump_owner.ko" ] || skip "no module jump_owner"
	trap 'stop_jobs; rmmod jump_owner jump_watch 2> /dev/null || :' EXIT
	insmod "$dir/jump_watch.ko"
	insmod "$dir/jump_owner.ko"
	echo > /sys/module/jump_owner/parameters/late &
	within 60 is_waited_for || fail "the parameter is not written to"
	equal "while it is there" "$(< /sys/module/jump_watch/parameters/result)" -1
	rmmod jump_owner
	equal "when it has gone" "$(< /sys/module/jump_watch/parameters/result)" 1
	rmmod jump_watch
}

a_default_that_is_freed_first_is_refused()
{
	local module="$HERE/test_modules/bad_jump.ko"
	[ -e "$module" ] || skip "no module bad_jump"
	! insmod "$module" 2> /dev/null || { rmmod bad_jump; fail "it was loaded"; }
	dmesg | grep -q 'jump_function: bad_jump: .* is no jump to its default' ||
		fail "no message"
}

kprobes_keep_off()
{
	need_sample
	patched || skip "there is no jump"
	grep -q ' dynfunc_jump_sample_two\>' /proc/kallsyms || fail "no such symbol"
	! echo 'p:jump dynfunc_jump_sample_two' 2> /dev/null > kprobe_events ||
		! echo 1 2> /dev/null > events/kprobes/jump/enable ||
		fail "a kprobe on the jump"
	echo > kprobe_events
	echo 2 > $DIR/two
	equal "two" "$(cat $DIR/two)" "two(1, 2) = 2012"
}

# A tracepoint with one probe, with two, with one and with none
events_in_two_instances()
{
	local event=events/sched/sched_switch
	mkdir instances/jump
	echo 1 > $event/enable
	sleep 0.1
	grep -q 'sched_switch:' trace || fail "one probe: no event"
	equal "the other instance" "$(grep -c 'sched_switch:' instances/jump/trace)" 0

	echo 1 > instances/jump/$event/enable
	echo > trace
	sleep 0.1
	grep -q 'sched_switch:' trace || fail "two probes: no event"
	grep -q 'sched_switch:' instances/jump/trace || fail "two probes: no event in the other"

	echo 0 > $event/enable
	echo > trace
	echo > instances/jump/trace
	sleep 0.1
	equal "disabled" "$(grep -c 'sched_switch:' trace)" 0
	grep -q 'sched_switch:' instances/jump/trace || fail "one probe again: no event"

	echo 0 > instances/jump/$event/enable
	echo > instances/jump/trace
	sleep 0.1
	equal "none" "$(grep -c 'sched_switch:' instances/jump/trace)" 0
	rmdir instances/jump
}

# The probe's data is the instance: with that of another, its event would be there.
probes_come_and_go_while_they_are_called()
{
	local event=events/sched/sched_switch i
	mkdir instances/jump instances/never
	load &
	for ((i = 0; i < 20; i++)); do
		echo 1 > $event/enable
		echo 1 > instances/jump/$event/enable
		echo 0 > $event/enable
		echo 1 > $event/enable
		echo 0 > instances/jump/$event/enable
		echo 0 > $event/enable
		[ $((i % 10)) -ne 0 ] || perf stat -e sched:sched_switch true 2> /dev/null
	done
	grep -q 'sched_switch:' trace || fail "no event"
	equal "an instance with none" "$(grep -c 'sched_switch:' instances/never/trace)" 0
	rmdir instances/jump instances/never
}

# A tracepoint goes while its jump is still to be led from the loop to its one probe.
modules_with_events_come_and_go()
{
	local event=events/marker_cost/marker_cost_two i
	local module="$HERE/test_modules/marker_cost.ko"
	[ -e "$module" ] || skip "no module marker_cost"
	trap 'stop_jobs; rmmod marker_cost 2> /dev/null || :' EXIT
	for ((i = 0; i < 10; i++)); do
		insmod "$module"
		echo 1 > $event/enable
		echo 0 > $event/enable
		echo 1 > $event/enable
		[ $i -ne 5 ] || cat /sys/kernel/debug/marker_cost/event2 > /dev/null
		[ $((i % 2)) -ne 0 ] || echo 0 > $event/enable
		rmmod marker_cost
	done
	sleep 0.5
	insmod "$module"
	echo 1 > $event/enable
	cat /sys/kernel/debug/marker_cost/event2 > /dev/null
	grep -q 'marker_cost_two:' trace || fail "no event after all that"
	echo 0 > $event/enable
}

all_events()
{
	load &
	echo 1 > events/enable
	sleep 0.5
	echo 0 > events/enable
	stop_jobs
	[ "$(grep -vc '^#' trace)" -gt 100 ] || fail "few events"
}

run_tests each_has_three_targets several_at_once a_wrong_choice_changes_nothing \
	changed_while_they_are_called targets_of_another_module \
	when_the_targets_module_goes_they_are_the_default_again \
	modules_come_and_go_while_they_are_called \
	those_of_a_module_that_goes_are_the_default_again \
	a_default_that_is_freed_first_is_refused kprobes_keep_off events_in_two_instances \
	probes_come_and_go_while_they_are_called modules_with_events_come_and_go all_events
