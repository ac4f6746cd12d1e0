#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of text sites have in common.
#
# A test is a shell function, run by "run_tests NAME...": its description is its
# name with spaces. It fails by calling fail or by a command that ends it under
# errexit; it starts and ends with tracing as it is after boot.

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$HERE/../kselftest/ktap_helpers.sh"

TRACING=/sys/kernel/tracing

fail()
{
	echo "# FAIL: $*"
	exit 1
}

skip()
{
	echo "# SKIP: $*"
	exit "$KSFT_SKIP"
}

# boot_instances: the names of those in reserved memory, which the kernel's command line asks for.
# They cannot be removed.
boot_instances()
{
	tr ' ' '\n' < /proc/cmdline | sed -n 's/^trace_instance=\([^@]*\)@.*/\1/p'
}

# The state that every test starts with
reset_tracing()
{
	cd $TRACING || exit 1
	local instance
	for instance in instances/*/; do
		instance=${instance%/}
		[ ! -d "$instance" ] || boot_instances | grep -qxF "${instance##*/}" || rmdir "$instance"
	done
	echo 0 > tracing_on
	echo nop > current_tracer
	! can_trace || reset_functions
	echo > trace
	echo 1 > tracing_on
}

# configuration: prints that of the running kernel; fails if neither it nor its package shows it
configuration()
{
	zcat /proc/config.gz 2> /dev/null || cat "/boot/config-$(uname -r)" 2> /dev/null
}

# configured OPTION[=VALUE]: the kernel was configured with it, if that can be told
configured()
{
	local option=$1 all
	[[ $option = *=* ]] || option+='=[ym]'
	all=$(configuration) || return 0
	grep -qx "CONFIG_$option" <<< "$all"
}

# Kernels that cannot trace functions have text sites of other kinds.
can_trace() { [ -e $TRACING/set_ftrace_filter ]; }

reset_functions()
{
	echo > set_ftrace_pid
	echo > set_ftrace_notrace_pid
	echo 1 > /proc/sys/kernel/ftrace_enabled
	# Commands are taken away one by one
	local line
	grep -v '^#' set_ftrace_filter | grep ':' | grep -v ':mod:' |
	while read -r line; do
		echo "!$line" | sed 's/:unlimited$//' >> set_ftrace_filter
	done
	echo > set_ftrace_filter
	echo > set_ftrace_notrace
	if [ -e set_graph_function ]; then
		echo > set_graph_function
		echo > set_graph_notrace
		echo 0 > max_graph_depth
		[ ! -e graph_keep ] || echo > graph_keep
	fi
}

# What a test has left running in the background
stop_jobs()
{
	# shellcheck disable=SC2046 # each a word
	kill $(jobs -p) 2> /dev/null || :
	wait || :
}

# endlessly COMMANDS: run them in a loop in the background, until stop_endless()
endless=()
endlessly()
{
	while :; do eval "$1"; done &
	endless+=($!)
}

# End these loops. One that has ended already fails the test: a command in it has failed.
stop_endless()
{
	local pid
	for pid in "${endless[@]}"; do
		kill -0 "$pid" 2> /dev/null || fail "a loop in the background has ended early"
	done
	endless=()
	stop_jobs
}

# What the engine says of text that is not what it should be, and of sites that it cannot switch
WRONG_TEXT='holds .*, should hold |is still jumped into|its sites are not switched'

# Not the data races that KCSAN reports: most are the base's. The test machine judges them by
# the functions in each report. Nor what the module test_ubsan is for.
complaints()
{
	dmesg | grep -E "WARNING:|BUG:|Oops|UBSAN:|ODEBUG:|$WRONG_TEXT" |
		grep -vE 'BUG: KCSAN:|UBSAN: .*lib/test_ubsan\.c:' || :
}

# check_clean COMPLAINTS-BEFORE: nothing may be attached to any function when a
# test ends, and the kernel may not have complained during it.
check_clean()
{
	! can_trace || [ -z "$(cat $TRACING/enabled_functions)" ] ||
		fail "left attached: $(head -n3 $TRACING/enabled_functions)"
	local now; now=$(complaints)
	[ "$now" = "$1" ] || [ -z "$now" ] || fail "the kernel complained: $(tail -n1 <<< "$now")"
}

