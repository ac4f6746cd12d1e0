#!/usr/bin/perl
# The mutants: each fits the sources and has a killer; and on a toy, what runs them sees
# which are killed and which survive, and changes nothing but its copy.
use strict;
use warnings;
use Test::More;
use POSIX qw(WNOHANG);
use Time::HiRes qw(sleep);
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Temp qw(tempdir);
use lib dirname(__FILE__);

use Files;

my $mutants = abs_path(dirname(__FILE__) . '/../mutants');
my $dir = tempdir(CLEANUP => 1);

delete @ENV{qw(ONLY MAKEFLAGS TS_TOP TS_BUILD TS_MUTANTS)};

# run ARGUMENT...: what it prints, and its exit status
sub run
{
	my $out = qx('$mutants/run' @_ 2>&1 </dev/null);
	return ($out, $? >> 8);
}

my @patches = glob "$mutants/*.patch";
cmp_ok(scalar @patches, '>=', 80, 'there are many');
is((run('--check'))[0], '', 'each fits, says what it breaks, and has a killer');
sub rows { return map { /^([^#\t][^\t]*)\t([^\t]+)\t([^\t]+)\t/ ? ($1 => [$2, $3]) : () } split /\n/, $_[0] }
my %listed = rows(get("$mutants/table.tab"));
my %now = rows((run('--table'))[0]);
for my $patch (@patches) {
	my $name = basename($patch, '.patch');
	my ($killer) = get($patch) =~ /^Killer: (.+)$/m;
	is($listed{$name}[0], $killer // '-', "$name: in the table");
	like($listed{$name}[1] // '', qr/^(?:red \d{4}-\d\d-\d\d|not run|equivalent)$/, '  and has not survived');
	ok($listed{$name}[1] eq 'not run' || $now{$name}[1] ne 'not run',
		'  and what it says is of the files as they are');
}
is(scalar keys %listed, scalar @patches, 'the table has no others');
# A mutant is named after the kind of its killer.
my %kinds = (host => 'host', kunit => 'kunit', machine => 'kselftest');
for my $name (sort keys %listed) {
	my $kind = $kinds{$name =~ s/-.*//r} // 'none';
	like($listed{$name}[0], qr/^(?:-$|$kind )/, "$name: is named after that");
}

# A toy: a source of three lines, and a test of two of them
my $top = "$dir/top";
my $toy = "$top/kernel/toy.txt";
@ENV{qw(TS_TOP TS_BUILD TS_MUTANTS)} = ($top, "$dir/build", "$dir/mutants");

sub toy
{
	my ($name, $what, $from, $to) = @_;
	put("$dir/mutants/$name.patch", "$what\n\n--- a/kernel/toy.txt\n+++ b/kernel/toy.txt\n" .
					"\@\@ -1 +1 \@\@\n-$from\n+$to\n");
}

put($toy, "one\ntwo\nthree\nthree\n");
put("$top/tools/testing/text_sites/host/toy.t", <<'T');
use Test::More tests => 3;
use File::Basename qw(dirname);
open my $toy, '<', dirname(__FILE__) . '/../../../../kernel/toy.txt' or die;
my @lines = <$toy>;
is($lines[0], "one\n", 'the first line');
is($lines[1], "two\n", 'the second line');
pass('the rest');
T
toy('a', "One is none.\nKiller: host toy.t", 'one', 'none');
is((run('--check'))[0], '', 'toy: fits');
my ($out, $status) = run();
is($status, 0, 'killed: all is well');
like($out, qr/^mutants: a: red: the first line$/m, '  and says by what');
is(get($toy), "one\ntwo\nthree\nthree\n", '  the sources are as they were');

($out, $status) = run();
like($out, qr/^mutants: 1 mutants, 0 to be run$/m, 'it is not run again');
my ($table) = run('--table');
like($table, qr/^a\thost toy\.t\tred \S+\t[0-9a-f]{12}\tOne is none\.$/m, '  and is in the table');
rename "$dir/build/mutants/results.tsv", "$dir/results.tsv";
like((run('--table'))[0], qr/^a\thost toy\.t\tnot run\t-\t/m, '  which without results says so');
put("$dir/mutants/table.tab", $table);
is((run('--table'))[0], $table, '  unless the one before has the same key');
put($toy, "one\ntwo\nthree\nthree\n\n");
like((run('--table'))[0], qr/^a\thost toy\.t\tnot run\t/m, '  unless the source has changed');

# Of C, only what is compiled counts.
my $code = <<'C' =~ s/TAB/\t/r;
/* One
 * of two */
#define TEXT "/* not  a comment */"
int quote = '"';TAB// 1
int one = 1;
C
put("$top/kernel/toy.c", $code);
put("$top/tools/testing/text_sites/host/code.t", <<'T');
use Test::More tests => 1;
use File::Basename qw(dirname);
open my $toy, '<', dirname(__FILE__) . '/../../../../kernel/toy.c' or die;
like(join('', <$toy>), qr/^int one = 1;$/m, 'one');
T
put("$dir/mutants/code.patch", "One is two.\nKiller: host code.t\n\n--- a/kernel/toy.c\n" .
    "+++ b/kernel/toy.c\n\@\@ -1 +1 \@\@\n-int one = 1;\n+int one = 2;\n");
{
	local $ENV{ONLY} = 'code';
	($out, $status) = run();
}
like($out, qr/^mutants: code: red: one$/m, 'C: killed');
for (
	['another comment', qr/One\n \* of two/, 'One of them', 'red'],
	['no comment', qr/\t\/\/ 1/, '', 'red'],
	['other white space', qr/int quote = /, "int\tquote\t= ", 'red'],
	['a string that looks like a comment', qr/not  a/, 'still not  a', 'not run'],
	['white space in a string', qr/not  a/, 'not a', 'not run'],
	['a character', qr/'"'/, q('\''), 'not run'],
	['a line less', qr/"\nint/, '" int', 'not run'],
) {
	my ($name, $from, $to, $result) = @$_;
	put("$top/kernel/toy.c", $code =~ s/$from/$to/r);
	like((run('--table'))[0], qr/^code\thost code\.t\t$result\b/m, "  $name: $result");
}
unlink "$dir/mutants/code.patch";

toy('b', "Two is too much.\nKiller: host toy.t", 'two', 'too');
($out, $status) = run();
like($out, qr/^mutants: b: red: the second line$/m, 'another one');
for (['all', 2], ['!a', 1], ['a,b', 2], ['x* b*', 1]) {
	my ($only, $nr) = @$_;
	($out, $status) = do { local $ENV{ONLY} = $only; run() };
	like($out, qr/^mutants: $nr mutants, /m, "ONLY='$only': $nr of them");
}
unlike($out, qr/^mutants: a:/m, '  the others are not run');

put("$dir/mutants/c.patch", "Something is added.\nKiller: host toy.t\n\n" .
    "--- a/kernel/toy.txt\n+++ b/kernel/toy.txt\n\@\@ -2 +2,2 \@\@\n two\n+and a half\n");
($out, $status) = run();
like($out, qr/^mutants: c: SURVIVED$/m, 'one that no test notices');
like($out, qr/^mutants: c SURVIVED: Something is added\.$/m, '  is named in the end');
is($status, 1, '  and is an error');

put("$dir/mutants/c.patch", get("$dir/mutants/c.patch") =~
    s/^Killer: .*/Equivalent: nobody reads that far/mr);
($out, $status) = run();
is($status, 0, 'one that cannot be noticed is no error');

for (
	['kernel/toy.txt does not fit', "None.\nKiller: host toy.t", 'four', 'five',
		qr/^mutants: d\.patch: does not apply to kernel\/toy\.txt: what it changes is not there$/m],
	['it fits in two places', "None.\nKiller: host toy.t", 'three', 'five',
		qr/^mutants: d\.patch: does not apply to kernel\/toy\.txt: fits in several places$/m],
	['no killer', 'None.', 'one', 'two', qr/^mutants: d\.patch: has no killer$/m],
	['a killer that is not there', "None.\nKiller: host other.t", 'one', 'two',
		qr/^mutants: d\.patch: its killer is not there$/m],
	['a suite that is not there', "None.\nKiller: kunit other.case", 'one', 'two',
		qr/^mutants: d\.patch: there is no suite other$/m],
) {
	my ($name, $what, $from, $to, $said) = @$_;
	toy('d', $what, $from, $to);
	($out, $status) = run();
	like($out, $said, "$name: says so");
	is($status, 1, '  and nothing is run');
}
unlink "$dir/mutants/d.patch";

put("$top/tools/testing/text_sites/host/toy.t", "use Test::More tests => 1; ok(0, 'nothing');\n");
($out, $status) = run();
like($out, qr/^mutants: error: host toy\.t fails without any mutant: nothing$/m,
	'a killer that always fails: says so');
is($status, 1, '  and fails');

put("$top/tools/testing/text_sites/host/toy.t", "use Test::More skip_all => 'no toy';\n");
($out, $status) = run();
like($out, qr/^mutants: error: host toy\.t is skipped: no toy$/m, 'one that is skipped: says so');

# A toy kernel of two files; a machine in which a suite of tests reads each
unlink glob "$dir/mutants/*";
$ENV{TS_HARNESS} = "$dir/harness";
for my $name (qw(marker immediate)) {
	put("$top/kernel/$name.txt", "good\n");
	put("$top/kernel/${name}_test.c", "KUNIT_CASE(test_it),\nKUNIT_CASE(test_more),\n" .
	    "static struct kunit_suite suite = {\n\t.name\t= \"$name\",\n};\n");
}
put("$top/tools/testing/text_sites/config/variant-$_.config", '') for qw(small other);
put("$dir/harness/steps", <<'SH');
#!/bin/bash
echo "$TS_TOP: ${VARIANT:+$VARIANT }$*" >>"$TS_BUILD/steps"
mkdir -p "$TS_BUILD/kernel"
! grep -q error "$TS_TOP"/kernel/*.txt || { echo 'kernel: does not compile'; exit 1; }
grep -q endless "$TS_TOP"/kernel/*.txt && { sleep 600 & echo "$! ${CCACHE_DISABLE:-no}"; wait; } >"$TS_BUILD/compiler"
cp "$TS_TOP"/kernel/*.txt "$TS_BUILD/kernel/"
SH
put("$dir/harness/vm/machine", <<'SH');
#!/bin/bash
suites='immediate marker'
case $* in *filter_glob=marker*) suites=marker ;; *filter_glob=*) suites=immediate ;; esac
exec >"$TS_BUILD/log/mutants.console"
case $* in *"--kernel $TS_BUILD/text_sites-other "*) echo 'BUG: other' ;; esac
cd "$TS_BUILD/kernel"
! grep -q panic *.txt || { echo 'Kernel panic - not syncing'; exit 125; }
for suite in $suites; do
	grep -q bad $suite.txt && not='not ' || not=''
	printf '    # Subtest: %s\n    1..2\n    %sok 1 test_it\n    ok 2 test_more\n%sok 1 %s\n' \
		$suite "$not" "$not" $suite
done
SH

sub kernel_toy
{
	my ($name, $file, $to, $more) = @_;
	put("$dir/mutants/$name.patch", "It breaks.\nKiller: kunit $file.test_it\n" . ($more // '') .
	    "\n--- a/kernel/$file.txt\n+++ b/kernel/$file.txt\n\@\@ -1 +1 \@\@\n-good\n+$to\n");
}

kernel_toy('a', 'marker', 'bad');
kernel_toy('b', 'immediate', 'bad');
($out, $status) = run();
is($status, 0, 'kernel: all is well') or diag($out);
like($out, qr/^mutants: $_->[0]: red: $_->[1]: test_it$/m, "  $_->[1]") for [qw(a marker)], [qw(b immediate)];
my @steps = map { s/.*: //r } split /\n/, get("$dir/build/steps");
is_deeply(\@steps, ['small packages tree kernel rootfs', ('small tree kernel') x 3],
	'  small kernels: as it is, with each, and as it is again');
is(get("$dir/build/kernel/$_.txt"), "good\n", "  in the end without what breaks $_") for qw(marker immediate);

kernel_toy('a', 'marker', 'harmless');
kernel_toy('b', 'immediate', 'panic');
($out, $status) = run();
like($out, qr/^mutants: a: SURVIVED$/m, 'one that no test finds');
like($out, qr/^mutants: b: red: kernel log \(Kernel panic - not syncing\)$/m, 'one that does not boot');

# A test of the second one's suite fails, which is not to be taken for the first one's.
kernel_toy('a', 'marker', 'as harmless');
kernel_toy('b', 'immediate', 'bad');
put("$dir/machine.was", get("$dir/harness/vm/machine"));
put("$dir/harness/vm/machine", get("$dir/machine.was") =~
    s/grep -q bad \$suite\.txt/grep -q bad *.txt/r);
($out, $status) = run();
like($out, qr/^mutants: a: SURVIVED$/m, 'where another one makes the test fail: each has its own kernel');
put("$dir/harness/vm/machine", get("$dir/machine.was"));

kernel_toy('b', 'immediate', 'error');
unlink "$dir/build/steps";
($out, $status) = run();
like($out, qr/^mutants: b: broken: does not build: kernel: does not compile$/m, 'one that does not compile');
is($status, 1, '  is an error');

kernel_toy('a', 'marker', 'bad', "Kernel: plain\n");
kernel_toy('b', 'immediate', 'harmless', "Kernel: other\n");
unlink "$dir/build/steps";
($out, $status) = run();
like($out, qr/^mutants: error: a test of the kernel fails without any mutant: kernel log \(BUG: other\)$/m,
	'one for another kernel: boots that after the plain one');
@steps = map { s/.*: //r } split /\n/, get("$dir/build/steps");
is_deeply(\@steps, ['packages tree kernel rootfs', 'tree kernel', 'tree kernel',
		    'other packages tree kernel rootfs'], '  and builds it');

kernel_toy('b', 'immediate', 'bad', "Kernel: no_such\n");
($out, $status) = run('--check');
is($out, "mutants: b.patch: there is no variant no_such\n", 'one for a kernel that is not there: says so');

# soon CONDITION: whether it holds within a minute
sub soon
{
	my ($holds) = @_;
	for (1 .. 600) {
		return 1 if $holds->();
		sleep 0.1;
	}
	return 0;
}

# interrupt FILE: ends run when FILE has the number of a process that run has started, which must
# end, too; what else FILE has
sub interrupt
{
	my ($file) = @_;
	my $pid = fork // die "cannot fork: $!\n";
	if (!$pid) {
		open STDOUT, '>', "$dir/interrupted.out" or die "$dir/interrupted.out: $!\n";
		exec "$mutants/run" or die "$mutants/run: $!\n";
	}
	my $there = soon(sub { -s $file });
	kill 'TERM', $pid;
	soon(sub { waitpid $pid, WNOHANG }) or kill 'KILL', $pid;
	is($? >> 8, 130, 'interrupted: ends, and says so');
	my ($started, $rest) = split ' ', get($file);
	ok($there && soon(sub { !kill 0, $started }), '  and what it has started has ended')
		or $there && kill 'TERM', $started;
	return $rest;
}

# A compiler that went on would read sources that the next run has changed.
unlink glob("$dir/mutants/*"), "$dir/build/compiler";
kernel_toy('a', 'marker', 'endless');
is(interrupt("$dir/build/compiler"), 1, 'what compiles a mutant does without the cache of objects');

# A test of the host reads them, too.
put("$top/tools/testing/text_sites/host/toy.t", <<"PERL");
#!/usr/bin/perl
open my \$file, '>', '$dir/build/test' or die;
print \$file \$\$;
close \$file;
sleep 600;
PERL
unlink glob "$dir/mutants/*";
put("$dir/mutants/a.patch", "It breaks.\nKiller: host toy.t\n" .
    "\n--- a/kernel/marker.txt\n+++ b/kernel/marker.txt\n\@\@ -1 +1 \@\@\n-good\n+bad\n");
interrupt("$dir/build/test");

done_testing();
