#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The ring buffer, while events come in every context: tasks, soft and hard interrupts, and
# NMIs if somebody sends them. None is lost or counted twice, time does not go back, whatever
# is read, resized, switched or swapped meanwhile. Each stress takes $RING_SECONDS.

. "$(dirname "$0")/functions.sh"

MODULE="$HERE/test_modules/ring_test.ko"
PARAMETERS=/sys/module/ring_test/parameters
CPU1=/sys/devices/system/cpu/cpu1/online
SECONDS_EACH=${RING_SECONDS:-1}

need_module()
{
	[ -e "$MODULE" ] || skip "no module ring_test"
	[ -d $PARAMETERS ] || insmod "$MODULE"
	trap 'stop_jobs; put_back' EXIT
	dir=$(mktemp -d)
}

put_back()
{
	cd $TRACING || return
	[ ! -d $PARAMETERS ] || echo 0 > $PARAMETERS/run
	all_cpus_online
	echo 0 > events/enable
	echo nop > current_tracer
	[ ! -e events/ring_test/ring_test_pass/filter ] || echo 0 > events/ring_test/ring_test_pass/filter
	echo 1 > options/overwrite
	echo local > trace_clock
	[ ! -e snapshot ] || echo 0 > snapshot
	echo 4 > buffer_subbuf_size_kb
	echo 1408 > buffer_size_kb
	echo 1 > tracing_on
	rm -rf "$dir"
}

all_cpus_online()
{
	local file
	for file in /sys/devices/system/cpu/cpu*/online; do
		[ ! -e "$file" ] || [ "$(cat "$file")" = 1 ] || echo 1 > "$file"
	done
}

cpus() { ls -d per_cpu/cpu* | sed 's/.*cpu//'; }

# record KIND...: from now on, these events, and nothing else
record()
{
	local kind
	for kind; do
		case $kind in
		function | function_graph)
			grep -qw "$kind" $TRACING/available_tracers || skip "no tracer $kind"
			echo 'ring_test_in_*' > set_ftrace_filter
			echo "$kind" > current_tracer ;;
		event) echo 1 > events/ring_test/ring_test_pass/enable ;;
		marker) echo 1 > events/ring_mark/pass/enable ;;
		esac
	done
	echo > trace
}

