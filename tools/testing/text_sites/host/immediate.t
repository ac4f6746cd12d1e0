#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# Immediate values as the compiler makes them: what must compile, and what must not;
# that a condition that is off is one NOP, and a read one instruction.
use strict;
use warnings;
use Test::More;
use File::Basename qw(dirname);
use lib dirname(__FILE__);
use Header;

# What else the header takes from the kernel's
put('linux/export.h', "#define EXPORT_SYMBOL(x)\n#define EXPORT_SYMBOL_GPL(x)\n");
put('linux/log2.h', <<'H');
#define ilog2(n) ((n) == 8 ? 3 : (n) == 4 ? 2 : (n) == 2 ? 1 : 0)
#define is_power_of_2(n) ((n) && !((n) & ((n) - 1)))
H

my @on = qw(-DCONFIG_IMMEDIATE_VALUES -DCONFIG_TEXT_SITES);
my $head = "#include <linux/immediate.h>\n";

# of TYPE, INITIALLY, VALUE: all that can be done with one
sub of
{
	my ($type, $initially, $value) = @_;
	return "enum e { A, B }; struct s { char c[3]; }; struct s1 { long a; };
		struct s2 { long a, b; };
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

# What is not wrong with them: a structure of eight bytes
push @right, 'eight bytes' => of('struct s1', '(struct s1){ 1 }', '(struct s1){ 2 }') =~
	s/if \(imv_cond\(y\)\)/if (0)/r;

my @wrong = (
	'three bytes'		=> of('struct s', '(struct s){ "ab" }', '(struct s){ "b" }'),
	'sixteen bytes'		=> of('struct s2', '(struct s2){ 1 }', '(struct s2){ 2 }'),
	'another type of pointer' => of('const char *', '"text"', '(const int *)0'),
	'another type, set'	=> 'DEFINE_IMV(const char *, x, "text");
				int f(void) { return imv_set(x, (const int *)0); }',
	'another type, committed later' => 'DEFINE_IMV(const char *, x, "text");
				void f(void) { imv_assign(x, (const int *)0); }',
	'no such name'		=> 'int f(void) { return imv_read(x); }',
	'a variable'		=> 'int x; int f(void) { return imv_read(x); }',
	'to be assigned to'	=> 'DEFINE_IMV(int, x, 1); void f(void) { imv_read(x) = 2; }',
);

for my $how (['on', "@on"], ['off', '']) {
	my ($name, $flags) = @$how;
	for (my $i = 0; $i < @right; $i += 2) {
		is(compile($flags, $head . $right[$i + 1]), '', "$name: $right[$i]");
	}
	for (my $i = 0; $i < @wrong; $i += 2) {
		next if !$flags && $wrong[$i] =~ /bytes|assigned/;
		my $why = $wrong[$i] =~ /bytes/ ? qr/has 1, 2, 4 or 8 bytes/ : qr/error/;
		like(compile($flags, $head . $wrong[$i + 1]), $why, "$name: not $wrong[$i]");
	}
}

my $readers = <<'C';
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
int twice(void) { return imv_read(x4) - imv_read(x4); }
int compute(int);
int cond(int a) { if (imv_cond(x4)) return compute(a * 3 + 5); return a; }
C
# condition FLAGS: the code of one
sub condition
{
	my ($flags) = @_;
	is(compile($flags, $head . $readers), '', "functions that read: $flags");
	return join ' ', code('cond');
}

my $profiling = '-DCONFIG_TRACE_BRANCH_PROFILING';
is(condition($profiling), condition(''), 'a variable as condition: the same with branches profiled');
is(condition("@on $profiling"), condition("@on"), 'a condition: the same with branches profiled');
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
is(scalar(grep { /^40 8b / } code('twice')), 2, 'read twice: that may be two values');
my @cond = code('cond');
is(scalar(grep { /^0f 1f 44 00 00:/ } @cond), 1, 'a condition: a NOP');
is(scalar(grep { /lea|call|imul|cmp|test/ } @cond), 0, 'a condition: nothing is computed');
is(scalar @cond, 3, 'a condition: that, the result and the return') or diag(join "\n", @cond);

# What is left for the linker: as many references as records, in the same order
my %size = sections();
is($size{__load_sites} // 0, 8 * 7, 'a record for each read');
is($size{__load_refs} // 0, 4 * 7, '... and a reference');
is($size{__value_sites} // 0, 8, 'a record for each condition');
is($size{__value_refs} // 0, 4, '... and a reference');

done_testing();
