#!/bin/bash
# ftracetest.sh PATTERNS: runs in the machine; those of the base's tests of
# tracefs whose files PATTERNS picks, each by itself and with a time limit;
# prints TAP. A test has the name of its file.
patterns=$1
limit=600
cd /kselftest/ftrace || exit

# A test may ask to be run in an instance as well.
results_of() { grep -c -E '^#[ 	]*(description:|flags:.*instance)' "test.d/$1"; }

# one FILE NUMBER RESULTS: NUMBER is that of its first result
one()
{
	timeout -k 10 "$limit" ./ftracetest -K -v "test.d/$1" 2>&1 |
		awk -v name="$1" -v number="$2" -v results="$3" -v limit="$limit" '
		function result(ok, why) {
			print ok, number++, "-", name (n++ ? " (instance)" : ""), why
		}
		/^(not )?ok [0-9]+ / && n < results {
			why = match($0, /# *[A-Za-z]+ *$/) ? substr($0, RSTART) : ""
			result(/^not/ ? "not ok" : "ok", why)
			next
		}
		# What it says is no result: not to be read as such, nor every event to be named.
		{ print "#|", substr($0, 1, 200); fflush() }
		END {
			while (n < results)
				result("not ok", "# TIMEOUT or killed, at most " limit " seconds")
		}'
}

# Two tracers are busy for half a second at a time, or a second, which is long in the emulator.
for file in hwlat_detector/width osnoise/runtime_us; do
	[ ! -e /sys/kernel/tracing/$file ] || echo 1000 >/sys/kernel/tracing/$file
done

mapfile -t files < <(cd test.d && find . -name '*.tc' | sed 's,^\./,,' | sort | pick "$patterns")
if [ ${#files[@]} -eq 0 ]; then
	echo "# no test matches '$patterns'"
	exit 1
fi

total=0
for file in "${files[@]}"; do ((total += $(results_of "$file"))); done
echo "TAP version 13"
echo "1..$total"

number=1
for file in "${files[@]}"; do
	echo "# begins: $file"
	echo "ftracetest: $file" >/dev/kmsg
	SECONDS=0
	results=$(results_of "$file")
	one "$file" "$number" "$results"
	echo "# $SECONDS seconds: $file"
	((number += results))
done
