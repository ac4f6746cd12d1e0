#!/bin/bash
# Writes patches/ anew from the commits in build/patched, one file for each.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"
. "$HARNESS/repository.sh"

log=$LOG/patches.log
new=$BUILD/patches.new

[ -e "$PATCHED/.git" ] || die "$(short "$PATCHED") is missing: 'make tree' makes it"
base=$(stamp patches)
[ "$(cut -d' ' -f2 <<<"$base")" = "$(patches_id)" ] ||
	die "patches/ has changed since it was applied: 'make tree' first"
[ -z "$(git_in "$PATCHED" status --porcelain)" ] ||
	die "$(short "$PATCHED") has changes that are not committed"
git_in "$PATCHED" merge-base --is-ancestor base HEAD ||
	die "$(short "$PATCHED"): the commits do not come after the branch base"

rm -rf "$new"
git_in "$PATCHED" format-patch -q -N -o "$new" --zero-commit --no-signature --abbrev=12 \
	--no-renames base..HEAD >"$log" 2>&1 || fail_with "$log" "cannot write patches"
rsync -r --checksum --delete --include='*.patch' --exclude='*' "$new/" "$TOP/patches/"
rm -rf "$new"
finish series "$(git_in "$PATCHED" rev-parse HEAD)"
