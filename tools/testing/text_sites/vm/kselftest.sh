#!/bin/bash
# kselftest.sh COLLECTION PATTERNS [SLOW]: runs in the machine; those of the tests in
# COLLECTION whose names PATTERNS picks, by the kernel's runner; prints TAP. Each may take
# SLOW times as long as on a host without other work.
collection=$1
patterns=$2
slow=${3:-1}
cd /kselftest || exit

# The modules that the livepatch tests load were compiled on the host.
export KDIR=/kselftest/livepatch/test_modules

# matches PATTERNS: the names of the tests in the collection that they pick
matches() { sed -n "s/^$collection://p" kselftest-list.txt | pick "$1"; }

# One that has been renamed is not to go unnoticed.
set -f
for pattern in $(tr , ' ' <<<"$patterns"); do
	case $pattern in '!'*) continue ;; esac
	[ -n "$(matches "$pattern")" ] || {
		echo "# no test in $collection matches '$pattern'"
		exit 1
	}
done
set +f

args=()
while read -r test; do
	args+=(-t "$collection:$test")
done < <(matches "$patterns")
if [ ${#args[@]} -eq 0 ]; then
	echo "# no test in $collection matches '$patterns'"
	exit 1
fi
# The emulated processors share those of the host. A test that is to take long has a time of
# its own on the kernel's command line.
timeout=$(sed -n 's/.*\<test_timeout=\([0-9]*\).*/\1/p' /proc/cmdline)
timeout=${timeout:-600}
[ "$(nproc)" -le 4 ] || slow=$((slow * 3))
timeout=$((timeout * slow))
[ "$timeout" -eq 600 ] || args+=(-o "$timeout")
exec ./run_kselftest.sh "${args[@]}"
