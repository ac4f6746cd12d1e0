#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Immediate values: of a module, read by another.

. "$(dirname "$0")/functions.sh"

OWNER=/sys/module/immediate_owner/parameters
READER=/sys/module/immediate_reader/parameters

remove_modules()
{
	local module
	for module in immediate_reader immediate_owner; do
		! grep -q "^$module " /proc/modules || rmmod $module
	done
}

# need MODULE...: have them loaded, in this order
need()
{
	[ -e "$HERE/test_modules/immediate_owner.ko" ] || skip "no module immediate_owner"
	trap 'stop_jobs; remove_modules' EXIT
	remove_modules
	local module
	for module; do insmod "$HERE/test_modules/immediate_$module.ko"; done
}

# Whether they are patched, or variables
patched() { configured IMMEDIATE_VALUES; }

set_and_read()
{
	need owner
	equal "at first" "$(cat $OWNER/both)" "64 128"
	local value most=9223372036854775807
	[ "$(size_of_long)" = 8 ] || most=2147483647
	for value in 0 1 -1 $most $((-most - 1)) 5; do
		echo $value > $OWNER/limit
		equal "$value" "$(cat $OWNER/limit) $(cat $OWNER/both)" "$value $value 128"
	done
}

several_at_once()
{
	need owner reader
	local value
	for value in 7 0 255; do
		echo $value > $OWNER/both
		equal "$value" "$(cat $OWNER/both)" "$value $((2 * value))"
	done
	equal "the reader" "$(cat $READER/now)" "255 510"
}

a_module_has_the_value_from_when_it_comes()
{
	need owner
	echo 1000 > $OWNER/limit
	insmod "$HERE/test_modules/immediate_reader.ko"
	equal "its init function" "$(cat $READER/at_init)" "1000,128,1"
	equal "then" "$(cat $READER/now)" "1000 128"
	rmmod immediate_reader
	echo 0 > $OWNER/limit
	insmod "$HERE/test_modules/immediate_reader.ko"
	equal "of 0" "$(cat $READER/at_init)" "0,128,0"
	equal "of 0, then" "$(cat $READER/now)" "nothing"
}

# The init function's text is freed and may be anybody's: it is not written to.
changed_when_init_text_is_gone()
{
	need owner reader
	local i
	for ((i = 0; i < 20; i++)); do
		echo $i > $OWNER/both
		equal "$i" "$(cat $READER/now | tr -d '\n')" "$([ $i = 0 ] && echo nothing ||
			echo "$i $((2 * i))")"
	done
	! rmmod immediate_owner 2> /dev/null || fail "the owner went, and is read"
}

a_wrong_value_changes_nothing()
{
	need owner reader
	local wrong
	for wrong in x '' 1x -; do
		expect_error "'$wrong'" "Invalid argument" $OWNER/limit "$wrong"
	done
	expect_error "too many bits" "out of range" $OWNER/limit 9223372036854775808
	expect_error "too many bits" "out of range" $OWNER/both 256
	equal "after all" "$(cat $OWNER/both) $(cat $READER/now)" "64 128 64 128"
}

# A module whose table cannot be trusted does not come, and is not touched.
a_wrong_table_is_refused()
{
	need owner
	patched || skip "there is no table"
	local wrong why
	for wrong in label load site text data key twice; do
		dmesg -C
		! insmod "$HERE/test_modules/bad_value_$wrong.ko" 2> /tmp/errors ||
			fail "$wrong: it came"
		grep -q 'Invalid parameters' /tmp/errors || fail "$wrong: $(cat /tmp/errors)"
		dmesg | grep -q 'text_site: ' || fail "$wrong: no message"
		case $wrong in
		label) why='no load, and cannot jump to' ;;
		load | text) why='holds .*, should hold' ;;
		site) why='which is not in its text' ;;
		data) why='which is not a value' ;;
		key) why='which a static key changes' ;;
		twice) why='where one of another table does' ;;
		esac
		dmesg | grep -q "$why" || fail "$wrong: $(dmesg)"
		echo 11 > $OWNER/both
		equal "$wrong" "$(cat $OWNER/both)" "11 22"
		echo 12 > $OWNER/both
	done
	insmod "$HERE/test_modules/bad_value_good.ko"
	rmmod bad_value_good
}

kprobes_keep_off()
{
	need owner reader
	patched || skip "there is nothing patched"
	local at said tried=0 refused=0
	# Wherever an instruction begins: those that are sites are refused
	for ((at = 0; at < 96; at++)); do
		said=$( (echo "p:imv immediate_reader_now+$at" > kprobe_events) 2>&1 ) || {
			[[ $said != *"Invalid argument"* ]] || refused=$((refused + 1))
			continue
		}
		tried=$((tried + 1))
		echo 1 > events/kprobes/imv/enable
		echo $((at + 1)) > $OWNER/both
		equal "$at" "$(cat $READER/now)" "$((at + 1)) $((2 * at + 2))"
		echo 0 > events/kprobes/imv/enable
		echo > kprobe_events
	done
	[ $tried -gt 5 ] || fail "$tried probes"
	[ $refused -gt 0 ] || fail "none was refused"
	echo "# $tried probes, $refused refused"
}

in_code_that_is_traced()
{
	can_trace || skip "no function tracer"
	need owner reader
	echo immediate_reader_now > set_ftrace_filter
	echo function > current_tracer
	echo 9 > $OWNER/both
	equal "read" "$(cat $READER/now)" "9 18"
	grep -q 'immediate_reader_now <-' trace || fail "not traced"
	echo > set_ftrace_filter
	echo 10 > $OWNER/both
	equal "all traced" "$(cat $READER/now)" "10 20"
	echo nop > current_tracer
	equal "not traced" "$(cat $READER/now)" "10 20"
}

modules_come_and_go_while_they_are_changed()
{
	need owner reader
	endlessly 'echo 3 > $OWNER/both; echo 0 > $OWNER/both; echo 200 > $OWNER/both'
	if can_trace; then
		endlessly 'for on in 0 1; do sleep 0.1; echo $on > /proc/sys/kernel/ftrace_enabled; done'
		echo function > current_tracer
	fi
	local i line
	# In a kernel that checks itself, switching all functions takes seconds.
	for ((i = 0, SECONDS = 0; i < 3 || (i < 20 && SECONDS < 60); i++)); do
		rmmod immediate_reader
		insmod "$HERE/test_modules/immediate_reader.ko"
		for ((n = 0; n < 20; n++)); do
			line=$(cat $READER/now)
			case $line in
			nothing | 3\ * | 0\ * | 200\ *) ;;
			*) fail "$line" ;;
			esac
		done
	done
	stop_endless
	echo 77 > $OWNER/both
	equal "after all" "$(cat $READER/now)" "77 154"
}

run_tests set_and_read several_at_once a_module_has_the_value_from_when_it_comes \
	changed_when_init_text_is_gone a_wrong_value_changes_nothing \
	a_wrong_table_is_refused kprobes_keep_off in_code_that_is_traced \
	modules_come_and_go_while_they_are_changed
