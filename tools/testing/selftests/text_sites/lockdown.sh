#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A kernel that is locked down tells nobody where its functions are. There is no
# way back, so the machine is of no use to other tests afterwards.

. "$(dirname "$0")/functions.sh"

LOCKDOWN=/sys/kernel/security/lockdown

every_file_is_closed_when_locked_down()
{
	local name said files=()
	for name in available_filter_functions available_filter_functions_addrs \
		set_ftrace_filter set_ftrace_notrace set_ftrace_pid set_ftrace_notrace_pid \
		set_graph_function set_graph_notrace function_profile_enabled \
		trace_stat/function_latency dyn_ftrace_total_info; do
		[ ! -e "$name" ] || files+=("$name")
	done
	[ ${#files[@]} -ge 8 ] || fail "only ${files[*]}"
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

ktap_print_header
ktap_set_plan 1
if [ ! -w $LOCKDOWN ]; then
	ktap_test_skip "every file is closed: there is no $LOCKDOWN"
elif ( set -e; reset_tracing; every_file_is_closed_when_locked_down ) 2>&1; then
	ktap_test_pass "every file is closed when locked down"
else
	ktap_test_fail "every file is closed when locked down"
fi
ktap_finished
