#!/bin/bash
# rootfs.sh INSTALLED KSELFTEST OUTPUT [SYSROOT]: packs the machine's root file system:
# the programs named in the file `programs`, which are installed or unpacked in SYSROOT, with
# their libraries, what is installed of the kernel in the folder INSTALLED (its modules, and its
# configuration in boot) and the folder KSELFTEST.
#
# Not compressed: the emulated processor would take longer to unpack it than
# the host takes to load it.
set -eu -o pipefail
export PATH="$PATH:/usr/sbin:/sbin" LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
installed=$1 kselftest=$2 output=$3 sysroot=${4:-}

root=$output.dir
rm -rf "$root"
mkdir -p "$root"/{dev,proc,sys,tmp,run,root,etc,kselftest} "$root"/usr/{bin,sbin,lib,lib64}
for dir in bin sbin lib lib64; do ln -s "usr/$dir" "$root/$dir"; done
echo 'root:x:0:0:root:/root:/bin/bash' >"$root/etc/passwd"
# The base's tests look for a second owner and group.
echo 'nobody:x:65534:65534:nobody:/:/bin/false' >>"$root/etc/passwd"
printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' >"$root/etc/group"

files() { while read -r name; do [ ! -f "$sysroot$name" ] || printf '%s\n' "$name"; done; }

package_files() { if [ -n "$sysroot" ]; then cat "$sysroot/packages/$1"; else dpkg -L "$1"; fi; }

program()
{
	local path
	if [ -n "$sysroot" ]; then
		path=$(cd "$sysroot" && find usr/sbin usr/bin -name "$1" -printf '/%p\n' -quit)
	else
		path=$(command -v "$1")
	fi
	[ -n "$path" ] || { echo "no program $1" >&2; return 1; }
	printf '%s\n' "$path"
}

# The files meant by the lines of `programs`
programs()
{
	local word
	sed 's/#.*//' "$here/programs" | xargs -n1 | while read -r word; do
		case $word in
		all:*) package_files "${word#all:}" | grep -v '^/usr/share/' | files ;;
		pkg:*) package_files "${word#pkg:}" | grep -E '^(/usr)?/(s?bin|libexec)/' | files ;;
		*) program "$word" ;;
		esac
	done
	# What completes their arguments in a shell
	printf '/usr/share/bash-completion/%s\n' bash_completion completions/{perf,trace-cmd.bash} | files
}

# The libraries of the programs named on standard input; scripts have none
libraries()
{
	if [ -n "$sysroot" ]; then
		sed "s,^/,$sysroot/," | libraries_in_sysroot
	else
		{ xargs -r -d '\n' ldd 2>/dev/null || :; } | sed -nE 's,^[^/]*(/[^ :]+) \(.*,\1,p'
	fi
}

# The same, where ldd cannot run the program: what each names, and what that names in turn
libraries_in_sysroot()
{
	local -A found=()
	local names name path
	names=$(needed)
	while [ -n "$names" ]; do
		path=
		for name in $names; do
			[ -z "${found[$name]:-}" ] || continue
			case $name in
			/*) found[$name]=$name ;;
			*) found[$name]=$(cd "$sysroot" && find lib/ -name "$name" -printf '/%p' -quit) ;;
			esac
			[ -n "${found[$name]}" ] || { echo "no library $name" >&2; return 1; }
			path+=$sysroot${found[$name]}$'\n'
		done
		names=$(needed <<<"$path")
	done
	printf '%s\n' "${found[@]}"
}

# What the programs and libraries on standard input are linked to, and the interpreter's path
needed()
{
	{ grep . || :; } | { xargs -r -d '\n' readelf -ld 2>/dev/null || :; } |
		sed -nE -e 's/.*\(NEEDED\).*\[(.*)\]/\1/p' -e 's,.*interpreter: (.*)\],\1,p' |
		sort -u
}

# Copies files to their own places; /bin is /usr/bin, there as here
put()
{
	sed -E 's,^/(bin|sbin|lib|lib64)/,/usr/&,; s,//,/,g; s,^/,,' | sort -u |
		(cd "$sysroot/" && xargs -d '\n' cp -L --parents -t "$root" --)
}

list=$(programs)
{
	printf '%s\n' "$list"
	{ printf '%s\n' "$list"; find "$kselftest" -type f -perm /111; } | libraries
} | put

for name in insmod rmmod lsmod modprobe modinfo depmod; do
	ln -s ../bin/kmod "$root/usr/sbin/$name"
done
cp -L "$sysroot$(program busybox)" "$root/usr/bin/busybox"
# Those of another architecture have the same names.
busybox --list | while IFS= read -r name; do
	[ -e "$root/usr/bin/$name" ] || [ -e "$root/usr/sbin/$name" ] ||
		ln -s busybox "$root/usr/bin/$name"
done

echo '. /usr/share/bash-completion/bash_completion' >"$root/root/.bashrc"
cp "$here/init" "$root/init"
cp "$here/pick" "$root/usr/bin/pick"
chmod 755 "$root/init" "$root/usr/bin/pick"
cp -a "$installed/lib/modules" "$root/usr/lib/modules"
cp -a "$installed/boot" "$root/boot"
# links to where the kernel was built
rm -f "$root"/usr/lib/modules/*/{build,source}
cp -a "$kselftest/." "$root/kselftest/"

(cd "$root" && find . | sort | cpio --quiet -o -H newc -R 0:0) >"$output.tmp"
rm -rf "$root"
mv "$output.tmp" "$output"
