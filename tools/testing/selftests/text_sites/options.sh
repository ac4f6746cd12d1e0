#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The running kernel is what it was configured to be. Who starts it may say what it is to
# have, as "options=RCU_EXPERT,HZ=250,SWAP=n" on its command line; and of some options,
# what they do can be seen.

. "$(dirname "$0")/functions.sh"

configuration > /dev/null || {
	echo "1..0 # SKIP the kernel does not show its configuration"
	exit 4
}

has() { configured "$1=y"; }

# known FUNCTION: its symbol, which may have a suffix that the compiler has added
known() { awk '{ print $3 }' /proc/kallsyms | grep -E -m1 "^$1(\.|$)"; }

the_options_asked_for_are_set()
{
	local asked option
	asked=$(sed -n 's/.*\<options=\([^ ]*\).*/\1/p' /proc/cmdline)
	[ -n "$asked" ] || skip "no options= on the command line"
	for option in ${asked//,/ }; do
		case $option in
		*=n) ! has "${option%=n}" || fail "$option: it is set" ;;
		*=*) configured "$option" || fail "$option: it is not" ;;
		*) has "$option" || fail "$option: it is not set" ;;
		esac
	done
}

# nr_nops OFFSET ADDRESS...: NOPs where the calls of tracers may be, so many bytes behind these
nr_nops()
{
	local offset=$1 address
	shift
	for address; do printf '%x\n' $((0x$address + offset)); done |
		"$HERE/site_text" 2> /dev/null |
		awk '$1 ~ /^(nopl|prefix|jmp0|jmp3|lea)$/ { n += $2 } END { print n + 0 }'
}

