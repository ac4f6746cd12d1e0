#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A kernel that is locked down tells nobody where its functions are. There is no
# way back, so the machine is of no use to other tests afterwards.

. "$(dirname "$0")/functions.sh"

LOCKDOWN=/sys/kernel/security/lockdown

every_file_is_closed_when_locked_down()
{
	local name said files=()
	reset_tracing
	for name in available_filter_functions available_filter_functions_addrs \
		set_ftrace_filter set_ftrace_notrace set_ftrace_pid set_ftrace_notrace_pid \
		set_graph_function set_graph_notrace graph_keep stack_trace_filter \
		available_markers set_marker function_profile_enabled trace_stat/function* \
		dyn_ftrace_total_info; do
		[ ! -e "$name" ] || files+=("$name")
	done
	[ ${#files[@]} -ge 12 ] || fail "only ${files[*]}"
	for name in "${files[@]}"; do
		cat "$name" > /dev/null || fail "$name cannot be read before"
	done

	echo confidentiality > $LOCKDOWN
	for name in "${files[@]}"; do
		if said=$(cat "$name" 2>&1); then
			fail "$name can be read"
		fi
		# The filter files say that there is no such thing.
		case $said in
		*'Operation not permitted'* | *'No such device'*) ;;
		*) fail "$name: $said" ;;
		esac
		if said=$( (echo > "$name") 2>&1); then
			fail "$name can be written"
		fi
		case $said in
		*'Operation not permitted'* | *'Permission denied'* | *'No such device'*) ;;
		*) fail "$name: $said" ;;
		esac
	done
	# What is attached stays to be seen by who is responsible for the machine.
	for name in enabled_functions touched_functions; do
		cat "$name" > /dev/null || fail "$name cannot be read"
	done
}

# With lockdown= on the command line there are no buffers and no instances either, which other
# parameters must not look for.
no_file_is_there_when_locked_down_at_boot()
{
	local files parameter
	for parameter in ftrace ftrace_filter markers; do
		grep -q " $parameter=" /proc/cmdline || skip "no $parameter= on the command line"
	done
	files=$(ls "$TRACING")
	[ -z "$files" ] || fail "there are files: ${files//$'\n'/ }"
	# Markers have no events, which is no error.
	! dmesg | grep 'no event' || fail "markers miss their events"
}

no_lockdown() { skip "$LOCKDOWN is not there, or set"; }

case $(cat $LOCKDOWN 2>&1) in
*'[none]'*) run_last every_file_is_closed_when_locked_down ;;
*'[confidentiality]'*) run_last no_file_is_there_when_locked_down_at_boot ;;
*) run_last no_lockdown ;;
esac
