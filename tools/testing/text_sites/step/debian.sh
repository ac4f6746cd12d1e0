#!/bin/bash
# Makes a Debian system in build/debian, with the packages of build/deb and with Debian's own
# kernel: root.img is its file system, boot/ has the kernels and what they start with.
#
# The packages come from where this system has its own from.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

log=$LOG/debian.log
debian=$BUILD/debian
root=$debian/root.img
death_test=$HARNESS/../selftests/text_sites/test_modules/death_test.c
# What the machine finds free in the file system
FREE=1500

mapfile -t packages < <(sed 's/#.*//' "$HARNESS/debian/packages" | xargs -n1)

# sources: where Debian's packages come from, a line each
sources()
{
	# shellcheck disable=SC2016	# it is apt-get that knows these
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Origin: Debian' 'Created-By: Packages' | sort -u
}

# What the image depends on; of Debian's packages, the versions that can be had
inputs()
{
	{
		stamp deb
		sources
		cat "$HARNESS"/debian/{packages,job,text-sites-job.service,customize} "$death_test" "$0"
		apt-cache policy "${packages[@]}" | grep -E '^[^ ]|Candidate:'
	} | hash
}

# shellcheck disable=SC2016	# "$1" is mmdebstrap's: the system
bootstrap()
{
	# What is in an initramfs is said here: what a crash kernel's needs cannot be found out
	# while the system is made.
	sources | mmdebstrap --variant=minbase --aptopt="$debian/apt.conf" \
		--include="$(printf '%s,' "${packages[@]}")" \
		--essential-hook='mkdir -p "$1"/etc/initramfs-tools/conf.d' \
		--essential-hook='echo MODULES=list >"$1"/etc/initramfs-tools/conf.d/modules' \
		--essential-hook='mkdir -p "$1"/usr/share/initramfs-tools/modules.d' \
		--essential-hook='printf "%s\n" virtio_pci virtio_blk ext4 \
			>"$1"/usr/share/initramfs-tools/modules.d/machine' \
		--customize-hook="copy-in $debian/files /" \
		--customize-hook='chroot "$1" sh /files/customize' \
		--customize-hook="copy-out /boot $debian" \
		--format=ext2 bookworm "$root.tmp" -
}

main()
{
	local inputs size
	inputs=$(inputs)
	if [ "$(stamp debian)" = "$inputs" ] && [ -e "$root" ]; then
		say "$(short "$root") is up to date"
		return
	fi
	[ -n "$(sources)" ] || die "apt has no source of Debian's packages here"
	begin debian
	rm -rf "$debian"
	mkdir -p "$debian/files"
	cp "$BUILD"/deb/*.deb "$HARNESS"/debian/{job,text-sites-job.service,customize} \
		"$TREE/samples/livepatch/livepatch-sample.c" "$death_test" "$debian/files/"
	rm -f "$debian"/files/*-dbg_*.deb
	apt-config dump --format '%F "%v";%n' Acquire | grep -v IndexTargets >"$debian/apt.conf"
	say "this takes some minutes, and 3 GB"
	# Most of these lines come when it is nearly done.
	expected=75
	logged "$log" "installing Debian and both kernels" bootstrap ||
		fail_with "$log" "cannot make the Debian system"
	size=$(stat -c %s "$root.tmp")
	{
		resize2fs -f "$root.tmp" $((size / 1024 + 1024 * FREE))K && tune2fs -j "$root.tmp"
	} >>"$log" 2>&1 || fail_with "$log" "cannot make room in the file system"
	rm -r "$debian/files"
	mv "$root.tmp" "$root"
	finish debian "$inputs"
	say "$(du -h "$root" | cut -f1) $(short "$root")"
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
