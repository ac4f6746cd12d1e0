#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each allocation of memory fails once, in what is done with commands, probes, events, modules,
# and by callers in the kernel; and when files are only read.

. "$(dirname "$0")/failing_functions.sh"

DO=/sys/module/ops_test/parameters/do
SAMPLE=/sys/kernel/debug/jump_function
OWNER=/sys/module/immediate_owner/parameters

# need_module FILE...: have them loaded until the test ends
need_module()
{
	local module
	for module; do
		[ -e "$HERE/test_modules/$module.ko" ] || skip "no module $module"
		insmod "$HERE/test_modules/$module.ko"
		mods="$module $mods"
	done
	trap 'stop_jobs; rmmod $mods' EXIT
	find_sites
}

no_command()
{
	local line
	while read -r line; do
		line=${line%:unlimited}
		echo "!${line/:count=/:}" >> set_ftrace_filter
	done < <(grep "^vfs.*:" set_ftrace_filter)
	equal "attached" "$(attached)" 0
}

with_command()
{
	if ! grep -q "$command" set_ftrace_filter; then
		equal "attached" "$(attached)" 0
		echo "$command" >> set_ftrace_filter
	fi
	equal "attached" "$(attached)" 1
}

commands_come_and_go()
{
	local command
	begin_failing
	echo 1 > events/sched/sched_process_exec/enable
	for command in vfs_fsync:enable_event:sched:sched_process_wait vfs_fsync:stacktrace:5 \
		vfs_fsync:snapshot vfs_fsync:dump vfs_fsync:cpudump; do
		each no_command append set_ftrace_filter "$command"
	done
	command=vfs_fsync:stacktrace
	with_command
	each with_command append set_ftrace_filter '!vfs_fsync:stacktrace'
	no_command
	echo 0 > events/enable
	text_agrees "off" ''
}

nothing_waits()
{
	echo > set_ftrace_filter
	equal "filter" "$(filter)" ''
}

filters_wait_for_modules()
{
	begin_failing
	each nothing_waits append set_ftrace_filter '*:mod:no_such'
	each nothing_waits write set_ftrace_filter ':mod:no_such'
}

no_probes()
{
	[ ! -e events/kprobes/enable ] || echo 0 > events/kprobes/enable
	[ ! -e events/fprobes/enable ] || echo 0 > events/fprobes/enable
	echo > kprobe_events
	[ ! -e dynamic_events ] || echo > dynamic_events
	equal "attached" "$(attached)" 0
}

# After success, the fprobe is attached to the functions of its filter.
fprobe_there()
{
	# shellcheck disable=SC2154 # of each() and try() in failing_functions.sh
	[ "$error" != 0 ] || equal "attached" "$(attached)" "$at"
	no_probes
}

probe_off()
{
	echo 0 > events/$probe/enable
	equal "attached" "$(attached)" 0
}

# Its functions have it attached also while it is off.
fprobe_off()
{
	echo 0 > events/$probe/enable
	no_probes
	echo "$fprobe" > dynamic_events
}

probes_come()
{
	local probe fprobe='f:failing vfs_r*' at
	begin_failing
	[ -e kprobe_events ] || skip "no kprobe_events"
	trap 'stop_jobs; no_probes' EXIT
	echo 1 > events/sched/sched_process_exec/enable
	each no_probes append kprobe_events 'p:failing vfs_fsync'
	echo 'p:failing vfs_fsync' > kprobe_events
	probe=kprobes/failing
	each probe_off write events/$probe/enable 1
	echo > kprobe_events
	if grep -q 'f\[:' README; then
		echo "$fprobe" > dynamic_events
		at=$(attached)
		no_probes
		each fprobe_there append dynamic_events "$fprobe"
		echo "$fprobe" > dynamic_events
		probe=fprobes/failing
		each fprobe_off write events/$probe/enable 1
	fi
	! grep -q 't\[:' README ||
		each no_probes append dynamic_events 't:failing sched_process_wait'
	no_probes
	echo 0 > events/enable
	text_agrees "off" ''
}

