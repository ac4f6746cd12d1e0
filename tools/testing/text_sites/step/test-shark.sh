#!/bin/bash
# Records a trace in the machine, has KernelShark show it, and reads from the picture whether
# the first events are in its list.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

rows=20
log=$LOG/shark.log
picture=$BUILD/shark.png

record()
{
	# shellcheck disable=SC2016  # meant for the shell in the machine
	"$HARNESS/vm/machine" --name shark -c 'cd /tmp
		trace-cmd record -p function -l "vfs_*" -e sched:sched_switch ls -R /proc/1 >log 2>&1 ||
			{ cat log; exit 1; }
		base64 trace.dat' >"$work/trace.base64" || fail_with "$work/trace.base64" "cannot record"
	base64 -d "$work/trace.base64" >"$work/trace.dat"
}

# As another user than root, whom it would warn first
start()
{
	local user=()
	[ "$(id -u)" -ne 0 ] || user=(setpriv --reuid nobody --regid nogroup --clear-groups)
	export HOME=$work/home XDG_CACHE_HOME=$work/home XDG_RUNTIME_DIR=$work/home
	mkdir -m 777 "$HOME"
	chmod 755 "$work"
	mkfifo "$work/display"
	setpriv --pdeathsig TERM Xvfb -displayfd 3 -screen 0 1400x1000x24 -nolisten tcp \
		3<>"$work/display" >>"$log" 2>&1 &
	read -r -t 60 number <"$work/display" || fail_with "$log" "no X server"
	export DISPLAY=:$number LIBGL_ALWAYS_SOFTWARE=1
	"${user[@]}" setpriv --pdeathsig TERM kernelshark -i "$work/trace.dat" >>"$log" 2>&1 &
}

# seen: of how many of the first events the list shows the time and the function or the event's
# name, as far as it can be read; spaces and underlines cannot
seen()
{
	import -window root "$picture"
	convert "$picture" -colorspace gray -resize 300% "$work/large.png"
	OMP_THREAD_LIMIT=1 tesseract "$work/large.png" - --psm 6 2>/dev/null | tr -d ' _' >"$work/text"
	awk -v rows="$rows" '
		NR == FNR { text = text "\n" $0; next }
		match($0, /[0-9]+\.[0-9]+: [a-z_]+: +[^ ]+/) && n++ < rows {
			split(substr($0, RSTART, RLENGTH), of, /: +/)
			name = of[2] == "function" ? of[3] : of[2]
			if (text ~ of[1] "[^\n]*" name) seen++
		}
		END { print seen + 0 }' "$work/text" "$work/report"
}

main()
{
	local shown=0 window=
	: >"$log"
	work=$(mktemp -d)
	trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM HUP
	record
	trace-cmd report -i "$work/trace.dat" 2>/dev/null | tr -d '_' >"$work/report"
	start
	for _ in {1..300}; do
		window=$(xdotool search --name '^Kernel Shark .*trace\.dat' 2>/dev/null) && break
		sleep 1
	done
	[ -n "$window" ] || fail_with "$log" "KernelShark shows no window"
	xdotool windowsize "$window" 1400 1000
	for _ in {1..60}; do
		sleep 2
		shown=$(seen)
		[ "$shown" -lt $((rows * 3 / 4)) ] || break
	done
	[ "$shown" -ge $((rows * 3 / 4)) ] ||
		die "$shown of the first $rows events can be read in $(short "$picture")"
	say "$shown of the first $rows events can be read in $(short "$picture")"
	printf 'pass\tshark: shows the first events\t\t%s\n' "$(short "$log")" |
		keep shark "$(stamp "kernel-$KERNEL")"
}

# On one line: bash reads a script as it goes, and this one may change meanwhile.
main; exit
