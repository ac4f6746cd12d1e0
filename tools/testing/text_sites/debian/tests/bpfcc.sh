#!/bin/bash
# Programs of bpfcc-tools, as they are in Debian
. "$DIR/lib"

# busy COMMAND...: while files are read all the time
busy()
{
	local reader status=0
	while sleep 0.1; do cat /proc/version; done >/dev/null &
	reader=$!
	"$@" || status=$?
	kill "$reader"
	return "$status"
}

plan 5
prints 'funccount' '^vfs_read +[1-9]' busy funccount-bpfcc -d 3 'vfs_*'
prints 'funclatency' '^ +[0-9]+ -> [0-9]+ +: [1-9]' busy funclatency-bpfcc -d 3 vfs_read
prints 'stackcount' '^  (b.)?vfs_read' busy stackcount-bpfcc -D 3 vfs_read
prints 'trace' ' vfs_read +' busy trace-bpfcc -M 5 'vfs_read'
no_trace 'nothing is traced after it'
finish
