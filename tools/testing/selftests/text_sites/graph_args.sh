#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The options funcgraph-args and funcgraph-retaddr, and values that functions return: events of
# function_graph say with what a function is called, from where, and what comes of it.

. "$(dirname "$0")/functions.sh"

ARGS=options/funcgraph-args
RETADDR=options/funcgraph-retaddr
RETVAL=options/funcgraph-retval

# An address in a function, as a pattern
IN='\+0x[0-9a-f]+\/0x[0-9a-f]+'

# begin FUNCTION...: trace these, with all there is to say
begin()
{
	[ -e $ARGS ] || skip "no funcgraph-args"
	trap 'stop_jobs; end' EXIT
	printf '%s\n' "$@" > set_ftrace_filter
	echo 1 > $ARGS
	echo 1 > $RETADDR
	[ ! -e $RETVAL ] || echo 1 > $RETVAL
	echo function_graph > current_tracer
}

end()
{
	echo 0 > $ARGS
	echo 0 > $RETADDR
	[ ! -e $RETVAL ] || echo 0 > $RETVAL
	echo 0 > max_graph_depth
	echo nop > current_tracer
}

need_types() { [ -e /sys/kernel/btf/vmlinux ] || skip "no BTF"; }
need_values() { [ -e $RETVAL ] || skip "no funcgraph-retval"; }

# calls: the lines of functions, without what stands in front of them
calls() { sed -nE 's/^ *[0-9]+\) [^|]*\|  //p' trace; }

# has WHAT PATTERN: a line is as it has to be
has() { calls | grep -qE "^$2\$" || fail "$1: $(calls | head -n 20)"; }

# returned WHAT FUNCTION VALUE: at the end of its only line, or of its last one
returned() { has "$1" "($2\(.*\); \/\*|\} \/\* $2) .*ret=$3 \*\/"; }

lseek() { perl -e 'open(F, "<", "/proc/version"); sysseek(F, $ARGV[0], 0)' -- "$@"; }
read_some() { dd if=/proc/version of=/dev/null bs=123 count=1 status=none; }

whole_calls()
{
	read_some
	echo 0 > tracing_on
	has "a call that calls" \
		"ksys_read\(fd=0, buf=0x[0-9a-f]+, count=123\) \{ \/\* <-[a-z_0-9]+$IN \*\/"
	has "a call that does not" " *vfs_read\(file=0xffff[0-9a-f]{12}, buf=0x[0-9a-f]+, count=123, pos=0x[0-9a-f]+\); \/\* <-ksys_read$IN ret=123 \*\/"
	has "a return" '\} /\* ksys_read ret=123 \*/'
}

arguments_callers_and_values()
{
	need_types
	need_values
	begin ksys_read vfs_read
	whole_calls
}

# What restricts the tracer has it take another way.
as_much_where_it_is_restricted()
{
	need_types
	need_values
	begin ksys_read vfs_read
	echo 5 > max_graph_depth
	whole_calls
}

each_option_alone()
{
	need_types
	begin ksys_read vfs_read
	[ ! -e $RETVAL ] || echo 0 > $RETVAL
	echo 0 > $RETADDR
	read_some
	echo 0 > tracing_on
	has "arguments of a call that calls" 'ksys_read\(fd=0, buf=0x[0-9a-f]+, count=123\) \{'
	has "arguments of one that does not" ' *vfs_read\(.*, count=123, .*\);'
	has "a return" '\}'
	echo 1 > tracing_on
	echo 0 > $ARGS
	echo 1 > $RETADDR
	echo > trace
	read_some
	echo 0 > tracing_on
	has "a call from" "ksys_read\(\) \{ \/\* <-[a-z_0-9]+$IN \*\/"
	has "another" " *vfs_read\(\); \/\* <-ksys_read$IN \*\/"
	has "a return" '\}'
}

