#!/usr/bin/perl
# How the harness fails, and what it redoes: on a toy base and a toy machine.
use strict;
use warnings;
use Test::More;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);

my $harness = abs_path(dirname(__FILE__) . '/..');
my $dir = tempdir(CLEANUP => 1);
my $top = "$dir/top";
my $build = "$dir/build";
my $bin = "$dir/bin";

delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL ENGINE VARIANT FILTER CMD V MACHINES TS_MACHINES TS_LIST)};
@ENV{qw(TS_TOP TS_BUILD TS_SOURCE TS_CONFIG JOBS)} =
	($top, $build, "$dir/base.tar.xz", "$dir/config", 1);

# put PATH, TEXT: a file, executable if it is a script
sub put
{
	my ($path, $text) = @_;
	make_path(dirname($path));
	open my $file, '>', $path or die "$path: $!";
	print $file $text;
	close $file;
	chmod 0755, $path if $text =~ /^#!/;
}

sub get
{
	open my $file, '<', $_[0] or return '';
	local $/;
	return scalar <$file>;
}

# run COMMAND: what it prints, its exit status, how many lines it printed
sub run
{
	my $out = qx({ $_[0]; } 2>&1);
	my $status = $? >> 8;
	my $lines = () = $out =~ /\n/g;
	return ($out, $status, $lines);
}

