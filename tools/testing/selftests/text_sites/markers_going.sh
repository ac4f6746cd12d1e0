#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Markers of a module that goes, whose event stays: the last of the module that runs gets to one.

. "$(dirname "$0")/functions.sh"

MODULE=markers_late

remove_module()
{
	! grep -q "^$MODULE " /proc/modules || rmmod $MODULE
}

# Its place is switched on to the end, but has no marker any more.
a_place_that_stays_on_calls_nothing()
{
	[ -e available_markers ] || skip "no markers"
	[ -e "$HERE/test_modules/$MODULE.ko" ] || skip "no module $MODULE"
	trap 'stop_jobs; remove_module' EXIT
	insmod "$HERE/test_modules/$MODULE.ko"
	# Else the event goes as well, and switches the place off.
	echo traceon > events/late/free/trigger
	echo 1 > events/late/free/enable
	rmmod $MODULE
	equal "on" "$(cat events/late/free/enable)" '1*'
	equal "recorded" "$(grep -v '^#' trace)" ""
	insmod "$HERE/test_modules/$MODULE.ko"
	echo '!traceon' > events/late/free/trigger
	rmmod $MODULE
	[ ! -e events/late ] || fail "its events are left"
}

run_tests a_place_that_stays_on_calls_nothing
