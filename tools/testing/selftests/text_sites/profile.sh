#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The function profiler's files trace_stat/function_latency*: how long functions took.

. "$(dirname "$0")/failing_functions.sh"

FILE=trace_stat/function_latency
SLEEP=20000000	# ns

# start FUNCTION...: only these are profiled, from now on
start()
{
	[ -e $FILE ] || skip "no function profiler with times"
	trap 'stop_jobs; stop; echo 1 > options/graph-time; echo sort=total > $FILE' EXIT
	printf '%s\n' "$@" > set_ftrace_filter
	echo 1 > function_profile_enabled
}

stop() { echo 0 > function_profile_enabled; }

# sleeps NUMBER [CPU]: so many calls of hrtimer_nanosleep(), each of which calls do_nanosleep()
sleeps()
{
	for _ in $(seq "$1"); do taskset -c "${2:-0}" sleep 0.02; done
}

# value FUNCTION total|self|hitcount [sum|min|avg|max] [CPU]; of no function: that of each
value()
{
	awk -v func="$1" -v of="$2" -v key="$3" '
		/ hitcount / { here = func == "" || $1 == func; if (here && of == "hitcount") print $3 }
		here && $1 == of ":" { for (i = 2; i < NF; i += 2) if ($i == key) print $(i + 1) }
	' "$FILE$4"
}

# buckets FUNCTION [CPU]: those with anything, as FROM:TOTAL:SELF
buckets()
{
	awk -v func="$1" '/ hitcount / { here = $1 == func }
		here && /^ *[0-9]+ +[0-9]+ +[0-9]+$/ { print $1 ":" $2 ":" $3 }' "$FILE$2"
}

functions() { sed -n 's/ hitcount .*//p' "$FILE$1"; }

at_least() { [ "$2" -ge "$3" ] || fail "$1: $2, expected $3 at least"; }

what_a_sleep_takes()
{
	local outer inner n t s sum=0 sum_self=0
	start hrtimer_nanosleep do_nanosleep
	sleeps 5
	stop
	equal "calls" "$(value hrtimer_nanosleep hitcount)" 5
	at_least "shortest" "$(value hrtimer_nanosleep total min)" $SLEEP
	at_least "longest" "$(value hrtimer_nanosleep total max)" \
		"$(value hrtimer_nanosleep total avg)"
	at_least "average" "$(value hrtimer_nanosleep total avg)" \
		"$(value hrtimer_nanosleep total min)"
	outer=$(value hrtimer_nanosleep total sum)
	inner=$(value do_nanosleep total sum)
	equal "average" "$(value hrtimer_nanosleep total avg)" $((outer / 5))
	equal "without what it calls" "$(value hrtimer_nanosleep self sum)" $((outer - inner))
	equal "of what calls none" "$(value do_nanosleep self sum)" "$inner"
	while IFS=: read -r n t s; do
		sum=$((sum + t))
		sum_self=$((sum_self + s))
		[ "$t" = 0 ] || at_least "longest" "$(value hrtimer_nanosleep total max)" "$n"
		[ "$t" = 0 ] || at_least "bucket" $((2 * n)) "$(value hrtimer_nanosleep total min)"
	done < <(buckets hrtimer_nanosleep)
	equal "all in buckets" "$sum $sum_self" "5 5"
}

# A function between the two is traced, but not profiled. Each of the users that fgraph can have
# is the profiler once.
another_tracer_in_between()
{
	local _
	start ksys_read proc_reg_read_iter
	mkdir instances/between
	echo vfs_read > instances/between/set_ftrace_filter
	echo function_graph > instances/between/current_tracer
	for _ in $(seq 16); do
		echo 0 > function_profile_enabled
		echo 1 > function_profile_enabled
		cat /proc/version > /dev/null
		echo 0 > function_profile_enabled
		at_least "calls" "$(value proc_reg_read_iter hitcount)" 1
		equal "without what it calls" "$(value ksys_read self sum)" \
			$(($(value ksys_read total sum) - $(value proc_reg_read_iter total sum)))
	done
	grep -q 'vfs_read' instances/between/trace || fail "nothing in between"
}

