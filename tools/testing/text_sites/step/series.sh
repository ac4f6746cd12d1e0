#!/bin/bash
# Writes build/series/ (build/series-of-BASE for another base): a cover letter, and all of the
# project as patches that git am applies to the base, one after the other. Each is one of
# patches/ and those of our files that series.tab says come with it.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"
. "$HARNESS/repository.sh"

log=$LOG/series.log
work=$BUILD/series.work$OF
repo=$work/repository
to=$BUILD/series$OF

# The commits, each of which has the tree of one of patches/ and our files on top
commits()
{
	local commit number=0 parent name mail date
	parent=$(git_in "$repo" rev-parse base)
	git_in "$repo" log --reverse --format=%s base..hooks >"$work/subjects"
	for commit in $(git_in "$repo" rev-list --reverse base..hooks); do
		number=$((number + 1))
		git_in "$repo" read-tree -u --reset "$commit"
		"$HARNESS/series" "$HARNESS/series.tab" "$STAMPS/overlay.list" "$work/subjects" \
			"$TOP" "$repo" "$number" || exit
		git_in "$repo" add -fA
		IFS=$'\t' read -r name mail date < <(git_in "$repo" log -1 --format='%an%x09%ae%x09%ad' \
			"$commit")
		parent=$(git_in "$repo" log -1 --format=%B "$commit" |
			GIT_AUTHOR_NAME=$name GIT_AUTHOR_EMAIL=$mail GIT_AUTHOR_DATE=$date \
			GIT_COMMITTER_DATE=$date git_in "$repo" commit-tree \
			-p "$parent" "$(git_in "$repo" write-tree)")
	done
	git_in "$repo" update-ref refs/heads/new "$parent"
}

# Is the last step what the tree is?
complete()
{
	local lost
	git_in "$repo" read-tree new
	lost=$({
		git_in "$repo" ls-files | sort | comm -13 - "$STAMPS/overlay.list"
		GIT_WORK_TREE=$TREE git_in "$repo" diff --name-only
	} | head -n1)
	[ -z "$lost" ] || die "$lost is not in the series as it is in $(short "$TREE")"
}

# mails DIR: the patches as files, with the cover letter
mails()
{
	git_in "$repo" format-patch -q -o "$1" --cover-letter --zero-commit --no-signature \
		--abbrev=12 --no-renames base..new >>"$log" 2>&1 ||
		fail_with "$log" "cannot write patches"
	if git_in "$repo" rev-parse -q --verify before >/dev/null; then
		git_in "$repo" range-diff --no-color before-base..before base..new >"$work/range-diff"
	fi
	"$HARNESS/cover" "$HARNESS/cover.txt" "$TOP/Documentation/trace/text-sites-costs.rst" \
		"$BUILD/bench/table.txt" "$work/range-diff" "$1"/0000-*.patch
}

# applies DIR: what git am makes of the files is the last step
applies()
{
	local test=$work/applied mails
	rm -rf "$test"
	git_in "$BUILD" clone -q -b base "$repo" "$test"
	mails=("$1"/*.patch)
	git_in "$test" am -q "${mails[@]:1}" >"$log" 2>&1 ||
		fail_with "$log" "the series does not apply"
	git_in "$test" diff --quiet "$(git_in "$repo" rev-parse new)" -- ||
		die "the series, applied, is not $(short "$TREE")"
	rm -rf "$test"
}

# The series that was written before this one, to compare with
remember()
{
	local last
	last=$(git_in "$repo" rev-parse -q --verify last) || :
	if [ -n "$last" ] && [ "$last" != "$(git_in "$repo" rev-parse new)" ]; then
		git_in "$repo" update-ref refs/heads/before last
		git_in "$repo" update-ref refs/heads/before-base last-base
	fi
	git_in "$repo" update-ref refs/heads/last new
	git_in "$repo" update-ref refs/heads/last-base base
}

main()
{
	: >"$log"
	no_edits
	[ -n "$(stamp tree)" ] || die "$(short "$TREE") is missing: 'make tree' makes it"
	mkdir -p "$work"
	[ -e "$repo/.git" ] || git_in / init -q --template= -b none "$repo"
	git_in "$repo" fetch -q "$PATCHED" +base:refs/heads/base +series:refs/heads/hooks
	commits
	complete
	remember
	rm -rf "$to.new" "$work/range-diff"
	mails "$to.new"
	applies "$to.new"
	rm -rf "$to"
	mv "$to.new" "$to"
	say "$(git_in "$repo" rev-list --count base..new) patches in $(short "$to")"
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
