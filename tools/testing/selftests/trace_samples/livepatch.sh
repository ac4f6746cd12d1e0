#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# samples/livepatch: what their comments describe

. "$(dirname "$0")/functions.sh"

settled()
{
	[ "$(cat "$PATCHES/$1/transition")" = 0 ]
}

# patch PATCH [PARAMETER...]: load it, and wait until all tasks are patched
patch()
{
	load "$@"
	wait_for 60 settled "${1//-/_}" || fail "$1: the transition does not end"
}

gone()
{
	[ ! -e "$PATCHES/$1" ]
}

unpatch()
{
	echo 0 > "$PATCHES/$1/enabled"
	wait_for 60 gone "$1" || fail "$1: the transition does not end"
	unload "$1"
}

# callback WHEN WHOM: the demo patch says that it was called back
callback()
{
	expect "livepatch_callbacks_demo: $1_callback: $2"
}

a_function_is_replaced()
{
	local before
	before=$(cat /proc/cmdline)
	patch livepatch-sample
	equal "patched" "$(cat /proc/cmdline)" "this has been live patched"
	unpatch livepatch_sample
	equal "unpatched" "$(cat /proc/cmdline)" "$before"
}

callbacks_module_first()
{
	local name=livepatch_callbacks_mod
	load livepatch-callbacks-mod
	patch livepatch-callbacks-demo
	callback pre_patch vmlinux
	callback pre_patch "$name -> .MODULE_STATE_LIVE"
	callback post_patch vmlinux
	callback post_patch "$name -> .MODULE_STATE_LIVE"
	unpatch livepatch_callbacks_demo
	callback pre_unpatch "$name -> .MODULE_STATE_LIVE"
	callback post_unpatch "$name -> .MODULE_STATE_LIVE"
	unload $name
}

callbacks_patch_first()
{
	local name=livepatch_callbacks_mod
	patch livepatch-callbacks-demo
	callback post_patch vmlinux
	! says "callback: $name" || fail "called back before the module came"
	load livepatch-callbacks-mod
	callback pre_patch "$name -> .MODULE_STATE_COMING"
	callback post_patch "$name -> .MODULE_STATE_COMING"
	unload $name
	callback pre_unpatch "$name -> .MODULE_STATE_GOING"
	callback post_unpatch "$name -> .MODULE_STATE_GOING"
	unpatch livepatch_callbacks_demo
}

a_callback_refuses_the_module()
{
	patch livepatch-callbacks-demo
	echo -19 > /sys/module/livepatch_callbacks_demo/parameters/pre_patch_ret
	! modprobe livepatch-callbacks-mod 2> /dev/null || fail "it was loaded"
	expect "pre-patch callback failed for object 'livepatch_callbacks_mod'"
	expect "refusing to load module 'livepatch_callbacks_mod'"
	unpatch livepatch_callbacks_demo
}

a_busy_function_delays_the_transition()
{
	local name=livepatch_callbacks_busymod
	load livepatch-callbacks-busymod sleep_secs=10
	expect "$name: busymod_work_func, sleeping 10 seconds"
	load livepatch-callbacks-demo
	sleep 2
	equal "transition" "$(cat "$PATCHES/livepatch_callbacks_demo/transition")" 1
	# Another target comes and goes meanwhile
	load livepatch-callbacks-mod
	unload livepatch_callbacks_mod
	! says "post_patch_callback: $name" || fail "patched while it was busy"
	wait_for 60 settled livepatch_callbacks_demo || fail "the transition does not end"
	callback post_patch "$name -> .MODULE_STATE_LIVE"
	expect "$name: busymod_work_func exit"
	unpatch livepatch_callbacks_demo
	unload $name
}

# The module makes one leak a second; each lives for twelve.
shadow_variables()
{
	load livepatch-shadow-mod
	expect 'dummy_alloc: dummy @'
	patch livepatch-shadow-fix1
	wait_for 40 says 'livepatch_fix1_dummy_free: dummy @ [0-9a-f]* leaked!' ||
		fail "none leaked from before the patch"
	wait_for 40 says 'livepatch_fix1_dummy_leak_dtor: dummy @ .*prevented leak @' ||
		fail "no leak was prevented"
	patch livepatch-shadow-fix2
	wait_for 40 says 'livepatch_fix2_dummy_free: dummy @ .*check counter = [1-9]' ||
		fail "no counter"
	wait_for 40 says 'livepatch_fix2_dummy_leak_dtor: dummy @ .*prevented leak @' ||
		fail "no leak was prevented by the second patch"
	echo 0 > "$PATCHES/livepatch_shadow_fix2/enabled"
	wait_for 60 gone livepatch_shadow_fix2 || fail "fix2: the transition does not end"
	unpatch livepatch_shadow_fix1
	unload livepatch_shadow_fix2
	unload livepatch_shadow_mod
}

run_tests a_function_is_replaced callbacks_module_first callbacks_patch_first \
	a_callback_refuses_the_module a_busy_function_delays_the_transition \
	shadow_variables
