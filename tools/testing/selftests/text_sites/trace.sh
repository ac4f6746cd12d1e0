#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What stands in the trace is what the workload must have called.

. "$(dirname "$0")/functions.sh"

# Lines of the trace of a task, as "FUNCTION <-CALLER"
functions_of()
{
	sed -n "s/^ *.*-$1 .*: \([^ ]* <-[^ ]*\).*/\1/p" trace
}

each_call_is_one_event()
{
	local pid n
	echo 'ksys_read ksys_write' > set_ftrace_filter
	echo function > current_tracer
	echo > trace
	dd if=/dev/zero of=/dev/null bs=1 count=50 status=none & pid=$!
	wait $pid
	echo 0 > tracing_on
	n=$(functions_of $pid | grep -c '^ksys_write <-')
	equal "writes of dd" "$n" 50
	n=$(functions_of $pid | grep -c '^ksys_read <-')
	# and those of the program's start, of its libraries
	[ "$n" -ge 50 ] && [ "$n" -lt 80 ] || fail "$n reads of dd"
}

callers_are_right()
{
	local callers
	echo vfs_read > set_ftrace_filter
	echo function > current_tracer
	cat /proc/version > /dev/null
	echo 0 > tracing_on
	callers=$(sed -n 's/.*: vfs_read <-\([^ ]*\)$/\1/p' trace | sort -u)
	[ -n "$callers" ] || fail "no event"
	# Functions that call vfs_read in this kernel
	! echo "$callers" | grep -v -E '^(ksys_read|kernel_read|__kernel_read|ksys_pread64|__(x64|ia32)_sys_(ia32_)?(pread64|read))$' ||
		fail "called by $callers"
}

only_what_is_in_the_filter()
{
	echo 'vfs_*' > set_ftrace_filter
	echo vfs_read > set_ftrace_notrace
	echo function > current_tracer
	ls -R /proc/1 > /dev/null 2>&1 || :
	echo 0 > tracing_on
	grep -q ': vfs_statx <-' trace || fail "no vfs_statx"
	! grep -q ': vfs_read <-' trace || fail "vfs_read"
	! grep -v '^#' trace | grep -v ': vfs_' || fail "not in the filter"
}

nothing_while_tracing_is_off()
{
	echo function > current_tracer
	echo 0 > tracing_on
	echo > trace
	ls / > /dev/null
	equal "events" "$(grep -vc '^#' trace)" 0
}

# Who switches recording on comes in between while another one switches it off.
the_tracer_follows_the_last_who_switches()
{
	[ -e "$HERE/test_modules/switch_back.ko" ] || skip "no module switch_back"
	trap '! grep -q "^switch_back " /proc/modules || rmmod switch_back' EXIT
	echo vfs_read > set_ftrace_filter
	echo function > current_tracer
	insmod "$HERE/test_modules/switch_back.ko"
	echo 0 > tracing_on
	rmmod switch_back
	equal "tracing_on" "$(cat tracing_on)" 1
	echo > trace
	cat /proc/version > /dev/null
	grep -q ': vfs_read ' trace || fail "nothing is recorded"
}

function_tracing_off_by_sysctl()
{
	local all; all=$(nr_available)
	echo function > current_tracer
	echo 0 > /proc/sys/kernel/ftrace_enabled
	equal "text" "$(site_text)" "nop $all"
	equal "enabled" "$(wc -l < enabled_functions)" 0
	echo > trace
	ls / > /dev/null
	equal "events" "$(grep -vc '^#' trace)" 0
	echo 1 > /proc/sys/kernel/ftrace_enabled
	equal "text again" "$(site_text)" "call $all"
	ls / > /dev/null
	[ "$(grep -vc '^#' trace)" -gt 100 ] || fail "no events"
}

attached_while_off_by_sysctl()
{
	echo 0 > /proc/sys/kernel/ftrace_enabled
	echo vfs_read > set_ftrace_filter
	echo function > current_tracer
	equal "text" "$(site_text vfs_read)" "nop 1"
	echo vfs_write > set_ftrace_filter
	echo 1 > /proc/sys/kernel/ftrace_enabled
	equal "enabled" "$(cut -d' ' -f1 enabled_functions | xargs)" vfs_write
}

stack_traces_go_through_trampolines()
{
	echo vfs_read > set_ftrace_filter
	echo function > current_tracer
	echo 1 > options/func_stack_trace
	cat /proc/version > /dev/null
	echo 0 > tracing_on
	echo 0 > options/func_stack_trace
	grep -A3 '<stack trace>' trace | grep -q '=> vfs_read' || fail "$(head -n30 trace)"
	# Without ORC, the tracer skips one entry more, which is the trampoline's.
	! configured UNWINDER_ORC ||
		grep -A2 '<stack trace>' trace | grep -qF '=> [FTRACE TRAMPOLINE]' ||
		fail "$(head -n30 trace)"
	! grep '=> 0x' trace || fail "addresses without names"
	grep -qE "=> $SYSCALL" trace || fail "$(head -n30 trace)"
}

