#!/usr/bin/env perl
# SPDX-License-Identifier: GPL-2.0
#
# scripts/mcount_loc.pl and objects that are damaged: it never hangs and never writes a
# wrong object. It does what it has to, or says in one line what is wrong and leaves the
# file alone. The script's functions are called in this process, so that there can be many:
# DAMAGE in the environment says how many (4000), DAMAGE_SEED what is done to them.
#
# What it has written is checked by other means than its own: each of its sites is a call
# that is there, none is missing, and all else refers to what it did before.
#
# reads: scripts/mcount_loc.pl
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__);

use Files;

my $script = abs_path($ENV{MCOUNT_LOC} ||
		      dirname(abs_path($0)) . '/../../../../scripts/mcount_loc.pl');
plan skip_all => 'no mcount_loc.pl' unless $script && -e $script;

# An object must not make it take all memory.
exec '/bin/sh', '-c', 'ulimit -v 1000000; exec "$@"', 'sh', $^X, $0, @ARGV
	unless $ENV{DAMAGE_LIMITED}++;

my $rounds = $ENV{DAMAGE} || 4000;
my $seed = $ENV{DAMAGE_SEED} || 6122;
my $dir = tempdir('damage.XXXXXX', TMPDIR => 1, CLEANUP => 1);

# The script, up to where it begins to work
my $functions = get($script) =~ s/^# -+\n\nmy \$option = .*//msr;
eval "package Script; no warnings 'redefine'; $functions; 1" or die "mcount_loc.pl: $@";

# ------------------------------------------------------------------------
# Objects to be damaged
# ------------------------------------------------------------------------

my $plain = <<'END';
int other(int x);
int one(int x) { return other(x) + 1; }
static __attribute__((noinline)) int two(int x) { return one(x) * other(x); }
__attribute__((section(".init.text"))) int three(int x) { return two(x) + one(x); }
int *where(void) { static int n = 3; return n ? &n : 0; }
END

my $weak = <<'END';
int other(int x);
__attribute__((weak)) int one(int x) { return other(x) + 1; }
__attribute__((weak, section(".text.two"))) int two(int x) { return one(x) * 3; }
END

my $groups = <<'END';
	.macro group name
	.section .text.\name,"axG",@progbits,\name,comdat
	.weak	\name
	.type	\name, @function
\name:	call	__fentry__
	jmp	elsewhere
	.size	\name, . - \name
	.endm
	group	first
	group	second
	.section .text.none,"ax",@progbits
	call	__fentry__
	.quad	__fentry__
	.section .data
	.long	first - .
	.section .note.GNU-stack,"",@progbits
END

sub compile
{
	my ($name, $source, $flags) = @_;
	my $is_asm = $source =~ /^\t\./;
	my $file = "$dir/$name." . ($is_asm ? 's' : 'c');

	$source =~ s/\.quad/.long/ if $flags eq '-m32';
	put($file, $source);
	my $c = $is_asm ? '' : '-O2 -pg -mfentry -fno-pie -ffunction-sections';
	system("gcc $flags $c -c $file -o $dir/$name.o 2>$dir/errors") == 0 or return;
	return get("$dir/$name.o");
}

# ------------------------------------------------------------------------
# Damage
# ------------------------------------------------------------------------

sub some { return int(rand($_[0])) }

my @numbers = (0, 1, 2, 3, 4, 6, 8, 16, 0x7f, 0xff, 0xff00, 0xffff, 0x7fffffff, 0x80000000,
	       0xfffffff8, 0xffffffff, 1 << 63, ~0);

