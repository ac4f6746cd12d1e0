#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Function entries: what they hold at boot, traced, and afterwards.

. "$(dirname "$0")/functions.sh"

every_site_is_a_NOP_after_boot()
{
	equal "text of all sites" "$(site_text)" "nop $(nr_available)"
	[ "$(nr_available)" -gt 10000 ] || fail "only $(nr_available) functions"
}

the_boot_message_says_so()
{
	local line
	line=$(dmesg | sed -n 's/.*fentry: \([0-9]* sites, nop .*\)/\1/p')
	[[ "$line" =~ ^([0-9]+)\ sites,\ nop\ ([a-z0-9]+)\ \(([0-9a-f ]+)\),\ ([0-9]+)\ cycles,\ 0\ left\ alone$ ]] ||
		fail "boot message: '$line'"
	# Those of init text are gone by now
	[ "${BASH_REMATCH[1]}" -ge "$(grep -v '\[' available_filter_functions | wc -l)" ] ||
		fail "$line, but $(nr_available) are available"
	equal "the NOP" "$(echo "$(head -n1 available_filter_functions_addrs)" | "$HERE/site_text")" \
		"${BASH_REMATCH[2]} 1"
}

every_site_is_a_call_while_all_are_traced()
{
	local all; all=$(nr_available)
	echo 0 > tracing_on
	echo function > current_tracer
	equal "text of all sites" "$(site_text)" "call $all"
	equal "enabled functions" "$(wc -l < enabled_functions)" "$all"
	equal "trampolines in use" \
		"$(sed 's/.*tramp: \([^ ]*\) .*/\1/; s/+.*//' enabled_functions | sort -u | wc -l)" 1
	echo nop > current_tracer
	equal "text of all sites afterwards" "$(site_text)" "nop $all"
	[ -z "$(cat enabled_functions)" ] || fail "some are still enabled"
}

only_the_filtered_site_is_a_call()
{
	echo vfs_read > set_ftrace_filter
	echo function > current_tracer
	equal "text of vfs_read" "$(site_text vfs_read)" "call 1"
	equal "text of vfs_write" "$(site_text vfs_write)" "nop 1"
	equal "text of all" "$(site_text | sort)" "$(printf 'call 1\nnop %d' $(($(nr_available) - 1)))"
}

# Sites that have others between them, over more pages than are mapped at a time
a_round_of_any_size_leaves_out_none()
{
	local round old nr rest; old=$(cat $ROUND)
	# shellcheck disable=SC2064 # the number as it is now
	trap "echo $old > $ROUND" EXIT
	echo 0 > tracing_on
	echo '*a*' > set_ftrace_filter
	nr=$(wc -l < set_ftrace_filter)
	[ "$nr" -gt 5000 ] || fail "only $nr functions"
	rest=$(($(nr_available) - nr))
	for round in 0 6000 1000; do
		echo $round > $ROUND
		echo function > current_tracer
		equal "text, $round at a time" "$(site_text | sort)" "call $nr"$'\n'"nop $rest"
		# Those that are left, and all again to another trampoline
		mkdir -p instances/rounds
		echo function > instances/rounds/current_tracer
		equal "text of all, $round at a time" "$(site_text)" "call $(nr_available)"
		echo nop > current_tracer
		echo nop > instances/rounds/current_tracer
		equal "text afterwards, $round at a time" "$(site_text)" "nop $(nr_available)"
	done
}

addresses_agree_with_kallsyms()
{
	local addr
	addr=$(site_of vfs_read)
	# Behind an endbr64, if there is one
	[ $((0x$addr - 0x$(awk '$3 == "vfs_read" {print $1}' /proc/kallsyms))) -le 4 ] ||
		fail "vfs_read is at $addr"
	equal "names" "$(cut -d' ' -f2- available_filter_functions_addrs | md5sum)" \
		"$(md5sum < available_filter_functions)"
}

text_is_never_writable_and_executable()
{
	local check=/sys/kernel/debug/check_wx_pages
	! dmesg | grep -q 'NX (Execute Disable) protection cannot be enabled' ||
		skip "all pages can be executed: $(dmesg | sed -n 's/.*cannot be enabled: //p')"
	dmesg | grep -q 'x86/mm: Checked W+X mappings: passed' ||
		fail "$(dmesg | grep 'Checked W+X' || echo 'CONFIG_DEBUG_WX is off')"
	[ -e $check ] || skip "no $check: CONFIG_PTDUMP_DEBUGFS is off"

	# With trampolines in use, and in the middle of making them
	echo 0 > tracing_on
	echo function > current_tracer
	equal "while tracing" "$(cat $check)" SUCCESS
	endlessly 'echo vfs_read > set_ftrace_filter; echo > set_ftrace_filter'
	for _ in 1 2 3; do
		equal "while switching" "$(cat $check)" SUCCESS
	done
	stop_endless
}

# What is called for a site may be in memory that the handler of faults maps.
nothing_is_traced_before_a_fault_maps_vmalloc()
{
	equal "sites" "$(grep -xE 'fault_in_kernel_space|do_kern_addr_fault|vmalloc_fault' \
		available_filter_functions)" ''
}

only_32_bits=
[ "$(size_of_long)" = 8 ] || only_32_bits=nothing_is_traced_before_a_fault_maps_vmalloc

# shellcheck disable=SC2086 # none or one
run_tests every_site_is_a_NOP_after_boot the_boot_message_says_so \
	every_site_is_a_call_while_all_are_traced only_the_filtered_site_is_a_call \
	a_round_of_any_size_leaves_out_none addresses_agree_with_kallsyms \
	text_is_never_writable_and_executable $only_32_bits
