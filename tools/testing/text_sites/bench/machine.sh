#!/bin/bash
# machine.sh PART: runs in the machine, whose time is the number of instructions
# executed; measures what function tracing costs, one "KEY<tab>VALUE" a line.
# PART is one of parts.tab, or `guard`; what is behind a dash in it is a parameter.
set -eu
TESTS=/kselftest/text_sites
COST=/sys/kernel/debug/function_cost
JUMP_COST=/sys/kernel/debug/jump_cost
IMMEDIATE_COST=/sys/kernel/debug/immediate_cost
MARKER_COST=/sys/kernel/debug/marker_cost
cd /sys/kernel/tracing

put() { printf '%s\t%s\n' "$1" "$2"; }
# per_call KEY CYCLES: of a thousand calls
per_call() { put "$1" "$(awk -v c="$2" 'BEGIN { printf "%.1f", c / 1000 }')"; }
clean() { echo nop >current_tracer; echo >set_ftrace_filter; echo >trace; }
traced() { grep -vc '^#' set_ftrace_filter || :; }

# least A B: the smaller one, if there is an A
least() { [ -n "$1" ] && [ "$1" -le "$2" ] && echo "$1" || echo "$2"; }

# syncs KEY COMMAND: how often it has all processors serialise
syncs()
{
	# With the first event tracing also begins to note the names of tasks.
	echo 1 >events/sched/sched_process_exec/enable
	echo 'p:sync do_sync_core' >kprobe_events
	echo 1 >events/kprobes/sync/enable
	# Until the jumps of tracepoints that had probes just before lead to the new ones
	sleep 1
	local before
	before=$(awk '{ print $2 }' kprobe_profile)
	eval "$2"
	# Each processor does it each time.
	put "$1" "$(awk -v before="$before" -v cpus="$(nproc)" '{ print ($2 - before) / cpus }' \
		kprobe_profile)"
	echo 0 >events/enable
	echo >kprobe_events
}

# switch KEY FILTER: the function tracer on and off
switch()
{
	local key=$1 on='' off=''
	echo "$2" >set_ftrace_filter
	[ -z "$2" ] || put "$key.sites" "$(traced)"
	for _ in 1 2 3; do
		on=$(least "$on" "$("$TESTS/cost" current_tracer function)")
		off=$(least "$off" "$("$TESTS/cost" current_tracer nop)")
		# Until what was before has been freed
		sleep 1
	done
	put "$key.on" "$on"
	put "$key.off" "$off"
	syncs "$key.syncs" 'echo function >current_tracer'
	clean
}

# spread NUMBER [ARGUMENT...]: write the addresses of so many functions, out of all whose lines
# grep prints
spread()
{
	local n=$1 all
	shift
	[ $# -gt 0 ] || set -- ''
	grep "$@" available_filter_functions_addrs >/tmp/lines
	all=$(wc -l </tmp/lines)
	[ "$n" != all ] || n=$all
	awk -v all="$all" -v n="$n" 'int(NR * n / all) > int((NR - 1) * n / all) { print $1 }' \
		/tmp/lines >/tmp/sites
	dd if=/tmp/sites of=$COST/sites bs=16M status=none
}

# growth NUMBER...: attach an ops to so many functions, spread over all
growth()
{
	local n
	for n; do
		spread $n
		put "grow.$n" "$(cat $COST/switch)"
	done
}

# sample KEY PARAMETERS: the base's sample says what a call takes; the least of some
# runs, as interrupts come in between
sample()
{
	local key=$1
	shift
	dmesg -C
	for _ in 1 2 3 4; do
		modprobe ftrace-ops nr_function_calls=10000 "$@" 2>/dev/null || :
	done
	put "$key" "$(dmesg | sed -n 's/.*Attempted 10000 calls .* in \([0-9]*\)ns .*/\1/p' |
		sort -n | awk 'NR == 1 { printf "%.1f", $1 / 10000 }')"
}

