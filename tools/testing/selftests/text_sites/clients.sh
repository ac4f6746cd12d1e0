#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that people trace with: what trace-cmd and perf record is what the
# workload did, and afterwards nothing is left.

. "$(dirname "$0")/functions.sh"

need()
{
	command -v "$1" > /dev/null || skip "no program $1"
}

need_tracer()
{
	grep -qw "$1" available_tracers || skip "no tracer $1"
}

# A folder for what is recorded
new_dir()
{
	dir=$(mktemp -d)
	trap 'stop_jobs; rm -r "$dir"; cd $TRACING' EXIT
	cd "$dir" || exit
}

# record COMMAND...: runs it with a workload, as its last arguments, that looks
# at many files and leaves its pid in a file
record()
{
	# shellcheck disable=SC2016
	"$@" bash -c 'echo $$ > pid; exec ls -lR /proc/1/attr /proc/1/net > /dev/null' \
		> output 2> errors || fail "$*: $(tail -n3 errors)"
	pid=$(cat pid)
}

# Nothing is traced any more
nothing_is_left()
{
	equal "tracer" "$(cat $TRACING/current_tracer)" nop
	equal "filter" "$(filter)" ""
	equal "notrace" "$(filter set_ftrace_notrace)" ""
	equal "pids" "$(cat $TRACING/set_ftrace_pid)" "no pid"
	equal "events" "$(cat $TRACING/events/enable)" 0
	equal "enabled" "$(cat $TRACING/enabled_functions)" ""
}

# Lines of the report of functions that are not "COMM-PID ...: vfs_... <-- CALLER"
not_asked_for()
{
	grep -v '^cpus=' text |
		grep -vE "^ *[^ ]+-$pid +\[[0-9]+\] +[0-9.]+: function: +vfs_[a-z0-9_.]+ <-- [a-z0-9_.]+$"
}

trace_cmd_records_functions()
{
	need trace-cmd
	new_dir
	record trace-cmd record -q -p function -l 'vfs_*' -n 'vfs_open' -F
	trace-cmd report trace.dat > text
	! not_asked_for | head -n3 | grep . || fail "not asked for"
	! grep -w vfs_open text || fail "vfs_open"
	grep -q ' vfs_statx <-- ' text || fail "no vfs_statx: $(head -n5 text)"
	[ "$(wc -l < text)" -gt 50 ] || fail "$(wc -l < text) events only"
	trace-cmd reset
	nothing_is_left
}

# Entries and exits pair up, each at its depth, and no function takes less time
# than what it calls. From the first vfs_open on: the filter comes after the tracer.
check_graph()
{
	awk '
	function fail(why) { print "# " why ": " $0; bad = 1; exit 1 }
	function us() { return match($0, /[0-9.]+ us/) ? substr($0, RSTART, RLENGTH - 3) + 0 : -1 }
	!/funcgraph_(entry|exit):/ { if (!/^cpus=/) fail("not of the graph"); next }
	{ text = $0; sub(/.*\|  /, "", text); match(text, /[^ ]/)
	  indent = (RSTART - 1) / 2; name = substr(text, RSTART) }
	!roots && !(indent == 0 && name == "vfs_open() {") { next }
	$0 !~ "-" pid " +\\[" { fail("not of task " pid) }
	/funcgraph_entry:/ {
		if (indent != depth) fail("depth is " depth)
		if (depth == 0 && name !~ /^vfs_open\(\)/) fail("not asked for")
		if (depth == 0) roots++
		if (name ~ /\(\);$/) {
			if (us() < 0) fail("no duration")
			inside[depth] += us()
		} else if (name ~ /\(\) \{$/) {
			inside[++depth] = 0
		} else {
			fail("neither leaf nor branch")
		}
	}
	/funcgraph_exit:/ {
		if (us() < 0) fail("no duration")
		if (us() + 0.1 < inside[depth]) fail("calls took " inside[depth] " us")
		if (--depth < 0 || indent != depth || name !~ /^}/) fail("depth is " depth)
		inside[depth] += us()
		pairs++
	}
	END { if (!bad && (roots < 3 || pairs < 10)) { print "# " roots " roots, " pairs " pairs"; exit 1 } }
	' pid="$pid" "$1"
}

