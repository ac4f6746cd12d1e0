#!/bin/bash
# kselftest.sh COLLECTION PATTERNS: runs in the machine; those of the tests in
# COLLECTION whose names PATTERNS picks, by the kernel's runner; prints TAP.
collection=$1
patterns=$2
cd /kselftest || exit

# The modules that the livepatch tests load were compiled on the host.
export KDIR=/kselftest/livepatch/test_modules

args=()
while read -r test; do
	args+=(-t "$collection:$test")
done < <(sed -n "s/^$collection://p" kselftest-list.txt | pick "$patterns")
if [ ${#args[@]} -eq 0 ]; then
	echo "# no test in $collection matches '$patterns'"
	exit 1
fi
# The emulated processors share those of the host.
[ "$(nproc)" -le 4 ] || args+=(-o 1800)
exec ./run_kselftest.sh "${args[@]}"
