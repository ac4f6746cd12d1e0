#!/bin/bash
# Puts what was counted in the base and with our engine side by side, with the goals.
set -eu
. "$(dirname "$0")/../lib.sh"

bench=$BUILD/bench

# counts KERNEL: of the parts that ROWS picks
counts()
{
	local part
	awk '/^[^#]/ { print $1 }' "$HARNESS/bench/parts.tab" | "$HARNESS/vm/pick" "$ROWS" |
	while read -r part; do
		[ ! -e "$bench/$1.$part" ] || cat "$bench/$1.$part"
	done
}

# realtime ENGINE: how late an interrupt and a real-time task are at most
realtime() { counts "$1-realtime" | sed -n 's/^[a-z]*\.max/realtime.&/p'; }

{
	counts base
	realtime base
} >"$bench/base.tsv"
{
	counts text_sites
	realtime text_sites
	# Of this one only what indirect calls cost
	counts text_sites-indirect | sed -n 's/^hackbench\.1/hackbench.indirect/p'
} >"$bench/ours.tsv"
"$HARNESS/bench/table" "$HARNESS/bench/goals.tab" "$bench"/{base,ours}.tsv \
	"$bench/table.tsv" | tee "$bench/table.txt"
"$HARNESS/bench/draw" "$bench"/{base,ours}.tsv "$bench" | while IFS= read -r picture; do
	say "a picture: $(short "$picture")"
done

# What instructions do not tell
gcc -O2 -Wall -mno-red-zone -fno-pie -no-pie -o "$bench/calls" "$HARNESS/bench/calls.c" ||
	die "$(short "$HARNESS/bench/calls.c") does not compile"
say "this processor, not the emulated one:"
"$bench/calls" | tee "$bench/calls.txt"
say "as a file: $(short "$BUILD/bench/table.tsv")"
