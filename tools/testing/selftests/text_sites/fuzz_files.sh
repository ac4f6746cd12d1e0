#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a grammar makes is written to each control file, see fuzz_files.c. After a thousand
# writes each time, sites hold what they are said to hold. The kernel's command line, or the
# environment, says how many writes there are, and with which seed the first thousand are
# made: fuzz_writes=NUMBER, fuzz_seed=NUMBER. After twenty thousand writes, each file has
# taken one.

. "$(dirname "$0")/functions.sh"

ROUND_WRITES=1000
MODULES="functions_many tables_test copies_000"
# Among so many writes there are some that each file takes.
ENOUGH_WRITES=20000
USES=/tmp/fuzz_uses

modules()
{
	local name
	for name in $MODULES; do
		[ ! -e "$HERE/test_modules/$name.ko" ] || echo "$HERE/test_modules/$name.ko"
	done
}

# triggers: "FILE LINE" of each trigger, as it is written
triggers()
{
	local file
	for file in events/sched/sched_switch events/tables_test/* events/kprobes/*; do
		[ ! -e "$file/trigger" ] || sed "/^#/d; s/:unlimited//; s/:count=/:/
			s/ \\[[a-z]*\\]$//; s,^,$file/trigger ," "$file/trigger"
	done
}

# remove_triggers: those of the current directory
remove_triggers()
{
	local file line
	while read -r file line; do
		echo "!$line" > "$file"
	done < <(triggers)
}

# Everything is as it was before, and there are no instances: they go with all that is on in
# them. What cannot be put back is for nothing_left() to find.
#
# Starting a process is slow under KASAN and lockdep, so this starts few.
put_back()
{
	local dir name line
	echo 1 > /proc/sys/kernel/ftrace_enabled
	echo 0 > /proc/sys/kernel/stack_tracer_enabled
	echo 3072 > $ROUND
	for dir in instances/*/; do
		[ ! -d "$dir" ] || rmdir "$dir"
	done
	echo nop > current_tracer
	remove_triggers
	for name in events/{sched,kmem,tables_test,kprobes,fprobes}/filter; do
		[ ! -e $name ] || echo 0 > $name
	done
	echo 0 > events/enable
	for name in set_event set_event_pid set_event_notrace_pid set_ftrace_pid \
		set_ftrace_notrace_pid set_ftrace_filter set_ftrace_notrace set_graph_function \
		set_graph_notrace stack_trace_filter set_marker graph_keep kprobe_events \
		uprobe_events synthetic_events dynamic_events; do
		[ ! -e $name ] || echo > $name
	done
	# Commands are taken away one by one, and as often as they are there.
	while read -r line; do
		line=${line%:unlimited}
		echo "!${line/:count=/:}" >> set_ftrace_filter
	done < <(grep -v '^#' set_ftrace_filter | grep ':' | grep -v ':mod:')
	for name in function-fork func-no-repeats func_stack_trace event-fork record-tgid \
		sym-addr func-args funcgraph-args funcgraph-retaddr funcgraph-proc \
		funcgraph-retval fields display-graph; do
		[ ! -e options/$name ] || echo 0 > options/$name
	done
	for name in function-trace funcgraph-irqs; do
		[ ! -e options/$name ] || echo 1 > options/$name
	done
	for name in tracing_max_latency max_graph_depth function_profile_enabled tracing_thresh \
		snapshot stack_max_size; do
		[ ! -e $name ] || echo 0 > $name
	done
	echo local > trace_clock
	echo "$cpumask" > tracing_cpumask
	echo 4 > buffer_subbuf_size_kb
	echo "$buffer_size" > buffer_size_kb
	echo 128 > saved_cmdlines_size
	echo 1 > tracing_on
	for name in $(modules); do
		name=${name##*/}
		! grep -q "^${name%.ko} " /proc/modules || rmmod "${name%.ko}"
	done
}

# The tasks have gone: nobody changes anything.
agree()
{
	equal "calls in text" "$(site_text | sed -n 's/^call //p')" \
		"$(wc -l < enabled_functions | sed 's/^0$//')"
	equal "breakpoints" "$(site_text | sed -n 's/^int3 //p')" ''
}

nothing_left()
{
	equal "attached" "$(wc -l < enabled_functions)" 0
	equal "text" "$(site_text)" "nop $(nr_available)"
	equal "all" "$(cut -d' ' -f1 dyn_ftrace_total_info)" "$(nr_available)"
	equal "instances" "$(ls instances)" ''
	equal "triggers" "$(triggers)" ''
	equal "probes" "$(cat kprobe_events uprobe_events dynamic_events 2> /dev/null)" ''
	equal "modules" "$(grep -cE "^(${MODULES// /|}) " /proc/modules)" 0
}

# Each file has taken something, or could be read, unless this kernel cannot have it. Without
# this, nobody would notice that a file has another name now.
each_file_was_used()
{
	local n what file option unused=''
	while read -r what file option n; do
		if [ "$option" != - ] && ! configured "$option"; then
			[ "$n" != 0 ] || echo "# not on this kernel, no CONFIG_$option: $file"
		elif [ "$n" = 0 ]; then
			unused+=" $file ($what)"
		fi
	done < <(awk '{ n[$2 " " $3 " " $4] += $1 }
		END { for (file in n) print file, n[file] }' $USES | sort)
	[ -z "$unused" ] || fail "never used:$unused"
}

# fuzz WRITES SEED TASKS: each round begins in the same state, so that its seed reproduces it
fuzz()
{
	local seed=$2 left=$1 now what said
	trap 'stop_jobs; put_back || :' EXIT
	old=$(complaints) cpumask=$(cat tracing_cpumask)
	# "7 (expanded: 64)" until it is used
	buffer_size=$(sed 's/.* \([0-9]*\))$/\1/' buffer_size_kb)
	# What probes of user space are in: nobody runs it.
	printf '%4096s' '' > /tmp/fuzz_program
	: > $USES
	while [ "$left" -gt 0 ]; do
		now=$((left < ROUND_WRITES ? left : ROUND_WRITES))
		what="seed $seed, $now writes, $3 tasks"
		echo "# $what"
		# shellcheck disable=SC2046
		said=$("$HERE/fuzz_files" "$seed" $now "$3" $(modules))
		echo "# $what: ${said%%$'\n'*}"
		sed 1d <<< "$said" >> $USES
		agree || fail "after $what"
		put_back || :
		nothing_left || fail "put back after $what"
		[ "$(complaints)" = "$old" ] || fail "$what: $(complaints | tail -n1)"
		left=$((left - now)) seed=$((seed + 1))
	done
	[ "$1" -lt $ENOUGH_WRITES ] || each_file_was_used
}

by_one_task()
{
	local writes; writes=$(setting fuzz_writes 1000)
	fuzz $((writes / 5)) "$(setting fuzz_seed 1)" 1
}

by_four_tasks()
{
	local writes; writes=$(setting fuzz_writes 1000)
	fuzz $((writes * 4 / 5)) "$(setting fuzz_seed 1)" 4
}

run_tests by_one_task by_four_tasks
