#!/bin/bash
# Counts what function tracing costs with one kernel: those parts of bench/parts.tab that
# ROWS picks. Builds the kernel if there is one. What was counted of the same kernel
# before is not counted again.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

bench=$BUILD/bench
mkdir -p "$bench"

# parts: those wanted of this kernel, a line each
parts()
{
	local name smp kernels append
	while read -r name smp kernels append; do
		case $name in '' | '#'*) continue ;; esac
		case ,$kernels, in *,"${VARIANT:-$ENGINE}",* | *,"$KERNEL",*) ;; *) continue ;; esac
		[ -z "$("$HARNESS/vm/pick" "$ROWS" <<<"$name")" ] || echo "$name $smp $append"
	done <"$HARNESS/bench/parts.tab"
}

# measure PART PROCESSORS PARAMETERS
measure()
{
	say "$KERNEL: $1 (log: $(short "$LOG/bench-$KERNEL-$1.out"))" >&2
	"$HARNESS/vm/machine" --name "bench-$KERNEL-$1" --accel icount --cpu max --smp "$2" --timeout 1800 \
		--append "${3#-}" "$HARNESS/bench/machine.sh" "$1" ||
		die "$KERNEL: $1 could not be measured (log: $(short "$LOG/bench-$KERNEL-$1.console"))"
}

# The relocations that moving the kernel (KASLR) needs in the table of sites
relocations()
{
	local start stop
	start=$(nm "$OUT/vmlinux" | awk '$3 == "__start_mcount_loc" { print $1 }')
	stop=$(nm "$OUT/vmlinux" | awk '$3 == "__stop_mcount_loc" { print $1 }')
	readelf -rW "$OUT/vmlinux" 2>/dev/null | awk -v start="$start" -v stop="$stop" '
		$1 >= start && $1 < stop && $3 ~ /^R_X86_64_(64|32S?)$/ { n++ }
		END { print n + 0 }'
	printf '%d\n' "$(((0x$stop - 0x$start) / 8))"
}

# What adding the table to an object takes, in ms of processor time: the mean of
# some objects of all sizes, which are not changed
script()
{
	local work object n=0
	work=$(mktemp -d "$BUILD/bench.XXXXXX")
	find "$OUT"/{kernel,mm,fs,net,drivers} -name '*.o' ! -name 'built-in*' ! -name '*.mod.o' -size +8k |
		sort | awk 'NR % 20 == 0' | head -n 60 >"$work/list"
	while IFS= read -r object; do
		objcopy --remove-section=__mcount_loc --remove-section=.rela__mcount_loc \
			"$object" "$work/$((++n)).o" 2>/dev/null || rm -f "$work/$n.o"
	done <"$work/list"
	perl -e '
		my ($engine, $tree, @objects) = @ARGV;
		my @command = $engine eq "text_sites" ?
			("$tree/scripts/mcount_loc.pl") :
			("$tree/scripts/recordmcount.pl", "x86_64", "little", 64, "objdump", "objcopy",
			 "cc", "ld", "nm", "rm", "mv", 0);
		system("perl", @command, $_) && die "$_: failed\n" for @objects;
		my (undef, undef, $user, $system) = times;
		printf "%.2f\n", 1000 * ($user + $system) / @objects;
	' "$ENGINE" "$TREE" "$work"/*.o
	rm -rf "$work"
}

# Lines of code, neither blank nor comment: the engine, its architecture half, the patcher
# and the build script, with all their headers. All that is there is counted but tests, what
# is made of text sites besides function entries, and the short path of events.
lines()
{
	local file files=() others='_test|jump_function|immediate|marker|tracepoint_batch'

	others+='|trace_mark|_fast|sched_clock'
	case $ENGINE in
	base) files=("$TREE"/kernel/trace/ftrace.c "$TREE"/arch/x86/kernel/ftrace.c
		"$TREE"/arch/x86/kernel/ftrace_64.S "$TREE"/scripts/recordmcount.pl) ;;
	*) mapfile -t files < <(find "$TOP"/{arch,include,kernel,scripts} \
		-name '*.[chS]' -o -name '*.pl' | grep -Ev "/[^/]*($others)[^/]*\$") ;;
	esac
	printf 'lines\t%s\n' "$(for file in "${files[@]}"; do
		case $file in
		*.pl) perl -0777 -pe 's,^=\w.*?^=cut\n,,msg; s/^\s*#.*\n//mg' "$file" ;;
		*) perl -0777 -pe 's,/\*.*?\*/|^\s*//[^\n]*,,gms' "$file" ;;
		esac
	done | grep -c '[^[:space:]]')"
}

host()
{
	local table
	mapfile -t table < <(relocations)
	printf 'relocs\t%s\n' "$(awk "BEGIN { printf \"%.2f\", ${table[0]} / ${table[1]} }")"
	printf 'script\t%s\n' "$(script)"
	lines
}

# What a count is of
measured() { cat "$OUT/arch/x86/boot/bzImage" "$ROOTFS.cpio" "$HARNESS/bench/machine.sh" "$0" | hash; }

main()
{
	local wanted before name smp append of
	wanted=$(parts)
	[ -n "$wanted" ] || return 0
	for before in packages tree kernel rootfs; do "$HARNESS/step/$before.sh"; done
	of=$(measured)
	while read -r name smp append <&3; do
		if [ "$(stamp "bench-$KERNEL-$name")" = "$of" ]; then
			say "$KERNEL: $name is up to date"
			continue
		fi
		begin "bench-$KERNEL-$name"
		case $name in
		host) host ;;
		*) measure "$name" "$smp" "$append" ;;
		esac >"$bench/$KERNEL.$name"
		finish "bench-$KERNEL-$name" "$of"
	done 3<<<"$wanted"
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
