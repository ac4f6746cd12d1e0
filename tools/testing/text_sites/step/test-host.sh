#!/bin/bash
# Runs the tests that need no machine: host/*.t
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"
shopt -s extglob

# of TEST: what its results are of: the files that it says it reads (`# reads:`, with patterns), or
# all of ours, the kernel that was compiled last, and the series, which checkpatch reads
of()
{
	local patterns
	patterns=$(sed -n '/^[^#]/q; s/^# reads: //p' "$1")
	{
		if [ -n "$patterns" ]; then
			# shellcheck disable=SC2086	# they are patterns
			(cd "$TOP" && sums $patterns)
		else
			stamp tree
			stamp "kernel-$KERNEL"
			(cd "$TOP" && sums "$HARNESS" [A-Z]*)
			# A cover letter has a date.
			[ ! -e "$BUILD/series" ] || sums "$BUILD/series" ! -name '0000-*'
		fi
		# How much damage.t does, and model.t
		echo "${DAMAGE:-} ${DAMAGE_SEED:-} ${MODEL:-}"
		sha256sum "$1" "$0" "$HARNESS"/{lib.sh,results,skips.tab,host/*.pm}
		dpkg-query -W -f='${Package} ${Version}\n'
	} | hash
}

# sums PATH...: of all files there
sums() { find "$@" -type f -print0 | sort -z | xargs -0 sha256sum; }

# one TEST OF PLACE: runs it, and keeps what it says; PLACE says how far that is
one()
{
	local name log status=0
	name=$(basename "$1" .t)
	log=$LOG/host-$name.log
	SECONDS=0
	prove -v "$1" >"$log" 2>&1 </dev/null || status=$?
	"$HARNESS/results" read --label "host/$name" --log "$(short "$log")" \
		--status "$status" <"$log" |
		"$HARNESS/results" judge --part --log "$(short "$log")" \
			--list <(grep "^host/$name: " "$HARNESS/skips.tab" || :) \
			>"$LOG/host-$name.results"
	keep "host-$name" "$2" <"$LOG/host-$name.results"
	say "$name, $3: $("$HARNESS/results" brief "$RESULTS/host-$name")"
}

# As many at once as there may be processes
main()
{
	local test tests=() name of i=0
	# These take longest.
	for test in "$HARNESS"/host/{check,model}.t "$HARNESS"/host/!(check|model).t; do
		[ -e "$test" ] || continue
		name=$(basename "$test" .t)
		[ -z "$("$HARNESS/vm/pick" "$MACHINES" <<<"host-$name")" ] || tests+=("$test")
	done
	for test in "${tests[@]}"; do
		name=$(basename "$test" .t)
		i=$((i + 1))
		of=$(of "$test")
		if passed "host-$name" "$of"; then
			say "$name: as before: $("$HARNESS/results" brief "$RESULTS/host-$name")"
			continue
		fi
		room_in "$JOBS"
		one "$test" "$of" "$i of ${#tests[@]}" &
		started 1
	done
	room_in 1
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