as_ever_without_them()
{
	begin ksys_read vfs_read
	echo 0 > $ARGS
	echo 0 > $RETADDR
	read_some
	echo 0 > tracing_on
	[ ! -e $RETVAL ] || has "a value" ' *vfs_read\(\); /\* = 0x7b \*/'
	[ ! -e $RETVAL ] || echo 0 > $RETVAL
	has "a call" 'ksys_read\(\) \{'
	has "another" ' *vfs_read\(\);'
	has "a return" '\}'
}

values_have_types()
{
	need_types
	need_values
	begin ksys_lseek do_filp_open fput ns_capable vfs_statx
	perl -e 'syscall(8, 99, 0, 0)'
	cat /no_such_file 2> /dev/null || :
	stat /no_such_file 2> /dev/null || :
	lseek 7
	chroot / true
	echo 0 > tracing_on
	has "an error" "ksys_lseek\(fd=99, offset=0, whence=0\); .* ret=-9 \(EBADF\) \*\/"
	has "a number" "ksys_lseek\(fd=[0-9]+, offset=7, whence=0\); .* ret=7 \*\/"
	returned "an error in a pointer" do_filp_open '-2 \(ENOENT\)'
	returned "a pointer" do_filp_open '0xffff[0-9a-f]{12}'
	! grep -q '^vfs_statx ' enabled_functions ||
		returned "an error in an int" vfs_statx '-2 \(ENOENT\)'
	has "nothing" "fput\(file=0xffff[0-9a-f]{12}\); \/\* <-[a-z_0-9]+$IN \*\/"
	has "a bool" "ns_capable\(ns=0xffff[0-9a-f]{12}, cap=18\); .* ret=true \*\/"
	echo 1 > options/funcgraph-retval-hex
	trap 'stop_jobs; echo 0 > options/funcgraph-retval-hex; end' EXIT
	has "an error in hexadecimal" "ksys_lseek\(fd=99, .* ret=0xfffffffffffffff7 \*\/"
}

# The compiler has left out arguments of this one.
without_types_they_are_words()
{
	local func=mm_init.constprop.0
	[ -e $ARGS ] || skip "no funcgraph-args"
	grep -qx "$func" available_filter_functions || skip "no $func"
	begin $func
	: | :
	echo 0 > tracing_on
	has "words" "$func\(0x[0-9a-f]+(, 0x[0-9a-f]+){5}\); \/\* <-[a-z_0-9.]+$IN.*( ret=0x[0-9a-f]+)? \*\/"
}

