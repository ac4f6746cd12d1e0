#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each allocation of memory fails once, in all that switches sites: what was asked for is
# done whole or not at all, and the next time it works.

. "$(dirname "$0")/failing_functions.sh"

MODULE="$HERE/test_modules/functions_many.ko"

a_tracer_comes()
{
	local all
	begin_failing
	echo 'vfs_*' > set_ftrace_filter
	all=$(grep -vc '^#' set_ftrace_filter)
	each on_or_off write current_tracer function
	text_agrees "off" ''
}

on_again()
{
	[ "$(cat current_tracer)" = function ] || equal "attached" "$(attached)" 0
	echo function > current_tracer
	equal "attached, on again" "$(attached)" "$all"
}

a_tracer_goes()
{
	local all
	begin_failing
	echo 'vfs_*' > set_ftrace_filter
	echo function > current_tracer
	all=$(attached)
	each on_again write current_tracer nop
	echo nop > current_tracer
	text_agrees "off" ''
}

old_or_new()
{
	equal "attached" "$(attached)" "$(grep -vc '^#' set_ftrace_filter)"
	echo 'vfs_*' > set_ftrace_filter
	equal "attached, put back" "$(attached)" "$all"
}

a_filter_changes()
{
	local all
	begin_failing
	echo 'vfs_*' > set_ftrace_filter
	echo function > current_tracer
	all=$(attached)
	each old_or_new append set_ftrace_filter 'ksys_*'
	each old_or_new append set_ftrace_filter '!vfs_r*'
	# Putting an empty filter into use would trace all functions.
	each old_or_new write set_ftrace_filter 'ksys_*'
	text_agrees "at the end" "$all"
}

still_all()
{
	echo > set_ftrace_notrace
	equal "attached, notrace empty" "$(attached)" "$all"
}

a_notrace_filter_changes()
{
	local all
	begin_failing
	echo 'vfs_*' > set_ftrace_filter
	echo function > current_tracer
	all=$(attached)
	each still_all write set_ftrace_notrace 'vfs_r*'
	text_agrees "at the end" "$all"
}

no_pid()
{
	equal "attached" "$(attached)" "$all"
	echo > set_ftrace_pid
	equal "pids" "$(cat set_ftrace_pid)" "no pid"
}

pids_change()
{
	local all
	begin_failing
	echo 'vfs_*' > set_ftrace_filter
	echo function > current_tracer
	all=$(attached)
	each no_pid write set_ftrace_pid $$
}

instance_off()
{
	echo nop > instances/failing/current_tracer
	equal "attached" "$(attached)" "$all"
}

an_instance_traces()
{
	local all
	begin_failing
	echo 'vfs_*' > set_ftrace_filter
	echo function > current_tracer
	all=$(attached)
	# That it can be made or not is not about sites.
	mkdir instances/failing
	echo 'vfs_r*' > instances/failing/set_ftrace_filter
	each instance_off write instances/failing/current_tracer function
	rmdir instances/failing
	text_agrees "at the end" "$all"
}

no_command()
{
	! grep -q traceoff set_ftrace_filter || echo '!vfs_*:traceoff' >> set_ftrace_filter
	equal "attached" "$(attached)" 0
}

a_command_comes()
{
	begin_failing
	each no_command append set_ftrace_filter 'vfs_*:traceoff'
	text_agrees "off" ''
}

no_profile()
{
	echo 0 > function_profile_enabled
	equal "attached" "$(attached)" 0
}

the_profiler_comes()
{
	begin_failing
	[ -e function_profile_enabled ] || skip "no function profiler"
	echo 'vfs_*' > set_ftrace_filter
	each no_profile write function_profile_enabled 1
	text_agrees "off" ''
}

profile_is_there()
{
	grep -q '^vfs_read hitcount ' trace_stat/function_latency || fail "vfs_read has no latency"
}

the_latency_of_functions_is_read()
{
	begin_failing
	[ -e trace_stat/function_latency ] || skip "no function profiler with times"
	trap 'stop_jobs; echo 0 > function_profile_enabled' EXIT
	echo vfs_read > set_ftrace_filter
	echo 1 > function_profile_enabled
	cat /proc/version > /dev/null
	each profile_is_there read trace_stat/function_latency
	echo 0 > function_profile_enabled
}

sysctl_on()
{
	echo 1 > /proc/sys/kernel/ftrace_enabled
	equal "attached" "$(attached)" "$all"
	text_agrees "on again" "$all"
}

