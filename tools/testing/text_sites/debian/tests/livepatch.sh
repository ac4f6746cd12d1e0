#!/bin/bash
# The kernel's sample of a livepatch, compiled with the headers of a package
. "$DIR/lib"

patched='^this has been live patched$'
patch=/sys/kernel/livepatch/livepatch_sample

# until COMMAND...: waits for COMMAND to end well, for a minute at most
until_that()
{
	for _ in {1..300}; do
		! "$@" || return 0
		sleep 0.2
	done
	echo "not so within a minute: $*"
	return 1
}

# A patch is in transition for as long as a task may be in the function.
load() { insmod "/root/modules/$RELEASE/livepatch-sample.ko" && until_that grep -qx 0 "$patch/transition"; }
unload() { echo 0 >"$patch/enabled" && until_that test ! -e "$patch" && rmmod livepatch_sample; }
not_patched() { ! grep "$patched" /proc/cmdline; }
while_traced()
{
	trace-cmd record -p function -l cmdline_proc_show -l vfs_read cat /proc/cmdline &&
		trace-cmd report
}

plan 6
holds 'it is loaded' load
prints 'the function is another one' "$patched" cat /proc/cmdline
prints 'other functions can be traced' ' function: +vfs_read' while_traced
prints 'and it remains another one' "$patched" cat /proc/cmdline
holds 'it is unloaded' unload
holds 'the function is what it was' not_patched
finish
