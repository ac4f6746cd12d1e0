#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What changes together changes in one run of the patcher: three synchronisations of all
# processors for a round, however many functions, ops or tables are concerned.

. "$(dirname "$0")/functions.sh"

MODULE="$HERE/test_modules/functions_many.ko"
DIRECT=/sys/kernel/debug/direct_many

remove_module()
{
	local module
	for module in functions_many direct_many; do
		! grep -q "^$module " /proc/modules || rmmod $module
	done
}

# no_fair_share: from now on, ordinary tasks get no time while real-time tasks run. Each processor
# must be running an ordinary task: elsewhere the fair server is not active, the base subtracts
# its bandwidth all the same, and warns.
no_fair_share()
{
	local runtime old
	for runtime in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do
		[ -e "$runtime" ] || continue
		old=$(< "$runtime")
		[ "$old" != 0 ] || continue
		echo "$old $runtime" >> /tmp/batches_shares
		echo 0 > "$runtime"
	done
}

# The processors are still busy.
fair_share_again()
{
	local old runtime
	[ -e /tmp/batches_shares ] || return 0
	while read -r old runtime; do echo "$old" > "$runtime"; done < /tmp/batches_shares
	rm /tmp/batches_shares
}

begin_counting() { count_syncs 'remove_module; no_tracers'; }

