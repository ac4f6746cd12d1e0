#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# Markers as the compiler makes them, in text that is patched and where they are variables:
# what must compile, and what must not; that one that is off is one NOP of five bytes, or a
# test and a jump, in a loop and in a leaf function; and what becomes of arguments.
use strict;
use warnings;
use Test::More;
use File::Basename qw(dirname);
use lib dirname(__FILE__);
use Header;

# What else the headers take from the kernel's
put('asm/asm.h', '');
put('linux/args.h', <<'H');
#define __COUNT_ARGS(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _n, X...) _n
#define COUNT_ARGS(X...) __COUNT_ARGS(, ##X, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define __CONCAT(a, b) a ## b
#define CONCATENATE(a, b) __CONCAT(a, b)
H
put('linux/list.h', <<'H');
#define ENOSYS 38
#define ENOENT 2
struct list_head { struct list_head *next, *prev; };
H

my @on = qw(-DCONFIG_MARKERS -DCONFIG_TEXT_SITES);
my @data = qw(-DCONFIG_MARKERS);
my @data32 = (@data, qw(-m32 -mcmodel=32));
my $head = "#include <linux/marker.h>\n";

# try SAYS, FLAGS, WHAT, HEAD, TAIL, PAIR...: what the compiler says of pairs of a name and C
sub try
{
	my ($says, $flags, $what, $head, $tail, @pairs) = @_;
	while (my ($name, $text) = splice @pairs, 0, 2) {
		like(compile($flags, $head . $text . $tail), $says, "$what $name");
	}
}

sub mark { "void f(int a, long b, const char *c) { trace_mark($_[0]); }" }

my @right = (
	'no argument'		=> mark('x, y, "text"'),
	'three of them'		=> mark('x, y, "%d %ld %s", a, b, c'),
	'constants'		=> mark('x, y, "%d %s %llx", 1, "text", 0x123456789abcdefLL'),
	'eight'			=> mark('x, y, "%d%d%d%d%d%d%d%d", a, a, a, a, a, a, a, a'),
	'eight that differ'	=> mark('x, y, "%d%d%d%d%d%ld%ld%s", a, a + 1, a * 3, a ^ 5, 2, b, -b, c'),
	'twice'			=> mark('x, y, "%d", a') . 'void g(int a) { trace_mark(x, y, "%d", a); }',
	'a name with digits'	=> mark('x2, 3y, "%d", a'),
);

my @wrong = (
	'an argument too few'	=> mark('x, y, "%d %ld", a'),
	'an argument too many'	=> mark('x, y, "%d", a, b'),
	'another type'		=> mark('x, y, "%d", c'),
	'no format'		=> mark('x, y'),
);
# Without markers, nothing is made of these.
my @wrong_if_on = (
	'a name with a slash'	=> mark('x/y, z, "%d", a'),
	'a name that is a string' => mark('"x", y, "%d", a'),
	'a format in a variable' => mark('x, y, c'),
);
my @too_many = (
	'nine arguments'	=> mark('x, y, "%d%d%d%d%d%d%d%d%d", a, a, a, a, a, a, a, a, a'),
);

# Probes with types
my $probe_head = "#include <linux/marker_probe.h>\n";
my $connect = "\nint f(void) { return marker_connect(\"x:y\", &p, 0); }";
my @right_probes = (
	'no argument'		=> 'MARKER_PROBE(p, "text") { }',
	'one'			=> 'MARKER_PROBE(p, "%d", int, a) { (void)(a + 1); }',
	'a string and a long'	=> 'MARKER_PROBE(p, "%s %ld", const char *, s, long, n) { (void)s[n]; }',
	'eight'			=> 'MARKER_PROBE(p, "%d%d%d%d%d%d%d%d", int, a, int, b, int, c, int, d,
					int, e, int, f, int, g, int, h) { (void)(a + h); }',
	'what is private'	=> 'MARKER_PROBE(p, "%d", int, a) { *(int *)private += a; }',
);
my @wrong_probes = (
	'an argument too few'	=> 'MARKER_PROBE(p, "%d %d", int, a) { }',
	'an argument too many'	=> 'MARKER_PROBE(p, "%d", int, a, int, b) { }',
	'another type'		=> 'MARKER_PROBE(p, "%d", const char *, a) { }',
	'another size'		=> 'MARKER_PROBE(p, "%d", long, a) { }',
	'a type without a name'	=> 'MARKER_PROBE(p, "%d", int) { }',
	'nine arguments'	=> 'MARKER_PROBE(p, "%d%d%d%d%d%d%d%d%d", int, a, int, b, int, c, int, d,
					int, e, int, f, int, g, int, h, int, i) { }',
	'a format in a variable' => 'static const char *s; MARKER_PROBE(p, s, int, a) { }',
);

