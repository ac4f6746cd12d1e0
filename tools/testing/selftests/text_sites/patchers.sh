#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All that changes text does so at a time: batches of function entries, kprobes at entries and in
# bodies, with and without optimization, static keys and calls, jump functions, immediate values,
# markers, BPF programs, modules and processors that come and go. Afterwards the kernel's text is
# what it was before, to the byte. It takes half a minute, or patchers=SECONDS, in the environment
# or on the kernel's command line.

. "$(dirname "$0")/functions.sh"

DEBUG=/sys/kernel/debug
CPU=/sys/devices/system/cpu/cpu1/online
MODULES="immediate_reader immediate_owner marker_cost jump_function_sample"
LIVEPATCH=/sys/kernel/livepatch/livepatch_sample

# Functions that much goes through, with static keys, calls and values of all kinds in them
BODIES="try_to_wake_up kmem_cache_alloc_noprof vfs_read do_exit immediate_reader_now"

# Each of these is one round. A tracepoint has a static key, and a static call: of its only probe, or
# of a function that calls several. An operation may be refused because of what another does.

tracers()
{
	echo 'vfs_* ksys_*' > set_ftrace_filter
	echo function > current_tracer
	echo > set_ftrace_filter
	echo function_graph > current_tracer
	echo nop > current_tracer
}

an_instance()
{
	mkdir instances/patchers
	echo 'vfs_r* try_to_wake_up' > instances/patchers/set_ftrace_filter
	echo function > instances/patchers/current_tracer
	echo 1 > instances/patchers/events/sched/enable
	echo nop > instances/patchers/current_tracer
	rmdir instances/patchers
}

kprobes()
{
	echo 1 > events/kprobes/enable
	sleep 0.3	# What optimizes them comes some time later.
	echo 0 > events/kprobes/enable
	echo 0 > $OPTIMIZATION
	echo 1 > events/kprobes/enable
	echo 0 > events/kprobes/enable
	echo 1 > $OPTIMIZATION
}

events()
{
	local system
	for system in sched kmem irq timer syscalls; do
		echo 1 > events/$system/enable
	done
	for system in sched kmem irq timer syscalls; do
		echo 0 > events/$system/enable
	done
}

jump_functions()
{
	local n
	for n in 1 2 0; do
		echo $n > $DEBUG/jump_function/all
	done
}

# Static keys, values, jump functions and markers of a module, as long as it is there
a_module()
{
	insmod "$HERE/test_modules/tables_test.ko" || return
	[ "$(< /sys/module/tables_test/parameters/check)" = right ] || echo wrong > /tmp/patchers_wrong
	rmmod tables_test
}

values()
{
	local n
	for n in 7 0 64; do
		echo $n > /sys/module/immediate_owner/parameters/both
	done
}

markers()
{
	echo 'cost:*' > set_marker
	echo > set_marker
}

bpf()
{
	printf '%s\n' 'attach a fentry ksys_lseek' 'attach b fexit vfs_read' 'detach a' 'detach b' |
		"$HERE/bpf_functions"
}

settled() { [ "$(< $LIVEPATCH/transition)" = 0 ]; }

# Each task goes over to it, and back.
livepatch()
{
	modprobe livepatch_sample
	within 20 settled
	echo 0 > $LIVEPATCH/enabled
	within 20 test ! -e $LIVEPATCH
	rmmod livepatch_sample
}

processors()
{
	echo 0 > $CPU
	echo 1 > $CPU
}

# again NAME: until it is over; says how often
again()
{
	local n
	set +e
	trap '' EXIT
	for ((n = 0; $(date +%s) < end; n++)); do
		"$1" > /dev/null 2>&1
	done
	echo "$1 $n" >> /tmp/patchers_rounds
}

# part NAME FILE...: prints NAME if all of these files are there
part()
{
	local name=$1 file
	shift
	for file; do
		[ -e "$file" ] || {
			echo "# not $name: no $file" >&2
			return
		}
	done
	echo "$name"
}

# What can be done on this kernel
which()
{
	local tests="$HERE/test_modules"
	echo tracers
	echo an_instance
	echo events
	part kprobes kprobe_events
	part jump_functions $DEBUG/jump_function/all
	part a_module "$tests/tables_test.ko"
	part values /sys/module/immediate_owner
	part markers set_marker events/cost
	part bpf /sys/kernel/btf/vmlinux "$HERE/bpf_functions"
	part livepatch "$(modinfo -n livepatch_sample 2> /dev/null || echo livepatch_sample.ko)"
	part processors $CPU
}