each_call()
{
	local base
	base=$(cat $COST/calls)
	per_call call.none "$base"

	echo function_cost_callee >set_ftrace_filter
	echo function >current_tracer
	per_call call.event "$(($(cat $COST/calls) - base))"
	echo 0 >tracing_on
	per_call call.off "$(($(cat $COST/calls) - base))"
	echo 1 >tracing_on
	# The base has no such option.
	if [ -e options/func-args ]; then
		echo 1 >options/func-args
		per_call call.args "$(($(cat $COST/calls) - base))"
		echo 0 >options/func-args
	fi
	# A task that waits for the buffer to be half full
	cat per_cpu/cpu0/trace_pipe_raw >/dev/null &
	sleep 0.1
	per_call call.reader "$(($(cat $COST/calls) - base))"
	kill $!
	wait $! || :
	echo function_graph >current_tracer
	per_call call.graph "$(($(cat $COST/calls) - base))"
	if [ -e options/funcgraph-args ]; then
		echo 1 >options/funcgraph-args
		per_call call.graph.args "$(($(cat $COST/calls) - base))"
		echo 1 >options/funcgraph-retaddr
		per_call call.graph.both "$(($(cat $COST/calls) - base))"
		echo 0 >options/funcgraph-args
		echo 0 >options/funcgraph-retaddr
	fi
	echo nop >current_tracer
	[ ! -e graph_keep ] || each_call_in_a_tree "$base"
	echo 1 >function_profile_enabled
	per_call call.profile "$(($(cat $COST/calls) - base))"
	echo 0 >function_profile_enabled
	clean

	mkdir instances/one
	echo function_cost_callee >instances/one/set_ftrace_filter
	echo function >instances/one/current_tracer
	per_call call.instance "$(($(cat $COST/calls) - base))"
	rmdir instances/one

	echo 'p:bench function_cost_callee' >kprobe_events
	echo 1 >events/kprobes/bench/enable
	per_call call.kprobe "$(($(cat $COST/calls) - base))"
	echo 0 >events/kprobes/bench/enable
	echo >kprobe_events
}

# each_call_in_a_tree BASE: calls that are kept, and dropped as their tree does not match: in a
# large tree, which is all in memory, and as trees of one call each
each_call_in_a_tree()
{
	local base=$1
	echo 'duration > 1000s' >graph_keep
	echo ksys_read >>set_ftrace_filter
	echo function_graph >current_tracer
	per_call call.graph.kept "$(($(cat $COST/calls) - base))"
	echo nop >current_tracer
	echo function_cost_callee >set_ftrace_filter
	echo function_graph >current_tracer
	per_call call.graph.tree "$(($(cat $COST/calls) - base))"
	echo nop >current_tracer
	echo 0 >graph_keep
}

# traps: calls of a function whose site has a breakpoint, and a kprobe's
traps()
{
	local what nop call
	for what in trap trap_module; do
		read -r nop call <$COST/$what
		per_call $what.nop "$nop"
		per_call $what.call "$call"
	done
	per_call trap.kprobe "$(cat $COST/probe)"
}

# module_names: with a thousand functions: who asks kallsyms for each looks at all of their
# symbols each time
module_names()
{
	put module.load "$("$TESTS/cost" -l $TESTS/test_modules/functions_many.ko)"
	put module.names "$("$TESTS/cost" -r available_filter_functions)"
	rmmod functions_many
}

# The longest time without interrupts or preemption while an ops is attached to all
# and detached. With two processors, one would wait for the other while that has its
# turn in the emulator.
others_latency()
{
	local _ i max=()
	echo 0 >options/function-trace
	echo preemptirqsoff >current_tracer
	# Memory that was freed while booting goes back in pieces, under a lock.
	sleep 60
	# No other program is to run between these; the median, as sometimes one does.
	for ((i = 0; i < 9; i++)); do
		echo 0 >tracing_max_latency
		read -r _ <$COST/switch
		read -r "max[i]" <tracing_max_latency
	done
	put latency "$(printf '%d000\n' "${max[@]}" | sort -n | sed -n 5p)"
	echo nop >current_tracer
	echo 1 >options/function-trace
}

