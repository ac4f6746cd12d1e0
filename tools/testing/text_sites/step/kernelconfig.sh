#!/bin/bash
# Changes the options of the kernel in build/<engine>, and keeps what has changed in the last
# file of FRAGMENT, or in kernel.config, which is FRAGMENT from then on.
set -eu
. "$(dirname "$0")/../lib.sh"

created=''
fragment=${FRAGMENT:-kernel.config}
fragment=${fragment##* }
# A new file: kernel.sh wants it to exist.
if [ -n "$FRAGMENT" ] && [ ! -e "$fragment" ]; then
	: >"$fragment" || die "FRAGMENT: cannot write to $fragment"
	created=1
fi

# What is kept is configured by the step that compiles it; nothing is if this is interrupted.
put_back()
{
	[ ! -e "$OUT/.config.before" ] || mv "$OUT/.config.before" "$OUT/.config"
	[ -z "$created" ] || [ -s "$fragment" ] || rm -f "$fragment"
}

trap put_back EXIT
"$HARNESS/step/kernel.sh" configure
cp "$OUT/.config" "$OUT/.config.before"
kbuild -s "${KCONFIG_TARGET:-menuconfig}"
grep -E '^(# )?CONFIG_' "$OUT/.config" | grep -vxFf "$OUT/.config.before" >"$OUT/changed" || :
if [ ! -s "$OUT/changed" ]; then
	say "nothing has changed"
	exit
fi
cat "$OUT/changed" >>"$fragment"
say "$(wc -l <"$OUT/changed") options are kept in $fragment"
if [ -z "$FRAGMENT" ]; then
	sed -i '/^CONFIG_FRAGMENT=/d' "$TOP/.config" 2>/dev/null || :
	echo "CONFIG_FRAGMENT=\"$fragment\"" >>"$TOP/.config"
	say "kernels get them from now on: .config has FRAGMENT"
fi
