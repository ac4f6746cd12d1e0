#!/bin/bash
# Puts what was counted in the base and with our engine side by side, with the goals. Those of
# another architecture are the ratios of this one.
set -eu
. "$(dirname "$0")/../lib.sh"

bench=$BUILD/bench
to=$bench${KARCH:+/$KARCH}
was=base${KARCH:+-$KARCH} is=text_sites${KARCH:+-$KARCH}
ratios=()
if [ -n "$KARCH" ]; then
	ratios=("$bench/table.tsv")
	[ -e "${ratios[0]}" ] || ratios=(/dev/null)
fi
mkdir -p "$to"

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
	counts "$was"
	realtime "$was"
} >"$to/base.tsv"
{
	counts "$is"
	realtime "$is"
	# Of this one only what indirect calls cost
	counts "$is-indirect" | sed -n 's/^hackbench\.1/hackbench.indirect/p'
} >"$to/ours.tsv"
"$HARNESS/bench/table" "$HARNESS/bench/goals.tab" "$to"/{base,ours}.tsv \
	"$to/table.tsv" "${ratios[@]}" | tee "$to/table.txt"
"$HARNESS/bench/draw" "$to"/{base,ours}.tsv "$to" | while IFS= read -r picture; do
	say "a picture: $(short "$picture")"
done

# What instructions do not tell
if [ -z "$KARCH" ]; then
	gcc -O2 -Wall -mno-red-zone -fno-pie -no-pie -o "$bench/calls" "$HARNESS/bench/calls.c" ||
		die "$(short "$HARNESS/bench/calls.c") does not compile"
	say "this processor, not the emulated one:"
	"$bench/calls" | tee "$bench/calls.txt"
fi
say "as a file: $(short "$to/table.tsv")"