# A copy of an object with something else in some places, and what that is
sub damaged
{
	my ($good) = @_;
	my $bytes = $good->{bytes};
	my ($shoff, $header, $nr) = @$good{qw(shoff header nr)};
	my @what;

	for (0 .. some(3)) {
		my $size = length($bytes);
		my $kind = some(10);
		my $section = $good->{sections}[some($nr)];

		if ($kind == 0) {
			my $cut = some($size);
			$bytes = substr($bytes, 0, $cut);
			push @what, "cut at $cut";
			last if $cut < 64;
		} elsif ($kind == 1) {
			# Somewhere, a bit
			my $at = some($size);
			substr($bytes, $at, 1) ^= chr(1 << some(8));
			push @what, "a bit at $at";
		} elsif ($kind <= 6) {
			# A field of a header
			my $width = (2, 4, 8)[some(3)];
			my $at = some(4) ? $shoff + $header * some($nr) + $width * some($header / $width)
					 : $width * some(64 / $width);
			my $to = some(2) ? $numbers[some(scalar @numbers)] : some($nr + 2);
			next if $at + $width > $size;
			substr($bytes, $at, $width) = substr(pack('Q<', $to), 0, $width);
			push @what, sprintf('0x%x in %d bytes at %d', $to, $width, $at);
		} elsif ($section->{size} && $section->{at} + $section->{size} <= $size) {
			# What is in a section: a word, or it is moved by some
			my $at = $section->{at} + 4 * some($section->{size} / 4);
			my $to = $numbers[some(scalar @numbers)];
			next if $at + 4 > $size;
			substr($bytes, $at, 4) = pack('V', $to & 0xffffffff);
			push @what, sprintf('0x%x at %d', $to & 0xffffffff, $at);
		}
	}
	return ($bytes, join('; ', @what));
}

# ------------------------------------------------------------------------
# Looking at objects, by other means than the script's
# ------------------------------------------------------------------------

# The places of what is looked at, in 32-bit and in 64-bit files
my @layout = (undef,
	{ shoff => 'x32 V', nums => 'x46 v3', sh => 40, symbol => 16,
	  section => [ 'V10' ], sym => sub { @{[ unpack('V3 C2 v', $_[0]) ]}[0, 1, 2, 3, 5] },
	  rel => sub { my ($at, $info, $add) = unpack('V2 l<', $_[0]);
		       ($at, $info >> 8, $info & 0xff, $add) } },
	{ shoff => 'x40 Q<', nums => 'x58 v3', sh => 64, symbol => 24,
	  section => [ 'V2 Q<4 V2 Q<2' ], sym => sub { @{[ unpack('V C2 v Q<2', $_[0]) ]}[0, 4, 5, 1, 3] },
	  rel => sub { my ($at, $type, $sym, $add) = unpack('Q< V2 q<', $_[0]);
		       ($at, $sym, $type, $add) } });

# look BYTES: sections, symbols and relocations; undef if the file is not one to be looked at:
# anything is outside of it, or in two places at once, or not of the size it has to be.
sub look
{
	my ($bytes) = @_;
	my $size = length($bytes);
	return if $size < 64;
	my $l = $layout[ord(substr($bytes, 4))] or return;
	my ($shoff) = unpack($l->{shoff}, $bytes);
	my ($entsize, $nr, $names) = unpack($l->{nums}, $bytes);
	return if $entsize != $l->{sh} || !$nr || $nr >= 0xff00 || $names >= $nr;
	return if $shoff + $nr * $entsize > $size;

	my (@section, @used, $symtab);
	push @used, [ 0, 52 ], [ $shoff, $shoff + $nr * $entsize ];
	for my $i (0 .. $nr - 1) {
		my %s = (index => $i);
		@s{qw(name type flags addr at size link info align entsize)} =
			unpack($l->{section}[0], substr($bytes, $shoff + $i * $entsize, $entsize));
		push @section, \%s;
		next if $s{type} == 0 || $s{type} == 8;
		return if $s{at} + $s{size} > $size || $s{at} > $size;
		push @used, [ $s{at}, $s{at} + $s{size} ] if $s{size};
		return if $s{type} == 2 && $symtab;
		return if $s{type} == 18;		# more sections than these have
		$symtab = \%s if $s{type} == 2;
	}
	@used = sort { $a->[0] <=> $b->[0] } @used;
	return if grep { $used[$_][0] < $used[$_ - 1][1] } 1 .. $#used;

	my $string = sub {
		my ($section, $at) = @_;
		return '' if $at >= $section->{size};
		return unpack('Z*', substr($bytes, $section->{at} + $at, $section->{size} - $at));
	};
	return if $section[$names]{type} != 3;
	$_->{name} = $string->($section[$names], $_->{name}) for @section;
	$_->{bytes} = $_->{type} == 0 || $_->{type} == 8 ? '' :
		      substr($bytes, $_->{at}, $_->{size}) for @section;

	return if !$symtab || $symtab->{link} >= $nr || $symtab->{entsize} != $l->{symbol} ||
		  $symtab->{size} % $l->{symbol};
	my $strings = $section[$symtab->{link}];
	my @symbol = map {
		my %s;
		@s{qw(name value size info shndx)} = $l->{sym}->($_);
		$s{name} = $string->($strings, $s{name});
		\%s;
	} unpack("(a$l->{symbol})*", $symtab->{bytes});

	for my $s (grep { $_->{type} == 4 || $_->{type} == 9 } @section) {
		my $each = $l->{sh} == 64 ? ($s->{type} == 4 ? 24 : 16) : $s->{type} == 4 ? 12 : 8;
		return if $s->{entsize} != $each || $s->{size} % $each || $s->{info} >= $nr ||
			  $s->{link} != $symtab->{index};
		for (unpack("(a$each)*", $s->{bytes})) {
			my ($at, $sym, $type, $add) = $l->{rel}->($_ . "\0" x 8);
			return if $sym >= @symbol;
			push @{$s->{relocs}}, { at => $at, symbol => $symbol[$sym], type => $type,
						number => $sym, add => $s->{type} == 4 ? $add : 0 };
		}
	}
	return { sections => \@section, symbols => \@symbol, symtab => $symtab, nr => $nr,
		 names => $names, shoff => $shoff };
}

