# shellcheck shell=bash
# small.sh TRACER...: in a small kernel, all KUnit tests have passed, these tracers trace (events
# are one of them), and the kernel has not complained.
cd /sys/kernel/tracing || exit
fail() { echo "$*"; status=1; }
status=0

# The last line is what is reported: failures come after this.
dmesg | grep -cE '\] +ok ' | sed 's/$/ tests passed/'
# Without a filter, other functions overwrite those few in the buffer before it is read.
echo 'vfs_*' >set_ftrace_filter || fail "no filter"
for tracer; do
	if [ "$tracer" = events ]; then
		echo 1 >events/enable
		ls -R /proc/self >/dev/null
		echo 0 >events/enable
		grep -q 'sys_enter\|sys_exit' trace || fail "no event was recorded"
		continue
	fi
	echo "$tracer" >current_tracer || fail "no $tracer"
	ls -R /proc/self >/dev/null
	grep -q 'vfs_' trace || fail "$tracer has traced nothing"
	echo nop >current_tracer
done
dmesg | grep -E '^(\[[^]]*\] *)?( *)not ok ' && fail "tests have failed"
dmesg | grep -E 'BUG|WARNING|Oops|Call Trace' && fail "the kernel complains"
exit "$status"
