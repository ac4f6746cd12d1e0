#!/bin/bash
# Forgets the results of the tests that ran before.
set -eu
. "$(dirname "$0")/../lib.sh"

rm -rf "$RESULTS"
mkdir -p "$RESULTS"