# The same without what interrupts take that come meanwhile: how long who switches
# has them off at a time, the last so many times
own_latency()
{
	local _
	echo 2000 >buffer_size_kb
	echo "common_pid == $$ || comm == \"text_site\"" >events/preemptirq/filter
	echo 1 >events/preemptirq/enable
	read -r _ <$COST/switch
	echo 0 >events/preemptirq/enable
	# To sleep is no latency; a stretch with an interrupt in it is not looked at.
	put latency.own "$(awk '
		$5 !~ /^(irq|preempt)_(dis|en)able:$/ { next }
		{ kind = substr($5, 1, 3) }
		$3 ~ /^..[hsH]/ || / caller=(irq|[a-z_]*schedule)/ { delete start; next }
		/_disable:/ { start[kind] = $4 + 0; next }
		start[kind] && $4 - start[kind] > max { max = $4 - start[kind] }
		{ start[kind] = 0 }
		END { printf "%d", max * 1e9 + 0.5 }' trace)"
	echo 0 >events/preemptirq/filter
	echo 20000 >buffer_size_kb
	clean
}

# switching: with two processors
switching()
{
	put sites "$(wc -l <available_filter_functions)"
	put boot "$(dmesg | sed -nE 's/.*fentry: ([0-9]+) sites, .*, ([0-9]+) cycles, .*/\1 \2/p' |
		awk '{ printf "%.1f", $2 / $1 }')"
	put pages "$(dmesg | sed -nE 's/.*ftrace: allocating ([0-9]+) entries in ([0-9]+) pages.*/\1 \2/p')"

	switch all ''
	switch one vfs_read
	switch glob '*read*'
	put match.one "$("$TESTS/cost" set_ftrace_filter vfs_read)"
	put match.glob "$("$TESTS/cost" set_ftrace_filter '*read*')"
	clean
	put grow.none "$(cat $COST/switch)"
	growth 1 100 1000 10000 all
	put ninth "$(cat $COST/ninth)"
}

# cpus: with as many processors as it is to be counted with
cpus()
{
	local n
	n=$(nproc)
	switch "cpus.$n" ''
}

# starved: how long a round of the patcher is under way, which traps in all functions, and
# how long if who asks for it gets no processor; with one, as a second one that is busy
# answers only when the emulator gives it its turn
starved()
{
	local i
	# From the first synchronisation of a round, when its breakpoints are there, to the
	# last, when the last one is gone
	round()
	{
		echo >instances/seen/trace
		"$@" "$TESTS/cost" current_tracer function >/dev/null
		echo nop >current_tracer
		put "$key" "$(awk '/^ *text_site-.* sync: / { print $4 + 0 }' instances/seen/trace |
			awk 'NR == 1 { first = $1 } NR == 3 { printf "%d", ($1 - first) * 1e9 + 0.5 }')"
	}
	# With the first event tracing also begins to note the names of tasks.
	echo 1 >events/sched/sched_process_exec/enable
	echo 'p:sync do_sync_core' >kprobe_events
	mkdir instances/seen
	echo 1 >instances/seen/events/kprobes/sync/enable
	key=round.alone round env
	for ((i = 0; i < 2 * $(nproc); i++)); do
		while :; do :; done &
	done
	key=round.starved round chrt -i 0
	# shellcheck disable=SC2046 # each a word
	kill $(jobs -p)
}

# crowd: what ten thousand users of direct calls cost the others, and what a module does
# that comes while five ops trace everything; with two processors
crowd()
{
	local nr=10000 key
	# One round, so that synchronisations tell batches
	echo 0 >/sys/module/text_site/parameters/round
	# settled PART: what it costs when the trampolines of before have been freed
	settled() { sleep 5; put "crowd.$1.$key" "$(cat $COST/switch)"; }
	for key in without with; do
		echo >$COST/sites
		settled all
		spread $nr
		settled named
		spread 1
		settled one
		[ $key = without ] || break
		spread $nr
		echo $nr >$COST/crowd
	done
	syncs crowd.syncs 'echo function >current_tracer'
	clean
	echo 5 >$COST/tracers
	syncs crowd.load 'insmod '$TESTS'/test_modules/functions_many.ko'
}

