#!/bin/bash
# Applies the series to a fresh import of the base, one patch after the other, and compiles
# and boots each step, with a small configuration: with the classic engine, and with that of
# text sites where there is one.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"
. "$HARNESS/repository.sh"

log=$LOG/series-test.log
tree=$BUILD/series.tree
out=$BUILD/series.out
rootfs=$BUILD/rootfs/text_sites.cpio
results=$RESULTS/series

[ -n "${CCACHE_DIR:-}" ] || [ -d ~/.cache/ccache ] || export CCACHE_DIR="$BUILD/ccache"
export PATH="/usr/lib/ccache:$PATH"
export KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970'
export KBUILD_BUILD_USER=text KBUILD_BUILD_HOST=sites KBUILD_BUILD_VERSION=1

# The base as a git repository; made once
import()
{
	if [ "$(stamp series-import)" = "$(stat -L -c '%s %Y' "$SOURCE")" ]; then
		return
	fi
	begin series-import
	rm -rf "$tree"
	mkdir "$tree"
	say "importing the base"
	tar -xf "$SOURCE" -C "$tree" --strip-components=1 >"$log" 2>&1 ||
		fail_with "$log" "cannot unpack $SOURCE"
	git_in "$tree" init -q --template= -b base
	git_in "$tree" add -fA
	git_in "$tree" commit -q -m 'The base'
	finish series-import "$(stat -L -c '%s %Y' "$SOURCE")"
}

kbuild() { make -C "$tree" O="$out/$engine" LOCALVERSION= --no-print-directory "$@"; }

configure()
{
	{
		cat "$CONFIG/variant-small.config"
		# The engines, as far as there is a choice
		[ "$engine" = classic ] || echo CONFIG_FTRACE_ENGINE_TEXT_SITES=y
		[ "$engine" = text_sites ] || echo CONFIG_FTRACE_ENGINE_CLASSIC=y
	} >"$out/$engine.fragment"
	KCONFIG_ALLCONFIG=$out/$engine.fragment kbuild allnoconfig
}

# test_step NUMBER NAME: notes how it ends
test_step()
{
	local label="series-$1-$engine" begin=$SECONDS why='' end=fail
	mkdir -p "$out/$engine"
	log=$LOG/$label.log
	if ! configure >"$log" 2>&1; then
		why="cannot configure"
	elif ! kbuild -j"$JOBS" bzImage modules >>"$log" 2>&1; then
		why="does not compile: $(first_error "$log")"
	elif ! "$HARNESS/vm/machine" --kernel "$out/$engine" --rootfs "$rootfs" --name "$label" \
		--timeout 600 --append 'kunit.enable=1' "$HARNESS/vm/series.sh" >>"$log" 2>&1; then
		why="$(tail -n1 "$log")"
	fi
	if [ -z "$why" ]; then
		why=$(tail -n1 "$log")
		end=pass
	fi
	say "$2 ($engine): $why ($((SECONDS - begin)) s)"
	printf '%s\tseries: %s, %s\t%s\t%s\n' "$end" "$2" "$engine" "${why:-no output}" "$(short "$log")" \
		>>"$results"
}

main()
{
	local mails mail number
	: >"$log"
	mkdir -p "${results%/*}"
	: >"$results"
	[ -e "$rootfs" ] || die "$(short "$rootfs") is missing: 'make rootfs' makes it"
	mails=("$BUILD"/series/0*.patch)
	[ ${#mails[@]} -gt 1 ] || die "no series: 'make series' writes it"
	mkdir -p "$out"
	import
	git_in "$tree" checkout -q -f -B series base
	for mail in "${mails[@]:1}"; do
		git_in "$tree" am -q "$mail" >"$log" 2>&1 || fail_with "$log" "${mail##*/} does not apply"
		number=${mail##*/}
		number=${number%%-*}
		# As they were asked for
		[ "$NUMBERS" = all ] || [[ " $NUMBERS " = *" $((10#$number)) "* ]] || continue
		for engine in classic text_sites; do
			if [ "$engine" = classic ] || [ -e "$tree/kernel/trace/fentry" ]; then
				test_step "$number" "${mail##*/}"
			fi
		done
	done
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
