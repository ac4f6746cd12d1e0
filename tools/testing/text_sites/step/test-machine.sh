#!/bin/bash
# Runs the tests that need a machine: those of machines.tab that are in GROUP, and have not
# run since its results were forgotten, nor passed before that, with this kernel. With AGAIN=1, also
# those that have passed before that.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

results=$HARNESS/results
list=${TS_LIST:-$HARNESS/base-failures.tab}
# What of ours need not run in the machines of `make test`
skips=${TS_SKIPS:-$HARNESS/skips.tab}
# What does not pass on another architecture comes on top.
lists=("$list")
[ ! -e "${list%.tab}-$KARCH.tab" ] || lists+=("${list%.tab}-$KARCH.tab")

# listed NAME COLLECTION PATTERNS: what the list says about this machine's tests
listed()
{
	local line
	sed -n "s/^$1: /$(machine_id "$1"): /p" "${lists[@]}"
	sed -n "/^$2: /p" "${lists[@]}" | while IFS= read -r line; do
		line=${line#"$2: "}
		[ -z "$("$HARNESS/vm/pick" "$3" <<<"${line%%$'\t'*}")" ] || printf '%s\n' "$2: $line"
	done
}

# choose_job COLLECTION PATTERNS: what boots (nothing: the job runs here), and the job, as arguments
# for it
choose_job()
{
	boots=machine
	case $1 in
	fleet | picture) boots=$1 job=() ;;
	kunit) boots=bare job=() ;;
	host) boots='' job=(prove -v "$HARNESS/host/$2.t") ;;
	counts) job=("$HARNESS/bench/machine.sh" "$2") ;;
	startup) job=(--startup-tests "$HARNESS/vm/startup.sh") ;;
	ftrace) job=("$HARNESS/vm/ftracetest.sh" "$2") ;;
	*) job=("$HARNESS/vm/kselftest.sh" "$1" "$2" "$SLOW") ;;
	esac
}

# run_job LABEL SMP TIME APPEND: in a machine, or here, where it finds the kernel in $KERNEL_BUILD
run_job()
{
	if [ -z "$boots" ]; then
		KERNEL_BUILD=$OUT timeout "$3" "${job[@]}" >"$LOG/$1.out" 2>&1 </dev/null
		return
	fi
	"$HARNESS/vm/$boots" --name "$1" --smp "$2" --timeout "$3" --append "$4" "${options[@]}" \
		"${job[@]}" >/dev/null 2>"$LOG/$1.err" </dev/null
}

# as_tap COLLECTION: what the tests printed
as_tap()
{
	case $1 in
	counts) "$HARNESS/bench/guard" "$HARNESS/bench/limits.tab" ;;
	*) cat ;;
	esac
}

# functions_in OBJECT...: the names of its functions
functions_in() { nm "$@" | awk '$2 ~ /^[tT]$/ { sub(/\..*/, "", $3); print $3 }' | sort -u; }

