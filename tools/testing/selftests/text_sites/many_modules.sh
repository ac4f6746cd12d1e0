#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Three hundred modules: their sites are found, traced and switched as those of one are,
# and go with them. The first test loads them, the last one unloads them.

. "$(dirname "$0")/functions.sh"

NR=300

# Functions of each that have a site: thirty, and those around them
EACH=35

need_copies()
{
	[ "$(copies_there | wc -l)" -eq $NR ] || skip "they are not loaded"
}

# each WHAT NUMBER [FILE]: each module has so many lines of the file, or of the input
each()
{
	local what=$1 number=$2
	shift 2
	equal "$what" "$(sed -n 's/.*\[\(copies_[0-9]*\)\].*/\1/p' "$@" | sort | uniq -c |
		awk -v n="$number" '$1 == n' | wc -l)" $NR
}

# To load the last one takes no more than to load the first one did.
they_come_while_everything_is_traced()
{
	local first
	count_syncs 'echo nop > current_tracer'
	echo 0 > tracing_on
	echo function > current_tracer
	synchronise 'copies 001'
	# shellcheck disable=SC2154 # of functions.sh
	first=$synced
	copies $(seq -f %03g 2 $((NR - 1)))
	synchronise "copies $NR"
	equal "synchronisations for the last one" $synced "$first"
	equal "text" "$(site_text)" "call $(nr_available)"
	each "enabled" $EACH enabled_functions
}

all_of_their_functions_are_found()
{
	need_copies
	each "available" $EACH available_filter_functions
	each "addresses" $EACH available_filter_functions_addrs
	equal "text" "$(site_text)" "nop $(nr_available)"
	echo 'copies_*_f17' > set_ftrace_filter
	each "of a pattern" 1 set_ftrace_filter
}

# Not a batch for each table
one_batch_for_all()
{
	need_copies
	count_syncs :
	echo 0 > tracing_on
	synchronise 'echo function > current_tracer'
	equal "on" $synced 3
	equal "text" "$(site_text)" "call $(nr_available)"
	each "enabled" $EACH enabled_functions
	synchronise 'echo nop > current_tracer'
	equal "off" $synced 3
	equal "text" "$(site_text)" "nop $(nr_available)"
}

a_filter_for_each()
{
	local name lines
	need_copies
	echo 0 > tracing_on
	for name in $(copies_there); do
		echo ":mod:$name" > set_ftrace_filter
		mapfile -t lines < set_ftrace_filter
		equal "in the filter" ${#lines[@]} $EACH
		lines=("${lines[@]% \[$name\]}")
		[[ "${lines[*]}" != *'['* ]] || fail "of another than $name: ${lines[*]}"
	done
	echo function > current_tracer
	equal "enabled" "$(wc -l < enabled_functions)" $EACH
	equal "text" "$(site_text "copies_.* \[$name\]")" "call $EACH"
	equal "text of all" "$(site_text | xargs)" "nop $(($(nr_available) - EACH)) call $EACH"
}

# check_each: in each its jump function, immediate value and marker are switched.
check_each()
{
	local name said
	for name in $(copies_there); do
		read -r said < /sys/module/$name/parameters/check
		equal "$name" "$said" right
	done
}

# One is found by its name, and its site by its address.
a_kprobe_in_each()
{
	need_copies
	# At once: a line must not be cut in two.
	copies_there | sed 's/.*/p:& &:&_f29/' | dd of=kprobe_events bs=64k iflag=fullblock status=none
	equal "probes" "$(wc -l < kprobe_events)" $NR
	echo 1 > events/kprobes/enable
	each "enabled" 1 enabled_functions
	check_each
	echo 0 > events/enable
	equal "hit once" "$(awk '/copies_/ && $2 == 1' kprobe_profile | wc -l)" $NR
	echo > kprobe_events
}

each_works_while_it_is_traced()
{
	need_copies
	echo 'copies_*' > set_ftrace_filter
	echo function > current_tracer
	check_each
	echo 0 > tracing_on
	each "seen" 10 < <(sed -n 's/.*: \(copies_[0-9]*\)_f2[0-9] <-.*/[\1]/p' trace)
}

they_go_in_any_order_while_tracing_goes_on_and_off()
{
	local before
	need_copies
	before=$(grep -vc '\[copies_' available_filter_functions)
	endlessly 'sleep 0.05; echo function > current_tracer; echo nop > current_tracer'
	remove_copies
	stop_endless
	echo nop > current_tracer
	equal "left" "$(copies_there)" ''
	equal "sites" "$(nr_available)" "$before"
	equal "sites as a number" "$(cut -d' ' -f1 dyn_ftrace_total_info)" "$before"
	equal "text" "$(site_text)" "nop $before"
}

run_tests they_come_while_everything_is_traced all_of_their_functions_are_found \
	one_batch_for_all a_filter_for_each a_kprobe_in_each each_works_while_it_is_traced \
	they_go_in_any_order_while_tracing_goes_on_and_off
remove_copies
