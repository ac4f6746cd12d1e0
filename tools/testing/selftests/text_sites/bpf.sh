#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# BPF programs at function entries and exits: what they see and what they change,
# alone and beside a tracer, a kprobe and each other.

. "$(dirname "$0")/functions.sh"

# Starts the program that attaches others
start()
{
	[ -e /sys/kernel/btf/vmlinux ] || skip "no BTF"
	configured DYNAMIC_FTRACE_WITH_DIRECT_CALLS || skip "no direct calls"
	[ -x "$HERE/bpf_functions" ] || skip "libbpf was not there to compile bpf_functions"
	coproc BPF { exec "$HERE/bpf_functions"; }
	bpf_pid=$!
	# Those of a coprocess are not there in a subshell
	exec {from}<&"${BPF[0]}" {to}>&"${BPF[1]}"
	trap 'stop_jobs; remove_kprobe' EXIT
	file=$(bpf file)
}

remove_kprobe()
{
	[ ! -e events/kprobes/entry ] || { echo 0 > events/kprobes/entry/enable; echo > kprobe_events; }
}

# bpf COMMAND...: the answer of bpf_functions
bpf()
{
	local answer
	echo "$*" >&"$to"
	read -r -t 60 answer <&"$from" || fail "no answer to '$*'"
	echo "$answer"
}

# ok COMMAND...
ok()
{
	equal "$*" "$(bpf "$@")" ok
}

# The functions that something is attached to; lines of direct calls go on below
enabled()
{
	sed -n 's/^\([^[:space:]]*\) .*/\1/p' enabled_functions | sort | xargs
}

nothing_attached()
{
	equal "enabled" "$(cat enabled_functions)" ""
}

none_enabled() { [ -z "$(cat enabled_functions)" ]; }

arguments()
{
	start
	ok attach a fentry ksys_lseek
	equal "lseek" "$(bpf lseek 4660)" 4660
	equal "seen" "$(bpf seen a)" "1 $file 4660 0"
	equal "again" "$(bpf seen a)" 0
	equal "lseek" "$(bpf lseek -5)" -22
	equal "seen" "$(bpf seen a)" "1 $file -5 0"
	ok detach a
	nothing_attached
}

return_values()
{
	start
	ok attach a fexit ksys_lseek
	equal "lseek" "$(bpf lseek 4660)" 4660
	equal "seen" "$(bpf seen a)" "1 $file 4660 0 4660"
	equal "lseek" "$(bpf lseek -5)" -22
	equal "seen" "$(bpf seen a)" "1 $file -5 0 -22"
	ok detach a
	nothing_attached
}

# Six of them are in registers: the kernel has functions to test with.
all_arguments()
{
	start
	ok attach a fentry bpf_fentry_test6
	ok attach b fexit bpf_fentry_test6
	equal "run" "$(bpf run a)" 0
	equal "fentry" "$(bpf seen a)" "1 16 17 18 19 20 21"
	equal "fexit" "$(bpf seen b)" "1 16 17 18 19 20 21 111"
	ok detach a
	ok detach b
	nothing_attached
}

changed_return_values()
{
	local words
	start
	equal "ioctl" "$(bpf ioctl 4660 22136)" -25
	ok attach a fmod_ret security_file_ioctl -1
	equal "ioctl" "$(bpf ioctl 4660 22136)" -1
	read -r -a words <<< "$(bpf seen a)"
	equal "seen" "${words[0]} ${words[2]} ${words[3]}" "1 4660 22136"
	# Others are none of its business, as it has it
	stty -F /dev/ttyS0 > /dev/null
	equal "others" "$(bpf seen a)" 0

	# With 0, the function is called as ever; what fexit sees is the change
	ok attach b fexit security_file_ioctl
	equal "ioctl" "$(bpf ioctl 4660 22136)" -1
	equal "fexit" "$(bpf seen b | cut -d' ' -f1,3-)" "1 4660 22136 -1"
	ok detach a
	ok attach a fmod_ret security_file_ioctl 0
	equal "ioctl" "$(bpf ioctl 4660 22136)" -25
	equal "fexit" "$(bpf seen b | cut -d' ' -f1,3-)" "1 4660 22136 0"
	equal "fmod_ret" "$(bpf seen a | cut -d' ' -f1,3-)" "1 4660 22136 0"
	ok detach b
	ok detach a
	equal "ioctl" "$(bpf ioctl 4660 22136)" -25
	nothing_attached
}