# fails NAME, COMMAND, PATTERN, LINES: it fails, and the last of its LINES says why
sub fails
{
	my ($name, $command, $pattern, $lines) = @_;
	my ($out, $status, $printed) = run($command);
	my ($last) = $out =~ /([^\n]*)\n\z/;
	isnt($status, 0, "$name: fails");
	like($last // '', $pattern, '  and says why');
	is($printed, $lines, '  in few words') or diag($out) if defined $lines;
}

# works NAME, COMMAND: it succeeds; returns what it printed
sub works
{
	my ($name, $command) = @_;
	my ($out, $status) = run($command);
	is($status, 0, $name) or diag($out);
	return $out;
}

sub age { return (stat $_[0])[9] // 0 }
sub make_old { utime 1e9, 1e9, @_ }

my $steps = "$harness/steps";

# A base whose kernel is what its Makefile says it is
put("$dir/base/kernel/one.c", join '', map { "line $_\n" } 1 .. 20);
put("$dir/base/kernel/two.c", "two\n");
put("$dir/base/Makefile", <<'END');
allnoconfig:
	mkdir -p $(O) && cp $(KCONFIG_ALLCONFIG) $(O)/.config
	sh kernel/configure.sh $(O)
bzImage:
	sh kernel/compile.sh
	mkdir -p $(O)/arch/x86/boot && echo image >$(O)/arch/x86/boot/bzImage
modules modules_install:
END
system("tar -cJf '$dir/base.tar.xz' -C '$dir' base") == 0 or die;
put("$dir/config/machine.config", "CONFIG_A=y\n# CONFIG_B is not set\n");
put("$dir/config/engine-text_sites.config", "CONFIG_ENGINE=y\n");
put("$top/kernel/ours.c", "ours\n");
put("$top/kernel/Kconfig", "1\n");
put("$top/kernel/configure.sh", "true\n");
put("$top/kernel/compile.sh", "echo compiling\n");

# What make is asked for
fails('an engine that is not', "ENGINE=nonsense $steps tree", qr/^steps: ENGINE .* 'nonsense'$/, 1);
fails('a variant that is not', "VARIANT=nonsense $steps tree", qr/^steps: no such VARIANT: /, 1);
fails('no number of jobs', "JOBS=x $steps tree", qr/^steps: JOBS .* 'x'$/, 1);

# Packages
put("$bin/dpkg-query", "#!/bin/sh\nexit 1\n");
put("$bin/apt-get", "#!/bin/sh\necho 'E: Unable to locate package flex'\nexit 100\n");
put("$bin/sudo", "#!/bin/sh\nexec \"\$@\"\n");
fails('packages that cannot be had', "PATH=$bin:\$PATH $steps packages",
	qr/^packages: cannot install .*: E: Unable to locate package flex \(log: /);
put("$bin/dpkg-query", "#!/bin/sh\nshift 2\nprintf '%s installed\\n' \"\$@\"\n");
is(works('packages that are there', "PATH=$bin:\$PATH $steps packages"), '', '  no word about them');
unlink glob "$bin/*";

# The tree
fails('no source package', "TS_SOURCE=$dir/none.tar.xz $steps tree",
	qr/^tree: \S+none.tar.xz is missing: .* package/, 1);
put("$dir/bad.tar.xz", "no archive\n");
fails('a broken source package', "TS_SOURCE=$dir/bad.tar.xz $steps tree",
	qr/^tree: cannot unpack \S+bad.tar.xz: /, 2);

my $good = <<'END';
--- a/kernel/one.c
+++ b/kernel/one.c
@@ -9,6 +9,7 @@
 line 11
 line 12
 line 13
+patched
 line 14
 line 15
 line 16
END
put("$top/patches/0001-good.patch", $good);
works('a patch that fits elsewhere', "$steps tree");
like(get("$build/tree/kernel/one.c"), qr/line 13\npatched\n/, '  is applied there');
is(get("$build/tree/kernel/ours.c"), "ours\n", 'our files are in the tree');
make_old("$build/tree/kernel/ours.c");
my $two = <<'END';
--- a/kernel/two.c
+++ b/kernel/two.c
@@ -1 +1 @@
-two
+2
END
put("$top/patches/0002-next.patch", $good =~ s/ line 11/ line eleven/r . $two);
fails('a patch that does not quite fit', "$steps tree",
	qr{^tree: patches/0002-next.patch does not apply to kernel/one.c \(log: }, 2);
fails('  and again', "$steps tree", qr/does not apply/, 2);
put("$top/patches/0002-next.patch", $good =~ s/one/none/gr);
fails('a patch for no file', "$steps tree", qr{does not apply to kernel/none.c}, 2);
put("$top/patches/0002-next.patch", $two);
make_old("$build/tree/kernel/one.c");
works('patches that fit', "$steps tree");
is(get("$build/tree/kernel/two.c"), "2\n", '  are applied');
is(age("$build/tree/kernel/ours.c"), 1e9, '  a file that stays the same keeps its time');
is(age("$build/tree/kernel/one.c"), 1e9, '  and one of the base, too');

is(works('nothing new', "$steps tree"), '', '  nothing to say');
put("$build/tree/kernel/two.c", "edited\n");
like(works('a tree edited by hand', "$steps tree"), qr{^tree: \S*kernel/two.c was changed}, '  is noticed');
is(get("$build/tree/kernel/two.c"), "2\n", '  and restored');
unlink "$build/tree/kernel/one.c";
works('a tree with a file removed', "$steps tree");
ok(-e "$build/tree/kernel/one.c", '  is restored');
put("$build/tree/kernel/ours.c", "edited\n");
works('our file edited in the tree', "$steps tree");
is(get("$build/tree/kernel/ours.c"), "ours\n", '  is restored');
put("$top/kernel/sub/more.c", "more\n");
works('a new file of ours', "$steps tree");
is(get("$build/tree/kernel/sub/more.c"), "more\n", '  comes in');
unlink "$top/kernel/sub/more.c";
works('a file of ours removed', "$steps tree");
ok(!-e "$build/tree/kernel/sub", '  goes, with its folder');
put("$top/kernel/two.c", "ours\n");
fails('a file of ours in place of one of the base', "$steps tree",
	qr{^tree: kernel/two.c is a file of the base: change it with a patch$}, 1);
unlink "$top/kernel/two.c";
unlink "$build/stamps/base";
put("$build/tree.new/half", "half\n");
works('an interrupted unpacking', "$steps tree");
ok(!-e "$build/tree.new" && !-e "$build/tree/half", '  is done again');
put("$top/include/ours.h", "ours\n");
works('a header of ours', "$steps tree");
works('the base as it is', "ENGINE=base $steps tree");
is(get("$build/tree-base/kernel/two.c"), "two\n", '  is not patched');
ok(-e "$build/tree-base/include/ours.h" && !-e "$build/tree-base/kernel/ours.c",
	'  has nothing of ours but headers');
is(works('the tree beside it', "$steps tree"), '', '  is not touched');

# The kernel
my $kernel = "$steps tree kernel";
works('a kernel', $kernel);
like(works('the same kernel', $kernel), qr/^kernel: \S+ is up to date$/, '  is not compiled again');
unlink "$build/text_sites/arch/x86/boot/bzImage";
unlike(works('a kernel that is gone', $kernel), qr/up to date/, '  is compiled again');

put("$top/kernel/configure.sh", "sed -i '/CONFIG_A/d; s/# CONFIG_B is.*/CONFIG_B=m/' \$1/.config\n");
put("$top/kernel/Kconfig", "2\n");
my $lacks = qr/^kernel: the configuration does not hold: CONFIG_A=y \(is off\), CONFIG_B=n \(is CONFIG_B=m\)$/;
fails('a configuration that lacks something', $kernel, $lacks, 2);
fails('  and again', $kernel, $lacks, 2);
put("$dir/config/engine-text_sites.off", "# not yet\nCONFIG_A # later\nCONFIG_B\n");
works('what is known to be lacking', $kernel);
put("$dir/config/variant-b.config", "CONFIG_B=m\n");
put("$dir/config/engine-text_sites.off", "CONFIG_A\n");
put("$build/text_sites/kernel/same.o", 'same');
works('a variant has the last word', "VARIANT=b $kernel");
is(get("$build/text_sites-b/kernel/same.o"), 'same', '  and begins with what its engine has');
fails('  only where it is asked for', $kernel, qr/does not hold: CONFIG_B=n/);
put("$dir/config/engine-text_sites.off", "CONFIG_A\nCONFIG_B\n");

put("$top/kernel/compile.sh", "echo 'kernel/ours.c:1:2: error: no such thing'; exit 1\n");
fails('an error', $kernel, qr{^kernel: does not compile: kernel/ours.c:1:2: error: no such thing \(log: \S+\)$});
fails('  and again', $kernel, qr{does not compile});
put("$top/kernel/compile.sh", "echo 'x.c: fatal error: x.s: No space left on device'; exit 1\n");
fails('a full disk', $kernel, qr{^kernel: does not compile: the disk is full \(log: });
put("$top/kernel/compile.sh", "echo 'kernel/two.c:1:2: warning: theirs'\n");
works('a warning about the base', $kernel);
put("$top/kernel/compile.sh", "echo '../tree/kernel/ours.c:1:2: warning: ours'\n");
make_old("$build/tree/kernel/ours.c");
fails('a warning about a file of ours', $kernel, qr{^kernel: compiles with warnings: \S+ours.c:1:2: warning: ours});
isnt(age("$build/tree/kernel/ours.c"), 1e9, '  which is going to be compiled again');
put("$top/kernel/compile.sh", "echo 'vmlinux.o: warning: objtool: f+0x1: no'\n");
fails('a warning from objtool', $kernel, qr{^kernel: compiles with warnings: vmlinux.o: });
put("$top/kernel/compile.sh", "true\n");
put("$build/text_sites/kernel/half.o", 'half');
put("$build/text_sites/kernel/.half.o.cmd", 'cmd');
make_old("$build/text_sites/kernel/.half.o.cmd");
put("$build/text_sites/kernel/table.o", 'table');
put("$build/text_sites/kernel/.table.o.cmd", 'cmd');
make_old("$build/text_sites/kernel/.table.o.cmd");
# The script that adds the table writes after kbuild has.
utime 1e9 + 2, 1e9 + 2, "$build/text_sites/kernel/table.o";
put("$build/stamps/compiling-text_sites", "1\n");
works('an interrupted compilation', $kernel);
ok(!-e "$build/text_sites/kernel/half.o", '  leaves no file that may be half of one');
ok(-e "$build/text_sites/kernel/table.o", '  and those made long before');

# Two makes at once
my $pid = open my $lock, '-|', 'flock', "$build/lock", 'sh', '-c', 'echo; sleep 1' or die;
<$lock>;
like(works('a second make', $kernel), qr/^steps: another make is at work in \S+: waiting/, '  waits and says so');
close $lock;

# The machine: an emulator that finds in the root file system how to end
put("$build/rootfs/text_sites.cpio", 'root');
put("$bin/qemu-system-x86_64", <<'END');
#!/bin/bash
while [ $# -gt 0 ]; do
	case $1 in
	-initrd) initrd=$2 ;;
	file:*) console=${1#file:} ;;
	esac
	shift
done
end=$(grep -aom1 'end-of-job-[0-9a-f]*' "$initrd")
printf '[    1.0] booted\r\n' >"$console"
eval "$(grep -aom1 'JOB.*' "$initrd" | sed 's/JOB//')"
END
my $machine = "PATH=$bin:\$PATH $harness/vm/machine --timeout 2";
fails('no kernel', "$harness/vm/machine --kernel $dir/none -c true", qr/^machine: no kernel: /, 1);
fails('no job', "$harness/vm/machine", qr/^machine: no job/, 1);
fails('no such job', "$harness/vm/machine $dir/none.sh", qr/^machine: no job: /, 1);
my ($out, $status) = run(qq($machine -c 'JOBprintf "one\\ntwo"; printf "\\n\$end 7\\n"'));
is($out, "one\ntwo", "the job's output, to the byte");
is($status, 7, "the job's status");
($out, $status) = run(qq($machine -c 'JOBecho one; exec sleep 9'));
like($out, qr/^one\nmachine: no end within 2 seconds.*\n  \| .*booted\n\z/, 'a machine that hangs');
is($status, 124, '  its status');
($out, $status) = run(qq($machine -c 'JOBecho one; echo "[ 2.0] Kernel panic - not syncing: x" >>"\$console"'));
like($out, qr/^one\nmachine: Kernel panic - not syncing: x;.*\n/, 'a kernel that panics');
is($status, 125, '  its status');
($out, $status) = run(qq($machine -c 'JOBecho one'));
like($out, qr/^one\nmachine: ended without/, 'a machine that just ends');
is($status, 125, '  its status');
($out, $status) = run(qq($machine -c 'JOBecho "qemu: no" >&2; exit 1'));
like($out, qr/^machine: the emulator failed: qemu: no/, 'an emulator that fails');

# Whole test runs
($out, $status) = run("TS_SOURCE=$dir/none.tar.xz $steps test-begin tree test-end");
like($out, qr/\nFAIL tree: .*\n0 passed, 1 failed\n\z/, 'a test run that cannot begin says so in its last line');
isnt($status, 0, '  and fails');
put("$dir/machines.tab", "# NAME\ndead single 2 2 - all\n");
($out, $status) = run("PATH=$bin:\$PATH TS_MACHINES=$dir/machines.tab $steps test-begin test-machine test-end");
like($out, qr/\nFAIL dead: run: ran no tests, status 125 .*\n1 passed, 1 failed\n\z/, 'a machine that dies is a test that failed');
isnt($status, 0, '  and fails');
like($out, qr/^test-machine: dead: booting, 1 of 1 \(log: /m, '  and how far it is');
($out, $status) = run("PATH=$bin:\$PATH TS_MACHINES=$dir/machines.tab $steps test-begin test-machine test-end");
like($out, qr/^test-machine: dead: booting, 1 of 1, all until \d\d:\d\d \(log: /m,
	'  and the next time, when it will have ended');

put("$dir/machines.tab", "base-a single 2 2 - ftrace:a/*,!a/no*\nother single 2 2 - all\n");
put("$dir/list.tab", "# a comment\nftrace: a/one.tc\tfail\twhy\nftrace: a/no.tc\tfail\twhy\nother: a/two.tc\tfail\twhy\n");
($out, $status) = run("PATH=$bin:\$PATH TS_MACHINES=$dir/machines.tab TS_LIST=$dir/list.tab MACHINES='base-*' " .
	"$steps test-begin test-machine test-end");
like($out, qr{\nFAIL ftrace: run: ran no tests, .*\nFAIL ftrace: a/one.tc: listed as fail: was not run .*\n1 passed, 2 failed\n\z},
	'a machine with tests of the base: those listed for it must run');
isnt($status, 0, '  and fails');

# Each variant that is tested has machines, and no machine is left out
my %built = map { /^ENGINE=\w+ VARIANT=(\w+) MACHINES='\g1-\*'/ ? ($1 => 1) : () }
	split /\n/, qx(make -n --no-print-directory -C '$harness/../../..' test-variants);
my %listed = map { /^(\w+)-\S+\s+\w/ ? ($1 => 1) : () }
	split /\n/, get("$harness/machines-variants.tab");
is_deeply(\%listed, \%built, 'machines with variants: all of those that are built');
ok(-e "$harness/config/variant-$_.config", "  $_ is configured") for sort keys %listed;

# Counts that a test run compares
put("$dir/limits.tab", "# KEY <tab> COUNT\na\t100\nb\t100\nc\t100\n");
put("$dir/counts", "a\t102\nb\t102.5\nd\t1\na\t300\n");
is((run("$harness/bench/guard $dir/limits.tab <$dir/counts"))[0], <<'OUT', 'counts and their limits');
TAP version 13
1..3
# a: 102, was 100
ok 1 a
# b: 102.5, was 100
not ok 2 b
# c: not counted, was 100
not ok 3 c
OUT
($out, $status) = run("$harness/bench/guard $dir/none.tab <$dir/counts");
like($out, qr/^guard: .*none.tab: /, '  without a list of limits');
isnt($status, 0, '  fails');

done_testing();
