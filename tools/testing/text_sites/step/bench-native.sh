#!/bin/bash
# Measures on this processor, not in the emulated machine, what can run outside of a kernel.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

bench=$BUILD/bench
mkdir -p "$bench"

[ "$(uname -m)" = x86_64 ] || die "this processor is not an x86-64 one"
command -v gcc >/dev/null || die "gcc is missing: make packages"
"$HARNESS/native/compile" "$bench/native" || die "$(short "$HARNESS/native") does not compile"

"$bench/native" | tee "$bench/native.tmp" || die "nothing was measured that could be trusted"
mv "$bench/native.tmp" "$bench/native.txt"
say "as a file: $(short "$bench/native.txt")"
