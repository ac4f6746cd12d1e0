#!/bin/bash
# The system has booted as a Debian system does, into the kernel of a package.
. "$DIR/lib"

from_package() { dpkg -S "/boot/vmlinuz-$RELEASE" && modprobe dummy && dpkg -S "$(modinfo -n dummy)"; }
all_started() { systemctl is-system-running --wait || { systemctl --failed; false; }; }
# A module that is signed by none that the kernel knows, or a warning
untainted() { read -r taints </proc/sys/kernel/tainted && echo "$taints" && [ "$taints" = 0 ]; }
trusted() { modinfo -F signer dummy | grep .; }

plan 7
holds 'the kernel that is asked for' test "$(uname -r)" = "$RELEASE"
holds 'and its modules come from a package' from_package
holds 'its initramfs has started the system' test -d /run/initramfs
holds 'systemd has started all services' all_started
holds 'modules are signed' trusted
holds 'the kernel is not tainted' untainted
prints 'functions can be traced' '^vfs_read$' cat "$tracing/available_filter_functions"
finish
