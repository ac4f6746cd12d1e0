#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# Checks the models in model/ with spin: each holds, in all of its states, and reaches all
# that it says, alone and, with MODEL=all in the environment, with each of its ALSO_ macros,
# which takes minutes. With each of its BROKEN_ macros, which leave out what the code has for
# a reason, the assertions listed here for it fail, each by itself. With names of models or
# macros as arguments, only these.
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

# Which assertions fail with what is broken, as FUNCTION: CONDITION
my $time = 'set_commit: stamp == SLOT(in, i).time || !SLOT(in, i).exact';
my $order = 'set_commit: stamp >= latest && stamp <= SLOT(in, i).time';
my $moment = 'does: id == wanted[SITE] || (id == was[SITE] && !switched[SITE])';
my $mixture = 'cpu: id == fetched[me].tail[LAST_PART] && fetched[me].head == HEAD(id)';
my $committed = 'check_committed: page[commit_page].commit == (page[commit_page].write & MASK)';
my $gone = 'call: p == NONE || owner[p] != GONE';
my %fails = (
	ring_buffer => {
		BROKEN_ANY_HIGH => [$time],
		BROKEN_ANY_PAGE => ['check_committed: commit_page == tail_page', $order],
		BROKEN_ANY_WRITER => ['set_commit: SLOT(in, i).type != NOTHING'],
		BROKEN_COMMIT_BEFORE_FILL => ['set_commit: SLOT(in, i).type != NOTHING'],
		BROKEN_EARLY_WRITE_STAMP => [$time, $order],
		BROKEN_FIRST_EVENT => [$time],
		BROKEN_LATE_COMMITS => [$committed],
		BROKEN_LATE_PIN => ['set_commit: SLOT(in, i).type != NOTHING'],
		BROKEN_LONG_DELTA => [$time],
		BROKEN_NO_BEFORE_STAMP => [$time, $order],
		BROKEN_NO_CHECK => [$time],
		BROKEN_NO_CONTEXT => ['check_committed: committing == 0'],
		BROKEN_NO_COUNT => ['reader: entries == nr_read + overrun'],
		BROKEN_NO_REST => [$committed],
		BROKEN_NO_ROOM => ['fast_reserve: end <= CAP'],
		BROKEN_ONE_TEST => [$time],
		BROKEN_PLAIN_ADD => ['set_commit: SLOT(in, i).type != NOTHING'],
		BROKEN_READ_WRITTEN => [
			'gone: fate[SLOT(in, i).id] == FILLED',
			'reader: fate[INNERMOST] >= DISCARDED && fate[LAST] >= DISCARDED',
			'reader: fate[OUTER] >= DISCARDED && fate[INNER] >= DISCARDED',
			'set_commit: fate[SLOT(in, i).id] == FILLED',
			'set_commit: to <= (page[in].write & MASK) && page[in].commit <= to',
		],
		BROKEN_SAME_STAMPS => [$time],
		BROKEN_SIZE_FIRST => ['reader: size == page[reader_page].commit'],
		BROKEN_STAMPS_DIFFER => [$time, $order],
	},
	text_poke => {
		BROKEN_ANEW => [$moment],
		BROKEN_FLIGHT_EARLY => ['handler: in_flight'],
		BROKEN_FLIGHT_LATE => ['handler: in_flight'],
		BROKEN_FLIGHT_ONCE => ['handler: in_flight'],
		BROKEN_GO_ON_LATE => [$moment],
		BROKEN_HEAD_FIRST => [$mixture],
		BROKEN_IRQS_ON => ['enter: id == wanted[SITE] || id == was[SITE]'],
		BROKEN_NO_CPUS_LOCK => ['cpu: ONLINE(me)'],
		BROKEN_NO_GRACE => [
			'leave: id == NOP || set[id] != FREE',
			'retirer: in_trampoline[0] != id && in_trampoline[1] != id',
		],
		BROKEN_NO_REPEAT => [$mixture],
		BROKEN_NO_REREAD => ['handler: marked'],
		BROKEN_NO_SYNC_AFTER_BREAK => [$mixture, 'enter: !UNSEEN(me, id)'],
		BROKEN_NO_SYNC_AFTER_HEAD => ['handler: in_flight'],
		BROKEN_NO_SYNC_AFTER_TAIL => [$mixture],
		BROKEN_NO_TABLE_SYNC => [
			'front_end: !looks || !table_freed',
			'handler: !looks || !table_freed',
		],
		BROKEN_PASS_FIRST => [$mixture],
		BROKEN_PENDING_FIRST => ['handler: marked'],
		BROKEN_RETIRE_EARLY => [
			'target_addr: id == NOP || set[id] != FREE',
			'enter: id == NOP || set[id] != FREE',
		],
		BROKEN_RETIRE_ROUND => ['target_addr: id == NOP || set[id] != FREE'],
		BROKEN_SAME_HEAD => [$mixture],
		BROKEN_STATE_IN_BREAK => [$moment],
		BROKEN_STATE_IN_HEAD => [$moment],
		BROKEN_TEXT_FIRST => ['handler: marked'],
	},
	tracepoint => {
		BROKEN_BATCH_END => ['caller: to == my_data'],
		BROKEN_CAN_WAIT => ['caller: to == my_data'],
		BROKEN_DATA_FIRST => ['caller: to == my_data', $gone],
		BROKEN_GO_AT_ONCE => [$gone],
		BROKEN_GO_NO_SRCU => [$gone],
		BROKEN_NO_RCU => ['caller: to == my_data'],
		BROKEN_NO_SRCU => ['caller: to == my_data'],
		BROKEN_NO_STATE_AT_LAST => ['caller: to == my_data'],
		BROKEN_NO_STATE_IN_FRONT => ['caller: to == my_data'],
		BROKEN_NO_STATE_OF_FIRST => ['caller: to == my_data'],
		BROKEN_NO_WAIT => ['caller: to == my_data'],
		BROKEN_ONCE => [
			'changes: !SINGLE(funcs) || jump == FIRST(funcs) || has_failed || waiting',
		],
		BROKEN_STATE_EARLY => ['caller: to == my_data'],
		BROKEN_UNLOCKED => ['caller: to == my_data'],
	},
);

