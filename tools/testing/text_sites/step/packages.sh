#!/bin/bash
# Installs the Debian packages that are missing, and only those: the ones that all need, those
# of the tests unless the kernel is one without, and those of packages-$PACKAGES, or the
# variant's own.
set -eu
. "$(dirname "$0")/../lib.sh"
PACKAGES=${PACKAGES:-$(of_variant packages)}

command -v dpkg-query >/dev/null || die "this needs a Debian system (no dpkg here)"

lists=(packages ${PACKAGES:+"packages-$PACKAGES"})
untested || lists+=(packages-test)
mapfile -t wanted < <(cd "$HARNESS" && cat "${lists[@]}" | sed 's/#.*//' | xargs -n1)
# The listing fails as a whole when one package is unknown, and still prints the others.
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null |
	sed -n 's/ installed$//p') || :
mapfile -t missing < <(printf '%s\n' "${wanted[@]}" | grep -vxF -e "$installed" || :)
[ ${#missing[@]} -gt 0 ] || exit 0

root=()
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null ||
		die "not root and no sudo; please install: ${missing[*]}"
	root=(sudo)
fi

get()
{
	logged "$LOG/packages.log" "$1" "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get -y "${@:2}"
}
set -o pipefail
install=(install --no-install-recommends "${missing[@]}")

# For each package, apt-get says that it is fetched, selected, prepared, unpacked and set up.
install_missing()
{
	expected=$((5 * $(apt-get -s "${install[@]}" 2>/dev/null | grep -c '^Inst' || :)))
	get "installing ${missing[*]}" "${install[@]}"
}

if ! install_missing; then
	get "updating the package lists" update || :
	install_missing ||
		fail_with "$LOG/packages.log" "cannot install ${missing[*]} (no package source?)"
fi
