#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Many functions with a direct call each, which come, go and change together: what each
# calls, what is refused, and who else may be there. The module direct_many asks for it.

. "$(dirname "$0")/functions.sh"

DIRECT=/sys/kernel/debug/direct_many
MODULE="$HERE/test_modules/functions_many.ko"

begin()
{
	configured FTRACE_ENGINE_TEXT_SITES || skip "this engine has no such calls"
	insmod "$HERE/test_modules/direct_many.ko" || fail "cannot load direct_many"
	trap 'stop_jobs; end' EXIT
}

end()
{
	[ ! -e /sys/kernel/livepatch/livepatch_sample ] || no_patch
	! grep -q '^functions_many ' /proc/modules || rmmod functions_many
	[ ! -e events/kprobes ] || { echo 0 > events/kprobes/enable; echo > kprobe_events; }
	rmmod direct_many
}

# ask COMMAND...: says what went wrong
ask()
{
	local said
	said=$( (echo "$*" > $DIRECT/do) 2>&1) || :
	echo "${said##*: }"
}

ok()
{
	equal "$*" "$(ask "$@")" ""
}

# calls EXPECTED: "FIRST-LAST SHIFT", with "none"
calls()
{
	equal "calls" "$(cat $DIRECT/calls)" "$1"
}

state()
{
	sed 's/tramp: .*//' enabled_functions
	cat $DIRECT/calls
}

# refused ERROR COMMAND...
refused()
{
	local error=$1 before
	shift
	case $error in
	EBUSY) error='Device or resource busy' ;;
	EINVAL) error='Invalid argument' ;;
	esac
	before=$(state)
	equal "$*" "$(ask "$@")" "$error"
	equal "$*: state" "$(state)" "$before"
}

nothing_attached()
{
	equal "enabled" "$(cat enabled_functions)" ""
}

each_function_its_own()
{
	begin
	calls "0-999 none"
	ok add 0 1000 5
	calls "0-999 5"
	equal "enabled" "$(grep -c ' (1) R   D' enabled_functions)" 1000
	ok mod 100 200 7
	calls "0-99 5 100-299 7 300-999 5"
	# All from what they have now, to what others have now
	ok mod 0 1000 6
	calls "0-999 6"
	ok del 0 100 6
	ok del 900 100 6
	calls "0-99 none 100-899 6 900-999 none"
	ok add 950 50 0
	ok mod 100 1 9000
	calls "0-99 none 100-100 9000 101-899 6 900-949 none 950-999 0"
	ok del 950 50 0
	ok del 101 799 6
	ok del 100 1 9000
	calls "0-999 none"
	nothing_attached
}

what_is_refused()
{
	local wrong
	begin
	for wrong in twice nowhere data; do
		refused EINVAL add-$wrong 0 10 0
	done
	refused EINVAL del 0 10 0
	refused EINVAL mod 0 10 0
	refused EINVAL add 0 0
	nothing_attached

	ok add 0 500 5
	for wrong in twice nowhere data; do
		refused EINVAL add-$wrong 500 10 0
		refused EINVAL mod-$wrong 0 10 0
		refused EINVAL del-$wrong 0 10 5
	done
	refused EBUSY add 490 20 5
	refused EBUSY other-add 499 2 0
	refused EINVAL mod 490 20 0
	refused EINVAL del 490 20 5
	refused EINVAL del 0 500 4
	refused EINVAL other-del 0 10 5
	ok other-add 500 500 6
	calls "0-499 5 500-999 6"
	refused EBUSY add 999 1 5
	refused EINVAL del 999 1 6
	ok other-del 500 500 6
	ok del 0 500 5
	nothing_attached
}

functions_that_go_on_elsewhere()
{
	begin
	ok ipmodify 600
	refused EBUSY add 590 20 5
	refused EBUSY add 600
	ok add 601 20 5
	refused EBUSY add 590 11 5
	ok mod 601 20 6
	ok not-ipmodify 0
	ok add 590 11 6
	refused EBUSY ipmodify 600
	calls "0-589 none 590-620 6 621-999 none"
	ok del 590 31 6
	ok ipmodify 600
	ok not-ipmodify 0
	nothing_attached
}

no_patch()
{
	echo 0 > /sys/kernel/livepatch/livepatch_sample/enabled
	while [ -e /sys/kernel/livepatch/livepatch_sample ]; do sleep 0.1; done
	# The directory goes before the module's last reference does.
	within 60 rmmod livepatch_sample 2> /dev/null || fail "livepatch_sample stays"
}

