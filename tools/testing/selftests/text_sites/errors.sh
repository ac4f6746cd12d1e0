#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Wrong input gets the error that the kernel has always given, and changes
# nothing.

. "$(dirname "$0")/functions.sh"

unknown_functions()
{
	echo vfs_read > set_ftrace_filter
	expect_error "unknown" "Invalid argument" set_ftrace_filter no_such_function_at_all
	# The file was opened to be written anew, so there is nothing in it
	equal "after truncation" "$(filter)" ""

	echo vfs_read > set_ftrace_filter
	( echo 'no_such_function_*' >> set_ftrace_filter ) 2>&1 | grep -q 'Invalid argument' ||
		fail "appended: no error"
	equal "after append" "$(filter)" vfs_read
	( echo '!no_such_function' >> set_ftrace_filter ) 2>&1 | grep -q 'Invalid argument' ||
		fail "removed: no error"
	equal "after removal" "$(filter)" vfs_read
}

unknown_commands()
{
	local word
	echo vfs_read > set_ftrace_filter
	for word in vfs_read:nonsense vfs_read: :traceoff:x vfs_read:traceoff:x \
		vfs_read:enable_event vfs_read:enable_event:no:such no_such:traceoff \
		'!vfs_read:traceoff' '!!vfs_read:traceoff' vfs_read:snapshot:-x; do
		if ( echo "$word" >> set_ftrace_filter ) 2>/dev/null; then
			fail "'$word' was taken"
		fi
		equal "after $word" "$(filter)" vfs_read
	done
}

commands_are_not_for_notrace()
{
	expect_error "notrace" "Invalid argument" set_ftrace_notrace vfs_read:traceoff
	equal "notrace" "$(filter set_ftrace_notrace)" ""
}

a_module_that_is_loaded_but_has_no_such_function()
{
	modprobe dummy || skip "no module dummy"
	trap 'rmmod dummy' EXIT
	expect_error "module" "Invalid argument" set_ftrace_filter vfs_read:mod:dummy
}

unknown_tracers()
{
	echo function > current_tracer
	expect_error "tracer" "Invalid argument" current_tracer no_such_tracer
	equal "tracer" "$(cat current_tracer)" function
}

bad_pids()
{
	expect_error "pid" "Invalid argument" set_ftrace_pid abc
	expect_error "negative" "Invalid argument" set_ftrace_pid -1
	equal "pids" "$(cat set_ftrace_pid)" "no pid"
}

bad_sysctl_values()
{
	expect_error "sysctl" "Invalid argument" /proc/sys/kernel/ftrace_enabled nonsense
	equal "sysctl" "$(cat /proc/sys/kernel/ftrace_enabled)" 1
	echo 5 > /proc/sys/kernel/ftrace_enabled
	expect_error "sysctl" "Invalid argument" /proc/sys/kernel/ftrace_enabled nonsense
	equal "sysctl" "$(cat /proc/sys/kernel/ftrace_enabled)" 5
	echo 1 > /proc/sys/kernel/ftrace_enabled
}

read_only_files()
{
	local file
	for file in available_filter_functions enabled_functions touched_functions \
		available_filter_functions_addrs; do
		equal "mode of $file" "$(stat -c %a $file)" 440
	done
}

long_words()
{
	local long; long=$(head -c 65536 /dev/zero | tr '\0' a)
	echo vfs_read > set_ftrace_filter
	if ( echo "$long" >> set_ftrace_filter ) 2>/dev/null; then fail "64 KiB were taken"; fi
	equal "after it" "$(filter)" vfs_read
	# Many short ones are fine
	yes vfs_write | head -n 500 | xargs > set_ftrace_filter
	equal "500 times" "$(filter)" vfs_write
}

odd_words()
{
	echo vfs_read > set_ftrace_filter
	local word
	for word in '!' '[' '*[' '0' '99999999' '-1'; do
		( echo "$word" >> set_ftrace_filter ) 2>/dev/null || :
		equal "after '$word'" "$(filter)" vfs_read
	done
}

# What is taken away from no filter leaves none: all functions.
an_fprobe_that_names_no_function()
{
	grep -qs 'f\[:' README || skip "no fprobe events"
	[ -e enabled_functions ] || skip "no function tracing"
	echo 'f:none !vfs_read' > dynamic_events
	echo 1 > events/fprobes/none/enable
	[ "$(wc -l < enabled_functions)" -gt 1000 ] || fail "it is not attached to all functions"
	echo 0 > events/fprobes/none/enable
	echo > dynamic_events
	equal "warnings" "$(dmesg | grep -c 'WARNING.*register_fprobe')" 0
}

run_tests unknown_functions unknown_commands commands_are_not_for_notrace \
	an_fprobe_that_names_no_function \
	a_module_that_is_loaded_but_has_no_such_function unknown_tracers bad_pids \
	bad_sysctl_values read_only_files long_words odd_words