# run [COMMAND...]: let events come, for a third of a second or until COMMAND succeeds
run()
{
	echo 1 > $PARAMETERS/run
	sleep 0.3
	# A busy host may need longer. The buffers have room for what comes in ten seconds.
	within 10 enough_passes || :
	[ $# -eq 0 ] || within 10 "$@" || :
	echo 0 > $PARAMETERS/run
	echo "# passed: $(passes | xargs)"
	enough_passes || fail "too few passes"
}

# Those of a task, of both interrupts and, if they come at all, of NMIs
enough_passes()
{
	passes | awk '$2 < 50 && ($1 != "nmi" || nmis) { exit 1 }' \
		nmis="$(grep -c apic_extnmi=all /proc/cmdline)"
}

# Lines "CONTEXT NUMBER": how often everything was passed
passes()
{
	awk '{ for (i = 0; i < 4; i++) n[i] += $(i + 2) }
	     END { print "task", n[0]; print "softirq", n[1]; print "hardirq", n[2]; print "nmi", n[3] }' \
		$PARAMETERS/passed
}

passed() { passes | awk '{ n += $2 } END { print n }'; }

# statistics NAME...: their sum, over all processors
statistics()
{
	local name
	for name; do cat per_cpu/cpu*/stats | sed -n "s/^$name: *//p"; done |
		awk '{ n += $1 } END { print n + 0 }'
}

# Lines "KIND CONTEXT NUMBER" for each of the kinds: what is to be read
expected()
{
	local kind
	for kind; do passes | sed "s/^/$kind /"; done | grep -v ' 0$' | sort
}

# Lines of all processors, in $dir/read, without zeroes
sum_up()
{
	cat "$dir"/[0-9]* | awk '{ n[$1 " " $2] += $3 } END { for (i in n) print i, n[i] }' |
		grep -v ' 0$' | sort > "$dir/read" || :
}

# read_all OPTION...: what there is in all buffers
read_all()
{
	local cpu
	for cpu in $(cpus); do
		"$HERE/ring_events" "$@" . "$cpu" > "$dir/$cpu" || fail "$(cat "$dir/$cpu")"
	done
	sum_up
}

# How many events were read
nr_read() { awk '$1 != "missing" { n += $3 } END { print n + 0 }' "$dir/read"; }

# follow OPTION...: wait for events of all processors
follow()
{
	local cpu
	followers=()
	for cpu in $(cpus); do
		"$HERE/ring_events" -f "$@" . "$cpu" > "$dir/$cpu" &
		followers+=($!)
		until [ -s "$dir/$cpu" ]; do sleep 0.05; done
	done
}

# The followers end when they have read all.
followed()
{
	local follower
	kill -TERM "${followers[@]}" || fail "$(cat "$dir"/[0-9]*)"
	for follower in "${followers[@]}"; do
		wait "$follower" || fail "$(cat "$dir"/[0-9]*)"
	done
	sum_up
}

# The text of the trace: events of each processor, none before the one that stands above it
text_is_in_order()
{
	local n
	n=$(awk '/^#/ { next }
	     match($0, /\[[0-9]+\]/) { cpu = substr($0, RSTART, RLENGTH) }
	     match($0, / [0-9]+\.[0-9]+: /) {
		time = substr($0, RSTART, RLENGTH - 2) + 0
		if (time < last[cpu]) { print "after " last[cpu] ": " $0; exit }
		last[cpu] = time; n++
	     }
	     END { print n + 0 }' trace)
	equal "events in the text" "$n" "$1"
}

# exactly NUMBER KIND...: so many events for each pass, all of them still there
exactly()
{
	local each=$1; shift
	equal "dropped" "$(statistics 'dropped events' 'commit overrun' overrun)" 0
	equal "entries" "$(statistics entries)" $((each * $(passed)))
	read_all
	equal "read" "$(cat "$dir/read")" "$(expected "$@")"
	equal "read events" "$(statistics 'read events')" $((each * $(passed)))
}

functions_are_all_there()
{
	need_module
	echo 32768 > buffer_size_kb
	record function
	run
	text_is_in_order "$(passed)"
	exactly 1 function
}

events_and_markers_are_all_there()
{
	need_module
	echo 65536 > buffer_size_kb
	record event
	run
	exactly 1 event
	echo 0 > events/enable
	record marker
	run
	exactly 1 marker
	record function event marker
	run
	exactly 3 function event marker
}

# What interrupts the tracer is recorded, too.
graphs_are_whole()
{
	need_module
	echo 65536 > buffer_size_kb
	record function_graph event
	run
	exactly 3 entry event exit
}

# An instance has its own buffers and counts.
instances_have_the_same()
{
	need_module
	record function event
	mkdir instances/i
	echo 32768 > buffer_size_kb
	cd instances/i || return
	echo 32768 > buffer_size_kb
	record function event
	run
	exactly 2 function event
	cd $TRACING || return
	exactly 2 function event
	rmdir instances/i
}

what_is_overwritten_is_counted()
{
	need_module
	local size n
	for size in 8 64; do
		echo $size > buffer_size_kb
		record function event marker
		run
		equal "dropped" "$(statistics 'dropped events' 'commit overrun')" 0
		equal "entries" "$(statistics entries overrun)" $((3 * $(passed)))
		n=$(statistics entries)
		text_is_in_order "$n"
		read_all
		equal "read" "$(nr_read)" "$n"
		equal "read events" "$(statistics 'read events' overrun)" $((3 * $(passed)))
	done
}

many_are_dropped() { [ "$(statistics 'dropped events')" -gt 1000 ]; }

what_does_not_fit_is_dropped()
{
	need_module
	echo 0 > options/overwrite
	echo 64 > buffer_size_kb
	record function event marker
	run many_are_dropped
	many_are_dropped || fail "nothing was dropped"
	equal "entries" "$(statistics entries 'dropped events')" $((3 * $(passed)))
	equal "overrun" "$(statistics overrun 'commit overrun')" 0
	read_all -g
	equal "read events" "$(statistics 'read events' 'dropped events')" $((3 * $(passed)))
}

# What a filter does not want is discarded in the buffer, also in the middle of other events.
what_is_discarded_leaves_nothing()
{
	need_module
	echo 65536 > buffer_size_kb
	echo 'context == 2' > events/ring_test/ring_test_pass/filter
	record function event marker
	run
	equal "dropped" "$(statistics 'dropped events' 'commit overrun' overrun)" 0
	read_all
	equal "read" "$(cat "$dir/read")" "$({ expected function marker
		expected event | grep hardirq; } | sort)"
}

