#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Markers: their events, their files, modules with markers and with probes.

. "$(dirname "$0")/functions.sh"

SAMPLE=marker_sample
PROBE=marker_probe_sample
FILE=/sys/kernel/debug/marker_sample
SUMS=/sys/kernel/debug/marker_probe_sample

remove_modules()
{
	local module
	for module in markers_many markers_bad markers_late markers_named bad_marker_format \
			$PROBE $SAMPLE; do
		! grep -q "^$module " /proc/modules || rmmod $module
	done
	[ ! -e $TRACING/set_marker ] || echo > $TRACING/set_marker
}

# insert MODULE...: in this order
insert()
{
	local module
	for module; do
		case $module in
		markers_*)
			[ -e "$HERE/test_modules/$module.ko" ] || skip "no module $module"
			insmod "$HERE/test_modules/$module.ko" ;;
		*)
			modinfo $module > /dev/null 2>&1 || skip "no module $module"
			modprobe $module ;;
		esac
	done
}

# need MODULE...: have only these loaded
need()
{
	[ -e available_markers ] || skip "no markers"
	trap 'stop_jobs; remove_modules' EXIT
	remove_modules
	insert "$@"
}

# pass TEXT MODULE: through its markers
pass() { printf '%s' "$1" > /sys/module/$2/parameters/pass; }

# lines TEXT: write lines to the sample at once
lines() { printf "$1" | dd of=$FILE bs=4k iflag=fullblock status=none; }

# What the buffer has of events, by pattern, without what stands before it
events() { sed -nE "s/.*: ($1): /\\1: /p" trace; }

# The states of a marker's places, by pattern
states() { sed -nE "s/^$1 ([a-z]+) .*/\1/p" available_markers | sort | uniq -c | xargs; }

is_on() { [[ "$(states "$1")" == *on* ]]; }

each_is_an_event()
{
	need $SAMPLE
	local size='unsigned long arg3; offset:16; size:8'
	[ "$(size_of_long)" = 8 ] || size='unsigned int arg3; offset:16; size:4'
	equal "format" "$(sed -n 's/^\t\(field:.*\)/\1/p' events/sample/line/format | tail -n3 |
			tr -s '\t' ' ')" \
"field:int arg1; offset:8; size:4; signed:1;
field:__data_loc char[] arg2; offset:12; size:4; signed:0;
field:$size; signed:0;"
	equal "print" "$(grep '^print fmt' events/sample/line/format)" \
		'print fmt: "%d \"%s\" of %zu", REC->arg1, __get_str(arg2), REC->arg3'
	lines 'one\nfour\n'
	equal "disabled" "$(events line)" ""
	echo 1 > events/sample/enable
	lines 'one\nfour\n'
	equal "lines" "$(events 'lines?')" \
		"$(printf '%s\n' 'line: 1 "one" of 3' 'line: 2 "four" of 4' 'lines: 2')"
	echo 0 > events/sample/enable
	echo > trace
	echo more > $FILE
	equal "disabled again" "$(events 'lines?')" ""
}

the_list_shows_all()
{
	need $SAMPLE
	equal "line" "$(sed -nE 's,^sample:line off [^ ]*samples/marker/marker_sample.c:[0-9]+ ,,p' \
		available_markers)" "[$SAMPLE] \"%d \\\"%s\\\" of %zu\""
	modprobe $PROBE
	equal "on" "$(sed -nE 's/^sample:line on .*" //p' available_markers)" "sample_probe_func [$PROBE]"
	rmmod $SAMPLE
	equal "waiting" "$(grep ^sample: available_markers)" \
		"sample:line waiting - - \"%d \\\"%s\\\" of %zu\" sample_probe_func [$PROBE]"
	rmmod $PROBE
	equal "gone" "$(grep ^sample: available_markers)" ""
}

