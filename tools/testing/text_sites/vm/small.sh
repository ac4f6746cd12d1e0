# shellcheck shell=bash
# small.sh SUITES TRACER...: checks a small kernel: at least SUITES suites of KUnit tests have run
# and all have passed, each of these tracers (or "events") records something, and the kernel has
# not complained.
cd /sys/kernel/tracing || exit
fail() { echo "$*"; status=1; }
status=0
suites=$1
shift

# The step reports the last line: failures come after this.
passed=$(dmesg | grep -cE '\] +ok ')
echo "$passed tests passed"
ended=$(dmesg | grep -cE '\] (not )?ok ') || :
# Without a filter, other functions overwrite those few in the buffer before it is read.
echo 'vfs_*' >set_ftrace_filter || fail "no filter"
for tracer; do
	case $tracer in
	events)
		echo 1 >events/enable
		ls -R /proc/self >/dev/null
		echo 0 >events/enable
		grep -q 'sys_enter\|sys_exit' trace || fail "no event was recorded"
		;;
	*)
		echo "$tracer" >current_tracer || fail "no $tracer"
		ls -R /proc/self >/dev/null
		grep -q 'vfs_' trace || fail "$tracer has traced nothing"
		echo nop >current_tracer
		;;
	esac
done
[ "$ended" -ge "$suites" ] || fail "only $ended of at least $suites suites of KUnit tests have run"
dmesg | grep -E '^(\[[^]]*\] *)?( *)not ok ' && fail "tests have failed"
dmesg | grep -E 'BUG|WARNING|Oops|Call Trace' && fail "the kernel complains"
exit "$status"
