#!/bin/bash
# bpftrace, as it is in Debian: functions are traced by direct calls, probes and events.
. "$DIR/lib"

# traced PROGRAM: while files are read
traced() { bpftrace -e "$1" -c '/bin/cat /proc/version'; }

plan 8
prints 'kfunc' '^@n: [1-9]' traced 'kfunc:vfs_read { @n = count(); }'
prints 'kretfunc, with an argument and what is returned' '^@n\[[1-9][0-9]*, [1-9][0-9]*\]: [1-9]' \
	traced 'kretfunc:vfs_read /retval > 0/ { @n[args->count, retval] = count(); }'
prints 'kfunc and kretfunc of several functions' '^@n\[kretfunc:.*vfs_read\]: [1-9]' \
	traced 'kfunc:vfs_read, kfunc:vfs_open, kretfunc:vfs_read { @n[probe] = count(); }'
prints 'kprobe' '^@n: [1-9]' traced 'kprobe:vfs_read { @n = count(); }'
prints 'kretprobe' '^@n: [1-9]' traced 'kretprobe:vfs_read /retval > 0/ { @n = count(); }'
prints 'kprobe of many functions' '^@n\[vfs_read\]: [1-9]' traced 'kprobe:vfs_* { @n[func] = count(); }'
prints 'tracepoint' '^@n: [1-9]' traced 'tracepoint:syscalls:sys_enter_openat { @n = count(); }'
no_trace 'nothing is traced after it'
finish