trace_cmd_records_graphs()
{
	need trace-cmd
	need_tracer function_graph
	new_dir
	# None that interrupts call: their calls come before the one they interrupt
	record trace-cmd record -q -p function_graph -g vfs_open -l 'vfs_*' -l 'do_dentry_*' \
		-l path_get -l mntget -l 'security_file_*' -l 'file_ra_*' -l '*_open' -F
	trace-cmd report trace.dat > text
	check_graph text || fail "$(head -n5 text)"
	trace-cmd reset
	nothing_is_left
}

trace_cmd_records_events()
{
	need trace-cmd
	new_dir
	record trace-cmd record -q -e sched:sched_process_exit -e sched:sched_process_exec
	trace-cmd report trace.dat > text
	! grep -vE '^cpus=|: sched_process_(exit|exec): ' text || fail "not asked for"
	grep -qE "^ *ls-$pid .*sched_process_exec: +filename=/(usr/)?bin/ls pid=$pid " text ||
		fail "no exec of $pid: $(cat text)"
	grep -qE "^ *ls-$pid .*sched_process_exit: +comm=ls pid=$pid " text ||
		fail "no exit of $pid: $(cat text)"
	trace-cmd reset
	nothing_is_left
}

# writes COMMAND...: runs it with a workload, as its last arguments, that writes $nr times
writes()
{
	nr=5000
	"$@" dd if=/dev/zero of=/dev/null bs=1 count=$nr status=none > output 2> errors ||
		fail "$*: $(tail -n3 errors)"
}

# nr_writes FILE: how many of them stand in a report, and how many it says are missing
nr_writes()
{
	awk '/EVENTS DROPPED/ { sub(/.*\[/, ""); n += $1 }
	     / dd-[0-9]+ .* ksys_write/ { n++ }
	     END { print n + 0 }' "$1"
}

# It waits for events while they come. With a small buffer it cannot get all.
trace_cmd_loses_nothing()
{
	need trace-cmd
	new_dir
	local size
	for size in 4000 16; do
		writes trace-cmd record -q -b $size -p function -l ksys_write -F
		trace-cmd report trace.dat > text
		equal "writes with $size kB" "$(nr_writes text)" $nr
	done
	writes trace-cmd record -q -b 4000 -p function_graph -l ksys_write -F
	trace-cmd report trace.dat > text
	equal "graphs of writes" "$(nr_writes text)" $nr
	trace-cmd reset
	nothing_is_left
}

# kernelshark_reads FILE: the same events as trace-cmd
kernelshark_reads()
{
	"$HERE/kshark_read" "$1" > seen || fail "kshark_read $1: status $?"
	# As it is stored: a call that calls nothing is printed as one otherwise.
	trace-cmd report -R "$1" | sed -nE 's/.*\[[0-9]+\] .* *[0-9]+\.[0-9]+: +([^: ]+): .*/\1/p' |
		sort | uniq -c | awk '{ print $2, $1 }' > expected
	[ -s expected ] || fail "trace-cmd reports nothing"
	equal "events of $1" "$(sed 's,.*/,,' seen | sort)" "$(sort expected)"
}

kernelshark_reads_what_trace_cmd_records()
{
	need trace-cmd
	[ -x "$HERE/kshark_read" ] || skip "KernelShark's library was not there to compile kshark_read"
	new_dir
	writes trace-cmd record -q -b 4000 -p function -l ksys_write -e sched:sched_switch -F
	kernelshark_reads trace.dat
	writes trace-cmd record -q -b 4000 -p function_graph -l ksys_write -F
	kernelshark_reads trace.dat
	trace-cmd reset
	nothing_is_left
}

trace_cmd_says_what_is_on_and_resets_it()
{
	need trace-cmd
	new_dir
	trace-cmd start -p function -l vfs_read -n vfs_write -e sched:sched_switch > /dev/null
	equal "filter" "$(filter)" vfs_read
	equal "notrace" "$(filter set_ftrace_notrace)" vfs_write
	equal "enabled" "$(cut -d' ' -f1 $TRACING/enabled_functions)" vfs_read
	trace-cmd stat > said
	grep -q '^Tracer: function' said || fail "no tracer: $(cat said)"
	grep -q '^ *vfs_read' said || fail "no filter: $(cat said)"
	grep -q 'sched_switch' said || fail "no event: $(cat said)"
	cat /proc/version > /dev/null
	trace-cmd stop
	trace-cmd show | grep -q ': vfs_read <-' || fail "$(trace-cmd show | head -n20)"
	trace-cmd reset
	nothing_is_left
	trace-cmd stat > said
	! grep -E '^Tracer: function|vfs_|sched_switch' said || fail "still in trace-cmd stat"
}

