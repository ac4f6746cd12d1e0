#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a grammar makes is written to each control file, see fuzz_files.c. After each round of
# writes, sites hold what they are said to hold. The kernel's command line, or the environment,
# says how many writes there are, and with which seed those of the first round are made:
# fuzz_writes=NUMBER, fuzz_seed=NUMBER. After twenty thousand writes, each file has taken one.

. "$(dirname "$0")/functions.sh"

MODULES="functions_many tables_test copies_000"
# Among so many writes there are some that each file takes.
ENOUGH_WRITES=20000
USES=/tmp/fuzz_uses
SITES=/tmp/fuzz_sites

# As starting a process is slow under KASAN and lockdep, what is done in each round is left to the
# shell where it can do it.

# find_modules: sets $modules to the files of those that there are
find_modules()
{
	local name
	modules=()
	for name in $MODULES; do
		[ ! -e "$HERE/test_modules/$name.ko" ] || modules+=("$HERE/test_modules/$name.ko")
	done
}

# is_loaded MODULE
is_loaded() { [[ $'\n'$(< /proc/modules) = *$'\n'"$1 "* ]]; }

# trigger_files DIR: sets $files to those of an instance, or of the top one
trigger_files()
{
	local file
	files=()
	for file in "$1"/events/{sched/sched_switch,tables_test/*,kprobes/*}/trigger; do
		[ ! -e "$file" ] || files+=("$file")
	done
}

# each_trigger DO: does it with the file and the line of each trigger, as it is written
each_trigger()
{
	local file line lines files
	trigger_files .
	for file in "${files[@]}"; do
		mapfile -t lines < "$file"
		for line in "${lines[@]}"; do
			line=${line/:unlimited/}
			line=${line/:count=/:}
			[[ -z $line || $line = '#'* ]] || "$1" "$file" "${line% \[*\]}"
		done
	done
}

remove_trigger() { echo "!$2" > "$1"; }

# A histogram with variables keeps its instance. The grammar has none, but damaged text may.
# Opening the file with O_TRUNC removes the histogram.
remove_instance()
{
	local file files
	! rmdir "$1" 2> /dev/null || return 0
	trigger_files "$1"
	for file in "${files[@]}"; do : > "$file"; done
	rmdir "$1"
}

# Everything is as it was before, and there are no instances: they go with all that is on in
# them. What cannot be put back is for nothing_left() to find. What calls from all functions
# goes first.
put_back()
{
	local dir name line lines
	echo 1 > /proc/sys/kernel/ftrace_enabled
	echo 0 > /proc/sys/kernel/stack_tracer_enabled
	[ ! -e function_profile_enabled ] || echo 0 > function_profile_enabled
	echo nop > current_tracer
	echo 3072 > $ROUND
	for dir in instances/*/; do
		[ ! -d "$dir" ] || remove_instance "${dir%/}"
	done
	each_trigger remove_trigger
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
	# Damaged text may give a command to all functions: to take it away one by one takes hours.
	local -A commands=()
	mapfile -t lines < set_ftrace_filter
	for line in "${lines[@]}"; do
		line=${line%:unlimited}
		case $line in
		'#'* | *:mod:*) ;;
		*:*) commands[${line#*:}]=1 ;;
		esac
	done
	for line in "${!commands[@]}"; do
		echo "!*:${line/:count=/:}" >> set_ftrace_filter
	done
	for name in function-fork func-no-repeats func_stack_trace event-fork record-tgid \
		sym-addr func-args funcgraph-args funcgraph-retaddr funcgraph-proc \
		funcgraph-retval fields display-graph; do
		[ ! -e options/$name ] || echo 0 > options/$name
	done
	for name in function-trace funcgraph-irqs; do
		[ ! -e options/$name ] || echo 1 > options/$name
	done
	for name in tracing_max_latency max_graph_depth tracing_thresh snapshot \
		stack_max_size; do
		[ ! -e $name ] || echo 0 > $name
	done
	echo local > trace_clock
	echo "$cpumask" > tracing_cpumask
	echo 4 > buffer_subbuf_size_kb
	echo "$buffer_size" > buffer_size_kb
	echo 128 > saved_cmdlines_size
	echo 1 > tracing_on
	for name in $MODULES; do
		! is_loaded "$name" || rmmod "$name"
	done
}

# The tasks have gone: nobody changes anything.
agree()
{
	local kind n calls=0 functions
	while read -r kind n; do
		case $kind in
		call) calls=$n ;;
		int3 | other | unreadable) fail "sites that hold $kind: $n" ;;
		esac
	done <<< "$("$HERE/site_text" < available_filter_functions_addrs)"
	mapfile -t functions < enabled_functions
	equal "calls in text" "$calls" "${#functions[@]}"
}

# nothing_left TEXT: the sites hold what they held before, and there are no others.
nothing_left()
{
	local all name functions dirs=(instances/*/)
	mapfile -t functions < enabled_functions
	equal "attached" "${#functions[@]}" 0
	equal "text" "$("$HERE/site_text" < $SITES)" "$1"
	read -r all _ < dyn_ftrace_total_info
	equal "all" "$all" "${1#* }"
	[ ! -e "${dirs[0]}" ] || fail "instances: ${dirs[*]}"
	each_trigger fail
	for name in kprobe_events uprobe_events dynamic_events; do
		[ ! -e $name ] || equal "$name" "$(< $name)" ''
	done
	for name in $MODULES; do
		! is_loaded "$name" || fail "$name is loaded"
	done
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

# round_of SEED: how many writes. What they leave on slows those that follow, so few rounds are
# long.
round_of()
{
	if [ $(($1 % 20)) = 0 ]; then
		echo 1000
	else
		echo 500
	fi
}

# fuzz WRITES SEED TASKS: each round begins in the same state, so that its seed reproduces it
fuzz()
{
	local seed=$2 left=$1 now what said text modules
	trap 'stop_jobs; put_back || :' EXIT
	old=$(complaints) cpumask=$(cat tracing_cpumask)
	# "7 (expanded: 64)" until it is used
	buffer_size=$(sed 's/.* \([0-9]*\))$/\1/' buffer_size_kb)
	# What probes of user space are in: nobody runs it.
	printf '%4096s' '' > /tmp/fuzz_program
	: > $USES
	find_modules
	cat available_filter_functions_addrs > $SITES
	text=$("$HERE/site_text" < $SITES)
	[ "$(wc -l <<< "$text")" = 1 ] || fail "sites hold different things at first: $text"
	while [ "$left" -gt 0 ]; do
		now=$(round_of "$seed")
		now=$((left < now ? left : now))
		what="seed $seed, $now writes, $3 tasks"
		echo "# $what"
		said=$("$HERE/fuzz_files" "$seed" $now "$3" "${modules[@]}")
		echo "# $what: ${said%%$'\n'*}"
		sed 1d <<< "$said" >> $USES
		agree || fail "after $what"
		put_back || :
		nothing_left "$text" || fail "put back after $what"
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