two_probes_on()
{
	echo 1 > events/kprobes/enable
	equal "attached" "$(attached)" 2
}

two_probes_armed()
{
	[ "$(< $DEBUG/kprobes/enabled)" = 1 ] || equal "attached" "$(attached)" 0
	echo 1 > $DEBUG/kprobes/enabled
	two_probes_on
}

# Kprobes on functions share a filter: removing one of several from it allocates memory.
probes_go()
{
	begin_failing
	[ -e kprobe_events ] || skip "no kprobe_events"
	trap 'stop_jobs; echo 1 > $DEBUG/kprobes/enabled; no_probes' EXIT
	echo 1 > events/sched/sched_process_exec/enable
	printf '%s\n' 'p:failing vfs_fsync' 'p:other vfs_read' > kprobe_events
	two_probes_on
	each two_probes_on write events/kprobes/failing/enable 0
	each two_probes_armed write $DEBUG/kprobes/enabled 0
	no_probes
	echo 'p:failing vfs_fsync' > kprobe_events
	echo 1 > events/kprobes/enable
	equal "attached" "$(attached)" 1
	no_probes
	echo 0 > events/enable
	text_agrees "off" ''
}

# A trigger or a command for the probe's event attaches the probe. When they have gone, the event
# has no user left: switching it on and off attaches and detaches the probe.
no_trigger()
{
	local file line
	for file in events/kprobes/failing/trigger events/oom/mark_victim/trigger \
		set_ftrace_filter; do
		while read -r line; do
			equal "attached by $line" "$(grep -c '^vfs_fsync ' enabled_functions)" 1
			echo "!${line%:unlimited}" >> "$file"
		done < <(grep -E '^(traceon|.*enable_event):' "$file" || :)
	done
	echo 1 > events/kprobes/failing/enable
	equal "attached" "$(attached)" 1
	echo 0 > events/kprobes/failing/enable
	equal "attached" "$(attached)" 0
}

triggers_come()
{
	begin_failing
	[ -e kprobe_events ] || skip "no kprobe_events"
	trap 'stop_jobs; no_probes' EXIT
	echo 1 > events/sched/sched_process_exec/enable
	echo 'p:failing vfs_fsync' > kprobe_events
	each no_trigger append events/kprobes/failing/trigger traceon
	# Neither mark_victim nor vfs_fallocate is reached, so the event stays off.
	each no_trigger append events/oom/mark_victim/trigger enable_event:kprobes:failing
	each no_trigger append set_ftrace_filter vfs_fallocate:enable_event:kprobes:failing
	no_probes
	echo 0 > events/enable
	text_agrees "off" ''
}

events_off()
{
	echo 0 > events/sched/enable
	echo 1 > events/sched/sched_process_exec/enable
}

# Their tracepoints change in one batch.
events_come()
{
	begin_tracing
	each events_off write events/sched/enable 1
	end_tracing
}

# The next user of task names gets them, even if the event could not be enabled.
names_are_noted()
{
	local exec=events/sched/sched_process_exec/enable
	echo nop > current_tracer
	echo 0 > options/record-cmd
	echo 1 > $exec
	echo 0 > $exec
	echo 1 > options/record-cmd
	echo > trace
	echo 1 > $exec
	cat /proc/version > /dev/null
	echo 0 > $exec
	grep -q '^ *cat-' trace || fail "no name: $(grep -v '^#' trace)"
}

# The first event registers the probes that note them, and so does function_graph.
names_of_tasks()
{
	begin_failing
	trap 'echo 1 > options/record-cmd' EXIT
	! can_trace || echo 'vfs_*' > set_ftrace_filter
	each names_are_noted write events/sched/sched_process_exec/enable 1
	! grep -qw function_graph available_tracers ||
		each names_are_noted write current_tracer function_graph
}

