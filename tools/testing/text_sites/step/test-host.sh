#!/bin/bash
# Runs the tests that need no machine: host/*.t
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

for test in "$HARNESS"/host/*.t; do
	name=$(basename "$test" .t)
	log=$LOG/host-$name.log
	status=0
	prove -v "$test" >"$log" 2>&1 </dev/null || status=$?
	"$HARNESS/results" read --label "host/$name" --log "$(short "$log")" \
		--status "$status" <"$log" >"$BUILD/results/host-$name"
	say "$name: $("$HARNESS/results" brief "$BUILD/results/host-$name")"
done
