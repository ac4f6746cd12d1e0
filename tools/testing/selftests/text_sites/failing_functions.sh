# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests have in common in which allocations of memory fail.
#
# With slub_debug=U on the kernel's command line, they also see whether anything has been
# leaked, or with kmemleak. That takes long. With failing_all there, each allocation fails
# alone, and with failing_all=both also with all others after it; otherwise those that are many
# take turns.

. "$(dirname "$0")/functions.sh"

DEBUG=/sys/kernel/debug
FAIL_NTH="$HERE/fail_nth"
case " $(< /proc/cmdline) " in
*' failing_all '*) all_fail=alone ;;
*' failing_all=both '*) all_fail=both ;;
*) all_fail='' ;;
esac

# What is told about functions that are not ours does not count, nor do allocations that are
# kept for the next time: pages of targets, the map's leaves, and stacks of return addresses.
OURS='ring_buffer|fentry_|ftrace_|text_site_|text_target|text_areas|marker|imv_|dynfunc|tracepoint_|tracing_|fgraph_|graph_keep|trace_'
KEPT='text_target_reserve|map_lead|area_index|chunk_|alloc_retstack|copy_process|trace_find_cmdline|trace_alloc_tgid|saved_cmdlines'

# Allocations that may sleep fail as well; what failed is not printed. Those of tasks that
# are to fail do so each time.
begin_failing()
{
	local attr
	[ -e $DEBUG/failslab ] && [ -e $DEBUG/fail_page_alloc ] ||
		skip "no CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC and CONFIG_FAULT_INJECTION_DEBUG_FS"
	for attr in failslab fail_page_alloc; do
		echo N > $DEBUG/$attr/ignore-gfp-wait
		echo 0 > $DEBUG/$attr/verbose
		echo Y > $DEBUG/$attr/task-filter
		echo -1 > $DEBUG/$attr/times
		echo 100 > $DEBUG/$attr/probability
	done
	echo N > $DEBUG/failslab/cache-filter
	echo 0 > $DEBUG/fail_page_alloc/min-order
	echo N > $DEBUG/fail_page_alloc/ignore-gfp-highmem
	can_see_leaks || echo "# leaks: not looked for"
	find_sites
}

# Only allocations of such sizes fail until the next test: few, so that each can.
only_structures_fail()
{
	local size
	echo 5 > $DEBUG/fail_page_alloc/min-order
	echo Y > $DEBUG/failslab/cache-filter
	for size in 256 512 1k 2k; do
		echo 1 > /sys/kernel/slab/kmalloc-$size/failslab
	done
}

# What is on already need not be switched on, for the first event.
begin_tracing()
{
	begin_failing
	echo 'vfs_*' > set_ftrace_filter
	echo 1 > events/sched/sched_process_exec/enable
}

end_tracing()
{
	echo nop > current_tracer
	echo 0 > events/enable
	equal "attached" "$(attached)" 0
}

# $functions: a line for each function that has something attached. In the file, direct calls
# go on below. Where much is done this often, no program is started that the shell can do
# without.
list_attached()
{
	local text; text=$(< enabled_functions)
	functions=()
	[ -z "$text" ] || mapfile -t functions <<< "${text//$'\n\t'/ }"
}

# How many functions have something attached, as a number
attached()
{
	local functions
	list_attached
	echo ${#functions[@]}
}

# Sites hold what they are said to hold.
text_agrees()
{
	equal "calls in text, $1" "$(site_text | sed -n 's/^call //p')" "$2"
}

# The sites that there are now, and those of functions that the tests trace: to be looked at often
find_sites()
{
	can_trace || return 0
	cat available_filter_functions_addrs > /tmp/failing_all_sites
	grep -E ' (vfs_|ksys_|kernel_clone|__probestub_|ops_test_|pass|first|second|direct_many_|.*\])' \
		/tmp/failing_all_sites > /tmp/failing_sites || :
}

# How often consistent() has looked
looked=0

# The sites that hold a call are those of enabled_functions, which lists sites in the same order.
# All sites are looked at each 20th time: what is left at another function stays there.
# With $sites_change set, modules come and go, and their sites are left out: to list all sites
# again would take long.
consistent()
{
	local calls functions text sites=/tmp/failing_sites
	can_trace || return 0
	[ $((++looked % 20)) != 0 ] || sites=/tmp/failing_all_sites
	list_attached
	# With an empty filter, all functions are traced: too many to be compared by name.
	if [ "${#functions[@]}" -gt 2000 ]; then
		text_agrees "of all" "${#functions[@]}"
		return
	fi
	text=$("$HERE/site_text" call < $sites)
	mapfile -t calls <<< "$text"
	[ -z "$sites_change" ] ||
		mapfile -t functions < <(printf '%s\n' "${functions[@]}" | grep -Ev '\[|^$')
	calls=("${calls[@]#* }")
	functions=("${functions[@]%% (*}")
	equal "calls in text" "${calls[*]}" "${functions[*]}"
}

# The tracer has all functions of the filter, $all of them, or none. Switches it off.
on_or_off()
{
	case $(< current_tracer) in
	nop) equal "attached, tracer off" "$(attached)" 0 ;;
	*) equal "attached, tracer on" "$(attached)" "$all" ;;
	esac
	echo nop > current_tracer
	equal "attached, switched off" "$(attached)" 0
}

