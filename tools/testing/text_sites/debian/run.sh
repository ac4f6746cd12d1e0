#!/bin/bash
# run.sh RELEASE: runs in the Debian system, with the kernel RELEASE; runs the tests that are
# in /run/files, by their names, twenty minutes each at most; prints TAP.
cd /run/files || exit
export RELEASE=$1 DIR=$PWD

tests=(*.sh)
echo "TAP version 13"
echo "1..${#tests[@]}"
number=0 status=0
for test in "${tests[@]}"; do
	name=${test%.sh}
	echo "# begins: $name"
	echo "test: $name" >/dev/kmsg
	SECONDS=0 ended=0
	(cd "$(mktemp -d)" && exec timeout -k 10 1200 bash "$DIR/$test") </dev/null 2>&1 |
		sed -u 's/^/    /'
	ended=${PIPESTATUS[0]}
	[ "$ended" -eq 0 ] && ok=ok || ok='not ok' status=1
	echo "$ok $((++number)) - $name$([ "$ended" -ne 124 ] || echo ' # TIMEOUT')"
	echo "# $SECONDS seconds: $name"
done
exit "$status"