# large: as in a kernel with 34,000 functions more; with two processors
large()
{
	# shellcheck disable=SC2046  # words
	perl "$TESTS/load_copies.pl" "$TESTS/test_modules/functions_000.ko" $(seq -f %03g 34)
	put large.sites "$(wc -l <available_filter_functions)"
	switch large ''
}

# unwinding: what it takes to unwind the stack of a callback, alone and beside ten thousand ops
# that have a trampoline each; with one processor
unwinding()
{
	local nr=10000
	put unwind.1 "$(cat $COST/unwind)"
	# Leave out what the unwinder calls itself.
	spread $nr -vE 'stack|unwind|orc|text|module|bpf|tramp|ksym|preempt|task|rcu'
	echo $nr >$COST/users
	put unwind.$nr "$(cat $COST/unwind)"
}

# direct: many functions, with a direct call each, updated in one call; with two processors
direct()
{
	local dir=/sys/kernel/debug/direct_many n key
	local -A cost
	# update COMMAND SHIFT: for all but the last, which stays, so that the ops does
	update()
	{
		echo "$1 0 $n $2" >$dir/do
		cost[$1]=$(least "${cost[$1]:-}" "$(cat $dir/cycles)")
		# Until what was before has been freed
		sleep 1
	}
	insmod $TESTS/test_modules/direct_many.ko
	for n in 1 100 1000 10000; do
		spread $((n + 1))
		dd if=/tmp/sites of=$dir/sites bs=16M status=none
		echo "add $n 1 0" >$dir/do
		cost=()
		for _ in 1 2 3; do
			update add 0
			update mod 5000
			update del 5000
		done
		echo "del $n 1 0" >$dir/do
		for key in add mod del; do put "direct.$key.$n" "${cost[$key]}"; done
	done
}

# modules NUMBER: beside so many; with two processors
modules()
{
	local n=$1 key=modules.$1 load=''
	. "$TESTS/functions.sh"
	# shellcheck disable=SC2046  # words
	copies $(seq -f %03g "$n")
	put $key.sites "$(wc -l <available_filter_functions)"
	put $key.available "$("$TESTS/cost" -r available_filter_functions)"
	switch $key ''
	echo 0 >tracing_on
	echo function >current_tracer
	put $key.enabled "$("$TESTS/cost" -r enabled_functions)"
	clean
	echo 1 >tracing_on
	spread 1000
	per_call $key.find "$(cat $COST/find)"
	if [ "$n" -gt 0 ]; then
		spread 1000 '\[copies_'
		per_call $key.find_module "$(cat $COST/find)"
	fi
	per_call $key.kprobe "$(cat $COST/probe)"
	for _ in 1 2 3; do
		load=$(least "$load" "$("$TESTS/cost" -l $TESTS/test_modules/functions_many.ko)")
		rmmod functions_many
	done
	put $key.load "$load"
}

# calls: with one processor
calls()
{
	local n
	each_call
	syscalls
	for n in 0 1 2 4 8 16; do sample "ops.$n" nr_ops_relevant=$n; done
	sample ops.regs nr_ops_relevant=1 save_regs=1
	for n in 1 8 64; do sample "ops.2+$n" nr_ops_relevant=2 nr_ops_irrelevant=$n; done
}

# latency: with one processor
latency()
{
	others_latency
	own_latency
}

# histogram KEY: of numbers of ns, one a line, how many have so many us, and the longest
histogram()
{
	awk -v key="$1" '
		{ times[int($1 / 1000)]++ }
		$1 > max { max = $1 }
		END {
			for (us in times) printf "%s.us.%d\t%d\n", key, us, times[us]
			printf "%s.max\t%d\n", key, max
		}'
}

# switched NUMBER: an ops is attached to all and detached, so many times
switched()
{
	local i _
	for ((i = 0; i < $1; i++)); do read -r _ <$COST/switch; done
}

