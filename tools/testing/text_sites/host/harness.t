#!/usr/bin/perl
# How the harness fails, and what it redoes: on a toy base and a toy machine.
use strict;
use warnings;
use Test::More;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use lib dirname(__FILE__);

use Files;

my $harness = abs_path(dirname(__FILE__) . '/..');
my $dir = tempdir(CLEANUP => 1);
my $top = "$dir/top";
my $build = "$dir/build";
my $bin = "$dir/bin";

delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL ENGINE VARIANT FRAGMENT SMP ACCEL CPU FILTER CMD V MACHINES NUMBERS GROUP ONLY SLOW DAMAGE MODEL PICTURE TS_MACHINES TS_LIST)};
@ENV{qw(TS_TOP TS_BUILD TS_SOURCE TS_CONFIG JOBS)} =
	($top, $build, "$dir/base.tar.xz", "$dir/config", 1);

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
	if grep -q '^# CONFIG_MODULES' $(O)/.config; then sed -i /CONFIG_MODULES=y/d $(O)/.config; fi
	echo CONFIG_FOR_$(ARCH)=y >>$(O)/.config
	sh kernel/configure.sh $(O)
olddefconfig:
	echo CONFIG_LOCAL$(LOCALVERSION)=y >>$(O)/.config
	sh kernel/configure.sh $(O)
bzImage:
	sh kernel/compile.sh
	mkdir -p $(O)/arch/x86/boot && echo image >$(O)/arch/x86/boot/bzImage
modules modules_install:
	grep -q '^CONFIG_MODULES=y' $(O)/.config && mkdir -p $(O)/mod && touch $(O)/mod/$@
menuconfig:
	sh kernel/menu.sh >>$(O)/.config
END
system("tar -cJf '$dir/base.tar.xz' -C '$dir' base") == 0 or die;
put("$dir/config/machine.config", "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_MODULES=y\n");
put("$dir/config/engine-text_sites.config", "CONFIG_ENGINE=y\n");
put("$top/kernel/ours.c", "ours\n");
put("$top/kernel/Kconfig", "1\n");
put("$top/kernel/configure.sh", "true\n");
put("$top/kernel/compile.sh", "echo compiling\n");

# What make is asked for
fails('an engine that is not', "ENGINE=nonsense $steps tree", qr/^steps: ENGINE .* 'nonsense'$/, 1);
fails('a variant that is not', "VARIANT=nonsense $steps tree", qr/^steps: no such VARIANT: /, 1);
put("$dir/config/variant-arm64.config", "# arch: arm64\n");
fails('a kernel without a user space', "VARIANT=arm64 $steps rootfs run",
	qr/^steps: VARIANT=arm64 has no user space here: /, 1);
fails('no number of jobs', "JOBS=x $steps tree", qr/^steps: JOBS .* 'x'$/, 1);
fails('steps that are no numbers', "NUMBERS='1 x' $steps tree", qr/^steps: NUMBERS .* '1 x'$/, 1);
fails('a picture or none', "PICTURE=x $steps run", qr/^run: PICTURE is 1 .*, not 'x'$/, 1);