a_livepatch()
{
	local name
	begin
	modprobe -n livepatch-sample 2> /dev/null || skip "no livepatch-sample"
	for name in 'direct_many_0..' cmdline_proc_show; do
		sed -nE "s/ $name( .*)?\$//p" available_filter_functions_addrs
	done > /tmp/direct_sites
	dd if=/tmp/direct_sites of=$DIRECT/sites bs=1M status=none
	modprobe livepatch-sample
	refused EBUSY add 0 101 5
	ok add 0 100 5
	refused EBUSY add 100 1 105
	calls "0-99 5 100-999 none"
	grep -q 'has been live patched' /proc/cmdline || fail "not patched"
	no_patch
	ok add 100 1 105
	! modprobe livepatch-sample 2> /dev/null || fail "livepatch-sample beside a direct call"
	ok del 0 100 5
	ok del 100 1 105
	modprobe livepatch-sample
	no_patch
	nothing_attached
}

# The other tracers see each call once, and each call gets to its trampoline.
beside_others()
{
	local n
	begin
	echo 'direct_many_0*' > set_ftrace_filter
	echo function > current_tracer
	ok add 50 100 5
	calls "0-49 none 50-149 5 150-999 none"
	equal "traced" "$(grep -c ': direct_many_0[0-9][0-9] <-' trace)" 100
	equal "enabled" "$(grep -c ' (2) R   D' enabled_functions)" 50
	for n in 90 95 105; do
		echo "p direct_many_$(printf %03d $n)" >> kprobe_events
	done
	echo 1 > events/kprobes/enable
	ok mod 80 50 6
	echo > trace
	calls "0-49 none 50-79 5 80-129 6 130-149 5 150-999 none"
	equal "traced" "$(grep -c ': direct_many_0[0-9][0-9] <-' trace)" 100
	equal "probed" "$(grep -c ': p_direct_many_[01].*: (direct_many_' trace)" 3
	echo function_graph > current_tracer
	ok mod 80 50 7
	calls "0-49 none 50-79 5 80-129 7 130-149 5 150-999 none"
	echo nop > current_tracer
	ok del 80 50 7
	calls "0-49 none 50-79 5 80-129 none 130-149 5 150-999 none"
	echo 0 > events/kprobes/enable
	ok del 50 30 5
	ok del 130 20 5
	nothing_attached
}

switched_off_and_on()
{
	begin
	ok add 0 500 5
	echo 0 > /proc/sys/kernel/ftrace_enabled
	calls "0-999 none"
	ok mod 0 100 6
	ok del 100 100 5
	ok add 500 100 7
	calls "0-999 none"
	echo 1 > /proc/sys/kernel/ftrace_enabled
	calls "0-99 6 100-199 none 200-499 5 500-599 7 600-999 none"
	ok del 0 100 6
	ok del 200 300 5
	ok del 500 100 7
	nothing_attached
}

functions_of_a_module_that_goes()
{
	begin
	[ -e "$MODULE" ] || skip "no module functions_many"
	insmod "$MODULE"
	{ spread_sites 100
	  sed -n 's/ .*\[functions_many\]$//p' available_filter_functions_addrs
	} > /tmp/direct_sites
	dd if=/tmp/direct_sites of=$DIRECT/sites bs=1M status=none
	ok add 0 1100 5
	equal "enabled" "$(grep -c ' D ' enabled_functions)" 1100
	rmmod functions_many
	equal "enabled, module gone" "$(grep -c ' D ' enabled_functions)" 100
	ok mod 0 1100 6
	ok del 0 600 6
	insmod "$MODULE"
	ok del 600 500 6
	nothing_attached
}

# In the order of addresses: which trampoline each function calls
numbers()
{
	sed -n 's/.*direct-->direct_many_t\([0-9]*\)+0x0.*/\1/p' enabled_functions
}

ten_thousand_functions_of_the_kernel()
{
	begin
	spread_sites 10000 > $DIRECT/sites
	ok add 0 10000 0
	numbers | cmp -s - <(seq 0 9999) || fail "not each has its own"
	equal "text" "$(site_text | sort | xargs)" "call 10000 nop $(($(nr_available) - 10000))"
	echo function > current_tracer
	equal "text" "$(site_text)" "call $(nr_available)"
	ok mod 0 10000 5000
	echo nop > current_tracer
	numbers | cmp -s - <(seq 5000 9999; seq 0 4999) || fail "not each has another"
	ok del 0 10000 5000
	equal "text" "$(site_text)" "nop $(nr_available)"
	nothing_attached
}

run_tests each_function_its_own what_is_refused functions_that_go_on_elsewhere a_livepatch \
	beside_others switched_off_and_on functions_of_a_module_that_goes \
	ten_thousand_functions_of_the_kernel
