#!/bin/bash
# Programs of bpfcc-tools, as they are in Debian
. "$DIR/lib"

# -M does not end it: Python cannot exit from within a callback. The warnings of the compiler come
# first.
traced()
{
	local tracer
	PYTHONUNBUFFERED=1 trace-bpfcc "$@" >events 2>&1 &
	tracer=$!
	for _ in {1..300}; do
		! grep -qE '^[0-9]+ .* vfs_read' events || break
		sleep 1
	done
	kill "$tracer"
	wait "$tracer" || :
	cat events
}

plan 5
prints 'funccount' '^vfs_read +[1-9]' busy funccount-bpfcc -d 3 'vfs_*'
prints 'funclatency' '^ +[0-9]+ -> [0-9]+ +: [1-9]' busy funclatency-bpfcc -d 3 vfs_read
prints 'stackcount' '^  (b.)?vfs_read' busy stackcount-bpfcc -D 3 vfs_read
prints 'trace' '^[0-9]+ .* vfs_read' busy traced vfs_read
no_trace 'nothing is traced after it'
finish
