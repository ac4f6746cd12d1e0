#!/usr/bin/perl
# The patch series: which files come with which patch, and its cover letter.
use strict;
use warnings;
use Test::More;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(remove_tree);
use File::Temp qw(tempdir);
use lib dirname(__FILE__);

use Files;

my $harness = abs_path(dirname(__FILE__) . '/..');
my $dir = tempdir(CLEANUP => 1);

# ours FILE, TEXT...: they are all of our files
sub ours
{
	my %files = @_;
	remove_tree("$dir/top");
	put("$dir/top/$_", $files{$_}) for keys %files;
	put("$dir/files", join '', map { "$_\n" } sort keys %files);
}

# lays NUMBER: what the script says, and the names of what it puts
sub lays
{
	my ($number) = @_;
	remove_tree("$dir/to");
	my $said = qx('$harness/series' $dir/series.tab $dir/files $dir/subjects $dir/top $dir/to $number 2>&1);
	my @names = -d "$dir/to" ? split /\n/, qx(cd $dir/to && find . -type f | sed 's,^./,,' | sort) : ();
	return ($?, $said, "@names");
}

# fails NAME, PATTERN
sub fails
{
	my ($name, $pattern) = @_;
	my ($names, $said) = (lays(2))[2, 1];
	like($said, $pattern, $name);
	is($names, '', '  and puts nothing');
}

put("$dir/subjects", "x86: one\nkernel: two\nkernel: two and more\n");
my $table = "# a comment\n\nx86: one\n\ta/*\n\ta/Kconfig\nkernel: two and\n\ta/two.c\n\ta/Kconfig TWO\n\tsub/*\n";
my @files = (
	'a/one.c' => "#include \"one.h\"\n#include <linux/theirs.h>\n", 'a/one.h' => '', 'a/two.c' => '', 'sub/three.c' => '',
	'a/Makefile' => "# objects\nobj-y += one.o two.o theirs.o\t# some\nobj-y += two.o\nKASAN_SANITIZE_two.o := n\n" .
		"KASAN_SANITIZE_one.o := n\nccflags-y += -Da\n",
	'a/Kconfig' => "config ONE\n\tbool\n\n# why\nconfig TWO\n\tbool\n\thelp\n\t  A config.\n\nconfig THREE\n\tbool\n",
);
ours(@files);
put("$dir/series.tab", $table);
is((lays(0))[2], '', 'before the first patch: nothing');
is((lays(1))[2], 'a/Kconfig a/Makefile a/one.c a/one.h', 'the first patch: its files');
is(get("$dir/to/a/Makefile"), "# objects\nobj-y += one.o theirs.o\t# some\nKASAN_SANITIZE_one.o := n\nccflags-y += -Da\n",
	'  a Makefile without what has no source yet');
is(get("$dir/to/a/Kconfig"), "config ONE\n\tbool\n\nconfig THREE\n\tbool\n", '  symbols without later ones');
is((lays(2))[2], 'a/Kconfig a/Makefile a/one.c a/one.h', 'a patch without files');
is((lays(3))[2], 'a/Kconfig a/Makefile a/one.c a/one.h a/two.c sub/three.c', 'the last patch: all files');
is(get("$dir/to/$_"), get("$dir/top/$_"), "  $_ as it is") for 'a/Makefile', 'a/Kconfig';

ours(@files, 'b/new.c' => '');
fails('a file that no patch has', qr{^series: series.tab: no patch has b/new.c$});
ours(@files);
put("$dir/series.tab", "$table\ta/one*\n");
fails('a file that two patterns have', qr{^series: series.tab: a/one.c is in a/\* and a/one\*$});
put("$dir/series.tab", "$table\tb/*\n");
fails('a pattern without files', qr{^series: series.tab, line 10: there is no b/\*$});
put("$dir/series.tab", "$table\nkernel: none\n");
fails('a patch that is not there', qr{^series: series.tab, line 11: 'kernel: none' begins .* 0 patches});
put("$dir/series.tab", "$table\nkernel: two\n");
fails('one of several', qr{^series: series.tab, line 11: 'kernel: two' begins .* 2 patches});
put("$dir/series.tab", "\ta/*\n");
fails('files of no patch', qr{^series: series.tab, line 1: files of no patch$});
put("$dir/series.tab", $table =~ s/TWO/TOO/r);
fails('a symbol that is not there', qr{^series: series.tab: a/Kconfig has no TOO$});
put("$dir/series.tab", $table);
ours(@files, 'a/one.c' => "#include \"../sub/three.c\"\n#include \"two.c\"\n");
fails('a file that needs a later one', qr{^series: a/one.c includes a/two.c, which comes later$});

# The cover letter
put("$dir/text", "Subject: What this is\n\nOnce.\n\n\@COUNTS\@\nMore.\n\n\@SHORTLOG\@\n\@RANGE-DIFF\@\n");
put("$dir/doc", "Some text\n\n   what   base   ours  ratio  goal\n   switch on   100   50   0.50   x1  met\n" .
	"   ... off   9   8   0.88   x1  met\n   gone   1   1   1.00   -\n\nand more   text 1 2 3\n");
put("$dir/git", "From 0\nSubject: [PATCH 0/2] *** SUBJECT HERE ***\n\n*** BLURB HERE ***\n\nA (2):\n  one\n");

sub cover
{
	put("$dir/letter", get("$dir/git"));
	return qx('$harness/cover' $dir/text $dir/doc $dir/table $dir/range $dir/letter 2>&1) . get("$dir/letter");
}

is(cover(), <<'END', 'a letter with the counts of the document');
From 0
Subject: [PATCH 0/2] What this is

Once.

  what   base   ours  ratio  goal
  switch on   100   50   0.50   x1  met
  ... off   9   8   0.88   x1  met
  gone   1   1   1.00   -

  (counted with an earlier version)

More.

A (2):
  one


END
put("$dir/table", "what      base   ours  ratio  goal\nother   1   1   1.00   -\nswitch on  7  6  0.86  x1  met\n... off  5  4  0.80  x1  met\n" .
	"... on for one  3  2  0.67  x1  met\n... off  2  1  0.50  x1  met\n");
put("$dir/range", "1: a = 1: b\n");
my $letter = cover();
like($letter, qr/^  switch on  7  6 .*\n  \.\.\. off  5  4 .*\n  gone   1   1 .*\(counted before\)$/m, 'the last counts, if there are any');
unlike($letter, qr/other/, '  of the same rows');
like($letter, qr/^Range-diff .*\n1: a = 1: b$/m, 'what has changed');
put("$dir/text", "Subject: x\n\n\@NONE\@\n");
like(cover(), qr/^cover: .*\@NONE\@, which is unknown/, 'a place that is unknown');
put("$dir/doc", "nothing\n");
like(cover(), qr/^cover: .* has no table/, 'no counts at all');


# The rows of the kernel's document are those of `make bench`, or the letter would never have them.
put("$dir/text", "Subject: x\n\n\@COUNTS\@\n");
put("$dir/doc", get("$harness/../../../Documentation/trace/text-sites-costs.rst"));
my @goals = map { (split /\t/)[1] } grep { !/^#/ } split /\n/, get("$harness/bench/goals.tab");
put("$dir/table", "what  base  ours  ratio  goal\n" . join('', map { "$_  7  6  0.86  x1\n" } @goals));
$letter = cover();
like($letter, qr/^  an event of the function tracer  7  6 /m, 'the counts of the document');
my @missing = $letter =~ /^  (.*?)\s{2,}.*\(counted before\)$/mg;
is("@missing", '', '  each is one of goals.tab');

done_testing();
