#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Switching on and off while other CPUs run through what is switched.

. "$(dirname "$0")/functions.sh"

all_on_and_off_under_load()
{
	local all; all=$(nr_available)
	load &
	for _ in $(seq "$(setting rounds 100)"); do
		echo function > current_tracer
		echo nop > current_tracer
	done
	equal "text" "$(site_text)" "nop $all"
}

one_function_on_and_off_under_load()
{
	load &
	echo vfs_read > set_ftrace_filter
	for _ in $(seq 50); do
		echo function > current_tracer
		equal "enabled" "$(cut -d' ' -f1 enabled_functions)" "vfs_read"
		echo nop > current_tracer
		equal "enabled" "$(cat enabled_functions)" ""
	done
	equal "text" "$(site_text vfs_read)" "nop 1"
}

filters_changing_under_load()
{
	load &
	echo function > current_tracer
	for _ in $(seq 5); do
		echo 'vfs_*' > set_ftrace_filter
		echo '*lock*' > set_ftrace_notrace
		: > set_ftrace_filter
		: > set_ftrace_notrace
	done
	equal "text" "$(site_text)" "call $(nr_available)"
}

on_and_off_with_CPUs_coming_and_going()
{
	local online=/sys/devices/system/cpu/cpu1/online
	[ -e $online ] || skip "CPU 1 cannot be switched off"
	load &
	endlessly "echo 0 > $online; echo 1 > $online"
	for _ in $(seq 10); do
		echo function > current_tracer
		echo nop > current_tracer
	done
	stop_endless
	echo 1 > $online
	equal "text" "$(site_text)" "nop $(nr_available)"
}

run_tests all_on_and_off_under_load one_function_on_and_off_under_load \
	filters_changing_under_load on_and_off_with_CPUs_coming_and_going
