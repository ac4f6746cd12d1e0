#!/bin/bash
# kselftest.sh PATTERNS: runs in the machine; those of the tests in text_sites
# whose names PATTERNS picks, by the kernel's runner, with TAP as the output.
set -f
patterns=$1
cd /kselftest || exit

picked()
{
	local name=$1 pattern yes=1
	# what is only excluded from is everything
	case $patterns in all | !*) yes=0 ;; esac
	for pattern in ${patterns//,/ }; do
		# shellcheck disable=SC2254  # patterns they are
		case $pattern in
		!*) case $name in ${pattern#!}) return 1 ;; esac ;;
		*) case $name in $pattern) yes=0 ;; esac ;;
		esac
	done
	return $yes
}

args=()
while read -r test; do
	if picked "${test#*:}"; then args+=(-t "$test"); fi
done < <(grep '^text_sites:' kselftest-list.txt)
if [ ${#args[@]} -eq 0 ]; then
	echo "# no test in text_sites matches '$patterns'"
	exit 1
fi
exec ./run_kselftest.sh "${args[@]}"
