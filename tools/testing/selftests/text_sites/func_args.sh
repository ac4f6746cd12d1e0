#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The option func-args: events of the function tracer have the arguments of functions.

. "$(dirname "$0")/functions.sh"

OPTION=options/func-args

# begin FUNCTION...: trace these, with their arguments
begin()
{
	[ -e $OPTION ] || skip "no func-args"
	trap 'stop_jobs; end' EXIT
	printf '%s\n' "$@" > set_ftrace_filter
	echo 1 > $OPTION
	echo function > current_tracer
}

end()
{
	echo 0 > $OPTION
	echo 0 > options/func_stack_trace
	echo 0 > options/raw
	echo nop > current_tracer
}

need_types() { [ -e /sys/kernel/btf/vmlinux ] || skip "no BTF"; }

# calls_of FUNCTION: with arguments, a line each
calls_of() { sed -nE "s/.*: ($1\(.*\)) <-.*/\1/p" trace; }

# seek OFFSET WHENCE
seek() { perl -e 'open(F, "<", "/proc/version"); sysseek(F, $ARGV[0], $ARGV[1])' -- "$@"; }

arguments_have_names_and_types()
{
	need_types
	begin ksys_read vfs_read ksys_lseek
	dd if=/proc/version of=/dev/null bs=123 count=1 status=none
	seek -7 1
	echo 0 > tracing_on
	calls_of ksys_read | grep -qE '^ksys_read\(fd=0, buf=0x[0-9a-f]+, count=123\)$' ||
		fail "ksys_read: $(calls_of ksys_read | tail -n1)"
	calls_of vfs_read |
		grep -qE '^vfs_read\(file=0xffff[0-9a-f]{12}, buf=0x[0-9a-f]+, count=123, pos=0x[0-9a-f]+\)$' ||
		fail "vfs_read: $(calls_of vfs_read | tail -n1)"
	calls_of ksys_lseek | grep -qE '^ksys_lseek\(fd=[0-9]+, offset=-7, whence=1\)$' ||
		fail "ksys_lseek: $(calls_of ksys_lseek | tail -n1)"
	equal "without" "$(grep -c ': ksys_read <-' trace)" 0
}

structures_and_more_arguments_than_registers()
{
	need_types
	begin make_vfsuid do_mmap
	stat / > /dev/null
	echo 0 > tracing_on
	calls_of make_vfsuid |
		grep -qE '^make_vfsuid\(idmap=0xffff[0-9a-f]{12}, fs_userns=0xffff[0-9a-f]{12}, kuid=\{0x0\}\)$' ||
		fail "make_vfsuid: $(calls_of make_vfsuid | tail -n1)"
	calls_of do_mmap |
		grep -qE '^do_mmap\(file=0x[0-9a-f]+, addr=[0-9]+, len=[0-9]+, prot=[0-9]+, flags=[0-9]+, vm_flags=[0-9]+, \.\.\.\)$' ||
		fail "do_mmap: $(calls_of do_mmap | tail -n1)"
}

without_types_they_are_words()
{
	# The compiler has left out arguments of this one.
	local func=mm_init.constprop.0
	[ -e $OPTION ] || skip "no func-args"
	grep -qx "$func" available_filter_functions || skip "no $func"
	begin $func
	: | :
	echo 0 > tracing_on
	calls_of "$func" | grep -qE "^$func\(0x[0-9a-f]+(, 0x[0-9a-f]+){5}\)$" ||
		fail "$func: $(calls_of "$func" | tail -n1)"
}

functions_of_a_module()
{
	modinfo marker_sample > /dev/null 2>&1 || skip "no module marker_sample"
	modprobe marker_sample
	trap 'stop_jobs; rmmod marker_sample' EXIT
	begin ':mod:marker_sample'
	trap 'stop_jobs; end; rmmod marker_sample' EXIT
	echo 12345 > /sys/kernel/debug/marker_sample
	echo 0 > tracing_on
	if [ -e /sys/kernel/btf/marker_sample ]; then
		calls_of sample_write |
			grep -qE '^sample_write\([a-z]+=0xffff[0-9a-f]{12}, [a-z]+=0x[0-9a-f]+, [a-z]+=6, ' ||
			fail "with types: $(tail -n1 trace)"
	else
		calls_of sample_write |
			grep -qE '^sample_write\(0xffff[0-9a-f]{12}, 0x[0-9a-f]+, 0x6(, 0x[0-9a-f]+){3}\)$' ||
			fail "without types: $(tail -n1 trace)"
	fi
}

