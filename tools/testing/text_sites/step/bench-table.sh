#!/bin/bash
# Puts what was counted for both engines side by side, with the goals.
set -eu
. "$(dirname "$0")/../lib.sh"

bench=$BUILD/bench
cat "$bench"/text_sites{,-indirect}.tsv >"$bench/ours.tsv"
"$HARNESS/bench/table" "$HARNESS/bench/goals.tab" "$bench"/{classic,ours}.tsv \
	"$bench/table.tsv" | tee "$bench/table.txt"

# What instructions do not tell
gcc -O2 -Wall -mno-red-zone -fno-pie -no-pie -o "$bench/calls" "$HARNESS/bench/calls.c" ||
	die "$(short "$HARNESS/bench/calls.c") does not compile"
say "this processor, not the emulated one:"
"$bench/calls" | tee "$bench/calls.txt"
say "as a file: $(short "$BUILD/bench/table.tsv")"
