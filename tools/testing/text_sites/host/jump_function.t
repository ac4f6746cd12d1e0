#!/usr/bin/perl
# Jump functions are checked by the compiler: what must compile, and what must not,
# both patched and as pointers.
use strict;
use warnings;
use Test::More;
use File::Basename qw(dirname);
use lib dirname(__FILE__);
use Header;

# What else the header takes from the kernel's
put("linux/$_.h", '') for qw(export linkage objtool);
put('asm/jump_function.h', "#define ARCH_DEFINE_DYNFUNC(name, func)\n");

my $head = <<'C';
#include <linux/jump_function.h>
int plain(int a, const char *b);
int other(int a, const char *b);
int wrong(int a, char *b);
long wrong_result(int a, const char *b);
int too_many(int a, const char *b, int c);
extern void *anything;
DECLARE_DYNFUNC(work, plain);
DECLARE_DYNFUNC(by_type, int (int a, const char *b));
C

# With what the kernel makes an error
my $errors = '-Werror=incompatible-pointer-types';

my @right = (
	'defined'		=> 'DEFINE_DYNFUNC(work, plain);',
	'called'		=> 'int f(void) { return dynfunc_work(1, "x"); }',
	'updated'		=> 'int f(void) { return dynfunc_update(work, other); }',
	'updated by address'	=> 'int f(void) { return dynfunc_update(work, &other); }',
	'updated by pointer'	=> 'int f(int (*p)(int, const char *)) { return dynfunc_update(work, p); }',
	'declared by type'	=> 'int f(void) { return dynfunc_update(by_type, plain); }',
	'a table of changes'	=> 'const struct dynfunc_change c[] = {
					DYNFUNC_CHANGE(work, other), DYNFUNC_CHANGE(by_type, other) };',
	'read back'		=> 'int f(void) { return dynfunc_target(work) == plain; }',
	'read back and called'	=> 'int f(void) { return dynfunc_target(work)(1, "x"); }',
);

my @wrong = (
	'another argument'	=> 'int f(void) { return dynfunc_update(work, wrong); }',
	'another result'	=> 'int f(void) { return dynfunc_update(work, wrong_result); }',
	'more arguments'	=> 'int f(void) { return dynfunc_update(work, too_many); }',
	'an untyped pointer'	=> 'int f(void) { return dynfunc_update(work, anything); }',
	'another in a table'	=> 'const struct dynfunc_change c[] = { DYNFUNC_CHANGE(work, wrong) };',
	'another default'	=> 'DEFINE_DYNFUNC(work, wrong);',
	'a call without one'	=> 'int f(void) { return dynfunc_work(1); }',
	'a call with one more'	=> 'int f(void) { return dynfunc_work(1, "x", 2); }',
	'a call with another'	=> 'int f(void) { return dynfunc_work("x", 1); }',
	'read back as another'	=> 'int (*f(void))(int, char *) { return dynfunc_target(work); }',
);

for my $how (['patched', '-DCONFIG_JUMP_FUNCTION'], ['pointers', '']) {
	my ($name, $defines) = @$how;
	for (my $i = 0; $i < @right; $i += 2) {
		is(compile("$errors $defines", $head . $right[$i + 1]), '', "$name: $right[$i]");
	}
	for (my $i = 0; $i < @wrong; $i += 2) {
		isnt(compile("$errors $defines", $head . $wrong[$i + 1]), '', "$name: not $wrong[$i]");
	}
}

done_testing();