filters_know_the_types()
{
	need $SAMPLE
	echo 1 > events/sample/line/enable
	echo 'arg3 > 3' > events/sample/line/filter
	lines 'one\nfour\nfifth\n'
	equal "by number" "$(events line | cut -d' ' -f2)" "$(printf '2\n3')"
	echo > trace
	echo 'arg2 == "one" || arg1 == 3' > events/sample/line/filter
	lines 'one\nfour\nfifth\n'
	equal "by string" "$(events line | cut -d' ' -f2)" "$(printf '1\n3')"
	! echo 'arg4 > 3' 2> /dev/null > events/sample/line/filter || fail "a field too many"
	echo 0 > events/sample/line/filter
	echo 'hist:keys=arg3' > events/sample/line/trigger
	lines 'ab\nba\nc\n'
	grep -q '{ arg3: *2 } hitcount: *2' events/sample/line/hist || fail "histogram"
	echo '!hist:keys=arg3' > events/sample/line/trigger
}

# fields EVENT: their names
fields() { event_fields "$1" | cut -d' ' -f1 | xargs; }

formats_name_the_fields()
{
	need markers_named
	equal "equals" "$(fields named/equals)" "dev len"
	equal "colon" "$(fields named/colon)" "state next"
	equal "quoted" "$(fields named/quoted)" "file at in of"
	equal "after %%" "$(fields named/after_percent)" "size"
	equal "same" "$(fields named/same)" "a b arg3"
	equal "taken" "$(fields named/taken)" "arg1 arg2 arg3 argument"
	equal "no identifier" "$(fields named/no_identifier)" "arg1 arg2 arg3 arg4 arg5 b arg7"
	equal "keywords" "$(fields named/keywords)" "int if sizeof REC"
	equal "print" "$(grep '^print fmt' events/named/equals/format)" \
		'print fmt: "dev=%s len=%u", __get_str(dev), REC->len'

	echo 1 > events/named/enable
	echo 'dev == "eth0" && len > 3' > events/named/equals/filter
	echo 'hist:keys=dev:vals=len' > events/named/equals/trigger
	pass eth0 markers_named
	pass eth1 markers_named
	equal "filtered" "$(events equals)" 'equals: dev=eth0 len=4'
	grep -q '{ dev: eth0 *} hitcount: *1  len: *4$' events/named/equals/hist ||
		fail "histogram: $(grep hitcount events/named/equals/hist)"
	echo '!hist:keys=dev:vals=len' > events/named/equals/trigger
	! echo 'arg1 == "eth0"' 2> /dev/null > events/named/equals/filter || fail "arg1 is a field"
}

tools_know_the_names()
{
	local dir text
	need markers_named
	command -v trace-cmd > /dev/null || skip "no trace-cmd"
	dir=$(mktemp -d)
	trace-cmd record -q -o "$dir/dat" -e named -f 'common_pid > 0' \
		sh -c 'printf eth0 > /sys/module/markers_named/parameters/pass' > /dev/null
	text=$(trace-cmd report -i "$dir/dat" 2>&1)
	[[ $text != *FAILED* ]] || fail "not understood: $text"
	equal "events" "$(grep -oE ': +[a-z_]+: ' <<< "$text" | xargs)" \
		": equals: : colon: : quoted: : after_percent: : same: : taken: : no_identifier: : keywords:"
	[[ $text = *' equals: '*'dev=eth0 len=4'* ]] || fail "equals: $text"
	equal "raw" "$(trace-cmd report -i "$dir/dat" -R -F 'keywords' | sed -n 's/.* keywords: *//p')" \
		"int=1 if=2 sizeof=3 REC=4"
	rm -r "$dir"
}

in_an_instance()
{
	need $SAMPLE
	mkdir instances/marker
	echo 1 > instances/marker/events/sample/line/enable
	echo x > $FILE
	equal "here" "$(events line)" ""
	equal "there" "$(grep -c ' line: 1 "x" of 1' instances/marker/trace)" 1
	echo 1 > events/sample/line/enable
	echo y > $FILE
	equal "here" "$(events line)" 'line: 1 "y" of 1'
	rmdir instances/marker
	echo z > $FILE
	equal "without it" "$(events line | tail -n1)" 'line: 1 "z" of 1'
}

