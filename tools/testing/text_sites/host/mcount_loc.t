#!/usr/bin/env perl
# SPDX-License-Identifier: GPL-2.0
#
# Tests of scripts/mcount_loc.pl. Run with prove, from any directory; needs
# gcc and binutils, with -m32 for the 32-bit half. MCOUNT_LOC in the
# environment names another script to test.
#
# What the script says is checked against what objdump, readelf, the linker
# and, in the end, a running program make of it; nothing here reads an ELF
# file by the script's own means.
#
# reads: scripts/mcount_loc.pl
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use POSIX ();
use Test::More;
use lib dirname(__FILE__);

use Files;

my $script = abs_path($ENV{MCOUNT_LOC} ||
		      dirname(abs_path($0)) . '/../../../../scripts/mcount_loc.pl');
plan skip_all => 'no mcount_loc.pl' unless $script && -e $script;

$ENV{LC_ALL} = 'C';
my $dir = tempdir('mcount_loc.XXXXXX', TMPDIR => 1, CLEANUP => 1);
chdir($dir) or die "$dir: $!";
END { chdir('/') }
# When interrupted, too
$SIG{$_} = sub { exit(1) } for qw(HUP INT TERM);

# ------------------------------------------------------------------------
# Running things
# ------------------------------------------------------------------------

# Returns the exit status (or "signal N"), stdout and stderr
sub run
{
	my ($command) = @_;
	my $pid = fork() // die "fork: $!";

	if (!$pid) {
		# exec() starts a shell only if the command needs one.
		open(STDOUT, '>', '.stdout') && open(STDERR, '>', '.stderr') && exec($command);
		POSIX::_exit(127);
	}
	waitpid($pid, 0);
	my $status = $? & 127 ? 'signal ' . ($? & 127) : $? >> 8;
	return ($status, get('.stdout'), get('.stderr'));
}

# A tool that is not under test: it works, and has nothing to complain about
sub tool
{
	my ($command) = @_;
	my ($status, $out, $err) = run($command);

	die "$command: exit status $status\n$err" if $status;
	die "$command: $err" if $err =~ /\S/;
	return $out;
}

# Returns the files whose names contain that of the object, other than objects
sub left_over
{
	my ($object) = @_;

	return grep { !/\.o\z/ } glob("$object.* .$object.*");
}

# An endless loop ends as "signal 24"; a message from perl itself is a bug
sub mcount_loc
{
	my ($arguments) = @_;
	my ($status, $out, $err) =
		run("ulimit -t 20; exec $^X $script $arguments");

	fail("perl complains: $err") if $err =~ / at .* line \d/;
	return ($status, $out, $err);
}

# The script succeeds, and says nothing
sub quiet
{
	my ($name, $arguments) = @_;
	my ($status, $out, $err) = mcount_loc($arguments);

	is($status . $out . $err, 0, $name);
}

sub compile
{
	my ($object, $flags, $source) = @_;
	my $language = $source =~ /^\t*\.section/ ? 'assembler' : 'c';
	my $pg = $flags =~ /-mno-pg/ ? '' : '-pg -mfentry';

	$pg = '-pg -mno-fentry' if $flags =~ s/-mcount-is-mcount//;
	$flags =~ s/-mno-pg//;
	$pg = '' if $language eq 'assembler';
	put('source', $source);
	my $gcc = "gcc -O2 -fno-pie -fno-asynchronous-unwind-tables $pg $flags";
	if ($flags =~ /-fpie/) {
		# Position-independent code calls by way of the GOT, six bytes;
		# the kernel's, when it is, has direct calls
		tool("$gcc -x $language -S source -o source.s");
		$source = get('source.s');
		$source =~ s/call\s+\*__fentry__\@GOTPCREL\(%rip\)/call __fentry__/g;
		put('source', $source);
		$language = 'assembler';
	}
	tool("$gcc -x $language -c source -o $object");
	return $object;
}

# ------------------------------------------------------------------------
# Looking at objects, with the help of binutils
# ------------------------------------------------------------------------

# What readelf prints about the sections, symbols and relocations of an object. Cached by the
# object's bytes, as several functions look at the same one.
my %said;
sub elf
{
	my ($object) = @_;
	my $bytes = get($object);

	%said = () if keys(%said) > 8;
	return $said{$bytes} //= tool("readelf -SsrW $object");
}

sub sections
{
	my ($object) = @_;
	my @sections;

	for (split /\n/, elf($object)) {
		next unless /^\s*\[\s*(\d+)\]\s(.*)/;
		my ($index, $rest) = ($1, $2);
		my ($name, $type, $offset, $size, $flags, $link, $info) = $rest =~
			/^(\S*)\s+(\S+(?: SECTION INDICES)?)\s+[0-9a-f]{8,16} ([0-9a-f]{6,}) ([0-9a-f]{6,}) \S\S ([ A-Za-z]{3})\s+(\d+)\s+(\d+)/
			or next;
		$flags =~ s/ //g;
		$sections[$index] = { index => $index, name => $name,
				      type => $type, offset => hex($offset),
				      size => hex($size), flags => $flags,
				      link => $link, info => $info };
	}
	return @sections;
}

sub symbols
{
	my ($object) = @_;
	my @symbols;

	for (split /\n/, elf($object)) {
		next unless /^\s*(\d+): ([0-9a-f]+)\s+(\S+) (\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s?(\S*)/;
		$symbols[$1] = { value => hex($2), size => $3, type => $4,
				 bind => $5, section => $7, name => $8 };
	}
	return @symbols;
}

# Each site as "section+offset", in the order of the table
sub table
{
	my ($object) = @_;
	my @sections = sections($object);
	my @symbols = symbols($object);
	my $bytes = get($object);
	my (@sites, $table);

	for (split /\n/, elf($object)) {
		if (/^Relocation section '([^']*)' at offset 0x([0-9a-f]+)/) {
			my ($relocs) = grep { $_ && $_->{name} eq $1 &&
					      $_->{offset} == hex($2) } @sections;
			$table = $sections[$relocs->{info}];
			next;
		}
		next unless $table && $table->{name} eq '__mcount_loc';
		next unless /^([0-9a-f]{8,}) +([0-9a-f]{8,}) (R_\S+_PC32) +[0-9a-f]+ +\S+(?: ([-+]) ([0-9a-f]+))?/;
		my ($offset, $info, $addend) = (hex($1), $2, hex($5 || 0));
		my $sym = length($info) == 16 ? hex(substr($info, 0, 8)) :
						hex($info) >> 8;
		my ($inplace, $state) = unpack('l< V',
			substr($bytes, $table->{offset} + $offset, 8));

		return "odd offset $offset" if $offset % 8;
		return "state $state" if $state;
		$addend = -$addend if ($4 || '') eq '-';
		$addend = $inplace if length($info) == 8;
		my $symbol = $symbols[$sym];
		return "by weak symbol $symbol->{name}"
			if $symbol->{bind} eq 'WEAK';
		my $section = $sections[$symbol->{section}]{name};
		push @sites, sprintf('%s+%x', $section, $symbol->{value} + $addend);
	}
	return @sites;
}

