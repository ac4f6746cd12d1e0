#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The NOP that the kernel has chosen for this processor: all sites hold it, and it works.

. "$(dirname "$0")/functions.sh"

# What the kernel says it has chosen
used=$(dmesg | sed -n 's/.*fentry: .*sites, nop \([^ ]*\) .*/\1/p')

every_site_holds_it()
{
	equal "kinds of text" "$("$HERE/site_text" < available_filter_functions_addrs)" \
		"$used $(nr_available)"
}

it_is_the_one_asked_for()
{
	local asked chosen
	asked=$(setting text_nop '')
	# The NOP that the kernel has to choose for the machine's processor
	chosen=$(setting chosen_nop '')
	[ -n "$asked$chosen" ] || skip "neither text_nop= nor chosen_nop= on the command line"
	[ -z "$chosen" ] ||
		equal "NOP of $(sed -n 's/^model name.*: //p;T;q' /proc/cpuinfo)" "$used" "$chosen"
	case $asked in
	'') ;;
	nopl | prefix | jmp0 | jmp3 | lea)
		equal "NOP" "$used" "$asked" ;;
	*)
		dmesg | grep -q "text_site: text_nop=$asked is not known" || fail "no warning"
		case $used,$(uname -m) in
		nopl,* | prefix,* | lea,i?86) ;;
		*) fail "$used is used" ;;
		esac ;;
	esac
}

a_function_is_traced_and_no_more()
{
	echo vfs_read > set_ftrace_filter
	echo function > current_tracer
	equal "text of vfs_read" "$(site_text vfs_read)" "call 1"
	cat /proc/version > /dev/null
	grep -q ': vfs_read <-' trace || fail "no event"
	echo nop > current_tracer
	every_site_holds_it
}

a_marker_is_an_event_and_no_more()
{
	[ -e available_markers ] || skip "no markers"
	modinfo marker_sample > /dev/null 2>&1 || skip "no module marker_sample"
	trap 'rmmod marker_sample' EXIT
	modprobe marker_sample
	local on
	for on in 0 1 0; do
		echo > trace
		echo $on > events/sample/line/enable
		echo four > /sys/kernel/debug/marker_sample
		equal "events, $on" "$(grep -c ' line: 1 "four" of 4$' trace)" $on
	done
}

# Value sites hold the NOP that the compiler emitted, whatever text_nop= says.
sites_of_values_work_beside_it()
{
	local check=/sys/module/tables_test/parameters/check time
	[ -e "$HERE/test_modules/tables_test.ko" ] || skip "no module tables_test"
	trap 'rmmod tables_test' EXIT
	insmod "$HERE/test_modules/tables_test.ko"
	for time in 1 2; do
		equal "time $time" "$(< $check)" right
	done
	echo ':mod:tables_test' > set_ftrace_filter
	echo function > current_tracer
	equal "while it is traced" "$(< $check)" right
	echo nop > current_tracer
	every_site_holds_it
}

run_tests every_site_holds_it it_is_the_one_asked_for a_function_is_traced_and_no_more \
	a_marker_is_an_event_and_no_more sites_of_values_work_beside_it
