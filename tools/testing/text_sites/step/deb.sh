#!/bin/bash
# Makes Debian packages of the kernel that was compiled with Debian's configuration, in
# build/deb: the image with its modules, and the headers; with DBG=1 the debug symbols too.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

log=$LOG/deb.log
debs=$BUILD/deb
release=$(cat "$OUT/include/config/kernel.release")
flags="--target=binary-image,binary-headers --build-profiles=pkg.linux-upstream.nokerneldbg"
[ "${DBG:-0}" = 0 ] || flags="--target=binary-image,binary-headers,binary-image-dbg"
id=$({
	stamp "kernel-$KERNEL"
	echo "$flags"
	cat "$0"
} | hash)

main()
{
	local packed=("$debs"/linux-*.deb) file
	if [ "$(stamp deb)" = "$id" ] && [ -e "${packed[0]}" ]; then
		say "the packages in $(short "$debs") are up to date"
		return
	fi
	begin deb
	rm -rf "$debs"
	mkdir -p "$debs"
	rm -f "$BUILD"/linux-*.deb
	# The modules are installed, then come the headers.
	expected=$(($(lines_of_modules) + 1040))
	# What the kernel's own scripts pack lands beside the folder that they work in.
	logged "$log" "packing" kbuild KDEB_PKGVERSION="${release%%-*}-1" KDEB_CHANGELOG_DIST=unstable \
		DPKG_FLAGS="$flags" -j"$JOBS" bindeb-pkg ||
		fail_with "$log" "cannot make the packages"
	mv "$BUILD"/linux-*.deb "$debs/"
	finish deb "$id"
	for file in "$debs"/*.deb; do
		say "$(du -h "$file" | cut -f1) $(short "$file")"
	done
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
