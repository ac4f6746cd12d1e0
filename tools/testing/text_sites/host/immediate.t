#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# Immediate values as the compiler makes them: what must compile, and what must not;
# that a condition that is off is one NOP, and a read one instruction.
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
put('linux/bits.h', <<'H');
#define BIT(n) (1u << (n))
#define GENMASK(h, l) ((BIT((h) + 1) - 1) & ~(BIT(l) - 1))
H
put('linux/build_bug.h', "#define BUILD_BUG_ON_MSG(c, msg) _Static_assert(!(c), msg)\n");
put('linux/compiler.h', <<'H');
#define __always_inline inline __attribute__((always_inline))
#define __aligned(x) __attribute__((aligned(x)))
#define unlikely(x) __builtin_expect(!!(x), 0)
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) do { *(volatile __typeof__(x) *)&(x) = (v); } while (0)
H
put('linux/export.h', "#define EXPORT_SYMBOL(x)\n#define EXPORT_SYMBOL_GPL(x)\n");
put('linux/log2.h', <<'H');
#define ilog2(n) ((n) == 8 ? 3 : (n) == 4 ? 2 : (n) == 2 ? 1 : 0)
#define is_power_of_2(n) ((n) && !((n) & ((n) - 1)))
H
put('linux/stringify.h', "#define __stringify_1(x...) #x\n#define __stringify(x...) __stringify_1(x)\n");
put('linux/types.h', <<'H');
#include <stdbool.h>
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
H
put('asm/nops.h', "#define BYTES_NOP5 0x0f,0x1f,0x44,0x00,0x00\n");

my @on = qw(-DCONFIG_IMMEDIATE_VALUES -DCONFIG_TEXT_SITES);
my $head = "#include <linux/immediate.h>\n";

# compile FLAGS, TEXT: what gcc says of it
sub compile
{
	my ($flags, $text) = @_;
	put('test.c', $head . $text);
	my $said = qx(LC_ALL=C gcc -std=gnu11 -O2 -Wall -Werror -fno-pic -mcmodel=kernel \\
		-mno-red-zone -fcf-protection=none -fno-asynchronous-unwind-tables \\
		-mpreferred-stack-boundary=3 -fno-stack-protector $flags \\
		-I'$dir' -I'$top/include' -I'$top/arch/x86/include' \\
		-c -o '$dir/test.o' '$dir/test.c' 2>&1);
	return $? ? $said || 'it fails' : '';
}

# of TYPE, INITIALLY, VALUE: all that can be done with one
sub of
{
	my ($type, $initially, $value) = @_;
	return "enum e { A, B }; struct s { char c[3]; }; struct s2 { long a, b; };
		DECLARE_IMV($type, x); DEFINE_IMV($type, x, $initially);
		static DEFINE_IMV($type, y, $initially);
		EXPORT_IMV_SYMBOL_GPL(x);
		__typeof__($type) f(void) { return imv_read(x); }
		bool g(void) { if (imv_cond(y)) return true; return false; }
		int h(void) { imv_assign(y, $value); return imv_set(x, $value) ?: imv_commit(); }
		void i(void) { imv_set_early(x, $value); }";
}

my @right = (
	'bool'			=> of('bool', 'true', 'false'),
	'char'			=> of('char', "'a'", "'b'"),
	'short'			=> of('short', '-1', '5'),
	'int'			=> of('int', '-1', '5'),
	'long'			=> of('long', '-1', '5'),
	'an enum'		=> of('enum e', 'A', 'B'),
	'a pointer'		=> of('const char *', '"text"', '(void *)0'),
	'a pointer to a function' => 'void a(void); void b(void); DEFINE_IMV(void (*)(void), x, a);
				void f(void) { imv_read(x)(); } int g(void) { return imv_set(x, b); }',
);

my @wrong = (
	'three bytes'		=> of('struct s', '{ "ab" }', '(struct s){ "b" }'),
	'sixteen bytes'		=> of('struct s2', '{ 1 }', '(struct s2){ 2 }'),
	'another type of pointer' => of('const char *', '"text"', '(const int *)0'),
	'no such name'		=> 'int f(void) { return imv_read(x); }',
	'a variable'		=> 'int x; int f(void) { return imv_read(x); }',
	'to be assigned to'	=> 'DEFINE_IMV(int, x, 1); void f(void) { imv_read(x) = 2; }',
);

for my $how (['on', "@on"], ['off', '']) {
	my ($name, $flags) = @$how;
	for (my $i = 0; $i < @right; $i += 2) {
		is(compile($flags, $right[$i + 1]), '', "$name: $right[$i]");
	}
	for (my $i = 0; $i < @wrong; $i += 2) {
		next if !$flags && $wrong[$i] =~ /bytes|assigned/;
		isnt(compile($flags, $wrong[$i + 1]), '', "$name: not $wrong[$i]");
	}
}

# code FUNCTION: its instructions up to the first return, as bytes and as text
sub code
{
	my ($function) = @_;
	my @code;
	for (qx(objdump -d -r --disassemble='$function' '$dir/test.o')) {
		next unless /^\s+[0-9a-f]+:\t([0-9a-f ]+?)\s*\t(.*?)\s*$/;
		push @code, "$1: $2";
		last if $2 =~ /^ret/;
	}
	return @code;
}

is(compile("@on", <<'C'), '', 'functions that read');
DECLARE_IMV(bool, x1); DECLARE_IMV(short, x2); DECLARE_IMV(int, x4); DECLARE_IMV(long, x8);
int read4(void) { return imv_read(x4); }
long read8(void) { return imv_read(x8); }
unsigned char read1(void) { return imv_read(x1); }
short read2(void) { return imv_read(x2); }
int loop(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += imv_read(x4);
	return sum;
}
int compute(int);
int cond(int a) { if (imv_cond(x4)) return compute(a * 3 + 5); return a; }
C
my %read = (
	read1 => qr/^0f b6 05( 00){4}:/, read2 => qr/^0f b7 05( 00){4}:/,
	read4 => qr/^40 8b 05( 00){4}:/, read8 => qr/^2e 2e 2e 48 8b 05 00/,
);
for my $function (sort keys %read) {
	my @code = code($function);
	like($code[0], $read{$function}, "$function: the form that is replaced");
	is(scalar @code, 2, "$function: one instruction and the return") or diag(join "\n", @code);
}
is(scalar(grep { /^40 8b / } code('loop')), 1, 'in a loop: read each time, by one instruction');
my @cond = code('cond');
is(scalar(grep { /^0f 1f 44 00 00:/ } @cond), 1, 'a condition: a NOP');
is(scalar(grep { /lea|call|imul|cmp|test/ } @cond), 0, 'a condition: nothing is computed');
is(scalar @cond, 3, 'a condition: that, the result and the return') or diag(join "\n", @cond);

# What is left for the linker: as many references as records, in the same order
my $sections = qx(objdump -h '$dir/test.o');
my %size = $sections =~ /^\s+\d+ (__\w+)\s+([0-9a-f]+)/mg;
is(hex($size{__load_sites} // 0), 8 * 5, 'a record for each read');
is(hex($size{__load_values} // 0), 4 * 5, '... and a reference');
is(hex($size{__inline_sites} // 0), 8, 'a record for each condition');
is(hex($size{__inline_values} // 0), 4, '... and a reference');

done_testing();
