#!/bin/bash
# kdump.sh: runs in the Debian system, twice: crashes the kernel while it traces all functions,
# and looks for what the crash kernel has saved. A kernel with text sites panics in its patching
# thread, in the middle of a batch, with breakpoints in its text. Prints TAP.
DIR=/run/files
cd "$(mktemp -d)" || exit
. "$DIR/lib"

before=/root/crashed
thread=$(grep -slx text_site /proc/[0-9]*/comm)
reason='sysrq: Trigger a crash'
[ -z "$thread" ] || reason='Kernel panic - not syncing: death_test'

if [ -e "$before" ]; then
	number=$(cat "$before")
	prints 'the reason is saved' "$reason" sh -c 'cat /var/crash/*/dmesg.*'
	prints 'the memory is saved' 'dump\.[0-9]+$' sh -c 'find /var/crash/*/dump.* -size +1M'
	finish
fi

plan 3
prints 'the crash kernel is loaded' '^1$' cat /sys/kernel/kexec_crash_loaded
[ "$(cat out)" = 1 ] || finish
echo "$number" >"$before"
if [ -n "$thread" ]; then
	# behind the function's own site, at the second of the three synchronisations
	site=$(awk '$2 == "text_poke_sync" { print $1 }' /sys/kernel/tracing/available_filter_functions_addrs)
	sync
	insmod "/root/modules/$(uname -r)/death_test.ko" nth=2 how=panic \
		at="$(printf '0x%x' $((0x$site + 5)))"
	echo function >/sys/kernel/tracing/current_tracer
else
	echo function >/sys/kernel/tracing/current_tracer
	sync
	echo c >/proc/sysrq-trigger
fi
sleep 60
not_ok 'the reason is saved' 'it has not crashed'
finish
