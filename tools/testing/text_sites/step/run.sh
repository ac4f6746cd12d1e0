#!/bin/bash
# Boots the machine and shows the function tracer at work there.
set -eu
. "$(dirname "$0")/../lib.sh"

: "${FILTER:=vfs_*}" "${CMD:=ls -R /proc/1}"
"$HARNESS/vm/machine" --name "run-$KERNEL" --smp "${SMP:-2}" --accel "${ACCEL:-single}" \
	--cpu "${CPU:-max}" "$HARNESS/vm/demo.sh" "$FILTER" "$CMD"

echo
echo "Next: make run FILTER='*lock*' CMD='cat /proc/version'"
echo '      make shell, and there: trace-cmd record -p function_graph -g vfs_read ls'
