#!/usr/bin/perl
# What `make bench-native` measures: all of it compiles without a warning, runs, finds what
# it measures right, and prints numbers that can be; and it notices if something is wrong.
use strict;
use warnings;
use Test::More;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);

my $top = abs_path(dirname(__FILE__) . '/../../../..');
my $compile = "$top/tools/testing/text_sites/native/compile";
my $dir = tempdir(CLEANUP => 1);

plan skip_all => 'not an x86-64 processor' if qx(uname -m) ne "x86_64\n";

# program NAME, FLAG...: compiles it; what the compiler says
sub program
{
	my ($name, @flags) = @_;
	return scalar qx(LC_ALL=C '$compile' '$dir/$name' @flags 2>&1);
}

# broken SOURCE, FROM, TO: the program with a kernel source that is a little different; what
# it says when it runs, and its exit status
sub broken
{
	my ($source, $from, $to) = @_;
	open my $in, '<', "$top/$source" or die "$source: $!";
	my $text = do { local $/; <$in> };
	$text =~ s/\Q$from\E/$to/ or die "$source: no '$from'";
	make_path("$dir/instead/" . dirname($source));
	open my $out, '>', "$dir/instead/$source" or die $!;
	print $out $text;
	close $out;
	my $said = program('broken', "-I'$dir/instead'");
	unlink "$dir/instead/$source";
	return ($said, -1) if $said ne '';
	$said = qx('$dir/broken' --short 2>&1);
	return ($said, $? >> 8);
}

is(program('native'), '', 'compiles, without a warning');
my $out = qx('$dir/native' --short 2>&1);
is($?, 0, 'runs') or diag($out);

like($out, qr/^processor  \S+, family \d+, model \d+, stepping \d+$/m, 'tells the processor');
like($out, qr/^machine    (virtual|CPUID has no hypervisor bit)/m, '  whether it is virtual');
like($out, qr/^cycles     of the time stamp counter, [1-9]?\d\.\d\d GHz, /m, '  whose cycles');
like($out, qr/^100000 events, \d+ of them overwritten, are the same in all pages and counters/m,
	'compares what both paths write');
like($out, qr/^A site that nobody traces: the kernel would choose '(nopl|prefix)' here\.$/m,
	'chooses a NOP');

# Table by table, the rows
my (%rows, $table);
for (split /\n/, $out) {
	if (/^(\S.*?) +min +median$/) {
		$table = $1;
	} elsif (defined $table && /^  +(.*?) +([\d.]+) +([\d.]+)$/) {
		push @{$rows{$table}}, $1;
		ok($2 > 0 && $2 <= $3 && $3 < 1e6, "$table: $1") or diag($_);
	} else {
		undef $table;
	}
}

my @nops = qw(nopl prefix jmp0 jmp3 lea);
my @callbacks = map { my $nr = $_ . ' callback' . ($_ > 1 && 's');
	map { "$nr: $_" } 'trampoline', 'list', 'list, with a retpoline for each call',
			  'list, and 8 ops at other functions' } 1, 2, 4, 8, 16;
is_deeply(\%rows, {
	'cycles per addition' => ['each waits for the one before: a cycle of the core'],
	'cycles per call of a function' =>
		['not traced, compiled without a site', 'not traced, a NOP', @callbacks],
	'cycles per event of 16 bytes and its header' => [
		'only the clock: trace_clock_local()', 'only the clock: rb_fast_clock()',
		'general path', 'short path, by its two functions',
		'short path, as the function tracers have it'],
	'cycles per round of a loop' => [@nops, 'no NOP'],
	'cycles per call of functions that do something' => [@nops, 'no NOP'],
	'cycles per 16 bytes of 64 KiB of straight code' => [@nops, 'no NOP'],
}, 'all tables, and all of their rows');

# Each that would make the numbers those of something else
my $fast = 'kernel/trace/ring_buffer_fast.h';
for (
	['another time in an event', $fast, '.time_delta = now - after,', '.time_delta = now - after + 1,',
		qr/^native: short path, .*: byte \d+ of page \d+ differs$/m],
	['an event that is not counted', $fast, 'local_inc(&cpu_buffer->entries);', '',
		qr/^native: short path, .*: events: \d+ instead of \d+$/m],
	['a page that keeps its last event back', $fast, '&fast->page->commit, fast->end',
		'&fast->page->commit, fast->end - 20',
		qr/^native: short path, .*: byte \d+ of page \d+ differs$/m],
	['a short path that is never taken', $fast, 'if (unlikely(!rb_fast_may(buffer, cpu_buffer, test)))', 'if (1)',
		qr/^native: the short path was not taken$/m],
	['a trampoline that leaves a callback out', 'arch/x86/kernel/fentry/trampoline.c',
		'i < tramp->nr; i++) {', 'i + (i > 2) < tramp->nr; i++) {',
		qr/^native: +4 callbacks: trampoline: callback 3 was not called as it should be$/m],
) {
	my ($name, $source, $from, $to, $said) = @$_;
	my ($got, $status) = broken($source, $from, $to);
	is($status, 1, "$name: is noticed");
	like($got, $said, '  for what it is');
}

done_testing();
