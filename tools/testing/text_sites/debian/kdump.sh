#!/bin/bash
# kdump.sh: runs in the Debian system, twice: crashes the kernel while it traces all functions,
# and looks for what the crash kernel has saved. Prints TAP.
DIR=/run/files
cd "$(mktemp -d)" || exit
. "$DIR/lib"

before=/root/crashed

if [ -e "$before" ]; then
	number=$(cat "$before")
	prints 'the reason is saved' 'sysrq: Trigger a crash' sh -c 'cat /var/crash/*/dmesg.*'
	prints 'the memory is saved' 'dump\.[0-9]+$' sh -c 'find /var/crash/*/dump.* -size +1M'
	finish
fi

plan 3
prints 'the crash kernel is loaded' '^1$' cat /sys/kernel/kexec_crash_loaded
[ "$(cat out)" = 1 ] || finish
echo function >/sys/kernel/tracing/current_tracer
echo "$number" >"$before"
sync
echo c >/proc/sysrq-trigger
