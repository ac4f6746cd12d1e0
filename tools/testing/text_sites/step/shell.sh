#!/bin/bash
# Boots the machine with a shell on the terminal.
set -eu
. "$(dirname "$0")/../lib.sh"

"$HARNESS/vm/machine" --interactive --smp "${SMP:-2}" --accel "${ACCEL:-single}" \
	--cpu "${CPU:-max}"
