# shellcheck shell=bash
# shellcheck disable=SC2034  # used by those that source this
# Shared by the steps: where things are, and how to say what happened.
# The TS_* variables let the tests point a step at other inputs and outputs.

HARNESS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=${TS_TOP:-$(cd "$HARNESS/../../.." && pwd)}
BUILD=${TS_BUILD:-$TOP/build}
SOURCE=${TS_SOURCE:-/usr/src/linux-source-6.12.tar.xz}
CONFIG=${TS_CONFIG:-$HARNESS/config}
# Another kernel source, in a folder
BASE=${BASE:-}

VARIANT=${VARIANT:-}
# of_variant WORD: what the variant's configuration says behind `# WORD: `, if anything
of_variant() { [ -z "$VARIANT" ] || sed -n "s/^# $1: //p" "$CONFIG/variant-$VARIANT.config" 2>/dev/null || :; }

ENGINE=${ENGINE:-$(of_variant engine)}
ENGINE=${ENGINE:-text_sites}
COMPILER=$(of_variant compiler)
COMPILER=${COMPILER:-gcc}
LINKER=$(of_variant linker)
# The architecture, by its name in the kernel and in Debian, and where its programs are;
# nothing: this one, and those of this system
KARCH=$(of_variant arch)
case $KARCH in
arm64) IMAGE=arch/arm64/boot/Image SYSROOT='' ;;
*) IMAGE=arch/x86/boot/bzImage SYSROOT=${KARCH:+$BUILD/sysroot-$KARCH} ;;
esac
LOCALVERSION=$(of_variant localversion)
LOCALVERSION=${LOCALVERSION:--$ENGINE}
FRAGMENT=${FRAGMENT:-}
JOBS=${JOBS:-$(nproc)}
V=${V:-0}
MACHINES=${MACHINES:-all}
GROUP=${GROUP:-plain}
ROWS=${ROWS:-all}
NUMBERS=${NUMBERS:-all}
FILES=${FILES:-}
SLOW=${SLOW:-1}

# What is made of another base has names of its own.
OF=
if [ -n "$BASE" ]; then
	SOURCE=$(realpath -m "$BASE")
	OF=-of-${SOURCE##*/}
fi
KERNEL=$ENGINE${VARIANT:+-$VARIANT}$OF
OUT=$BUILD/$KERNEL
ROOTFS=$BUILD/rootfs/$KERNEL
LOG=$BUILD/log
RESULTS=$BUILD/results/$GROUP
MACHINES_TAB=${TS_MACHINES:-$HARNESS/machines.tab}
# The base as it is, to compare with, is a tree of its own.
[ "$ENGINE" != base ] || OF=-base$OF
TREE=$BUILD/tree$OF
STAMPS=$BUILD/stamps$OF
PATCHED=$BUILD/patched$OF

# Administrators' programs (depmod, insmod) are used without their rights.
export PATH="$PATH:/usr/sbin:/sbin"
export LC_ALL=C

expected=0
step=${0##*/}
step=${step%.sh}

say() { printf '%s: %s\n' "$step" "$*"; }
die() { printf '%s: %s\n' "$step" "$*" >&2; exit 1; }

# A path as the user sees it: relative to the repository.
short() { printf '%s' "${1#"$TOP/"}"; }

# hash: the checksum of standard input, and nothing else
hash()
{
	local sum
	sum=$(sha256sum)
	printf '%s\n' "${sum%% *}"
}

# stamp NAME: what the step NAME last finished with (nothing: not finished)
stamp() { [ ! -r "$STAMPS/$1" ] || printf '%s\n' "$(<"$STAMPS/$1")"; }

# finish NAME VALUE: note that NAME is done; appears whole or not at all
finish()
{
	printf '%s\n' "$2" >"$STAMPS/$1.tmp"
	mv "$STAMPS/$1.tmp" "$STAMPS/$1"
}

# begin NAME: from here until finish, NAME counts as not done
begin() { rm -f "$STAMPS/$1"; }

# machine_id NAME: a machine's name among those of all groups, for logs and messages
machine_id() { [ "$GROUP" = plain ] && printf '%s' "$1" || printf '%s' "$GROUP-$1"; }

# machines: those lines of the list that are asked for, without the group
machines()
{
	local groups name rest
	# all of it at once: it may be edited while machines run
	while read -r groups name rest; do
		case ,$groups, in *",$GROUP,"*) ;; *) continue ;; esac
		[ -z "$("$HARNESS/vm/pick" "$MACHINES" <<<"$name")" ] || printf '%s\n' "$name $rest"
	done < <(cat "$MACHINES_TAB")
}

# host_tests: the names of the results of those tests without a machine that are asked for
host_tests()
{
	find "$HARNESS/host" -name '*.t' -printf 'host-%f\n' | sed 's/\.t$//' |
		"$HARNESS/vm/pick" "$MACHINES" | sort
}

# kept NAME OF: there are results of NAME, and they are of OF
kept() { [ -s "$RESULTS/$1" ] && [ "$(head -n1 "$RESULTS/$1.of" 2>/dev/null)" = "$2" ]; }

# ran NAME OF: there are results of NAME, of this test run or an earlier one, which are of OF. They
# are this run's now.
ran()
{
	local before=$RESULTS.before/$1
	[ "$(head -n1 "$before.of" 2>/dev/null)" != "$2" ] || mv "$before" "$before.of" "$RESULTS/"
	kept "$1" "$2"
}

# passed NAME OF: the same, and nothing has failed
passed() { ran "$1" "$2" && ! grep -q '^fail' "$RESULTS/$1"; }