each_instance_has_a_set_marker()
{
	need $SAMPLE markers_many
	mkdir instances/marker
	echo 'many:e00?' > instances/marker/set_marker
	equal "there" "$(wc -l < instances/marker/set_marker)" 10
	equal "here" "$(cat set_marker)" ""
	echo 'sample:line many:e000' > set_marker
	equal "here" "$(xargs < set_marker)" "many:e000 sample:line"
	equal "there, as before" "$(wc -l < instances/marker/set_marker)" 10
	pass word markers_many
	equal "events here" "$(events 'e[0-9]*')" "e000: 0 word"
	equal "events there" "$(grep -c ': e00[0-9]: [0-9] word' instances/marker/trace)" 10
	exec 3>> instances/marker/set_marker
	! rmdir instances/marker 2> /dev/null || fail "an instance goes whose file is open"
	echo '!many:*' >&3
	exec 3>&-
	equal "none there" "$(cat instances/marker/set_marker)" ""
	equal "here, as before" "$(states 'many:e[0-9]*')" "999 off 1 on"
	echo 'many:*' > instances/marker/set_marker
	rmdir instances/marker
	equal "without it" "$(states 'many:e[0-9]*')" "999 off 1 on"
}

programs_record_them()
{
	need $SAMPLE
	local dir
	dir=$(mktemp -d)
	if command -v trace-cmd > /dev/null; then
		trace-cmd record -q -o $dir/trace.dat -e sample:line -f 'arg3 > 3' \
			sh -c "printf 'one\nfour\n' > $FILE" > /dev/null 2>&1 || fail "trace-cmd record"
		trace-cmd report $dir/trace.dat 2>&1 | grep -q 'line: *2 "four" of 4' ||
			fail "trace-cmd: $(trace-cmd report $dir/trace.dat 2>&1 | tail -n2)"
		! trace-cmd report $dir/trace.dat 2>&1 | grep -q '"one"' || fail "trace-cmd: filter"
		trace-cmd reset
	fi
	if command -v perf > /dev/null; then
		perf record -q -o $dir/perf.data -e sample:line sh -c "printf 'one\nfour\n' > $FILE" ||
			fail "perf record"
		perf script -i $dir/perf.data 2> /dev/null | grep -q 'sample:line: 2 "four" of 4' ||
			fail "perf: $(perf script -i $dir/perf.data 2>&1 | tail -n2)"
	fi
	rm -r "$dir"
	equal "left" "$(states sample:line)" "1 off"
}

patterns_switch_many()
{
	need $SAMPLE markers_many
	echo 'many:e1*' > set_marker
	equal "a hundred" "$(states 'many:e[0-9]*')" "900 off 100 on"
	equal "in the file" "$(wc -l < set_marker)" 100
	echo 'sample:line !many:e1?5' >> set_marker
	equal "ten less" "$(states 'many:e[0-9]*')" "910 off 90 on"
	equal "one more" "$(states sample:line)" "1 on"
	echo 'many:*' > set_marker
	equal "all" "$(states 'many:e[0-9]*')" "1000 on"
	equal "truncated" "$(states sample:line)" "1 off"
	pass word markers_many
	equal "events" "$(events 'e[0-9]*' | wc -l)" 1000
	equal "last" "$(events 'e999')" "e999: 999 word"
	echo > set_marker
	equal "none" "$(states 'many:e[0-9]*')" "1000 off"
}

a_thousand_in_one_run()
{
	need markers_many
	local command _
	local -A least
	count_syncs remove_modules
	# Other tasks may patch meanwhile, a static key say, but not in all three rounds.
	for _ in 1 2 3; do
		for command in "echo 'many:*' >> set_marker" "echo > set_marker" \
			"echo 1 > events/many/enable" "echo 0 > events/many/enable" \
			"echo 'many:*' >> set_event" "echo '!many:*' >> set_event"; do
			synchronise "$command"
			# shellcheck disable=SC2154 # of functions.sh
			[ "${least[$command]:-$synced}" -lt "$synced" ] || least[$command]=$synced
		done
	done
	for command in "${!least[@]}"; do
		equal "synchronisations for $command" "${least[$command]}" 3
	done
}

a_probe_before_its_marker_and_after()
{
	need $PROBE $SAMPLE
	echo hello > $FILE
	equal "before" "$(cat $SUMS)" "1 lines, 5 characters"
	rmmod $SAMPLE
	modprobe $SAMPLE
	echo hello > $FILE
	equal "come again" "$(cat $SUMS)" "2 lines, 10 characters"
	rmmod $PROBE
	echo hello > $FILE
	modprobe $PROBE
	equal "after" "$(cat $SUMS)" "0 lines, 0 characters"
	echo hello > $FILE
	equal "connected" "$(cat $SUMS)" "1 lines, 5 characters"
	echo 1 > events/sample/line/enable
	echo both > $FILE
	equal "both" "$(cat $SUMS) $(events line)" '2 lines, 9 characters line: 1 "both" of 4'
	rmmod $PROBE
	echo event > $FILE
	equal "the event only" "$(events line | tail -n1)" 'line: 1 "event" of 5'
}

