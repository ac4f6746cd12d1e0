#!/bin/bash
# Unpacks the user space of a machine of another architecture in build/sysroot-<architecture>:
# the Debian packages in vm/packages. To apt-get it is a system without any packages.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

log=$LOG/sysroot-$KARCH.log
apt=$BUILD/sysroot-$KARCH.apt
done_stamp=sysroot-$KARCH

get() { APT_CONFIG=$apt/conf logged "$log" "$1" apt-get -y "${@:2}"; }

configure()
{
	mkdir -p "$apt"/{lists,archives}/partial
	: >"$apt/status"
	cat >"$apt/conf" <<-EOF
	APT::Architecture "$KARCH";
	APT::Architectures { "$KARCH"; };
	APT::Install-Recommends "false";
	Acquire::Languages "none";
	Dir::State::Lists "$apt/lists";
	Dir::State::status "$apt/status";
	Dir::Cache "$apt";
	EOF
}

# /bin is /usr/bin, there as here. The package of awk leaves the name to its installation.
unpack()
{
	local dir deb
	rm -rf "$SYSROOT" "$SYSROOT.new"
	mkdir -p "$SYSROOT.new"/usr/{bin,sbin,lib} "$SYSROOT.new/packages"
	for dir in bin sbin lib; do ln -s "usr/$dir" "$SYSROOT.new/$dir"; done
	for deb in "$apt"/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -C "$SYSROOT.new" -xv --keep-directory-symlink --no-same-owner |
			sed 's,^\.,,' >"$SYSROOT.new/packages/$(dpkg-deb -f "$deb" Package)" ||
			return
	done
	ln -s mawk "$SYSROOT.new/usr/bin/awk"
	mv "$SYSROOT.new" "$SYSROOT"
}

mapfile -t packages < <(sed 's/#.*//' "$HARNESS/vm/packages" | xargs -n1)
inputs=$(cat "$HARNESS/vm/packages" "$0" | hash)
[ "$(stamp "$done_stamp")" != "$inputs" ] || [ ! -d "$SYSROOT" ] || exit 0

begin "$done_stamp"
rm -rf "$apt"
configure
# A part of the lists may be had in vain; what is missing then shows.
get "updating the package lists for $KARCH" update || :
get "downloading ${packages[*]} for $KARCH" --download-only install "${packages[@]}" ||
	fail_with "$log" "cannot download the packages for $KARCH"
logged "$log" "unpacking the packages for $KARCH" unpack || fail_with "$log" "cannot unpack"
rm -rf "$apt"
finish "$done_stamp" "$inputs"
