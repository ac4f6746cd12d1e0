# shellcheck shell=bash
# shellcheck disable=SC2154  # log: of the step that sources this
# Shared by the steps that work with patches/: a small git repository, outside of the tree,
# of those files of the base that patches touch. Branch "base" has them as they are in the
# base, branch "series" has a commit for each patch. It is made of patches/ by `make tree`;
# `make patches` makes patches/ of it.

shopt -s nullglob
patches=("$TOP"/patches/*.patch)
# The base without patches is a tree of its own.
[ "$ENGINE" != base ] || patches=()

# Not the repository that somebody's git works for, when that runs make
mapfile -t local_variables < <(git rev-parse --local-env-vars)
unset "${local_variables[@]}"

# git_in DIR ARGUMENT...: git as it is without the user's configuration
git_in()
{
	GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null \
		git -C "$1" -c safe.directory='*' -c user.name='Text Sites Maintainers' \
		-c user.email=text-sites@maintainers.example -c gc.auto=0 "${@:2}"
}

patches_id() { cat /dev/null "${patches[@]}" | hash; }

# touched PATCH...: the files that they change, one a line
touched()
{
	local patch
	for patch; do
		git_in / apply --numstat -z "$patch" 2>>"$log" | cut -z -f3 | tr '\0' '\n' ||
			die "$(short "$patch") is not a patch: $(tail -n1 "$log")"
	done | sort -u
}

# no_edits: refuse to go on if the repository has something that patches/ has not
no_edits()
{
	local why=
	[ -e "$PATCHED/.git" ] || return 0
	if [ -n "$(git_in "$PATCHED" status --porcelain)" ]; then
		why="changes that are not committed"
	elif [ "$(git_in "$PATCHED" rev-parse HEAD)" != "$(stamp series)" ]; then
		why="commits that are not in patches/"
	fi
	[ -z "$why" ] || die "$(short "$PATCHED") has $why:" \
		"commit, and 'make patches' writes them to patches/; or remove it"
}

# refused PATCH: where the base is another one than what PATCH is for, as git says in the log
refused()
{
	local where
	where=$(sed -n -e 's/^error: patch failed: //p' -e 's/^error: \(.*\): does not exist in index$/\1/p' \
		-e 's/^error: \(.*\): already exists in index$/\1/p' "$log" | sort -u | paste -sd ' ')
	if [ -n "$where" ]; then
		printf '%s does not apply to %s' "$(short "$1")" "$where"
	else
		printf '%s cannot be applied: %s' "$(short "$1")" "$(first_error "$log")"
	fi
}

# make_repository FROM KEEP: PATCHED.new, of the base in FROM and patches/. A patch that does
# not apply is the end; or, with ALL, is told of, and the next ones are tried before the end.
make_repository()
{
	local from=$1 all=${2:-} new=$PATCHED.new failed=0 name patch message
	rm -rf "$new"
	mkdir -p "$new"
	git_in "$new" init -q --template= -b base
	touched "${patches[@]}" >"$STAMPS/touched.list"
	for name in $FILES; do
		[ -f "$from/$name" ] || die "FILES: the base has no $name"
		printf '%s\n' "$name" >>"$STAMPS/touched.list"
	done
	# What patches touch in the tree is not the base's any more.
	if [ "$from" = "$TREE" ]; then
		git_in "$PATCHED" archive base | tar -xf - -C "$new"
	fi
	rsync -lp --ignore-missing-args --ignore-existing --files-from="$STAMPS/touched.list" \
		"$from/" "$new/" >>"$log" 2>&1 || fail_with "$log" "cannot copy what is to be patched"
	git_in "$new" add -fA
	GIT_AUTHOR_DATE='@0 +0000' GIT_COMMITTER_DATE='@0 +0000' \
		git_in "$new" commit -q --allow-empty -m 'The base, of the files that patches touch'
	git_in "$new" checkout -q -b series
	for patch in "${patches[@]}"; do
		git_in "$new" am -q --patch-format=mbox --no-3way --whitespace=nowarn \
			--committer-date-is-author-date "$patch" >"$log" 2>&1 && continue
		grep -q 'No space left' "$log" && fail_with "$log" "cannot patch"
		message=$(refused "$patch")
		[ -n "$all" ] || die "$message (log: $(short "$log"))"
		say "$message"
		git_in "$new" am --skip >/dev/null 2>&1 || :
		failed=$((failed + 1))
	done
	[ "$failed" = 0 ] || die "$failed of ${#patches[@]} patches do not apply to $SOURCE"
}
