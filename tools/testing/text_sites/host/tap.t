#!/usr/bin/perl
# How test results are read and counted: good, bad, missing, cut short.
#
# reads: tools/testing/text_sites/results arch kernel
use strict;
use warnings;
use Test::More;
use File::Basename qw(dirname);
use File::Temp qw(tempdir);

my $results = dirname(__FILE__) . '/../results';
my $dir = tempdir(CLEANUP => 1);

# run INPUT, ARGUMENT...: what `results` prints for INPUT, and its exit status
sub run
{
	my ($input, @arguments) = @_;
	open my $in, '>', "$dir/in" or die $!;
	print $in $input;
	close $in;
	my $out = qx('$results' @arguments <'$dir/in' 2>&1);
	return ($out, $? >> 8);
}

# is_read NAME, TAP, EXPECTED, STATUS: EXPECTED is "what name[: why]" a line
sub is_read
{
	my ($name, $tap, $expected, $status, $mode) = @_;
	$mode //= 'read';
	my ($out) = run($tap, $mode, '--label m --log l', $mode eq 'read' ? ('--status', $status // 0) : ());
	$out =~ s/^(\w+)\tm: ([^\t]*)\t([^\t]*)\tl$/"$1 $2" . ($3 eq '' ? '' : ": $3")/gme;
	is($out, $expected, $name);
}

is_read('good tests', <<'TAP', <<'EXPECTED');
TAP version 13
1..2
ok 1 - one
ok 2 two
TAP
pass one
pass two
EXPECTED

is_read('a bad test among good ones', <<'TAP', <<'EXPECTED', 1);
1..2
ok 1 one
not ok 2 two # exit=1
TAP
pass one
fail two: exit=1
EXPECTED

is_read('a test of the kernel says why it fails', <<'TAP', <<'EXPECTED', 1);
1..1
# 1..3
# # FAIL: this much: got '1', expected '2'
# # FAIL: and that
# not ok 1 two
# ok 2 three
# not ok 3 four
not ok 1 selftests: text_sites: a.sh # exit=1
TAP
fail selftests: text_sites: a.sh: two: this much: got '1', expected '2'
pass selftests: text_sites: a.sh: three
fail selftests: text_sites: a.sh: four
EXPECTED

is_read('a skipped test gives its reason', <<'TAP', <<'EXPECTED');
1..2
ok 1 one # SKIP no such processor
ok 2 two
TAP
skip one: no such processor
pass two
EXPECTED

is_read("a test that the kernel's runner skips gives what it said last", <<'TAP', <<'EXPECTED');
1..2
# needs two processors
ok 1 one # SKIP
ok 2 two # SKIP
TAP
skip one: needs two processors
skip two: no reason given
EXPECTED

is_read('all skipped', "1..0 # SKIP nothing here\n", "skip all: nothing here\n");

is_read('all skipped, as prove says it', "host/x.t .. skipped: no x\nResult: NOTESTS\n", "skip all: no x\n");

is_read('no plan', "ok 1 one\n", <<'EXPECTED');
pass one
fail run: no plan: the tests may have ended early
EXPECTED

is_read('fewer tests than planned', "1..3\nok 1 one\n", <<'EXPECTED');
pass one
fail run: 3 tests planned, 1 ran
EXPECTED

is_read('a bad status behind good tests', "1..1\nok 1 one\n", <<'EXPECTED', 125);
pass one
fail run: ended with status 125
EXPECTED

is_read('no test at all', "hello\n", "fail run: ran no tests\n");
is_read('a dead machine', '', "fail run: ran no tests, status 124\n", 124);
is_read('a plan and no test', "1..2\n", "fail run: ran no tests\n");

is_read("the kernel's runner: the inner tests count", <<'TAP', <<'EXPECTED', 1);
TAP version 13
1..3
# timeout set to 45
# selftests: text_sites: a.sh
# TAP version 13
# 1..3
# ok 1 one
# not ok 2 two
# ok 3 three # SKIP not built
not ok 1 selftests: text_sites: a.sh # exit=1
# selftests: text_sites: b.sh
# all is well, ok 1
ok 2 selftests: text_sites: b.sh
# 1..1
# ok 1 only
not ok 3 selftests: text_sites: c.sh # TIMEOUT 45 seconds
TAP
pass selftests: text_sites: a.sh: one
fail selftests: text_sites: a.sh: two
skip selftests: text_sites: a.sh: three: not built
pass selftests: text_sites: b.sh
pass selftests: text_sites: c.sh: only
fail selftests: text_sites: c.sh: TIMEOUT 45 seconds
EXPECTED

is_read('an inner plan that is not kept', <<'TAP', <<'EXPECTED');
1..1
# 1..2
# ok 1 one
ok 1 a.sh
TAP
pass a.sh: one
fail a.sh: 2 tests planned, 1 ran
EXPECTED

is_read('a time limit inside of a test', <<'TAP', <<'EXPECTED');
1..1
# 1..2
# ok 1 one
not ok 1 a.sh # TIMEOUT 45 seconds
TAP
pass a.sh: one
fail a.sh: 2 tests planned, 1 ran, TIMEOUT 45 seconds
EXPECTED

is_read('cut short inside of a test', <<'TAP', <<'EXPECTED', 125);
1..2
ok 1 a.sh
# 1..2
# ok 1 one
TAP
pass a.sh
pass one
fail end: 2 tests planned, 1 ran
fail run: 2 tests planned, 1 ran
EXPECTED

is_read('KUnit on the console: our suites, and a healthy log', <<'LOG', <<'EXPECTED', 0, 'console');
[    1.000000] KTAP version 1
[    1.000000] 1..2
[    1.000001]     KTAP version 1
[    1.000001]     # Subtest: other
[    1.000001]     1..1
[    1.000001]     not ok 1 theirs
[    1.000001] not ok 1 other
[    1.000002]     KTAP version 1
[    1.000002]     # Subtest: text_site_nop
[    1.000002]     # module: text_site_test
[    1.000002]     1..3
[    1.000003]     ok 1 choice
[    1.000003]         KTAP version 1
[    1.000003]         # Subtest: bytes
[    1.000003]         ok 1 five
[    1.000003]         not ok 2 four
[    1.000003]     # bytes: pass:1 fail:1 skip:0 total:2
[    1.000003]     not ok 2 bytes
[    1.000004]     ok 3 old # SKIP not on this processor
[    1.000004] # text_site_nop: pass:1 fail:1 skip:1 total:3
[    1.000005] not ok 2 text_site_nop
LOG
pass text_site_nop: choice
pass text_site_nop: bytes: five
fail text_site_nop: bytes: four
skip text_site_nop: old: not on this processor
pass kernel log
EXPECTED

# Each suite that there is
my $sources = dirname(__FILE__) . '/../../../..';
my @suites = split /\n/,
	qx(find '$sources/arch' '$sources/kernel' -name '*_test.c' -exec '$results' suites {} +);
cmp_ok(scalar @suites, '>', 15, 'our suites are found');
is_read("a test of $_ counts", <<"LOG", "pass $_: one\npass kernel log\n", 0, 'console') for @suites;
[    1.000000] 1..1
[    1.000001]     # Subtest: $_
[    1.000001]     1..1
[    1.000002]     ok 1 one
[    1.000003] ok 1 $_
LOG

is_read('KUnit tests that should have run', "[    1.000000] fine\n",
	"fail KUnit: no test ran\npass kernel log\n", 0, 'console --kunit');
is_read('KUnit tests that need not', "[    1.000000] fine\n", "pass kernel log\n", 0, 'console');
is_read('a line where another one was cut', "[    1.000000] text_si[    1.000001] WARNING: CPU: 0\n",
	"fail kernel log: WARNING: CPU: 0\n", 0, 'console');

my $one = "[    1.0]     # Subtest: marker\n[    1.0]     1..1\n" .
	"[    1.0]     ok 1 one\n[    1.0] ok 1 marker\n";
my $passed = "pass marker: one\n";
my $lost = "fail KUnit: 2 suites planned, 1 ran\n";
{
	open my $file, '>', "$dir/suites" or die "$!";
	print {$file} "fentry_set\nmarker\nimmediate\n";
	close $file;
}
is_read('suites that should have run', $one, "${passed}fail KUnit: no test ran of fentry_set immediate\n" .
	"pass kernel log\n", 0, "console --suites $dir/suites");
is_read('fewer suites than planned', "[    1.0] 1..2\n$one", "$passed${lost}pass kernel log\n",
	0, 'console');
is_read('fewer than planned, then others', "[    1.0] 1..2\n${one}[    1.0] 1..1\n$one",
	"$passed$lost${passed}pass kernel log\n", 0, 'console');
is_read('more than planned: those of modules', "[    1.0] 1..1\n$one$one",
	"$passed${passed}pass kernel log\n", 0, 'console');
is_read('the kernel dies in a suite that does not count',
	"[    1.0] 1..2\n${one}[    1.0]     # Subtest: other\n", "$passed${lost}pass kernel log\n",
	0, 'console');

my $null = "BUG: kernel NULL pointer dereference, address: 0\n";
my $oops = "[    7.1] $null\[    7.2] Oops: Oops: 0002 [#1]\n" .
	"[    7.2] RIP: 0010:die+0x2e/0x40 [death_test]\n" .
	"[    7.3] ---[ end trace 0000000000000000 ]---\n";
my $announced = "[    7.0] death_test: the next oops is intended\n$oops";
is_read('an intended oops', $announced, "pass kernel log\n", 0, 'console');
is_read('another one after it', "$announced$oops", "fail kernel log: $null", 0, 'console');
is_read('another one in its place', $announced =~ s/die.*/vfs_read+0x1\/0x2/r,
	"fail kernel log: $null", 0, 'console');
is_read('another one within it', $announced =~ s/(?=\[    7\.3\])/[    7.2] $null/r,
	"fail kernel log: $null", 0, 'console');
is_read('one that is cut short', $announced =~ s/\[    7\.2\] RIP.*//sr, "fail kernel log: $null",
	0, 'console');
is_read('a warning within it', $announced =~ s/(?=\[    7\.3\])/[    7.2] WARNING: CPU: 0\n/r,
	"fail kernel log: WARNING: CPU: 0\n", 0, 'console');

is_read('a kernel that dies in a suite of ours', <<'LOG', <<'EXPECTED', 0, 'console');
[    1.000000] 1..1
[    1.000001]     # Subtest: fentry_set
[    1.000001]     1..2
[    1.000003]     ok 1 first
[    1.000003]         # Subtest: second
[    1.000003]         not ok 1 with something
[    1.000003]     not ok 2 second
[    1.000003]     not ok 3 third
[    1.000004] BUG: kernel NULL pointer dereference, address: 0000000000000000
LOG
fail fentry_set: second: with something
fail fentry_set: third
fail fentry_set: the suite did not end
fail kernel log: BUG: kernel NULL pointer dereference, address: 0000000000000000
EXPECTED

# What kernels say that check themselves
for my $said ('WARNING: possible circular locking dependency detected',
	'WARNING: suspicious RCU usage',
	'WARNING: CPU: 1 PID: 60 at kernel/trace/trace.c:1 f+0x1/0x2',
	'BUG: KASAN: slab-use-after-free in f+0x1/0x2',
	'BUG: KCSAN: data-race in f / g',
	'BUG: sleeping function called from invalid context at mm/slab.h:1',
	'BUG: MAX_LOCKDEP_CHAINS too low!',
	'BUG kmalloc-64 (Not tainted): Poison overwritten',
	'INFO: trying to register non-static key.',
	'INFO: task kworker/0:1:9 blocked for more than 120 seconds.',
	'rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:',
	'watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [bash:1]',
	'[ BUG: Invalid wait context ]',
	'kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)',
	'UBSAN: array-index-out-of-bounds in a.c:1:2') {
	is_read("the kernel complains: $said", "[    1.000000][    T1] fine\n[   12.000000][   T60] $said\n",
		"fail kernel log: $said\n", 0, 'console');
}

is_read('messages are dropped', "[    1.000000] fine\n** 412 printk messages dropped **\n",
	"fail kernel log: ** 412 printk messages dropped **\n", 0, 'console');
is_read('a complaint behind what a program has written',
	"init: x[    9.100000] WARNING: suspicious RCU usage\n",
	"fail kernel log: WARNING: suspicious RCU usage\n", 0, 'console');

is_read('a complaint that a test asks for', "[    1.000000] UBSAN: shift-out-of-bounds in ../lib/test_ubsan.c:51:2\n",
	"pass kernel log\n", 0, 'console');

# race FUNCTION: a report of KCSAN in which it is
sub race
{
	my ($function) = @_;
	my @lines = ('=' x 66, 'BUG: KCSAN: data-race in read / write', '', 'write to 0x1 of 4 bytes by task 1 on cpu 0:',
		' write+0x1/0x2', " $function+0x1/0x2", '', 'read to 0x1 of 4 bytes by interrupt on cpu 1:',
		' read+0x1/0x2', '', 'Reported by Kernel Concurrency Sanitizer on:', 'CPU: 0 PID: 1 Comm: a', '=' x 66);
	return join '', map { "[    1.000000] $_\n" } @lines;
}
open my $functions, '>', "$dir/ours" or die $!;
print $functions "ours_one\nours_two\n";
close $functions;
my $race = 'BUG: KCSAN: data-race in read / write';
my $known = "known data-race in read / write: a race of the base\n";
for my $function ('ours_two', 'ours_two.isra.0', 'ours_two.part.0.constprop.0') {
	is_read("a data race with $function", race('theirs') . race($function) . race('other'),
		"${known}fail kernel log: $race\n", 0, "console --ours $dir/ours");
}
is_read('one without a function of ours, twice', race('theirs') . race('ours'), "${known}pass kernel log\n",
	0, "console --ours $dir/ours");
is_read('one whose report is cut short', race('theirs') =~ s/ write\+.*//sr, "fail kernel log: $race\n",
	0, "console --ours $dir/ours");
is_read('another complaint beside it', race('theirs') . "[    1.000000] WARNING: suspicious RCU usage\n" . race('theirs'),
	"${known}fail kernel log: WARNING: suspicious RCU usage\n", 0, "console --ours $dir/ours");
is_read('any, when it is not known what is ours', race('theirs'), "fail kernel log: $race\n", 0, 'console');

is_read('unresolved is not passed', "1..1\nnot ok 1 one # UNRESOLVED\n", "fail one: UNRESOLVED\n", 0);

is_read("the base's livepatch tests", <<'TAP', <<'EXPECTED', 1);
1..2
# TEST: one ... ok
# TEST: two ... not ok
# ERROR: livepatch kselftest(s) failed
not ok 1 selftests: livepatch: a.sh # exit=1
# TEST: three ... SKIP: cannot
ok 2 selftests: livepatch: b.sh # SKIP
TAP
pass selftests: livepatch: a.sh: one
fail selftests: livepatch: a.sh: two
skip selftests: livepatch: b.sh: TEST: three ... SKIP: cannot
EXPECTED

is_read('the test that ends with the machine', <<'TAP', <<'EXPECTED', 125);
1..3
# begins: a.tc
ok 1 - a.tc
# begins: b.tc
# something else
TAP
pass a.tc
fail b.tc: ended with the machine
fail run: 3 tests planned, 2 ran
EXPECTED

# is_judged NAME, LIST, LINES, EXPECTED: LINES by what LIST expects
sub is_judged
{
	my ($name, $list, $lines, $expected) = @_;
	open my $file, '>', "$dir/list" or die $!;
	print $file $list;
	close $file;
	my ($out) = run($lines, 'judge', '--label m --log l --list', "$dir/list");
	is($out, $expected, $name);
}

my $good = "pass\tm: a\t\tl\n";
my $bad = "fail\tm: a\tno\tl\n";
my $skipped = "skip\tm: a\tno x\tl\n";
is_judged('not listed: good', '', $good, $good);
is_judged('not listed: bad', '', $bad, $bad);
is_judged('not listed: skipped is bad', '', $skipped, "fail\tm: a\tskipped: no x\tl\n");
is_judged('listed as fail: bad', "m: a\tfail\tit is so\n", $bad, "known\tm: a\tit is so\tl\n");
is_judged('listed as fail: good is bad', "m: a\tfail\tit is so\n", $good, "fail\tm: a\tlisted as fail: pass\tl\n");
is_judged('listed as skip: skipped', "m: a\tskip\tno x\n", $skipped, "known\tm: a\tno x\tl\n");
is_judged('listed as skip: bad', "m: a\tskip\tno x\n", $bad, "fail\tm: a\tlisted as skip: fail, no\tl\n");
is_judged('listed as may-fail: good', "m: a\tmay-fail\tit is so\n", $good, $good);
is_judged('listed as may-fail: bad', "m: a\tmay-fail\tit is so\n", $bad, "known\tm: a\tit is so\tl\n");
is_judged('listed as may-skip: good', "m: a\tmay-skip\tit is so\n", $good, $good);
is_judged('listed as may-skip: skipped', "m: a\tmay-skip\tit is so\n", $skipped,
	"known\tm: a\tit is so\tl\n");
is_judged('listed as may-fail: skipped is bad', "m: a\tmay-fail\tit is so\n", $skipped,
	"fail\tm: a\tlisted as may-fail: skip, no x\tl\n");
is_judged('listed and not run', "# a comment\n\nm: b\t\tfail\tit is so\n", $good,
	"${good}fail\tm: b\tlisted as fail: was not run\tl\n");
is_judged('a list without a reason', "m: a\tfail\n", $good,
	"results: $dir/list:1: not a name, a state and a reason\n");

# Where skipped ones are expected, but not all of a script
{
	my $one = "skip\tm: x.sh: one\tno x\tl\n";
	my $two = "pass\tm: x.sh: two\t\tl\n";
	my $three = "skip\tm: y.sh: three\tno y\tl\n";
	open my $file, '>', "$dir/list" or die $!;
	close $file;
	my @part = ('judge', '--part', '--label m --log l --list', "$dir/list");
	is((run($one . $two, @part))[0], $one . $two, 'a part is skipped');
	is((run($one . $two . $three, @part))[0],
		"$one${two}fail\tm: y.sh: three\tskipped: no y\tl\n", 'all of a script is skipped');

	my $case = "skip\tm: fentry_ops: one\tno x\tl\n";
	my $other = "pass\tm: fentry_ops: two\t\tl\n";
	my $foreign = "skip\tm: ftrace: one\tno x\tl\npass\tm: ftrace: two\t\tl\n";
	is((run($case . $other, @part))[0], $case . $other, 'a part of a suite is skipped');
	is((run($case, @part))[0], "fail\tm: fentry_ops: one\tskipped: no x\tl\n",
		'all of a suite is skipped');
	like((run($foreign, @part))[0], qr/^fail\tm: ftrace: one/, 'one of the base is skipped');
}

my ($out, $status) = run("pass\tm: a\t\tl\npass\tm: b\t\tl\n", 'sum');
is($out, "2 passed, 0 failed\n", 'the sum of good tests');
is($status, 0, '  is a success');

($out, $status) = run("pass\tm: a\t\tl\nfail\tm: b\twhy\tlog/m\nskip\tm: c\tno x\tl\n", 'sum');
is($out, "FAIL m: b: why (log: log/m)\nSKIP m: c: no x\n1 passed, 1 failed, 1 skipped\n",
	'the sum names what failed and what was skipped');
is($status, 1, '  is a failure');

($out, $status) = run("pass\tm: a\t\tl\nknown\tm: b\twhy\tl\n", 'sum');
is($out, "KNOWN m: b: why\n1 passed, 0 failed, 1 as listed\n", 'the sum names what is known');
is($status, 0, '  is a success');

($out, $status) = run('', 'sum');
like($out, qr/^0 passed, 1 failed$/m, 'no test at all counts as one that failed');
is($status, 1, '  is a failure');

done_testing();
