#!/bin/bash
# run.sh [OPTION of machine...]: boots the machine and shows the function tracer at work there;
# with PICTURE=1 the function graph tracer, whose trace is then drawn.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

: "${FILTER:=vfs_*}" "${CMD:=ls -R /proc/1}" "${PICTURE:=0}"
trace=${TS_TRACE:-$BUILD/trace}

run()
{
	"$HARNESS/vm/machine" --name "run-$KERNEL" --smp "${SMP:-2}" --accel "${ACCEL:-single}" \
		--cpu "${CPU:-max}" "${options[@]}" "$HARNESS/vm/demo.sh" "$FILTER" "$CMD" "$1"
}

# without_trace: passes on what comes before the trace, which becomes a file
without_trace()
{
	sed -u "/^The trace in base64:\$/,\$ {
		w $trace.base64
		d
	}"
}

draw()
{
	sed 1d "$trace.base64" | base64 -d | gunzip >"$trace.tmp" ||
		die "the trace did not get here whole"
	mv "$trace.tmp" "$trace.txt"
	rm "$trace.base64"
	"$TOP/scripts/tracing/draw_fgraph.pl" -o "$trace.html" "$trace.txt" >"$LOG/draw.log" 2>&1 ||
		die "$(head -n1 "$LOG/draw.log")"
	echo
	echo "$(tail -n1 "$LOG/draw.log"): in $(short "$trace.html"), for any browser;"
	echo "the trace itself is $(short "$trace.txt")"
}

options=("$@")
status=0
case $PICTURE in
0)
	run function
	echo
	echo "Next: make run PICTURE=1 FILTER='*lock*', which draws the calls and their times"
	echo '      make shell, and there: trace-cmd record -p function_graph -g vfs_read ls'
	;;
1)
	rm -f "$trace".{base64,tmp,txt,html}
	run function_graph | without_trace || status=$?
	# A trace of a command that failed may be what was wanted.
	[ ! -s "$trace.base64" ] || draw
	exit "$status"
	;;
*) die "PICTURE is 1 for a picture, or 0, not '$PICTURE'" ;;
esac
