#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each allocation of memory fails once, in what is written to the files of tracing one after
# the other, on and off: what the file says and what is attached is then what it was before,
# or, if there was no error, what it is when nothing fails.

. "$(dirname "$0")/failing_functions.sh"

# state: what the file says, and what is attached to which function
state()
{
	local functions
	case $file in
	*set_marker) cat events/cost/enable ;;&
	*function_latency) head -n1 "$file" ;;&
	# What is in it is another each time.
	*snapshot) grep -c 'Snapshot is freed' "$file" || : ;;
	*) grep -v '^#' "$file" || : ;;
	esac
	list_attached
	# "name (number", without the flags of what once was and the addresses of trampolines
	printf '%s\n' "${functions[@]%%)*}"
}

# What is there already, or is not there any more, may be refused; state() tells.
put()
{
	if [ "$how" = append ]; then
		printf '%s\n' "$1" >> "$file" || :
	else
		printf '%s\n' "$1" > "$file" || :
	fi 2> /dev/null
	# With each change, the buffer has some more pages.
	[[ $file != *subbuf* ]] || echo 64 > buffer_size_kb
}

# function_graph registers its callbacks anew when its events change, and the old ones again if that
# fails. Without any memory it can do neither, and says so.
given_up() { dmesg | grep -c 'function_graph: stopped, as it cannot be registered again' || :; }

# A filter is put into use when its file is closed, which has no way to fail.
not_set() { dmesg | grep -c 'a filter could not be set (-12), it stays as it was' || :; }

put_back()
{
	local now what warnings stays=''
	now=$(state)
	# shellcheck disable=SC2154 # of each() and try() in failing_functions.sh
	what="$file, '$new', allocation $n$mode, $said, error $error"
	if [[ $file = *set_ftrace_* || $file = *set_graph_* || $file = *stack_trace_filter ]]; then
		warnings=$(not_set)
		[ "$warnings" = "$(< /tmp/failing_not_set)" ] || stays=1
		echo "$warnings" > /tmp/failing_not_set
	fi
	if [ -n "$stays" ]; then
		equal "$what, which the log has" "$now" "$before"
	elif [ "$error" = 0 ]; then
		equal "$what" "$now" "$after"
	elif [ "$mode" = - ] && [ "$(given_up)" -gt "$(< /tmp/failing_given_up)" ]; then
		given_up > /tmp/failing_given_up
		equal "$what: attached" "$(attached)" 0
		echo nop > current_tracer
		echo function_graph > current_tracer
	else
		case $or in
		or-part) ;;
		or-done) [ "$now" = "$after" ] || equal "$what" "$now" "$before" ;;
		*) equal "$what" "$now" "$before" ;;
		esac
	fi
	put "$old"
	equal "$file, put back" "$(state)" "$before"
}

# [how=append] change FILE FROM TO [or-done|or-part]: after an error, TO may be there all the same
# with or-done, and a part of it with or-part.
change()
{
	local file=$1 old=$2 new=$3 or=$4 how=${how:-write} before after
	if [ ! -e "$file" ]; then
		echo "# no $file"
		return 0
	fi
	put "$old"
	before=$(state)
	put "$new"
	after=$(state)
	[ "$before" != "$after" ] || fail "$file: '$old' and '$new' are the same"
	put "$old"
	given_up > /tmp/failing_given_up
	not_set > /tmp/failing_not_set
	each put_back "$how" "$file" "$new"
	put "$new"
}

# on_and_off FILE [ON [OFF [or-done|or-part]]]
on_and_off()
{
	change "$1" "${3-0}" "${2:-1}" "$4"
	change "$1" "${2:-1}" "${3-0}" "$4"
}

# with_tracer NAME FUNCTION: it is there while FUNCTION runs
with_tracer()
{
	grep -qw "$1" available_tracers || skip "no tracer $1"
	begin_tracing
	echo "$1" > current_tracer
	"$2"
	end_tracing
}

options_of_function()
{
	local option
	for option in func_stack_trace func-no-repeats func-args; do
		[ ! -e options/$option ] || change trace_options no$option $option
		[ ! -e options/$option ] || change trace_options $option no$option
	done
	# They are emptied as they are opened.
	on_and_off set_ftrace_pid $$ '' or-done
	on_and_off set_ftrace_notrace_pid $$ '' or-done
	change set_ftrace_filter 'vfs_r*' ''
	echo 'vfs_*' > set_ftrace_filter
	change set_ftrace_notrace 'vfs_r*' ''
}

