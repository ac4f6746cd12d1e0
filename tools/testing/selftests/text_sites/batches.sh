#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What changes together changes in one run of the patcher: three synchronisations of all
# processors, however many functions, ops or tables are concerned.

. "$(dirname "$0")/functions.sh"

OPTIMIZATION=/proc/sys/debug/kprobes-optimization
MODULE="$HERE/test_modules/functions_many.ko"

remove_module()
{
	! grep -q '^functions_many ' /proc/modules || rmmod functions_many
}

# Counts synchronisations: in each, every processor runs do_sync_core(). The kprobe is
# behind the site, so that it is no user of what it counts.
begin_counting()
{
	local site
	[ -e kprobe_events ] || skip "no kprobe_events"
	trap 'stop_jobs; remove_module; no_tracers; end_counting' EXIT
	[ ! -e $OPTIMIZATION ] || echo 0 > $OPTIMIZATION
	# With the first event tracing also begins to note the names of tasks.
	echo 1 > events/sched/sched_process_exec/enable
	site=$(awk '$2 == "do_sync_core" { print $1 }' available_filter_functions_addrs)
	printf 'p:sync 0x%x\n' $((0x$site + 5)) > kprobe_events
	echo 1 > events/kprobes/sync/enable
}

end_counting()
{
	echo 0 > events/enable
	echo > kprobe_events
	[ ! -e $OPTIMIZATION ] || echo 1 > $OPTIMIZATION
}

hits()
{
	awk '$1 == "sync" { print $2 }' kprobe_profile
}

# one_batch COMMAND [SYNCHRONISATIONS]
one_batch()
{
	local before; before=$(hits)
	eval "$1"
	equal "synchronisations for $1" $((($(hits) - before) / $(nproc))) "${2:-3}"
}

five_tracers()
{
	local i
	echo function > current_tracer
	for i in 1 2 3 4; do
		mkdir instances/batches_$i
		echo function > instances/batches_$i/current_tracer
	done
}

no_tracers()
{
	local i
	for i in 1 2 3 4; do
		[ -d instances/batches_$i ] || continue
		echo nop > instances/batches_$i/current_tracer
		rmdir instances/batches_$i
	done
	echo nop > current_tracer
}

a_tracer_on_and_off()
{
	begin_counting
	one_batch 'echo function > current_tracer'
	one_batch 'echo nop > current_tracer'
}

a_filter_that_changes()
{
	begin_counting
	echo function > current_tracer
	one_batch "echo 'vfs_*' > set_ftrace_filter"
	one_batch "echo '*lock*' > set_ftrace_filter"
	one_batch 'echo > set_ftrace_filter'
	one_batch "echo 'vfs_*' > set_ftrace_notrace"
	echo nop > current_tracer
}

a_filter_that_several_share()
{
	[ -e function_profile_enabled ] || skip "no function profiler"
	begin_counting
	echo function > current_tracer
	echo 1 > function_profile_enabled
	one_batch "echo 'vfs_*' > set_ftrace_filter"
	one_batch 'echo > set_ftrace_filter'
	echo 0 > function_profile_enabled
	echo nop > current_tracer
}

everything_off_and_on_by_sysctl()
{
	begin_counting
	five_tracers
	one_batch 'echo 0 > /proc/sys/kernel/ftrace_enabled'
	equal "text" "$(site_text)" "nop $(nr_available)"
	one_batch 'echo 1 > /proc/sys/kernel/ftrace_enabled'
	equal "text" "$(site_text)" "call $(nr_available)"
	no_tracers
}

a_module_that_comes_while_five_ops_trace_everything()
{
	[ -e "$MODULE" ] || skip "no module functions_many"
	begin_counting
	five_tracers
	one_batch "insmod $MODULE"
	equal "its functions" "$(grep -c '^functions_many_.*\[functions_many\] (5)' enabled_functions)" 1000
	# One more, so that nobody looks at its table any more
	one_batch 'rmmod functions_many' 4
	no_tracers
}

run_tests a_tracer_on_and_off a_filter_that_changes a_filter_that_several_share \
	everything_off_and_on_by_sysctl a_module_that_comes_while_five_ops_trace_everything