# Where objdump finds a call to one of these, in what is loaded
sub calls
{
	my ($object) = @_;
	my %code = map { $_->{name} => 1 }
		   grep { $_ && $_->{flags} =~ /AX/ } sections($object);
	my ($section, @sites);

	for (split /\n/, tool("objdump -drw $object")) {
		$section = $1 if /^Disassembly of section (.*):$/;
		push @sites, "$section+$1"
			if $section && $code{$section} &&
			   /^\s*([0-9a-f]+):\te8 .*\tcall .*R_\S+_PL?[CT]32\s+(__fentry__|_?mcount)\b/;
	}
	return @sites;
}

sub sections_named
{
	my ($object, $name) = @_;

	return grep { $_ && $_->{name} eq $name } sections($object);
}

# Whatever is not the table: the relocations, by symbol name, and the symbols
sub rest
{
	my ($object) = @_;
	my ($skip, @rest) = (0);

	for (split /\n/, elf($object)) {
		$skip = /__mcount_loc/ if /^Relocation section '([^']*)'/;
		push @rest, "$1 $2 $3"
			if !$skip && /^([0-9a-f]{8,}) +[0-9a-f]+ (R_\S+)\s+(.*)/;
	}
	for (symbols($object)) {
		push @rest, join(' ', @$_{qw(value size type bind section name)})
			if $_ && $_->{type} ne 'SECTION';
	}
	return sort @rest;
}

# Tools read the object without a complaint, and keep the table
sub readable
{
	my ($object) = @_;
	my @table = table($object);

	my $dump = tool("readelf -aW $object") . tool("objdump -xr $object");
	return "warning: $1" if $dump =~ /(.*(?:warning|error|corrupt).*)/i;
	for my $how ('strip -g', 'objcopy') {
		tool("$how $object -o copy.o") if $how eq 'strip -g';
		tool("$how $object copy.o") if $how eq 'objcopy';
		return "$how changes the table"
			if "@table" ne join(' ', table('copy.o'));
	}
	my @symbols = symbols($object);
	my ($symtab) = grep { $_ && $_->{type} eq 'SYMTAB' } sections($object);
	for my $i (0 .. $#symbols) {
		return "symbol $i is on the wrong side of sh_info"
			if ($symbols[$i]{bind} eq 'LOCAL') != ($i < $symtab->{info});
	}
	return 'fine';
}

# The object is processed, and all is well
sub good
{
	my ($name, $object) = @_;

	subtest $name => sub {
		my @calls = calls($object);
		my @rest = rest($object);

		chmod(0640, $object);
		my ($status, $out, $err) = mcount_loc($object);
		is($status, 0, 'exit status');
		is($out . $err, '', 'says nothing');
		ok(@calls > 0, 'there are sites');
		is_deeply([ table($object) ], \@calls, 'a table of all sites');
		is_deeply([ rest($object) ], \@rest, 'other symbols and relocations');
		is((stat($object))[2] & 07777, 0640, 'mode is kept');
		is(readable($object), 'fine', 'other tools agree');

		my ($table) = sections_named($object, '__mcount_loc');
		is($table->{flags}, 'WA', 'flags') if $table;

		my $bytes = get($object);
		utime(1e9, 1e9, $object);
		quiet('second run', $object);
		ok(get($object) eq $bytes, 'second run: same bytes');
		is((stat($object))[9], 1e9, 'second run: same time');
		is_deeply([ left_over($object) ], [], 'no temporary file');
	};
}

sub untouched
{
	my ($name, $object) = @_;
	my $bytes = get($object);

	utime(1e9, 1e9, $object);
	quiet("$name: nothing to do", $object);
	ok(get($object) eq $bytes && (stat($object))[9] == 1e9,
	   "$name: same bytes, same time");
}

# ------------------------------------------------------------------------
# Objects
# ------------------------------------------------------------------------

my $functions = <<'END';
static __attribute__((noinline, noclone)) int local(int x) { return x * 3; }
int global(int x) { return local(x) + 1; }
__attribute__((weak)) int weak(int x) { return local(x) + 2; }
__attribute__((section(".sched.text"))) int sched(int x) { return local(x) + 3; }
__attribute__((section(".init.text"))) int init(int x) { return local(x) + 4; }
__attribute__((section("odd name%1"))) int odd(int x) { return local(x) + 5; }
static __attribute__((section(".noinstr.text"), noinline, noclone))
int alone(int x) { return x * 7; }
__attribute__((no_instrument_function)) int notrace(int x) { return alone(x); }
int (*const pointers[])(int) = { global, weak, sched, init, odd, local };
END
$functions =~ s/odd name%1/.1odd-\$name/;

my $weak_only = <<'END';
__attribute__((weak)) int weak1(int x) { return x + 1; }
__attribute__((weak)) int weak2(int x) { return weak1(x) + 2; }
__attribute__((weak)) int weak3(int x) { return weak2(x) + 3; }
extern int elsewhere(int x);
int (*pointers[])(int) = { weak1, weak2, weak3, elsewhere };
END

my $global_only = <<'END';
int global1(int x) { return x + 1; }
int global2(int x) { return global1(x) + 2; }
END

# Two section groups, of the same name in every object, and something outside
my $comdat = <<'END';
	.section .text.one,"axG",@progbits,one,comdat
	.weak one
one:	call __fentry__
	ret
	.size one, . - one
	.section .text.two,"axG",@progbits,two,comdat
	.weak two
	nop
two:	call __fentry__
	nop
	ret
	call __fentry__
	.size two, . - two
	.section .text.three,"ax",@progbits
	.globl user_NAME
user_NAME:
	call __fentry__
	call one
	call two
	ret
	.size user_NAME, . - user_NAME
	.section .note.GNU-stack,"",@progbits
END

# A linker script for these
my $whole_ld = <<'END';
SECTIONS {
	. = 0x100000;
	.text : { *(.text*) }
	. = ALIGN(0x1000);
	.data : {
		__start_mcount_loc = .;
		KEEP(*(__mcount_loc))
		__stop_mcount_loc = .;
	}
}
END

my $no_symbol = <<'END';
	.section .text.a,"ax",@progbits
	call __fentry__
	.section .text.b,"ax",@progbits
	ret
	call __fentry__
	.section .text.c,"ax",@progbits
	call __fentry__
	call __fentry__
	.section .note.GNU-stack,"",@progbits
END

# Of these, only the second and third one are calls in code
my $not_a_site = <<'END';
	.section .text,"ax",@progbits
f:	jmp __fentry__
	call __fentry__
	call mcount
	.byte 0x0f
	.long __fentry__ - . - 4
	.long __fentry__
	call __fentry__2
	call *pointer
	call local
local:	ret
	.section .data.calls,"aw",@progbits
	.byte 0xe8
	.long __fentry__ - . - 4
pointer:
	.long __fentry__
	.section .comment.calls,"x",@progbits
	.byte 0xe8
	.long __fentry__ - . - 4
	.section .note.GNU-stack,"",@progbits
END

