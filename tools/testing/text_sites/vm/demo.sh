#!/bin/bash
# demo.sh FILTER COMMAND [TRACER]: runs in the machine; says what the engine did at boot
# and traces the functions that match FILTER while COMMAND runs. With the tracer function_graph,
# the whole trace comes at the end, as a file.
filter=$1
command=$2
tracer=${3:-function}
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

echo "$tracer" >current_tracer || exit
if [ "$tracer" = function_graph ]; then
	echo 1 >options/funcgraph-abstime
	echo 1 >options/funcgraph-proc
	echo 8192 >buffer_size_kb
	echo 1 >events/sched/sched_switch/enable
	echo >trace
fi
bash -c "$command" >/dev/null
status=$?
echo 0 >tracing_on
sed -n 's/^# entries-in-buffer.*\/\([0-9]*\).*/\1 events/p' trace
head -n "$lines" trace
lost=$(awk '/^(overrun|commit overrun|dropped events):/ { n += $NF } END { print n + 0 }' per_cpu/cpu*/stats)
[ "$lost" -eq 0 ] || echo "$lost more events did not fit into the buffer"
if [ "$tracer" = function_graph ]; then
	echo 'The trace in base64:'
	gzip -c trace | base64
fi
echo nop >current_tracer
echo 0 >events/enable
echo >set_ftrace_filter
[ "$status" -eq 0 ] || echo "run: CMD ended with status $status" >&2
exit "$status"
