#!/usr/bin/perl
# What reads source: checkpatch on the series, kernel-doc, shellcheck and perlcritic on our
# files, the base's own test of its scripts, whether MAINTAINERS knows all of ours, and whether
# the documents about the repository are valid.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use FindBin;
use Test::More;

my $harness = abs_path("$FindBin::Bin/..");
my $top = abs_path("$harness/../../..");
my $tree = "$top/build/tree";
my $series = "$top/build/series";
my $elsewhere = tempdir(CLEANUP => 1);
chdir $top or die "$top: $!";

plan skip_all => "no tree has been made" unless -e "$tree/scripts/checkpatch.pl";

# lines COMMAND...: what it prints, errors too
sub lines
{
	my @command = @_;
	my $pid = open(my $out, '-|') // die "fork: $!";
	if (!$pid) {
		open STDERR, '>&', \*STDOUT or die "$!";
		exec @command or die "$command[0]: $!\n";
	}
	my @lines = <$out>;
	close $out;
	chomp @lines;
	push @lines, "$command[0]: nothing but status " . ($? >> 8) if $? && !@lines;
	return @lines;
}

# quiet NAME, LINE...: there is nothing to be said
sub quiet
{
	my ($name, @lines) = @_;
	return ok(!@lines, $name) || diag(join "\n", @lines);
}

# first FILE: its first line
sub first
{
	open my $file, '<', $_[0] or return '';
	return scalar <$file> // '';
}

my @ours = grep { -f } lines('git', '-c', "safe.directory=*", 'ls-files', '-co', '--exclude-standard');
my @code = grep { /\.[chS]$/ && !m{^tools/} } @ours;

# regex PATTERN, STAR: of a pattern of file names in which each * stands for STAR
sub regex
{
	my ($pattern, $star) = @_;
	return join '', map { $_ eq '*' ? $star : quotemeta } split /(\*)/, $pattern;
}

# checkpatch
my (@allowed, $line);
open my $table, '<', "$harness/checkpatch.tab" or die "checkpatch.tab: $!";
while (<$table>) {
	$line++;
	next if /^#/;
	chomp;
	my ($type, $files, $why) = split /\t/;
	die "checkpatch.tab, line $line: not TYPE, FILES and WHY\n" unless defined $why && $why =~ /\w/;
	my $pattern = regex($files, '.*');
	push @allowed, { type => $type, files => qr/^$pattern$/, text => "$type $files", used => 0 };
}
close $table;

sub complaints
{
	my ($mail) = @_;
	open my $in, '<', $mail or die "$mail: $!";
	open my $save, '<&', \*STDIN or die "$!";
	open STDIN, '<&', $in or die "$!";
	# It leaves a file where it runs.
	my @lines = lines('env', '-C', $elsewhere, "$tree/scripts/checkpatch.pl", "--root=$tree",
		qw(--no-tree --strict -q --terse --showfile --show-types --max-line-length=100), '-');
	open STDIN, '<&', $save or die "$!";
	my @wrong;
	for (@lines) {
		next if /^total: /;
		my ($file, $type) = /^(.*?):\d+: (?:ERROR|WARNING|CHECK):(\w+): /;
		my ($allowed) = grep { defined $type && $_->{type} eq $type && $file =~ $_->{files} } @allowed;
		$allowed->{used}++ if $allowed;
		push @wrong, $_ unless $allowed;
	}
	return @wrong;
}

SKIP: {
	my @mails = grep { !m{/0000-} } glob "$series/*.patch";
	skip "no series has been made", 1 unless @mails;
	quiet('checkpatch: ' . s{.*/}{}r, complaints($_)) for @mails;
	quiet('checkpatch: each exception is needed', map { $_->{text} } grep { !$_->{used} } @allowed);
}

# kernel-doc; a comment for it in a file that has none is none, and it says so
quiet('kernel-doc', grep { !/ no structured comments found$/ }
	lines("$tree/scripts/kernel-doc", '-none', '-Wall', @code));