no_event_probe()
{
	echo > trace
	cat /proc/version > /dev/null
	# shellcheck disable=SC2154 # of try() in failing_functions.sh
	[ "$error" != 0 ] || grep -q 'of_exec:' trace || fail "it is on, but does nothing"
	echo 0 > events/failing/of_exec/enable
	# 0* if something uses it
	equal "the event that it is of" "$(< events/sched/sched_process_exec/enable)" 0
}

event_probes_come()
{
	begin_failing
	trap 'echo "-:failing/of_exec" >> dynamic_events' EXIT
	echo 'e:failing/of_exec sched.sched_process_exec' >> dynamic_events ||
		skip "no event probes"
	each no_event_probe write events/failing/of_exec/enable 1
}

# did CALLS: what the calls of f and g make run
did() { equal "calls" "$(< /sys/module/ops_test/parameters/calls)" "$1"; }

NONE='a 0 0 b 0 0 c 0 0 one 0 0 two 0 0'

no_ops()
{
	# shellcheck disable=SC2154 # of try() in failing_functions.sh
	if [ "$error" = 0 ]; then did "$expected"; else did "$NONE"; fi
	[ "$error" != 0 ] || [ -z "$undo" ] || echo "$undo" > $DO
	did "$NONE"
	[ -z "$new" ] || echo "$new" > $DO
	equal "attached" "$(attached)" 0
}

ops_come()
{
	local expected undo new
	begin_failing
	need_module ops_test
	expected=$NONE undo='' new='new a'
	each no_ops write $DO 'ip a f'
	each no_ops write $DO 'ips a g'
	each no_ops write $DO 'filter a ops_test_*'
	each no_ops write $DO 'notrace a ops_test_*'
	new=''
	echo 'ips a g' > $DO
	expected='a 1 1 b 0 0 c 0 0 one 0 0 two 0 0' undo='unregister a'
	each no_ops write $DO 'register a'
	echo 'new b ipmodify' > $DO
	echo 'ip b f' > $DO
	expected='a 0 0 b 1 0 c 0 0 one 0 0 two 0 0' undo='unregister b'
	each no_ops write $DO 'register b'
	echo 'new c direct' > $DO
	echo 'ip c g' > $DO
	expected='a 0 0 b 0 0 c 0 0 one 0 1 two 0 0' undo='not-direct c one'
	each no_ops write $DO 'direct c one'
}

back_again()
{
	if [ "$error" = 0 ]; then did "$after"; else did "$before"; fi
	[ "$error" != 0 ] || echo "$undo" > $DO
	[ -z "$undo2" ] || [ "$error" != 0 ] || echo "$undo2" > $DO
	did "$before"
}

ops_change_and_go()
{
	local before after undo undo2=''
	begin_failing
	need_module ops_test
	echo 'ip a f' > $DO
	echo 'register a' > $DO
	before='a 1 0 b 0 0 c 0 0 one 0 0 two 0 0'
	after='a 1 1 b 0 0 c 0 0 one 0 0 two 0 0' undo='not-ip a g'
	each back_again write $DO 'ip a g'
	after='a 0 1 b 0 0 c 0 0 one 0 0 two 0 0' undo='only-ip a f'
	each back_again write $DO 'only-ip a g'
	# With both functions in the filter, one is taken away
	echo 'ip a g' > $DO
	before='a 1 1 b 0 0 c 0 0 one 0 0 two 0 0'
	after='a 0 1 b 0 0 c 0 0 one 0 0 two 0 0' undo='ip a f'
	each back_again write $DO 'not-ip a f'
	after=$NONE undo='register a'
	each back_again write $DO 'unregister a'
	echo 'unregister a' > $DO

	echo 'new c direct' > $DO
	echo 'ips c g' > $DO
	echo 'direct c one' > $DO
	before='a 0 0 b 0 0 c 0 0 one 1 1 two 0 0'
	after='a 0 0 b 0 0 c 0 0 one 0 0 two 1 1' undo='modify-direct c one'
	each back_again write $DO 'modify-direct c two'
	after=$NONE undo='direct c one'
	each back_again write $DO 'not-direct c one'
	echo 'not-direct c one' > $DO
	did "$NONE"
	text_agrees "off" ''
}