# delays: how late an interrupt is handled, and a real-time task that waits for one, while
# everything is switched a hundred times; with one processor
delays()
{
	echo 20000 >buffer_size_kb
	echo 200 >osnoise/timerlat_period_us
	echo timerlat >current_tracer
	switched 100
	echo 0 >tracing_on
	# Of the interrupt of a timer; the next line is of the thread that it wakes up.
	sed -n 's/.* irq timer_latency *\([0-9]*\) ns.*/\1/p' trace | histogram irq
	echo nop >current_tracer
	echo 1 >tracing_on
	export -f switched
	export COST
	"$TESTS/rt_delay" 500 bash -c 'switched 100' |
		sed -E 's/^([0-9]+) /rt.us.\1\t/; s/^worst /rt.max\t/'
}

# waited KEY FILE ON OFF: what somebody waits for who writes this; the median
waited()
{
	local i on=() off=()
	for i in 0 1 2; do
		on[i]=$("$TESTS/cost" "$2" "$3")
		off[i]=$("$TESTS/cost" "$2" "$4")
	done
	put "$1.on" "$(printf '%s\n' "${on[@]}" | sort -n | sed -n 2p)"
	put "$1.off" "$(printf '%s\n' "${off[@]}" | sort -n | sed -n 2p)"
}

# ends: what users wait for from end to end, grace periods included; with two processors
ends()
{
	local i
	echo 0 >/sys/kernel/rcu_expedited
	waited wait.tracer current_tracer function nop
	waited wait.graph current_tracer function_graph nop
	mkdir instances/other
	waited wait.instance instances/other/current_tracer function nop
	rmdir instances/other
	waited wait.events events/enable 1 0
	for i in read write open statx fsync; do echo "p:wait_$i vfs_$i" >>kprobe_events; done
	waited wait.kprobes events/kprobes/enable 1 0
	echo >kprobe_events
}

# bpf: programs attached to some functions one after the other, as bpftrace does, and
# detached; with two processors
bpf()
{
	local i on off functions
	echo 0 >/sys/kernel/rcu_expedited
	functions=$(grep -x 'ksys_[a-z0-9_]*' available_filter_functions | xargs)
	put bpf.functions "$(wc -w <<<"$functions")"
	# How often anybody waits for a grace period meanwhile
	echo 1 >events/sched/sched_process_exec/enable
	for i in synchronize_rcu{,_expedited,_tasks,_tasks_rude,_tasks_trace}; do
		echo "p:$i $i" 2>/dev/null >>kprobe_events || :
	done
	read -r on off < <(echo "cost $functions" | "$TESTS/bpf_functions")
	put bpf.on "$on"
	put bpf.off "$off"
	echo 1 >events/kprobes/enable
	echo "cost $functions" | "$TESTS/bpf_functions" >/dev/null
	put bpf.waits "$(awk '{ n += $2 } END { print n }' kprobe_profile)"
}

# jumps: what can be changed instead of being called directly; with one processor
jumps()
{
	local direct way
	insmod $TESTS/test_modules/jump_cost.ko
	direct=$(cat $JUMP_COST/direct)
	per_call jump.none "$direct"
	for way in jump static pointer; do
		per_call "jump.$way" "$(($(cat $JUMP_COST/$way) - direct))"
	done
	for way in 0 1 2; do per_call "event.$way" "$(cat $JUMP_COST/event$way)"; done
}

# updates: of the one that the kernel's tracepoints use; with two processors
updates()
{
	local way=static
	! zcat /proc/config.gz | grep -q '^CONFIG_TRACEPOINTS_JUMP_FUNCTION=y' || way=jump
	insmod $TESTS/test_modules/jump_cost.ko
	per_call jump.update "$(cat $JUMP_COST/update_$way)"
	all_events
}

# all_events: on and off; the least of some times, as what was begun while booting goes on
all_events()
{
	local on='' off=''
	for _ in 1 2 3 4; do
		on=$(least "$on" "$("$TESTS/cost" events/enable 1)")
		off=$(least "$off" "$("$TESTS/cost" events/enable 0)")
		sleep 1
	done
	put events.on "$on"
	put events.off "$off"
	echo >trace
}

