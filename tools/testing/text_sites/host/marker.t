#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# Markers as the compiler makes them: what must compile, and what must not; and that
# one that is off is one NOP of five bytes, in a loop and in a leaf function.
use strict;
use warnings;
use Test::More;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);

my $top = abs_path(dirname(__FILE__) . '/../../../..');
my $dir = tempdir(CLEANUP => 1);

sub put
{
	my ($path, $text) = @_;
	make_path(dirname("$dir/$path"));
	open my $file, '>', "$dir/$path" or die "$path: $!";
	print $file $text;
	close $file;
}

# What the headers take from the kernel's
put("$_.h", '') for qw(asm/asm);
put('linux/args.h', <<'H');
#define __COUNT_ARGS(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _n, X...) _n
#define COUNT_ARGS(X...) __COUNT_ARGS(, ##X, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define __CONCAT(a, b) a ## b
#define CONCATENATE(a, b) __CONCAT(a, b)
H
put('linux/bits.h', "#define GENMASK(h, l) (((2u << (h)) - 1) & ~((1u << (l)) - 1))\n#define BIT(n) (1u << (n))\n");
put('linux/build_bug.h', "#define BUILD_BUG_ON_MSG(c, msg) _Static_assert(!(c), msg)\n");
put('linux/compiler.h', <<'H');
#define __always_inline inline __attribute__((always_inline))
#define __printf(a, b) __attribute__((format(printf, a, b)))
#define __aligned(x) __attribute__((aligned(x)))
#define unlikely(x) __builtin_expect(!!(x), 0)
#define NULL ((void *)0)
register unsigned long current_stack_pointer asm("rsp");
#define ASM_CALL_CONSTRAINT "+r" (current_stack_pointer)
H
put('linux/errno.h', "#define ENOSYS 38\n#define ENOENT 2\n");
put('linux/list.h', "#include <linux/errno.h>\nstruct list_head { struct list_head *next, *prev; };\n");
put('linux/rcupdate.h', "void synchronize_rcu(void);\n");
put('linux/stringify.h', "#define __stringify_1(x...) #x\n#define __stringify(x...) __stringify_1(x)\n");
put('linux/types.h', <<'H');
#include <stdbool.h>
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
H
put('asm/nops.h', "#define BYTES_NOP5 0x0f,0x1f,0x44,0x00,0x00\n");

my @on = qw(-DCONFIG_MARKERS -DCONFIG_TEXT_SITES);
my $head = "#include <linux/marker.h>\n";

# compile FLAGS, TEXT: what gcc says of it
sub compile
{
	my ($flags, $text) = @_;
	put('test.c', $head . $text);
	my $said = qx(LC_ALL=C gcc -std=gnu11 -O2 -Wall -Werror -fno-pic -mcmodel=kernel \\
		-mno-red-zone -fcf-protection=none -fno-asynchronous-unwind-tables \\
		-mpreferred-stack-boundary=3 -fno-stack-protector -falign-loops=1 \\
		-falign-jumps=1 -falign-labels=1 $flags \\
		-I'$dir' -I'$top/include' -I'$top/arch/x86/include' \\
		-c -o '$dir/test.o' '$dir/test.c' 2>&1);
	return $? ? $said || 'it fails' : '';
}

sub mark { "void f(int a, long b, const char *c) { trace_mark($_[0]); }" }

my @right = (
	'no argument'		=> mark('x, y, "text"'),
	'three of them'		=> mark('x, y, "%d %ld %s", a, b, c'),
	'constants'		=> mark('x, y, "%d %s %lx", 1, "text", 0x123456789abcdefL'),
	'eight'			=> mark('x, y, "%d%d%d%d%d%d%d%d", a, a, a, a, a, a, a, a'),
	'eight that differ'	=> mark('x, y, "%d%d%d%d%d%ld%ld%s", a, a + 1, a * 3, a ^ 5, 2, b, -b, c'),
	'twice'			=> mark('x, y, "%d", a') . 'void g(int a) { trace_mark(x, y, "%d", a); }',
	'a name with digits'	=> mark('x2, 3y, "%d", a'),
);

my @wrong = (
	'an argument too few'	=> mark('x, y, "%d %ld", a'),
	'an argument too many'	=> mark('x, y, "%d", a, b'),
	'another type'		=> mark('x, y, "%d", c'),
	'nine arguments'	=> mark('x, y, "%d%d%d%d%d%d%d%d%d", a, a, a, a, a, a, a, a, a'),
	'a name with a slash'	=> mark('x/y, z, "%d", a'),
	'a name that is a string' => mark('"x", y, "%d", a'),
	'no format'		=> mark('x, y'),
	'a format in a variable' => mark('x, y, c'),
);

for my $how (['on', "@on"], ['off', '']) {
	my ($name, $flags) = @$how;
	for (my $i = 0; $i < @right; $i += 2) {
		is(compile($flags, $right[$i + 1]), '', "$name: $right[$i]");
	}
	for (my $i = 0; $i < @wrong; $i += 2) {
		next if !$flags && $wrong[$i] =~ /nine|name|variable/;
		isnt(compile($flags, $wrong[$i + 1]), '', "$name: not $wrong[$i]");
	}
}

# code FUNCTION: the names of its instructions up to the return; which registers they
# use may differ. A NOP of five bytes is "nop5".
sub code
{
	my ($function) = @_;
	my @code;
	for (qx(objdump -d --disassemble='$function' '$dir/test.o')) {
		next unless /^\s+[0-9a-f]+:\t([0-9a-f ]+?)\s*\t(\S+)/;
		push @code, $1 eq '0f 1f 44 00 00' ? 'nop5' : $2;
		last if $2 eq 'ret';
	}
	return sort @code;
}

my $source = <<'C';
#define barrier() asm volatile("" : : : "memory")
#define FUNCTIONS(way, marker)						\
int leaf_##way(int a, int b, const char *c, long d)			\
{									\
	marker(leaf, "%d %d %s %ld", a, b, c, d);			\
	return a + b;							\
}									\
									\
unsigned long loop_##way(unsigned long n, int b, const char *c, long d)	\
{									\
	unsigned long sum = 0;						\
									\
	for (unsigned long i = 0; i < n; i++) {				\
		sum += b ^ i;						\
		barrier();						\
		marker(loop, "%lu %lu %s %ld", i, sum, c, d);		\
	}								\
	return sum;							\
}
#define with_marker(name, args...)	trace_mark(test, name, args)
#define with_none(name, args...)	do { } while (0)
FUNCTIONS(marker, with_marker)
FUNCTIONS(none, with_none)
C
is(compile("@on", $source), '', 'functions with a marker and without');
for my $function (qw(leaf loop)) {
	my @with = code("${function}_marker");
	my @without = code("${function}_none");
	cmp_ok(scalar @without, '>', 1, "$function: code");
	is_deeply(\@with, [sort @without, 'nop5'], "$function: one NOP more, and nothing else");
}

done_testing();