# The calls of __fentry__ in what is loaded, as "section+offset"
sub calls
{
	my ($f) = @_;
	my %call;

	for my $s (grep { $_->{relocs} && $_->{info} } @{$f->{sections}}) {
		my $text = $f->{sections}[$s->{info}];
		next if ($text->{flags} & 6) != 6 || $text->{bytes} eq '';
		for my $r (@{$s->{relocs}}) {
			next if $r->{symbol}{name} !~ /^(?:__fentry__|_?mcount)$/ ||
				$r->{symbol}{shndx} || $r->{number} < $f->{symtab}{info} ||
				($r->{type} != 2 && $r->{type} != 4) || !$r->{at};
			$call{"$s->{info}+" . ($r->{at} - 1)}++
				if substr($text->{bytes}, $r->{at} - 1, 1) eq "\xe8";
		}
	}
	return %call;
}

sub told
{
	my ($symbol) = @_;
	return join(',', @$symbol{qw(name value size info shndx)});
}

# wrong OLD, NEW: what is wrong with what the script has made of an object, '' if nothing
sub wrong
{
	my ($old, $new) = @_;
	my $after = look($new) or return 'it cannot be read any more';
	my $before = look($old) or return '';
	my %call = calls($before);
	my %site;

	for my $s (grep { $_->{relocs} } @{$after->{sections}}) {
		my $table = $after->{sections}[$s->{info}];
		next if $table->{name} ne '__mcount_loc';
		return 'its tables are not records' if $table->{size} != 8 * @{$s->{relocs}};
		my $next = 0;
		for my $r (@{$s->{relocs}}) {
			return "a reference at $r->{at}" if $r->{at} != $next;
			$next += 8;
			my ($value, $state) = unpack('l< V', substr($table->{bytes}, $r->{at}, 8));
			return "state $state" if $state;
			return 'a reference by a weak symbol' if $r->{symbol}{info} >> 4 == 2;
			$value = $s->{type} == 4 ? $r->{add} : $value;
			$site{"$r->{symbol}{shndx}+" . ($r->{symbol}{value} + $value)}++;
		}
	}
	for (sort keys %{{ %call, %site }}) {
		return "$_ is a site $site{$_} times, and called $call{$_}"
			if ($site{$_} //= 0) != ($call{$_} //= 0);
	}

	for my $s (@{$before->{sections}}) {
		my $t = $after->{sections}[$s->{index}];
		for my $field (qw(name type flags addr entsize)) {
			return "section $s->{index}: $field $t->{$field}, was $s->{$field}"
				if $s->{index} && $t->{$field} ne $s->{$field};
		}
		if ($s->{relocs}) {
			my ($was, $is) = map {
				join(' ', map { "$_->{at}:$_->{type}:$_->{add}:" . told($_->{symbol}) }
				     @{$_->{relocs}})
			} $s, $t;
			return "section $s->{index}: relocations" if $was ne $is;
		} elsif ($s != $before->{symtab} && $s->{index} != $before->{names} &&
			 $s->{type} != 17) {
			return "section $s->{index}: contents" if $t->{bytes} ne $s->{bytes};
		}
	}
	my %symbol;
	$symbol{told($_)}++ for @{$before->{symbols}};
	$symbol{told($_)}-- for @{$after->{symbols}};
	for (sort keys %symbol) {
		# Sections may have got symbols, with the name at 0, which should be empty.
		return "symbol $_" if $symbol{$_} > 0 || ($symbol{$_} && !/,0,0,3,\d+$/);
	}
	return '';
}

# ------------------------------------------------------------------------

my @good;
for my $flags ('-m64', '-m32') {
	for ([ plain => $plain ], [ weak => $weak ], [ groups => $groups ]) {
		my ($name, $source) = @$_;
		my $bytes = compile("$name$flags", $source, $flags);
		ok(defined $bytes, "$name $flags: compiles") or next;
		my $f = look($bytes);
		ok($f && calls($f), "$name $flags: has calls") or next;
		push @good, { name => "$name $flags", bytes => $bytes, shoff => $f->{shoff},
			      header => $flags eq '-m64' ? 64 : 40, nr => $f->{nr},
			      sections => $f->{sections} };
	}
}

# What the script says of a file, undef if nothing, and what is in the file then
sub run
{
	my ($bytes) = @_;
	my $path = "$dir/object.o";
	my $said;

	unlink($path);
	put($path, $bytes);
	local $SIG{ALRM} = sub { die "it hangs\n" };
	local $SIG{__WARN__} = sub { $said = "warning: $_[0]" };
	alarm(20);
	eval { Script::do_object($path); 1 } or $said //= $@;
	alarm(0);
	return ($said, get($path));
}

for my $good (@good) {
	my ($said, $new) = run($good->{bytes});
	is($said, undef, "$good->{name}: no error");
	isnt($new, $good->{bytes}, "$good->{name}: has a table");
	is(wrong($good->{bytes}, $new), '', "$good->{name}: that is right");
	# This test would see if it were not.
	my ($table) = grep { $_->{name} =~ /^\.rela?__mcount_loc/ } @{look($new)->{sections}};
	substr($new, $table->{at}, 1) ^= "\x08";
	isnt(wrong($good->{bytes}, $new), '', "$good->{name}: one that lacks a site is not");
	substr($new, $table->{at}, 1) ^= "\x08";
	$table = look($new)->{sections}[$table->{info}] if $table->{type} == 9;
	substr($new, $table->{at} + ($table->{type} == 4 ? 16 : 0), 1) ^= "\x08";
	isnt(wrong($good->{bytes}, $new), '', "$good->{name}: another one is not");
}

srand($seed);
my (%count, @wrong);
# Written, but what was there could not be read
my $unread = 0;
for my $i (1 .. (@good ? $rounds : 0)) {
	my $good = $good[some(scalar @good)];
	my ($bytes, $what) = damaged($good);
	my ($said, $new) = run($bytes);
	my $is_new = $new ne $bytes;
	my $why = '';

	if (defined $said) {
		# One line of the script's, not one of perl's
		$why = $said if $said !~ /\A[^\n]+\n\z/ || $said =~ / at .* line \d|^warning|hangs/;
		$why ||= "'$said', but it has written" if $is_new;
	} elsif ($is_new) {
		$why = wrong($bytes, $new);
		# What it has made of such an object, nobody can say.
		$unread++ if !look($bytes);
		# What cannot be read now may not have been before.
		$why = '' if $why =~ /^it cannot/ && !look($bytes);
	} else {
		my $before = look($bytes);
		my %call = $before ? calls($before) : ();
		$why = 'it has no table' if %call &&
			!grep { $_->{name} eq '__mcount_loc' } @{$before->{sections}};
	}
	$count{defined $said ? 'refused' : $is_new ? 'done' : 'left alone'}++;
	push @wrong, "$i: $good->{name}: $what: $why" if $why ne '';
	last if @wrong > 10;
}
is(join("\n", @wrong), '', "$rounds damaged objects, seed $seed");
is_deeply([ glob("$dir/.*.tmp") ], [], 'no temporary file is left');
diag(join(', ', map { "$count{$_} $_" } sort keys %count) . ", $unread of them not judged") if $ENV{DAMAGE};
cmp_ok($unread, '<=', 0.06 * $count{done}, '  few of those that it has written could not be read before');
ok(keys(%count) == 3, 'some are done, some refused, some left alone');
done_testing();