# An event of a marker has all its fields, or comes when set_marker is opened the next time.
events_are_whole()
{
	local dir
	[ -e set_marker ] && [ "$module" = tables_test ] || return 0
	: "$(< set_marker)"
	for dir in . instances/failing; do
		[ ! -d $dir ] || equal "fields of events in $dir" \
			"$(grep -h 'field:' $dir/events/$module/*/format | grep -vc common_)" 3
	done
}

loaded_or_not()
{
	if grep -q "^$module " /proc/modules; then
		events_are_whole
		[ ! -e /sys/module/$module/parameters/check ] ||
			equal "$module" "$(< /sys/module/$module/parameters/check)" right
		rmmod $module
	else
		[ "$error" != 0 ] || fail "it is not there"
	fi
	! grep -q "\[$module\]" enabled_functions || fail "it is traced still"
}

away_or_not()
{
	if grep -q "^$module " /proc/modules; then
		[ "$error" != 0 ] || fail "it is there still"
		equal "$module" "$(< /sys/module/$module/parameters/check)" right
	else
		insmod "$HERE/test_modules/$module.ko"
	fi
}

modules_come_and_go()
{
	# Not local: the trap uses it.
	# shellcheck disable=SC2034 # for consistent() in failing_functions.sh
	module=tables_test sites_change=1
	begin_failing
	[ -e "$HERE/test_modules/$module.ko" ] || skip "no module $module"
	trap 'stop_jobs; ! grep -q "^$module " /proc/modules || rmmod $module' EXIT
	mkdir instances/failing
	each loaded_or_not load "$HERE/test_modules/$module.ko"
	rmdir instances/failing
	echo 'vfs_*' > set_ftrace_filter
	echo "*:mod:$module" >> set_ftrace_filter
	echo function > current_tracer
	each loaded_or_not load "$HERE/test_modules/$module.ko"
	insmod "$HERE/test_modules/$module.ko"
	each away_or_not unload $module
	rmmod $module
	echo nop > current_tracer
}

# A kprobe in it, filters of the graph tracer, and a marker's probe
modules_come_to_what_waits()
{
	# Not local: the trap uses it.
	# shellcheck disable=SC2034 # for consistent() in failing_functions.sh
	module=tables_test sites_change=1
	local file="$HERE/test_modules/tables_test.ko"
	begin_failing
	[ -e "$file" ] || skip "no module $module"
	trap 'stop_jobs; ! grep -q "^$module " /proc/modules || rmmod $module; no_probes
		! grep -q "^marker_probe_sample " /proc/modules || rmmod marker_probe_sample' EXIT
	if [ -e kprobe_events ]; then
		echo 'p:failing tables_test:pass' > kprobe_events
		echo 1 > events/kprobes/failing/enable
		each loaded_or_not load "$file"
		no_probes
	fi
	if [ -e set_graph_function ]; then
		echo vfs_read > set_graph_function
		echo vfs_write > set_graph_notrace
		echo 'vfs_*' > set_ftrace_filter
		echo '*:mod:tables_test' >> set_ftrace_filter
		echo function_graph > current_tracer
		each loaded_or_not load "$file"
		echo nop > current_tracer
	fi
	modprobe marker_probe_sample || return 0
	module=marker_sample
	each loaded_or_not load "$(modinfo -n marker_sample)"
}

first_is_on()
{
	loaded_or_not
	equal "attached" "$(attached)" 1
	echo > trace
	( : )
	grep -q ': failing: (kernel_clone' trace || fail "the first probe is off"
}

