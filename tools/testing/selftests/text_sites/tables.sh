#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Modules whose tables of text sites are not as the build makes them.

. "$(dirname "$0")/functions.sh"

# The kernel is expected to report text that does not match a damaged table.
# shellcheck disable=SC2034 # for functions.sh
WRONG_TEXT='is still jumped into|its sites are not switched'

need_modules()
{
	[ -e "$HERE/test_modules/tables_test.ko" ] || skip "no module tables_test"
	command -v perl > /dev/null || skip "no perl"
	configured TEXT_SITES || skip "no text sites"
}

whatever_a_table_holds()
{
	need_modules
	dmesg -c > /dev/null
	perl "$HERE/change_tables.pl" "$HERE/test_modules/tables_test.ko"
	# Others are refused as well when a reference is read that is not there, but not for this.
	dmesg | grep -qE ': [1-9][0-9]* bytes of __[a-z]+_sites and [1-9][0-9]* bytes of __[a-z]+_refs do not match' ||
		fail "fewer references than sites are not noticed"
}

# The other module could go, and what is referred to with it.
what_is_in_a_module_that_is_not_needed()
{
	need_modules
	insmod "$HERE/test_modules/immediate_owner.ko"
	trap 'rmmod immediate_owner' EXIT
	local value function
	value=$(sed -n 's/ . imv_test_limit\t.*//p' /proc/kallsyms)
	function=$(sed -n 's/ . limit_set\t.*//p' /proc/kallsyms)
	perl "$HERE/change_tables.pl" "$HERE/test_modules/tables_test.ko" \
		"__value_refs:$value" "__dynfunc_sites:$function"
}

# How many, and with which seed, may be said on the kernel's command line.
anything_at_random()
{
	local number seed
	need_modules
	number=$(sed -n 's/.*\<tables=\([0-9]*\).*/\1/p' /proc/cmdline)
	seed=$(sed -n 's/.*\<tables_seed=\([0-9]*\).*/\1/p' /proc/cmdline)
	perl "$HERE/change_tables.pl" "$HERE/test_modules/tables_test.ko" any "${number:-200}" \
		"${seed:-1}"
	equal "text" "$(site_text)" "nop $(nr_available)"
}

# This module has functions, but none of what the other tables are of.
a_table_that_is_not_there_is_noticed()
{
	need_modules
	! perl "$HERE/change_tables.pl" "$HERE/test_modules/ops_test.ko" > /tmp/said 2>&1 ||
		fail "it is not noticed"
	grep -q 'ops_test.ko has no __[a-z]*_sites$' /tmp/said || fail "$(< /tmp/said)"
}

run_tests anything_at_random whatever_a_table_holds what_is_in_a_module_that_is_not_needed \
	a_table_that_is_not_there_is_noticed