# one_batch COMMAND [SYNCHRONISATIONS]
one_batch()
{
	synchronise "$1"
	# shellcheck disable=SC2154 # of functions.sh
	equal "synchronisations for $1" $synced "${2:-3}"
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

# No call of user space attaches a program each to many functions: a module does what such a
# call would have to do.
a_thousand_direct_calls()
{
	begin_counting
	insmod "$HERE/test_modules/direct_many.ko"
	one_batch "echo add 0 1000 5 > $DIRECT/do"
	equal "calls" "$(cat $DIRECT/calls)" "0-999 5"
	one_batch "echo mod 0 1000 7 > $DIRECT/do"
	equal "calls" "$(cat $DIRECT/calls)" "0-999 7"
	one_batch 'echo function > current_tracer'
	one_batch "echo mod 0 500 5 > $DIRECT/do"
	one_batch 'echo nop > current_tracer'
	equal "calls" "$(cat $DIRECT/calls)" "0-499 5 500-999 7"
	one_batch "echo del 0 500 5 > $DIRECT/do"
	one_batch "echo del 500 500 7 > $DIRECT/do"
	equal "calls" "$(cat $DIRECT/calls)" "0-999 none"
	rmmod direct_many
}

ten_thousand_direct_calls()
{
	begin_counting
	insmod "$HERE/test_modules/direct_many.ko"
	spread_sites 10000 > $DIRECT/sites
	one_batch "echo add 0 10000 0 > $DIRECT/do"
	equal "attached" "$(wc -l < enabled_functions)" 20000
	one_batch 'echo function > current_tracer'
	equal "text" "$(site_text)" "call $(nr_available)"
	one_batch 'echo nop > current_tracer'
	one_batch "echo mod 0 10000 5000 > $DIRECT/do"
	one_batch "echo del 0 10000 5000 > $DIRECT/do"
	equal "text" "$(site_text)" "nop $(nr_available)"
	rmmod direct_many
}

# few LIMIT COMMAND: it synchronises not much more often than its text needs
few()
{
	synchronise "$2"
	echo "# $synced synchronisations for $2"
	[ $synced -le "$1" ] || fail "$synced synchronisations for $2, should be $1 at most"
}

need_event_batches()
{
	configured TRACEPOINT_BATCH || skip "tracepoints without jump functions"
}

# In an instance of their own, so that the event that counts stays on
many_events_at_once()
{
	local seen=instances/batches_seen on
	begin_counting
	need_event_batches
	mkdir $seen
	for i in 1 2; do
		# Three of them have a probe already, which notes the names of tasks. Jumps of
		# before may be led to their probes meanwhile.
		few 21 "echo 1 > $seen/events/sched/enable"
		few 18 "echo 0 > $seen/events/sched/enable"
		few 100 "echo 1 > $seen/events/enable"
		on=$(cat $seen/events/enable)
		[[ $on = [1X] ]] || fail "enabled, but events/enable says $on"
		few 100 "echo 0 > $seen/events/enable"
		equal "disabled" "$(cat $seen/events/enable)" 0
	done
	echo 1 > $seen/events/sched/enable
	sleep 0.2
	grep -q ' sched_switch: ' $seen/trace || fail "no events after all that"
	echo 0 > $seen/events/enable
	rmdir $seen
}

# What another instance has on as well goes back from two probes to one.
many_events_of_one_of_two()
{
	local other=instances/batches_other seen=instances/batches_seen
	begin_counting
	need_event_batches
	mkdir $other $seen
	echo 1 > $other/events/sched/enable
	for _ in 1 2; do
		echo 1 > $seen/events/sched/enable
		sleep 0.5
		few 18 "echo 0 > $seen/events/sched/enable"
	done
	echo > $other/trace
	sleep 0.2
	grep -q ' sched_switch: ' $other/trace || fail "the other has no events any more"
	echo 0 > $other/events/enable
	rmdir $other $seen
}

rounds_of_a_limited_size()
{
	local syncs
	begin_counting
	echo 7000 > $ROUND
	syncs=$((3 * (($(nr_available) + 6999) / 7000)))
	one_batch 'echo function > current_tracer' $syncs
	equal "text" "$(site_text)" "call $(nr_available)"
	one_batch 'echo nop > current_tracer' $syncs
	equal "text" "$(site_text)" "nop $(nr_available)"
	echo 1 > $ROUND
	echo 'ksys_*' > set_ftrace_filter
	one_batch 'echo function > current_tracer' $((3 * $(grep -vc '^#' set_ftrace_filter)))
	echo nop > current_tracer
}

rounds_over_several_tables()
{
	local round
	[ -e "$MODULE" ] || skip "no module functions_many"
	begin_counting
	insmod "$MODULE"
	echo ksys_read > set_ftrace_filter
	grep '\[functions_many\]' available_filter_functions | head -n 4 | cut -d' ' -f1 \
		>> set_ftrace_filter
	for round in 1 2 4 5; do
		echo $round > $ROUND
		one_batch 'echo function > current_tracer' $((3 * ((5 + round - 1) / round)))
		equal "attached" "$(wc -l < enabled_functions)" 5
		one_batch 'echo nop > current_tracer' $((3 * ((5 + round - 1) / round)))
	done
	echo > set_ftrace_filter
}

all_busy() { [ "$(find /tmp -name 'busy_*' | wc -l)" = "$(nproc)" ]; }

# From the first breakpoint of a round to the last head, nothing of ordinary priority runs
# in place of who patches, however low the priority of who asked for it.
a_writer_that_is_starved()
{
	local i taken seen=instances/batches_seen
	count_syncs 'fair_share_again; no_tracers'
	# Where the function tracer does not write over them
	mkdir $seen
	# With nice 19, the SCHED_IDLE writer gets a sixth of a CPU, and ends in time on a slow host.
	rm -f /tmp/busy_*
	for ((i = 0; i < $(nproc); i++)); do
		nice -n 19 taskset -c $i bash -c "echo > /tmp/busy_$i; while :; do :; done" &
	done
	within 60 all_busy || fail "not all processors are busy"
	# On a slow emulator a round may take longer than the second after which ordinary
	# tasks that starve are let run.
	no_fair_share
	echo 'prev_comm == "text_site"' > $seen/events/sched/sched_switch/filter
	echo 1 > $seen/events/sched/sched_switch/enable
	echo 1 > $seen/events/kprobes/sync/enable
	echo > $seen/trace
	chrt -i 0 "$HERE/cost" current_tracer function > /dev/null
	cat $seen/trace > /tmp/batches_seen
	fair_share_again
	stop_jobs
	echo nop > current_tracer
	# The second and third synchronisation of a round end a time in which the thread is
	# not to lose its processor: a priority below 100 is a real-time one.
	taken=$(awk '
		$1 !~ /^text_site-/ { next }
		/ sync: / { syncs++; next }
		/ sched_switch: / && / prev_state=R/ && syncs % 3 {
			sub(/.*next_prio=/, "")
			if ($0 >= 100) print
		}
		END { if (syncs != 3) print "synchronisations: " syncs + 0 }' /tmp/batches_seen)
	equal "taken away" "$taken" ''
	echo 0 > $seen/events/enable
	rmdir $seen
}

run_tests many_events_at_once many_events_of_one_of_two rounds_of_a_limited_size \
	rounds_over_several_tables a_writer_that_is_starved a_thousand_direct_calls \
	ten_thousand_direct_calls \
	a_tracer_on_and_off a_filter_that_changes a_filter_that_several_share \
	everything_off_and_on_by_sysctl a_module_that_comes_while_five_ops_trace_everything