sub has_section_symbol
{
	my ($object, $name) = @_;
	my @sections = sections($object);

	return grep { $_->{type} eq 'SECTION' &&
		      $sections[$_->{section}]{name} eq $name } symbols($object);
}

sub test_objects
{
	my ($m) = @_;

	good("$m: functions", compile('f.o', $m, $functions));
	good("$m: mcount", compile('f.o', "$m -mcount-is-mcount", $functions));
	good("$m: debug information", compile('f.o', "$m -g", $functions));
	my ($relocs) = tool('readelf -rW f.o') =~ /__mcount_loc'.*\n.*\n((?:.+\n)+)/;
	is(() = $relocs =~ /^[0-9a-f]+ +[0-9a-f]+ R_\S+_PC32 +0+ +\.\S+(?: \+ .*)?$/mg,
	   scalar(table('f.o')), "$m: section symbols are made use of");
	good("$m: -ffunction-sections",
	     compile('f.o', "$m -ffunction-sections -g", $functions));
	good("$m: unwind tables",
	     compile('f.o', "$m -fasynchronous-unwind-tables", $weak_only));

	compile('w.o', $m, $weak_only);
	ok(!has_section_symbol('w.o', '.text'), "$m: weak only, no section symbol");
	good("$m: weak only", 'w.o');
	good("$m: weak only, debug information",
	     compile('w.o', "$m -g", $weak_only));
	compile('w.o', "$m -ffunction-sections", $weak_only);
	ok(!has_section_symbol('w.o', '.text.weak2'),
	   "$m: weak only, no section symbol in a function section");
	good("$m: weak only, -ffunction-sections", 'w.o');
	compile('w.o', $m, $global_only);
	ok(!has_section_symbol('w.o', '.text'), "$m: global only, no section symbol");
	good("$m: global only", 'w.o');
	compile('w.o', $m, $no_symbol);
	is(scalar(grep { $_ && $_->{bind} ne 'LOCAL' } symbols('w.o')), 1,
	   "$m: three sections, one symbol");
	good("$m: no symbol", 'w.o');

	compile('n.o', $m, $not_a_site);
	is_deeply([ calls('n.o') ], [ '.text+5', '.text+a' ],
		  "$m: two sites among others");
	good("$m: not a site", 'n.o');

	# Without these two it does nothing at all
	(my $no_calls = $not_a_site) =~ s/^\tcall (__fentry__|mcount)$//mg;
	untouched("$m: no calls", compile('n.o', $m, $no_calls));
	untouched("$m: no -pg", compile('n.o', "$m -mno-pg", $functions));
	untouched("$m: notrace", compile('n.o', $m,
		'__attribute__((no_instrument_function)) int f(int x) { return x; }'));
	untouched("$m: nothing", compile('n.o', $m, 'extern int f(int x);'));
	compile('n.o', $m, $functions);
	quiet("$m: a table", 'n.o');
	untouched("$m: has a table", 'n.o');
	compile('n.o', "$m -mrecord-mcount", $functions);
	bad("$m: a table of addresses", 'n.o', 'has a table of addresses');
	put('source', $functions);
	my $fentry = $m eq '-m32' ? '-mno-fentry' : '-mfentry';
	tool("gcc -O2 -fPIC $m -pg $fentry -x c -c source -o n.o");
	bad("$m: -fPIC", 'n.o', 'calls in section .* go through the global offset table');
}