# Assertions that no macro is known to make fail
my %unlisted = (
	ring_buffer => [
		'reader: nr_old == 0',
		'reserved: from >= page[p].commit',
		'set_commit: i == to',
	],
);

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

# search COMPILER, MODEL, MACRO...: what pan says; it leaves a trail of an error
sub search
{
	my ($compiler, $model, @macros) = @_;
	my $flags = flags(@macros);
	# Steps that depend on who else runs cannot be reordered.
	my $reduce = get("$model.pml") =~ /\bprovided\b/ ? '-DNOREDUCE' : '';

	unlink glob("pan* *.trail");
	# -o3: what is never reached is not merged with what is.
	my $said = run("spin $flags -o3 -a $model.pml");
	return $said if $said =~ /Error/;
	$said = run("$compiler -w -DSAFETY $reduce -DMEMLIM=4000 -o pan pan.c");
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
	put("$model.pml", get("$harness/model/$model.pml"));
	my $said = search('gcc -O1', $model, @macros);
	my $flags = flags(@macros);
	my $holds = $said =~ /errors: 0/ && $said =~ /^Full statespace search/m &&
		$said !~ /Search not completed|max search depth too small|out of memory/;
	ok($holds, join(' with ', $model, @macros) . ' holds, in ' . states($said) . ' states') or
		diag($said, run("spin $flags -t -p -g $model.pml 2>&1 | tail -n 200"));
	my @lines = not_reached($model, $said);
	is("@lines", '', '  and each line is reached');
}

# assertions MODEL: "FUNCTION: CONDITION" of each, and the numbers of its lines
sub assertions
{
	my ($model) = @_;
	my ($function, $nr, %lines) = ('', 0);
	for (split /\n/, get("$harness/model/$model.pml")) {
		$nr++;
		$function = $1 || 'init' if /^(?:inline|(?:active\b.*)?proctype|init)\b\s*(\w*)/;
		push @{$lines{"$function: $1"}}, $nr if /\bassert\((.*?)\)\s*(?:;|\/\*|$)/;
	}
	return %lines;
}

# only MODEL, LINE...: the model's text, in which no other assertion can fail
sub only
{
	my ($model, @lines) = @_;
	my %keep = map { $_ => 1 } @lines;
	my @text = split /^/, get("$harness/model/$model.pml");
	for my $nr (1 .. @text) {
		$text[$nr - 1] =~ s/\bassert\(/assert(true || / if !$keep{$nr};
	}
	return join '', @text;
}

sub check_variant
{
	my ($model, $macro) = @_;
	my %lines = assertions($model);
	my @fail = @{$fails{$model}{$macro} // []};
	@fail or fail("it is listed what fails in $model with $macro");
	for my $assertion (@fail) {
		put("$model.pml", only($model, @{$lines{$assertion} // []}));
		# A broken model fails early: here a fast compiler is worth more than a fast program.
		my $said = search('tcc', $model, $macro);
		# An index out of range is none of the model's assertions.
		ok($said =~ /assertion violated (?!- )/,
			"$model with $macro fails, after " . states($said) . ' states') or
			diag($said);
		note("  $assertion");
	}
}

# check_listed MODEL, MACRO...: all that it has is listed, and nothing else
sub check_listed
{
	my ($model, @macros) = @_;
	my %lines = assertions($model);
	my %listed = map { $_ => 1 } map { @$_ } $unlisted{$model} // [],
		values %{$fails{$model}};
	is(join("\n", sort keys %{$fails{$model}}), join("\n", sort grep { /^BROKEN/ } @macros),
		"each broken variant of $model is listed");
	is(join("\n", sort keys %listed), join("\n", sort keys %lines),
		"each assertion of $model is listed");
}

if (run('spin -V') !~ /Spin Version/) {
	plan skip_all => 'no spin';
}
for my $path (glob "$harness/model/*.pml") {
	my $model = basename($path, '.pml');
	my $text = get($path);
	my %seen;
	my @macros = grep { !$seen{$_}++ } $text =~ /^#.*?\b((?:ALSO|BROKEN)_\w+)/mg;
	if (!@ARGV || grep { $_ eq $model } @ARGV) {
		check_listed($model, @macros);
		check_model($model);
	}
	for my $macro (@macros) {
		next if @ARGV && !grep { $_ eq $macro } @ARGV;
		next if !@ARGV && $macro =~ /^ALSO/ && ($ENV{MODEL} // '') ne 'all';
		$macro =~ /^ALSO/ ? check_model($model, $macro) : check_variant($model, $macro);
	}
}
done_testing();