# A task that was profiled is traced afterwards, whichever user of fgraph the tracer is.
nothing_stays_in_tasks()
{
	local round line
	start ksys_read
	read -r line < /proc/version
	stop
	for round in $(seq 17); do
		echo function_graph > current_tracer
		echo > trace
		read -r line < /proc/version
		[ "$(grep -c "ksys_read" trace)" -gt 0 ] || fail "round $round: nothing"
		echo nop > current_tracer
	done
	echo "$line" > /dev/null
}

the_shorter_profile_has_either_time()
{
	local on of time
	for on in 0 1; do
		echo $on > options/graph-time
		start hrtimer_nanosleep do_nanosleep
		sleeps 2
		stop
		[ $on = 1 ] && of=total || of=self
		# In us, with as many digits as fit
		time=$(awk '$1 == "hrtimer_nanosleep" { print $3 }' trace_stat/function0)
		[[ $time =~ ^[0-9]+(\.[0-9]+)?$ && ${#time} -ge 5 ]] || fail "the time is '$time'"
		equal "graph-time $on" "$time" "$(value hrtimer_nanosleep $of sum |
			awk -v n=${#time} '{ print substr(sprintf("%.3f", $1 / 1000), 1, n) }')"
	done
}

all_is_the_sum_of_the_CPUs()
{
	local last=$(($(nproc) - 1)) key
	[ "$last" -gt 0 ] || skip "one CPU only"
	start hrtimer_nanosleep
	sleeps 2 0
	sleeps 3 $last
	stop
	equal "calls" "$(value hrtimer_nanosleep hitcount '' 0) $(value hrtimer_nanosleep hitcount '' $last) \
$(value hrtimer_nanosleep hitcount)" "2 3 5"
	equal "sum" "$(value hrtimer_nanosleep total sum)" $(($(value hrtimer_nanosleep total sum 0) +
		$(value hrtimer_nanosleep total sum $last)))
	for key in min max; do
		[ $key = min ] && first='-n' || first='-rn'
		equal "$key" "$(value hrtimer_nanosleep total $key)" "$({
			value hrtimer_nanosleep total $key 0
			value hrtimer_nanosleep total $key $last
		} | sort $first | head -n1)"
	done
	equal "buckets" "$(buckets hrtimer_nanosleep | awk -F: '{ n += $2 } END { print n }')" 5
}

sorted_by_each_key()
{
	local key order got
	start 'vfs_*'
	ls -R /proc/1 > /dev/null 2>&1 || :
	sleeps 1
	stop
	at_least "functions" "$(functions | wc -l)" 5
	for key in total self avg min max hitcount; do
		for order in '' .descending .ascending; do
			echo "sort=$key$order" > $FILE
			equal "says" "$(head -n1 $FILE)" \
				"# sort=$key${order:-.descending}, times in ns"
			case $key in
			hitcount) got=$(value '' hitcount) ;;
			total | self) got=$(value '' $key sum) ;;
			*) got=$(value '' total $key) ;;
			esac
			[ "$order" = .ascending ] && order=-n || order=-rn
			equal "$key $order" "$(xargs <<< "$got")" "$(sort $order <<< "$got" | xargs)"
		done
	done
	# A list keeps the order that it had when it was opened, and its header says so.
	exec 9< $FILE
	echo sort=total > $FILE
	equal "sorted when it was opened" "$(head -n1 <&9)" \
		"# sort=hitcount.ascending, times in ns"
	exec 9<&-
}

cleared_while_it_counts()
{
	start hrtimer_nanosleep
	sleeps 3
	echo clear > $FILE
	equal "functions" "$(functions)" ""
	equal "and in function0" "$(grep -c nanosleep trace_stat/function0)" 0
	sleeps 2
	equal "counted again" "$(value hrtimer_nanosleep hitcount)" 2
	stop
	echo clear > ${FILE}0
	equal "off" "$(functions)" ""
	start hrtimer_nanosleep
	sleeps 1
	equal "on again" "$(value hrtimer_nanosleep hitcount)" 1
	load &
	for _ in $(seq 20); do echo clear > $FILE; done
	stop
}