# jumped_to: calls with the same return address as the call around them, in the line before
jumped_to()
{
	calls | perl -ne '
		/^( *)[\w.]+\(.*<-(\S+)/ or next;
		print if defined $ret && $2 eq $ret && length $1 > $depth;
		($depth, $ret) = (length $1, $2);'
}

# A function that is jumped to returns to where the one returns to that has jumped.
callers_of_functions_that_are_jumped_to()
{
	begin '*sys_lseek' vfs_llseek proc_reg_llseek seq_lseek
	lseek 3
	echo 0 > tracing_on
	equal "unknown callers" "$(calls | grep -c '<-return_to_handler')" 0
	[ -n "$(jumped_to)" ] || skip "no function is jumped to"
	echo 3 > max_graph_depth
	echo > trace
	echo 1 > tracing_on
	lseek 3
	echo 0 > tracing_on
	equal "unknown callers, restricted" "$(calls | grep -c '<-return_to_handler')" 0
	[ -n "$(jumped_to)" ] || fail "none is jumped to, restricted: $(calls | head -n 20)"
}

# Another user of fgraph comes and goes, at the same functions and at others.
beside_another_tracer()
{
	local round
	need_types
	begin ksys_lseek
	mkdir instances/other
	echo 0 > $ARGS
	echo 0 > $RETADDR
	for round in 1 2 3; do
		echo ksys_lseek > instances/other/set_ftrace_filter
		echo function_graph > instances/other/current_tracer
		echo 1 > $ARGS
		lseek 1$round
		grep -q "ksys_lseek(" instances/other/trace || fail "nothing in the other one"
		echo vfs_read > instances/other/set_ftrace_filter
		lseek 2$round
		echo nop > instances/other/current_tracer
		lseek 3$round
		echo 0 > $ARGS
	done
	echo 1 > $ARGS
	for round in 11 12 13 21 22 23 31 32 33; do
		has "$round" "ksys_lseek\(fd=[0-9]+, offset=$round, whence=0\).*"
	done
}

# some_have TEXT: some calls in the trace have it
some_have() { calls | grep -qF "$1"; }

switched_while_tracing()
{
	need_types
	begin ksys_lseek
	while :; do lseek 77; done &
	for _ in $(seq 5); do
		echo 0 > $ARGS
		echo > trace
		within 60 some_have 'ksys_lseek();' || fail "none without"
		echo 1 > $ARGS
		within 60 some_have 'offset=77, whence=0' || fail "none with arguments"
		equal "wrong ones" "$(calls | grep 'fd=' | grep -vcE '\(fd=[0-9]{1,4}, ')" 0
	done
	stop_jobs
	equal "attached" "$(cut -d' ' -f1 enabled_functions)" ksys_lseek
}

# Also if it is what it was: this file is not asked before.
switched_by_trace_options()
{
	need_types
	begin ksys_lseek
	echo funcgraph-args > trace_options
	echo funcgraph-args > trace_options
	lseek 5
	has "on" 'ksys_lseek\(fd=[0-9]+, offset=5, whence=0\); .*'
	echo nofuncgraph-args > trace_options
	echo nofuncgraph-args > trace_options
	echo > trace
	lseek 6
	echo 1 > $ARGS
	has "off" 'ksys_lseek\(\); .*'
	equal "on" "$(calls | grep -c 'offset=6')" 0
}

in_an_instance()
{
	need_types
	begin ksys_lseek
	echo nop > current_tracer
	mkdir instances/args
	echo ksys_lseek > instances/args/set_ftrace_filter
	echo function_graph > instances/args/current_tracer
	lseek 5
	grep -qE 'ksys_lseek\(fd=[0-9]+, offset=5, whence=0\); /\* <-' instances/args/trace ||
		fail "$(tail -n1 instances/args/trace)"
	rmdir instances/args
}

formats_have_the_fields()
{
	begin proc_reg_llseek
	grep -q 'field:unsigned long args\[\];' events/ftrace/funcgraph_entry/format || fail "no args"
	equal "fields" "$(event_fields ftrace/funcgraph_entry | xargs)" "func 8 8 depth 16 4 args 20 0"
	equal "fields" "$(event_fields ftrace/fgraph_retaddr_entry | xargs)" \
		"func 8 8 depth 16 4 retaddr 20 8 args 28 0"
}

tools_read_them()
{
	local dir text
	begin proc_reg_llseek
	command -v trace-cmd > /dev/null || skip "no trace-cmd"
	echo 0 > $RETADDR
	lseek 77
	dir=$(mktemp -d)
	extract "$dir/dat"
	grep -qE 'funcgraph_entry: .*proc_reg_llseek\(.*\);' <<< "$text" || fail "no event: $text"
	text=$(trace-cmd report -i "$dir/dat" -R 2>&1)
	grep -qiE 'func=.*depth=.*args=' <<< "$text" || fail "no field: $text"
	rm -r "$dir"
}

neither_on_nor_off()
{
	begin proc_reg_llseek
	expect_error "arguments" "Invalid argument" $ARGS 2
	expect_error "callers" "Invalid argument" $RETADDR x
	equal "still on" "$(cat $ARGS $RETADDR | xargs)" "1 1"
}

run_tests arguments_callers_and_values as_much_where_it_is_restricted each_option_alone \
	as_ever_without_them values_have_types without_types_they_are_words \
	callers_of_functions_that_are_jumped_to beside_another_tracer switched_while_tracing \
	switched_by_trace_options in_an_instance formats_have_the_fields tools_read_them neither_on_nor_off