sub test_groups
{
	my ($m) = @_;
	my $emulation = $m eq '-m32' ? '-m elf_i386' : '';

	for my $name ('a', 'b') {
		(my $source = $comdat) =~ s/NAME/$name/g;
		compile("$name.o", $m, $source);
	}
	my $groups = sub {
		my $groups = tool("readelf -gW $_[0]");

		return join(' ', sort($groups =~
				 /group section \[ *\d+\] `\.group' \[(\w+)\]/g));
	};
	is($groups->('a.o'), 'one two', "$m: groups");
	my @rest = rest('a.o');
	my @calls = sort(calls('a.o'));
	quiet("$m: groups: two objects at a time", 'a.o b.o');
	is_deeply([ sort(table('a.o')) ], \@calls, "$m: groups: sites");
	is_deeply([ rest('a.o') ], \@rest,
		  "$m: groups: other symbols and relocations");
	is($groups->('a.o'), 'one two', "$m: groups: signatures are kept");
	is(readable('a.o'), 'fine', "$m: groups: other tools agree");
	is(scalar(grep { $_->{flags} =~ /G/ } sections_named('a.o', '__mcount_loc')), 2,
	   "$m: groups: a table in each");
	untouched("$m: groups: again", 'a.o');

	# The linker throws one of each pair away, and the table with it
	# (in 32 bits with references that wrap, as half the addresses are away)
	my $ld = $whole_ld;
	$ld =~ s/0x100000/0xc0100000/, $ld =~ s/ALIGN\(0x1000\)/0x8000/
		if $m eq '-m32';
	put('script.ld', $ld);
	compile('fentry.o', $m, "\t.section .text\n\t.globl __fentry__\n__fentry__:\tret\n" .
				"\t.section .note.GNU-stack,\"\",\@progbits\n");
	tool("ld $emulation -e one -T script.ld a.o b.o fentry.o -o groups");
	my @linked = sort(map { sprintf('%0*x', $m eq '-m32' ? 8 : 16, $_) }
			      linked_calls('groups'));
	my $dump = (mcount_loc('--dump groups'))[1];
	is_deeply([ sort(split /\n/, $dump) ], \@linked, "$m: groups: linked");
	is((mcount_loc('--sort groups'))[0], 0, "$m: groups: sort");
	$dump = (mcount_loc('--dump groups'))[1];
	is_deeply([ split(/\n/, $dump) ], \@linked, "$m: groups: sorted");
}

# The GNU assembler makes a table of extended section indices as soon as there
# are that many sections, others only when a symbol needs it
sub hide_extended_indices
{
	my ($object) = @_;
	my ($section) = sections_named($object, '.symtab_shndx');
	my $bytes = get($object);
	my ($shoff, $size) = ord(substr($bytes, 4)) == 1 ?
		(unpack('V', substr($bytes, 32)), 40) :
		(unpack('Q<', substr($bytes, 40)), 64);

	substr($bytes, $shoff + $size * $section->{index} + 4, 4, pack('V', 1));
	put($object, $bytes);
}

sub test_sections
{
	my ($m) = @_;
	my $source = sub {
		my ($fill, $labels) = @_;
		my ($local, $weak) = $labels ?
			('local:', ".weak weak\nweak:") : ('', '');

		return <<"END";
	.section .text,"ax",\@progbits
	.globl first
first:	call __fentry__
	ret
	.altmacro
	.macro fill n
	.section .fill.&n,"a",\@progbits
	.byte 0
	.endm
	.set n, 0
	.rept $fill
	.set n, n + 1
	fill %n
	.endr
	.section .text.local,"ax",\@progbits
$local	call __fentry__
	ret
	.section .text.weak,"ax",\@progbits
	$weak
	nop
	call __fentry__
	ret
	.section .text.none,"ax",\@progbits
	nop
	nop
	call __fentry__
	.section .data.p,"aw",\@progbits
	.long first
	.section .note.GNU-stack,"",\@progbits
END
	};
	my $count = sub {
		my ($n) = tool("readelf -hW $_[0]") =~
			/Number of section headers: +(?:0 \()?(\d+)/;
		return $n;
	};

	# Just below what an ELF header can count, just reaching it by what is
	# added, and beyond; there with and without a symbol that the table of
	# extended section indices, .symtab_shndx, is needed for
	my $other = $count->(compile('s.o', $m, $source->(0, 1)));
	for ([ 0xfefd, 1 ], [ 0xfefe, 1 ], [ 0xff08, 1 ], [ 0x10008, 0 ]) {
		my ($want, $labels) = @$_;
		next if $m eq '-m32' && $want != 0xff08;

		my $what = "$m: $want sections" . ($labels ? '' : ', no symbols');
		compile('s.o', $m, $source->($want - $other, $labels));
		my $got = $count->('s.o');
		is($got, $want + ($want >= 0xff00), $what);
		hide_extended_indices('s.o') unless $labels;
		my $expect = '.text+0 .text.local+0 .text.weak+1 .text.none+2';
		my @rest = rest('s.o');
		quiet("$what: exit status", 's.o');
		is(join(' ', table('s.o')), $expect, "$what: sites");
		is_deeply([ rest('s.o') ], \@rest,
			  "$what: other symbols and relocations");
		is($count->('s.o'), $got + 2 + !$labels, "$what: a few more");
		# Too many for the ELF header to hold, from 0xff00 on
		is(tool('readelf -hW s.o') =~ /section headers: +0 \(/ ? 1 : 0,
		   $want >= 0xfefe ? 1 : 0, "$what: numbering");
		untouched("$what: again", 's.o');
	}
}

sub test_partial_link
{
	my ($m) = @_;
	my $emulation = $m eq '-m32' ? '-m elf_i386' : '';

	compile('a.o', $m, $functions);
	(my $source = $weak_only) =~ s/pointers/more_pointers/;
	compile('b.o', $m, $source);
	mcount_loc('a.o b.o');
	tool("ld $emulation -r a.o b.o -o ab.o");
	is_deeply([ sort(table('ab.o')) ], [ sort(calls('ab.o')) ],
		  "$m: ld -r keeps the table");
	is(readable('ab.o'), 'fine', "$m: ld -r: other tools agree");
	untouched("$m: ld -r", 'ab.o');
	SKIP: {
		my @lld = grep { (run("$_ --version"))[0] == 0 }
			map { "ld.lld$_" } '', map { "-$_" } 13 .. 30;
		skip("no ld.lld", 1) unless @lld;
		for my $lld (@lld) {
			tool("$lld $emulation -r a.o b.o -o ab.o");
			is_deeply([ sort(table('ab.o')) ], [ sort(calls('ab.o')) ],
				  "$m: $lld -r keeps the table");
		}
	}
}

# Code of a section that the linker's script does not know is behind the kernel's text. The kernel
# would refuse a table with such a site.
sub test_orphans
{
	my ($m) = @_;
	my $emulation = $m eq '-m32' ? '-m elf_i386' : '';
	my $ld = $whole_ld =~ s/\.text : .*/_stext = .; .text : { *(.text) } _etext = .; .rodata : { LONG(0) }
		__init_begin = .; .init.text : { *(.init.text) } __init_end = .;/r;

	$ld =~ s/0x100000/0xc0100000/ if $m eq '-m32';
	put('script.ld', $ld);
	compile('orphans.o', $m, join('', map { <<"END" } '.text', '.init.text', '.text.a', '.text.b'));
	.section $_,"ax",\@progbits
	.globl f$_
	.type f$_, \@function
f$_:	call __fentry__
	ret
	.size f$_, . - f$_
END
	compile('fentry.o', $m, "\t.section .text\n\t.globl __fentry__\n__fentry__:\tret\n");
	is((mcount_loc('orphans.o'))[0], 0, "$m: orphans: object");
	tool("ld $emulation -z noexecstack -e f.text -T script.ld orphans.o fentry.o -o orphans");
	my @all = split(/\n/, (mcount_loc('--dump orphans'))[1]);
	is(scalar @all, 4, "$m: orphans: linked");
	my ($status, $out, $err) = mcount_loc('--sort orphans');
	is($status . $out, 0, "$m: orphans: sort");
	is($err, join('', map { "mcount_loc: orphans: warning: 1 functions in .text.$_ cannot be " .
				"traced, as the kernel's text ends before that section\n" } 'a', 'b'),
	   "$m: orphans: message");
	is((mcount_loc('--dump orphans'))[1], "$all[0]\n$all[1]\n", "$m: orphans: left out");
}

# Compilers that use one string table for both purposes
sub test_clang
{
	my ($m) = @_;

	SKIP: {
		skip("no clang $m", 1)
			unless (run("clang $m --version"))[0] == 0;
		put('source', $weak_only);
		skip("no clang $m", 1)
			if (run("clang $m -O2 -fno-pie -pg -mfentry " .
				'-fno-asynchronous-unwind-tables -x c ' .
				'-c source -o c.o'))[0];
		good("$m: clang", 'c.o');
	}
}

# ------------------------------------------------------------------------
# Bad input
# ------------------------------------------------------------------------

# Says what is wrong, in one line, and keeps its hands off
sub bad
{
	my ($name, $object, $message, $options) = @_;
	my $before = -f $object ? get($object) : '';

	utime(1e9, 1e9, $object);
	my ($status, $out, $err) = mcount_loc(($options || '') . " $object");
	is($status, 1, "bad: $name: exit status");
	like($err, qr/\Amcount_loc: \Q$object\E: $message.*\n\z/,
	     "bad: $name: message");
	return unless -f $object;
	ok(get($object) eq $before && (stat($object))[9] == 1e9,
	   "bad: $name: untouched");
	is_deeply([ left_over($object) ], [], "bad: $name: no temporary file");
}

sub test_bad_input
{
	my $object = get(compile('good.o', '-m64', $functions));
	my $weak = get(compile('weak.o', '-m64', $weak_only));
	my ($shoff) = unpack('x40 Q<', $object);
	my $patch = sub {
		my ($bytes, $at, $template, @values) = @_;
		my $new = pack($template, @values);

		substr($bytes, $at, length($new), $new);
		put('bad.o', $bytes);
	};
	# Offset of a field in the header of the section of a given name
	my $field = sub {
		my ($name, $at) = @_;
		my ($section) = sections_named('good.o', $name);

		return $shoff + 64 * $section->{index} + $at;
	};
	my ($text, $rela, $symtab) =
		map { sections_named('good.o', $_) } '.text', '.rela.text', '.symtab';
	my ($fentry) = grep { (symbols('good.o'))[$_]{name} eq '__fentry__' }
			    0 .. scalar(symbols('good.o')) - 1;

	bad('missing', 'missing.o', 'No such file');
	mkdir('dir.o');
	bad('directory', 'dir.o', 'not a regular file');
	tool('mkfifo fifo.o');
	bad('fifo', 'fifo.o', 'not a regular file');
	put('bad.o', '');
	bad('empty', 'bad.o', 'not an ELF file');
	put('bad.o', "int main;\n" x 10);
	bad('text', 'bad.o', 'not an ELF file');
	for (
		[ 'class', 'unknown ELF class 3', 4, 'C', 3 ],
		[ 'other class', 'wrong machine', 4, 'C', 1 ],
		[ 'endianness', 'not little-endian', 5, 'C', 2 ],
		[ 'type', 'wrong ELF type 2', 16, 'v', 2 ],
		[ 'machine', 'wrong machine 183', 18, 'v', 183 ],
		[ 'no sections', 'no section header table', 40, 'Q<', 0 ],
		[ 'headers beyond the end', 'section header table', 40, 'Q<', ~0 ],
		[ 'e_shentsize', 'section headers have 0 bytes, not 64', 58, 'v', 0 ],
		[ 'e_shnum', 'section header table', 60, 'v', 60000 ],
		[ 'no sections at all', 'section \[\d+\] is not a string table', 60, 'v', 0 ],
		[ 'e_shstrndx', 'section \[\d+\] is not a string table', 62, 'v', 60000 ],
		[ 'extended e_shstrndx', 'section \[\d+\] is not a string table', 62, 'v', 0xffff ],
		[ 'sh_name', 'the name of a section is out of range',
		  $field->('.text', 0), 'V', 1 << 30 ],
		[ 'sh_offset', 'section \[\d+\] lies beyond',
		  $field->('.text', 24), 'Q<', 1 << 40 ],
		[ 'sh_size', 'section \[\d+\] lies beyond', $field->('.text', 32), 'Q<', ~0 ],
		[ 'sh_entsize', 'section \[\d+\] has entries of 0 bytes',
		  $field->('.rela.text', 56), 'Q<', 0 ],
		[ 'half an entry', 'section \[\d+\] ends inside an entry',
		  $field->('.rela.text', 32), 'Q<', 25 ],
		[ 'relocated section', 'the target of section \[\d+\] is out of range',
		  $field->('.rela.text', 44), 'V', 1 << 20 ],
		[ 'relocations without symbols', 'section .* symbol table',
		  $field->('.rela.text', 40), 'V', 1 ],
		[ 'strings', 'section \[1\] is not a string table',
		  $field->('.symtab', 40), 'V', 1 ],
		[ 'strings out of range', 'section .* string table',
		  $field->('.symtab', 40), 'V', 1 << 20 ],
		[ 'local symbols', 'symbol table \[\d+\] has sh_info \d+, not between',
		  $field->('.symtab', 44), 'V', 1 << 20 ],
		[ 'no strings', 'string table \[\d+\]', $field->('.strtab', 32), 'Q<', 0 ],
		[ 'st_name', 'the name of a symbol is out of range',
		  $symtab->{offset} + 24, 'V', 1 << 30 ],
		[ 'st_shndx', 'the section of a symbol is out of range',
		  $symtab->{offset} + 24 + 6, 'v', 0xff ],
		[ 'no extended indices', 'no table of extended section',
		  $symtab->{offset} + 24 + 6, 'v', 0xffff ],
		[ 'symbol of a relocation',
		  'the symbol of a relocation in section \[\d+\] is out of range',
		  $rela->{offset} + 12, 'V', 1 << 20 ],
		[ 'r_offset', 'a call in section \[\d+\] extends beyond the section',
		  $rela->{offset}, 'Q<', 1 << 40 ],
		[ 'call at the end', 'a call in section \[\d+\]',
		  $rela->{offset}, 'Q< V V', $text->{size} - 2, 4, $fentry ],
	) {
		my ($name, $message, @damage) = @$_;

		$patch->($object, @damage);
		bad($name, 'bad.o', $message);
	}

	# Sections without contents have no calls: section 0, and unused sections
	# (SHT_NULL)
	my ($text_header, $rela_header) = ($field->('.text', 0), $field->('.rela.text', 0));
	for ([ 'section 0', $shoff, $rela_header + 44, pack('V', 0) ],
	     [ 'a section not in use', $text_header, $text_header + 4, pack('V', 0) ]) {
		my ($what, $header, $at, $new) = @$_;
		my $bytes = $object;

		substr($bytes, $at, length($new), $new);
		$patch->($bytes, $header + 8, 'Q<4', 6, 0, 1 << 40, 1 << 20);
		quiet("bad: calls in $what", 'bad.o');
	}
	$patch->($object, $shoff + 4, 'V Q<4', 1, 6, 0, 1 << 40, 1 << 20);
	bad('section 0', 'bad.o', 'section \[0\] lies beyond');

	my $groups = get(compile('groups.o', '-m64', $comdat));
	my ($group) = sections_named('groups.o', '.group');
	$patch->($groups, $group->{offset} + 4, 'V', 60);
	bad('member of a group', 'bad.o', 'a member of group \[\d+\] is out of range');

	# Half way through, another relocation turns out to be wrong
	($rela) = map { sections_named('weak.o', $_) } '.rela.data', '.rela.data.rel';
	$patch->($weak, $rela->{offset} + 12, 'V', 1 << 20);
	bad('relocation of data', 'bad.o',
	    'the symbol of a relocation in section \[\d+\] is out of range');

	my $wrong = 0;
	for my $length (map { $_ * 61 } 0 .. (length($object) - 1) / 61) {
		put('bad.o', substr($object, 0, $length));
		my ($status, $out, $err) = mcount_loc('bad.o');
		$wrong++ unless $status eq '1' && -s 'bad.o' == $length &&
				$err =~ /\Amcount_loc: bad\.o: .*\n\z/;
	}
	is($wrong, 0, 'bad: truncated anywhere');

	put('unreadable.o', $object);
	chmod(0, 'unreadable.o');
	bad('not readable', 'unreadable.o', 'not readable');
	chmod(0644, 'unreadable.o');
	ok(get('unreadable.o') eq $object, 'bad: untouched');

	put('full.o', $object);
	my ($status, $out, $err) = run("ulimit -f 2; $^X $script full.o");
	is($status, 1, 'bad: no room: exit status');
	like($err, qr/\Amcount_loc: full\.o: cannot write .*\n\z/, 'bad: no room: message');
	ok(get('full.o') eq $object, 'bad: no room: untouched');
	is_deeply([ left_over('full.o') ], [], 'bad: no room: no temporary file');

	# One that is bad does not keep the others from being done
	put('bad.o', '');
	put('fine.o', $object);
	($status, $out, $err) = mcount_loc('bad.o fine.o');
	is($status, 1, 'bad: one of two: exit status');
	ok(sections_named('fine.o', '__mcount_loc') == 1, 'bad: one of two: other is done');

	for my $arguments ('', '--sort', '--dump', '--nonsense good.o',
			   '--sort --dump good.o', '--sort a b',
			   '--verbose good.o') {
		($status, $out, $err) = mcount_loc($arguments);
		is($status, 2, "usage: '$arguments': exit status");
		like($err, qr/\Ausage: /, "usage: '$arguments': message");
	}
}

# The file is replaced, not written to: whoever has the old one keeps it
sub test_replace
{
	my $object = get(compile('r.o', '-m64', $functions));

	link('r.o', 'hardlink.o') or die;
	mcount_loc('r.o');
	ok(get('r.o') ne $object, 'replace: done');
	ok(get('hardlink.o') eq $object, 'replace: other link is untouched');

	# ccache makes such objects, with hard_link=true.
	put('readonly.o', $object);
	chmod(0444, 'readonly.o');
	quiet('replace: read-only', 'readonly.o');
	ok(get('readonly.o') eq get('r.o'), 'replace: read-only: done');
	is((stat('readonly.o'))[2] & 07777, 0444, 'replace: read-only: it is so still');

	# The script keeps symbolic links, and replaces the file they lead to
	mkdir('sub') && mkdir('other') or die;
	put('sub/r.o', $object);
	symlink('../sub/r.o', 'other/relative.o') or die;
	symlink("$dir/other/relative.o", 'symlink.o') or die;
	for my $path ('other/relative.o', 'symlink.o') {
		put('sub/r.o', $object);
		quiet("replace: $path: exit status", $path);
		ok(-l 'symlink.o' && -l 'other/relative.o', "replace: $path: links are kept");
		ok(get('sub/r.o') eq get('r.o'), "replace: $path: object is done");
	}
	symlink('loop.o', 'loop.o') or die;
	bad('link to itself', 'loop.o', 'Too many levels of symbolic links');
}

# Runs the script, and sends it the signal $SIGNAL just before it replaces the
# object. Until then the script has the same process id in every run, and so
# finds what an earlier run left. No process can have that id.
my $interrupt = <<'END';
my $pid;
BEGIN {
	$pid = $$;
	*CORE::GLOBAL::rename = sub {
		$$ = $pid;
		kill($ENV{SIGNAL}, $pid) if $ENV{SIGNAL};
		return CORE::rename($_[0], $_[1]);
	};
}
$$ = 9999999;
do(shift(@ARGV));
die($@);
END

sub test_interrupt
{
	my $object = get(compile('i.o', '-m64', $functions));
	my $interrupted = sub {
		local $ENV{SIGNAL} = $_[0];

		return run("exec $^X interrupt.pl $script tree/i.o");
	};
	my $files = sub { split(/\n/, tool("find tree -type f $_[0]")) };

	put('interrupt.pl', $interrupt);
	mkdir('tree') or die;
	put('tree/i.o', $object);
	for my $signal ('HUP', 'INT', 'TERM') {
		my ($status) = $interrupted->($signal);
		is($status, 'signal ' . { HUP => 1, INT => 2, TERM => 15 }->{$signal},
		   "interrupt: $signal: exit status");
		is_deeply([ $files->('') ], [ 'tree/i.o' ], "interrupt: $signal: no temporary file");
		ok(get('tree/i.o') eq $object, "interrupt: $signal: untouched");
	}

	my ($status) = $interrupted->('KILL');
	is($status, 'signal 9', 'interrupt: KILL: exit status');
	ok(get('tree/i.o') eq $object, 'interrupt: KILL: untouched');
	# A pattern of the clean rule in the kernel's Makefile
	my @left = $files->("-name '.*.tmp'");
	is(@left, 1, 'interrupt: KILL: a temporary file is left for make clean');
	is($files->(''), 2, 'interrupt: KILL: and nothing else');

	chmod(0444, $left[0]) if @left;
	my ($again, $out, $err) = $interrupted->('');
	is($again . $out . $err, 0, 'interrupt: second run');
	is_deeply([ $files->('') ], [ 'tree/i.o' ], 'interrupt: second run: no temporary file');
	mcount_loc('i.o');
	ok(get('tree/i.o') eq get('i.o'), 'interrupt: second run: object is done');
}

# Returns a damaged copy of an ELF file, and what the damage is
sub damage
{
	my ($bytes) = @_;
	my $size = length($bytes);
	my $bits64 = ord(substr($bytes, 4)) == 2;
	my ($shoff, $header) = $bits64 ? (unpack('x40 Q<', $bytes), 64) :
					 (unpack('x32 V', $bytes), 40);
	# The fields of a section header end at these offsets
	my @end = $bits64 ? (0, 4, 8, 16, 24, 32, 40, 44, 48, 56, 64) : map { 4 * $_ } 0 .. 10;
	my $nr = int(($size - $shoff) / $header);
	my @what;

	my $put = sub {
		my ($at, $width) = @_;
		my $to = (0, 1, 2, 6, 0x7f, 0x7fffffff, 0x80000000, 0xffffff00, 0xffffffff,
			  1 << 63, ~0, int(rand($nr)), int(rand(64)), int(rand($size)))[rand(14)];

		push @what, sprintf('0x%x, %d bytes at %d', $to, $width, $at);
		substr($bytes, $at, $width, substr(pack('Q<', $to), 0, $width));
	};

	for (0 .. int(rand(2))) {
		my $kind = int(rand(8));

		if ($kind == 0) {
			my $cut = int(rand($size));

			push @what, "cut at $cut";
			return (substr($bytes, 0, $cut), "@what");
		}
		if ($kind <= 3) {
			my $width = (1, 2, 4, 8)[rand(4)];

			$put->(int(rand(($kind == 1 ? 64 : $size) / $width)) * $width, $width);
			next;
		}
		# Some fields of one section header, often the first one
		my $section = int(rand(4)) ? int(rand($nr)) : 0;
		for (0 .. int(rand(4))) {
			my $field = int(rand(10));

			$put->($shoff + $section * $header + $end[$field],
			       $end[$field + 1] - $end[$field]);
		}
	}
	return ($bytes, join('; ', @what));
}

# Whether readelf and ld -r accept an object without a complaint
sub accepted
{
	my ($object) = @_;
	my $emulation = ord(substr(get($object), 4)) == 1 ? '-m elf_i386' : '';

	for ("readelf -aW $object", "ld $emulation -r $object -o ld.o") {
		my ($status, @said) = run($_);
		return 0 if $status ne '0' || "@said" =~ /warning|error|corrupt/i;
	}
	return 1;
}

# Whatever is in a file, the script either succeeds or says in one line what is
# wrong and leaves the file alone.
sub test_damage
{
	my ($name, $object, $rounds, $options) = @_;
	my $bytes = get($object);
	my (@wrong, @file, %says);

	mkdir('damage');
	for my $i (1 .. $rounds) {
		my ($bad, $what) = damage($bytes);

		push @file, { path => "damage/$i.o", bytes => $bad, what => $what };
		put($file[-1]{path}, $bad);
	}
	# --sort takes one file
	my @batch = $options ? map { [ $_ ] } @file : \@file;
	for (@batch) {
		my ($status, $out, $err) =
			run("ulimit -t 20; ulimit -v 500000; exec $^X $script $options " .
			    join(' ', map { $_->{path} } @$_));
		my $lines = () = $err =~ /\n/g;

		push @wrong, "status $status, $lines lines: $out"
			if $status ne ($lines ? 1 : 0) || $out ne '';
		for (split(/\n/, $err)) {
			my ($path, $message) = /\Amcount_loc: (\S+): (.+)\z/;

			push @wrong, $_ if !$path || $says{$path} || / at .* line \d/;
			$says{$path} = $message if $path;
		}
	}

	my $done = 0;
	ok(accepted($object), "damage: $name: tools accept it undamaged") if !$options;
	for my $f (@file) {
		my $new = get($f->{path});

		next if $new eq $f->{bytes};
		push @wrong, "$f->{what}: fails, and writes" if $says{$f->{path}};
		# readelf and ld are slow, so they see a sample only
		next if $options || $done++ % 10;
		next if accepted($f->{path});
		put('before.o', $f->{bytes});
		push @wrong, "$f->{what}: makes it worse" if accepted('before.o');
	}
	is(join("\n", @wrong), '', "damage: $name");
	is_deeply([ sort(glob('damage/* damage/.*.tmp')) ], [ sort(map { $_->{path} } @file) ],
		  "damage: $name: no temporary file");
	ok(%says && %says < $rounds, "damage: $name: some fail, some do not");
	unlink(map { $_->{path} } @file);
}

# ------------------------------------------------------------------------
# Linked files
# ------------------------------------------------------------------------

sub linked_calls
{
	my ($file) = @_;

	return map { /^\s*([0-9a-f]+):\t.*\tcall .*<__fentry__>/ ? hex($1) : () }
	       split(/\n/, tool("objdump -dw $file"));
}

# The program walks the table as the kernel would. The body of the weak
# function that is overridden has a number in it to recognise it by.
my $main = <<'END';
#include <stdio.h>

struct entry { int site; unsigned int state; };
extern struct entry __start_mcount_loc[], __stop_mcount_loc[];

__attribute__((weak)) int over(int x) { return x ^ 0x5eed1234; }
__attribute__((weak)) int kept(int x) { return x + 1; }
static __attribute__((noinline, noclone)) int local(int x) { return x * 3; }

int main(int argc, char **argv)
{
	struct entry *e;
	unsigned char *last = 0;
	int nr = 0, wrong = 0;

	for (e = __start_mcount_loc; e < __stop_mcount_loc && e->site; e++, nr++) {
		unsigned char *site = (unsigned char *)&e->site + e->site;

		wrong += *site != 0xe8 || site <= last || e->state;
		last = site;
	}
	for (; e < __stop_mcount_loc; e++)
		wrong += e->site || e->state;
	printf("%d %d %d %d\n", nr, wrong, over(argc), kept(local(argc)));
	return 0;
}
END

my $other = <<'END';
int over(int x) { return x + 41; }
__attribute__((section(".text.unlikely"))) int cold(int x) { return over(x) + 1; }
__attribute__((section("zz_text"))) int far(int x) { return cold(x) + 1; }
__attribute__((section("aa_text"))) int near(int x) { return far(x) + 1; }
END

my $script_ld = <<'END';
SECTIONS {
	.mcount_table : ALIGN(8) {
		__start_mcount_loc = .;
		KEEP(*(__mcount_loc))
		__stop_mcount_loc = .;
	}
} INSERT AFTER .data;
END

my $fentry = <<'END';
	.section .text,"ax",@progbits
	.globl __fentry__
	.type __fentry__, @function
__fentry__:
	ret
	.size __fentry__, . - __fentry__
	.section .note.GNU-stack,"",@progbits
END

sub link_program
{
	my ($m, $pie, $objects) = @_;

	put('table.ld', $script_ld);
	tool("gcc $m $pie $objects -T table.ld -o program");
}

# Does the kernel run programs of this width? Its emulation of 32 bits can be disabled.
sub runs_programs
{
	my ($m) = @_;

	put('true.c', 'int main(void) { return 0; }');
	tool("gcc $m true.c -o true");
	return (run('./true'))[0] == 0;
}

sub test_program
{
	my ($m, $pie) = @_;
	my $what = "$m $pie";
	my $flags = $pie eq '-pie' ? "$m -fpie" : $m;

	compile('main.o', $flags, $main);
	compile('other.o', $flags, $other);
	compile('fentry.o', $m, $fentry);
	# A hidden symbol is called directly, not by way of the GOT
	tool('objcopy --strip-unneeded fentry.o');
	is((mcount_loc('main.o other.o fentry.o'))[0], 0, "$what: objects");
	link_program($m, $pie, 'other.o main.o fentry.o');

	my $text = tool('objdump -dw program');
	my @calls = linked_calls('program');
	my ($dead) = $text =~ /^\s*([0-9a-f]+):\t.*\tcall .*<__fentry__>\n(?:(?!.*__fentry__).*\n){0,8}?.*0x5eed1234/m;
	$dead = hex($dead);
	my @expect = sort { $a <=> $b } grep { $_ != $dead } @calls;
	is(@expect, @calls - 1, "$what: one dead site among $#calls others");

	my $dump = sub { map { hex } split(/\n/, (mcount_loc('--dump program'))[1]) };
	my @before = $dump->();
	is_deeply([ sort { $a <=> $b } @before ], [ sort { $a <=> $b } @calls ],
		  "$what: all sites before sorting");
	isnt("@before", join(' ', sort { $a <=> $b } @before), "$what: not sorted");

	my $old = get('program');
	my ($status, $out, $err) = mcount_loc('--sort --verbose program');
	is($status . $err, 0, "$what: sort");
	is($out, sprintf("mcount_loc: program: %d sites kept, 1 dropped\n",
			 scalar @expect), "$what: verbose");
	is_deeply([ $dump->() ], \@expect, "$what: sorted, without the dead site");
	my ($table) = sections_named('program', '.mcount_table');
	my $new = get('program');
	substr($_, $table->{offset}, $table->{size}, '') for $old, $new;
	ok($old eq $new, "$what: nothing else has changed");
	SKIP: {
		skip("$what: runs: this kernel does not run 32-bit programs", 1)
			if $m eq '-m32' && !runs_programs($m);
		($out) = tool('./program');
		is($out, sprintf("%d 0 42 4\n", scalar @expect), "$what: runs");
	}

	$old = get('program');
	utime(1e9, 1e9, 'program');
	quiet("$what: sort again, quietly", '--sort program');
	ok(get('program') eq $old && (stat('program'))[9] == 1e9,
	   "$what: sort again: untouched");

	# Twice the same object's table, as a broken build might have it
	my $entries = $table->{size} / 8;
	my $bytes = get('program');
	my ($ref) = unpack('l<', substr($bytes, $table->{offset} + 8, 4));
	substr($bytes, $table->{offset} + ($entries - 1) * 8, 4,
	       pack('l<', $ref - ($entries - 2) * 8));
	put('program', $bytes);
	($status, $out, $err) = mcount_loc('--sort --verbose program');
	like($out, qr/ kept, 1 dropped$/, "$what: a duplicate is dropped");
	is_deeply([ $dump->() ], \@expect, "$what: each site once");

	test_bad_program($what, $bytes, $table) if $pie eq '-no-pie';
}

sub test_bad_program
{
	my ($what, $bytes, $table) = @_;
	my $patched = sub {
		my ($at, $template, @values) = @_;
		my $new = $bytes;
		my $patch = pack($template, @values);

		substr($new, $table->{offset} + $at, length($patch), $patch);
		put('bad', $new);
	};

	$patched->(4, 'V', 0xffffffff);
	bad("$what: absolute addresses", 'bad', 'entry at 0x.* has state', '--sort');
	bad("$what: absolute addresses", 'bad', 'entry at 0x.* has state', '--dump');
	put('bad', substr($bytes, 0, $table->{offset} + 8));
	bad("$what: truncated", 'bad', 'section header table', '--sort');
	tool('strip program -o bad');
	bad("$what: stripped", 'bad', 'no symbol table', '--sort');
	tool('objcopy -N __stop_mcount_loc program bad');
	bad("$what: no symbol", 'bad', 'no symbol __stop_mcount_loc', '--sort');
	tool('objcopy -N __stop_mcount_loc --add-symbol ' .
	     '__stop_mcount_loc=.mcount_table:20,global program bad');
	bad("$what: odd size", 'bad', 'the table has 20 bytes', '--sort');
	tool('objcopy -N __stop_mcount_loc --add-symbol ' .
	     '__stop_mcount_loc=.mcount_table:8000000,global program bad');
	bad("$what: too long", 'bad', 'no section contains the table', '--sort');
	tool('objcopy -N __stop_mcount_loc --add-symbol ' .
	     '__stop_mcount_loc=0x8,global program bad');
	bad("$what: upside down", 'bad', '__stop_mcount_loc is below', '--sort');
	bad("$what: object", 'main.o', 'wrong ELF type 1', '--sort');
	bad("$what: missing", 'missing', 'No such file', '--sort');

	tool('cp program bad');
	chmod(0555, 'bad');
	bad("$what: read-only", 'bad', 'read-only', '--sort');
	chmod(0755, 'bad');
	unlink('bad');

	# An empty entry anywhere, and one that refers to what is no code
	$patched->(0, 'l< x4 l<', 0, 64);
	my ($status, $out) = mcount_loc('--sort --verbose bad');
	like($out, qr/, 1 dropped$/, "$what: into data: dropped");
	my (undef, $dump) = mcount_loc('--dump bad');
	is(() = $dump =~ /\n/g, $table->{size} / 8 - 2,
	   "$what: into data: all others are there");
	test_damage("$what --sort", 'program', 50, '--sort');
}

# As large as a kernel, made by the assembler
sub test_large
{
	my $source = "\t.section .text,\"ax\",\@progbits\n" .
		join('', map { "f$_:\tcall __fentry__\n\tret\n" .
			       "\t.type f$_, \@function\n\t.size f$_, . - f$_\n" .
			       "\t.globl d$_\nd$_ = f$_ + 5\n\t.size d$_, 1\n" }
			 1 .. 30000) .
		"\t.section .note.GNU-stack,\"\",\@progbits\n";

	compile('large.o', '-m64', $source);
	compile('fentry.o', '-m64', $fentry);
	is((mcount_loc('large.o'))[0], 0, 'large: object');
	put('script.ld', $whole_ld);
	tool('ld -e __fentry__ -T script.ld large.o fentry.o -o large');
	my $before = (times)[2] + (times)[3];
	my ($status, $out, $err) = mcount_loc('--sort --verbose large');
	my $time = (times)[2] + (times)[3] - $before;
	is($out . $err, "mcount_loc: large: 30000 sites kept, 0 dropped\n",
	   'large: sort');
	# The script takes less than a second; one of quadratic time would take minutes.
	cmp_ok($time, '<', 15, 'large: in less than 15 s');
}

# A site that its entry only just reaches, and not from where sorting puts the entry: there
# is a free one before it.
sub test_far
{
	compile('far.o', '-m64', <<'END');
	.section .text,"ax",@progbits
	.globl far
	.type far,@function
far:	call __fentry__
	ret
	.size far, . - far
__fentry__:
	ret
	.section __mcount_loc,"aw",@progbits
	.long 0, 0
	.long far - ., 0
	.section .note.GNU-stack,"",@progbits
END
	for my $at (0x80000ff0, 0x80001000) {
		put('script.ld', sprintf(<<'END', $at));
SECTIONS
{
	. = 0x1000;
	__start_mcount_loc = .;
	__mcount_loc : { *(__mcount_loc) }
	__stop_mcount_loc = .;
	. = 0x%x;
	.text : { *(.text) }
}
END
		tool('ld -e far -T script.ld far.o -o far');
		my $before = get('far');
		my ($status, $out, $err) = mcount_loc('--sort far');
		if ($at < 0x80001000) {
			is($status . $out . $err, 0, 'far: as far as it goes');
			next;
		}
		is($status, 1, 'far: further');
		is($err, sprintf("mcount_loc: far: site 0x%x is 2 GiB or more away from its entry\n", $at),
		   'far: further: says so');
		ok(get('far') eq $before, 'far: further: nothing is written');
	}
}

# A list of symbols for the linker, as LLVM has it, is not renumbered: it loses its link
sub test_addrsig
{
	compile('addrsig.o', '-m64', $no_symbol .
		"\t.section .llvm_addrsig,\"\",%0x6fff4c03\n\t.byte 1\n");
	my ($list) = sections_named('addrsig.o', '.llvm_addrsig');
	my ($symtab) = sections_named('addrsig.o', '.symtab');
	my $bytes = get('addrsig.o');
	my $shoff = unpack('Q<', substr($bytes, 40));

	# sh_link
	substr($bytes, $shoff + 64 * $list->{index} + 40, 4, pack('V', $symtab->{index}));
	put('addrsig.o', $bytes);
	isnt((sections_named('addrsig.o', '.llvm_addrsig'))[0]{link}, 0, 'addrsig: linked');
	quiet('addrsig: object', 'addrsig.o');
	is((sections_named('addrsig.o', '.llvm_addrsig'))[0]{link}, 0, 'addrsig: not linked any more');
}

# ------------------------------------------------------------------------

my @machines = ('-m64');
put('source', "int x;\n#include <stdio.h>\n");
if ((run('gcc -m32 -x c -c source -o x.o'))[0] == 0) {
	push @machines, '-m32';
} else {
	diag('no gcc -m32: the 32-bit half is not tested');
}

srand(6121);
test_bad_input();
test_replace();
test_interrupt();
test_large();
test_far();
test_addrsig();
for my $m (@machines) {
	test_objects($m);
	test_groups($m);
	test_partial_link($m);
	test_orphans($m);
	test_clang($m);
	test_sections($m);
	test_program($m, '-no-pie');
	# gcc has no -mfentry for position-independent 32-bit code
	test_program($m, '-pie') if $m eq '-m64';

	test_damage("$m functions", compile('small.o', $m, $functions), 1500, '');
	test_damage("$m weak only", compile('small.o', $m, $weak_only), 1000, '');
	test_damage("$m no symbol", compile('small.o', $m, $no_symbol), 800, '');
	test_damage("$m groups", compile('small.o', $m, $comdat), 800, '');
	mcount_loc('small.o');
	test_damage("$m groups with tables", 'small.o', 100, '');
}
done_testing();
