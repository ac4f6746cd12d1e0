#!/bin/bash
# Puts what was counted for both engines side by side, with the goals.
set -eu
. "$(dirname "$0")/../lib.sh"

"$HARNESS/bench/table" "$HARNESS/bench/goals.tab" "$BUILD"/bench/{classic,text_sites}.tsv \
	"$BUILD/bench/table.tsv" | tee "$BUILD/bench/table.txt"
say "as a file: $(short "$BUILD/bench/table.tsv")"
