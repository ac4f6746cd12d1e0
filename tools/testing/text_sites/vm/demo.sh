#!/bin/bash
# demo.sh FILTER COMMAND: runs in the machine; says what the engine did at boot
# and traces the functions that match FILTER while COMMAND runs.
filter=$1
command=$2
lines=25
cd /sys/kernel/tracing || exit

engine_lines() { dmesg | sed 's/^\[[^]]*\] *//' | grep -E "$1"; }

echo "Linux $(uname -r), $(nproc) processors"
engine_lines '^(fentry|text_site): ' || engine_lines '^ftrace: allocating'

if ! { printf '%s\n' "$filter" >set_ftrace_filter; } 2>/dev/null; then
	echo "run: no function matches FILTER='$filter'" >&2
	exit 1
fi
echo "tracing $(grep -vc '^#' set_ftrace_filter) functions ($filter) during: $command"

echo function >current_tracer || exit
bash -c "$command" >/dev/null
status=$?
echo 0 >tracing_on
sed -n 's/^# entries-in-buffer.*\/\([0-9]*\).*/\1 events/p' trace
head -n "$lines" trace
echo nop >current_tracer
echo >set_ftrace_filter
[ "$status" -eq 0 ] || echo "run: CMD ended with status $status" >&2
exit "$status"
