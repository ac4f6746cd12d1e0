#!/bin/bash
# Forgets the results of the tests that ran before.
set -eu
. "$(dirname "$0")/../lib.sh"

rm -rf "$BUILD/results"
mkdir "$BUILD/results"
