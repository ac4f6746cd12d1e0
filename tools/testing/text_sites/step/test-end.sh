#!/bin/bash
# Lists what did not pass, and counts.
set -eu
. "$(dirname "$0")/../lib.sh"

find "$RESULTS" -type f ! -name '*.of' -print0 | sort -z | xargs -0 -r cat |
	"$HARNESS/results" sum
