#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All that changes text does so at a time: batches of function entries, kprobes at entries and in
# bodies, with and without optimization, static keys and calls, jump functions, immediate values,
# markers, BPF programs, modules and processors that come and go. Each of them works at least once
# while the others do, and afterwards the kernel's text is what it was before, to the byte. It takes
# half a minute, or patchers=SECONDS, in the environment or on the kernel's command line.

. "$(dirname "$0")/functions.sh"

DEBUG=/sys/kernel/debug
CPU=/sys/devices/system/cpu/cpu1/online
MODULES="immediate_reader immediate_owner marker_cost jump_function_sample"
LIVEPATCH=/sys/kernel/livepatch/livepatch_sample

# Functions that much goes through, with static keys, calls and values of all kinds in them
BODIES="try_to_wake_up kmem_cache_alloc_noprof vfs_read do_exit immediate_reader_now"

# Each of these is one round. A tracepoint has a static key, and a static call: of its only probe,
# or of a function that calls several. An operation may be refused because of what another does: a
# round is good if all of its steps had the effect that they should have. After one that was not,
# the next one can be good. Where nobody else can have had a part in what is wrong, it is never
# right: wrong() notes it.

# holds FILE TEXT: that is what it says
holds() { [ "$(< "$1")" = "$2" ]; }

traced() { grep -q "^$1 " enabled_functions; }

wrong()
{
	echo "$*" >> /tmp/patchers_wrong
	return 1
}

tracers()
{
	echo 'vfs_* ksys_*' > set_ftrace_filter &&
		echo function > current_tracer &&
		traced vfs_write &&
		echo > set_ftrace_filter &&
		traced kfree &&
		echo function_graph > current_tracer &&
		traced kfree &&
		echo nop > current_tracer &&
		! traced kfree
}

an_instance()
{
	[ -d instances/patchers ] || mkdir instances/patchers || return
	echo 'vfs_r* try_to_wake_up' > instances/patchers/set_ftrace_filter &&
		echo function > instances/patchers/current_tracer &&
		traced try_to_wake_up &&
		echo 1 > instances/patchers/events/sched/enable &&
		holds instances/patchers/events/sched/enable 1 &&
		echo nop > instances/patchers/current_tracer &&
		rmdir instances/patchers
}

# What optimizes probes does so some time later.
kprobes()
{
	local optimized=-q
	if [ -e $OPTIMIZATION ]; then echo 1 > $OPTIMIZATION; else optimized=-qv; fi
	echo 1 > events/kprobes/enable &&
		within 20 grep $optimized OPTIMIZED $DEBUG/kprobes/list &&
		echo 0 > events/kprobes/enable || return
	[ -e $OPTIMIZATION ] || return 0
	echo 0 > $OPTIMIZATION &&
		echo 1 > events/kprobes/enable &&
		! grep -q OPTIMIZED $DEBUG/kprobes/list &&
		echo 0 > events/kprobes/enable &&
		echo 1 > $OPTIMIZATION
}

events()
{
	local system n
	for n in 1 0; do
		for system in sched kmem irq timer syscalls; do
			echo $n > events/$system/enable && holds events/$system/enable $n || return
		done
	done
}

jump_functions()
{
	local n said all=$DEBUG/jump_function/all
	local calls=("0 1 12 123" "1000 1001 1012 1123" "2000 2001 2012 2123")
	for n in 1 2 0; do
		echo $n > $all && said=$(sed 's/.*= //' $all | xargs) || return
		[ "$said" = "${calls[n]}" ] || wrong "jump functions, $n: $said" || return
	done
}

# Static keys, values, jump functions and markers of a module, as long as it is there
a_module()
{
	! grep -q '^tables_test ' /proc/modules || rmmod tables_test || return
	insmod "$HERE/test_modules/tables_test.ko" || return
	holds /sys/module/tables_test/parameters/check right || wrong "in a module" || :
	rmmod tables_test
}