# Packages
put("$bin/dpkg-query", "#!/bin/sh\nexit 1\n");
put("$bin/apt-get", "#!/bin/sh\necho 'E: Unable to locate package flex'\nexit 100\n");
put("$bin/sudo", "#!/bin/sh\nexec \"\$@\"\n");
fails('packages that cannot be had', "PATH=$bin:\$PATH $steps packages",
	qr/^packages: cannot install .* sparse .*: E: Unable to locate package flex \(log: /);
put("$dir/config/variant-bare.config", "# untested\n");
fails('  without those of tests', "VARIANT=bare PATH=$bin:\$PATH $steps packages",
	qr/^packages: cannot install (?!.* sparse ).* bison .*: E: Unable to locate package flex \(log: /);
put("$bin/dpkg-query", "#!/bin/sh\nshift 2\nprintf '%s installed\\n' \"\$@\"\n");
is(works('packages that are there', "PATH=$bin:\$PATH $steps packages"), '', '  no word about them');
unlink glob "$bin/*";

# The tree
fails('no source package', "TS_SOURCE=$dir/none.tar.xz $steps tree",
	qr/^tree: \S+none.tar.xz is missing: .* package/, 1);
put("$dir/bad.tar.xz", "no archive\n");
fails('a broken source package', "TS_SOURCE=$dir/bad.tar.xz $steps tree",
	qr/^tree: cannot unpack \S+bad.tar.xz: /, 2);

# mail SUBJECT, DIFF: a patch as git makes them
sub mail
{
	my ($subject, $diff) = @_;
	return <<"END" . $diff =~ s/^--- a\/(.*)/diff --git a\/$1 b\/$1\n$&/gmr;
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: A Maintainer <a\@example>
Date: Sun, 22 Nov 2026 15:30:00 +0000
Subject: [PATCH] $subject

Why this is so.

Signed-off-by: A Maintainer <a\@example>
---

END
}

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
put("$top/patches/0001-good.patch", mail('good', $good));
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
put("$top/patches/0002-next.patch", mail('next', $good =~ s/ line 11/ line eleven/r . $two));
my $before = get("$build/tree/kernel/one.c");
fails('a patch that does not quite fit', "$steps tree",
	qr{^tree: patches/0002-next.patch does not apply to kernel/one.c:9 \(log: }, 2);
fails('  and again', "$steps tree", qr/does not apply/, 2);
is(get("$build/tree/kernel/one.c"), $before, '  and the tree is as it was');
is(get("$build/tree/kernel/two.c"), "two\n", '  in all files');
put("$top/patches/0002-next.patch", mail('next', $good =~ s/one/none/gr));
fails('a patch for no file', "$steps tree", qr{^tree: patches/0002-next.patch does not apply to kernel/none.c \(}, 2);
put("$top/patches/0002-next.patch", mail('next', $good =~ s/^\+patched\n//mr));
fails('a patch that was cut', "$steps tree", qr{^tree: patches/0002-next.patch is not a patch: .*line }, 2);
put("$top/patches/0002-next.patch", $two);
fails('a patch that is not a mail', "$steps tree",
	qr{^tree: patches/0002-next.patch cannot be applied: }, 2);
put("$top/patches/0002-next.patch", mail('next', $two));
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
symlink('nowhere', "$top/kernel/link") or die;
works('a link of ours that leads nowhere', "$steps tree");
is(readlink("$build/tree/kernel/link"), 'nowhere', '  is there');
unlink "$top/kernel/link";
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

# Patches are edited as commits
my $git = "git -C $build/patched -c user.name=A -c user.email=a\@example";
is(works('the commits of the patches', "$git log --reverse --format=%s base..series"), "good\nnext\n",
	'  have their names');
put("$build/patched/kernel/two.c", "2 1/2\n");
fails('an edited file', "$steps tree", qr{^tree: \S+patched has changes that are not committed: .*make patches}, 1);
fails('  is not lost', "$steps patches", qr{^patches: \S+patched has changes that are not committed}, 1);
works('a commit', "$git commit -qam 'one more' -m 'Says why.'");
fails('  is not lost by make clean', "$steps clean", qr{^clean: \S+patched has commits that are not in patches/}, 1);
fails('  is not lost, either', "$steps tree", qr{^tree: \S+patched has commits that are not in patches/}, 1);
put("$top/patches/0001-good.patch", mail('good as gold', $good));
fails('and patches that were edited meanwhile', "$steps patches", qr{^patches: patches/ has changed}, 1);
put("$top/patches/0001-good.patch", mail('good', $good));
works('all commits as patches', "$steps patches");
is(join(' ', map { s{.*/}{}r } glob "$top/patches/*"), '0001-good.patch 0002-next.patch 0003-one-more.patch',
	'  have numbers without holes');
like(get("$top/patches/0003-one-more.patch"), qr{
	\AFrom\ 0{40}\ .*\nFrom:\ A\ <a\@example>\nDate:\ .*\nSubject:\ \[PATCH\]\ one\ more\n
	\nSays\ why\.\n---\n\ kernel/two\.c\ \|\ 2\ \+-\n.*\n
	diff\ --git\ a/kernel/two\.c\ b/kernel/two\.c\nindex\ [0-9a-f]{12}\.\.[0-9a-f]{12}}xs,
	'  and the form that git gives them');
make_old("$build/tree/kernel/one.c");
my $id = get("$build/stamps/base");
works('a tree of these', "$steps tree");
is(get("$build/tree/kernel/two.c"), "2 1/2\n", '  has the change');
is(age("$build/tree/kernel/one.c"), 1e9, '  and nothing else is written');
isnt(get("$build/stamps/base"), $id, '  and is another base for the kernel');
$id = get("$build/stamps/base");
put("$top/patches/0003-one-more.patch", get("$top/patches/0003-one-more.patch") =~ s/Says why/Says it/r);
works('another changelog', "$steps tree");
is(get("$build/stamps/base"), $id, '  is none');
fails('a file that the base has not', "FILES=kernel/none.c $steps tree", qr/^tree: FILES: the base has no kernel.none.c$/, 2);
works('a file that no patch touches yet', "FILES=Makefile $steps tree");
ok(-e "$build/patched/Makefile", '  can be edited');
unlink "$top/patches/0003-one-more.patch";
works('a patch less', "$steps tree");
is(get("$build/tree/kernel/two.c"), "2\n", '  leaves nothing behind');
put("$top/patches/0003-new.patch", mail('new', "--- /dev/null\n+++ b/kernel/new.c\n\@\@ -0,0 +1 \@\@\n+new\n"
	=~ s{^}{diff --git a/kernel/new.c b/kernel/new.c\nnew file mode 100644\n}r));
works('a patch that adds a file', "$steps tree");
is(get("$build/tree/kernel/new.c"), "new\n", '  does');
unlink "$top/patches/0003-new.patch";
works('and the patch gone', "$steps tree");
ok(!-e "$build/tree/kernel/new.c", '  so is the file');
works('the repository removed', "rm -rf $build/patched && $steps tree");
ok(-d "$build/patched/.git", '  is made again');

# Another base
fails('no other base', "BASE=$dir/none $steps tree", qr{^tree: BASE: \S+/none is not a kernel's source$}, 1);
system("cp -a '$dir/base' '$dir/other'") == 0 or die;
works('another base', "BASE=$dir/other $steps tree");
is(get("$build/tree-of-other/kernel/two.c"), "2\n", '  is patched');
is(get("$build/tree-of-other/kernel/ours.c"), "ours\n", '  has our files');
is(get("$dir/other/kernel/two.c"), "two\n", '  and is not touched itself');
is(works('again', "BASE=$dir/other $steps tree"), '', '  is nothing to do');
put("$dir/other/kernel/one.c", "another\n");
put("$dir/other/kernel/two.c", "another\n");
my ($told) = run("BASE=$dir/other $steps tree");
like($told, qr{
	^tree:\ patches/0001-good\.patch\ does\ not\ apply\ to\ kernel/one\.c:11\n
	tree:\ patches/0002-next\.patch\ does\ not\ apply\ to\ kernel/two\.c:1\n
	tree:\ 2\ of\ 2\ patches\ do\ not\ apply\ to\ \S+/other\n\z}mx, 'another base that does not fit: all patches that fail');
is(get("$build/tree-of-other/kernel/two.c"), "2\n", '  and its tree is as it was');
put("$dir/other/kernel/two.c", "two\n");
like((run("BASE=$dir/other $steps tree"))[0], qr{0001-good.*\n.*tree: 1 of 2 patches}s, '  and none that does not');
is(works('the tree of the usual base', "$steps tree"), '', '  is as it was');

# The kernel
my $kernel = "$steps tree kernel";
works('a kernel', $kernel);
like(works('the same kernel', $kernel), qr/^kernel: \S+ is up to date$/, '  is not compiled again');
unlink "$build/text_sites/arch/x86/boot/bzImage";
unlike(works('a kernel that is gone', $kernel), qr/up to date/, '  is compiled again');

# What another file is put into by .incbin, of which ccache does not know
put("$dir/image/piggy.S", qq(.incbin "image"\n));
put("$dir/image/Makefile", "%.o: %.S image\n\tgcc -MD -c -o \$@ \$<\n");
for my $image (qw(first other)) {
	put("$dir/image/image", $image);
	works("the $image image", "cd $dir/image && rm -f *.o && CCACHE_DIR=$dir/ccache bash -c " .
		"'. $harness/lib.sh && compiler_cache && make -s $dir/image/piggy.o'");
	like(get("$dir/image/piggy.o"), qr/$image/, '  is in its object');
}

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
put("$dir/config/variant-small.config", "# alone: a kernel of its own\nCONFIG_B=m\n");
put("$build/config.saved", get("$dir/config/machine.config"));
put("$dir/config/machine.config", "CONFIG_C=y\n");
works('a variant that is not alone', "VARIANT=b $kernel");
like(get("$build/text_sites-b/.config"), qr/^CONFIG_C=y/m, "  has the machine's options");
works('one that is', "VARIANT=small $kernel");
unlike(get("$build/text_sites-small/.config"), qr/^CONFIG_C=y/m, '  has not');
ok(!-e "$build/text_sites-small/kernel/same.o", '  and begins with nothing');
put("$dir/config/variant-other.config", "# arch: other\n# variant: b\nCONFIG_C=m\n");
works('one for another architecture, on top of a variant', "VARIANT=other $kernel");
is(join(' ', get("$build/text_sites-other/.config") =~ /^(CONFIG_.*)$/mg),
	'CONFIG_C=y CONFIG_ENGINE=y CONFIG_B=m CONFIG_C=m CONFIG_FOR_other=y', '  has what they ask for');
ok(!-e "$build/text_sites-other/kernel/same.o", '  and begins with nothing, too');
put("$dir/start", "CONFIG_A=y\nCONFIG_D=y\n");
system("xz -k '$dir/start'") == 0 or die;
put("$top/kernel/configs/text_sites.config", "CONFIG_OURS=y\n");
put("$dir/config/variant-start.config", "# config: $dir/start.xz\n# localversion: -x\n# minutes: 8\n# space: 1\n");
put("$dir/config/variant-start.off", "# none\n");
fails('one that begins with a configuration, and loses an option of it', "VARIANT=start $kernel",
	qr/does not hold: CONFIG_A=y/);
put("$dir/config/variant-start.off", "CONFIG_A\n");
like(works('one that is known to lose it', "VARIANT=start JOBS=2 $kernel"),
	qr/^steps: this takes some 4 minutes with 2 processors, and 1 GB$/m, '  says what it takes');
is(join(' ', get("$build/text_sites-start/.config") =~ /^(CONFIG_.*)$/mg),
	'CONFIG_D=y CONFIG_OURS=y CONFIG_LOCAL-x=y', '  has that, our options and its name, no others');
put("$dir/config/machine.config", get("$build/config.saved"));
ok(-e "$build/text_sites/mod/modules_install", 'modules are installed');
put("$dir/config/variant-no_modules.config", "CONFIG_B=m\n# CONFIG_MODULES is not set\n");
works('a variant without modules', "VARIANT=no_modules $kernel");
is_deeply([glob "$build/text_sites-no_modules/mod/lib/modules/*"], [], '  has none');
put("$dir/config/engine-text_sites.off", "CONFIG_A\nCONFIG_B\n");

# More options
put("$dir/x.config", "CONFIG_X=y\n");
put("$dir/y.config", "CONFIG_Y=y\n");
works('two files of options', "FRAGMENT='$dir/x.config $dir/y.config' $kernel");
like(get("$build/text_sites/.config"), qr/^CONFIG_X=y\nCONFIG_Y=y$/m, '  are in the configuration');
fails('one that is not there', "FRAGMENT='$dir/x.config $dir/none.config' $kernel",
	qr{^kernel: FRAGMENT: \S+/none.config does not exist$});
put("$top/kernel/menu.sh", "true\n");
like(works('a menu that changes nothing', "FRAGMENT=$dir/new.config $steps tree kernelconfig"),
	qr/^kernelconfig: nothing has changed$/m, '  says so');
ok(!-e "$dir/new.config", '  leaves nothing behind');
fails('a file that cannot be written', "FRAGMENT=$dir/none/new.config $steps tree kernelconfig",
	qr{^kernelconfig: FRAGMENT: cannot write to \S+/none/new\.config$}, 2);
put("$top/kernel/menu.sh", "echo CONFIG_NEW=y; echo '# CONFIG_OLD is not set'\n");
like(works('one that changes options', "FRAGMENT='$dir/x.config $dir/new.config' $steps tree kernelconfig"),
	qr{^kernelconfig: 2 options are kept in \S+/new\.config$}m, '  says so');
is(get("$dir/new.config"), "CONFIG_NEW=y\n# CONFIG_OLD is not set\n", '  keeps them in the last file');
works('without a file', "cd $top && $steps tree kernelconfig");
is(get("$top/kernel.config"), "CONFIG_NEW=y\n# CONFIG_OLD is not set\n", '  keeps them in one of its own');
like(get("$top/.config"), qr/^CONFIG_FRAGMENT="kernel.config"$/m, '  which is taken from then on');
unlink "$top/kernel/menu.sh", "$top/kernel.config", "$top/.config";
works('the kernel without them', $kernel);

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
put("$top/kernel/compile.sh", get("$top/kernel/compile.sh") . "echo 'x.c:1: error: no'; exit 1\n");
make_old("$build/tree/kernel/ours.c");
fails('one beside an error', $kernel, qr/^kernel: does not compile: x\.c:1: error: no/);
isnt(age("$build/tree/kernel/ours.c"), 1e9, '  is going to be compiled again, too');
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
my $pid = open my $lock, '-|', 'flock', "$build/lock", 'sh', '-c',
	"echo; for i in \$(seq 600); do ! grep -qs waiting $dir/second || exit; sleep 0.1; done" or die;
<$lock>;
works('a second make', "$kernel >$dir/second 2>&1");
like(get("$dir/second"), qr/^steps: another make is at work in \S+: waiting/, '  waits and says so');
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
put("$dir/qemu.saved", get("$bin/qemu-system-x86_64"));
my $machine = "PATH=$bin:\$PATH $harness/vm/machine --timeout 60";
fails('no kernel', "$harness/vm/machine --kernel $dir/none -c true", qr/^machine: no kernel: /, 1);
fails('no job', "$harness/vm/machine", qr/^machine: no job/, 1);
fails('no such job', "$harness/vm/machine $dir/none.sh", qr/^machine: no job: /, 1);
my ($out, $status) = run(qq($machine -c 'JOBprintf "one\\ntwo"; printf "\\n\$end 7\\n"'));
is($out, "one\ntwo", "the job's output, to the byte");
is($status, 7, "the job's status");
($out, $status) = run(qq($machine --timeout 2 -c 'JOBecho one; exec sleep 60'));
like($out, qr/^one\nmachine: no end within 2 seconds.*\n  \| .*booted\n\z/, 'a machine that hangs');
is($status, 124, '  its status');
($out, $status) = run(qq($machine --timeout 2 -c 'JOBprintf "\\n\$end 0\\n"; exec sleep 60'));
is($status, 124, 'a machine that hangs after its job');
($out, $status) = run(qq($machine -c 'JOBecho one; echo "[ 2.0] Kernel panic - not syncing: x" >>"\$console"'));
like($out, qr/^one\nmachine: Kernel panic - not syncing: x;.*\n/, 'a kernel that panics');
is($status, 125, '  its status');
($out, $status) = run(qq($machine -c 'JOBecho one'));
like($out, qr/^one\nmachine: ended without/, 'a machine that just ends');
is($status, 125, '  its status');
($out, $status) = run(qq($machine -c 'JOBecho "qemu: no" >&2; exit 1'));
like($out, qr/^machine: the emulator failed: qemu: no/, 'an emulator that fails');

# Small kernels with random options, which are those of the base's Kconfig files
my $compiles = get("$top/kernel/compile.sh");
my $random = "PATH=$bin:\$PATH GROUP=random NUMBERS=1 $steps tree test-begin random-test test-end";
put("$top/kernel/$_/Kconfig", "config OF_\U$_\n") for qw(livepatch text_site trace);
($out, $status) = run($random);
like($out, qr/^random_options: \S+fentry\/Kconfig: No such file/m, 'no options for a random kernel');
like($out, qr/\nFAIL random-random-test: the step failed .*\n0 passed, 1 failed\n\z/, '  is a step that fails');
put("$top/kernel/trace/fentry/Kconfig", "config FTRACE_ENGINE_CLASSIC\n\tbool\nmenuconfig OF_FENTRY\n");
# ends NAME, PATTERN: kernel 1 fails, and leaves no image
sub ends
{
	my ($name, $pattern) = @_;
	my ($said) = run($random);
	like($said, qr/\nFAIL random: 1, text_sites: $pattern .*\n0 passed, 1 failed\n\z/, $name) or diag($said);
	ok(!-e "$build/random/1.image", '  and leaves no image');
	return $said;
}
put("$top/kernel/compile.sh", "echo 'ours.c:1:2: error: bad'; exit 1\n");
ends('a random kernel that does not compile', qr/does not compile: .*bad/);
put("$top/kernel/compile.sh", "echo $build/tree/kernel/ours.c:1:2: warning: bad\n");
ends('one with a warning in our files', qr/compiles with warnings: .*bad/);
put("$top/kernel/compile.sh", "echo compiling\n");
ends('one that does not get to its end', qr/.*booted/);
like(ends('the same one', qr/.*booted/), qr/^random-test: 1 \(text_sites\): as before: /m, '  is not run again');
my $second = $random =~ s/NUMBERS=1/NUMBERS=2/r;
for (1, 2) {
	like((run($second))[0], qr/^FAIL random: 2, .*\n0 passed, 1 failed\n\z/m,
		'another number: counts alone');
}
like(ends('the first one', qr/.*booted/), qr/^random-test: 1 \(text_sites\): as before: /m,
	'  is still there');
my $ends = qq(cat $dir/said >>"\$console"; printf '\\n%s 0\\n' "\$end");
put("$bin/qemu-system-x86_64", get("$dir/qemu.saved") =~ s/^eval.*/$ends/mr);
put("$dir/said", '');
unlink "$build/results/random/1.of";
like(works('one that does', $random), qr/\n1 passed, 0 failed\n\z/, '  passes');
put("$dir/said", "[    2.0] WARNING: suspicious RCU usage\n");
unlink "$build/results/random/1.of";
ends('one that complains when nobody looks any more', qr/kernel log: WARNING: suspicious RCU/);
put("$bin/qemu-system-x86_64", get("$dir/qemu.saved"));
like(get("$build/random/text_sites/.config"), qr/^(?:# )?CONFIG_OF_FENTRY\b.*^CONFIG_FTRACE_ENGINE_TEXT_SITES=y$/ms,
	'its options are those of the Kconfig files, and the engine');
unlike(get("$build/random/text_sites/.config"), qr/ENGINE_CLASSIC/, '  but no other engine');
put("$top/kernel/configure.sh", "sed -i /FTRACE_ENGINE/d \$1/.config\n");
ends('one that does not have the engine', qr/has another engine/);
put("$top/kernel/configure.sh", "exit 3\n");
ends('one that cannot be configured', qr/cannot configure: .*/);
unlink "$build/rootfs/text_sites.cpio";
fails('no root file system for a random kernel', "GROUP=random $steps random-test", qr/^random-test: \S+text_sites.cpio is missing: /, 1);
put("$build/rootfs/text_sites.cpio", 'root');
unlink map { "$top/kernel/$_/Kconfig" } qw(livepatch text_site trace trace/fentry);
put("$top/kernel/configure.sh", "true\n");
put("$top/kernel/compile.sh", $compiles);

# A system on a disk, which has the job on a second one
put("$dir/root.img", 'disk');
put("$dir/files/one", "one\n");
put("$bin/qemu-system-x86_64", <<'END');
#!/bin/bash
words="$*"
while [ $# -gt 0 ]; do
	case $1 in file=*/job,*) job=${1#file=}; job=${job%%,*} ;; esac
	shift
done
end=$(tar -xOf "$job" run/job.end)
printf '%s\n' "$words" "$(tar -xOf "$job" run/job.sh)" "$(tar -xOf "$job" run/files/one)"
printf '\n%s 0\n' "$end"
END
fails('no such disk', "$machine --disk $dir/none.img -c true", qr/^machine: no disk: /, 1);
($out, $status) = run("$machine --disk $dir/root.img --files $dir/files -c 'true job'");
is($status, 0, 'a system on a disk');
like($out, qr/ file=\Q$dir\E\/root.img,format=raw,if=virtio,snapshot=on .* root=\/dev\/vda rw .*\ntrue job\none\n\z/,
	'  which is not written to, and the job and its files on another disk');
like($out, qr/ -no-reboot /, '  and does not start again');
($out) = run("$machine --reboot --disk $dir/root.img --files $dir/files -c 'true job'");
unlike($out, qr/ -no-reboot /, '  or does, if it may');
put("$bin/qemu-system-x86_64", get("$dir/qemu.saved"));

# Another architecture: no user space, and the console is all there is
put("$dir/config/variant-foreign.config", "# arch: arm64\n# alone\n");
my $bare = "PATH=$bin:\$PATH VARIANT=foreign $harness/vm/bare --timeout 60";
my $image = "$build/text_sites-foreign/arch/arm64/boot/Image";
fails('no machine for this one', "$harness/vm/bare", qr/^bare: no machine for '': /, 1);
fails('no kernel for another architecture', $bare, qr/^bare: no kernel: /, 1);
put($image, 'image');
put("$bin/qemu-system-aarch64", <<"END");
#!/bin/bash
[[ \$* = *' kunit_shutdown=poweroff '* && \$* = *"-kernel $image "* ]] || exit 3
while [ "\$1" != -serial ]; do shift; done
cp $dir/toy.console "\${2#file:}"
END
my $suite = "    KTAP version 1\n    # Subtest: marker\n    1..2\n    ok 1 one\n    ok 2 two\nok 1 marker\n";
put("$dir/toy.console", "1..1\n${suite}[    1.000000] reboot: Power down\r\n");
is(works('a kernel that switches itself off', $bare), '', '  has nothing to say');
put("$dir/toy.console", "1..1\n$suite");
fails('one that does not', $bare, qr/^  \| ok 1 marker$/);
put("$dir/machines.tab", "foreign tests multi\@cortex-a57 2 60 kunit.enable=1 kunit:all\n");
my $foreign = "PATH=$bin:\$PATH TS_MACHINES=$dir/machines.tab GROUP=foreign VARIANT=foreign " .
	"$steps test-begin test-machine test-end";
($out, $status) = run($foreign);
like($out, qr/\nFAIL foreign-tests: end: status 125 .*\n3 passed, 1 failed\n\z/, '  and that is a test that failed');
put("$dir/toy.console", "1..1\n${suite}[    1.000000] reboot: Power down\n");
like(works('a run of its tests', $foreign), qr/\n3 passed, 0 failed\n\z/, '  counts them');
put("$dir/toy.console", "[    1.000000] reboot: Power down\n");
($out, $status) = run("AGAIN=1 $foreign");
like($out, qr/\nFAIL foreign-tests: KUnit: no test ran .*\n1 passed, 1 failed\n\z/, '  and none is a failure');
unlink "$bin/qemu-system-aarch64";

# Whole test runs
($out, $status) = run("TS_SOURCE=$dir/none.tar.xz $steps test-begin tree test-end");
like($out, qr/\nFAIL tree: .*\n0 passed, 1 failed\n\z/, 'a test run that cannot begin says so in its last line');
isnt($status, 0, '  and fails');
put("$dir/machines.tab", "# GROUP\nplain dead single 2 60 - all\n");
($out, $status) = run("PATH=$bin:\$PATH TS_MACHINES=$dir/machines.tab $steps test-begin test-machine test-end");
like($out, qr/\nFAIL dead: run: ran no tests, status 125 .*\n1 passed, 1 failed\n\z/, 'a machine that dies is a test that failed');
isnt($status, 0, '  and fails');
like($out, qr/^test-machine: dead: booting, 1 of 1, all until about \d\d:\d\d \(log: /m,
	'  and how far it is, and about when it will have ended');
($out, $status) = run("PATH=$bin:\$PATH TS_MACHINES=$dir/machines.tab $steps test-begin test-machine test-end");
like($out, qr/^test-machine: dead: booting, 1 of 1, all until \d\d:\d\d \(log: /m,
	'  and the next time, when it will have ended');

put("$dir/machines.tab", "plain,long base-a single 2 60 - ftrace:a/*,!a/no*\nplain other single 2 60 - all\nlong base-b single 2 60 - all\n");
put("$dir/list.tab", "# a comment\nftrace: a/one.tc\tfail\twhy\nftrace: a/no.tc\tfail\twhy\nother: a/two.tc\tfail\twhy\n");
($out, $status) = run("PATH=$bin:\$PATH TS_MACHINES=$dir/machines.tab TS_LIST=$dir/list.tab MACHINES='base-*' " .
	"$steps test-begin test-machine test-end");
like($out, qr{\nFAIL ftrace: run: ran no tests, .*\nFAIL ftrace: a/one.tc: listed as fail: was not run .*\n1 passed, 2 failed\n\z},
	'a machine with tests of the base: those listed for it must run');
isnt($status, 0, '  and fails');

# All groups of machines, in a harness with no tests that need none
my ($copy, %seen) = ("$dir/harness");
make_path($copy);
system("cp -a '$harness'/. '$copy' && rm -r '$copy/host' && mkdir '$copy/host'") == 0 or die;
put("$copy/step/packages.sh", "#!/bin/sh\n");
put("$copy/step/series.sh", "#!/bin/sh\n>\$TS_BUILD/series.made\n");
put("$copy/step/rootfs.sh", <<'END');
#!/bin/bash
. "$(dirname "$0")/../lib.sh"
echo "root of $KERNEL" >"$ROOTFS.cpio"
finish "rootfs-$KERNEL" "$(hash <"$ROOTFS.cpio")"
END
# A job that says in which machine it is
sub job { put("$copy/vm/kselftest.sh", <<"END") }
JOB grep -ao 'root of [a-z_-]*' "\$initrd" >>"\$TS_BUILD/booted"; printf '1..1\\n$_[0] 1 - it\\n\\n%s 0\\n' "\$end"
END
job('ok');
put("$dir/config/engine-classic.config", "CONFIG_CLASSIC=y\n");
put("$dir/config/engine-classic.off", "CONFIG_CLASSIC\nCONFIG_A\nCONFIG_B\nCONFIG_C\n");
put("$dir/config/variant-c.config", "# engine: classic\nCONFIG_C=y\n");
put("$dir/machines.tab", <<'END');
# GROUP
plain,classic one single 1 60 - all
more one single@old 1 60 - all
b two single 1 60 - all
c three single 1 60 - all
END

# all ONLY: what test-all says, its status, and the kernels that were booted
sub all
{
	my ($only) = @_;
	unlink "$build/booted";
	my ($out, $status) = run("PATH=$bin:\$PATH TS_MACHINES=$dir/machines.tab ONLY='$only' " .
		"$copy/test-all");
	return ($out, $status, join ' ', sort(get("$build/booted") =~ /^root of (\S+)/mg));
}

($out, $status, my $booted) = all('all');
is($booted, 'classic classic-c text_sites text_sites text_sites-b', 'all groups: each with its kernel') or diag($out);
is($status, 0, '  pass');
ok(-e "$build/series.made", '  have a series for the tests that need no machine');
like($out, qr/^b +kernel log +1 .*\n +text_sites +1 +- .*\n/m, '  are listed');
like(get("$build/report/index.html"), qr{<h2 id="b">b</h2>.*<td>two</td>}s, '  also on a page');
is((all('all'))[2], '', '  and are not run again');
unlink "$build/results/b/two.of", "$build/results/classic/one";
is((all('all'))[2], 'classic text_sites-b', '  unless there is no result');
put("$build/results/b/two", '');
is((all('b-*'))[2], 'text_sites-b', '  or it has no line');
put("$build/results/b/two", '');
like((run("$copy/report --table $dir/machines.tab --results $build/results --only b-two"))[0],
	qr/^NOT RUN b-two$/m, '  which does not count');
unlink glob "$build/results/b/*";
put("$top/kernel/ours.c", "changed\n");
($out, $status, $booted) = all('b-* c-*');
is($booted, 'classic-c text_sites-b', '  or the kernel is another; those that are asked for') or diag($out);
put("$top/kernel/compile.sh", "exit 1\n");
($out, $status, $booted) = all('b-* c-*');
like($out, qr/^FAIL b-kernel: the step failed.*^FAIL c-kernel: /ms, '  those that cannot be had fail');
isnt($status, 0, '  as does the whole');
($out, $status) = all('b-two');
like($out, qr/^FAIL b-kernel: the step failed/m, '  also where a machine is named');
isnt($status, 0, '  as does the whole');
unlike($out, qr/^FAIL c-/m, '  and no other group');
put("$top/kernel/compile.sh", "true\n");
is((all('b-* c-*'))[1], 0, '  until they can');
like((all('c-*'))[0], qr/^b +kernel log +1 .*\n +text_sites +1 .* -  \S+ of \S+\n/m, 'what has run before is listed');
put("$dir/machines.tab", get("$dir/machines.tab") =~ s/b two single 1 60/b two single 1 61/r);
like((all('c-*'))[0], qr/^b +text_sites +- .* 1  -\n/m, '  unless it has run in another way');
job('not ok');
unlink glob "$build/results/*/*";
($out, $status) = all('!b-*');
like($out, qr/^FAIL c-three: it /m, '  a test that fails');
isnt($status, 0, '  fails the whole');
unlike($out, qr/^NOT RUN/m, '  what is not asked for is not missed');
put("$dir/machines.tab", get("$dir/machines.tab") =~ s/c three single 1 60/c three single 1 2/r);
put("$copy/vm/kselftest.sh", "JOB sleep 4; printf '1..1\\nok 1 - it\\n\\n%s 0\\n' \"\$end\"\n");
unlink glob "$build/results/*/*";
($out, $status) = all('c-*');
like($out, qr/^FAIL c-three: run: ran no tests, status 124 /m, '  as does one that takes too long');
$ENV{SLOW} = 30;
is((all('c-*'))[1], 0, '  but may take longer the next time');
delete $ENV{SLOW};
fails('no such machine', "PATH=$bin:\$PATH ONLY='none-*' TS_MACHINES=$dir/machines.tab $copy/test-all",
	qr/^test-all: no machine.s name matches 'none-\*'$/, 1);
put("$dir/machines.tab", "plain first single 1 60 - picture:all\nplain last single 1 60 - all\n");
fails('a machine of which it is not known what it depends on',
	"PATH=$bin:\$PATH TS_MACHINES=$dir/machines.tab $copy/steps test-machine",
	qr/^test-machine: first: cannot tell what its results depend on$/);

# What is no machine
put("$copy/step/toy.sh", <<'END');
#!/bin/bash
. "$(dirname "$0")/../lib.sh"
echo "$VARIANT $DAMAGE" >>"$BUILD/booted"
printf 'pass\ttoy: it\t\t-\n' | keep toy x
END
put("$dir/machines.tab", "b_system all - 0 0 - step:tree,toy,test-end\n");
($out, $status) = all('b_system-*');
like($out, qr/^b_system +steps +1 +- .* \S+ of \d{4}-\d\d-\d\d$/m, 'steps of make: are listed, with the commit');
is($status, 0, '  pass');
is(get("$build/booted"), "b 100000\n", '  have their kernel, and take as long as they like');
put("$copy/step/toy.sh", "exit 1\n");
($out, $status) = all('b_system-*');
like($out, qr/^FAIL b_system-toy: the step failed/m, '  and fail');
isnt($status, 0, '  as does the whole');

# Tests that need no machine: what has passed is not run again while what it reads is the same.
put("$copy/host/toy.t", <<'END');
# reads: kernel/read.c
open my $ran, '>>', "$ENV{TS_BUILD}/ran";
print $ran "ran\n";
print -s "$ENV{TS_TOP}/kernel/read.c" ? "ok" : "not ok", " 1 - it\n1..1\n";
END
my $host = "$copy/steps test-begin test-host test-end";
put("$top/kernel/read.c", "one\n");
put("$top/kernel/other.c", "one\n");
like(works('a test that needs no machine', $host),
	qr/^test-host: toy, 1 of 1: 1 passed.*\n1 passed, 0 failed\n\z/ms, '  passes');
put("$top/kernel/other.c", "two\n");
like(works('  again', $host), qr/^test-host: toy: as before: 1 passed.*\n1 passed, 0 failed\n\z/ms,
	'  is not run again, and counts');
put("$dir/machines.tab", "# GROUP\nplain one single 1 60 - all\n");
job('ok');
my $again = "PATH=$bin:\$PATH TS_MACHINES=$dir/machines.tab $copy/steps test-begin test-machine test-end";
unlike(works('  machines', $again), qr/host/, '  do not have its result');
like(works('  again', $again), qr/^test-machine: one: as before: 2 passed/m, '  are not run again');
like(works('  with AGAIN=1', "AGAIN=1 $again"), qr/^test-machine: one: booting/m, '  are');
put("$dir/machines.tab", "# GROUP\nplain one single 1 60 more all\n");
like(works('  of another kind', $again), qr/^test-machine: one: booting/m, '  are, too');
put("$dir/list.tab", "one: another\tfail\twhy\n");
like(works('  with another list of failures', "TS_LIST=$dir/list.tab $again"),
	qr/^test-machine: one: booting/m, '  are, too');
job('not ok');
for (1, 2) {
	($out, $status) = run($again);
	like($out, qr/^test-machine: one: booting.*\n1 passed, 1 failed\n/ms, '  what has failed is');
}
job('ok');
like(works('  afterwards', $host), qr/as before/, '  it is still there');
is(get("$build/ran"), "ran\n", '  it has run once');
put("$top/kernel/read.c", '');
fails('  what it reads is another', $host, qr/^0 passed, 1 failed$/);
fails('  what has failed', $host, qr/^0 passed, 1 failed$/);
is(get("$build/ran"), "ran\n" x 3, '  is run each time');

# What runs the tests belongs to what they pass with.
put("$top/kernel/read.c", "one\n");
works('a test', $host);
works('a machine with more time', "SLOW=30 $again");
like(works('  without it', $again), qr/^test-machine: one: booting/m, '  is run again');
for my $file (qw(step/test-host.sh step/test-machine.sh lib.sh)) {
	my ($all, $name) = $file =~ /host/ ? ($host, 'toy') : ($again, 'one');
	put("$copy/$file", get("$copy/$file") . "# changed\n");
	unlike(works("  with another $file", $all), qr/as before/, '  is run again');
	like(works('    again', $all), qr/: $name: as before/, '    is not');
}
# What reads all of the source also reads the series, but not the cover letter, which has a date.
put("$copy/host/all.t", qq(print "1..1\\nok 1 - it\\n";\n));
put("$build/series/0000-cover.patch", 'date');
my $series = "MACHINES=host-all $copy/steps test-begin test-host test-end";
works('a test of all of the source', $series);
put("$build/series/0000-cover.patch", 'another');
like(works('  again', $series), qr/: all: as before/, '  is not run again');
put("$build/series/0001-one.patch", 'one');
unlike(works('  with a series', $series), qr/as before/, '  is');
unlink "$copy/host/all.t";

# What tap.t reads
put("$copy/host/tap.t", get("$harness/host/tap.t"));
my @of = map {
	put("$top/kernel/toy_test.c", $_);
	run("MACHINES=host-tap $copy/steps test-host");
	get("$build/results/plain/host-tap.of") =~ /(\w+)/;
} 'one', 'two';
isnt($of[0], $of[1], 'tap.t depends on the suites that it looks for');
unlink "$copy/host/tap.t", "$top/kernel/toy_test.c";

# What was to run and has no result
put("$dir/machines.tab", "plain one single 1 60 - all\nplain two single 1 60 - all\n");
for (['test-machine', 'one', $again], ['test-host', 'host-toy', $host]) {
	my ($step, $name, $command) = @$_;
	my $saved = get("$copy/step/$step.sh");
	put("$copy/host/more.t", '');
	put("$copy/step/$step.sh", <<"END");
#!/bin/bash
. "\$(dirname "\$0")/../lib.sh"
printf 'pass\\tit\\t\\t-\\n' | keep $name x
END
	my $other = $step eq 'test-host' ? 'host-more' : 'two';
	fails("$step without a result", $command, qr/^1 passed, 1 failed$/);
	like((run($command))[0], qr/^FAIL $other: has no result/m, '  says of what');
	like(works("  of what is not asked for", "MACHINES=$name $command"),
		qr/^1 passed, 0 failed$/m, "  passes");
	put("$copy/step/$step.sh", $saved);
}
unlink "$copy/host/more.t";
put("$dir/machines.tab", "plain one single 1 60 more all\n");

# A data race is ours if a function of ours is in it, in whatever object that is.
put("$top/kernel/fast.h",
	"static noinline int\nours_in_header(int a,\n\t       int b)\n{\n\treturn theirs(a);\n}\n");
my $adds = "--- a/kernel/two.c\n+++ b/kernel/two.c\n@@ -1 +1,4 @@\n 2\n" .
	"+void ours_in_patch(void)\n+{\n+}\n";
put("$top/patches/0003-function.patch", mail('function', $adds));
works('functions in the base\'s files', "$copy/steps tree");
put("$build/text_sites/.config.saved", get("$build/text_sites/.config"));
put("$build/text_sites/.config", get("$build/text_sites/.config") . "CONFIG_KCSAN=y\n");
put("$build/text_sites/kernel/ours.o", '');
put("$bin/nm", <<'END');
#!/bin/sh
case $* in
*/kernel/ours.o) printf '0 T ours_in_object\n' ;;
*/vmlinux) printf '0 T %s\n' theirs ours_in_header.part.0 ours_in_patch ours_in_object ;;
esac
END
put("$copy/vm/kselftest.sh", <<"END");
JOB cat $dir/race >>"\$console"; printf '1..1\\nok 1 - it\\n\\n%s 0\\n' "\$end"
END
for my $function (qw(ours_in_object ours_in_header ours_in_patch theirs)) {
	put("$dir/race", join '', map { "[    1.000000] $_\n" } 'BUG: KCSAN: data-race in a / b',
		" $function+0x1/0x2", 'Reported by Kernel Concurrency Sanitizer on:');
	($out) = run("AGAIN=1 $again");
	like($out, $function eq 'theirs' ? qr/^KNOWN one: data-race in a/m
		: qr/^FAIL one: kernel log: BUG: KCSAN/m, "a data race in $function");
}
unlink "$bin/nm", "$top/kernel/fast.h", "$top/patches/0003-function.patch",
	"$build/text_sites/kernel/ours.o";
put("$build/text_sites/.config", get("$build/text_sites/.config.saved"));
works('  no longer', "$copy/steps tree");
put("$dir/some.patch", <<'END');
@@ -1,9 +1,9 @@ static int in_front(void)
-static int changed(int a)
+static int changed(int a, int b)
 {
-void moved(void)
-{
-}
+int declared(int a,
+	     int b);
@@ -11,9 +11,9 @@
+struct some_struct *
+added(int a)
 {
+	called(a);
+void moved(void)
+{
+}
END
is(works('functions of a patch', "$harness/functions $dir/some.patch"), "added\n",
	'  that are added');
job('ok');

# Debian's kernel and ours: what fails with both need not pass.
put("$build/text_sites/include/config/kernel.release", "ours\n");
put("$build/debian/boot/vmlinuz-$_", '') for qw(ours theirs);
put("$copy/vm/machine.saved", get("$copy/vm/machine"));
put("$copy/vm/machine", <<'END');
#!/bin/sh
cp "$TS_BUILD/$2.out" "$TS_BUILD/log/$2.out"
cp "$TS_BUILD/$2.console" "$TS_BUILD/log/$2.console"
END
# debian WHOSE, TAP, CONSOLE: what it is to say
sub debian
{
	my ($whose, $tap, $console) = @_;
	put("$build/debian-$whose.out", $tap);
	put("$build/debian-$whose.console", $console // '');
	put("$build/debian-$whose-kdump.out", "1..1\nok 1 - kdump\n");
	put("$build/debian-$whose-kdump.console", '');
}
my $debian = "GROUP=debian $copy/steps test-begin test-debian test-end";
debian('theirs', "1..2\nok 1 - a\nnot ok 2 - b\n");
debian('ours', "1..2\nok 1 - a\nnot ok 2 - b\n");
like(works("a test that fails with Debian's kernel", $debian),
	qr/^KNOWN debian: b: .*\n3 passed, 0 failed, 1 as listed$/m, '  may fail');
debian('ours', "1..2\nnot ok 1 - a\nnot ok 2 - b\n");
unlink "$build/results/debian/debian.of";
like((run($debian))[0], qr/^FAIL debian: a /m, 'one that passes may not');
my $warning = "[    1.0] WARNING: suspicious RCU usage\n";
debian($_, "1..2\nok 1 - a\nnot ok 2 - b\n", $warning) for qw(theirs ours);
like((run($debian))[0], qr/^FAIL debian: kernel log: WARNING/m, '  nor may the kernel complain');
debian($_, "1..3\nok 1 - a\nnot ok 2 - b\n") for qw(theirs ours);
like((run($debian))[0], qr/^test-debian: not all tests .*: debian: run: 3 tests planned, 2 ran$/m,
	'  nor may tests be missing');
debian($_, "1..3\nok 1 - a\nnot ok 2 - b\n# begins: c\n") for qw(theirs ours);
like((run($debian))[0], qr/^test-debian: not all tests .*: debian: c: ended with the machine$/m,
	'  nor may the machine end');
put("$copy/vm/machine", get("$copy/vm/machine.saved"));

# What cannot be read to its end is not kept.
my $cut = q(exit 9 if $ARGV[0] eq 'console';);
put("$copy/results", get("$copy/results") =~ s/^use strict;/$cut\n$&/mr);
for (1, 2) {
	($out, $status) = run($again);
	like($out, qr/^test-machine: one: booting.*^FAIL test-machine: the step failed/ms,
		'results cut short: are not kept');
}
$cut = q(print "pass\tit\t\t-\n" and exit 9 if $ARGV[0] eq 'read';);
put("$copy/results", get("$harness/results") =~ s/^use strict;/$cut\n$&/mr);
for (1, 2) {
	($out, $status) = run($host);
	unlike($out, qr/as before/, '  nor those of a test that needs no machine');
	isnt($status, 0, '  and fail');
}
put("$copy/results", get("$harness/results"));

# Each group has a kernel: one of its own, or that of `make test`
for (map { !/ step:/ && /^(\w\S*)\s/ ? split(/,/, $1) : () } split /\n/, get("$harness/machines.tab")) {
	$seen{$_}++ or ok(/^(?:plain|long|processors)$/ || -e "$harness/config/variant-$_.config" ||
		-e "$harness/config/engine-$_.config", "group $_: has a kernel");
}

# Counts that a test run compares
put("$dir/limits.tab", "# KEY <tab> COUNT\na\t100\nb\t100\nc\t100\ne\t100\n");
put("$dir/counts", "a\t102\nb\t102.5\nd\t1\na\t300\ne\t49\n");
is((run("$harness/bench/guard $dir/limits.tab <$dir/counts"))[0], <<'OUT', 'counts and their limits');
TAP version 13
1..4
# a: 102, was 100
ok 1 a
# b: 102.5, was 100
not ok 2 b
# c: not counted, was 100
not ok 3 c
# e: 49, was 100
not ok 4 e
OUT
($out, $status) = run("$harness/bench/guard $dir/none.tab <$dir/counts");
like($out, qr/^guard: .*none.tab: /, '  without a list of limits');
isnt($status, 0, '  fails');

# What can be chosen: each variant, and what is chosen is what make takes
my $source = "$harness/../../..";
my @variants = get("$source/Kconfig") =~ /^\tdefault "(\w+)" if VARIANT_/mg;
is_deeply([sort @variants],
	  [sort map { /variant-(\w+)\.config$/ } glob "$harness/config/variant-*.config"],
	'menuconfig has all variants');
for (split /\n(?=\s*config |\s*choice\b|\s*endchoice)/, get("$source/Kconfig")) {
	my ($prompt) = /^\t(?:prompt|bool|int|string) "(.*)"/m or next;
	like($_, qr/^\thelp\n\t  \S/m, "menuconfig: help for '$prompt'");
}
put("$dir/make/Makefile", get("$source/Makefile"));
put("$dir/make/tools/testing/text_sites/steps",
	"#!/bin/sh\necho \"\$ENGINE,\$VARIANT,\$FRAGMENT,\$SMP,\$ACCEL,\$CPU: \$*\"\n");
put("$dir/make/tools/testing/text_sites/config/variant-$_.config", "# arch: i386\n")
	for grep { /^i386/ } @variants;
my $make = "make -s --no-print-directory -C $dir/make";
is(works('make', "$make run"), ",small,,2,single,max: packages tree kernel rootfs run\n",
	'  without choices');
is(works('make', "$make run ARCH=i386"),
	",i386_small,,2,single,max: packages tree kernel rootfs run\n", '  for 32-bit x86');
is(works('make', "$make test ARCH=i386 | head -n 1"),
	",i386,,2,single,max: test-begin packages tree kernel rootfs test-machine test-end\n",
	'  with the kernel that is tested');
fails('make', "$make run ARCH=other", qr/ARCH is x86_64 or i386, not 'other'/);
fails('make', "$make test VARIANT=debug ARCH=i386", qr/VARIANT=debug is for x86_64, ARCH is i386/);
put("$dir/make/.config", join '', map { "CONFIG_$_\n" } 'ENGINE="classic"', 'VARIANT="debug"',
	'FRAGMENT="a.config b.config"', 'SMP=4', 'ACCEL="multi"', 'CPU="EPYC-Rome"');
is(works('make', "$make run"), "classic,debug,a.config b.config,4,multi,EPYC-Rome: packages tree kernel rootfs run\n",
	'  with what has been chosen');
is(works('make', "$make run VARIANT=rt SMP=1"),
	"classic,rt,a.config b.config,1,multi,EPYC-Rome: packages tree kernel rootfs run\n",
	'  with what it is told in its place');
is(works('make', "$make run ARCH=i386"),
	"classic,i386_small,a.config b.config,4,multi,EPYC-Rome: packages tree kernel rootfs run\n",
	'  with another architecture than what has been chosen is for');
put("$dir/make/.config", "CONFIG_ARCH=\"i386\"\nCONFIG_VARIANT=\"i386_pae\"\n");
is(works('make', "$make test | head -n 1"),
	",i386_pae,,2,single,max: test-begin packages tree kernel rootfs test-machine test-end\n",
	'  with the tests of the architecture that has been chosen');
is(works('make', "$make run ARCH=i386"),
	",i386_pae,,2,single,max: packages tree kernel rootfs run\n", '  and named again');
is(works('make', "$make run ARCH=x86_64"),
	",small,,2,single,max: packages tree kernel rootfs run\n", '  with the usual one in its place');
put("$dir/make/.config", '');
put("$dir/make/build/stamps/kernel-text_sites", '');
is(works('make', "$make shell"), ",,,2,single,max: packages tree kernel rootfs shell\n",
	'  with the tested kernel if there is one');

# progress on a terminal
for (['a\nb\nc\n', 4, qr/^\rm: 25%, 0:0\d, about 0:0\d left \(log: shown\)/, qr/\rm: 0:0\d \(log: shown\)\e\[K\r\n\z/],
     ['a\nb\n', 0, qr/^\rm: 0:0\d, at a \(log/, qr/\rm: 0:0\d \(log[^\r]*\r\n\z/]) {
	my ($lines, $expected, $first, $last) = @$_;
	($out) = run("script -qec \"printf '$lines' | '$harness/progress' m '$dir/log' shown 0 $expected\" /dev/null </dev/null");
	like($out, $first, "progress of $expected lines");
	like($out, $last, '  and its end');
}

# The steps have all of lib.sh's functions, and call commands of other packages.
for my $name (get("$harness/lib.sh") =~ /^(\w+)\(\)/mg) {
	my ($kind) = run("bash -c 'type -P $name'");
	is($kind, '', "lib.sh: $name hides no command");
}

done_testing();
