#!/bin/bash
# config.sh CONFIG OFF FRAGMENT...: does CONFIG hold what the fragments ask for?
#
# Kconfig drops without a word what it cannot have. The symbols listed in the
# file OFF (it may be missing) are those known not to be there yet.
set -eu
. "$(dirname "$0")/lib.sh"
step=kernel

config=$1
off=$2
shift 2
files=("$config")
[ ! -e "$off" ] || files+=("$off")
files+=("$@")

# The last word on a symbol counts, as it does for Kconfig.
complaints=$(awk '
	FILENAME == config {
		if (/^CONFIG_/) { name = $0; sub(/=.*/, "", name); have[name] = $0 }
		next
	}
	FILENAME == off {
		sub(/#.*/, "")
		if (NF) missing[$1] = 1
		next
	}
	/^CONFIG_[A-Za-z0-9_]+=/ {
		name = $0; sub(/=.*/, "", name)
		want[name] = ($0 == name "=n") ? "" : $0
	}
	/^# CONFIG_[A-Za-z0-9_]+ is not set$/ { want[$2] = "" }
	END {
		for (name in want) {
			if (have[name] == want[name] || name in missing)
				continue
			print (want[name] == "" ? name "=n" : want[name]) \
				" (is " (have[name] == "" ? "off" : have[name]) ")"
		}
	}' config="$config" off="$off" "${files[@]}" | sort)
[ -z "$complaints" ] || die "the configuration does not hold: ${complaints//$'\n'/, }"
