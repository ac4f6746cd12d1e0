#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of text sites have in common.
#
# A test is a shell function, run by "run_tests NAME...": its description is its
# name with spaces. It fails by calling fail or by a command that ends it under
# errexit; it starts and ends with tracing as it is after boot.

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$HERE/../kselftest/ktap_helpers.sh"

TRACING=/sys/kernel/tracing

fail()
{
	echo "# FAIL: $*"
	exit 1
}

skip()
{
	echo "# SKIP: $*"
	exit "$KSFT_SKIP"
}

# The state that every test starts with
reset_tracing()
{
	cd $TRACING || exit 1
	local instance
	for instance in instances/*/; do
		[ ! -d "$instance" ] || rmdir "$instance"
	done
	echo 0 > tracing_on
	echo nop > current_tracer
	! can_trace || reset_functions
	echo > trace
	echo 1 > tracing_on
}

# Kernels that cannot trace functions have text sites of other kinds.
can_trace() { [ -e $TRACING/set_ftrace_filter ]; }

reset_functions()
{
	echo > set_ftrace_pid
	echo > set_ftrace_notrace_pid
	echo 1 > /proc/sys/kernel/ftrace_enabled
	# Commands are taken away one by one
	local line
	grep -v '^#' set_ftrace_filter | grep ':' | grep -v ':mod:' |
	while read -r line; do
		echo "!$line" | sed 's/:unlimited$//' >> set_ftrace_filter
	done
	echo > set_ftrace_filter
	echo > set_ftrace_notrace
}

# What a test has left running in the background
stop_jobs()
{
	kill $(jobs -p) 2> /dev/null || :
	wait || :
}

complaints()
{
	dmesg | grep -E 'WARNING:|BUG:|Oops' || :
}

# check_clean COMPLAINTS-BEFORE: nothing may be attached to any function when a
# test ends, and the kernel may not have complained during it.
check_clean()
{
	! can_trace || [ -z "$(cat $TRACING/enabled_functions)" ] ||
		fail "left attached: $(head -n3 $TRACING/enabled_functions)"
	[ "$(complaints)" = "$1" ] || [ -z "$(complaints)" ] ||
		fail "the kernel complained: $(complaints | tail -n1)"
}

run_tests()
{
	local name status
	ktap_print_header
	ktap_set_plan $#
	for name; do
		( set -e; trap stop_jobs EXIT
		  reset_tracing; old=$(complaints)
		  "$name"; reset_tracing; check_clean "$old" ) 2>&1
		status=$?
		( reset_tracing ) 2>&1
		case $status in
		0) ktap_test_pass "${name//_/ }" ;;
		"$KSFT_SKIP") ktap_test_skip "${name//_/ }" ;;
		*) ktap_test_fail "${name//_/ }" ;;
		esac
	done
	ktap_finished
}

# equal WHAT GOT EXPECTED
equal()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"
}

# What the entries of functions hold, one kind a line, as "KIND NUMBER"; the
# names of the NOPs are all "nop". Functions by pattern of available names.
site_text()
{
	grep -E "^[0-9a-f]+ ${1:-.*}( |$)" $TRACING/available_filter_functions_addrs |
		"$HERE/site_text" | sed -E 's/^(nopl|prefix|jmp0|jmp3|lea) /nop /'
}

nr_available()
{
	wc -l < $TRACING/available_filter_functions
}

# spread_sites NUMBER: addresses of so many functions of the kernel, out of all, in one write
spread_sites()
{
	grep -v '\]$' $TRACING/available_filter_functions_addrs > /tmp/all_sites
	awk -v all="$(wc -l < /tmp/all_sites)" -v n="$1" \
		'int(NR * n / all) > int((NR - 1) * n / all) { print $1 }' /tmp/all_sites |
		dd bs=16M iflag=fullblock status=none
}

# The filter file's lines on one line
filter()
{
	grep -v '^#' "$TRACING/${1:-set_ftrace_filter}" | sort | xargs
}

# Some work that goes through many functions, until it is killed
load()
{
	while :; do
		ls -R /proc/1 /sys/kernel > /dev/null 2>&1
		cat /proc/kallsyms /proc/interrupts > /dev/null 2>&1
	done
}

# expect_error WHAT ERROR FILE TEXT: writing TEXT to FILE ends with ERROR
expect_error()
{
	local said
	if said=$( (printf '%s\n' "$4" > "$3") 2>&1 ); then
		said=$( (printf '%s' "$4" | dd of="$3" bs=64k status=none conv=notrunc) 2>&1 ) &&
			fail "$1: no error"
	fi
	[[ "$said" == *"$2"* ]] || fail "$1: '$said', expected '$2'"
}