perf_records_functions()
{
	need perf
	new_dir
	record perf record -q -e ftrace:function --filter 'ip == vfs_statx || ip == vfs_open'
	perf script -i perf.data > text 2> errors || fail "$(cat errors)"
	! grep -vE "^ *[^ ]+ +$pid +\[[0-9]+\] +[0-9.]+: +ftrace:function: +vfs_(statx|open) <-- [a-z0-9_.]+$" text ||
		fail "not asked for"
	grep -qE 'vfs_statx <-- (vfs_fstatat|do_statx)' text || fail "no vfs_statx: $(head -n5 text)"
	grep -q 'vfs_open <-- path_openat' text || fail "no vfs_open: $(head -n5 text)"
	perf report -i perf.data --stdio > text 2> errors || fail "$(cat errors)"
	grep -qE '^ +[0-9.]+% +vfs_open <-- path_openat$' text || fail "$(cat text)"
	equal "per cent" "$(awk '/%/ { all += $1 } END { printf "%.0f", all }' text)" 100
	nothing_is_left
}

perf_counts_functions()
{
	need perf
	new_dir
	perf stat -x, -o counts -e ftrace:function --filter 'ip == ksys_write' \
		dd if=/dev/zero of=/dev/null bs=1 count=50 status=none
	equal "writes of dd" "$(sed -n 's/,.*ftrace:function.*//p' counts)" 50
	# The same while others are on the function
	echo 'ksys_write ksys_read' > $TRACING/set_ftrace_filter
	echo function > $TRACING/current_tracer
	perf stat -x, -o outer -e ftrace:function --filter 'ip == ksys_write' \
		perf stat -x, -o counts -e ftrace:function --filter 'ip == ksys_write' \
		dd if=/dev/zero of=/dev/null bs=1 count=50 status=none
	equal "writes of dd" "$(sed -n 's/,.*ftrace:function.*//p' counts)" 50
	[ "$(sed -n 's/,.*ftrace:function.*//p' outer)" -gt 50 ] || fail "$(cat outer)"
	equal "enabled" "$(sed 's/).*/)/' $TRACING/enabled_functions | sort | xargs)" \
		"ksys_read (1) ksys_write (1)"
	echo nop > $TRACING/current_tracer
	echo > $TRACING/set_ftrace_filter
	nothing_is_left
}

perf_is_refused_what_is_not_there()
{
	need perf
	new_dir
	local filter
	for filter in 'ip == no_such' 'ip == vfs_read || ip == no_such' 'ip ~ vfs_*' \
		'parent_ip == vfs_read'; do
		if perf record -e ftrace:function --filter "$filter" true 2> errors; then
			fail "$filter was taken"
		fi
		grep -q 'failed to set filter.*(Invalid argument)' errors ||
			fail "$filter: $(cat errors)"
	done
	nothing_is_left
}

perf_ftrace_traces()
{
	need perf
	new_dir
	record perf ftrace trace -t function -T 'vfs_*' -N vfs_open
	! grep -v '^#' output | grep -vE "^ +[^ ]+-[0-9]+ .*: vfs_[a-z0-9_.]+ <-" | grep . ||
		fail "not asked for"
	! grep -w vfs_open output || fail "vfs_open"
	grep -qE -- "-$pid +\[.*: vfs_statx <-" output || fail "no vfs_statx: $(head -n20 output)"
	nothing_is_left
}

perf_ftrace_draws_graphs()
{
	need perf
	need_tracer function_graph
	new_dir
	record perf ftrace trace -G vfs_open --graph-opts noirqs
	# An open has an end, and takes what its parts take
	grep -qE '^ *[0-9]+\) +\|  vfs_open\(\) \{$' output || fail "$(head -n20 output)"
	grep -qE '^ *[0-9]+\) .* us +\|  \}( /\* vfs_open \*/)?$' output || fail "$(head -n20 output)"
	grep -qE '^ *[0-9]+\) +\|    do_dentry_open\(\) \{$' output || fail "$(head -n20 output)"
	nothing_is_left
}

perf_ftrace_measures_latency()
{
	need perf
	need_tracer function_graph
	new_dir
	perf ftrace latency -T ksys_write dd if=/dev/zero of=/dev/null bs=1 count=50 \
		status=none > output 2> errors || fail "$(cat errors)"
	equal "writes of dd" \
		"$(awk -F'|' '/ (us|ms|s) +\|/ { all += $2 } END { print all }' output)" 50
	nothing_is_left
}

