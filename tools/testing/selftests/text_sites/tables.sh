#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Modules whose tables of text sites are not as the build makes them.

. "$(dirname "$0")/functions.sh"

whatever_a_table_holds()
{
	[ -e "$HERE/test_modules/tables_test.ko" ] || skip "no module tables_test"
	command -v perl > /dev/null || skip "no perl"
	perl "$HERE/change_tables.pl" "$HERE/test_modules/tables_test.ko"
}

run_tests whatever_a_table_holds
