#!/bin/bash
# Forgets the results of earlier tests, but for what has passed on the same files: that need not run
# again. With AGAIN=1, machines do.
set -eu
. "$(dirname "$0")/../lib.sh"

mkdir -p "$RESULTS" "$RESULTS.before"
if [ -n "${AGAIN:-}" ]; then
	find "$RESULTS.before" -type f ! -name 'host-*' ! -name 'check*' -delete
	find "$RESULTS" -type f ! -name 'host-*' ! -name 'check*' -delete
fi
find "$RESULTS" -type f -exec mv -t "$RESULTS.before" {} +