an_enabled_marker_goes()
{
	need $SAMPLE
	echo 1 > events/sample/enable
	rmmod $SAMPLE
	[ ! -e events/sample ] || fail "its events are left"
	equal "set_marker" "$(cat set_marker)" ""
	modprobe $SAMPLE
	equal "come again" "$(states 'sample:line')" "1 off"
	mkdir instances/marker
	echo 1 > instances/marker/events/sample/line/enable
	rmmod $SAMPLE
	[ ! -e instances/marker/events/sample ] || fail "its events are left in an instance"
	rmdir instances/marker
}

# Their ids may be other events' soon: entries of before must not be printed as theirs.
buffers_forget_events_that_are_gone()
{
	need $SAMPLE
	mkdir instances/marker
	echo 'in the other' > instances/marker/trace_marker
	echo 1 > events/sample/line/enable
	echo x > $FILE
	echo 0 > events/sample/line/enable
	equal "before" "$(events line)" 'line: 1 "x" of 1'
	rmmod $SAMPLE
	equal "afterwards" "$(grep -vc '^#' trace)" 0
	equal "one without" "$(grep -c 'in the other' instances/marker/trace)" 1
	rmdir instances/marker
}

# Another event may get the number of one that has gone.
buffers_forget_events_of_cpus_that_are_off()
{
	local online=/sys/devices/system/cpu/cpu1/online
	[ -w $online ] || skip "no CPU that can go offline"
	need $SAMPLE
	echo 1 > events/sample/line/enable
	taskset -c 1 sh -c "echo x > $FILE"
	equal "recorded" "$(grep -c '\[001\].* line: ' trace)" 1
	echo 0 > $online
	rmmod $SAMPLE
	echo 1 > $online
	# The trace does not show entries that have no event.
	equal "afterwards" "$(sed -n 's/^entries: //p' per_cpu/cpu1/stats)" 0
}

# The events of a module are tried in no order.
buffers_forget_events_although_another_stays()
{
	local event other
	for event in line lines; do
		need $SAMPLE
		[ $event = line ] && other=lines || other=line
		echo 1 > events/sample/$event/enable
		echo x > $FILE
		echo 0 > events/sample/$event/enable
		grep -q " $event: 1" trace || fail "no entry of $event"
		echo traceoff > events/sample/$other/trigger
		rmmod $SAMPLE
		[ -e events/sample/$other ] || fail "$other is gone with its trigger"
		equal "$event, afterwards" "$(grep -vc '^#' trace)" 0
		echo '!traceoff' > events/sample/$other/trigger
	done
	modprobe $SAMPLE
	rmmod $SAMPLE
	[ ! -e events/sample ] || fail "its events are left"
}

# It cannot be removed: a module that comes must not disable it in the attempt.
an_event_with_a_trigger_stays_as_it_is()
{
	need $SAMPLE
	echo traceon > events/sample/line/trigger
	rmmod $SAMPLE
	echo 1 > events/sample/line/enable
	modprobe $SAMPLE
	equal "enable, when the module is back" "$(cat events/sample/line/enable)" '1*'
	echo x > $FILE
	equal "recorded" "$(events line)" 'line: 1 "x" of 1'
	echo 0 > events/sample/line/enable
	echo '!traceon' > events/sample/line/trigger
	rmmod $SAMPLE
	[ ! -e events/sample ] || fail "its events are left"
}

# While a module goes, whoever opens the file makes events for all markers that have none.
no_event_comes_back()
{
	need $SAMPLE
	endlessly ': >> set_marker'
	local i
	for ((i = 0; i < 20; i++)); do
		rmmod $SAMPLE
		[ ! -e events/sample ] || fail "round $i: its events are left"
		modprobe $SAMPLE
	done
	stop_endless
}

