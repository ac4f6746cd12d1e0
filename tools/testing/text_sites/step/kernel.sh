#!/bin/bash
# Configures and compiles the kernel in build/<engine>, with its modules; `kernel.sh configure`
# leaves it at that.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

log=$LOG/kernel-$KERNEL.log
image=$OUT/arch/x86/boot/bzImage
done_stamp=kernel-$KERNEL

fragments=("$CONFIG/engine-$ENGINE.config")
alone || fragments=("$CONFIG/machine.config" "${fragments[@]}")
[ -z "$VARIANT" ] || fragments+=("$CONFIG/variant-$VARIANT.config")
if [ -n "$FRAGMENT" ]; then
	[ -r "$FRAGMENT" ] || die "FRAGMENT: $FRAGMENT does not exist"
	fragments+=("$FRAGMENT")
fi
off=$CONFIG/engine-$ENGINE.off

# The compiler's cache: the user's own if there is one
[ -n "${CCACHE_DIR:-}" ] || [ -d ~/.cache/ccache ] || export CCACHE_DIR="$BUILD/ccache"
export PATH="/usr/lib/ccache:$PATH"

# The same source makes the same kernel, so that the cache hits.
export KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970'
export KBUILD_BUILD_USER=text KBUILD_BUILD_HOST=sites KBUILD_BUILD_VERSION=1

kbuild()
{
	make -C "$TREE" O="$OUT" LOCALVERSION="-$ENGINE" V="$V" --no-print-directory "$@"
}

# What the compiled kernel depends on: all but documents and user-space tests
source_id()
{
	{
		stamp base
		grep -vE ' (Documentation|tools/testing)/' "$STAMPS/overlay.sums" || :
	} | hash
}

config_id()
{
	{
		stamp base
		grep -E '/Kconfig[^/]*$' "$STAMPS/overlay.sums" || :
		cat "${fragments[@]}" "$HARNESS/config.sh"
		cat "$off" 2>/dev/null || :
		cc --version
	} | hash
}

image_id() { stat -c '%s %Y' "$image" 2>/dev/null || :; }

configure()
{
	begin "config-$KERNEL"
	cat "${fragments[@]}" >"$OUT.fragment"
	KCONFIG_ALLCONFIG=$OUT.fragment \
		logged "$log" "configuring" kbuild allnoconfig ||
		fail_with "$log" "cannot configure"
	if grep -m1 'unmet direct dependencies' "$log" >"$OUT.unmet"; then
		die "$(cat "$OUT.unmet") (log: $(short "$log"))"
	fi
	rm -f "$OUT.fragment" "$OUT.unmet"
	"$HARNESS/config.sh" "$OUT/.config" "$off" "${fragments[@]}"
	finish "config-$KERNEL" "$config"
}

# A variant begins as a copy of its engine's kernel, if that is there: make compiles again
# what depends on the options that differ. (Debug information says in which folder it was
# compiled, so the compiler's cache has none of it.)
begin_as_copy()
{
	[ -n "$VARIANT" ] && ! alone && [ ! -e "$OUT" ] && [ -n "$(stamp "kernel-$ENGINE")" ] || return 0
	rm -rf "$OUT.new"
	cp -a --reflink=auto "$BUILD/$ENGINE" "$OUT.new" || die "cannot write to $(short "$BUILD")"
	mv "$OUT.new" "$OUT"
}

# A compiler, a linker or the script that adds the table, killed in the middle, leaves
# a file that make takes for whole. It is among those that were written last.
distrust()
{
	local last
	last=$(find "$OUT" -name '*.o' -type f -printf '%Ts\n' | sort -n | tail -n1)
	find "$OUT" -type f -newermt "@$((${last:-0} - 300))" | while IFS= read -r made; do
		[ ! -e "${made%/*}/.${made##*/}.cmd" ] || rm -f "$made"
	done
	find "$OUT" -name '.*.cmd' -size 0 -delete
}

# source_named WITH: the sed program that finds the compiler's warnings, and puts
# WITH in their place, in which \2 is the file's name in the tree
source_named() { printf '%s' "s,^(\.\./${TREE##*/}/|\.\./|$TREE/)?([^: ]+):[0-9:]+ warning: .*,$1,p"; }

# Files of ours that the log warns about, and any complaint of objtool or
# modpost: those look at the result as a whole, and the base has none.
warnings()
{
	sed -nE "$(source_named '\2\t&')" "$log" |
		sort | join -t $'\t' - "$STAMPS/overlay.list" | cut -f2-
	grep -E 'warning: objtool|^WARNING: modpost' "$log" || :
}

no_warnings()
{
	local first
	warnings >"$OUT.warnings"
	[ -s "$OUT.warnings" ] || { rm -f "$OUT.warnings"; return 0; }
	# What was compiled with a warning is compiled again next time.
	sed -nE "$(source_named '\2')" "$OUT.warnings" |
		sort -u | (cd "$TREE" && xargs -r -d '\n' touch -c)
	sed -nE 's,^([^: ]+\.o): warning: objtool.*,\1,p' "$OUT.warnings" |
		sort -u | (cd "$OUT" && xargs -r -d '\n' rm -f)
	rm -f "$OUT/vmlinux.o"
	first=$(head -n1 "$OUT.warnings")
	rm -f "$OUT.warnings"
	die "compiles with warnings: $first (log: $(short "$log"))"
}

compile()
{
	local targets=(bzImage)
	[ ! -e "$STAMPS/compiling-$KERNEL" ] || distrust
	finish "compiling-$KERNEL" 1
	[ -e "$OUT/vmlinux.o" ] || expected=$(sed -n 's/^# lines: //p' "${fragments[@]}" | tail -n1)
	! modular || targets+=(modules)
	logged "$log" "compiling" kbuild -j"$JOBS" "${targets[@]}" ||
		fail_with "$log" "does not compile"
	expected=0
	no_warnings
	rm -rf "$OUT/mod"
	mkdir "$OUT/mod"
	! modular || logged "$LOG/modules-$KERNEL.log" "installing modules" \
		kbuild INSTALL_MOD_PATH="$OUT/mod" INSTALL_MOD_STRIP=1 modules_install ||
		fail_with "$LOG/modules-$KERNEL.log" "cannot install the modules"
	rm -f "$STAMPS/compiling-$KERNEL"
}

main()
{
	source=$(source_id)
	config=$(config_id)
	if [ "$(stamp "$done_stamp")" = "$source $config $(image_id)" ]; then
		say "$(short "$OUT") is up to date"
		return
	fi
	begin_as_copy
	mkdir -p "$OUT"
	if [ "$(stamp "config-$KERNEL")" != "$config" ] || [ ! -e "$OUT/.config" ]; then
		configure
	fi
	[ "${1:-}" != configure ] || return 0
	begin "$done_stamp"
	compile
	finish "$done_stamp" "$source $config $(image_id)"
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main "$@"; exit
