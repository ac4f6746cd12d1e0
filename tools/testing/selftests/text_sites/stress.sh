#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Everything at once, for a minute (or as long as $STRESS_SECONDS says).

. "$(dirname "$0")/functions.sh"

SECONDS_EACH=${STRESS_SECONDS:-60}

the_tracer_on_and_off_under_load()
{
	local n=0 end=$((SECONDS + SECONDS_EACH))
	load & load &
	while [ $SECONDS -lt $end ]; do
		echo function > current_tracer
		echo nop > current_tracer
		n=$((n + 1))
	done
	echo "# $n times"
	equal "text" "$(site_text)" "nop $(nr_available)"
}

run_tests the_tracer_on_and_off_under_load
