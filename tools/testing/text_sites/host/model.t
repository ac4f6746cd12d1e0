#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# Checks the models in model/ with spin: each holds, in all of its states, and reaches all
# that it says, alone and with each of its ALSO_ macros. With each of its BROKEN_ macros, which
# leave out what the code has for a reason, it does not hold. With names of models or macros as
# arguments, only these.
#
# reads: tools/testing/text_sites/model
use strict;
use warnings;
use Test::More;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use lib dirname(__FILE__);

use Files;

my $harness = abs_path(dirname(__FILE__) . '/..');
my $build = $ENV{TS_BUILD} // "$harness/../../../build";
make_path($build);
my $dir = tempdir('model.XXXXXX', DIR => abs_path($build), CLEANUP => 1);
# When interrupted, too
$SIG{$_} = sub { exit(1) } for qw(HUP INT TERM);

$ENV{LC_ALL} = 'C';
chdir($dir) or die "$dir: $!";
END { chdir('/') }

# run COMMAND: what it prints
sub run
{
	my ($command) = @_;
	return scalar qx({ $command; } 2>&1);
}

# flags MACRO...: as options for spin
sub flags
{
	return join ' ', map { "-D$_" } @_;
}

# search MODEL, MACRO...: what pan says; it leaves a trail of an error
sub search
{
	my ($model, @macros) = @_;
	my $flags = flags(@macros);
	# Steps that depend on who else runs cannot be reordered.
	my $reduce = get("$model.pml") =~ /\bprovided\b/ ? '-DNOREDUCE' : '';

	unlink glob("pan* *.trail");
	# -o3: what is never reached is not merged with what is.
	my $said = run("spin $flags -o3 -a $model.pml");
	return $said if $said =~ /Error/;
	# To optimise it would take longer than it saves.
	$said = run("cc -O0 -w -DSAFETY $reduce -DMEMLIM=4000 -o pan pan.c");
	return -x 'pan' ? run('./pan -m20000') : $said;
}

sub states
{
	return $_[0] =~ /^\s*([\d.e+]+) states, stored/m ? $1 : 'no';
}

# not_reached MODEL, SAID: the lines that no process has executed
sub not_reached
{
	my ($model, $said) = @_;
	my (%has, %reaches_not);
	my $process = '';
	for (split /\n/, run('./pan -d')) {
		$process = $1 if /^(?:proctype|init) ?(\S*)/;
		$has{$1}{$process} = 1 if /\s\Q$model\E\.pml:(\d+) =>/ && !/-end-/;
	}
	for (split /\n/, $said) {
		$process = $1 if /^unreached in (?:proctype|init) ?(\S*)/;
		$reaches_not{$1}{$process} = 1 if /^\s+\Q$model\E\.pml:(\d+), state/ && !/-end-/;
	}
	return grep { keys %{$reaches_not{$_}} == keys %{$has{$_} // {}} }
		sort { $a <=> $b } keys %reaches_not;
}

sub check_model
{
	my ($model, @macros) = @_;
	my $said = search($model, @macros);
	my $flags = flags(@macros);
	my $holds = $said =~ /errors: 0/ && $said =~ /^Full statespace search/m &&
		$said !~ /Search not completed|max search depth too small|out of memory/;
	ok($holds, join(' with ', $model, @macros) . ' holds, in ' . states($said) . ' states') or
		diag($said, run("spin $flags -t -p -g $model.pml 2>&1 | tail -n 200"));
	my @lines = not_reached($model, $said);
	is("@lines", '', '  and each line is reached');
}

sub check_variant
{
	my ($model, $macro) = @_;
	my $said = search($model, $macro);
	my ($why) = $said =~ /assertion violated (.*) \(at depth/;
	ok(defined $why, "$model is not right with $macro, after " . states($said) . ' states') or
		diag($said);
	note("  $why") if defined $why;
}

if (run('spin -V') !~ /Spin Version/) {
	plan skip_all => 'no spin';
}
for my $path (glob "$harness/model/*.pml") {
	my $model = basename($path, '.pml');
	my $text = get($path);
	open(my $copy, '>', "$model.pml") or die "$model.pml: $!";
	print $copy $text;
	close($copy);

	my %seen;
	my @macros = grep { !$seen{$_}++ } $text =~ /^#.*?\b((?:ALSO|BROKEN)_\w+)/mg;
	check_model($model) if !@ARGV || grep { $_ eq $model } @ARGV;
	for my $macro (@macros) {
		next if @ARGV && !grep { $_ eq $macro } @ARGV;
		$macro =~ /^ALSO/ ? check_model($model, $macro) : check_variant($model, $macro);
	}
}
done_testing();