values()
{
	local n
	for n in 7 0 64; do
		echo $n > /sys/module/immediate_owner/parameters/both || return
		holds /sys/module/immediate_owner/parameters/both "$n $((2 * n))" ||
			wrong "values of $n" || return
	done
}

markers()
{
	echo 'cost:*' > set_marker &&
		holds events/cost/enable 1 &&
		echo > set_marker &&
		holds events/cost/enable 0
}

bpf()
{
	local said
	said=$(printf '%s\n' 'attach a fentry ksys_lseek' 'attach b fexit vfs_read' \
		'attach c fexit ksys_lseek' 'lseek 5' 'seen a' 'seen c' 'detach a' 'detach b' \
		'detach c' | "$HERE/bpf_functions" | xargs)
	said=${said//ok/+}
	[[ $said != '+ + + 5 1 '?*' 5 0 1 '?*' 5 0 5 + + +' ]] || return 0
	[[ $said != '+ + + '*' + + +' ]] || wrong "bpf: $said"
	fail "$said"
}

settled() { holds $LIVEPATCH/transition 0; }

# Each task goes over to it, and back. What it patches is what this file says.
livepatch()
{
	local good=1
	modprobe livepatch_sample && within 20 settled &&
		grep -q 'has been live patched' /proc/cmdline || good=''
	echo 0 > $LIVEPATCH/enabled
	within 20 test ! -e $LIVEPATCH
	# The directory goes before the module's last reference does.
	within 20 rmmod livepatch_sample && [ "$good" ] && ! grep -q 'has been live patched' /proc/cmdline
}

processors()
{
	echo 0 > $CPU && holds $CPU 0 && echo 1 > $CPU && holds $CPU 1
}

# again NAME: until it is over; says how often, and how often that was good. What the last round
# said that was not is in a file.
again()
{
	local n good=0
	set +e
	trap '' EXIT
	for ((n = 0; $(date +%s) < end; n++)); do
		if ( "$1" ) > "/tmp/patchers_says_$1" 2>&1; then
			good=$((good + 1))
		else
			mv "/tmp/patchers_says_$1" "/tmp/patchers_said_$1"
		fi
	done
	echo "$1 $good of $n" >> /tmp/patchers_rounds
}

# What can change text, the options that the kernel needs for it, separated by commas, and the
# files
PATCHERS="tracers FUNCTION_TRACER,FUNCTION_GRAPH_TRACER current_tracer
	an_instance FUNCTION_TRACER instances
	events EVENT_TRACING events/sched/enable
	kprobes KPROBE_EVENTS kprobe_events
	jump_functions JUMP_FUNCTION,SAMPLE_JUMP_FUNCTION $DEBUG/jump_function/all
	a_module MODULES,MARKERS $HERE/test_modules/tables_test.ko
	values MODULES,IMMEDIATE_VALUES /sys/module/immediate_owner
	markers MODULES,MARKERS set_marker events/cost
	bpf BPF_JIT,DEBUG_INFO_BTF /sys/kernel/btf/vmlinux $HERE/bpf_functions
	livepatch LIVEPATCH,SAMPLE_LIVEPATCH $(modinfo -n livepatch_sample || echo livepatch_sample.ko)
	processors HOTPLUG_CPU $CPU"

# missing OPTIONS FILE...: prints an option that the kernel was configured without, as
# "CONFIG_NAME", or else a file that is not there
missing()
{
	local option file
	for option in ${1//,/ }; do
		configured "$option" || { echo "CONFIG_$option"; return; }
	done
	shift
	for file; do
		[ -e "$file" ] || { echo "$file"; return; }
	done
}

# which: prints the names of what can be done on this kernel
which()
{
	local name needs
	while read -r name needs; do
		# shellcheck disable=SC2086 # words
		[ -n "$(missing $needs)" ] || echo "$name"
	done <<< "$PATCHERS"
}

# values_in MODULE: the addresses of bytes in its text that an immediate value of 64 is in
values_in()
{
	local both=/sys/module/immediate_owner/parameters/both at
	echo 64 > $both
	module_text "$1" > /tmp/patchers_64
	echo 65 > $both
	module_text "$1" > /tmp/patchers_65
	echo 64 > $both
	# The whole text begins with the first function, as module_text has it.
	cmp -l /tmp/patchers_64 /tmp/patchers_65 |
		while read -r at _; do
			printf '%x\n' $((0x$(functions_of "$1" | head -n1) + at - 1))
		done
}

# Text that is in the copy that an optimized probe has made is not patched: near a value there
# has to be such a probe.
probes_are_beside_values()
{
	local value probe probes near=0
	[ -e $OPTIMIZATION ] && [ -e /sys/module/immediate_reader ] || return 0
	probes=$(sed -n 's/ .*immediate_reader_now+.*OPTIMIZED.*//p' $DEBUG/kprobes/list)
	for value in $(values_in immediate_reader); do
		for probe in $probes; do
			near=$((near + (0x$probe - 0x$value < 16 && 0x$value - 0x$probe < 16)))
		done
	done
	echo "# $near times an optimized kprobe within 16 bytes of a value"
	[ $near -gt 0 ] || fail "no optimized kprobe is beside an immediate value"
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
	probes_are_beside_values
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

# functions_of MODULE: their addresses
functions_of()
{
	awk -v module="[$1]" '$2 ~ /^[tT]$/ && $4 == module { print $1 }' /proc/kallsyms | sort
}

# module_text NAME: from its first function to the end of the page in which its last one begins
module_text()
{
	local functions
	mapfile -t functions < <(functions_of "$1")
	[ ${#functions[@]} -gt 0 ] || return 0
	"$HERE/site_text" "${functions[0]}" "$(printf '%x' $(((0x${functions[-1]} | 4095) + 1)))"
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

# Switch off what a round that was not good may have left on.
all_off()
{
	reset_tracing
	echo 0 > events/enable
	if [ -e $OPTIMIZATION ]; then
		# Writing 0 waits until no kprobe is optimized.
		echo 0 > $OPTIMIZATION
		echo 1 > $OPTIMIZATION
	fi
	sleep 1
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
		( set +e; trap '' EXIT; "$name" ) > /dev/null 2>&1 || :
	done
	all_off
	text_to /tmp/patchers_before

	rm -f /tmp/patchers_wrong /tmp/patchers_rounds /tmp/patchers_said_*
	end=$(($(date +%s) + $(setting patchers 30)))
	load &
	for name in $all; do
		again "$name" &
		jobs+=($!)
	done
	wait "${jobs[@]}"
	stop_jobs
	all_off
	sort /tmp/patchers_rounds | xargs echo "#"
	[ ! -e /tmp/patchers_wrong ] || fail "wrong: $(head -n 5 /tmp/patchers_wrong)"
	for name in $all; do
		grep -qE "^$name [1-9][0-9]* of" /tmp/patchers_rounds || {
			cat "/tmp/patchers_said_$name"
			fail "$name: not once"
		}
	done
	equal "function entries" "$(site_text)" "nop $(nr_available)"
	text_to /tmp/patchers_after
	text_changed > /tmp/patchers_changed
	[ ! -s /tmp/patchers_changed ] || {
		head -n 40 /tmp/patchers_changed
		fail "$(wc -l < /tmp/patchers_changed) bytes of text are others"
	}
	echo "# compared: $(wc -c /tmp/patchers_before/* | awk '{ print $1, $2 }' | xargs)"
}

# What this kernel was configured for, but cannot be done here
nothing_is_missing()
{
	local name needs what missing=''
	load_modules
	trap put_back EXIT
	while read -r name needs; do
		# shellcheck disable=SC2086 # words
		what=$(missing $needs)
		case $what in
		'') ;;
		CONFIG_*) echo "# not $name: no $what" ;;
		*) missing+=", $name: no $what" ;;
		esac
	done <<< "$PATCHERS"
	[ -z "$missing" ] || fail "${missing#, }"
}

run_tests all_at_once nothing_is_missing