who_waits_gets_all()
{
	need_module
	echo 65536 > buffer_size_kb
	record function event marker
	follow
	run
	[ "$(statistics 'read events')" -gt 0 ] || fail "nobody was woken"
	followed
	equal "read" "$(cat "$dir/read")" "$(expected function event marker)"
	equal "entries" "$(statistics entries overrun 'dropped events')" 0
}

# has_seen NR: the reader of seen_by has got so many events
has_seen() { [ "$(grep -c 'in_task\|pass:' "$dir/seen")" -ge "$1" ]; }

# seen_by PIPE KIND: someone who sleeps until there is something sees each event at once,
# also when nothing is written after it. The first event of a page is written another way.
seen_by()
{
	local pipe=$1 kind=$2 reader nr
	record "$kind"
	cat "$pipe" > "$dir/seen" &
	reader=$!
	for nr in 1 2 3; do
		within 60 is_asleep $reader cat || fail "$pipe: no reader"
		taskset 1 sh -c "echo 1 > $PARAMETERS/once"
		within 60 has_seen $nr || fail "$pipe: $kind $nr was not seen"
	done
	kill $reader
	wait $reader || :
	echo nop > current_tracer
	echo 0 > events/enable
}

who_waits_sees_each_at_once()
{
	need_module
	local kind
	for kind in function function_graph event marker; do
		seen_by trace_pipe $kind
		seen_by per_cpu/cpu0/trace_pipe $kind
	done
}

many_are_overwritten() { [ "$(statistics overrun)" -gt 1000 ]; }

# The buffer is small, so that readers and writers meet and events are overwritten. The
# counts say exactly how many; pages do not always say where they are missing.
who_waits_meets_the_writer()
{
	need_module
	local read
	echo 16 > buffer_size_kb
	record function event marker
	follow -g
	run many_are_overwritten
	many_are_overwritten || fail "nothing was overwritten"
	followed
	read=$(nr_read)
	equal "dropped" "$(statistics 'dropped events' 'commit overrun')" 0
	equal "read events" "$(statistics 'read events')" "$read"
	equal "entries" "$((read + $(statistics entries overrun)))" $((3 * $(passed)))
}

# put VALUE FILE: unless it is busy, as some are while the text is read
put()
{
	local said
	: > "$dir/tried_${2//\//_}"
	if said=$( (echo "$1" > "$2") 2>&1 ); then
		: > "$dir/put_${2//\//_}"
	else
		[[ "$said" == *"resource busy"* ]] || fail "$2: $said"
	fi
}

# never_put: the files that were busy each time
never_put()
{
	local tried
	for tried in "$dir"/tried_*; do
		[ ! -e "$tried" ] || [ -e "${tried/tried_/put_}" ] || echo "${tried##*/tried_}"
	done
}

all_was_put() { [ -z "$(never_put)" ]; }

tracing_on_and_off()
{
	echo 0 > tracing_on
	echo 1 > tracing_on
}

overwriting_on_and_off()
{
	echo 0 > options/overwrite
	echo 1 > options/overwrite
}

sizes()
{
	put 64 buffer_size_kb
	put 1000 buffer_size_kb
	put 8 per_cpu/cpu1/buffer_size_kb
}