# Code that is made while the kernel runs has a name in samples.
samples_in_trampolines_are_named()
{
	need perf
	new_dir
	echo function > $TRACING/current_tracer
	perf record -q -a -e cpu-clock -c 200000 -o perf.data \
		dd if=/dev/zero of=/dev/null bs=1 count=20000 status=none 2> errors ||
		fail "$(cat errors)"
	perf script -i perf.data -F ip,sym > text 2> errors || fail "$(cat errors)"
	echo nop > $TRACING/current_tracer
	echo "# $(grep -c . text) samples, $(grep -c ftrace_trampoline text) in trampolines"
	grep -q '^ *[0-9a-f]* ftrace_trampoline$' text || fail "$(head -n20 text)"
	nothing_is_left
}

# Those of an instance come with its tracer, and go some time after it: when
# nobody can be in them any more.
perf_is_told_of_trampolines()
{
	need perf
	new_dir
	local record='PERF_RECORD_KSYMBOL addr [0-9a-f]+ len [0-9]+ type 2'
	local wait came
	mkdir $TRACING/instances/i
	for wait in 1 5 25; do
		perf record -q -a -e dummy:u -o perf.data bash -c "cd $TRACING/instances/i
			echo function > current_tracer; echo nop > current_tracer
			sleep $wait" 2> errors || fail "$(cat errors)"
		perf script -i perf.data --show-bpf-events > text 2> errors ||
			fail "$(cat errors)"
		# A trampoline of an earlier test may be unregistered at any time, too.
		sed -n '/KSYMBOL.* flags 0x0 name ftrace_trampoline/,$p' text > since
		came=$(sed -n 's/.*KSYMBOL \(addr [0-9a-f]* len [0-9]*\) .*/\1/p' since | head -n1)
		! grep -q "KSYMBOL $came type 2 flags 0x1 name ftrace_trampoline" since || break
	done
	rmdir $TRACING/instances/i
	equal "registered" "$(grep -cE "$record flags 0x0 name ftrace_trampoline" text)" 1
	equal "unregistered" \
		"$(grep -cE "KSYMBOL $came type 2 flags 0x1 name ftrace_trampoline" since)" 1
	nothing_is_left
}

# handlers_run: calls the function, and says how often the module's handlers ran
handlers_run()
{
	dmesg -C
	( : )
	dmesg | grep -c '<kernel_clone> p->addr' || :
}

remove_kprobes()
{
	! grep -q '^kprobe_example ' /proc/modules || rmmod kprobe_example
	[ ! -e events/kprobes ] || echo 0 > events/kprobes/enable
	echo > kprobe_events
}

# A probe that has a post handler takes other ops than one that has none, also where one is already.
kprobes_with_a_post_handler_and_without()
{
	local name
	[ -e kprobe_events ] && modinfo kprobe_example > /dev/null 2>&1 ||
		skip "no kprobe_events, or no module kprobe_example"
	trap 'stop_jobs; remove_kprobes' EXIT
	for name in first second; do
		echo "p:$name kernel_clone" > kprobe_events
		echo 1 > events/kprobes/$name/enable
		equal "attached, $name" "$(cut -d' ' -f1 enabled_functions)" kernel_clone
		modprobe kprobe_example
		grep -q '^kernel_clone .* I ' enabled_functions || fail "not the other ops, $name"
		[ "$(handlers_run)" -ge 2 ] || fail "no handlers of the module, $name"
		echo > trace
		rmmod kprobe_example
		( : )
		grep -q ": $name: (kernel_clone" trace || fail "no event, $name"
		remove_kprobes
		nothing_is_left
		modprobe kprobe_example
		[ "$(handlers_run)" -ge 2 ] || fail "no handlers of the module alone, $name"
		rmmod kprobe_example
		nothing_is_left
	done
}

run_tests trace_cmd_records_functions trace_cmd_records_graphs trace_cmd_records_events \
	trace_cmd_loses_nothing kernelshark_reads_what_trace_cmd_records \
	trace_cmd_says_what_is_on_and_resets_it perf_records_functions perf_counts_functions \
	perf_is_refused_what_is_not_there perf_ftrace_traces perf_ftrace_draws_graphs \
	perf_ftrace_measures_latency samples_in_trampolines_are_named \
	perf_is_told_of_trampolines kprobes_with_a_post_handler_and_without
