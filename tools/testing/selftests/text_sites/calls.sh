#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Wrong calls by other kernel code: the errors they have always got, and nothing
# changed. The module ops_test makes the calls.

. "$(dirname "$0")/functions.sh"

PARAMETERS=/sys/module/ops_test/parameters

need_ops_test()
{
	insmod "$HERE/test_modules/ops_test.ko" || fail "cannot load ops_test"
	printk=$(cut -f1 /proc/sys/kernel/printk)
	trap 'stop_jobs; echo $printk > /proc/sys/kernel/printk; rmmod ops_test' EXIT
}

need_direct()
{
	configured DYNAMIC_FTRACE_WITH_DIRECT_CALLS || skip "no direct calls"
	need_ops_test
}

# call COMMAND OPS [ARGUMENT]: says what went wrong
call()
{
	local said
	said=$( (echo "$*" > $PARAMETERS/do) 2>&1) || :
	echo "${said##*: }"
}

ok()
{
	equal "$*" "$(call "$@")" ""
}

# What is attached where, and what is called when f and g are
state()
{
	sed 's/tramp: .*//' enabled_functions
	cat $PARAMETERS/calls
}

# refused ERROR COMMAND OPS [ARGUMENT]
refused()
{
	local error=$1 before
	shift
	case $error in
	EBUSY) error='Device or resource busy' ;;
	EINVAL) error='Invalid argument' ;;
	ENOENT) error='No such file or directory' ;;
	*) fail "no name for $error" ;;
	esac
	before=$(state)
	equal "$*" "$(call "$@")" "$error"
	equal "$*: state" "$(state)" "$before"
}

# with_warning COMMAND...: the kernel warns of it once, and has no other complaint. The warning
# is kept off the console, where it would fail the machine.
with_warning()
{
	local said
	dmesg -c > /dev/null
	echo 1 > /proc/sys/kernel/printk
	"$@"
	said=$(complaints)
	dmesg -c > /dev/null
	echo "$printk" > /proc/sys/kernel/printk
	[[ "$said" == *'WARNING: '*' at kernel/trace/'* && "$said" != *$'\n'* ]] ||
		fail "$*: not one warning: '$said'"
}

refused_with_warning() { with_warning refused "$@"; }

# calls EXPECTED: how often f and g made each ops, or trampoline, run
calls()
{
	equal "calls" "$(sed 's/ *$//' $PARAMETERS/calls)" "$1"
}

# calls_of NAME F G
calls_of()
{
	[[ " $(cat $PARAMETERS/calls) " == *" $1 $2 $3 "* ]] ||
		fail "$1 not called $2 and $3 times: $(cat $PARAMETERS/calls)"
}

registered_twice()
{
	need_ops_test
	ok ip a f
	ok register a
	calls_of a 1 0
	refused_with_warning EBUSY register a
	calls_of a 1 0
	ok unregister a
	calls_of a 0 0
}

unregistered_twice()
{
	need_ops_test
	refused_with_warning EBUSY unregister a
	ok ip a f
	refused_with_warning EBUSY unregister a
	ok register a
	ok unregister a
	refused_with_warning EBUSY unregister a
	# With others there
	ok ip b f
	ok register b
	refused_with_warning EBUSY unregister a
	calls_of b 1 0
	ok register a
	calls_of a 1 0
	ok unregister b
	ok unregister a
}

addresses_that_are_no_site()
{
	need_ops_test
	local where
	for where in none user text data last; do
		refused EINVAL ip a $where
		refused EINVAL only-ip a $where
		refused EINVAL not-ip a $where
		refused EINVAL ips a $where
	done
	ok ip a f
	ok register a
	for where in none user text data last; do
		refused EINVAL ip a $where
		refused EINVAL only-ip a $where
		refused EINVAL not-ip a $where
		refused EINVAL ips a $where
		refused EINVAL not-ips a $where
	done
	calls_of a 1 0
	ok unregister a
}

sites_that_are_not_in_the_filter()
{
	need_ops_test
	refused ENOENT not-ip a f
	ok ip a f
	refused ENOENT not-ip a g
	# f is, g is not: neither goes
	refused ENOENT not-ips a g
	ok register a
	refused ENOENT not-ip a g
	refused ENOENT not-ips a g
	calls_of a 1 0
	ok ip a f
	calls_of a 1 0
	ok ips a g
	calls_of a 1 1
	ok not-ip a f
	calls_of a 0 1
	ok unregister a
}

names_that_nobody_has()
{
	need_ops_test
	local command
	ok ip a f
	ok register a
	for command in filter only-filter notrace; do
		refused EINVAL $command a no_such_function
		refused EINVAL $command a 'no_such_*'
		refused EINVAL $command a '!no_such_function'
		refused EINVAL $command a '*['
		refused EINVAL $command a 'ops_test_f:traceoff'
	done
	calls_of a 1 0
	ok only-filter a ops_test_g
	calls_of a 0 1
	ok filter a 'ops_test_*'
	calls_of a 1 1
	ok notrace a ops_test_g
	calls_of a 1 0
	ok unregister a
}

no_filter_is_everything()
{
	need_ops_test
	ok ip a f
	ok no-filter a
	ok register a
	calls_of a 1 1
	equal "enabled" "$(wc -l < enabled_functions)" "$(nr_available)"
	ok only-ip a g
	calls_of a 0 1
	ok unregister a
}

filters_freed_while_in_use()
{
	configured TEXT_SITES || skip "this engine goes on using them"
	need_ops_test
	local before
	ok ip a f
	ok register a
	before=$(state)
	with_warning ok free a
	equal "state" "$(state)" "$before"
	ok unregister a
	ok free a
	ok free a
	ok ip a g
	ok register a
	calls_of a 0 1
	ok unregister a
}