page_sizes()
{
	local size
	for size in 8 64 4; do put $size buffer_subbuf_size_kb; done
}

emptied()
{
	echo > trace
	echo > per_cpu/cpu1/trace
}

# Not while others wait for events: then, there must always be the same tracer.
tracers()
{
	local tracer
	for tracer in nop function_graph function; do echo $tracer > current_tracer; done
}

events_on_and_off()
{
	echo 0 > events/ring_mark/enable
	echo 'context == 3' > events/ring_test/ring_test_pass/filter
	echo 1 > events/ring_mark/enable
	echo 0 > events/ring_test/ring_test_pass/filter
}

functions()
{
	echo ring_test_in_nmi > set_ftrace_filter
	echo 'ring_test_in_*' > set_ftrace_filter
}

text_is_read()
{
	cat trace > /dev/null
}

text_is_waited_for()
{
	timeout 0.5 cat trace_pipe > /dev/null || :
}

clocks()
{
	local clock
	for clock in global mono counter local; do echo $clock > trace_clock; done
}

snapshots()
{
	local cpu
	# Busy, if a writer is in it
	for cpu in $(cpus); do put 1 per_cpu/cpu$cpu/snapshot; done
	put 1 snapshot
	cat per_cpu/cpu1/snapshot > /dev/null
}

cpus_come_and_go()
{
	echo 0 > $CPU1
	echo 1 > $CPU1
}

# again_and_again COMMAND: until it fails, or enough is enough; at least once
again_and_again()
{
	while :; do
		"$1"
		[ ! -e "$dir/enough" ] || break
	done
}