# Probes of entries, and at all places in bodies that are no text sites
make_kprobes()
{
	local name at
	[ -e kprobe_events ] || return 0
	for name in ksys_lseek vfs_read vfs_open try_to_wake_up immediate_reader_now; do
		echo "p:entry_$name $name" >> kprobe_events || :
	done
	for name in $BODIES; do
		for ((at = 5; at < 60; at++)); do
			echo "p:body_${name}_$at $name+$at" >> kprobe_events || :
		done 2> /dev/null
	done
	echo 1 > events/kprobes/enable
	[ ! -e $OPTIMIZATION ] || within 20 grep -q '+0x[1-9a-f][0-9a-f]* .*\[OPTIMIZED\]' $DEBUG/kprobes/list ||
		fail "no kprobe in a body is optimized"
	echo "# $(wc -l < kprobe_events) kprobes, $(grep -c OPTIMIZED $DEBUG/kprobes/list) optimized"
	echo 0 > events/kprobes/enable
}

load_modules()
{
	local module
	modprobe jump_function_sample || :
	for module in immediate_owner immediate_reader marker_cost; do
		[ ! -e "$HERE/test_modules/$module.ko" ] || insmod "$HERE/test_modules/$module.ko"
	done
}

put_back()
{
	local module
	stop_jobs
	echo 0 > events/enable
	[ ! -e kprobe_events ] || echo > kprobe_events
	[ ! -e set_marker ] || echo > set_marker
	[ ! -e $CPU ] || echo 1 > $CPU
	[ ! -e $OPTIMIZATION ] || echo 1 > $OPTIMIZATION
	if [ -e $LIVEPATCH ]; then
		echo 0 > $LIVEPATCH/enabled
		within 60 test ! -e $LIVEPATCH || echo "# the transition of a livepatch does not end"
	fi
	for module in livepatch_sample tables_test $MODULES; do
		! grep -q "^$module " /proc/modules || rmmod "$module"
	done
}

symbol() { sed -n "s/^\([0-9a-f]*\) [Tt] $1\$/\1/p" /proc/kallsyms; }

kernel_text() { "$HERE/site_text" "$(symbol _stext)" "$(symbol _etext)"; }

# module_text NAME: from its first function to where its last one begins
module_text()
{
	# shellcheck disable=SC2046 # two words
	"$HERE/site_text" $(awk -v module="[$1]" '$2 ~ /^[tT]$/ && $4 == module { print $1 }' \
		/proc/kallsyms | sort | sed -n '1p;$p')
}

# text_to DIRECTORY: what all of it is now
text_to()
{
	local module
	mkdir -p "$1"
	kernel_text > "$1/kernel"
	for module in $MODULES; do
		! grep -q "^$module " /proc/modules || module_text $module > "$1/$module"
	done
}

# text_changed: a line for each byte that is another now
text_changed()
{
	local file
	for file in /tmp/patchers_before/*; do
		[ -s "$file" ] || echo "${file##*/} has no text"
		cmp -l "/tmp/patchers_after/${file##*/}" "$file" 2>&1 |
			awk -v what="${file##*/}" '{ printf "# %s+%d: %s, was %s\n", what, $1 - 1, $2, $3 }'
	done
}

all_at_once()
{
	local all name end jobs=()
	trap put_back EXIT
	load_modules
	make_kprobes
	all=$(which)
	# The first time, keys are switched that stay so.
	end=0
	for name in $all; do
		( set +e; trap '' EXIT; "$name" ) > /dev/null 2>&1
	done
	reset_tracing
	sleep 1
	text_to /tmp/patchers_before

	rm -f /tmp/patchers_wrong /tmp/patchers_rounds
	end=$(($(date +%s) + $(setting patchers 30)))
	load &
	for name in $all; do
		again "$name" &
		jobs+=($!)
	done
	wait "${jobs[@]}"
	stop_jobs
	reset_tracing
	sleep 1
	sort /tmp/patchers_rounds | xargs echo "#"
	[ ! -e /tmp/patchers_wrong ] || fail "wrong values in a module"
	! grep ' 0$' /tmp/patchers_rounds || fail "not once"
	equal "function entries" "$(site_text)" "nop $(nr_available)"
	text_to /tmp/patchers_after
	text_changed > /tmp/patchers_changed
	[ ! -s /tmp/patchers_changed ] || {
		head -n 40 /tmp/patchers_changed
		fail "$(wc -l < /tmp/patchers_changed) bytes of text are others"
	}
	echo "# compared: $(wc -c /tmp/patchers_before/* | awk '{ print $1, $2 }' | xargs)"
}

run_tests all_at_once