the_kernels_own_function_for_fmod_ret()
{
	start
	# It calls two functions: how many of them ran (upper half), and the sum of
	# what they return, 4 and 29
	ok attach a fmod_ret bpf_modify_return_test 0
	equal "run" "$(bpf run a)" $((0x20000 + 4 + 29))
	ok detach a
	ok attach a fmod_ret bpf_modify_return_test -22
	equal "run" "$(bpf run a)" $((0x10000 - 22 + 29))
	equal "seen" "$(bpf seen a | cut -d' ' -f1,2)" "1 1"
	ok detach a
	nothing_attached
}

# Two grace periods, of a sixth of a second together, for each function
detaching_waits_for_no_task_to_leave()
{
	local i
	[ -e kprobe_events ] || skip "no kprobe_events"
	start
	for i in '' _rude; do
		echo "p:wait$i synchronize_rcu_tasks$i" >> kprobe_events ||
			skip "no synchronize_rcu_tasks$i()"
	done
	# What is freed meanwhile, others wait for.
	echo "common_pid == $bpf_pid" > events/kprobes/filter
	ok attach a fentry ksys_lseek
	ok attach b fentry vfs_read
	echo > trace
	echo 1 > events/kprobes/enable
	ok detach a
	ok detach b
	echo 0 > events/kprobes/enable
	equal "waits" "$(grep -c ' wait.*: ' trace)" 0
	echo > kprobe_events
	nothing_attached
}

# After those who were preempted in front of it have got to it, those who sleep in it leave.
a_sleepable_program_waits_for_tasks_in_it()
{
	[ -e kprobe_events ] || skip "no kprobe_events"
	start
	[ "$(bpf attach a fentry.s bpf_fentry_test1)" = ok ] || skip "no sleepable programs"
	echo 'p:entry call_rcu_tasks_trace func=%si:symbol' > kprobe_events ||
		skip "no call_rcu_tasks_trace()"
	equal "run" "$(bpf run a)" 0
	equal "seen" "$(bpf seen a)" "1 1"
	echo > trace
	echo 1 > events/kprobes/entry/enable
	ok detach a
	within 60 grep -q 'func=__bpf_prog_put_rcu' trace || :
	equal "waits" "$(grep -c 'func=__bpf_prog_put_rcu' trace)" 1
	remove_kprobe
	nothing_attached
}

refused()
{
	start
	equal "no such function" "$(bpf attach a fentry no_such_function)" \
		"No such file or directory"
	equal "not to be changed" "$(bpf attach a fmod_ret ksys_lseek 1)" "Invalid argument"
	nothing_attached
	equal "lseek" "$(bpf lseek 4660)" 4660
}

# The four that share ksys_lseek
switch()
{
	case $1 in
	tracer+) echo ksys_lseek > set_ftrace_filter; echo function > current_tracer ;;
	tracer-) echo nop > current_tracer; echo > set_ftrace_filter ;;
	kprobe+) echo 'p:entry ksys_lseek' > kprobe_events; echo 1 > events/kprobes/entry/enable ;;
	kprobe-) remove_kprobe ;;
	fentry+) ok attach a fentry ksys_lseek ;;
	fentry-) ok detach a ;;
	fexit+) ok attach b fexit ksys_lseek ;;
	fexit-) ok detach b ;;
	esac
}

# Each that is on sees one call with its arguments, each that is off none
check_all()
{
	local n=$1
	echo > trace
	equal "lseek ($on)" "$(bpf lseek "$n")" "$n"
	case $on in
	*tracer*) equal "tracer ($on)" "$(grep -c -- "-$bpf_pid .*: ksys_lseek <-" trace)" 1 ;;
	*) equal "tracer ($on)" "$(grep -c ': ksys_lseek <-' trace)" 0 ;;
	esac
	case $on in
	*kprobe*) equal "kprobe ($on)" "$(grep -c -- "-$bpf_pid .*: entry: (ksys_lseek+0x" trace)" 1 ;;
	*) equal "kprobe ($on)" "$(grep -c ': entry: ' trace)" 0 ;;
	esac
	case $on in *fentry*) equal "fentry ($on)" "$(bpf seen a)" "1 $file $n 0" ;; esac
	case $on in *fexit*) equal "fexit ($on)" "$(bpf seen b)" "1 $file $n 0 $n" ;; esac
	case $on in
	' ') nothing_attached ;;
	*) equal "enabled ($on)" "$(enabled)" ksys_lseek ;;
	esac
}