# The kernel has types of a function of this name, which has other arguments.
types_of_another_function()
{
	need_types
	[ -e "$HERE/test_modules/markers_named.ko" ] || skip "no module markers_named"
	insmod "$HERE/test_modules/markers_named.ko"
	trap 'stop_jobs; rmmod markers_named' EXIT
	begin devkmsg_write
	trap 'stop_jobs; end; rmmod markers_named' EXIT
	printf word > /sys/module/markers_named/parameters/pass
	printf word > /dev/kmsg
	echo 0 > tracing_on
	calls_of devkmsg_write | sed -n 1p | grep -qvE '\(iocb=' || fail "the module's: $(calls_of devkmsg_write)"
	calls_of devkmsg_write | sed -n 2p | grep -qE '^devkmsg_write\(iocb=0x[0-9a-f]+, from=0x[0-9a-f]+\)$' ||
		fail "the kernel's: $(calls_of devkmsg_write)"
}

# The kernel loads a module with such BTF.
types_that_are_not_there()
{
	local what file module=$HERE/test_modules/markers_named.ko

	need_types
	[ -e "$module" ] || skip "no module markers_named"
	grep -qaP '\0\.BTF\0' "$module" || skip "no BTF of modules"
	file=$(mktemp)
	for what in arguments value; do
		"$HERE/damage_btf.pl" "$module" $what > "$file"
		insmod "$file"
		trap 'stop_jobs; end; rmmod markers_named' EXIT
		[ -e /sys/kernel/btf/markers_named ] || fail "$what: the kernel refused the BTF"
		begin own_types
		trap 'stop_jobs; end; rmmod markers_named' EXIT
		printf word > /sys/module/markers_named/parameters/pass
		echo 0 > tracing_on
		calls_of own_types |
			grep -qE '^own_types\(0x[0-9a-f]+(, 0x[0-9a-f]+){5}\)$' ||
			fail "$what: $(tail -n1 trace)"
		end
		echo 1 > tracing_on
		rmmod markers_named
		trap stop_jobs EXIT
	done
	rm "$file"
}

switched_while_tracing()
{
	begin ksys_lseek
	seek 1 0
	echo 0 > $OPTION
	seek 2 0
	echo 1 > $OPTION
	seek 3 0
	equal "with and without" "$(sed -nE 's/.*: ksys_lseek(\(?).* <-.*/x\1/p' trace | uniq | xargs)" \
		"x( x x("
	equal "attached" "$(cut -d' ' -f1 enabled_functions)" ksys_lseek
}

in_an_instance()
{
	begin ksys_lseek
	echo nop > current_tracer
	mkdir instances/args
	echo ksys_lseek > instances/args/set_ftrace_filter
	echo function > instances/args/current_tracer
	seek 5 0
	grep -q 'ksys_lseek(.*) <-' instances/args/trace || fail "no arguments"
	rmdir instances/args
}

raw_and_the_format_have_them()
{
	begin ksys_lseek
	grep -q 'field:unsigned long args\[\];' events/ftrace/function/format || fail "no field"
	seek 77 0
	echo 0 > tracing_on
	echo 1 > options/raw
	grep -qE '^[0-9]+ [0-9]+ [0-9]+ [0-9a-f]{16} [0-9a-f]{16} [0-9a-f]+ 4d( [0-9a-f]+){4}$' trace ||
		fail "raw: $(tail -n1 trace)"
}

tools_read_them()
{
	local dir text
	begin ksys_lseek
	command -v trace-cmd > /dev/null || skip "no trace-cmd"
	seek 77 0
	dir=$(mktemp -d)
	extract "$dir/dat"
	grep -q 'function: *ksys_lseek' <<< "$text" || fail "no event: $text"
	text=$(trace-cmd report -i "$dir/dat" -R 2>&1)
	grep -qiE 'ip=.*args=' <<< "$text" || fail "no field: $text"
	rm -r "$dir"
}

options_that_do_not_go_together()
{
	begin ksys_lseek
	expect_error "a stack as well" "Invalid argument" options/func_stack_trace 1
	equal "func_stack_trace" "$(cat options/func_stack_trace)" 0
	seek 1 0
	grep -q 'ksys_lseek(.*) <-' trace || fail "no arguments any more"
	echo nop > current_tracer
	expect_error "a stack as well, without the tracer" "Invalid argument" \
		options/func_stack_trace 1
	equal "func_stack_trace" "$(cat options/func_stack_trace)" 0
	echo 0 > $OPTION
	echo 1 > options/func_stack_trace
	expect_error "arguments as well" "Invalid argument" $OPTION 1
	echo 0 > options/func_stack_trace
	echo 1 > $OPTION
	expect_error "neither on nor off" "Invalid argument" $OPTION 2
	equal "func-args" "$(cat $OPTION)" 1
}

run_tests arguments_have_names_and_types structures_and_more_arguments_than_registers \
	without_types_they_are_words functions_of_a_module types_of_another_function \
	types_that_are_not_there switched_while_tracing in_an_instance \
	raw_and_the_format_have_them tools_read_them options_that_do_not_go_together
