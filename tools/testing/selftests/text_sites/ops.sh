#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Several callbacks on one function, with the kernel's own sample module.

. "$(dirname "$0")/functions.sh"

need_sample()
{
	modinfo ftrace-ops > /dev/null 2>&1 || skip "no module ftrace-ops"
}

remove_sample()
{
	rmmod ftrace_ops 2>/dev/null || :
}

# calls PARAMETER...: has the sample call a function and count its callbacks. It
# does not stay loaded when it is done, and complains about wrong counts.
calls()
{
	dmesg -c > /dev/null
	modprobe ftrace-ops nr_function_calls=1000 check_count=Y "$@" 2> /dev/null || :
	dmesg | grep -q 'Attempted 1000 calls to tracee_relevant' ||
		fail "ftrace-ops $*: $(dmesg | tail -n3)"
	! dmesg | grep 'Counter called' || fail "ftrace-ops $*"
}

callbacks_are_called_as_often_as_the_function()
{
	need_sample
	trap 'stop_jobs; remove_sample' EXIT
	local n
	for n in 1 2 4 8; do
		calls nr_ops_relevant=$n
		calls nr_ops_relevant=$n nr_ops_irrelevant=3
		calls nr_ops_relevant=$n save_regs=Y
		calls nr_ops_relevant=$n assist_recursion=Y
		calls nr_ops_relevant=$n assist_rcu=Y
	done
}

the_file_shows_how_many_are_attached()
{
	need_sample
	trap 'stop_jobs; remove_sample' EXIT
	local line
	modprobe ftrace-ops nr_function_calls=1 nr_ops_relevant=3 save_regs=Y persist=Y
	line=$(grep '^tracee_relevant' enabled_functions)
	[[ "$line" == "tracee_relevant [ftrace_ops] (3) R "* ]] || fail "'$line'"
	equal "callbacks shown" "$(echo "$line" | grep -o ops_func | wc -l)" 6
	remove_sample
	! grep -q tracee enabled_functions || fail "left over"
	equal "touched functions of the module" "$(grep -c '\[ftrace_ops\]' touched_functions)" 0
}

tracer_and_callbacks_on_one_function()
{
	need_sample
	trap 'stop_jobs; remove_sample' EXIT
	modprobe ftrace-ops nr_function_calls=1 nr_ops_relevant=1 persist=Y
	echo function > current_tracer
	[[ "$(grep '^tracee_relevant' enabled_functions)" == *" (2) "* ]] ||
		fail "$(grep '^tracee_relevant' enabled_functions)"
	[[ "$(grep '^vfs_read ' enabled_functions)" == *" (1) "* ]] ||
		fail "$(grep '^vfs_read ' enabled_functions)"
	echo nop > current_tracer
	[[ "$(grep '^tracee_relevant' enabled_functions)" == *" (1) "* ]] ||
		fail "$(grep '^tracee_relevant' enabled_functions)"
	remove_sample
}

trampolines_have_names()
{
	echo function > current_tracer
	grep -q ' t ftrace_trampoline	\[__builtin__ftrace\]$' /proc/kallsyms ||
		fail "$(grep builtin__ftrace /proc/kallsyms)"
	echo nop > current_tracer
}

kprobes_on_function_entries()
{
	[ -e kprobe_events ] || skip "no kprobe_events"
	echo 'p:entry vfs_read' > kprobe_events
	echo 1 > events/kprobes/entry/enable
	grep -q '^vfs_read .* R ' enabled_functions || fail "$(cat enabled_functions)"
	cat /proc/version > /dev/null
	echo 0 > events/kprobes/entry/enable
	grep -q 'entry: (vfs_read+0x' trace || fail "$(head -n20 trace)"
	echo > kprobe_events
}

# entry_of NAME: "PATH:OFFSET" of the first instruction of a program, as uprobe_events shows it
entry_of()
{
	perl -e 'open(my $f, "<:raw", $ARGV[0]) or die "$!\n";
		read($f, my $head, 4096) or die "$!\n";
		my $long = ord(substr($head, 4, 1)) == 2;
		my ($entry, $at, $size, $nr) = $long ?
			unpack("\@24 Q Q \@54 v v", $head) : unpack("\@24 V V \@42 v v", $head);
		for my $i (0 .. $nr - 1) {
			my ($type, $offset, $addr, $len) = unpack($long ?
				"V x4 Q Q x8 Q" : "V V V x4 V", substr($head, $at + $i * $size));
			next if $type != 1 || $entry < $addr || $entry >= $addr + $len;
			printf("%s:0x%0*x\n", $ARGV[0], $long ? 16 : 8, $entry - $addr + $offset);
			exit;
		}
		die "no entry\n"' "$(type -P "$1")"
}

# The base does not register it before the event is enabled again.
a_uprobe_comes_while_perf_counts()
{
	[ -e uprobe_events ] || skip "no uprobe_events"
	[ -n "$(type -P perf)" ] || skip "no perf"
	trap 'echo > uprobe_events; rm -f /tmp/uprobes' EXIT
	echo "p:both $(entry_of false)" > uprobe_events
	perf stat -x, -a -o /tmp/uprobes -e uprobes:both -- \
		bash -c "echo 'p:both $(entry_of true)' >> uprobe_events; env true; env false || :"
	equal "hits" "$(grep -o '^[0-9]*,' /tmp/uprobes)" 1,
	equal "uprobes" "$(grep -c both uprobe_events)" 2
}

# hits: runs both programs; how many hits of their uprobes the trace has by then
hits()
{
	env true
	! env false || fail "false is true"
	grep -c 'both: (0x' trace || :
}

a_uprobe_goes_while_its_event_stays()
{
	[ -e uprobe_events ] || skip "no uprobe_events"
	trap 'echo 0 > events/uprobes/enable; echo > uprobe_events' EXIT
	local no; no=$(entry_of false)
	printf 'p:both %s\n' "$no" "$(entry_of true)" > uprobe_events
	echo 1 > events/uprobes/both/enable
	equal "hits of two" "$(hits)" 2
	echo "-:both $no" >> uprobe_events
	equal "hits of one" "$(hits)" 3
}

run_tests callbacks_are_called_as_often_as_the_function \
	the_file_shows_how_many_are_attached tracer_and_callbacks_on_one_function \
	trampolines_have_names kprobes_on_function_entries a_uprobe_comes_while_perf_counts \
	a_uprobe_goes_while_its_event_stays