# walk FIRST SECOND THIRD FOURTH: switches one at a time on or off, so that each
# combination of them is there once (a Gray code)
walk()
{
	local names=("$@") n=0 i
	on=' '
	for i in 0 1 0 2 0 1 0 3 0 1 0 2 0 1 0 3; do
		i=${names[$i]}
		case $on in
		*" $i "*) switch "$i-"; on=${on/ $i / } ;;
		*) switch "$i+"; on="$on$i " ;;
		esac
		n=$((n + 1))
		check_all $((1000 + n))
	done
	equal "on at the end" "$on" ' '
}

beside_others_the_tracer_most_often()
{
	start
	walk tracer fentry kprobe fexit
}

beside_others_a_program_most_often()
{
	start
	walk fentry kprobe fexit tracer
}

beside_others_the_kprobe_most_often()
{
	start
	walk kprobe fexit tracer fentry
}

with_everything_traced()
{
	start
	echo function > current_tracer
	ok attach a fentry ksys_lseek
	ok attach b fexit ksys_lseek
	equal "lseek" "$(bpf lseek 77)" 77
	echo 0 > tracing_on
	equal "fentry" "$(bpf seen a)" "1 $file 77 0"
	equal "fexit" "$(bpf seen b)" "1 $file 77 0 77"
	grep -q -- "-$bpf_pid .*: ksys_lseek <-" trace || fail "not in the trace"
	equal "enabled" "$(enabled | wc -w)" "$(nr_available)"
	echo nop > current_tracer
	equal "enabled" "$(enabled)" ksys_lseek
	equal "lseek" "$(bpf lseek 78)" 78
	equal "fentry" "$(bpf seen a)" "1 $file 78 0"
	ok detach a
	ok detach b
	nothing_attached
}

# The process that has attached them goes, and they with it.
killed_with_programs_attached()
{
	start
	ok attach a fentry ksys_lseek
	ok attach b fexit ksys_lseek
	ok attach c fmod_ret security_file_ioctl -1
	equal "enabled" "$(enabled)" "ksys_lseek security_file_ioctl"
	kill -KILL "$bpf_pid"
	wait "$bpf_pid" || :
	within 60 none_enabled || :
	nothing_attached
}

# field EVENT NAME: its offset and its size, in bytes
field() { event_fields "$1" | sed -n "s/^$2 //p"; }

# A marker is attached to by its name, as a tracepoint is.
the_event_of_a_marker()
{
	local format=events/named/equals
	start
	[ -e available_markers ] || skip "no markers"
	[ -e "$HERE/test_modules/markers_named.ko" ] || skip "no module markers_named"
	trap 'stop_jobs; rmmod markers_named' EXIT
	insmod "$HERE/test_modules/markers_named.ko"
	ok event a "$(< $format/id) $(field named/equals len)"
	equal "state" "$(sed -n 's/^named:equals \([a-z]*\) .*/\1/p' available_markers)" on
	equal "what it is" "$(bpf of a)" "tracepoint equals"
	taskset -c 0 bash -c 'printf word > /sys/module/markers_named/parameters/pass'
	equal "seen" "$(bpf seen a)" "1 4"
	taskset -c $(($(nproc) - 1)) bash -c 'printf longer > /sys/module/markers_named/parameters/pass'
	equal "seen on the last CPU" "$(bpf seen a)" "1 6"
	equal "beyond its fields" "$(bpf event b "$(< $format/id)" 64 4)" "Permission denied"
	ok event c "$(< events/named/quoted/id) $(field named/quoted at)"
	printf word > /sys/module/markers_named/parameters/pass
	equal "a long" "$(bpf seen c)" "1 16"
	ok detach a
	ok detach c
	equal "state afterwards" "$(sed -n 's/^named:equals \([a-z]*\) .*/\1/p' available_markers)" off
}

an_event_without_fields()
{
	start
	modprobe marker_sample 2> /dev/null || skip "no module marker_sample"
	trap 'stop_jobs; rmmod marker_sample' EXIT
	equal "beyond its header" "$(bpf event a "$(< events/sample/init/id)" 8 4)" \
		"Permission denied"
}

run_tests arguments return_values all_arguments changed_return_values \
	the_kernels_own_function_for_fmod_ret detaching_waits_for_no_task_to_leave \
	a_sleepable_program_waits_for_tasks_in_it refused \
	beside_others_the_tracer_most_often beside_others_a_program_most_often \
	beside_others_the_kprobe_most_often with_everything_traced \
	killed_with_programs_attached the_event_of_a_marker an_event_without_fields