# Where one without is already: both take another ops.
probes_with_a_post_handler_come()
{
	# Not local: the trap uses it.
	# shellcheck disable=SC2034 # for consistent() in failing_functions.sh
	module=kprobe_example sites_change=1
	begin_failing
	[ -e kprobe_events ] && modinfo $module > /dev/null 2>&1 || skip "no kprobes, or no module $module"
	trap 'stop_jobs; ! grep -q "^$module " /proc/modules || rmmod $module; no_probes' EXIT
	echo 'p:failing kernel_clone' > kprobe_events
	echo 1 > events/kprobes/failing/enable
	each first_is_on load "$(modinfo -n $module)"
	no_probes
	equal "attached" "$(attached)" 0
}

marker_on()
{
	away_or_not
	echo 'tables_test:*' > set_marker
	equal "markers" "$(< events/tables_test/enable)" 1
}

modules_go_with_their_markers_on()
{
	# Not local: the trap uses it.
	# shellcheck disable=SC2034 # for consistent() in failing_functions.sh
	module=tables_test sites_change=1
	begin_failing
	[ -e set_marker ] && [ -e "$HERE/test_modules/$module.ko" ] || skip "no set_marker"
	trap 'stop_jobs; echo > set_marker; ! grep -q "^$module " /proc/modules || rmmod $module' EXIT
	insmod "$HERE/test_modules/$module.ko"
	marker_on
	each marker_on unload $module
}

# All that an instance can have on goes with it.
instance_on()
{
	local dir=instances/failing
	if [ ! -d $dir ]; then
		equal "attached, without it" "$(attached)" 0
		equal "markers, without it" "$(grep -c '^cost:[a-z0-9]* on' available_markers)" 0
		mkdir $dir
		echo 'vfs_r*' > $dir/set_ftrace_filter
		echo 'cost:*' > $dir/set_marker
		echo 1 > $dir/events/sched/sched_process_wait/enable
		echo 'prio > 5' > $dir/events/sched/sched_process_wait/filter
		echo traceon > $dir/events/sched/sched_process_wait/trigger
		for file in set_event_pid set_ftrace_pid; do echo $$ > $dir/$file; done
	fi
	echo function > $dir/current_tracer
	[ "$(attached)" -gt 0 ] || fail "its tracer does nothing"
	equal "markers" "$(< $dir/events/cost/enable)" 1
}

instances_go_with_all_on()
{
	local file
	begin_failing
	[ -e set_marker ] || skip "no set_marker"
	need_module marker_cost
	echo 1 > events/sched/sched_process_exec/enable
	instance_on
	each instance_on rmdir instances/failing
	rmdir instances/failing
	echo 0 > events/enable
	equal "attached" "$(attached)" 0
}

perf_is_away()
{
	equal "attached" "$(attached)" 0
	equal "markers" "$(grep -c '^cost:[a-z0-9]* on' available_markers)" 0
}

perf_opens_events()
{
	begin_failing
	[ -e events/ftrace/function/id ] || skip "no event of functions"
	need_module marker_cost
	echo 1 > events/sched/sched_process_exec/enable
	each perf_is_away perf "$(< events/cost/two/id)" 'arg1 > 5'
	# All functions are traced until the filter is there.
	every=20 each perf_is_away perf "$(< events/ftrace/function/id)" 'ip == vfs_read'
	echo 0 > events/enable
	text_agrees "off" ''
}

none_attached() { equal "attached" "$(attached)" 0; }

# Alone at a function, and at one that is traced as well
programs_of_bpf_come()
{
	local all
	begin_failing
	[ -e /sys/kernel/btf/vmlinux ] || skip "no BTF"
	configured DYNAMIC_FTRACE_WITH_DIRECT_CALLS || skip "no direct calls"
	# When all fail, alloc_vmap_area() warns: it cannot split what is free.
	alone=1 each none_attached bpf ksys_lseek
	echo 'vfs_*' > set_ftrace_filter
	echo function > current_tracer
	all=$(attached)
	alone=1 each still_traced bpf vfs_read
	echo nop > current_tracer
	text_agrees "off" ''
}

