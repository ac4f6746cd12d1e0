# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # engine, log, out, why: of the step that sources this
# For steps that compile many small kernels in a row, and boot each while the next one is compiled.
# The source is in $TREE; $out has a build folder for each $engine, and the images; $log is the log
# of the current kernel.

rootfs=$BUILD/rootfs/text_sites.cpio
LOCALVERSION=''

# choose OPTIONS: sets OUT to the engine's build folder, and writes what to configure there
choose()
{
	OUT=$out/$engine
	mkdir -p "$OUT"
	{
		cat "$CONFIG/variant-small.config"
		printf '%s\n' "$1" "CONFIG_FTRACE_ENGINE_${engine^^}=y"
	} >"$OUT.fragment" || die "cannot write to $(short "$out")"
}

# of SOURCE: what the results of the chosen kernel depend on
of()
{
	{
		printf '%s\n' "$1"
		"$COMPILER" --version
		cat "$OUT.fragment" "$HARNESS"/{,vm/}small.sh "$HARNESS/results" "$0"
		stamp programs-text_sites
	} | hash
}

# compile LABEL: makes $out/LABEL.image and counts its KUnit options in $out/LABEL.suites, or sets
# why
compile()
{
	local targets=("${IMAGE##*/}")
	if ! KCONFIG_ALLCONFIG=$OUT.fragment kbuild allnoconfig >"$log" 2>&1; then
		why="cannot configure: $(first_error "$log")"
		return
	fi
	! modular || targets+=(modules)
	if ! kbuild -j"$JOBS" "${targets[@]}" >>"$log" 2>&1; then
		why="does not compile: $(first_error "$log")"
	else
		cp "$OUT/$IMAGE" "$out/$1.image"
		grep -c '^CONFIG_[A-Z_]*KUNIT_TEST=y' "$OUT/.config" >"$out/$1.suites" || :
	fi
}

# complaint CONSOLE: the first one that the kernel has of itself, or what its KUnit tests lack
complaint()
{
	"$HARNESS/results" console --label "$GROUP" --log - <"$1" |
		awk -F '\t' '$1 == "fail" && !n++ { sub(/^[^:]*: /, "", $2); print $2 ": " $3 }'
}

# boot LABEL NAME OF TRACER...: boots the image unless $why says what is wrong with it, and keeps
# the result
boot()
{
	local end=fail label=$1 name=$2 of=$3 status=0
	shift 3
	if [ -z "$why" ]; then
		# The slow KUnit tests are for the kernel that all patches make.
		"$HARNESS/vm/machine" --image "$out/$label.image" --rootfs "$rootfs" \
			--name "$GROUP-$label" --timeout $((600 * SLOW)) \
			--append 'kunit.enable=1 kunit.filter=speed>slow' \
			"$HARNESS/vm/small.sh" "$(<"$out/$label.suites")" "$@" \
			>>"$log" 2>&1 || status=$?
		if [ "$status" -eq 0 ]; then
			# What it says when the job has looked for that, too
			why=$(complaint "$LOG/$GROUP-$label.console")
			[ -n "$why" ] || end=pass
		fi
		# Another time it may get to its end.
		[ "$status" -ne 124 ] || of='no end'
		why=${why:-$(tail -n1 "$log")}
	fi
	rm -f "$out/$label".{image,suites}
	printf '%s\t%s: %s, %s\t%s\t%s\n' "$end" "$GROUP" "$name" "$engine" "${why:-no output}" \
		"$(short "$log")" | keep "$label" "$of"
	say "$name ($engine): $why ($SECONDS s)"
}
