#!/bin/bash
# rootfs.sh MODULES KSELFTEST OUTPUT: packs the machine's root file system: the
# installed programs named in the file `programs`, with their libraries, the
# folder MODULES (what modules_install made) and the folder KSELFTEST.
#
# Not compressed: the emulated processor would take longer to unpack it than
# the host takes to load it.
set -eu -o pipefail
export PATH="$PATH:/usr/sbin:/sbin" LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
modules=$1 kselftest=$2 output=$3

root=$output.dir
rm -rf "$root"
mkdir -p "$root"/{dev,proc,sys,tmp,run,root,etc,kselftest} "$root"/usr/{bin,sbin,lib,lib64}
for dir in bin sbin lib lib64; do ln -s "usr/$dir" "$root/$dir"; done
echo 'root:x:0:0:root:/root:/bin/bash' >"$root/etc/passwd"
# The base's tests look for a second owner and group.
echo 'nobody:x:65534:65534:nobody:/:/bin/false' >>"$root/etc/passwd"
printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' >"$root/etc/group"

files() { while read -r name; do [ ! -f "$name" ] || printf '%s\n' "$name"; done; }

# The files meant by the lines of `programs`
programs()
{
	local word
	sed 's/#.*//' "$here/programs" | xargs -n1 | while read -r word; do
		case $word in
		all:*) dpkg -L "${word#all:}" | grep -v '^/usr/share/' | files ;;
		pkg:*) dpkg -L "${word#pkg:}" | grep -E '^(/usr)?/(s?bin|libexec)/' | files ;;
		*) command -v "$word" || { echo "no program $word" >&2; return 1; } ;;
		esac
	done
}

# The libraries of the programs named on standard input; scripts have none
libraries()
{
	{ xargs -r -d '\n' ldd 2>/dev/null || :; } | sed -nE 's,^[^/]*(/[^ :]+) \(.*,\1,p'
}

# Copies files to their own places; /bin is /usr/bin, there as here
put()
{
	sed -E 's,^/(bin|sbin|lib|lib64)/,/usr/&,; s,//,/,g' | sort -u |
		xargs -d '\n' cp -L --parents -t "$root" --
}

list=$(programs)
{
	printf '%s\n' "$list"
	{ printf '%s\n' "$list"; find "$kselftest" -type f -perm /111; } | libraries
} | put

for name in insmod rmmod lsmod modprobe modinfo depmod; do
	ln -s ../bin/kmod "$root/usr/sbin/$name"
done
busybox=$(command -v busybox)
cp -L "$busybox" "$root/usr/bin/busybox"
"$busybox" --list | while IFS= read -r name; do
	[ -e "$root/usr/bin/$name" ] || [ -e "$root/usr/sbin/$name" ] ||
		ln -s busybox "$root/usr/bin/$name"
done

cp "$here/init" "$root/init"
cp "$here/pick" "$root/usr/bin/pick"
chmod 755 "$root/init" "$root/usr/bin/pick"
cp -a "$modules/lib/modules" "$root/usr/lib/modules"
# links to where the kernel was built
rm -f "$root"/usr/lib/modules/*/{build,source}
cp -a "$kselftest/." "$root/kselftest/"

(cd "$root" && find . | sort | cpio --quiet -o -H newc -R 0:0) >"$output.tmp"
rm -rf "$root"
mv "$output.tmp" "$output"
