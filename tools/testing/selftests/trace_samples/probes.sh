#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# samples/fprobe, samples/kprobes

. "$(dirname "$0")/functions.sh"

# A child process; says which
child()
{
	: &
	echo $!
	wait
}

fprobe_on_a_function()
{
	load fprobe_example
	expect 'Planted fprobe at kernel_clone'
	child > /dev/null
	expect 'sample_entry_handler: Enter <kernel_clone+0x'
	expect 'sample_exit_handler: Return from <kernel_clone+0x.*__[a-z0-9]*_sys_'
	# and where it was called from
	expect '^__[a-z0-9]*_sys_'
	unload fprobe_example
	expect 'fprobe at kernel_clone unregistered. [1-9][0-9]* times hit, 0 times missed'
}

fprobe_on_a_list_of_functions()
{
	load fprobe_example symbol=kernel_clone,do_exit stackdump=N use_trace=Y
	expect '2 symbols found'
	child > /dev/null
	expect_traced 'Enter <kernel_clone+0x'
	expect_traced 'Return from <kernel_clone+0x'
	expect_traced 'Enter <do_exit+0x'
	# which does not return
	! traced 'Return from <do_exit' || fail "do_exit returned"
	unload fprobe_example
}

fprobe_on_a_pattern()
{
	load fprobe_example symbol='vfs_*' nosymbol='vfs_read*' stackdump=N use_trace=Y
	cat /proc/version > /dev/null
	expect_traced 'Enter <vfs_open+0x'
	expect_traced 'Return from <vfs_write+0x'
	! traced 'Enter <vfs_read+0x' || fail "vfs_read is excluded"
	! traced 'Enter <[^v]' || fail "$(grep 'Enter <[^v]' "$TRACING/trace" | head -n1)"
	unload fprobe_example
}

kprobe_on_a_function()
{
	load kprobe_example
	expect 'kprobe_init: Planted kprobe at'
	child > /dev/null
	expect 'handler_pre: <kernel_clone> p->addr = 0x[0-9a-f]*, ip = [0-9a-f]*'
	expect 'handler_post: <kernel_clone> p->addr'
	unload kprobe_example
	expect 'kprobe_exit: kprobe at [0-9a-f]* unregistered'
}

kretprobe_on_a_function()
{
	local pid
	load kretprobe_example
	expect 'Planted return probe at kernel_clone'
	pid=$(child)
	expect "kernel_clone returned $pid and took [0-9]* ns"
	unload kretprobe_example
	expect 'Missed probing 0 instances of kernel_clone'
}

all_on_one_function()
{
	local pid
	load kprobe_example
	load kretprobe_example
	load fprobe_example stackdump=N
	pid=$(child)
	expect 'handler_pre: <kernel_clone>'
	expect "kernel_clone returned $pid and took"
	expect 'Enter <kernel_clone+0x'
	expect 'Return from <kernel_clone+0x'
	unload kretprobe_example
	unload kprobe_example
	unload fprobe_example
}

run_tests fprobe_on_a_function fprobe_on_a_list_of_functions fprobe_on_a_pattern \
	kprobe_on_a_function kretprobe_on_a_function all_on_one_function