# Times go back in the lines of FILE, or the numbers of a writer, which it writes in order.
out_of_order()
{
	sed -n -E 's/^.* ([0-9]+\.[0-9]+): (tracing_mark_write: )?([^ ]*) ([^ ]*)$/\1 \3 \4/p' "$1" |
	awk '$1 + 0 < time { print "time", $0, "after", time }
		$2 ~ /^writer/ && $3 + 0 <= number[$2] { print "number", $0, "after", number[$2] }
		{ time = $1 + 0 }
		$2 ~ /^writer/ { number[$2] = $3 + 0 }'
}

reading_ends_though_each_read_is_an_event()
{
	local status=0
	echo 'vfs_read' > set_ftrace_filter
	echo function > current_tracer
	cat /proc/version > /dev/null
	timeout 20 cat trace > /tmp/read || status=$?
	grep -q ': vfs_read <-' /tmp/read || fail "no event"
	equal "out of order" "$(out_of_order /tmp/read | head -n3)" ''
	equal "status" "$status" 0
}

# Writes to the trace until it is killed.
writer()
{
	local i
	for ((i = 1; ; i++)); do
		# While the size of the buffer changes, nothing can be written.
		echo "writer$1 $i" > trace_marker || :
	done
}

# overrun: how many events have been overwritten
overrun() { cat per_cpu/cpu*/stats | awk '$1 == "overrun:" { n += $2 } END { print n }'; }

# more_than NUMBER: more events than that have been overwritten
more_than() { [ "$(overrun)" -gt "$1" ]; }

# Each piece is read by a program of its own, which gives the writers time.
reading_ends_while_writers_come_round()
{
	local size i before
	trap 'stop_jobs; echo 1408 > buffer_size_kb' EXIT
	writer 1 2> /dev/null & writer 2 2> /dev/null &
	for size in 16 64; do
		echo $size > buffer_size_kb
		before=$(overrun)
		within 60 more_than "$before" || fail "the writers do not come round"
		before=$(overrun)
		exec 3< trace
		: > /tmp/read
		for ((i = 0; i < 200; i++)); do
			dd bs=4k count=1 status=none <&3 > /tmp/piece
			[ -s /tmp/piece ] || break
			cat /tmp/piece >> /tmp/read
		done
		exec 3<&-
		echo "# $size KB: $(wc -l < /tmp/read) lines in $i pieces"
		[ "$(overrun)" -gt "$before" ] || fail "nothing was overwritten"
		equal "out of order" "$(out_of_order /tmp/read | head -n3)" ''
		[ "$i" -lt 200 ] || fail "no end"
	done
	stop_jobs
}

reading_on_after_the_end()
{
	echo first 1 > trace_marker
	exec 3< trace
	cat <&3 > /tmp/read
	grep -q 'first 1' /tmp/read || fail "nothing: $(< /tmp/read)"
	equal "more" "$(cat <&3)" ''
	echo second 2 > trace_marker
	equal "since then" "$(cat <&3 | sed 's/.*: //')" 'second 2'
	exec 3<&-
}

# say WORD: pages full of events
say()
{
	local i
	for ((i = 0; i < 500; i++)); do echo "$1 $i" > trace_marker; done
}

all_is_consumed() { grep -qx 'entries: 0' per_cpu/cpu0/stats; }

consume_all()
{
	cat trace_pipe > /tmp/consumed &
	within 60 all_is_consumed || fail "not all is consumed"
	stop_jobs
	grep -q 'second ' /tmp/consumed || fail "nothing is consumed"
}

# What a consumer has left is younger than where the reading was to end.
reading_ends_though_all_has_been_consumed()
{
	taskset -p 1 $BASHPID > /dev/null
	say first
	exec 3< trace
	dd bs=4096 count=1 <&3 > /tmp/read 2> /dev/null
	grep -q 'first 1$' /tmp/read || fail "nothing: $(< /tmp/read)"
	say second
	consume_all
	say third
	timeout 20 cat <&3 > /tmp/read || fail "no end"
	exec 3<&-
	equal "what came later" "$(grep -cE ': (second|third) ' /tmp/read || :)" 0
}

run_tests each_call_is_one_event callers_are_right only_what_is_in_the_filter \
	nothing_while_tracing_is_off the_tracer_follows_the_last_who_switches \
	function_tracing_off_by_sysctl \
	attached_while_off_by_sysctl stack_traces_go_through_trampolines \
	reading_ends_though_each_read_is_an_event reading_ends_while_writers_come_round \
	reading_on_after_the_end reading_ends_though_all_has_been_consumed
