#!/bin/bash
# Removes what was built; the compiler's cache stays.
set -eu
. "$(dirname "$0")/../lib.sh"

find "$BUILD" -mindepth 1 -maxdepth 1 ! -name ccache ! -name lock -exec rm -rf {} +