# keep NAME OF [LINE]: keeps standard input as the results of NAME, which began SECONDS ago and is
# LINE in the table; they are there whole or not at all
keep()
{
	mkdir -p "$RESULTS"
	rm -f "$RESULTS/$1.of"
	cat >"$RESULTS/$1"
	printf '%s\n' "$2" "$(date '+%Y-%m-%d %H:%M')" "$(commit)" "$SECONDS" "${3:-}" \
		>"$RESULTS/$1.tmp"
	mv "$RESULTS/$1.tmp" "$RESULTS/$1.of"
}

# commit: which of ours it is, and whether there is more than that
commit() { git -c safe.directory="$TOP" -C "$TOP" describe --always --dirty=+ 2>/dev/null || echo -; }

# says WORD: does the variant's configuration say so of itself?
says() { [ -n "$VARIANT" ] && grep -q "^# $1" "$CONFIG/variant-$VARIANT.config"; }

# alone: is it a kernel of its own?
alone() { says alone; }

# untested: do the tests of user space not run with it?
untested() { says untested; }

# foreign: is it for an architecture that this one is no form of? Then it has no user space.
foreign() { [ -n "$KARCH" ] && [ -z "$SYSROOT" ]; }

# has OPTION: is it in the kernel's configuration?
has() { grep -q "^CONFIG_$1=y" "$OUT/.config"; }

# lines_of_modules: how many lines installing the modules prints: each is copied and stripped, and
# maybe signed and compressed
lines_of_modules()
{
	local lines=2
	! has MODULE_SIG_ALL || lines=$((lines + 1))
	! grep -q '^CONFIG_MODULE_COMPRESS.*=y' "$OUT/.config" || lines=$((lines + 1))
	echo $((lines * $(wc -l <"$OUT/modules.order")))
}

# modular: may the kernel have modules?
modular() { has MODULES; }

# compiler_cache: what this shell compiles from now on goes through ccache
compiler_cache()
{
	# The user's own cache if there is one
	[ -n "${CCACHE_DIR:-}" ] || [ -d ~/.cache/ccache ] || export CCACHE_DIR="$BUILD/ccache"
	# The compiler says which files it has read: preprocessing each to find out makes a first
	# compilation take a third longer.
	export CCACHE_DEPEND=1
	export MAKEFILES=$HARNESS/uncached.mk
	export PATH="/usr/lib/ccache:$PATH"
	# The same source makes the same kernel, so that the cache hits.
	export KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970'
	export KBUILD_BUILD_USER=text KBUILD_BUILD_HOST=sites KBUILD_BUILD_VERSION=1
}

# kbuild ARGUMENT...: make in the kernel's build folder
kbuild()
(
	arch=()
	compiler_cache
	[ -z "$KARCH" ] || arch=(ARCH="$KARCH")
	! foreign || arch+=(CROSS_COMPILE="${COMPILER%gcc*}")
	[ -z "$LINKER" ] || arch+=(LD="$LINKER")
	make -C "$TREE" O="$OUT" CC="$COMPILER" LOCALVERSION="$LOCALVERSION" V="$V" \
		"${arch[@]}" --no-print-directory "$@"
)

# source_id: what a compiled kernel depends on: all but documents and user-space tests
source_id()
{
	{
		stamp base
		grep -vE ' (Documentation|tools/testing)/' "$STAMPS/overlay.sums" || :
	} | hash
}

# source_named WITH: the sed program that finds the compiler's warnings, and puts
# WITH in their place, in which \2 is the file's name in the tree
source_named() { printf '%s' "s,^(\.\./${TREE##*/}/|\.\./|$TREE/)?([^: ]+):[0-9:]+ warning: .*,$1,p"; }

# warnings LOG: the files of ours that it warns about, and any complaint of objtool or
# modpost: those look at the result as a whole, and the base has none.
warnings()
{
	sed -nE "$(source_named '\2\t&')" "$1" |
		sort | join -t $'\t' - "$STAMPS/overlay.list" | cut -f2-
	grep -E 'warning: objtool|^WARNING: modpost' "$1" || :
}

# first_error LOG: the line of a log that says what went wrong
first_error()
{
	grep -m1 -E 'No space left on device' "$1" ||
	grep -m1 -E '(^|[: ])(fatal )?error: |undefined reference|^E: ' "$1" ||
	grep -m1 -E '^ERROR: |\*\*\* |[Ee]rror' "$1" ||
	tail -n1 "$1"
}

# logged LOG MESSAGE COMMAND...: run COMMAND with its output in LOG and one
# progress line on the terminal, in percent if it is known how
# many lines COMMAND prints (expected); a failure is left to the caller
logged()
{
	local log=$1 message=$2 lines=$expected
	shift 2
	expected=0
	"$@" 2>&1 </dev/null |
		"$HARNESS/progress" "$step: $message" "$log" "$(short "$log")" "$V" "$lines"
}

# Background processes: how many slots each takes, by its number, and all of them together
declare -A running=()
used=0

# started SLOTS: the process that was just started takes so many
started()
{
	running[$!]=$1
	used=$((used + $1))
}

# room_in NUMBER: waits until fewer slots are taken. No process may be lost.
room_in()
{
	local pid
	while [ "$used" -ge "$1" ]; do
		wait -n -p pid "${!running[@]}" || die "the results of a test could not be had"
		used=$((used - running[$pid]))
		unset "running[$pid]"
	done
}

# fail_with LOG WHAT: end, saying WHAT failed and the first error in LOG
fail_with()
{
	local line free
	line=$(first_error "$1")
	line=${line#"${line%%[![:space:]]*}"}
	free=$(df --output=avail -B1M "$BUILD" | tail -n1)
	# A full disk also swallows the log's own lines.
	case $line in *'No space left on device'*) free=0 ;; esac
	[ "$free" -ge 16 ] || line="the disk is full"
	die "$2: $line (log: $(short "$1"))"
}