# read_at_once FILE: write the trace to it as it is recorded. Unloading a module empties the
# buffer: a real-time reader on the CPU of rmmod runs before that, as soon as an event wakes it.
read_at_once()
{
	taskset -c 0 chrt -f 50 cat trace_pipe > "$1" &
	within 60 is_asleep $! cat || fail "no reader"
}

work_left_by_a_module_passes_its_markers()
{
	need markers_late
	local seen
	seen=$(mktemp)
	echo 1 > events/late/work/enable
	read_at_once "$seen"
	taskset -c 0 rmmod markers_late
	within 10 grep -q 'work: still there' "$seen" || fail "not seen: $(cat "$seen")"
	stop_jobs
	[ ! -e events/late ] || fail "its event is left"
	rm "$seen"
}

# Their markers are gone by then, and nothing is read of them.
parameters_pass_markers_of_a_module_that_goes()
{
	local param=/sys/module/markers_late/parameters/param i seen
	need markers_late
	echo 1 > events/late/enable
	equal "parameter" "$(cat $param)" param
	equal "event" "$(events get)" 'get: param'
	endlessly 'cat $param > /dev/null 2>&1 || :'
	for i in $(seq 10); do
		rmmod markers_late
		insmod "$HERE/test_modules/markers_late.ko"
		echo 1 > events/late/enable
	done
	stop_endless
	seen=$(mktemp)
	read_at_once "$seen"
	taskset -c 0 rmmod markers_late
	[ ! -e events/late ] || fail "its events are left"
	equal "entries" "$(grep -vc '^#' trace)" 0
	echo end > trace_marker
	within 10 grep -q 'end$' "$seen" || fail "the end is not seen: $(cat "$seen")"
	! grep -E ' free: |Unknown type' "$seen" || fail "free() passed its marker"
	equal "a probe" "$(dmesg | sed -n 's/.*late probe: //p' | tail -n 1)" -22
	rm "$seen"
}

# perf_holds EVENT: until stop_jobs(). A command that perf starts would outlive it, and who reads
# what the test prints would wait for that.
perf_holds()
{
	perf stat -e "$1" -p $$ 2> /dev/null &
	within 60 is_on "$1" || fail "perf does not use it"
}

# perf holds on to the event: it goes when perf has
an_event_in_use_goes_later()
{
	need $SAMPLE
	command -v perf > /dev/null || skip "no perf"
	perf_holds sample:line
	rmmod $SAMPLE
	[ -e events/sample ] || fail "it has gone"
	modprobe $SAMPLE
	echo x > $FILE
	stop_jobs
	rmmod $SAMPLE
	modprobe $SAMPLE
	echo 1 > events/sample/line/enable
	echo y > $FILE
	equal "afterwards" "$(events line)" 'line: 1 "y" of 1'
}

what_nobody_uses_any_more_refuses_no_module()
{
	need $SAMPLE
	[ -e "$HERE/test_modules/bad_marker_format.ko" ] || skip "no module bad_marker_format"
	command -v perf > /dev/null || skip "no perf"
	perf_holds sample:lines
	rmmod $SAMPLE
	[ -e events/sample ] || fail "it has gone"
	stop_jobs
	insmod "$HERE/test_modules/bad_marker_format.ko"
	rmmod bad_marker_format
	modprobe $SAMPLE
}

# Each wait would be a grace period, in which no event is switched, and no module loaded.
a_thousand_go_together()
{
	need markers_many
	[ -e function_profile_enabled ] || skip "no function profiler"
	local waits
	echo 'many:*' > set_marker
	echo synchronize_rcu > set_ftrace_filter
	echo 1 > function_profile_enabled
	rmmod markers_many
	waits=$(cat trace_stat/function[0-9]* | awk '$1 == "synchronize_rcu" { n += $2 } END { print n + 0 }')
	echo 0 > function_profile_enabled
	echo > set_ftrace_filter
	echo "# $waits grace periods"
	[ "$waits" -gt 0 ] || fail "not counted"
	[ "$waits" -lt 50 ] || fail "$waits grace periods for a module that goes"
}

