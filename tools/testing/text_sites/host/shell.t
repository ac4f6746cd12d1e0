#!/usr/bin/perl
# The shell that `make shell` gives: it says what to try, completes what the tools take, has a
# pager and an editor, and a folder that the machine shares.
use strict;
use warnings;
use File::Path qw(make_path);
use FindBin;
use IPC::Open2;
use Test::More;

my $top = "$FindBin::Bin/../../../..";
my $build = "$top/build";
my $kernel = $ENV{KERNEL_BUILD} // "$build/text_sites";

my $rootfs = "$build/rootfs/text_sites.cpio";
plan skip_all => 'no kernel has been built'
	unless -e "$kernel/arch/x86/boot/bzImage" && -e $rootfs;
plan skip_all => "the root file system is of before: 'make rootfs' makes it"
	if grep { -M "$FindBin::Bin/../vm/$_" < -M $rootfs } qw(init programs rootfs.sh);

my $name = "shell.t.$$";
make_path("$build/share");
open my $file, '>', "$build/share/$name" or die "$build/share/$name: $!";
print {$file} "there and back\n";
close $file;

my $machine = open2(my $from, my $to, "$FindBin::Bin/../vm/machine", '--interactive', '--smp', '1',
	'--kernel', $kernel);
my $seen = '';
my $ended = 0;

# types KEYS, WANTED, NAME: what comes on the terminal after KEYS, within two minutes
sub types
{
	my ($keys, $wanted, $name) = @_;
	$seen = '';
	syswrite $to, $keys;
	my $end = time + 120;
	while ($seen !~ $wanted && !$ended && time < $end) {
		my $bits = '';
		vec($bits, fileno $from, 1) = 1;
		next unless select $bits, undef, undef, 1;
		$ended = 1 unless sysread $from, $seen, 4096, length $seen;
	}
	return like($seen, $wanted, $name);
}

my $prompt = qr/bash\S*# $/;
types('', $prompt, 'a prompt');
types("\n", $prompt, '  and another');
types("trace-cmd rec\t", qr/trace-cmd record\b/, "trace-cmd's commands are completed");
types("\x15perf ftr\t", qr/perf ftrace\b/, "perf's are");
types("\x15type -P less vi\n", qr{^/\S*less\r?\n/\S*vi\r?$}m, 'a pager and an editor');
types("cp /share/$name /share/$name.back && echo it is\\ there\n", qr/^it is there\r?$/m,
	'a file from outside');
ok(-s "$build/share/$name.back", '  and one from inside');
unlink "$build/share/$name", "$build/share/$name.back";
# A machine that does not switch itself off is ended by its emulator's keys.
types("exit\n", qr/Power down|power.off/i, 'it is left') or syswrite $to, "\x01x";
close $to;
waitpid $machine, 0;
is($?, 0, '  and the machine is off');

done_testing();