# report NAME STATUS: how a test has ended
report()
{
	case $2 in
	0) ktap_test_pass "${1//_/ }" ;;
	"$KSFT_SKIP") ktap_test_skip "${1//_/ }" ;;
	*) ktap_test_fail "${1//_/ }" ;;
	esac
}

# run_last NAME: a test that leaves the machine of no use to others
run_last()
{
	ktap_print_header
	ktap_set_plan 1
	( set -e; "$1" ) 2>&1
	report "$1" $?
	ktap_finished
}

run_tests()
{
	local name status start
	ktap_print_header
	ktap_set_plan $#
	for name; do
		start=$SECONDS
		( set -e; trap stop_jobs EXIT
		  reset_tracing; old=$(complaints)
		  "$name"; reset_tracing; check_clean "$old" ) 2>&1
		status=$?
		# A test that failed did not reset tracing.
		[ $status -eq 0 ] || ( reset_tracing ) 2>&1
		report "$name" $status
		ktap_print_msg "took $((SECONDS - start)) s"
	done
	ktap_finished
}

# equal WHAT GOT EXPECTED
equal()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"
}

# within SECONDS COMMAND...: COMMAND succeeds, at once or some time later
within()
{
	local left=$((10 * $1))
	shift
	until "$@"; do
		[ $((left--)) -gt 0 ] || return 1
		sleep 0.1
	done
}

# is_asleep PID NAME: the process executes the program NAME, and sleeps. This starts no process.
is_asleep()
{
	local state
	{ read -r state < "/proc/$1/stat"; } 2> /dev/null && [[ $state == *"($2) S "* ]]
}

# has_ended PID
has_ended() { ! kill -0 "$1" 2> /dev/null; }

# What the entries of functions hold, one kind a line, as "KIND NUMBER"; the
# names of the NOPs are all "nop". Functions by pattern of available names.
site_text()
{
	grep -E "^[0-9a-f]+ ${1:-.*}( |$)" $TRACING/available_filter_functions_addrs |
		"$HERE/site_text" | sed -E 's/^(nopl|prefix|jmp0|jmp3|lea) /nop /'
}

# site_of FUNCTION: the address of its site, in hex without 0x
site_of()
{
	awk -v name="$1" '$2 == name { print $1 }' $TRACING/available_filter_functions_addrs
}

# What the kernel's entry for system calls goes to, as stack traces name it: that of 64-bit or
# of 32-bit programs
# shellcheck disable=SC2034	# tests use it
SYSCALL='(do_syscall_64|do_fast_syscall_32|do_int80_syscall_32)'

# The bytes that a long of the kernel has
size_of_long() { sed -n 's/.*local_t commit;.*size:\([0-9]*\).*/\1/p' $TRACING/events/header_page; }

# setting NAME DEFAULT: what the environment, or the kernel's command line, says a test is to do
setting()
{
	local name=$1 value
	value=${!name:-$(tr ' ' '\n' < /proc/cmdline | sed -n "s/^$name=//p" | tail -n1)}
	echo "${value:-$2}"
}

nr_available()
{
	wc -l < $TRACING/available_filter_functions
}

# spread_sites NUMBER: addresses of so many functions of the kernel, out of all, in one write
spread_sites()
{
	grep -v '\]$' $TRACING/available_filter_functions_addrs > /tmp/all_sites
	awk -v all="$(wc -l < /tmp/all_sites)" -v n="$1" \
		'int(NR * n / all) > int((NR - 1) * n / all) { print $1 }' /tmp/all_sites |
		dd bs=16M iflag=fullblock status=none
}

# The filter file's lines on one line
filter()
{
	grep -v '^#' "$TRACING/${1:-set_ftrace_filter}" | sort | xargs
}

# interrupts NAME: how often all CPUs together have had those of a line of /proc/interrupts
interrupts()
{
	awk -v name="$1:" '$1 == name { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i }
		END { print n + 0 }' /proc/interrupts
}