# A probe in place
my $place_head = $probe_head . 'MARKER_PROBE(p, "%d %s", int, a, const char *, b) { *(int *)private += a + b[0]; }';
sub in_place { "\nvoid g(int a, long b, const char *c) { trace_mark_inline(p, x, y, $_[0]); }" }
my @right_places = (
	'the same types'	=> in_place('"%d %s", a, c'),
	'what they take'	=> in_place('"%d %s", (short)a, "text"'),
	'a variable named site'	=> 'void g(int site) { trace_mark_inline(p, x, y, "%d %s", site, ""); }',
	'two of a name'		=> in_place('"%d %s", a, c') . 'void h(void) { trace_mark(x, y, "%d %s", 1, ""); }',
);
my @wrong_places = (
	'an argument too few'	=> in_place('"%d", a'),
	'an argument too many'	=> in_place('"%d %s %ld", a, c, b'),
	'another type'		=> in_place('"%s %d", c, a'),
	'another format'	=> in_place('"%s %s", c, c'),
);

my ($silent, $error) = (qr/\A\z/, qr/error/);
for my $how (['on', "@on"], ['a variable', "@data"], ['a variable of 32 bits', "@data32"],
		['off', '']) {
	my ($name, $flags) = @$how;
	try($silent, $flags, "$name:", $head, '', @right);
	try($error, $flags, "$name: not", $head, '', @wrong);
	try($silent, $flags, "$name: a probe:", $probe_head, $connect, @right_probes);
	try($error, $flags, "$name: no probe:", $probe_head, $connect, @wrong_probes);
	try($silent, $flags, "$name: in place:", $place_head, $connect, @right_places);
	try($error, $flags, "$name: not in place:", $place_head, $connect, @wrong_places);
}
for my $flags ("@on", "@data") {
	try($error, $flags, 'not', $head, '', @wrong_if_on);
	try(qr/too many arguments for a marker/, $flags, 'not', $head, '', @too_many);
}

# names FUNCTION: the names of its instructions; which registers they use may differ. A
# NOP of five bytes is "nop5".
sub names
{
	return sort map { /^0f 1f 44 00 00:/ ? 'nop5' : /: (\S+)/ } code(@_);
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
for my $how (['', "@on"], [' with branches profiled', "@on -DCONFIG_TRACE_BRANCH_PROFILING"]) {
	my ($profiled, $flags) = @$how;
	is(compile($flags, $head . $source), '', "functions with a marker and without$profiled");
	for my $function (qw(leaf loop)) {
		my @with = names("${function}_marker");
		my @without = names("${function}_none");
		cmp_ok(scalar @without, '>', 1, "$function$profiled: code");
		is_deeply(\@with, [sort @without, 'nop5'],
			"$function$profiled: one NOP more, and nothing else");
	}
}

is(compile("@data", $head . $source), '', 'functions with a marker that is a variable');
my @tested = grep { /^(?:cmp|test|j|call)/ } names('leaf_marker');
is("@tested", 'jne test', 'leaf: a test and a jump, and nothing called');
my %sections = sections();
is($sections{__marker_refs}, 2 * 8, 'a pointer to each');
ok(!$sections{__marker_sites}, 'and no table of text');

# Each is extended to 64 bits as its type says, also where pointers have 32.
my @extended = (
	'a signed char'		=> ['(signed char)-1', '~0ull'],
	'an unsigned char'	=> ['(unsigned char)-1', '0xffull'],
	'a bool'		=> ['(_Bool)1', '1ull'],
	'an int'		=> ['-2', '~1ull'],
	'an unsigned int'	=> ['-2u', '0xfffffffeull'],
	'a long'		=> ['-2l', '~1ull'],
	'an unsigned long'	=> ['-2ul', '(u64)-2ul'],
	'a long long'		=> ['-2ll', '~1ull'],
	'an unsigned long long'	=> ['0x8000000000000001ull', '0x8000000000000001ull'],
	'an enum'		=> ['(enum e)NEGATIVE', '~4ull'],
	'a bit-field'		=> ['((struct b){ -1, 1 }).field', '~0ull'],
	'a pointer'		=> ['(char *)-1', '(u64)(unsigned long)-1'],
	'one to what is not known' => ['(struct unknown *)-1', '(u64)(unsigned long)-1'],
);
my $types = "${head}enum e { NEGATIVE = -5 }; struct b { int field : 3; int rest : 2; };\n";
for my $how (["@data", 64], ["@data32", 32]) {
	my ($flags, $bits) = @$how;
	for (my $i = 0; $i < @extended; $i += 2) {
		my ($name, $pair) = @extended[$i, $i + 1];
		my ($value, $is) = @$pair;
		is(compile($flags, "${types}int f(void) { return __MARKER_VALUE($value) == ($is) ? 77 : 0; }"),
			'', "$name, $bits bits");
		like((code('f'))[0], qr/\$0x4d,/, '  is extended as it should be');
	}
}

done_testing();
