#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# graph_keep: function_graph writes the calls inside of an outermost function only if the value
# that it returns, or how long it took, matches.

. "$(dirname "$0")/functions.sh"

OPEN=do_sys_openat2
INNER=do_filp_open
SLEEP=hrtimer_nanosleep

# begin FILTER FUNCTION...: trace these
begin()
{
	local filter=$1
	shift
	[ -e graph_keep ] || skip "no graph_keep"
	trap 'stop_jobs; end' EXIT
	printf '%s\n' "$@" > set_ftrace_filter
	echo "$filter" > graph_keep
	echo function_graph > current_tracer
}

end()
{
	echo nop > current_tracer
	echo > graph_keep
	echo 0 > max_graph_depth
	echo > set_graph_notrace
	echo 1 > options/sleep-time
	echo 0 > options/funcgraph-tail
	echo 0 > options/funcgraph-proc
	echo 1408 > buffer_size_kb
}

need_values() { [ -e options/funcgraph-retval ] || skip "no values of functions"; }

# calls [FOLDER]: the lines of functions, without what stands in front of them
calls() { sed -nE 's/^ *[0-9]+\) [^|]*\|  //p' "${1:-.}/trace"; }

# count PATTERN [FOLDER]: how many lines are that
count() { calls "${2:-.}" | grep -cxE " *($1)" || :; }

# used [FOLDER]: how many pages have trees in them
used() { sed -n 's/^# \([0-9]*\) of .*/\1/p' "${1:-.}/graph_keep"; }

none_are_used() { [ "$(used)" = 0 ]; }

# Programs that still run may open something.
all_are_given_back() { within 60 none_are_used || fail "pages in use: $(used)"; }

# Where error messages go, without opening anything
exec 7> /dev/null

# fail_to_open NUMBER: this shell does
fail_to_open()
{
	local i
	for ((i = 0; i < $1; i++)); do
		{ : < /no_such_file; } 2>&7 || :
	done
}

succeed_to_open()
{
	local i
	for ((i = 0; i < $1; i++)); do
		: < /proc/version
	done
}

