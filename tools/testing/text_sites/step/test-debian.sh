#!/bin/bash
# Boots the Debian system with Debian's own kernel and with ours, and runs the tests of
# debian/tests in each. What passes with Debian's kernel must pass with ours.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

debian=$BUILD/debian
results=$HARNESS/results
job=$HARNESS/debian
ours=$(cat "$OUT/include/config/kernel.release")

# Seconds for the tests; the emulator is slow, and slower when it compiles BPF programs.
TIME=5400
KDUMP_TIME=1800

# machine NAME RELEASE TIME ARGUMENT...
machine()
{
	"$HARNESS/vm/machine" --name "$1" --timeout $(($3 * SLOW)) --disk "$debian/root.img" \
		--image "$debian/boot/vmlinuz-$2" --rootfs "$debian/boot/initrd.img-$2" \
		--mem 2G --files "$job/tests" "${@:4}" </dev/null
}

# read_machine NAME STATUS [WORD...]: its results; WORD: what its console says is none of them
read_machine()
{
	local base=$LOG/$1
	touch "$base".{out,console}
	"$results" read --label debian --log "$(short "$base.out")" --status "$2" <"$base.out"
	[ $# -gt 2 ] || "$results" console --label debian --log "$(short "$base.console")" \
		<"$base.console"
}

# tested WHOSE RELEASE: results of all tests with that kernel, in build/debian/WHOSE
tested()
{
	local status=0 name=debian-$1
	SECONDS=0
	say "$1 ($2): booting (log: $(short "$LOG/$name.out"), .console)"
	machine "$name" "$2" "$TIME" "$job/run.sh" "$2" >/dev/null 2>"$LOG/$name.err" || status=$?
	cat "$LOG/$name.err" >&2
	read_machine "$name" "$status" >"$debian/$1.tmp"
	status=0
	machine "$name-kdump" "$2" "$KDUMP_TIME" --reboot \
		--append crashkernel=256M "$job/kdump.sh" >/dev/null \
		2>"$LOG/$name-kdump.err" || status=$?
	cat "$LOG/$name-kdump.err" >&2
	# A kernel that is to crash says so.
	read_machine "$name-kdump" "$status" crashes >>"$debian/$1.tmp"
	mv "$debian/$1.tmp" "$debian/$1"
	say "$1: $("$results" brief "$debian/$1") ($((SECONDS / 60)):$(printf '%02d' $((SECONDS % 60))))"
}

# complete: have all tests run with Debian's kernel? If they have not, there is nothing to compare
# ours with.
complete()
{
	local first
	first=$(awk -F '\t' '
		$1 != "fail" { next }
		$2 ~ /^debian: (run|end)$/ || $3 == "ended with the machine" { print $2 ": " $3 }' \
		"$debian/theirs" | sed -n 1p)
	[ -z "$first" ] || die "not all tests have run with Debian's kernel: $first"
}

# What does not pass with Debian's kernel, as a list of what need not pass with ours. What that
# kernel complains about is no reason for ours to complain.
listed()
{
	awk -F '\t' -v OFS='\t' '
		$2 == "debian: kernel log" { next }
		$1 == "fail" { print $2, "may-fail", "fails with Debian'"'"'s kernel too" }
		$1 == "skip" { print $2, "skip", $3 }' "$debian/theirs"
}

# missing: what passes with Debian's kernel and has no result with ours
missing()
{
	awk -F '\t' -v OFS='\t' -v where="$(short "$LOG/debian-ours.out")" '
		FNR == NR { ours[$2] = 1; next }
		$1 == "pass" && !($2 in ours) { print "fail", $2, "was not run with our kernel", where }' \
		"$debian/ours" "$debian/theirs"
}

# judged: our results, by what is expected of them
judged()
{
	"$results" judge --list <(listed) --log "$(short "$LOG/debian-ours.out")" <"$debian/ours"
	missing
}

# table: each test, and what became of it with either kernel
table()
{
	awk -F '\t' -v OFS='\t' '
		BEGIN { print "test", "Debian", "text sites" }
		FNR == NR { theirs[$2] = $1; next }
		{ print $2, ($2 in theirs ? theirs[$2] : "-"), $1; delete theirs[$2] }
		END { for (name in theirs) print name, theirs[name], "-" }' \
		"$debian/theirs" "$debian/ours" | sed 's/^debian: //' | column -t -s $'\t'
}

main()
{
	local theirs image of
	# What is installed, and what tests it
	of=$({
		stamp debian
		find "$job" -type f -print0 | sort -z | xargs -0 cat "$0" "$results"
	} | hash)
	if passed debian "$of"; then
		say "as before: $("$results" brief "$RESULTS/debian")"
		return
	fi
	for image in "$debian"/boot/vmlinuz-*; do
		[ "${image##*/vmlinuz-}" = "$ours" ] || theirs=${image##*/vmlinuz-}
	done
	tested theirs "$theirs" &
	tested ours "$ours" &
	wait %1 || die "the results of Debian's kernel could not be had"
	wait %2 || die "the results of our kernel could not be had"
	complete
	judged >"$debian/judged"
	keep debian "$of" <"$debian/judged"
	table | tee "$debian/table"
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