still_traced() { equal "attached" "$(attached)" "$all"; }

# Something is left when the second allocation fails, each time: a probe, or what $counted counts.
leaves_something()
{
	# shellcheck disable=SC2154 # of one_by_one() in failing_functions.sh
	if [ "$n$mode $said" = '2 failed' ]; then
		lost=$((lost + 1))
		[ "$counted" ] || echo "p:failing$lost vfs_fsync" >> kprobe_events
	fi
	echo > set_ftrace_pid
}

leaks_are_found()
{
	local lost=0 counted='' said
	begin_failing
	[ -e $DEBUG/slab/kmalloc-64/alloc_traces ] || skip "no stacks of allocations"
	[ -e kprobe_events ] || skip "no kprobe_events"
	trap 'stop_jobs; no_probes' EXIT
	! said=$(each leaves_something write set_ftrace_pid $$) || fail "not found: $said"
	[[ $said = *leaked:*trace_kprobe* ]] || fail "$said"
	no_probes

	# Just one allocation, as most leaks are
	counted=1
	eval "$(declare -f allocated | sed '1s/allocated/allocated_by_kernel/')"
	allocated() { allocated_by_kernel; echo "$lost counted"; }
	! said=$(each leaves_something write set_ftrace_pid $$) || fail "one is not found: $said"
	[[ $said = *leaked:*counted* ]] || fail "$said"
}

still_right() { equal "check" "$(< /sys/module/tables_test/parameters/check)" right; }

# Without memory it says that something is wrong, but puts it back.
values_jumps_and_markers_change()
{
	begin_failing
	need_module tables_test
	each still_right read /sys/module/tables_test/parameters/check
}

limits_back()
{
	equal "of the owner" "$(< $OWNER/both)" "$([ "$error" = 0 ] && echo 7 14 || echo 64 128)"
	echo 64 > $OWNER/both
}

jumps_back()
{
	equal "jumps" "$(sed 's/.*= //' $SAMPLE/all | xargs)" \
		"$([ "$error" = 0 ] && echo 1000 1001 1012 1123 || echo 0 1 12 123)"
	echo 0 > $SAMPLE/all
}

# These need no memory, but for the file that is written to.
immediate_values_and_jump_functions_change()
{
	begin_failing
	need_module immediate_owner immediate_reader
	each limits_back write $OWNER/both 7
	modprobe jump_function_sample || return 0
	mods="jump_function_sample $mods"
	each jumps_back write $SAMPLE/all 1
}

same_as_ever()
{
	# By a pipe: the size of a file of tracefs is 0.
	cmp -s /tmp/failing_whole <(cat "$file") || fail "$file is another"
}

files_are_read()
{
	local file
	begin_tracing
	echo 'vfs_open:traceoff' >> set_ftrace_filter
	echo function > current_tracer
	for file in available_filter_functions available_filter_functions_addrs \
		enabled_functions touched_functions set_ftrace_filter set_ftrace_notrace \
		set_graph_function dyn_ftrace_total_info set_marker; do
		[ -e $file ] || continue
		cat $file > /tmp/failing_whole
		each same_as_ever read $file
	done
	echo '!vfs_open:traceoff' >> set_ftrace_filter
	end_tracing
}

run_tests commands_come_and_go filters_wait_for_modules probes_come probes_go triggers_come \
	events_come names_of_tasks event_probes_come ops_come ops_change_and_go \
	modules_come_and_go modules_come_to_what_waits probes_with_a_post_handler_come \
	modules_go_with_their_markers_on \
	instances_go_with_all_on perf_opens_events programs_of_bpf_come leaks_are_found \
	values_jumps_and_markers_change immediate_values_and_jump_functions_change files_are_read