# With IBT, a function that may be called indirectly begins with ENDBR, or with the NOP that the
# kernel has put in its place; the entry follows it.
functions_have_entries_if_they_can_be_traced()
{
	local functions first behind
	mapfile -t functions < <(awk '$2 ~ /^[tT]$/ && $3 ~ /^vfs_[a-z]*$/ { print $1 }' /proc/kallsyms)
	[ ${#functions[@]} -gt 20 ] || fail "${#functions[@]} functions"
	first=$(nr_nops 0 "${functions[@]}")
	behind=$(nr_nops 4 "${functions[@]}")
	if has DYNAMIC_FTRACE; then
		grep -qw function available_tracers || fail "no function tracer"
		equal "entries" $((first + behind)) ${#functions[@]}
		if has X86_KERNEL_IBT; then
			[ "$behind" -gt "$first" ] || fail "$behind behind ENDBR, $first not"
		else
			equal "behind ENDBR" "$behind" 0
		fi
	else
		! grep -qw function available_tracers || fail "a function tracer"
		equal "entries" $((first + behind)) 0
	fi
}

one_engine_is_there()
{
	equal "text sites" "$(known fentry_apply)" \
		"$(! has FTRACE_ENGINE_TEXT_SITES || echo fentry_apply)"
	equal "classic" "$(known ftrace_rec_iter_start)" \
		"$(! has FTRACE_ENGINE_CLASSIC || echo ftrace_rec_iter_start)"
}

# how_often FUNCTION: it is called for ten events
how_often()
{
	local i
	dmesg -C
	modprobe kprobe_example symbol="$1"
	for ((i = 0; i < 10; i++)); do echo "event $i" > trace_marker; done
	rmmod kprobe_example
	dmesg | grep -c "<$1> p->addr" || :
}

# Also those that are written in a few instructions, which most are
times_of_events_are_checked()
{
	local function found n
	modinfo kprobe_example > /dev/null 2>&1 || skip "no module kprobe_example"
	for function in rb_fast_check_time check_buffer; do
		found=$(known $function || :)
		if ! has RING_BUFFER_VALIDATE_TIME_DELTAS; then
			equal "$function" "$found" ""
			continue
		fi
		[ -n "$found" ] || fail "no $function"
		n=$(how_often "$found")
		[ "$n" -ge 9 ] || fail "$found was called $n times"
	done
	equal "events" "$(grep -c 'tracing_mark_write: event' trace)" \
		"$(! has RING_BUFFER_VALIDATE_TIME_DELTAS && echo 0 || echo 20)"
}

the_ring_buffer_has_tested_itself()
{
	dmesg | grep -q 'Linux version' || skip "the log does not go back to when the kernel started"
	equal "messages" "$(dmesg | grep -o 'Ring buffer PASSED!')" \
		"$(! has RING_BUFFER_STARTUP_TEST || echo 'Ring buffer PASSED!')"
}

interrupts_are_threads_if_it_is_real_time()
{
	local threads
	threads=$(cat /proc/[0-9]*/comm 2> /dev/null | grep -c '^irq/.*ttyS' || :)
	if has PREEMPT_RT; then
		[[ "$(uname -v)" == *PREEMPT_RT* ]] || fail "$(uname -v)"
		[ "$threads" -ge 1 ] || fail "no thread for the serial port's interrupt"
	else
		[[ "$(uname -v)" != *PREEMPT_RT* ]] || fail "$(uname -v)"
		equal "threads" "$threads" 0
	fi
}

preempted_as_configured()
{
	local version how='' asked
	version=$(uname -v)
	if has PREEMPT_RT; then how=PREEMPT_RT
	elif has PREEMPT_DYNAMIC; then how=PREEMPT_DYNAMIC
	elif has PREEMPT_BUILD; then how=PREEMPT
	fi
	equal "preemption" "$(tr ' ' '\n' <<< "$version" | grep PREEMPT)" "$how"
	equal "processors" "$(tr ' ' '\n' <<< "$version" | grep -x SMP)" "$(! has SMP || echo SMP)"
	# The mode in parentheses is the one that was chosen when the kernel started.
	asked=$(sed -n 's/.*\<preempt=\([a-z]*\).*/\1/p' /proc/cmdline)
	[ -z "$asked" ] || equal "mode" "$(grep -o '([a-z]*)' /sys/kernel/debug/sched/preempt)" "($asked)"
}

modules_can_be_loaded_if_configured()
{
	equal "/proc/modules" "$(! [ -e /proc/modules ] || echo there)" "$(! has MODULES || echo there)"
}

# The table of one, and the function by which the other checks a frame
stacks_are_unwound_as_configured()
{
	equal "ORC" "$(known __start_orc_unwind)" "$(! has UNWINDER_ORC || echo __start_orc_unwind)"
	equal "frame pointers" "$(known update_stack_state)" \
		"$(! has UNWINDER_FRAME_POINTER || echo update_stack_state)"
}

# It switches itself off when it has found something.
lockdep_is_on_if_there()
{
	local stats=/proc/lockdep_stats
	if has PROVE_LOCKING; then
		grep -qE '^ *debug_locks: +1$' $stats || fail "$(grep debug_locks $stats)"
		[ "$(awk '/lock-classes:/ { print $2 }' $stats)" -gt 100 ] || fail "$(head -n1 $stats)"
	else
		[ ! -e $stats ] || fail "$stats"
	fi
}

# What is compiled in another way calls it for each access.
accesses_are_checked_as_configured()
{
	local kcsan=/sys/kernel/debug/kcsan before
	equal "KASAN" "$(known kasan_report)" "$(! has KASAN || echo kasan_report)"
	equal "KCSAN" "$(known __tsan_read8)" "$(! has KCSAN || echo __tsan_read8)"
	if has KASAN && dmesg | grep -q 'Linux version'; then
		dmesg | grep -q 'kasan: KernelAddressSanitizer initialized' || fail "KASAN is off"
	fi
	if has KCSAN; then
		grep -qx 'enabled: 1' $kcsan || fail "KCSAN: $(grep enabled: $kcsan)"
		before=$(awk '/^setup_watchpoints:/ { print $2 }' $kcsan)
		ls -R /proc/1 /sys/kernel > /dev/null 2>&1 || :
		[ "$(awk '/^setup_watchpoints:/ { print $2 }' $kcsan)" -gt "$before" ] ||
			fail "KCSAN watches nothing: $before"
	fi
}

# A module of the base's does what is not defined.
what_is_not_defined_is_reported_as_configured()
{
	local kind
	equal "UBSAN" "$(known __ubsan_handle_shift_out_of_bounds)" \
		"$(! has UBSAN_SHIFT || echo __ubsan_handle_shift_out_of_bounds)"
	has UBSAN || return 0
	modinfo test_ubsan > /dev/null 2>&1 || skip "no module test_ubsan"
	dmesg -C
	modprobe test_ubsan
	modprobe -r test_ubsan
	for kind in shift-out-of-bounds array-index-out-of-bounds invalid-load; do
		dmesg | grep -q "UBSAN: $kind in .*lib/test_ubsan.c:" || fail "no report of $kind"
	done
}

objects_are_tracked_as_configured()
{
	local stats=/sys/kernel/debug/debug_objects/stats
	if has DEBUG_OBJECTS; then
		[ "$(sed -n 's/^pool_used *: *//p' $stats)" -gt 0 ] || fail "$(cat $stats)"
		equal "warnings" "$(sed -n 's/^warnings *: *//p' $stats)" 0
	else
		[ ! -e $stats ] || fail "$stats"
	fi
}

types_of_functions_are_checked_as_configured()
{
	local said=''
	dmesg | grep -q 'Linux version' || skip "the log does not go back to when the kernel started"
	! has CFI_CLANG || said='Using kCFI'
	equal "kCFI" "$(dmesg | grep -o 'Using kCFI' | head -n1)" "$said"
}

# Who starts it may say how many there are.
all_processors_are_online()
{
	local asked
	asked=$(sed -n 's/.*\<cpus=\([0-9]*\).*/\1/p' /proc/cmdline)
	[ -n "$asked" ] || asked=$(nproc --all)
	equal "processors" "$(nproc)" "$asked"
}

# mapped ADDRESS: does a segment of /proc/kcore begin there? Its ELF64 program headers have 56 bytes
# each, begin at offset 64, and have the address as their third word.
mapped() { od -An -v -t x8 -w56 -j64 -N1120 /proc/kcore | awk '{ print $3 }' | grep -qx "$1"; }

# Without KASLR, the kernel's text and vmalloc area are at these addresses. KASLR moves both; that
# it chooses both of them again happens once in millions of boots.
the_kernel_is_where_it_may_be()
{
	local moved=1
	[ "$(uname -m)" = x86_64 ] || skip "not for this architecture"
	! grep -qE '^ffffffff81000000 . _text$' /proc/kallsyms || ! mapped ffffc90000000000 || moved=0
	if has RANDOMIZE_BASE && ! grep -qw nokaslr /proc/cmdline; then
		equal "moved" $moved 1
	else
		equal "moved" $moved 0
	fi
}

# On one processor, a kernel for several replaces lock prefixes by those of the ds segment. One that
# is compiled for one processor has none.
instructions_lock_if_there_are_processors()
{
	local locks byte
	[ -e "$HERE/test_modules/nmi_test.ko" ] || skip "no module nmi_test"
	insmod "$HERE/test_modules/nmi_test.ko"
	trap 'rmmod nmi_test' EXIT
	locks=$(cat /sys/module/nmi_test/sections/.smp_locks 2> /dev/null) || locks=''
	if ! has SMP; then
		equal "places" "$locks" ''
		return
	fi
	[ -n "$locks" ] || fail "no atomic instruction in nmi_test"
	byte=$(lock_prefix $((locks)))
	if [ "$(< /sys/devices/system/cpu/possible)" = 0 ]; then
		equal "prefix" "$byte" 3e
	else
		equal "prefix" "$byte" f0
	fi
}

bytes_at() { "$HERE/site_text" "$(printf %x "$1")" "$(printf %x $(($1 + $2)))"; }

# lock_prefix ENTRY: the byte that the entry of the table says how far it is from itself
lock_prefix()
{
	local offset; offset=$(bytes_at "$1" 4 | od -An -t d4)
	bytes_at $(($1 + offset)) 1 | od -An -t x1 | tr -d ' '
}

# Who starts it may say what is to be done for the processor, as "mitigated=retbleed:stuffing".
vulnerabilities_are_mitigated_as_asked_for()
{
	local asked of how
	asked=$(sed -n 's/.*\<mitigated=\([^ ]*\).*/\1/p' /proc/cmdline)
	[ -n "$asked" ] || skip "no mitigated= on the command line"
	for of in ${asked//,/ }; do
		how=$(cat "/sys/devices/system/cpu/vulnerabilities/${of%%:*}")
		grep -qi "^[a-z]*:* *${of#*:}" <<< "$how" || fail "$of: $how"
	done
}

# By probes of tracepoints, which are text for initialisation if there are no modules
initcalls_are_logged_as_asked_for()
{
	local calls asked=0
	dmesg | grep -q 'Linux version' || skip "the log does not go back to when the kernel started"
	grep -qw initcall_debug /proc/cmdline && asked=1
	calls=$(dmesg | grep -cE 'initcall .* returned .* after' || :)
	equal "logged" "$((calls > 100))" $asked
}

# First what needs the log, as others empty it
run_tests the_ring_buffer_has_tested_itself initcalls_are_logged_as_asked_for \
	types_of_functions_are_checked_as_configured the_options_asked_for_are_set \
	all_processors_are_online functions_have_entries_if_they_can_be_traced one_engine_is_there \
	accesses_are_checked_as_configured times_of_events_are_checked \
	interrupts_are_threads_if_it_is_real_time preempted_as_configured \
	modules_can_be_loaded_if_configured stacks_are_unwound_as_configured lockdep_is_on_if_there \
	objects_are_tracked_as_configured what_is_not_defined_is_reported_as_configured \
	the_kernel_is_where_it_may_be instructions_lock_if_there_are_processors \
	vulnerabilities_are_mitigated_as_asked_for
