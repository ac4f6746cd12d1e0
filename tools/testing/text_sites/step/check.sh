#!/bin/bash
# Reads the source as maintainers do: compiles with W=1 and with sparse what is ours, the
# selftests by their own Makefile, a kernel's configuration with text_sites.config, what is ours
# in a kernel with hardly anything else, and the documents. In a build folder of its own, as W=1
# changes every command. What reads the source without compiling it is host/check.t.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"
log=$LOG/check.log
. "$HARNESS/repository.sh"

out=$BUILD/check
results=$out/results
# What is read, and by what
of=$({
	stamp tree
	stamp "config-$KERNEL"
	cat "$0"
	dpkg-query -W -f='${Package} ${Version}\n'
} | hash)

kbuild() { make -C "$TREE" O="$out/$1" --no-print-directory "${@:2}"; }

# ends NAME LOG [WHY]: notes how it ended
ends()
{
	local end=pass
	[ -z "${3:-}" ] || end=fail
	say "$1: ${3:-nothing to be said} (log: $(short "$2"))"
	printf '%s\t%s\t%s\t%s\n' "$end" "check: $1" "${3:-}" "$(short "$2")" >>"$results"
}

# Objects of ours and of what patches change, by what was compiled for this kernel
our_objects()
{
	{ cat "$STAMPS/overlay.list"; touched "${patches[@]}"; } |
		sed -nE 's,^((arch|init|kernel|net|drivers|lib|samples)/.*)\.[cS]$,\1.o,p' | sort -u |
		while IFS= read -r object; do
			[ ! -e "$OUT/$object" ] || printf '%s\n' "$object"
		done
}

# changed_lines: those that patches have added to the base, FILE:LINE
changed_lines()
{
	git_in "$PATCHED" diff -U0 base series | awk '
		/^\+\+\+ b\// { file = substr($2, 3) }
		/^@@ / {
			split(substr($3, 2), at, ",")
			for (i = 0; i < (at[2] == "" ? 1 : at[2]); i++) print file ":" at[1] + i
		}'
}

# our_warnings LOG: those of our files, and of lines that patches have added to others
our_warnings()
{
	sed -nE "s,^(\.\./|$TREE/)*([^: ]+):([0-9]+):?[0-9:]* (warning|error): .*,\2\t\2:\3\t&,Ip" "$1" |
		awk -F '\t' 'FILENAME != "-" { ours[$1] = 1; next }
			$1 in ours || $2 in ours { print $3 }' \
			"$STAMPS/overlay.list" <(changed_lines) - | sort -u
}

check_objects()
{
	local log=$LOG/check-objects.log clean=$out/kernel/clean warnings objects
	mapfile -t objects < <(our_objects)
	# Lines of output, for each object and for what is made before the first one
	expected=$((3 * ${#objects[@]}))
	[ -e "$out/kernel/.config" ] || expected=$((expected + 250))
	mkdir -p "$out/kernel"
	# What has been compiled without a word of any is not compiled again.
	[ -e "$clean" ] || (cd "$out/kernel" && rm -f "${objects[@]}")
	rm -f "$clean"
	cmp -s "$OUT/.config" "$out/kernel/.config" || cp "$OUT/.config" "$out/kernel/.config"
	if ! logged "$log" "compiling with W=1 and sparse" \
		kbuild kernel -k -j"$JOBS" W=1 C=1 "${objects[@]}"; then
		ends "W=1 and sparse" "$log" "does not compile: $(first_error "$log")"
		return
	fi
	warnings=$(our_warnings "$log")
	[ -n "$warnings" ] || : >"$clean"
	printf '%s' "$warnings" >"$LOG/check-warnings.log"
	ends "W=1 and sparse, ${#objects[@]} objects" "$LOG/check-warnings.log" \
		"${warnings:+$(wc -l <<<"$warnings") warnings, the first: $(head -n1 <<<"$warnings")}"
}

check_selftests()
{
	local log=$LOG/check-selftests.log why=
	# In the tree: given with O=, their modules would be looked for in that kernel.
	local make=(make -j"$JOBS" -C "$TREE/tools/testing/selftests" TARGETS=text_sites
		FORCE_TARGETS=1 KDIR="$OUT" --no-print-directory)
	# Lines of output: one for nearly each program and module
	expected=141
	logged "$log" "compiling the selftests" "${make[@]}" ||
		why="do not compile: $(first_error "$log")"
	"${make[@]}" clean >>"$log" 2>&1 || why=${why:-cannot be cleaned up}
	ends "TARGETS=text_sites" "$log" "$why"
}

check_config()
{
	local log=$LOG/check-config.log why=
	mkdir -p "$out/config"
	if ! kbuild config x86_64_defconfig text_sites.config >"$log" 2>&1; then
		why="cannot configure: $(first_error "$log")"
	else
		why=$("$HARNESS/config.sh" "$out/config/.config" /dev/null \
			"$TREE/kernel/configs/text_sites.config" 2>&1) || :
	fi
	ends "make text_sites.config" "$log" "$why"
}

# What is ours, with neither modules nor SMP nor anything else that it can do without
check_least()
{
	local log=$LOG/check-least.log why='' option
	mkdir -p "$out/least"
	for option in 64BIT FTRACE FUNCTION_TRACER DYNAMIC_FTRACE FTRACE_ENGINE_TEXT_SITES \
		FUNCTION_GRAPH_TRACER FUNCTION_PROFILER STACK_TRACER JUMP_FUNCTION \
		IMMEDIATE_VALUES MARKERS KUNIT KUNIT_ALL_TESTS; do
		echo "CONFIG_$option=y"
	done >"$out/least.config"
	printf '# CONFIG_%s is not set\n' MODULES SMP >>"$out/least.config"
	expected=201
	if ! kbuild least KCONFIG_ALLCONFIG="$out/least.config" allnoconfig >"$log" 2>&1; then
		why="cannot configure: $(first_error "$log")"
	elif ! why=$("$HARNESS/config.sh" "$out/least/.config" /dev/null "$out/least.config" 2>&1); then
		:
	elif ! logged "$log" "compiling without modules and SMP" \
		kbuild least -k -j"$JOBS" W=1 kernel/trace/ kernel/text_site/ arch/x86/kernel/fentry/ \
		arch/x86/kernel/text_site/ kernel/{immediate,jump_function,marker,marker_text}.o \
		kernel/{immediate,jump_function,marker}_test.o; then
		why="does not compile: $(first_error "$log")"
	else
		why=$(our_warnings "$log" | sed -n 1p)
	fi
	ends "without modules and SMP" "$log" "$why"
}

# Those of the kernel's documents that ours are among, as references are checked, too
check_documents()
{
	local log=$LOG/check-documents.log why=
	mkdir -p "$out/documents"
	if ! logged "$log" "making the documents" kbuild documents SPHINXDIRS=trace htmldocs; then
		why="cannot be made: $(first_error "$log")"
	else
		why=$(our_warnings "$log" | sed -n 1p)
	fi
	ends "make htmldocs" "$log" "$why"
}

main()
{
	: >"$log"
	if passed check "$of"; then
		say "as before: $("$HARNESS/results" brief "$RESULTS/check")"
		return
	fi
	compiler_cache
	mkdir -p "$out"
	: >"$results"
	check_config
	check_selftests
	check_objects
	check_least
	check_documents
	keep check "$of" <"$results"
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