# refused MODULE PATTERN: it is not loaded, with a message
refused()
{
	dmesg -C
	! insmod "$HERE/test_modules/$1.ko" 2> /tmp/errors || fail "$1: it was loaded"
	grep -q 'Invalid parameters' /tmp/errors || fail "$1: $(cat /tmp/errors)"
	dmesg | grep -q "$2" || fail "$1: no message: $(dmesg | tail -n3)"
}

another_format_is_refused()
{
	need $SAMPLE
	[ -e "$HERE/test_modules/bad_marker_format.ko" ] || skip "no module bad_marker_format"
	refused bad_marker_format 'marker: sample:lines: .*bad_marker_format.c:[0-9]* has "%u lines", but .*marker_sample.c:[0-9]* has "%d": refused'
	equal "states" "$(states sample:lines)" "1 off"
	echo 'sample:*' > set_marker
	echo x > $FILE
	equal "the other" "$(events 'lines')" "lines: 1"
	# The other way round, for who is first
	rmmod $SAMPLE
	insmod "$HERE/test_modules/bad_marker_format.ko"
	! modprobe $SAMPLE 2> /dev/null || fail "the other was loaded"
	dmesg | grep -q 'marker: sample:lines: .*marker_sample.c:[0-9]* has "%d", but' ||
		fail "no message of the other"
	equal "states" "$(states sample:line)" ""
}

# A tracepoint's event has that name: it stays as it is, and there is no other.
a_name_that_is_taken()
{
	dmesg -C
	need markers_bad
	dmesg | grep -q 'marker: sched:sched_switch: no event (-17)' || fail "no message"
	equal "events" "$(grep -c '^sched:sched_switch$' available_events)" 1
	grep -q prev_comm events/sched/sched_switch/format || fail "another event"
	equal "the marker" "$(states sched:sched_switch)" "1 off"
	rmmod markers_bad
	equal "gone" "$(states sched:sched_switch)" ""
	grep -q prev_comm events/sched/sched_switch/format || fail "the event is gone"
}

# When it is free again, the marker gets it.
a_name_that_is_taken_for_a_while()
{
	need
	[ -e kprobe_events ] || skip "no kprobe events"
	trap 'stop_jobs; echo > kprobe_events; remove_modules' EXIT
	dmesg -C
	echo 'p:bad/text vfs_read' > kprobe_events
	insert markers_bad
	equal "messages" "$(dmesg | grep -c 'marker: bad:text: no event (-17)')" 1
	cat set_marker > /dev/null
	equal "messages" "$(dmesg | grep -c 'marker: bad:text: no event (-17)')" 1
	echo > kprobe_events
	echo 'bad:text' > set_marker
	pass again markers_bad
	equal "its event" "$(events text)" "text: again"
}

# Nothing would take it away when its text is freed.
a_probe_in_init_text_is_refused()
{
	dmesg -C
	need markers_late
	dmesg | grep -q 'late:work: probe init_probe.* is no function that stays: refused' ||
		fail "no message"
	equal "the answer" "$(dmesg | sed -n 's/.*init probe: //p')" -22
	echo late:get > set_marker
	cat /sys/module/markers_late/parameters/param > /dev/null
	equal "the other" "$(events get)" 'get: param'
}

# Up to the precision, and no further
strings_without_an_end()
{
	need markers_bad
	echo > set_marker
	echo bad:endless > set_marker
	echo bad:fault >> set_marker
	pass text markers_bad
	equal "strings" "$(events endless)" \
		'endless: head=xxxxxxxxxxxxxxxx tail=the last none= name=good'
	equal "what can be read" "$(events fault)" 'fault: last|good'
	echo > trace
	echo 'head == "xxxxxxxxxxxxxxxx" && tail == "the last" && none == ""' \
		> events/bad/endless/filter
	pass text markers_bad
	echo 0 > events/bad/endless/filter
	equal "by a filter" "$(events endless | wc -l)" 1
}

# No more is looked at than is recorded, and not a byte at a time.
many_strings()
{
	need markers_bad
	echo > set_marker
	echo bad:many > set_marker
	pass text markers_bad
	equal "what is recorded" "$(events many | tr -d x)" 'many: '
	equal "length with the NUL" "$(events many | wc -c)" $((6 + 3 * 1024))
	can_trace && grep -qx copy_from_kernel_nofault available_filter_functions ||
		skip "copy_from_kernel_nofault cannot be traced"
	echo copy_from_kernel_nofault > set_ftrace_filter
	echo function > current_tracer
	echo > trace
	pass text markers_bad
	# Whoever reads what there is calls it, too.
	echo 0 > tracing_on
	local reads; reads=$(grep -c ': copy_from_kernel_nofault' trace) || :
	echo 1 > tracing_on
	echo nop > current_tracer
	[ "$reads" -ge 3 ] && [ "$reads" -lt 100 ] || fail "$reads reads for one event"
}