# our_functions: the names of those that this kernel has: in our objects, and in the base's, what
# our headers and patches add
our_functions()
{
	local file known objects=() sources=()
	while IFS= read -r file; do
		sources+=("$TREE/$file")
		[ ! -e "$OUT/${file%.c}.o" ] || objects+=("$OUT/${file%.c}.o")
	done < <(grep -E '^(arch|include|kernel)/.*\.[ch]$' "$STAMPS/overlay.list")
	known=$(functions_in "$OUT/vmlinux")
	[ ${#objects[@]} -eq 0 ] || functions_in "${objects[@]}"
	"$HARNESS/functions" "${sources[@]}" "$TOP"/patches/*.patch |
		comm -12 - <(printf '%s\n' "$known")
}

# our_suites: the KUnit suites that the kernel of `make test` has
our_suites()
{
	sed -n "s,^\(arch/x86\|kernel\)/.*_test\.c$,$TREE/&,p" "$STAMPS/overlay.list" |
		xargs -d '\n' "$results" suites
}

# read_results NAME COLLECTION STATUS APPEND: those of the machine that ended
read_results()
{
	local base out console label=$2 log kunit=() ours=()
	base=$LOG/test-$(machine_id "$1")
	out=$base.out
	console=$base.console
	for log in "$out" "$console"; do [ -e "$log" ] || : >"$log"; done

	# The base's tests have the same name in whatever machine they run.
	case $2 in text_sites | counts | fleet | picture | kunit | host) label=$(machine_id "$1") ;; esac
	case $2 in
	kunit) [ "$3" -eq 0 ] || printf 'fail\t%s: end\tstatus %s\t%s\n' "$label" "$3" "$(short "$console")" ;;
	*)
		as_tap "$2" <"$out" |
			"$results" read --label "$label" --log "$(short "$out")" --status "$3"
		;;
	esac
	[ "$2" != host ] || return 0
	case " $4 " in
	*' kunit.filter_glob='*) kunit=(--kunit) ;;
	*' kunit.enable=1 '*)
		kunit=(--kunit)
		if [ "$GROUP" = plain ]; then
			our_suites >"$base.suites"
			kunit+=(--suites "$base.suites")
		fi
		;;
	esac
	# It also reports races of the base.
	if has KCSAN 2>/dev/null; then
		our_functions >"$base.ours"
		ours=(--ours "$base.ours")
	fi
	"$results" console --label "$(machine_id "$1")" --log "$(short "$console")" \
		"${kunit[@]}" "${ours[@]}" <"$console"
}

# judged NAME COLLECTION PATTERNS: results compared with what is expected of them
judged()
{
	local log part=()
	log=$(short "$LOG/test-$(machine_id "$1").out")
	[ "$GROUP" = plain ] || [ "$2" = host ] || part=(--part)
	case $2 in
	text_sites | host)
		"$results" judge "${part[@]}" --list <(grep "^$(machine_id "$1"): " "$skips" || :) \
			--log "$log"
		;;
	counts | fleet | picture | kunit) cat ;;
	*) "$results" judge --list <(listed "$@") --log "$log" ;;
	esac
}

# chosen: those machines that are asked for and have no results yet
chosen()
{
	local name rest of
	while read -r name rest; do
		of=$(of "$name $rest") || die "$name: cannot tell what its results depend on"
		if kept "$name" "$of" || { [ -z "${AGAIN:-}" ] && passed "$name" "$of"; }; then
			say "$(machine_id "$name"): as before: $("$results" brief "$RESULTS/$name")" >&2
		else
			printf '%s\n' "$name $rest"
		fi
	done < <(machines)
}

# files_of PATTERNS: the sums of all files in text_sites but the tests that PATTERNS does not pick
files_of()
{
	local tests list=$ROOTFS.kselftest/kselftest-list.txt
	[ -e "$list" ] || return 0
	tests=$(sed -n 's/^text_sites://p' "$list")
	grep ' tools/testing/selftests/text_sites/' "$STAMPS/overlay.sums" |
		grep -vf <(comm -23 <(sort <<<"$tests") <("$HARNESS/vm/pick" "$1" <<<"$tests" | sort) |
			sed 's|.*|/&$|')
}

# of LINE: what the results of a machine are of
of()
{
	{
		stamp "kernel-$KERNEL"
		# What runs the tests, and what judges them
		cat "$0" "$HARNESS"/{lib.sh,functions,vm/*,bench/{machine.sh,guard,limits.tab}} \
			"$results" "${lists[@]}" "$skips"
		# With more time, the kernel does not look for stalls.
		[ "$SLOW" -eq 1 ] || echo slow
		tr -s '[:space:]' ' ' <<<"$1"
		case ${1##* } in
		*:*) stamp "rootfs-$KERNEL" ;;
		*)
			stamp "programs-$KERNEL"
			files_of "${1##* }"
			;;
		esac
		case $1 in
		*' picture:'*) cat "$TOP/scripts/tracing/draw_fgraph.pl" ;;
		*' host:'*) find "$HARNESS/host" -type f -print0 | sort -z | xargs -0 cat ;;
		esac
	} | hash
}

# accel_of ACCEL: which kind it is, and the machine's options for what else it says
accel_of()
{
	local accel=$1
	options=()
	case $accel in *@*) options+=(--cpu "${accel#*@}"); accel=${accel%@*} ;; esac
	case $accel in *+*) options+=(--nmi "${accel#*+}"); accel=${accel%+*} ;; esac
	options+=(--accel "$accel")
}

# threads_of ACCEL SMP: how many of the host it keeps busy
threads_of()
{
	case $1 in multi*) echo "$2" ;; *) echo 1 ;; esac
}

# took NAME [SECONDS]: how long a machine took when it ran last, or that it takes so long
took()
{
	local file
	file=$BUILD/took/$KERNEL-$(machine_id "$1")
	if [ $# -gt 1 ]; then
		mkdir -p "${file%/*}"
		echo "$2" >"$file"
	else
		cat "$file" 2>/dev/null || :
	fi
}

# end_of LINE...: when these machines will have run. For one that has never run, a tenth of its
# time limit is assumed.
end_of()
{
	local line seconds sum=0 about=''
	local name accel smp time _
	for line; do
		read -r name accel smp time _ <<<"$line"
		seconds=$(took "$name")
		[ -n "$seconds" ] || { seconds=$((time * SLOW / 10)); about='about '; }
		sum=$((sum + seconds * $(threads_of "$accel" "$smp")))
	done
	date -d "+$((sum / $(nproc))) seconds" "+, all until $about%H:%M"
}

# test_in PLACE OF NAME ACCEL SMP TIME APPEND TESTS: one machine, and its results, which are of
# OF; PLACE says how far that is
test_in()
{
	local place=$1 of=$2 name=$3 smp=$5 time=$6 append=$7 tests=$8 status=0 boots job options
	local label line="${*:3}"
	label=test-$(machine_id "$name")

	case $tests in *:*) ;; *) tests=text_sites:$tests ;; esac
	case $append in -) append='' ;; esac
	# A comma is between parameters, but for \,
	append=${append//\\,/$'\n'}
	append=${append//,/ }
	append=${append//$'\n'/,}
	# The kernel judges by time, which its processors may not get.
	[ "$SLOW" -eq 1 ] || append+=" rcupdate.rcu_cpu_stall_suppress=1 nosoftlockup"
	accel_of "$4"
	choose_job "${tests%%:*}" "${tests#*:}"
	say "$(machine_id "$name"): ${boots:+booting, }$place (log: $(short "$LOG/$label.out"), .console)"
	SECONDS=0
	: >"$LOG/$label.err"
	run_job "$label" "$smp" $((time * SLOW)) "$append" || status=$?
	# Another time it may get to its end.
	[ "$status" -ne 124 ] || of='no end'
	cat "$LOG/$label.err" >&2
	# Without `||`, so that it ends here if any part fails: what there is then is not kept.
	read_results "$name" "${tests%%:*}" "$status" "$append" |
		judged "$name" "${tests%%:*}" "${tests#*:}" >"$LOG/$label.results"
	keep "$name" "$of" "$line" <"$LOG/$label.results"
	took "$name" $SECONDS
	say "$(machine_id "$name"): $("$results" brief "$RESULTS/$name") ($((SECONDS / 60)):$(printf '%02d' $((SECONDS % 60))))"
}

main()
{
	local slots lines machines=() i
	local name accel smp time append tests
	# One more than there are: a machine sleeps for a part of its time.
	slots=$(($(nproc) + 1))
	# On its own line: if one of them cannot be had, none is run.
	lines=$(set -e; chosen)
	[ -z "$lines" ] || mapfile -t machines <<<"$lines"
	for ((i = 0; i < ${#machines[@]}; i++)); do
		read -r name accel smp time append tests <<<"${machines[i]}"
		# One free thread is enough, also for a machine that may use more.
		room_in "$slots"
		test_in "$((i + 1)) of ${#machines[@]}$(end_of "${machines[@]:i}")" \
			"$(of "${machines[i]}")" \
			"$name" "$accel" "$smp" "$time" "$append" "$tests" &
		started "$(threads_of "$accel" "$smp")"
	done
	room_in 1
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