# Some work that goes through many functions, until it is killed
load()
{
	while :; do
		# Files may go while they are listed.
		ls -R /proc/1 /sys/kernel > /dev/null 2>&1 || :
		cat /proc/kallsyms /proc/interrupts > /dev/null 2>&1 || :
	done
}

# event_fields EVENT: of each field of an event's own: name, offset in bytes, size in bytes
event_fields()
{
	sed -nE 's/^\tfield:.* ([^] [;]+)(\[[0-9]*\])?;\toffset:([0-9]+);\tsize:([0-9]+);.*/\1 \3 \4/p' \
		"$TRACING/events/$1/format" | tail -n +5
}

# expect_error WHAT ERROR FILE TEXT: writing TEXT to FILE ends with ERROR. The shell would write a
# long one in pieces.
expect_error()
{
	local said
	if [ ${#4} -lt 1000 ]; then
		! said=$( (printf '%s\n' "$4" > "$3") 2>&1 ) || fail "$1: no error"
	else
		! said=$( (printf '%s' "$4" | dd of="$3" bs=64k status=none conv=notrunc) 2>&1 ) ||
			fail "$1: no error"
	fi
	[[ "$said" == *"$2"* ]] || fail "$1: '$said', expected '$2'"
}

# extract FILE: trace-cmd saves what was recorded in FILE; $text is its report
extract()
{
	echo 0 > $TRACING/tracing_on
	text=$(trace-cmd extract -o "$1" 2>&1) || fail "not extracted: $text"
	text=$(trace-cmd report -i "$1" 2>&1)
	[[ $text != *FAILED* ]] || fail "not understood: $text"
}

OPTIMIZATION=/proc/sys/debug/kprobes-optimization
ROUND=/sys/module/text_site/parameters/round

# count_syncs COMMANDS: from now to the end of the test, which runs COMMANDS, a kprobe
# counts synchronisations: in each, every processor runs do_sync_core(). Where functions are
# traced, the kprobe is behind the site, so that it is no user of what it counts.
count_syncs()
{
	local where=do_sync_core
	[ -e kprobe_events ] || skip "no kprobe_events"
	[ -e $ROUND ] || skip "no text is patched"
	old_round=$(cat $ROUND)
	# All in one, but where the test is about rounds
	echo 0 > $ROUND
	# shellcheck disable=SC2064 # the command as it is now
	trap "stop_jobs; $1; uncount_syncs" EXIT
	[ ! -e $OPTIMIZATION ] || echo 0 > $OPTIMIZATION
	# With the first event tracing also begins to note the names of tasks.
	echo 1 > events/sched/sched_process_exec/enable
	if can_trace; then
		where=$(printf '0x%x' $((0x$(site_of do_sync_core) + 5)))
	fi
	echo "p:sync $where" > kprobe_events
	echo 1 > events/kprobes/sync/enable
	# A kworker leads the jumps of tracepoints that had other probes just before to the new ones,
	# after up to two grace periods. To remove an instance waits for these, the sleep for the kworker.
	local _
	for _ in 1 2 3; do
		mkdir instances/settle
		rmdir instances/settle
	done
	sleep 1
}

uncount_syncs()
{
	echo 0 > events/enable
	echo > kprobe_events
	[ ! -e $OPTIMIZATION ] || echo 1 > $OPTIMIZATION
	echo "$old_round" > $ROUND
}

hits()
{
	awk '$1 == "sync" { print $2 }' kprobe_profile
}

# synchronise COMMAND: $synced is how often it has all processors synchronise
synchronise()
{
	local before; before=$(hits)
	eval "$1"
	# shellcheck disable=SC2034 # for the caller
	synced=$((($(hits) - before) / $(nproc)))
}

# copies NUMBER...: load copies of the small module, called copies_NUMBER
copies()
{
	[ -e "$HERE/test_modules/copies_000.ko" ] || skip "no module copies_000"
	perl "$HERE/load_copies.pl" "$HERE/test_modules/copies_000.ko" "$@"
}

# copies_there: their names
copies_there() { sed -n 's/^\(copies_[0-9]*\) .*/\1/p' /proc/modules; }

# Many at a time: each waits for grace periods.
remove_copies() { copies_there | shuf | xargs -r -P 100 -n 3 rmmod; }