# Tools that know LLVM's files make dependencies that others do not, which may be a cycle.
my @kconfig = lines(qw(make -s -C), $tree, "O=$elsewhere/config", 'NM=echo llvm', 'AR=echo llvm',
	'allnoconfig');
quiet('Kconfig with LLVM', $? ? @kconfig : grep { /error|warning|^\tsymbol/ } @kconfig);

# What is bash or sh, what is perl
my @shell = grep { first($_) =~ /^#!.*sh\b|^# shellcheck shell/ } @ours;
cmp_ok(scalar @shell, '>', 50, 'shell scripts: ' . @shell);
quiet('shellcheck', lines('shellcheck', qw(-x -S warning -f gcc), @shell));
my @perl = grep { /\.pm$/ || first($_) =~ /^#!.*perl/ } @ours;
cmp_ok(scalar @perl, '>', 15, 'perl scripts: ' . @perl);
quiet('perlcritic', grep { !/ source OK$/ }
	lines('perlcritic', '--profile', "$harness/perlcriticrc", @perl));

# What the base's suite of tracefs asks of its own scripts; in the machine it takes minutes.
{
	local $ENV{FTRACETEST_ROOT} = "$tree/tools/testing/selftests/ftrace";
	my $base_test = "$ENV{FTRACETEST_ROOT}/test.d/selftest/bashisms.tc";
	my @bashisms = grep { /^possible bashism/ }
		lines('sh', '-c', 'exit_unresolved() { echo possible bashism: not seen; exit 4; }; . "$0"',
			$base_test);
	# It takes ${SYMBOL}$" for $"...
	quiet('bashisms.tc of the base', grep { !m{/kprobe/kprobe_non_uniq_symbol\.tc line 9 } } @bashisms);
	is(scalar @bashisms, 1, 'bashisms.tc of the base: what it is known to say');
}

# Of our documents, those that the kernel's are not made with
my @documents = grep { m{^Documentation/text_sites/.*\.rst$} } @ours;
cmp_ok(scalar @documents, '>', 1, 'documents about the repository: ' . @documents);
quiet('rst2html', map { lines('rst2html', '--report=info', $_, '/dev/null') } @documents);

# MAINTAINERS
my @in_tree = grep { m{^(?:arch|kernel|include|scripts|samples|Documentation|tools/testing/selftests)/} &&
	!m{^Documentation/text_sites/} } @ours;
my @without;
chdir $tree or die "$tree: $!";
my @patterns;
open my $maintainers, '<', 'MAINTAINERS' or die "MAINTAINERS: $!";
while (<$maintainers>) {
	push @patterns, $1 if (/^TEXT SITES$/ .. /^$/) && /^F:\t(.*)/;
}
close $maintainers;
cmp_ok(scalar @patterns, '>', 20, 'MAINTAINERS: patterns of files: ' . @patterns);
quiet('MAINTAINERS: patterns without files', grep { !(() = glob) } @patterns);
# pattern FILE: the first pattern that covers it. In MAINTAINERS, "dir/" covers all that is below
# dir, and * does not match a slash.
sub pattern
{
	my ($file) = @_;
	for (@patterns) {
		my $regex = regex($_, '[^/]*');
		return $_ if $file =~ (m{/$} ? qr/^$regex/ : qr/^$regex$/);
	}
	return;
}

# get_maintainer.pl is slow: ask it about one file for each pattern.
my %seen;
for my $file (@in_tree) {
	my $pattern = pattern($file);
	next if defined $pattern && $seen{$pattern}++;
	my @who = lines(qw(scripts/get_maintainer.pl --nogit --nogit-fallback --norolestats -f), $file);
	push @without, $file unless grep { /text-sites\@/ } @who;
}
quiet('get_maintainer: files without a maintainer', @without);

done_testing();