bad_formats_and_strings()
{
	need markers_bad
	refused bad_marker_conversion 'bad:conversion: .*bad_marker_conversion.c:[0-9]* has "%d %n", which is no'
	refused bad_marker_width 'bad:width: .*bad_marker_width.c:[0-9]* has "%\*d", which is no'
	[ ! -e events/bad/conversion ] && [ ! -e events/bad/width ] || fail "an event of none"
	equal "refused" "$(states 'bad:[cw].*')" ""
	refused bad_marker_overlap 'marker: bad_marker_overlap: .*, which is no marker'
	echo 'bad:*' > set_marker
	pass text markers_bad
	equal "strings" "$(events strings)" 'strings: (null)|(fault)|(fault)|(fault)|good|go'
	equal "types" "$(events types)" 'types: -1 65535 -2 -3 x % "pass [markers_bad]"'
	equal "text" "$(events text)" "text: text"
	echo > trace
	# The kernel's parameters are a page at most
	pass "$(head -c 3000 /dev/zero | tr '\0' x)" markers_bad
	equal "a long string" "$(events text | wc -c)" 3007
}

bad_patterns()
{
	need $SAMPLE
	local before
	echo sample:line > set_marker
	before=$(cat set_marker)
	expect_error "unknown" "Invalid argument" set_marker 'no:such'
	expect_error "no pattern" "Invalid argument" set_marker '[' || :
	echo sample:line >> set_marker
	! echo 'sample/line' 2> /dev/null >> set_marker || fail "a slash"
	! head -c 65536 /dev/zero 2> /dev/null | tr '\0' a 2> /dev/null >> set_marker || fail "64 KiB"
	! yes 'no:such' | head -c 65536 2> /dev/null | dd of=set_marker bs=64k conv=notrunc 2> /dev/null ||
		fail "64 KiB of names"
	equal "after all" "$(cat set_marker)" "$before"
	echo > $FILE
}

modules_come_and_go_while_they_are_switched()
{
	need $SAMPLE
	endlessly 'echo some text > $FILE'
	endlessly 'echo some text > $FILE'
	endlessly 'echo "sample:*" >> set_marker; echo "!sample:*" >> set_marker'
	local i
	for ((i = 0; i < 20; i++)); do
		modprobe $PROBE
		rmmod $PROBE
	done
	stop_endless
	for ((i = 0; i < 10; i++)); do
		echo 'sample:*' > set_marker
		rmmod $SAMPLE
		modprobe $SAMPLE
	done
	# The kernel's own as well: some are in init text, which is not there any more.
	echo '*' > set_marker
	echo > set_marker
	echo 1 > events/sample/enable
	echo > trace
	echo end > $FILE
	equal "after all" "$(events line)" 'line: 1 "end" of 3'
}

run_tests each_is_an_event the_list_shows_all filters_know_the_types formats_name_the_fields \
	tools_know_the_names in_an_instance each_instance_has_a_set_marker \
	programs_record_them patterns_switch_many a_thousand_in_one_run \
	a_probe_before_its_marker_and_after an_enabled_marker_goes \
	buffers_forget_events_that_are_gone buffers_forget_events_although_another_stays \
	buffers_forget_events_of_cpus_that_are_off \
	an_event_with_a_trigger_stays_as_it_is no_event_comes_back \
	work_left_by_a_module_passes_its_markers parameters_pass_markers_of_a_module_that_goes \
	an_event_in_use_goes_later what_nobody_uses_any_more_refuses_no_module \
	a_thousand_go_together \
	another_format_is_refused a_name_that_is_taken a_name_that_is_taken_for_a_while \
	a_probe_in_init_text_is_refused bad_formats_and_strings strings_without_an_end many_strings \
	bad_patterns \
	modules_come_and_go_while_they_are_switched