the_function_tracer_has_options() { with_tracer function options_of_function; }

options_of_function_graph()
{
	local option
	for option in funcgraph-args funcgraph-retval funcgraph-retaddr; do
		[ ! -e options/$option ] || on_and_off options/$option
	done
	on_and_off max_graph_depth 3
	on_and_off tracing_thresh 1000
	change set_graph_function 'vfs_r*' ''
	change set_graph_notrace 'vfs_r*' ''
	change graph_keep 'duration > 1s' ''
}

the_graph_tracer_has_options() { with_tracer function_graph options_of_function_graph; }

tracers_go()
{
	local tracer
	begin_tracing
	# Each page of the snapshot buffer is an allocation.
	echo 64 > buffer_size_kb
	for tracer in function function_graph irqsoff preemptoff preemptirqsoff \
			wakeup wakeup_rt wakeup_dl blk; do
		grep -qw $tracer available_tracers || continue
		change current_tracer nop $tracer
		change current_tracer $tracer nop
	done
	echo 1408 > buffer_size_kb
	end_tracing
}

tracers_of_latencies_trace_functions()
{
	local tracer
	begin_tracing
	echo 8 > buffer_size_kb
	for tracer in irqsoff preemptoff preemptirqsoff wakeup; do
		grep -qw $tracer available_tracers || continue
		echo $tracer > current_tracer
		on_and_off options/function-trace
		on_and_off options/display-graph
		echo nop > current_tracer
		echo 1 > options/display-graph
		change current_tracer nop $tracer
		echo nop > current_tracer
		echo 0 > options/display-graph
	done
	echo 1408 > buffer_size_kb
	end_tracing
}

all_is_switched_on_again()
{
	begin_tracing
	trap 'stop_jobs; echo 1 > /proc/sys/kernel/ftrace_enabled' EXIT
	echo function > current_tracer
	change /proc/sys/kernel/ftrace_enabled 0 1
	echo 1 > /proc/sys/kernel/ftrace_enabled
	end_tracing
}

the_profiler_and_the_stack_tracer_go()
{
	begin_tracing
	trap 'stop_jobs; echo > stack_trace_filter' EXIT
	change function_profile_enabled 1 0
	[ ! -e function_profile_enabled ] || echo 0 > function_profile_enabled
	[ ! -e stack_trace_filter ] || echo 'vfs_*' > stack_trace_filter
	change /proc/sys/kernel/stack_tracer_enabled 1 0
	echo 0 > /proc/sys/kernel/stack_tracer_enabled
	end_tracing
}

# Nothing is profiled meanwhile.
the_times_of_functions_are_sorted()
{
	begin_tracing
	local file=trace_stat/function_latency
	[ -e $file ] || skip "no function profiler with times"
	trap 'stop_jobs; echo sort=total > trace_stat/function_latency' EXIT
	echo clear > $file
	change $file sort=total sort=max.ascending
	end_tracing
}

# After an error, too, the buffer and the snapshot buffer have the same size, and are swapped.
snapshot_is_taken()
{
	local what="allocation $n, $said, error $error"
	taskset -c 0 bash -c "echo before $n > trace_marker"
	echo 1 > per_cpu/cpu0/snapshot
	equal "$what: in the snapshot" "$(grep -c "before $n" per_cpu/cpu0/snapshot)" 1
	echo 4 > buffer_subbuf_size_kb
	echo 64 > buffer_size_kb
}

# Without any memory, the kernel can neither change the size of sub-buffers nor put it back.
sub_buffers_change_beside_a_snapshot()
{
	[ -e per_cpu/cpu0/snapshot ] || skip "no snapshots"
	begin_tracing
	trap 'stop_jobs; echo 0 > snapshot; echo 4 > buffer_subbuf_size_kb
		echo 1408 > buffer_size_kb' EXIT
	echo 64 > buffer_size_kb
	echo 1 > snapshot
	alone=1 each snapshot_is_taken write buffer_subbuf_size_kb 8
	echo 0 > snapshot
	end_tracing
}

