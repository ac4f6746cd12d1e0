#!/bin/bash
# Chooses the kernel and its machine, by the kernel's own menu of our Kconfig: kept in .config.
set -eu
. "$(dirname "$0")/../lib.sh"

mkdir -p "$BUILD/kconfig"
make -C "$TREE" O="$BUILD/kconfig" --no-print-directory -s \
	KBUILD_KCONFIG="$TOP/Kconfig" KCONFIG_CONFIG="$TOP/.config" "${KCONFIG_TARGET:-menuconfig}"
