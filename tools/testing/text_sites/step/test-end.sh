#!/bin/bash
# Lists what did not pass, and counts.
set -eu
. "$(dirname "$0")/../lib.sh"

# missing: which of the tests that these steps were to run have no result
missing()
{
	local name
	# A step that failed is in the list, and others may not have been tried.
	[ ! -e "$RESULTS/steps" ] || return 0
	{
		[[ $ALL_STEPS != *' test-machine '* ]] || machines
		[[ $ALL_STEPS != *' test-host '* ]] || host_tests
	} | while read -r name _; do
		[ -s "$RESULTS/$name" ] || printf 'fail\t%s\thas no result\t-\n' "$name"
	done
}

{
	find "$RESULTS" -type f ! -name '*.of' -print0 | sort -z | xargs -0 -r cat
	missing
} | "$HARNESS/results" sum