buffers_change()
{
	begin_tracing
	trap 'stop_jobs; echo 0 > snapshot; echo 4 > buffer_subbuf_size_kb
		echo 1408 > buffer_size_kb; echo 128 > saved_cmdlines_size' EXIT
	# Few pages, so that each allocation can fail
	echo 64 > buffer_size_kb
	on_and_off buffer_size_kb 96 64
	echo 64 > buffer_size_kb
	on_and_off buffer_subbuf_size_kb 8 4
	echo 4 > buffer_subbuf_size_kb
	on_and_off snapshot
	echo 0 > snapshot
	on_and_off saved_cmdlines_size 16000 128
	end_tracing
}

files_of_the_buffer_change()
{
	local all; all=$(< tracing_cpumask)
	begin_tracing
	trap 'stop_jobs; echo local > trace_clock' EXIT
	on_and_off trace_clock global local
	[ $((16#$all)) = 1 ] || on_and_off tracing_cpumask 1 "$all"
	echo "$all" > tracing_cpumask
	on_and_off options/record-tgid
	echo 0 > options/record-tgid
	end_tracing
}

an_instance_has_its_own_files()
{
	local dir=instances/failing option
	begin_tracing
	mkdir $dir
	echo 'vfs_*' > $dir/set_ftrace_filter
	echo function > $dir/current_tracer
	for option in func_stack_trace func-no-repeats func-args function-fork event-fork; do
		[ ! -e $dir/options/$option ] || on_and_off $dir/options/$option
		[ ! -e $dir/options/$option ] || echo 0 > $dir/options/$option
	done
	on_and_off $dir/set_ftrace_pid $$ '' or-done
	on_and_off $dir/set_ftrace_notrace_pid $$ '' or-done
	on_and_off $dir/set_event_pid $$ '' or-done
	change $dir/set_ftrace_filter 'vfs_r*' 'vfs_w*'
	echo 'vfs_*' > $dir/set_ftrace_filter
	change $dir/set_ftrace_notrace 'vfs_r*' ''
	echo nop > $dir/current_tracer
	rmdir $dir
	end_tracing
}

# Each user of the graph tracer has its own filter: here the tracer, the profiler and an instance.
users_of_the_graph_come_and_go()
{
	begin_tracing
	[ -e set_graph_function ] || skip "no function graph tracer"
	trap 'stop_jobs; [ ! -e function_profile_enabled ] || echo 0 > function_profile_enabled' EXIT
	mkdir instances/failing
	echo 'vfs_r*' > instances/failing/set_ftrace_filter
	echo function_graph > current_tracer
	on_and_off function_profile_enabled
	on_and_off instances/failing/current_tracer function_graph nop
	[ ! -e function_profile_enabled ] || echo 1 > function_profile_enabled
	on_and_off instances/failing/current_tracer function_graph nop
	on_and_off current_tracer function_graph nop
	[ ! -e function_profile_enabled ] || echo 0 > function_profile_enabled
	echo nop > current_tracer
	on_and_off instances/failing/current_tracer function_graph nop
	echo nop > instances/failing/current_tracer
	rmdir instances/failing
	end_tracing
}

# Each change recomputes the union of the functions that the two users want.
filters_of_users_of_the_graph_change()
{
	local dir=instances/failing filter
	begin_tracing
	[ -e set_graph_function ] || skip "no function graph tracer"
	mkdir $dir
	echo 'vfs_r*' > $dir/set_ftrace_filter
	echo function_graph > current_tracer
	echo function_graph > $dir/current_tracer
	for filter in set_ftrace_filter $dir/set_ftrace_filter; do
		change $filter 'vfs_r*' 'vfs_w*'
		echo 'vfs_*' > $filter
		how=append change $filter '!vfs_w*' 'vfs_w*'
		change ${filter/filter/notrace} '' 'vfs_r*'
		echo > ${filter/filter/notrace}
	done
	echo nop > $dir/current_tracer
	rmdir $dir
	end_tracing
}

# If the file is written anew and there is no memory, requests go on waiting for their module.
filters_that_wait_for_a_module_change()
{
	local dir=instances/failing
	begin_tracing
	mkdir $dir
	echo 'vfs_r*:mod:no_such_module' > $dir/set_ftrace_filter
	echo function > $dir/current_tracer
	change $dir/set_ftrace_filter 'vfs_r*:mod:no_such_module' 'vfs_w*'
	change $dir/set_ftrace_filter 'vfs_r*:mod:no_such_module' 'vfs_w*:mod:no_such_one'
	echo nop > $dir/current_tracer
	rmdir $dir
	end_tracing
}

events_go()
{
	begin_tracing
	change events/sched/enable 1 0 or-part
	echo 1 > events/sched/sched_process_exec/enable
	how=append on_and_off set_event sched:sched_process_wait '!sched:sched_process_wait'
	# They are emptied as they are opened.
	on_and_off set_event_pid $$ '' or-done
	on_and_off set_event_notrace_pid $$ '' or-done
	# After an error, it may be none, or the text with what is wrong with it.
	on_and_off events/sched/sched_process_wait/filter 'prio > 5' 0 or-part
	echo 0 > events/sched/sched_process_wait/filter
	end_tracing
}

commands_of_events_come_and_go()
{
	local event=events/sched/sched_process_wait command first every gone
	begin_tracing
	for command in traceon stacktrace snapshot enable_event:sched:sched_process_fork \
		disable_event:sched:sched_process_exec hist:keys=pid; do
		[ "${command%%:*}" != hist ] || [ -e $event/hist ] || continue
		[ "$command" != snapshot ] || [ -e snapshot ] || continue
		# A histogram allocates its thousands of entries when it is created, and may be
		# gone although removing it has failed.
		first='' every='' gone=''
		# shellcheck disable=SC2034 # of each() in failing_functions.sh
		[ "${command%%:*}" != hist ] || first=40 every=1000 gone=or-done
		# Each line is added to those there are.
		change $event/trigger "!$command" "$command"
		change $event/trigger "$command" "!$command" $gone
		echo "!$command" > $event/trigger
	done
	end_tracing
}

probes_go()
{
	local probe
	begin_tracing
	[ -e dynamic_events ] || skip "no dynamic_events"
	trap 'stop_jobs; echo 0 > events/enable; echo > dynamic_events' EXIT
	for probe in 'p:kprobes/failing vfs_fsync' 'r:kprobes/failing vfs_fsync' \
		'f:fprobes/failing vfs_r*' 'f:fprobes/failing vfs_r*%return'; do
		[ "${probe%%:*}" != f ] || grep -q 'f\[:' README || continue
		echo "$probe" > dynamic_events
		probe=${probe% *}
		probe=${probe#*:}
		on_and_off "events/$probe/enable"
		echo 0 > "events/$probe/enable"
		echo "-:$probe" >> dynamic_events
	done
	end_tracing
}

markers_come_and_go()
{
	[ -e set_marker ] || skip "no set_marker"
	begin_tracing
	insmod "$HERE/test_modules/marker_cost.ko"
	trap 'stop_jobs; echo > set_marker; rmmod marker_cost' EXIT
	on_and_off set_marker 'cost:*' '' or-part
	change set_marker 'cost:*' '!cost:*' or-part
	echo > set_marker
	on_and_off events/cost/enable 1 0 or-part
	echo 0 > events/cost/enable
	on_and_off events/cost/two/filter 'arg1 > 5' 0 or-part
	echo 1 > events/sched/sched_process_exec/enable
	end_tracing
}

# It is how many sites a batch writes at a time.
the_size_of_a_round_changes()
{
	begin_tracing
	[ -e $ROUND ] || skip "no text is patched"
	local old; old=$(< $ROUND)
	change $ROUND "$old" 7
	echo "$old" > $ROUND
	end_tracing
}

run_tests the_function_tracer_has_options the_graph_tracer_has_options tracers_go \
	tracers_of_latencies_trace_functions all_is_switched_on_again \
	the_profiler_and_the_stack_tracer_go the_times_of_functions_are_sorted buffers_change \
	sub_buffers_change_beside_a_snapshot \
	files_of_the_buffer_change an_instance_has_its_own_files \
	users_of_the_graph_come_and_go filters_of_users_of_the_graph_change \
	filters_that_wait_for_a_module_change events_go commands_of_events_come_and_go probes_go \
	markers_come_and_go the_size_of_a_round_changes
