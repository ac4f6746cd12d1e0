#!/bin/bash
# Configures and compiles the kernel in build/<engine>, with its modules; `kernel.sh configure`
# leaves it at that.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

log=$LOG/kernel-$KERNEL.log
image=$OUT/$IMAGE
done_stamp=kernel-$KERNEL

fragments=("$CONFIG/engine-$ENGINE.config")
alone || fragments=("$CONFIG/machine.config" "${fragments[@]}")
# To a configuration that is there come the options of the engine alone, no tests.
start=$(of_variant config)
[ -z "$start" ] || fragments=("$TOP/kernel/configs/text_sites.config")
# A variant of a variant comes on top of that.
unders=()
under=$(of_variant variant)
while [ -n "$under" ]; do
	unders=("$CONFIG/variant-$under.config" "${unders[@]}")
	under=$(VARIANT=$under of_variant variant)
done
fragments+=("${unders[@]}")
[ -z "$VARIANT" ] || fragments+=("$CONFIG/variant-$VARIANT.config")
for fragment in $FRAGMENT; do
	[ -r "$fragment" ] || die "FRAGMENT: $fragment does not exist"
	fragments+=("$fragment")
done
off=$CONFIG/variant-$VARIANT.off
[ -e "$off" ] || off=$CONFIG/engine-$ENGINE.off

config_id()
{
	{
		stamp base
		grep -E '/Kconfig[^/]*$' "$STAMPS/overlay.sums" || :
		cat "${fragments[@]}" "$HARNESS/config.sh"
		[ -z "$start" ] || cat "$start"
		cat "$off" 2>/dev/null || :
		"$COMPILER" --version
	} | hash
}

image_id() { stat -c '%s %Y' "$image" 2>/dev/null || :; }

configure()
{
	local target=allnoconfig
	begin "config-$KERNEL"
	: >"$OUT.start"
	if [ -n "$start" ]; then
		xz -dc "$start" >"$OUT.start" || die "cannot read $start"
		cat "$OUT.start" "${fragments[@]}" >"$OUT/.config"
		target=olddefconfig
	fi
	cat "${fragments[@]}" >"$OUT.fragment"
	KCONFIG_ALLCONFIG=$OUT.fragment \
		logged "$log" "configuring" kbuild "$target" ||
		fail_with "$log" "cannot configure"
	if grep -m1 'unmet direct dependencies' "$log" >"$OUT.unmet"; then
		die "$(cat "$OUT.unmet") (log: $(short "$log"))"
	fi
	rm -f "$OUT.fragment" "$OUT.unmet"
	"$HARNESS/config.sh" "$OUT/.config" "$off" "$OUT.start" "${fragments[@]}"
	rm -f "$OUT.start"
	finish "config-$KERNEL" "$config"
}

# A variant begins as a copy of its engine's kernel, if that is there: make compiles again
# what depends on the options that differ. (Debug information says in which folder it was
# compiled, so the compiler's cache has none of it.) With a compiler or for an architecture of
# its own, a variant has nothing to begin with.
begin_as_copy()
{
	[ -n "$VARIANT" ] && ! alone && [ -z "$start$(of_variant compiler)$KARCH" ] &&
		[ ! -e "$OUT" ] && [ -n "$(stamp "kernel-$ENGINE")" ] || return 0
	rm -rf "$OUT.new"
	cp -a --reflink=auto "$BUILD/$ENGINE" "$OUT.new" || die "cannot write to $(short "$BUILD")"
	mv "$OUT.new" "$OUT"
	# compile() says how far it is if there is no such file: nearly all is compiled again.
	rm -f "$OUT/vmlinux.o"
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

# first_warning: sees to it that what was compiled with a warning is compiled again next time
first_warning()
{
	warnings "$log" >"$OUT.warnings"
	[ -s "$OUT.warnings" ] || { rm -f "$OUT.warnings"; return 0; }
	sed -nE "$(source_named '\2')" "$OUT.warnings" |
		sort -u | (cd "$TREE" && xargs -r -d '\n' touch -c)
	sed -nE 's,^([^: ]+\.o): warning: objtool.*,\1,p' "$OUT.warnings" |
		sort -u | (cd "$OUT" && xargs -r -d '\n' rm -f)
	rm -f "$OUT/vmlinux.o"
	head -n1 "$OUT.warnings"
	rm -f "$OUT.warnings"
}

compile()
{
	local warning targets=("${IMAGE##*/}") status=0
	[ ! -e "$STAMPS/compiling-$KERNEL" ] || distrust
	finish "compiling-$KERNEL" 1
	if [ ! -e "$OUT/vmlinux.o" ]; then
		expected=$(sed -n 's/^# lines: //p' "${fragments[@]}" | tail -n1)
	fi
	! modular || targets+=(modules)
	logged "$log" "compiling" kbuild -j"$JOBS" "${targets[@]}" || status=$?
	# Also if it fails elsewhere: this log is the only one that has the warning.
	warning=$(first_warning)
	[ "$status" -eq 0 ] || fail_with "$log" "does not compile"
	[ -z "$warning" ] || die "compiles with warnings: $warning (log: $(short "$log"))"
	# Empty for a kernel that has none
	rm -rf "$OUT/mod"
	mkdir -p "$OUT/mod/lib/modules"
	[ ! -e "$OUT/modules.order" ] || expected=$(($(lines_of_modules) + 5))
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
