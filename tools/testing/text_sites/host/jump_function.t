#!/usr/bin/perl
# Jump functions are checked by the compiler: what must compile, and what must not,
# both patched and as pointers.
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

# What the header takes from the kernel's
put("linux/$_.h", '') for qw(export types linkage objtool);
put('linux/compiler.h', <<'H');
#define __same_type(a, b) __builtin_types_compatible_p(typeof(a), typeof(b))
#define __ADDRESSABLE(sym) static void *addressable_##sym __attribute__((used)) = (void *)&sym;
#define __read_mostly
#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
H
put('linux/rcupdate.h', <<'H');
void synchronize_rcu(void);
void synchronize_rcu_tasks(void);
H
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

# compile DEFINES, TEXT: what gcc says of it, with what the kernel makes an error
sub compile
{
	my ($defines, $text) = @_;
	put('test.c', $head . $text);
	my $said = qx(LC_ALL=C gcc -std=gnu11 -Wall -Werror -Werror=incompatible-pointer-types \\
		$defines -I'$dir' -I'$top/include' -fsyntax-only '$dir/test.c' 2>&1);
	return $? ? $said || 'it fails' : '';
}

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
		is(compile($defines, $right[$i + 1]), '', "$name: $right[$i]");
	}
	for (my $i = 0; $i < @wrong; $i += 2) {
		isnt(compile($defines, $wrong[$i + 1]), '', "$name: not $wrong[$i]");
	}
}

done_testing();
