#!/bin/bash
# Makes build/tree: the base's source, our patches, our files. `git am` applies the patches
# in a repository of its own (build/patched), and what comes out is copied.
#
# A file whose content stays the same keeps its time, whatever was redone, so
# that only what changed is compiled again. The names in the tree are those of
# the base and of our files, no others.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"
. "$HARNESS/repository.sh"

OVERLAY="arch kernel include scripts Documentation tools samples lib mm fs init"
# The harness works on the tree, and these documents are about it.
NOT_OVERLAY='^(tools/testing|Documentation)/text_sites/'
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
	fi | sort -u | { grep -vE "$NOT_OVERLAY" || :; } |
		while IFS= read -r name; do
			# git still lists a file that was just removed
			[ ! -e "$name" ] && [ ! -L "$name" ] || printf '%s\n' "$name"
		done
}

# The modes of our files, then their checksums; each line ends with the name
our_sums()
{
	cd "$TOP"
	xargs -r -d '\n' -a "$STAMPS/overlay.list" stat -c '%a %n' --
	# It fails for a link that leads nowhere.
	xargs -r -d '\n' -a "$STAMPS/overlay.list" sha256sum -- || :
}

# Files of the source that is a folder: not what was built there, as far as git knows
source_files()
{
	if [ -e "$SOURCE/.git" ]; then
		git_in "$SOURCE" ls-files -co --exclude-standard
	else
		(cd "$SOURCE" && find . ! -type d -printf '%P\n')
	fi
}

source_id()
{
	if [ -z "$BASE" ]; then
		stat -L -c '%s %Y' "$SOURCE"
	else
		cd "$SOURCE"
		source_files | { xargs -d '\n' stat -c '%n %s %Y' 2>>"$log" || :; }
	fi | hash
}

# Name, size and time of every file under a folder
listing() { find "$1" ! -type d -printf '%P\t%s\t%T@\n' | sort; }
names() { cut -f1 | sort; }

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

# unpacked_size FILE: in bytes, 0 if that is not known
unpacked_size()
{
	{ xz --robot --list "$1" 2>/dev/null || :; } |
		awk '/^totals/ { size = $5 } END { print size + 0 }'
}

unpack()
{
	begin base
	rm -rf "$new"
	mkdir "$new"
	if [ -z "$BASE" ]; then
		expected=$(($(unpacked_size "$SOURCE") / 10240 / 1000))
		logged "$log" "unpacking the base" tar -xf "$SOURCE" -C "$new" --strip-components=1 \
			--checkpoint=1000 --checkpoint-action=echo ||
			fail_with "$log" "cannot unpack $SOURCE"
	else
		say "copying $SOURCE"
		source_files | rsync -lpt --ignore-missing-args --files-from=- "$SOURCE/" "$new/" \
			>>"$log" 2>&1 || fail_with "$log" "cannot copy $SOURCE"
	fi
	listing "$new" | names >"$STAMPS/pristine.list"
}

apply()
{
	say "applying ${#patches[@]} patches"
	make_repository "$1" "$BASE"
	rm -rf "$PATCHED"
	mv "$PATCHED.new" "$PATCHED"
	finish series "$(git_in "$PATCHED" rev-parse HEAD)"
	finish patches "$patches_now"
}

# copy_patched DIR: what patches touch, and whether any does still
copy_patched()
{
	git_in "$PATCHED" ls-files |
		rsync -lp --checksum --files-from=- "$PATCHED/" "$1/" >>"$log" 2>&1 ||
		fail_with "$log" "cannot copy what is patched"
}

# The names that the base has, with the patches
base_names()
{
	{
		comm -23 "$STAMPS/pristine.list" <(git_in "$PATCHED" ls-tree -r --name-only base | sort)
		git_in "$PATCHED" ls-files
	} | sort >"$STAMPS/base.list"
}

# Put the unpacked base, patched, in the place of the tree.
renew()
{
	copy_patched "$new"
	if [ -d "$TREE" ]; then
		overlay "$new"
		rsync -rlp --checksum --delete "$new/" "$TREE/" >>"$log" 2>&1 ||
			fail_with "$log" "cannot renew $(short "$TREE")"
		rm -rf "$new"
	else
		mv "$new" "$TREE"
	fi
}

# Is there anything in the tree that is not as it was left?
changed_outside()
{
	local changed
	[ -e "$STAMPS/base.files" ] || return 0
	listing "$TREE" >"$STAMPS/now.files"
	changed=$(comm -23 "$STAMPS/base.files" "$STAMPS/now.files" | cut -f1)
	[ -n "$changed" ] || return 1
	say "$(short "$TREE")/${changed%%$'\n'*} was changed from outside: restoring the tree"
	# What patches touch is at hand.
	grep -qvxF -f <(git_in "$PATCHED" ls-files) <<<"$changed"
}

main()
{
	if [ -n "$BASE" ]; then
		[ -e "$SOURCE/Makefile" ] || die "BASE: $SOURCE is not a kernel's source"
	elif [ ! -r "$SOURCE" ]; then
		die "$SOURCE is missing: it comes with the package linux-source-6.12"
	fi
	# Of ours, the base as it is has no more than the modules that count need, which nothing
	# of it includes.
	[ "$ENGINE" != base ] || OVERLAY="arch/x86/include include tools"

	: >"$log"
	begin tree
	no_edits
	source=$(source_id)
	patches_now="$source $(patches_id) $(hash <<<"$FILES")"
	our_files >"$STAMPS/overlay.list"
	our_sums >"$STAMPS/overlay.sums"

	from=$TREE
	base=$(stamp base)
	if [ "${base% *}" != "$source" ] || [ ! -d "$TREE" ] || [ ! -e "$PATCHED/.git" ] ||
		[ ! -e "$STAMPS/pristine.list" ] || changed_outside; then
		unpack
		from=$new
	fi
	if [ "$from" = "$new" ] || [ "$(stamp patches)" != "$patches_now" ]; then
		apply "$from"
		base_names
	fi
	no_clash
	if [ "$from" = "$new" ]; then renew; else copy_patched "$TREE"; fi
	overlay "$TREE"

	listing "$TREE" >"$STAMPS/now.files"
	sort -u "$STAMPS/base.list" "$STAMPS/overlay.list" |
		comm -13 - <(names <"$STAMPS/now.files") |
		while IFS= read -r name; do
			rm -f "$TREE/$name"
			# as far up as folders are empty
			(cd "$TREE" && rmdir -p --ignore-fail-on-non-empty "${name%/*}" 2>/dev/null) || :
		done
	join -t $'\t' "$STAMPS/base.list" <(sort -t $'\t' -k1,1 "$STAMPS/now.files") |
		sort >"$STAMPS/base.files"
	# A changelog alone changes nothing for the kernel.
	finish base "$source $(git_in "$PATCHED" diff-tree -r base HEAD | hash)"
	finish tree "$(stamp base) $(hash <"$STAMPS/overlay.sums")"
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
