#!/bin/bash
# Makes build/tree: the base's source, our patches, our files.
#
# A file whose content stays the same keeps its time, whatever was redone, so
# that only what changed is compiled again. The names in the tree are those of
# the base and of our files, no others.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

OVERLAY="arch kernel include scripts Documentation tools samples lib mm fs init"
# The harness works on the tree, it is not part of it.
NOT_OVERLAY='^tools/testing/text_sites/'
log=$LOG/tree.log
new=$TREE.new

# Our files, one name a line: what git has, and what it would take in
our_files()
{
	cd "$TOP"
	local name dirs=()
	for name in $OVERLAY; do [ ! -d "$name" ] || dirs+=("$name"); done
	[ ${#dirs[@]} -gt 0 ] || return 0
	if [ -e .git ]; then
		git -c safe.directory="$TOP" ls-files -co --exclude-standard -- "${dirs[@]}"
	else
		find "${dirs[@]}" ! -type d
	fi | sort -u | { grep -v "$NOT_OVERLAY" || :; } |
		while IFS= read -r name; do
			# git still lists a file that was just removed
			[ ! -e "$name" ] && [ ! -L "$name" ] || printf '%s\n' "$name"
		done
}

# Checksum, mode and name of each of our files
our_sums()
{
	cd "$TOP"
	while IFS= read -r name; do
		printf '%s %s\n' "$(stat -c %a "$name")" "$(sha256sum "$name")"
	done
}

base_id()
{
	{
		stat -L -c '%s %Y' "$SOURCE"
		for patch in "${patches[@]}"; do sha256sum <"$patch"; done
	} | hash
}

# Name, size and time of every file under a folder
listing() { find "$1" ! -type d -printf '%P\t%s\t%T@\n' | sort; }
names() { cut -f1 | sort; }

apply()
{
	local patch=$1 file
	patch -d "$new" -p1 -F0 -f --no-backup-if-mismatch <"$patch" >>"$log" 2>&1 && return
	grep -q 'No space left' "$log" && fail_with "$log" "cannot patch"
	file=$(sed -n -e 's/^patching file //p' -e 's/^|+++ [^/]*\///p' "$log" |
		cut -f1 | tail -n1)
	# With several files in a patch the last one named need not be the one.
	file=$(sed -n 's/.*FAILED.* saving rejects to file \(.*\)\.rej$/\1/p' "$log" |
		head -n1 | grep . || printf '%s' "${file:-?}")
	die "$(short "$patch") does not apply to $file (log: $(short "$log"))"
}

overlay()
{
	rsync -lp --checksum --files-from="$STAMPS/overlay.list" "$TOP/" "$1/" >>"$log" 2>&1 ||
		fail_with "$log" "cannot copy our files"
}

no_clash()
{
	local clash
	clash=$(comm -12 "$STAMPS/base.list" "$STAMPS/overlay.list" | head -n1)
	[ -z "$clash" ] || die "$clash is a file of the base: change it with a patch"
}

unpack()
{
	begin base
	say "unpacking the base and applying ${#patches[@]} patches"
	rm -rf "$new"
	mkdir "$new"
	tar -xf "$SOURCE" -C "$new" --strip-components=1 >>"$log" 2>&1 ||
		fail_with "$log" "cannot unpack $SOURCE"
	for patch in "${patches[@]}"; do apply "$patch"; done
	listing "$new" | names >"$STAMPS/base.list"
	no_clash
	overlay "$new"
	if [ -d "$TREE" ]; then
		rsync -rlp --checksum --delete "$new/" "$TREE/" >>"$log" 2>&1 ||
			fail_with "$log" "cannot renew $(short "$TREE")"
		rm -rf "$new"
	else
		mv "$new" "$TREE"
	fi
	listing "$TREE" >"$STAMPS/now.files"
	join -t $'\t' "$STAMPS/base.list" <(sort -t $'\t' -k1,1 "$STAMPS/now.files") |
		sort >"$STAMPS/base.files"
	finish base "$base"
}

shopt -s nullglob
patches=("$TOP"/patches/*.patch)
if [ "$ENGINE" = base ]; then
	# No more than the modules that count need, which nothing of the base includes
	OVERLAY="arch/x86/include include tools"
	patches=()
fi
[ -r "$SOURCE" ] || die "$SOURCE is missing: it comes with the package linux-source-6.12"

: >"$log"
begin tree
base=$(base_id)
our_files >"$STAMPS/overlay.list"
our_sums <"$STAMPS/overlay.list" >"$STAMPS/overlay.sums"

if [ "$(stamp base)" != "$base" ] || [ ! -d "$TREE" ]; then
	unpack
else
	listing "$TREE" >"$STAMPS/now.files"
	changed=$(comm -23 "$STAMPS/base.files" "$STAMPS/now.files" | cut -f1)
	if [ -n "$changed" ]; then
		say "$(short "$TREE")/${changed%%$'\n'*} was changed from outside: restoring the tree"
		unpack
	fi
fi

no_clash
overlay "$TREE"
sort -u "$STAMPS/base.list" "$STAMPS/overlay.list" |
	comm -13 - <(names <"$STAMPS/now.files") |
	while IFS= read -r name; do
		rm -f "$TREE/$name"
		# as far up as folders are empty
		(cd "$TREE" && rmdir -p --ignore-fail-on-non-empty "${name%/*}" 2>/dev/null) || :
	done
finish tree "$base $(hash <"$STAMPS/overlay.sums")"