can_see_leaks() { [ -e $DEBUG/slab/kmalloc-64/alloc_traces ] || [ -e $DEBUG/kmemleak ]; }

# allocated: what there is of ours, by who has allocated it, as "NUMBER WHERE". A snapshot swaps
# buffers: it makes no difference for which one a page of them was allocated.
allocated()
{
	local file
	for file in $DEBUG/slab/kmalloc-*/alloc_traces; do
		[ ! -e "$file" ] || cat "$file"
	done | awk -v ours="$OURS" -v kept="$KEPT" '
		function end() {
			sub(/ (__rb_allocate_pages|rb_allocate_cpu_buffer|__ring_buffer_alloc) .*/,
				" ring_buffer", stack)
			if (n && stack ~ ours && stack !~ kept)
				count[stack] += n
			n = 0
		}
		/ age=/ { end(); n = $1; stack = $2; sub(/.*kmalloc[^ ]* ?/, "", stack); next }
		NF { depth = $1; sub(/\+.*/, "", depth); stack = stack " " depth; next }
		{ end() }
		END { end(); for (where in count) print count[where], where }'
	awk -v ours="$OURS" '$3 ~ ours { sub(/\+.*/, "", $3); count[$3]++ }
		END { for (where in count) print count[where], "vmalloc", where }' /proc/vmallocinfo
}

# more_than FILE NUMBER: what is allocated now more than so many times more often than then
more_than()
{
	allocated | awk -v more="$2" 'FNR == NR { was[substr($0, index($0, " ") + 1)] = $1; next }
		{ where = substr($0, index($0, " ") + 1) }
		$1 > was[where] + more { print $1 - was[where], where }' "$1" -
}

nothing_more() { [ -z "$(more_than /tmp/allocated "$1")" ]; }

# nothing_leaked NUMBER: or at most so many in the same way. Some is freed after grace periods.
nothing_leaked()
{
	local i more
	if [ -e $DEBUG/kmemleak ]; then
		sleep 1
		echo scan > $DEBUG/kmemleak
		echo scan > $DEBUG/kmemleak
		more=$(grep -E "$OURS" $DEBUG/kmemleak | sort | uniq -c || :)
		[ -z "$more" ] || fail "leaked: $more"
	fi
	for ((i = 0; i < 20; i++)); do
		more=$(more_than /tmp/allocated "$1")
		[ -n "$more" ] || return 0
		sleep 0.5
	done
	fail "leaked: $more"
}

# try N CHECK WHAT...: WHAT by fail_nth; CHECK looks at what has become of it ($error is how
# it ended) and puts it back, in a shell of its own, which ends when anything in it fails. $said
# is whether any failed.
try()
{
	local n=$1 check=$2 status
	shift 2
	read -r said error <<< "$("$FAIL_NTH" "$n" "$@")"
	consistent || fail "after allocation $n of '$*' failed, $error"
	# With || behind it, it would not end.
	set +e
	( set -e; "$check" )
	status=$?
	set -e
	[ $status -eq 0 ] || fail "after allocation $n of '$*' failed, $error"
}

# one_by_one CHECK WHAT...: with one allocation after the other failing, and then, without $alone,
# with all others failing after it, too. $total is how many there are.
one_by_one()
{
	local n mode step said
	total=''
	for mode in '' -; do
		[ -z "$mode" ] || [ -z "$alone" ] || continue
		step=1
		for ((n = 1; n < 20000; n += step)); do
			try "$n$mode" "$@"
			[ "$said" != none ] || break
			case $all_fail$mode in
			alone | both | both-) ;;
			*) [ $n -lt "${first:-8}" ] || step=${every:-5} ;;
			esac
			[ "$error" != 0 ] || continue
			try 0 "$@"
			equal "'${*:2}' after allocation $n$mode has failed" "$error" 0
		done
		[ "$said" = none ] || fail "no end of allocations in '${*:2}'"
		total=${total:-$((n - 1))}
	done
}

# Something may be kept for the next time, once. What is more by one may also have leaked when just
# one of the allocations failed: that happens again each time that it fails.
no_leaks()
{
	local times total
	nothing_leaked 1
	for ((times = 1; times < 4; times++)); do
		! within 2 nothing_more $((times - 1)) || return 0
		one_by_one "$@"
	done
	nothing_leaked 3
}

# [first=N] [every=N] [alone=1] each CHECK WHAT...: WHAT with all of its allocations failing one by
# one. It works before that, and when it has not.
each()
{
	local total error
	try 0 "$@"
	equal "'${*:2}' when none fails" "$error" 0
	! can_see_leaks || allocated > /tmp/allocated
	one_by_one "$@"
	[ "$total" -gt 0 ] || fail "nothing is allocated in '${*:2}'"
	! can_see_leaks || no_leaks "$@"
	echo "# ${*:2}: $total allocations"
}