flags_that_do_not_go()
{
	need_ops_test
	# Not everything there is
	ok new a ipmodify
	ok ip a f
	ok not-ip a f
	refused EINVAL register a
	ok ip a f
	ok no-filter a
	refused EINVAL register a
	ok new a deleted
	ok ip a f
	refused EINVAL register a
	ok new a ''
	ok ip a f
	ok register a
	calls_of a 1 0
	ok unregister a
}

two_that_change_where_a_function_goes()
{
	need_ops_test
	ok new a ipmodify
	ok ip a f
	ok register a
	ok new b ipmodify
	ok ip b f
	refused EBUSY register b
	# It is as if it had not been tried
	ok only-ip b g
	ok register b
	calls 'a 1 0 b 0 1 c 0 0 one 0 0 two 0 0'
	refused EBUSY ip b f
	refused EBUSY only-ip a g
	refused EBUSY filter b 'ops_test_*'
	refused EINVAL no-filter b
	# Others may be there
	ok ip c f
	ok register c
	calls_of c 1 0
	ok unregister a
	ok ip b f
	calls_of b 1 1
	ok unregister c
	ok unregister b
}

permanent_ones_and_the_sysctl()
{
	need_ops_test
	local sysctl=/proc/sys/kernel/ftrace_enabled before
	ok new a permanent
	ok ip a f
	echo 0 > $sysctl
	refused EBUSY register a
	echo 1 > $sysctl
	ok register a
	before=$(state)
	expect_error "sysctl" "Device or resource busy" $sysctl 0
	equal "sysctl" "$(cat $sysctl)" 1
	equal "state" "$(state)" "$before"
	calls_of a 1 0
	ok unregister a
	echo 0 > $sysctl
	equal "sysctl" "$(cat $sysctl)" 0
	echo 1 > $sysctl
}

direct_calls()
{
	need_direct
	ok new a direct
	# Nothing to attach to
	refused EINVAL direct a one
	ok ip a f
	ok not-ip a f
	refused EINVAL direct a one
	ok ip a f
	# Not there yet
	refused EINVAL not-direct a one
	refused EINVAL modify-direct a two
	ok direct a one
	calls_of one 1 0
	refused EINVAL direct a one
	refused EINVAL direct a two
	calls_of one 1 0
	ok modify-direct a two
	calls_of one 0 0
	calls_of two 1 0
	ok not-direct a two
	calls_of two 0 0
	refused EINVAL not-direct a two
	refused EINVAL modify-direct a one
	# And once more
	ok direct a one
	calls_of one 1 0
	ok not-direct a one
}

two_direct_calls_on_a_function()
{
	need_direct
	ok new a direct
	ok new b direct
	ok ip a f
	ok ips b g
	ok direct a one
	refused EBUSY direct b two
	ok only-ip b g
	ok direct b two
	calls 'a 0 0 b 0 0 c 0 0 one 1 0 two 0 1'
	ok not-direct a one
	ok not-direct b two
}

ordinary_ones_are_not_direct()
{
	need_direct
	ok ip a f
	refused EINVAL direct a one
	ok register a
	refused EINVAL direct a one
	refused EINVAL modify-direct a one
	refused EINVAL not-direct a one
	calls_of a 1 0
	ok unregister a
}

direct_calls_beside_others()
{
	need_direct
	ok new a direct
	ok ip a f
	ok ip b f
	ok new c ipmodify
	ok ip c f
	ok direct a one
	ok register b
	calls 'a 0 0 b 1 0 c 0 0 one 1 0 two 0 0'
	# Who has a direct call would have to agree, and cannot
	refused EBUSY register c
	ok not-direct a one
	ok register c
	calls 'a 0 0 b 1 0 c 1 0 one 0 0 two 0 0'
	refused EBUSY direct a one
	ok unregister c
	ok direct a one
	calls 'a 0 0 b 1 0 c 0 0 one 1 0 two 0 0'
	ok unregister b
	calls 'a 0 0 b 0 0 c 0 0 one 1 0 two 0 0'
	ok not-direct a one
}

# A module that goes with its own calls attached takes them along
left_when_the_module_goes()
{
	need_ops_test
	ok ip a f
	ok register a
	ok ips b g
	ok register b
	calls 'a 1 0 b 1 1 c 0 0 one 0 0 two 0 0'
	rmmod ops_test
	equal "enabled" "$(cat enabled_functions)" ""
	insmod "$HERE/test_modules/ops_test.ko"
	calls_of a 0 0
}

a_table_that_refers_to_data()
{
	configured FTRACE_ENGINE_TEXT_SITES || skip "not this engine's format of tables"
	local before
	before=$(nr_available)
	dmesg -c > /dev/null
	! insmod "$HERE/test_modules/bad_table.ko" 2> /dev/null || fail "bad_table was loaded"
	dmesg | grep -q 'text_site: bad_table: entry 1 of the .* table refers to .*, which is not in its text' ||
		fail "no message: $(dmesg | tail -n3)"
	equal "functions" "$(nr_available)" "$before"
}

run_tests registered_twice unregistered_twice addresses_that_are_no_site \
	sites_that_are_not_in_the_filter names_that_nobody_has \
	no_filter_is_everything filters_freed_while_in_use flags_that_do_not_go \
	two_that_change_where_a_function_goes permanent_ones_and_the_sysctl direct_calls two_direct_calls_on_a_function \
	ordinary_ones_are_not_direct direct_calls_beside_others left_when_the_module_goes \
	a_table_that_refers_to_data
