#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of the kernel's tracing samples have in common: each sample is
# loaded, does what it is for, and goes without leaving anything attached.
#
# A test is a shell function, run by "run_tests NAME...": its description is its
# name with spaces. It fails by calling fail or by a command that ends it under
# errexit.

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$HERE/../kselftest/ktap_helpers.sh"

TRACING=/sys/kernel/tracing
PATCHES=/sys/kernel/livepatch

fail()
{
	echo "# FAIL: $*"
	exit 1
}

# equal WHAT GOT EXPECTED
equal()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"
}

# load MODULE [PARAMETER...]; a kernel without it has nothing to test
load()
{
	if ! modinfo "$1" > /dev/null 2>&1; then
		echo "# SKIP: no module $1"
		exit "$KSFT_SKIP"
	fi
	modprobe "$@" || fail "$1 does not load"
}

unload()
{
	rmmod "$1" || fail "$1 does not unload"
}

# wait_for SECONDS COMMAND...: until COMMAND succeeds
wait_for()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}

# The kernel's messages since the test began, without their times
messages()
{
	dmesg | sed -n "/$BEGIN/,\$ s/^\[[^]]*\] *//p" | tail -n +2
}

says()
{
	messages | grep -q "$1"
}

# expect TEXT: the kernel says so, now or soon
expect()
{
	wait_for 10 says "$1" || fail "no '$1' among: $(messages | tail -n5)"
}

traced()
{
	grep -v '^#' "$TRACING/trace" | grep -q "$1"
}

expect_traced()
{
	wait_for 10 traced "$1" || fail "no '$1' in: $(tail -n5 "$TRACING/trace")"
}

# clean_up BEFORE: what a failed test has left behind
clean_up()
{
	local patch name
	for patch in "$PATCHES"/*/; do
		[ ! -e "$patch/enabled" ] || echo 0 > "$patch/enabled"
	done
	for name in $(left "$1"); do
		[ ! -d "/sys/module/$name" ] || wait_for 30 rmmod "$name" 2> /dev/null
	done
}

# left BEFORE: what is attached or loaded that was not before
left()
{
	attached | comm -13 <(echo "$1") -
}

attached()
{
	{
		cut -d' ' -f1 "$TRACING/enabled_functions"
		lsmod | cut -d' ' -f1
		ls "$PATCHES" 2> /dev/null
	} | sort
}

run_tests()
{
	local name status before
	before=$(attached)
	ktap_print_header
	ktap_set_plan $#
	for name; do
		BEGIN="trace_samples: $name $RANDOM"
		echo "$BEGIN" > /dev/kmsg
		echo > "$TRACING/trace"
		( set -e
		  "$name"
		  [ -z "$(left "$before")" ] || fail "left behind: $(left "$before" | xargs)"
		  ! messages | grep -E 'WARNING:|BUG:|Oops' ||
			fail "the kernel complained" ) 2>&1
		status=$?
		case $status in
		0) ktap_test_pass "${name//_/ }" ;;
		"$KSFT_SKIP") ktap_test_skip "${name//_/ }" ;;
		*) ktap_test_fail "${name//_/ }"; clean_up "$before" 2>&1 ;;
		esac
	done
	ktap_finished
}
