#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NMIs while sites are switched. Somebody must send them: the test machine does, by the
# monitor of its emulator, if it is started with --nmi.

. "$(dirname "$0")/functions.sh"

MODULE="$HERE/test_modules/nmi_test.ko"
PARAMETERS=/sys/module/nmi_test/parameters
# Chains that the unwinder cannot follow to the end, whatever is traced. Entry code does not have
# unwind data for each instruction. In a task that has never run, the last frame returns to the
# start of ret_from_fork_asm(): the unwinder looks up the byte before it, in another function.
NO_END='^(asm_[^ ]*|sync_regs|error_entry) | ret_from_fork_asm$'

# As the kernel counts them, on all CPUs
nmis() { interrupts NMI; }

nmis_come() { [ "$(nmis)" -gt "$before" ]; }

need_nmis()
{
	before=$(nmis)
	trap 'stop_jobs; ! grep -q "^nmi_test " /proc/modules || rmmod nmi_test; remove_copies' EXIT
	[ -e "$MODULE" ] || skip "no module nmi_test"
	insmod "$MODULE"
	within 20 nmis_come || skip "no NMIs come"
}

# enough: have enough come, and enough of them when a breakpoint was there?
enough() { [ "$(cat $PARAMETERS/nmis)" -ge 500 ] && [ "$(cat $PARAMETERS/trapped)" -ge 20 ]; }

# until_enough COMMAND: again and again. The module counts from when it was loaded, the kernel
# is to have counted as many since then.
until_enough()
{
	local n
	for ((n = 0; n < 2000; n++)); do
		[ $n -lt 20 ] || ! enough || break
		"$@"
	done
	echo "# $n times, $(cat $PARAMETERS/nmis) NMIs, $(cat $PARAMETERS/trapped) with a breakpoint," \
		"$(cat $PARAMETERS/chains) chains of calls"
	enough || fail "NMIs were too few"
	[ $(($(nmis) - before)) -ge 500 ] || fail "the kernel has counted $(($(nmis) - before))"
	equal "wrong" "$(cat $PARAMETERS/wrong)" 0
	[ "$(cat $PARAMETERS/chains)" -ge 100 ] || fail "they come to programs only"
	chains_end
}

# Every chain has an end, but for those of NO_END.
chains_end()
{
	local where
	where=$(grep -vE "$NO_END" $PARAMETERS/broken | sort | uniq -c | sort -rn | head -n 20 || :)
	[ -z "$where" ] || fail "chains of calls without an end (function, last return address): $where"
}

on_and_off()
{
	echo function > current_tracer
	echo nop > current_tracer
}

everything_on_and_off()
{
	need_nmis
	load &
	until_enough on_and_off
	stop_jobs
	equal "text" "$(site_text)" "nop $(nr_available)"
}

# Those of the handler only, so that breakpoints are there much of the time
the_functions_of_the_handler_on_and_off()
{
	need_nmis
	echo ':mod:nmi_test' > set_ftrace_filter
	until_enough on_and_off
	echo function > current_tracer
	echo > trace
	within 20 grep -q ': nmi_test_9 <-at_nmi' trace || fail "not in the trace"
	echo 0 > tracing_on
	equal "text" "$(site_text '.* \[nmi_test\]')" "call $(wc -l < enabled_functions)"
}

flip()
{
	equal "flip" "$(cat $PARAMETERS/flip)" right
	on_and_off
}

a_jump_function_and_an_immediate_value_beside_it()
{
	need_nmis
	echo 'nmi_test_*' > set_ftrace_filter
	until_enough flip
}

graph_on_and_off()
{
	echo function_graph > current_tracer
	echo nop > current_tracer
}

return_addresses_are_found()
{
	need_nmis
	[ -e set_graph_function ] || skip "no function graph tracer"
	echo 'nmi_test_*' > set_ftrace_filter
	load &
	until_enough graph_on_and_off
}

# Each batch covers the tables of all of them.
with_two_hundred_modules()
{
	# shellcheck disable=SC2046 # each a word
	copies $(seq -f %03g 1 200)
	need_nmis
	load &
	until_enough on_and_off
	equal "there" "$(copies_there | wc -l)" 200
	stop_jobs
	equal "text" "$(site_text)" "nop $(nr_available)"
}

run_tests everything_on_and_off with_two_hundred_modules the_functions_of_the_handler_on_and_off \
	a_jump_function_and_an_immediate_value_beside_it return_addresses_are_found