# immediates: reading one, beside what else there is; with one processor
immediates()
{
	local none way
	insmod $TESTS/test_modules/immediate_cost.ko
	none=$(cat $IMMEDIATE_COST/none)
	for way in variable immediate cond key; do
		per_call "imv.$way" "$(($(cat $IMMEDIATE_COST/$way) - none))"
	done
	put imv.memory "$(cat $IMMEDIATE_COST/memory)"
}

# events_on: an enabled marker, if there are any, and an enabled event, each with two integers
events_on()
{
	local none way ways=(event)
	[ -e $MARKER_COST ] || insmod $TESTS/test_modules/marker_cost.ko
	none=$(cat $MARKER_COST/none)
	echo 1 >events/marker_cost/enable
	if [ -e set_marker ]; then
		echo 1 >events/cost/two/enable
		ways+=(marker)
	fi
	# Until the jumps of tracepoints lead to their probes
	sleep 1
	for way in "${ways[@]}"; do
		per_call "mark.on.$way" "$(($(cat $MARKER_COST/${way}2) - none))"
	done
	echo 0 >events/enable
	clean
}

# markers: off and on, beside what else there is; with one processor
markers()
{
	local none way
	insmod $TESTS/test_modules/marker_cost.ko
	none=$(cat $MARKER_COST/none)
	# rest WAY: what it adds to the loop
	rest() { echo $(($(cat $MARKER_COST/$1) - none)); }
	for way in marker event debug; do per_call "mark.off.$way" "$(rest $way)"; done
	events_on
	[ -e set_marker ] || return 0

	insmod $TESTS/test_modules/markers_many.ko
	for way in 00? 0?? ???; do
		put "mark.many.$way" "$("$TESTS/cost" set_marker "many:e$way")"
		echo >set_marker
	done
}

# mark_syncs: broadcasts to switch a thousand; with two processors
mark_syncs()
{
	insmod $TESTS/test_modules/markers_many.ko
	syncs mark.syncs "echo 'many:*' >>set_marker"
}

# hackbench: ten groups, in millions of instructions; with one processor
hackbench()
{
	local events took none=0
	for events in 0 1; do
		echo $events >events/enable
		took=$(perf bench --format=simple sched messaging -g 10 -l 20 |
			awk '{ printf "%.0f", $1 * 1000 }')
		put "hackbench.$events" "$took"
		[ $events = 1 ] || none=$took
	done
	put hackbench.over $((took - none))
	echo 0 >events/enable
}

# million: so many system calls that do next to nothing, in millions of instructions
million() { perf bench --format=simple syscall basic -l 1000000 | awk '{ print $1 * 1000 }'; }

# syscalls: the events of one, by what they add to it; with one processor
syscalls()
{
	local none
	none=$(million)
	echo 1 | tee events/syscalls/sys_{enter,exit}_getppid/enable >/dev/null
	put call.syscall "$(million | awk -v none="$none" '{ printf "%.0f", $1 - none }')"
	echo 0 >events/enable
}

# guard: with one processor; the part that is looked at in each test run. Each count
# is taken several times: an interrupt can fall into any of them, and the longer it
# takes the more surely.
guard()
{
	local _ n
	for n in 1 2 4; do sample "ops.$n" nr_ops_relevant=$n; done
	for _ in 1 2 3; do
		each_call
		events_on
		traps
		module_names
		growth 1 1000
	done
	all_events
	echo >$COST/sites
	for _ in {1..20}; do put grow.none "$(cat $COST/switch)"; done
}

insmod $TESTS/test_modules/function_cost.ko \
	location="$(awk '$3 == "ftrace_location" { print "0x" $1 }' /proc/kallsyms)"
echo 20000 >buffer_size_kb
# Time that nobody works in is no cost, and it is the same with both engines.
echo 1 >/sys/kernel/rcu_expedited
"${1%-*}" "${1#*-}"