# stress OPTIONS COMMAND...: all of them, while events come and are read. With -n, nobody
# reads; else, they are options of ring_events.
stress()
{
	local options=$1 job jobs=(); shift
	rm -f "$dir/enough" "$dir"/tried_* "$dir"/put_*
	echo 512 > buffer_size_kb
	record function event marker
	followers=()
	# shellcheck disable=SC2086
	[ "$options" = -n ] || follow $options
	echo 1 > $PARAMETERS/run
	for job; do
		again_and_again "$job" & jobs+=($!)
	done
	sleep "$SECONDS_EACH"
	within 60 all_was_put || fail "always busy: $(never_put)"
	touch "$dir/enough"
	for job in "${jobs[@]}"; do
		wait "$job" || fail "one of $* has failed"
	done
	echo 0 > $PARAMETERS/run
	all_cpus_online
	if [ ${#followers[@]} -gt 0 ]; then
		followed
		echo "# read: $(xargs < "$dir/read")"
	fi
	still_records
}

# Before anything resets the buffers, which would hide that they are stuck
still_records()
{
	local cpu
	echo 1 > options/overwrite
	echo 1 > tracing_on
	for cpu in $(cpus); do
		taskset -c "$cpu" bash -c 'echo after the stress > trace_marker'
		[ "$(grep -c 'after the stress' per_cpu/cpu$cpu/trace)" = 1 ] ||
			fail "processor $cpu does not record any more"
	done
}

# After that, everything is as it was: each pass is an event.
nothing_is_broken()
{
	put_back
	need_module
	echo 65536 > buffer_size_kb
	record function event marker
	run
	exactly 3 function event marker
}

on_and_off_while_events_come()
{
	need_module
	stress -g tracing_on_and_off
	stress -g overwriting_on_and_off
	stress -g functions events_on_and_off
	stress -n tracers events_on_and_off
	nothing_is_broken
}

read_while_events_come()
{
	need_module
	stress -g text_is_read text_is_waited_for
	nothing_is_broken
}

resized_and_emptied_while_events_come()
{
	need_module
	stress -p sizes
	stress -p page_sizes
	stress -p emptied
	nothing_is_broken
}

swapped_while_events_come()
{
	need_module
	[ -e snapshot ] || skip "no snapshots"
	stress -p snapshots
	stress "-p -c" clocks
	nothing_is_broken
}

# Whatever writes an event: the times of `counter` are small numbers.
each_event_has_the_time_of_the_clock()
{
	local event times
	trap put_back EXIT
	echo vfs_read > set_ftrace_filter
	echo function > current_tracer
	echo 1 > events/sched/sched_process_exec/enable
	echo counter > trace_clock
	cat /proc/version > /dev/null
	echo 0 > tracing_on
	for event in 'vfs_read <-' 'sched_process_exec:'; do
		times=$(grep -F ": $event" trace | awk '{ print $4 + 0 }')
		[ -n "$times" ] || fail "no event: $event"
		[ "$(sort -n <<< "$times" | tail -n1)" -lt 100000 ] || fail "$event: $(tail -n1 <<< "$times")"
	done
}

# Tasks read files, and use memory for the first time, with preemption on: no writer's own way of
# switching it off is in the event. Of events that are far apart, none is written the short way.
each_event_tells_how_deep_preemption_is_off()
{
	local event depths line _
	trap put_back EXIT
	[ -e events/exceptions/page_fault_user ] || skip "no events of exceptions"
	echo vfs_read > set_ftrace_filter
	echo function > current_tracer
	echo 1 > events/exceptions/page_fault_user/enable
	for _ in $(seq 100); do read -r line < /proc/version; done
	echo "$line" | cat > /dev/null
	echo 0 > tracing_on
	for event in 'vfs_read <-' 'page_fault_user:'; do
		depths=$(grep -F ": $event" trace | awk '{ print substr($3, 4, 1) }' | sort -u | xargs)
		equal "depth, $event" "$depths" .
	done
}

# Pages of another size are new ones: nothing is on them, but events have been counted.
emptied_after_pages_have_changed()
{
	local size
	[ -e buffer_subbuf_size_kb ] || skip "no buffer_subbuf_size_kb"
	size=$(< buffer_subbuf_size_kb)
	echo > trace
	taskset -c 0 bash -c 'echo once > trace_marker'
	equal "events" "$(sed -n 's/^entries: //p' per_cpu/cpu0/stats)" 1
	echo $((2 * size)) > buffer_subbuf_size_kb
	echo > trace
	equal "events when emptied" "$(sed -n 's/^entries: //p' per_cpu/cpu0/stats)" 0
	echo "$size" > buffer_subbuf_size_kb
}

# A buffer is rounded up to whole pages. The snapshot buffer must have the same size.
snapshots_after_pages_have_changed()
{
	local size
	[ -e per_cpu/cpu0/snapshot ] || skip "no snapshots"
	trap put_back EXIT
	echo 64 > buffer_size_kb
	for size in 8 4; do
		echo $size > buffer_subbuf_size_kb
		taskset -c 0 bash -c "echo on $size KiB > trace_marker"
		echo 1 > per_cpu/cpu0/snapshot
		equal "in the snapshot" "$(grep -c "on $size KiB" per_cpu/cpu0/snapshot)" 1
	done
}

swap_often() { echo snapshot > events/sched/$swaps_at/trigger; }
swap_no_more() { echo '!snapshot' > events/sched/$swaps_at/trigger; }

# need_swaps: prepare for swap_often, which takes a snapshot at each switch of tasks. There are
# many, so that the number of swaps in some span of time is odd as often as even. With PREEMPT_RT,
# each snapshot wakes up the thread of irq_work, and the switch from that thread takes the next
# one: the CPU would run nothing else. There, a snapshot is taken at each wake-up of a task.
need_swaps()
{
	[ -e snapshot ] || skip "no snapshots"
	swaps_at=sched_switch
	! configured PREEMPT_RT || swaps_at=sched_waking
	trap 'stop_jobs; swap_no_more; put_back' EXIT
	endlessly 'echo some text | cat > /dev/null'
}

# Both buffers get the new size, although they are swapped meanwhile.
snapshots_while_pages_change()
{
	local cpu _
	need_swaps
	for _ in $(seq 3); do
		swap_often
		page_sizes
		sizes
		swap_no_more
		for cpu in $(cpus); do put 1 per_cpu/cpu$cpu/snapshot; done
	done
}

# A new event gets the number of the one that has gone. It is never enabled, so that entries of
# it can only be left from the other one.
snapshots_while_events_go()
{
	local nr
	[ -e kprobe_events ] || skip "no kprobes"
	need_swaps
	for nr in $(seq 20); do
		swap_often
		echo "p:gone/gone_$nr vfs_read" > kprobe_events
		echo 1 > events/gone/enable
		cat /proc/version > /dev/null
		echo 0 > events/gone/enable
		echo "p:gone/next_$nr vfs_read" > kprobe_events
		swap_no_more
		equal "entries of next_$nr" "$(cat trace snapshot | grep -c " next_$nr: ")" 0
	done
	echo > kprobe_events
}

# Each write compares with the mask of the one before, and disables recording only once.
two_change_the_mask_at_once()
{
	local job jobs=() _
	[ -d per_cpu/cpu1 ] || skip "there is one processor only"
	mask=$(< tracing_cpumask)
	trap 'echo "$mask" > tracing_cpumask; put_back' EXIT
	for job in 0 1; do
		for _ in $(seq 500); do
			echo 1 > tracing_cpumask
			echo "$mask" > tracing_cpumask
		done & jobs+=($!)
	done
	wait "${jobs[@]}"
	echo "$mask" > tracing_cpumask
	taskset -c 1 bash -c 'echo on the second > trace_marker' ||
		fail "nothing is recorded on the second processor"
	equal "events" "$(grep -c 'on the second' trace)" 1
}

# Timestamps of two clocks cannot be compared, nor those of a CPU that is offline.
a_clock_empties_processors_that_are_gone()
{
	local online=/sys/devices/system/cpu/cpu1/online
	[ -e $online ] || skip "no processor that can go"
	trap put_back EXIT
	echo > trace
	taskset -c 1 bash -c 'echo early > trace_marker'
	equal "of the first clock" "$(grep -c early per_cpu/cpu1/trace)" 1
	echo 0 > $online
	echo counter > trace_clock
	echo 1 > $online
	equal "of it after that" "$(grep -c early per_cpu/cpu1/trace)" 0
	taskset -c 1 bash -c 'echo late > trace_marker'
	awk '/late/ { found = $4 + 0 < 100000 } END { exit !found }' per_cpu/cpu1/trace ||
		fail "not the new clock: $(grep late per_cpu/cpu1/trace)"
}

cpus_come_and_go_while_events_come()
{
	need_module
	[ -e $CPU1 ] || skip "CPU 1 cannot be switched off"
	stress -g cpus_come_and_go
	nothing_is_broken
}

all_at_once_while_events_come()
{
	need_module
	SECONDS_EACH=$((6 * SECONDS_EACH))
	local jobs=(tracing_on_and_off overwriting_on_and_off clocks functions events_on_and_off
		text_is_waited_for text_is_read emptied sizes page_sizes)
	[ ! -e $CPU1 ] || jobs+=(cpus_come_and_go)
	[ ! -e snapshot ] || jobs+=(snapshots)
	stress "-p -c" "${jobs[@]}"
	nothing_is_broken
}

trap '! grep -q "^ring_test " /proc/modules || rmmod ring_test' EXIT
run_tests functions_are_all_there events_and_markers_are_all_there graphs_are_whole \
	instances_have_the_same what_is_overwritten_is_counted what_does_not_fit_is_dropped \
	what_is_discarded_leaves_nothing who_waits_sees_each_at_once who_waits_gets_all \
	who_waits_meets_the_writer each_event_has_the_time_of_the_clock \
	each_event_tells_how_deep_preemption_is_off a_clock_empties_processors_that_are_gone \
	emptied_after_pages_have_changed snapshots_after_pages_have_changed \
	snapshots_while_pages_change snapshots_while_events_go two_change_the_mask_at_once \
	on_and_off_while_events_come read_while_events_come \
	resized_and_emptied_while_events_come swapped_while_events_come \
	cpus_come_and_go_while_events_come all_at_once_while_events_come