# trees NUMBER [FOLDER]: all there is are so many calls of $OPEN with one of $INNER each
trees()
{
	equal "outermost functions" "$(count "$OPEN\(\) \{" "${2:-.}")" "$1"
	equal "functions inside" "$(count "$INNER\(\);" "${2:-.}")" "$1"
	equal "returns" "$(count '\}' "${2:-.}")" "$1"
	equal "lines" "$(calls "${2:-.}" | wc -l)" "$((3 * $1))"
}

failing_calls_and_nothing_else()
{
	need_values
	echo $BASHPID > set_ftrace_pid
	begin 'ret < 0' $OPEN $INNER
	succeed_to_open 50
	fail_to_open 3
	succeed_to_open 50
	trees 3
	equal "pages in use" "$(used)" 0
	equal "filter" "$(head -n1 graph_keep)" 'ret < 0'
	echo 'ret >= 0' > graph_keep
	echo > trace
	fail_to_open 50
	succeed_to_open 4
	# One more opened the trace, which was then emptied.
	trees 5
}

# The value of a pointer, of a long, and an error in an int
values()
{
	need_values
	echo $BASHPID > set_ftrace_pid
	begin 'ret == -2' $INNER $OPEN
	fail_to_open 2
	trees 2
	echo > trace
	echo $INNER > set_graph_function
	fail_to_open 2
	equal "functions that return a pointer" "$(count "$INNER\(\);")" 2
	echo vfs_statx > set_ftrace_filter
	echo > set_graph_function
	echo > set_ftrace_pid
	[ "$(filter)" = vfs_statx ] || skip "no vfs_statx"
	echo > trace
	stat /no_such_file 2> /dev/null || :
	[ "$(count 'vfs_statx\(\);')" -gt 0 ] || fail "no function that returns an int"
}

# Three sleeps; fails if a busy host has made one of them long
short_sleeps()
{
	local i start
	for i in 1 2 3; do
		start=${EPOCHREALTIME/./}
		sleep 0.001
		[ $((${EPOCHREALTIME/./} - start)) -lt 400000 ] || return
	done
}

what_takes_long()
{
	local i text
	for text in 'duration > 400ms' 'duration > 400000us' 'duration>400000000' \
		'(duration >= 400000000ns && duration < 90s)'; do
		begin "$text" $SLEEP do_nanosleep
		for i in $(seq 10); do
			echo > trace
			! short_sleeps || break
		done
		sleep 0.5
		equal "$text" "$(count "$SLEEP\(\) \{|do_nanosleep\(\);|\}")" 3
		equal "filter" "$(head -n1 graph_keep)" "$text"
	done
	# Without the time that it has slept, it takes next to nothing.
	echo 0 > options/sleep-time
	echo > trace
	sleep 0.5
	equal "lines" "$(calls | wc -l)" 0
}

functions_and_tasks_by_name()
{
	begin "func.function == $OPEN && comm == \"head\"" $OPEN $INNER
	head -c 1 /proc/version > /dev/null
	tail -c 1 /proc/version > /dev/null
	echo 0 > tracing_on
	[ "$(count "$OPEN\(\) \{")" -gt 0 ] || fail "nothing"
	equal "other tasks" "$(echo 1 > options/funcgraph-proc; grep -c 'tail-' trace;
		echo 0 > options/funcgraph-proc)" 0
}

tasks_at_a_time()
{
	local _
	need_values
	begin 'ret == -2' $OPEN $INNER
	for _ in 1 2 3 4; do
		{ for _ in $(seq 100); do fail_to_open 1; succeed_to_open 1; done; } &
	done
	wait
	echo 0 > tracing_on
	# Another program may fail to open something meanwhile.
	[ "$(count "$OPEN\(\) \{|[a-z].*=> .*")" -ge 400 ] || fail "too few: $(count "$OPEN\(\) \{")"
	equal "functions inside" "$(count "$INNER\(\);")" "$(count "$OPEN\(\) \{")"
	equal "returns" "$(count '\}')" "$(count "$OPEN\(\) \{")"
	equal "pages in use" "$(used)" 0
}

# pairs OUTERMOST TRACE: what is wrong with a trace that has tasks and the functions of closing
# braces: in each task, what returns is what was called last, and in none is there another
# outermost one
pairs()
{
	awk -v outermost="$1" -F'|' '
		!/^ *[0-9]+\) / || $0 !~ /(\(\) \{|\(\);|\} \/\* .* \*\/)$/ { next }
		{
			task = $1; sub(/^ *[0-9]+\) +/, "", task); sub(/ +$/, "", task)
			text = $NF; sub(/^  /, "", text)
			match(text, /^ */)
			deep = RLENGTH / 2
			name = substr(text, RLENGTH + 1)
		}
		name ~ /^\}/ {
			gsub(/^\} \/\* | \*\/$/, "", name)
			if (deep != --depth[task] || name != stack[task, deep])
				print task ": " name " returns from " stack[task, deep]
			next
		}
		{
			leaf = name ~ /;$/
			sub(/\(.*/, "", name)
			if (deep != depth[task] + 0 || (!deep && name != outermost))
				print task ": " name " is called in " depth[task] + 0
			if (!leaf)
				stack[task, depth[task]++] = name
		}
		END { for (task in depth) if (depth[task]) print task ": does not return" }' "$2"
}

# What load() has started last may go on without it.
load_has_ended() { ! grep -qxsE 'ls|cat' /proc/[0-9]*/comm; }

# With all functions, and what interrupts them: each that is called returns.
whole_trees_with_interrupts()
{
	local roots wrong _
	need_values
	echo 32000 > buffer_size_kb
	echo $OPEN > set_graph_function
	begin 'ret == -2' '*'
	trap 'stop_jobs; end; rm -f /tmp/whole_trees' EXIT
	echo 1 > options/funcgraph-tail
	echo 1 > options/funcgraph-proc
	# Few at a time: on a slow host, many ticks of the timer come in each tree.
	for _ in 1 2 3 4; do
		echo > trace
		echo 1 > tracing_on
		load &
		load &
		fail_to_open 25
		# A tree that is being written then would end anywhere.
		stop_jobs
		within 60 load_has_ended || fail "the load goes on"
		echo 0 > tracing_on
		# The first tree would begin anywhere.
		! grep -qE '^overrun: [1-9]' per_cpu/cpu*/stats || fail "the buffer is too small"
		# The kernel takes long to print it.
		cat trace > /tmp/whole_trees
		roots=$(grep -cE "\|  $OPEN\(\) \{" /tmp/whole_trees) || :
		if [ "$roots" -lt 25 ]; then
			cat per_cpu/cpu*/stats
			head -n 40 /tmp/whole_trees
			tail -n 40 /tmp/whole_trees
			fail "too few: $roots in $(wc -l < /tmp/whole_trees) lines," \
				"read again: $(grep -cE "\|  $OPEN\(\) \{" trace)"
		fi
		wrong=$(pairs $OPEN /tmp/whole_trees)
		[ -z "$wrong" ] || fail "$(head -n3 <<< "$wrong")"
		! grep -q 'are missing' /tmp/whole_trees ||
			fail "$(grep -m1 'are missing' /tmp/whole_trees)"
	done
}

# A page that interrupts fill at once: the tree ends with its outermost function as ever.
whole_trees_in_a_page()
{
	local wrong
	need_values
	echo 4 > buffer_size_kb
	echo $OPEN > set_graph_function
	begin 'ret == -2' '*'
	load &
	load &
	fail_to_open 300
	stop_jobs
	within 60 load_has_ended || fail "the load goes on"
	all_are_given_back
	echo 1 > options/funcgraph-tail
	echo 1 > options/funcgraph-proc
	printf '%s\n' $OPEN $INNER > set_ftrace_filter
	echo > trace
	fail_to_open 5
	echo 0 > tracing_on
	[ "$(grep -cE "\|  $OPEN\(\) \{" trace)" -ge 5 ] || fail "too few: $(calls)"
	wrong=$(pairs $OPEN trace)
	[ -z "$wrong" ] || fail "$(head -n3 <<< "$wrong")"
}

three_lines() { [ "$(calls | wc -l)" -ge 3 ]; }

a_task_that_sleeps_in_a_tree()
{
	need_values
	begin 'comm == "cat" && ret == 5' ksys_read vfs_read
	mkfifo /tmp/fifo
	# shellcheck disable=SC2064 # the file as it is now
	trap 'stop_jobs; end; rm -f /tmp/fifo' EXIT
	exec 9<> /tmp/fifo
	cat /tmp/fifo > /dev/null &
	within 60 is_asleep $! cat || fail "it does not wait"
	# The program that reads the file uses one itself.
	[ "$(used)" -ge 2 ] || fail "no page in use"
	equal "lines" "$(calls | wc -l)" 0
	# This has no effect, also on what is in a tree.
	echo 1000000 > tracing_thresh
	echo 0 > tracing_thresh
	printf 12345 >&9
	within 60 three_lines || :
	equal "lines" "$(count 'ksys_read\(\) \{|vfs_read\(\);|\}')" 3
	exec 9>&-
}

restricted_as_ever()
{
	need_values
	echo $BASHPID > set_ftrace_pid
	begin 'ret < 0' $OPEN $INNER path_openat
	echo 2 > max_graph_depth
	fail_to_open 2
	trees 2
	echo 0 > max_graph_depth
	echo $INNER > set_graph_notrace
	echo > trace
	fail_to_open 2
	equal "without what is not to be followed" "$(calls | sort | uniq -c | xargs)" "2 $OPEN();"
	echo > set_graph_notrace
	echo > trace
	fail_to_open 1
	equal "all" "$(calls | wc -l)" 5
	echo 0 > tracing_on
	echo > trace
	fail_to_open 2
	equal "with tracing off" "$(calls | wc -l)" 0
	echo 1 > tracing_on
	echo 1 > set_ftrace_pid
	fail_to_open 2
	equal "of another task" "$(calls | wc -l)" 0
	equal "pages in use" "$(used)" 0
}

# A task in a function that it is not followed into, when this ends: until that returns, not.
not_followed_until_it_returns()
{
	local sleeper nothing

	begin 'duration > 400ms' $SLEEP do_nanosleep hrtimer_try_to_cancel hrtimer_start_range_ns
	grep -q hrtimer_try_to_cancel set_ftrace_filter || skip "no hrtimer_try_to_cancel"
	echo do_nanosleep > set_graph_notrace
	exec {nothing}<> <(:)
	sleep 2 &
	sleeper=$!
	# Not by a sleep: on a slow machine, that could take longer than 400 ms, too.
	while [ -e /proc/$sleeper ] && ! is_asleep $sleeper sleep; do
		read -rt 0.05 -u "$nothing" _ || :
	done
	echo > set_graph_notrace
	wait "$sleeper"
	echo 0 > tracing_on
	equal "calls" "$(calls | xargs)" "$SLEEP();"
}

arguments_and_callers()
{
	need_values
	[ -e options/funcgraph-args ] || skip "no funcgraph-args"
	echo $BASHPID > set_ftrace_pid
	begin 'ret == -2' $OPEN $INNER
	trap 'stop_jobs; echo 0 > options/funcgraph-args; echo 0 > options/funcgraph-retaddr; end' EXIT
	echo 1 > options/funcgraph-args
	fail_to_open 150
	equal "with arguments" "$(calls | grep -cE "^ *$INNER\((dfd=|0x).*\);")" 150
	echo 1 > options/funcgraph-retaddr
	echo > trace
	fail_to_open 150
	equal "with callers" "$(calls | grep -cE "^ *$INNER\(.*\); /\* <-$OPEN\+0x[0-9a-f]+/.*\*/")" 150
	equal "calls" "$(calls | grep -cE "^$OPEN\(.*\) \{ /\* <-")" 150
}

# A call with very many inside of it; the buffer has room for more than a tree may be.
says_what_is_missing()
{
	local text missing path
	need_values
	begin "ret == -2 && common_pid == $BASHPID" $OPEN
	echo nop > current_tracer
	echo > set_ftrace_filter
	echo $OPEN > set_graph_function
	echo 20 > buffer_size_kb
	path=$(printf '/dev/..%.0s' $(seq 300))/no_such_file
	echo function_graph > current_tracer
	{ : < "$path"; } 2>&7 || :
	echo 0 > tracing_on
	text=$(grep -o 'graph_keep: .* missing: .*' trace) || fail "not said: $(calls | tail -n3)"
	missing=$(sed -nE "s/^graph_keep: ([0-9]+) calls in $OPEN are missing: too many.*/\1/p" \
		<<< "$text")
	[ "${missing:-0}" -gt 0 ] || fail "$text"
	equal "calls" "$(calls | grep -cE "^$OPEN\(\) \{")" 1
	equal "returns" "$(calls | grep -cE '^\}')" 1
	equal "calls and returns" "$(calls | grep -c '{$')" "$(calls | grep -c '}$')"
}

# Tasks that sleep have all the pages.
says_what_is_lost()
{
	local i all
	need_values
	begin "ret == -2 && common_pid == $BASHPID" ksys_read vfs_read $OPEN $INNER
	echo nop > current_tracer
	echo 4 > buffer_size_kb
	echo function_graph > current_tracer
	all=$(sed -n 's/^# .* of \([0-9]*\) pages.*/\1/p' graph_keep)
	mkfifo /tmp/fifo
	trap 'stop_jobs; end; rm -f /tmp/fifo' EXIT
	exec 9<> /tmp/fifo
	# A cat that starts while another program reads may get no page; a later cat gets that page.
	for ((i = 0; i < 2 * all; i++)); do
		cat /tmp/fifo > /dev/null &
		within 60 is_asleep $! cat || fail "it does not wait"
	done
	equal "pages in use" "$(used)" "$all"
	echo > trace
	fail_to_open 1
	echo 0 > tracing_on
	grep -q "graph_keep: 1 calls in $OPEN are missing: no memory" trace || fail "not said: $(calls)"
	equal "outermost functions" "$(count "$OPEN\(\) \{")" 1
	stop_jobs
	exec 9>&-
	all_are_given_back
	echo 1 > tracing_on
	echo > trace
	fail_to_open 1
	trees 1
}

a_task_that_exits_in_a_tree()
{
	local i
	# shellcheck disable=SC2046 # each a word; those that this kernel has
	begin 'duration > 100s' $(grep -xE 'do_exit|do_group_exit|exit_[a-z]*|do_task_dead|acct_[a-z]*' \
		available_filter_functions)
	for i in $(seq 30); do ( : ); done
	sleep 0.5
	equal "pages in use" "$(used)" 0
	# These are not in a tree yet when the task exits.
	grep -xE 'exit_notify|do_task_dead' set_ftrace_filter > set_graph_function
	for i in $(seq 30); do ( : ); done
	sleep 0.5
	equal "pages in use" "$(used)" 0
}

# With all functions, the filter may call some: on 32-bit x86, it compares strings so.
the_filter_is_traced_itself()
{
	begin 'comm == "cat" || comm == "no_such"' '*'
	echo 16000 > buffer_size_kb
	cat /proc/version > /dev/null
	echo 0 > tracing_on
	[ "$(calls | wc -l)" -gt 0 ] || fail "nothing"
}

# What one consists of does not return until it ends; what that calls is outermost.
kernel_threads()
{
	modprobe -n trace-events-sample 2> /dev/null || skip "no trace-events-sample"
	grep -qx kthread available_filter_functions || skip "kthread() cannot be traced"
	begin 'comm == "event-sample" && duration > 1ms' kthread schedule_timeout
	modprobe trace-events-sample
	sleep 3
	modprobe -r trace-events-sample
	[ "$(count 'schedule_timeout\(\);')" -gt 0 ] || fail "nothing: $(calls)"
	sleep 0.5
	equal "functions of threads" "$(calls | grep -c kthread)" 0
}

# Nor does what a thread consists of that serves a process.
threads_of_processes()
{
	grep -qx io_sq_thread available_filter_functions || skip "no io_sq_thread()"
	begin 'duration > 100s' io_sq_thread
	mkfifo /tmp/fifo
	trap 'stop_jobs; end; rm -f /tmp/fifo /tmp/ready' EXIT
	exec 9<> /tmp/fifo
	"$HERE/sq_thread" < /tmp/fifo > /tmp/ready 9>&- &
	within 60 test -s /tmp/ready || :
	equal "the thread" "$(< /tmp/ready)" ready
	sleep 0.2
	equal "pages in use" "$(used)" 0
	exec 9>&-
}

# The idle task of a CPU that comes does not return from where it begins.
processors_go_and_come()
{
	local online=/sys/devices/system/cpu/cpu1/online
	[ -w $online ] || skip "no CPU that can go offline"
	grep -qx cpu_startup_entry available_filter_functions ||
		skip "cpu_startup_entry() cannot be traced"
	begin 'duration > 100s' cpu_startup_entry
	echo 0 > $online
	echo 1 > $online
	sleep 0.2
	equal "pages in use" "$(used)" 0
	echo > set_ftrace_filter
	echo 0 > $online
	echo 1 > $online
	echo 'duration >= 0' > graph_keep
	echo > trace
	sleep 0.2
	echo 0 > tracing_on
	grep -q '^ *1)' trace || fail "nothing of the CPU that came"
}

in_instances()
{
	need_values
	echo $BASHPID > set_ftrace_pid
	begin 'ret < 0' $OPEN $INNER
	mkdir instances/keep
	equal "filter" "$(cat instances/keep/graph_keep)" none
	printf '%s\n' $OPEN $INNER > instances/keep/set_ftrace_filter
	echo $BASHPID > instances/keep/set_ftrace_pid
	echo 'ret >= 0' > instances/keep/graph_keep
	echo function_graph > instances/keep/current_tracer
	succeed_to_open 3
	fail_to_open 2
	trees 2
	trees 3 instances/keep
	echo nop > current_tracer
	succeed_to_open 2
	# One more opened current_tracer.
	trees 6 instances/keep
	equal "pages in use" "$(used instances/keep)" 0
	# With the tracer in use, it is removed as well.
	rmdir instances/keep
}

beside_function_graph()
{
	need_values
	echo $BASHPID > set_ftrace_pid
	begin 'ret < 0' $OPEN $INNER
	mkdir instances/keep
	echo $OPEN > instances/keep/set_ftrace_filter
	echo $BASHPID > instances/keep/set_ftrace_pid
	echo function_graph > instances/keep/current_tracer
	succeed_to_open 3
	fail_to_open 2
	trees 2
	equal "all of them" "$(count "$OPEN\(\);" instances/keep)" 5
}

switched_under_load()
{
	local i
	begin 'duration > 100s' '*'
	load &
	load &
	for i in $(seq 8); do
		echo "duration > ${i}00s" > graph_keep
		sleep 0.1
		echo 0 > graph_keep
		sleep 0.1
		echo nop > current_tracer
		echo "duration > ${i}00s || duration < 0" > graph_keep
		echo function_graph > current_tracer
		sleep 0.1
	done
	stop_jobs
	echo > trace
	sleep 0.2
	equal "lines" "$(calls | wc -l)" 0
	equal "filter" "$(head -n1 graph_keep)" 'duration > 800s || duration < 0'
	echo 'duration >= 0' > graph_keep
	sleep 0.2
	[ "$(calls | wc -l)" -gt 0 ] || fail "nothing with a filter that matches"
}

wrong_input()
{
	local text before
	need_values
	begin 'duration > 1s' $OPEN
	before=$(head -n1 graph_keep)
	for text in 'ret' 'ret <' 'ret < 0 &&' 'value < 0' 'duration > 1h' 'duration > 1.5ms' \
		'duration > 99999999999999999999s' 'duration > 20000000000s' 'duration > ms' \
		'ret < "0"' 'func.function == no_such_function' '(ret < 0' 'ret ~ "x"'; do
		echo > error_log
		expect_error "$text" "Invalid argument" graph_keep "$text"
		grep -q 'event filter parse error' error_log || fail "$text: not in error_log"
		equal "after $text" "$(head -n1 graph_keep)" "$before"
	done
	text="ret < 0$(printf '%05000d' 0)"
	expect_error "a long one" "Invalid argument" graph_keep "$text"
	text=$(printf 'duration < 1000s || %.0s' $(seq 202))"ret < 0"
	expect_error "one that is long with its numbers in ns" "Argument list too long" graph_keep "$text"
	equal "after all" "$(head -n1 graph_keep)" "$before"
	echo > error_log
	echo 0 > graph_keep
	equal "none" "$(cat graph_keep)" none
	# All calls are written again.
	fail_to_open 1
	[ "$(count "$OPEN\(\);")" -gt 0 ] || fail "nothing"
}

tools_read_them()
{
	local dir text
	need_values
	begin 'ret == -2' $OPEN $INNER
	command -v trace-cmd > /dev/null || skip "no trace-cmd"
	! cat /no_such_file 2> /dev/null || fail "there is such a file"
	dir=$(mktemp -d)
	extract "$dir/dat"
	rm -r "$dir"
	grep -qE "funcgraph_entry: .*$OPEN\(\) \{" <<< "$text" || fail "no call: $text"
	grep -qE "funcgraph_entry: .*$INNER\(\);" <<< "$text" || fail "no call inside: $text"
	grep -qE 'funcgraph_exit: .*\}' <<< "$text" || fail "no return: $text"
}

run_tests failing_calls_and_nothing_else values what_takes_long functions_and_tasks_by_name \
	tasks_at_a_time whole_trees_with_interrupts whole_trees_in_a_page \
	a_task_that_sleeps_in_a_tree restricted_as_ever not_followed_until_it_returns \
	arguments_and_callers says_what_is_missing says_what_is_lost \
	the_filter_is_traced_itself \
	a_task_that_exits_in_a_tree kernel_threads threads_of_processes processors_go_and_come \
	in_instances beside_function_graph switched_under_load \
	wrong_input tools_read_them