everything_is_switched_off_for_a_while()
{
	local all
	begin_failing
	trap 'stop_jobs; echo 1 > /proc/sys/kernel/ftrace_enabled' EXIT
	echo 'vfs_*' > set_ftrace_filter
	echo function > current_tracer
	all=$(attached)
	each sysctl_on write /proc/sys/kernel/ftrace_enabled 0
}

no_module()
{
	local was said_so loaded=''
	was=$(< /tmp/failing_said_so)
	said_so=$was
	[[ $'\n'$(< /proc/modules) != *$'\nfunctions_many '* ]] || loaded=1
	# Nothing is said of a module whose functions are traced.
	if [[ ! $loaded || $(attached) -lt 1000 ]]; then
		said_so=$(dmesg | grep -c 'functions_many: its filter could not be set') || :
		echo "$said_so" > /tmp/failing_said_so
		[[ ! $loaded || $said_so -gt $was ]] ||
			fail "its functions are not traced: $(attached)"
	fi
	[ ! $loaded ] || rmmod functions_many
	equal "attached without it" "$(attached)" "$all"
	# It waits for one load that puts it into use.
	[[ $(< set_ftrace_filter) = *:mod:* ]] || {
		[ $said_so -eq $was ] || fail "it does not wait after an error"
		echo '*:mod:functions_many' >> set_ftrace_filter
	}
}

a_module_comes()
{
	# shellcheck disable=SC2034 # for consistent() in failing_functions.sh
	local all sites_change=1
	begin_failing
	echo 0 > /tmp/failing_said_so
	trap 'stop_jobs; ! grep -q "^functions_many " /proc/modules || rmmod functions_many' EXIT
	echo 'vfs_*' > set_ftrace_filter
	echo '*:mod:functions_many' >> set_ftrace_filter
	echo 'vfs_*' >> set_ftrace_filter
	echo function > current_tracer
	all=$(attached)
	each no_module load "$MODULE"
	text_agrees "at the end" "$all"
}

# Without an error, none of those that match is left out.
no_markers()
{
	# shellcheck disable=SC2154 # of try() in failing_functions.sh
	[ "$error" != 0 ] || equal "on" "$(cat instances/failing/events/cost/enable)" 1
	echo > instances/failing/set_marker
	equal "markers" "$(cat instances/failing/events/cost/enable)" 0
}

markers_are_switched_on()
{
	begin_failing
	[ -e set_marker ] || skip "no set_marker"
	insmod "$HERE/test_modules/marker_cost.ko"
	trap 'stop_jobs; echo > set_marker; rmmod marker_cost' EXIT
	mkdir instances/failing
	each no_markers write instances/failing/set_marker 'cost:*'
	# An open that failed left no reference to the instance.
	rmdir instances/failing
}

# Ten functions call what is their own, or what they have called before, all of them.
direct_or_not()
{
	case $(cat $DEBUG/direct_many/calls) in
	"0-9 $1 10-999 none") return 0 ;;
	"0-9 $2 10-999 none" | "0-$2") ;;
	*) fail "calls: $(cat $DEBUG/direct_many/calls)" ;;
	esac
	echo "$3" > $DEBUG/direct_many/do
	equal "calls, put back" "$(cat $DEBUG/direct_many/calls)" "0-9 $1 10-999 none"
}

none_direct()
{
	[ "$(cat $DEBUG/direct_many/calls)" = "0-999 none" ] || direct_or_not 5 5 ''
	[ "$(attached)" = 0 ] || echo del 0 10 5 > $DEBUG/direct_many/do
	equal "attached" "$(attached)" 0
}

all_direct() { direct_or_not 5 '999 none' 'add 0 10 5'; }

others_direct() { direct_or_not 5 7 'mod 0 10 5'; }

direct_calls_change()
{
	begin_failing
	insmod "$HERE/test_modules/direct_many.ko"
	trap 'stop_jobs; rmmod direct_many' EXIT
	find_sites
	each none_direct write $DEBUG/direct_many/do 'add 0 10 5'
	echo add 0 10 5 > $DEBUG/direct_many/do
	each others_direct write $DEBUG/direct_many/do 'mod 0 10 7'
	each all_direct write $DEBUG/direct_many/do 'del 0 10 5'
	# Without memory some of them share a trampoline.
	echo add 10 10 5 > $DEBUG/direct_many/do
	echo del 0 20 5 > $DEBUG/direct_many/do
	text_agrees "off" ''
}

run_tests a_tracer_comes a_tracer_goes a_filter_changes a_notrace_filter_changes \
	pids_change an_instance_traces a_command_comes the_profiler_comes \
	the_latency_of_functions_is_read everything_is_switched_off_for_a_while a_module_comes \
	markers_are_switched_on \
	direct_calls_change
