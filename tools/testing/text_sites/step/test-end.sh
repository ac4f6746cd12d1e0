#!/bin/bash
# Lists what did not pass, and counts.
set -eu
. "$(dirname "$0")/../lib.sh"

find "$BUILD/results" -type f -print0 | sort -z | xargs -0 -r cat |
	"$HARNESS/results" sum
