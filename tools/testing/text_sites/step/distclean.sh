#!/bin/bash
# Removes the build folder.
set -eu
. "$(dirname "$0")/clean.sh"

rm -rf "$BUILD"
