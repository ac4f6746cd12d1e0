#!/bin/bash
# Removes the build folder.
set -eu
. "$(dirname "$0")/../lib.sh"

rm -rf "$BUILD"