# workers_fail 1|0: do allocations fail in the kernel's workers, which get more memory? With 0, in
# no task: all that kthreadd made meanwhile have it from there, or will be workers.
workers_fail()
{
	local comm worker
	echo "$1" > /proc/2/make-it-fail
	for comm in /proc/[0-9]*/comm; do
		worker=${comm%comm}
		[[ $1 = 1 && $(cat "$comm" 2> /dev/null) != kworker/* ]] ||
			echo "$1" > "${worker}make-it-fail" 2> /dev/null || :
	done
}

no_memory() { dmesg | grep -c 'no memory for the latency of more functions' || :; }

# histograms CPU: how many functions have one
histograms() { functions "$1" | wc -l; }

# A CPU that has used all of its memory, and more functions than that
full_cpu()
{
	local cpu nr
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		nr=$(histograms "$cpu")
		if [ "$nr" -gt 0 ] && [ $((nr % 512)) -eq 0 ] &&
		   [ "$(tail -n +3 "trace_stat/function$cpu" | wc -l)" -gt "$nr" ]; then
			echo "$cpu"
			break
		fi
	done
}

# Before any test for which there is more memory than at first
no_memory_for_more_functions()
{
	local _ cpu='' nr before
	[ -e $FILE ] || skip "no function profiler with times"
	begin_failing
	before=$(no_memory)
	trap 'workers_fail 0; stop_jobs; stop' EXIT
	workers_fail 1
	echo 1 > function_profile_enabled
	load &
	for _ in $(seq 60); do
		sleep 0.5
		[ "$(histograms 0)" -le 512 ] || skip "memory is left from an earlier profile"
		[ "$(no_memory)" != "$before" ] || continue
		cpu=$(full_cpu)
		[ -z "$cpu" ] || break
	done
	[ -n "$cpu" ] || fail "no CPU has used its memory: $(histograms 0) functions"
	nr=$(histograms "$cpu")
	workers_fail 0
	# Some have none, though there is memory again; their calls are counted.
	sleep 5
	equal "functions with a histogram" "$(histograms "$cpu")" "$nr"
	equal "messages" "$(no_memory)" $((before + 1))
	echo clear > $FILE
	for _ in $(seq 60); do
		sleep 0.5
		[ "$(histograms "$cpu")" -le "$nr" ] || break
	done
	stop
	at_least "functions after clear" "$(histograms "$cpu")" $((nr + 1))
	equal "messages" "$(no_memory)" $((before + 1))
}

# more_functions_than NUMBER: CPU 0 has called more functions than that
more_functions_than() { [ "$(functions 0 | wc -l)" -gt "$1" ]; }

# More than there is memory for at first
many_functions()
{
	local nr
	start '*'
	load &
	within 60 more_functions_than 600 || :
	nr=$(functions 0 | wc -l)
	at_least "functions" "$nr" 600
	echo clear > $FILE
	within 60 more_functions_than 100 || :
	stop
	nr=$(functions 0 | wc -l)
	at_least "functions, the second time" "$nr" 100
	equal "no function twice" "$(functions | sort | uniq -d)" ""
}

bad_words_are_refused()
{
	local word
	start hrtimer_nanosleep
	echo sort=max.ascending > $FILE
	sleeps 1
	stop
	for word in '' x clea clearx sort sort= sort=x sort=maxx sort=max. sort=max.up \
			sort=max.ascendingx 'clear clear' "sort=$(printf '%100s' max)"; do
		echo > error_log
		expect_error "'$word'" "Invalid argument" $FILE "$word"
		grep -q 'function_latency: error: Neither clear nor sort=' error_log ||
			fail "'$word': no message"
	done
	equal "order" "$(head -n1 $FILE)" "# sort=max.ascending, times in ns"
	equal "calls" "$(value hrtimer_nanosleep hitcount)" 1
}

run_tests no_memory_for_more_functions what_a_sleep_takes another_tracer_in_between \
	nothing_stays_in_tasks the_shorter_profile_has_either_time all_is_the_sum_of_the_CPUs \
	sorted_by_each_key cleared_while_it_counts many_functions bad_words_are_refused
