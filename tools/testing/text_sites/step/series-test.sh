#!/bin/bash
# Applies the series to a fresh import of the base, one patch after the other, and compiles
# and boots each step, with a small configuration: with the classic engine, and with that of
# text sites where there is one. A step that has run with the same source is not run again.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"
. "$HARNESS/repository.sh"
. "$HARNESS/small.sh"

log=$LOG/series-test.log
TREE=$BUILD/series.tree
out=$BUILD/series.out

# The base as a git repository; made once
import()
{
	if [ "$(stamp series-import)" = "$(stat -L -c '%s %Y' "$SOURCE")" ]; then
		return
	fi
	begin series-import
	rm -rf "$TREE"
	mkdir "$TREE"
	say "importing the base"
	tar -xf "$SOURCE" -C "$TREE" --strip-components=1 >"$log" 2>&1 ||
		fail_with "$log" "cannot unpack $SOURCE"
	git_in "$TREE" init -q --template= -b base
	git_in "$TREE" add -fA
	git_in "$TREE" commit -q -m 'The base'
	finish series-import "$(stat -L -c '%s %Y' "$SOURCE")"
}

# Results go by the patch's name without its number, which changes when one is added.
labels=()

# step_of MAIL: what that patch makes, with one engine, unless it has run. It boots while the next
# one is compiled.
step_of()
{
	local name=${1##*/} label of log why=''
	local number=${name%%-*}
	label=${name#*-}
	label=${label%.patch}-$engine
	labels+=("$label")
	# With the first patches, there is no choice of an engine.
	choose ''
	of=$(of "$(git_in "$TREE" rev-parse 'HEAD^{tree}')")
	if kept "$label" "$of"; then
		say "$name ($engine): as before: $(cut -f3 "$RESULTS/$label")"
		return
	fi
	rm -f "$RESULTS/$label" "$RESULTS/$label.of"
	# As they were asked for
	[ "$NUMBERS" = all ] || [[ " $NUMBERS " = *" $((10#$number)) "* ]] || return 0
	SECONDS=0
	log=$LOG/series-$label.log
	compile "$label"
	room_in 1
	boot "$label" "$name" "$of" function function_graph events &
	started 1
}

main()
{
	local mails mail file label
	: >"$log"
	compiler_cache
	mkdir -p "$RESULTS" "$out"
	[ -e "$rootfs" ] || die "$(short "$rootfs") is missing: 'make rootfs' makes it"
	mails=("$BUILD"/series/0*.patch)
	[ ${#mails[@]} -gt 1 ] || die "no series: 'make series' writes it"
	import
	git_in "$TREE" checkout -q -f -B series base
	for mail in "${mails[@]:1}"; do
		git_in "$TREE" am -q "$mail" >"$log" 2>&1 || fail_with "$log" "${mail##*/} does not apply"
		for engine in classic text_sites; do
			if [ "$engine" = classic ] || [ -e "$TREE/kernel/trace/fentry" ]; then
				step_of "$mail"
			fi
		done
	done
	room_in 1
	# Those of patches, or of an engine, that are no longer there
	for file in "$RESULTS"/*; do
		label=${file##*/}
		[[ " ${labels[*]} " = *" ${label%.of} "* ]] || rm -f "$file"
	done
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
