# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # tree, out, engine, log, why: of the step that sources this
# For steps that compile one small kernel after the other, and boot each while the next one is
# compiled. What includes this says where: the source is in $tree, and $out has a folder for each
# $engine; $log is the kernel's.

rootfs=$BUILD/rootfs/text_sites.cpio
fragment=$CONFIG/variant-small.config

kbuild() { make -C "$tree" O="$out/$engine" LOCALVERSION= --no-print-directory "$@"; }

# configure: takes the options from $out/$engine.fragment
configure() { KCONFIG_ALLCONFIG=$out/$engine.fragment kbuild allnoconfig; }

# has OPTION: is it in the configuration?
has() { grep -q "^CONFIG_$1=y" "$out/$engine/.config"; }

# compile LABEL: makes $out/LABEL.image, or sets why
compile()
{
	local targets=(bzImage)
	mkdir -p "$out/$engine"
	if ! configure >"$log" 2>&1; then
		why="cannot configure: $(first_error "$log")"
		return
	fi
	! has MODULES || targets+=(modules)
	if ! kbuild -j"$JOBS" "${targets[@]}" >>"$log" 2>&1; then
		why="does not compile: $(first_error "$log")"
	else
		cp "$out/$engine/$IMAGE" "$out/$1.image"
	fi
}

# boot LABEL NAME OF TRACER...: keeps how it ends, which is $why if that has something to say
boot()
{
	local end=fail label=$1 name=$2 of=$3 status=0
	shift 3
	if [ -z "$why" ]; then
		# The slow KUnit tests are for the kernel that all patches make.
		"$HARNESS/vm/machine" --image "$out/$label.image" --rootfs "$rootfs" \
			--name "$GROUP-$label" --timeout $((600 * SLOW)) \
			--append 'kunit.enable=1 kunit.filter=speed>slow' \
			"$HARNESS/vm/small.sh" "$@" >>"$log" 2>&1 || status=$?
		[ "$status" -ne 0 ] || end=pass
		# Another time it may get to its end.
		[ "$status" -ne 124 ] || of='no end'
		why=$(tail -n1 "$log")
		rm "$out/$label.image"
	fi
	printf '%s\t%s: %s, %s\t%s\t%s\n' "$end" "$GROUP" "$name" "$engine" "${why:-no output}" \
		"$(short "$log")" | keep "$label" "$of"
	say "$name ($engine): $why ($SECONDS s)"
}
