#!/bin/bash
# Packs the machine's root file system for the kernel in build/<engine>.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

# Ours, and those of the base that both engines must pass
SELFTESTS="text_sites trace_samples ftrace livepatch ring-buffer"
# Nothing of this system runs on another processor.
! foreign || exit 0

log=$LOG/rootfs-$KERNEL.log
[ -z "$SYSROOT" ] || "$HARNESS/step/sysroot.sh"
done_stamp=rootfs-$KERNEL
kselftest=$BUILD/rootfs/$KERNEL.kselftest
with_samples=()
# What compiles programs for the other width, for which this system may have no asm/
other=("$COMPILER" -m32 -idirafter "$OUT/usr/include")

# The part of the inputs that all tests depend on
programs()
{
	{
		[ -z "$SYSROOT" ] || stamp "sysroot-$KARCH"
		cat "$HARNESS/vm/rootfs.sh" "$HARNESS"/vm/{init,init_486.c,pick} "$HARNESS/vm/programs" "$0"
		dpkg-query -W -f='${Package} ${Version}\n'
	} | hash
}

# depends on: the kernel with its modules, the tests, and the programs
inputs()
{
	{
		stamp "kernel-$KERNEL"
		stamp "programs-$KERNEL"
		grep ' tools/testing/selftests/' "$STAMPS/overlay.sums" || :
	} | hash
}

# install_tests: the tests as the kernel's own installer lays them out, with programs for the
# machine's processor
install_tests()
{
	local target targets=() compiler=()
	[ -z "$SYSROOT" ] || compiler=(CC="${other[*]}")
	for target in $SELFTESTS; do
		[ ! -d "$TREE/tools/testing/selftests/$target" ] || targets+=("$target")
	done
	kbuild headers &&
		make -C "$TREE/tools/testing/selftests" O="$OUT" TARGETS="${targets[*]}" \
			FORCE_TARGETS=1 TEST_GEN_MODS_DIR='' KSFT_INSTALL_PATH="$kselftest" \
			"${compiler[@]}" --no-print-directory install ||
		return
	modular || return 0
	has SAMPLES || samples || return
	test_modules text_sites || return
	! has LIVEPATCH || test_modules livepatch
}

# test_modules COLLECTION: its modules (the runner's own rule would compile them
# in the tree, for one kernel)
test_modules()
{
	local build=$OUT/test_modules/$1 to=$kselftest/$1/test_modules module
	mkdir -p "$build" "$to"
	rsync -r "$TREE/tools/testing/selftests/$1/test_modules/" "$build/" &&
		kbuild M="$build" -j"$JOBS" "${with_samples[@]}" modules || return
	for module in "$build"/*.ko; do
		strip --strip-debug -o "$to/${module##*/}" "$module" || return
	done
}

# samples: the same modules as for a kernel that was configured with them. Tests depend on some.
samples()
{
	local build=$OUT/test_modules/samples
	mapfile -t with_samples < <(sed -n '/^CONFIG_SAMPLE_[A-Z_]*=m$/p' \
		"$HARNESS"/config/{machine,engine-text_sites}.config)
	mkdir -p "$build"
	rsync -r "$TREE/samples/" "$build/" &&
		kbuild M="$build" -j"$JOBS" "${with_samples[@]}" modules &&
		kbuild M="$build" INSTALL_MOD_PATH="$OUT/mod" INSTALL_MOD_STRIP=1 modules_install ||
		return
	with_samples+=(KBUILD_EXTRA_SYMBOLS="$build/Module.symvers")
}

# compile_init: what stands in for init where the programs do not run, for any processor and
# without their library
compile_init()
{
	kbuild headers &&
		"${other[@]}" -march=i486 -O2 -Wall -Werror -ffreestanding -fno-pie \
			-fno-stack-protector -fno-asynchronous-unwind-tables -nostdlib -static \
			-include "$TREE/tools/include/nolibc/nolibc.h" \
			-o "$kselftest/init_486" "$HARNESS/vm/init_486.c" -lgcc
}

finish "programs-$KERNEL" "$(programs)"
inputs=$(inputs)
if [ "$(stamp "$done_stamp")" = "$inputs" ] && [ -e "$ROOTFS.cpio" ]; then
	exit 0
fi

begin "$done_stamp"
rm -rf "$kselftest" "$OUT/kselftest"
mkdir -p "$kselftest"
# Lines of output: one for nearly each program and module that is compiled
expected=154
untested || logged "$LOG/kselftest-$KERNEL.log" "compiling the tests" install_tests ||
	fail_with "$LOG/kselftest-$KERNEL.log" "the tests do not compile"
[ -z "$SYSROOT" ] || logged "$log" "compiling init_486" compile_init ||
	fail_with "$log" "init_486 does not compile"
install -D -m 644 "$OUT/.config" \
	"$OUT/mod/boot/config-$(cat "$OUT/include/config/kernel.release")"
logged "$log" "packing" "$HARNESS/vm/rootfs.sh" "$OUT/mod" "$kselftest" \
	"$ROOTFS.cpio" "$SYSROOT" ||
	fail_with "$log" "cannot pack"
finish "$done_stamp" "$inputs"
