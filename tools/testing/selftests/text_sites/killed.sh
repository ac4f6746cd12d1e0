#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# After ftrace_kill() nobody looks at ops that are still registered: their owners may
# have freed them. There is no way back, so the machine is of no use to other tests
# afterwards, and says by "killed_ops" on its command line that this may be done.

. "$(dirname "$0")/functions.sh"

# The engine is expected to report the breakpoint, and sites that it cannot switch.
# shellcheck disable=SC2034 # for functions.sh
WRONG_TEXT='is still jumped into'

# refused FILE TEXT
refused()
{
	local said
	said=$( (echo "$2" >&"$1") 2>&1 ) && fail "'$2' was taken"
	[[ $said == *'No such device'* ]] || fail "'$2': $said"
}

# breakpoint_at FUNCTION: sets a breakpoint at its site behind the engine's back
breakpoint_at()
{
	sed -n "s/^\([0-9a-f]*\) $1 .*/\1/p" available_filter_functions_addrs \
		> /sys/module/killed_ops/parameters/breakpoint
}

# Tracers report that a function with a breakpoint cannot be traced.
nothing_is_traced_with_a_breakpoint()
{
	breakpoint_at killed_ops_h
	echo killed_ops_h > set_ftrace_filter
	! echo function > current_tracer || fail "the function tracer is on"
	equal "tracer" "$(< current_tracer)" nop
	echo killed_late_f > set_ftrace_filter
	echo function > current_tracer
	# The filter is set when the file is closed, which reports no error.
	echo killed_ops_h >> set_ftrace_filter
	equal "filter" "$(cut -d' ' -f1 set_ftrace_filter)" killed_late_f
	if [ -e stack_trace_filter ]; then
		echo killed_ops_h > stack_trace_filter
		! echo 1 > /proc/sys/kernel/stack_tracer_enabled || fail "the stack tracer is on"
		equal "stack tracer" "$(< /proc/sys/kernel/stack_tracer_enabled)" 0
		echo > stack_trace_filter
	fi
}

open_files_are_closed_and_modules_go_and_come_after_a_kill()
{
	local old poke late name
	grep -qw killed_ops /proc/cmdline || skip "not on this machine"
	reset_tracing
	poke=$(sed -n 's/^\([0-9a-f]*\) [Tt] text_poke_kgdb$/\1/p' /proc/kallsyms)
	[ -n "$poke" ] || fail "no text_poke_kgdb()"

	modprobe dummy
	# The tracer's trampoline is called by a function of this module only.
	insmod "$HERE/test_modules/killed_late.ko"
	insmod "$HERE/test_modules/killed_ops.ko" poke=0x"$poke"
	old=$(complaints)
	nothing_is_traced_with_a_breakpoint
	mkdir instances/i
	echo ':mod:dummy' > instances/i/set_ftrace_filter
	echo ':mod:ops_test' > instances/i/set_ftrace_notrace

	exec 3>> set_ftrace_filter 4>> instances/i/set_ftrace_notrace 5>> set_graph_function
	echo vfs_read >&3
	echo vfs_read >&4
	echo vfs_read >&5
	echo "# killing"
	breakpoint_at killed_ops_g
	echo 1 > /sys/module/killed_ops/parameters/kill
	for name in 3 4 5; do
		refused $name vfs_open
	done
	echo "# closing"
	exec 3>&- 4>&- 5>&-
	echo "# unloading"
	rmmod dummy
	echo "# unloading while a parameter is read"
	cat /sys/module/killed_late/parameters/late &
	late=$!
	sleep 1
	rmmod killed_late &
	sleep 2
	echo 1 > /sys/module/killed_ops/parameters/unregister
	kill -0 $late || fail "it has been read too early"
	wait
	[ ! -e /sys/module/killed_late ] || fail "killed_late did not go"
	equal "calls of an ops that has gone" "$(< /sys/module/killed_ops/parameters/calls)" 0
	echo "# loading"
	modprobe dummy
	insmod "$HERE/test_modules/ops_test.ko"
	echo "# an instance goes"
	rmdir instances/i
	equal "complaints" "$(complaints)" "$old"
}

run_last open_files_are_closed_and_modules_go_and_come_after_a_kill
