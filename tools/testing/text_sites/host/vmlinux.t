#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# The table in the kernel that was built: does it have the calls of __fentry__ that
# a disassembler finds, and no other?
use strict;
use warnings;
no warnings 'portable';	# a perl for these kernels has 64-bit integers
use FindBin;
use Test::More;

my $top = "$FindBin::Bin/../../../..";
my $script = "$top/scripts/mcount_loc.pl";
my $vmlinux = $ENV{VMLINUX} // "$top/build/text_sites/vmlinux";

plan skip_all => "no kernel has been built" unless -e $vmlinux;

# Addresses have 16 digits here and are compared as text.
my %calls;
open my $objdump, '-|', 'objdump', '-d', '--no-show-raw-insn', $vmlinux or die "objdump: $!";
while (<$objdump>) {
	$calls{$1} = 1 if /^([0-9a-f]{16}):\s+call\s+[0-9a-f]+ <__fentry__>/;
}
close $objdump;
cmp_ok(scalar keys %calls, '>', 10000, 'calls of __fentry__: ' . keys %calls);

# The bodies of functions that are in the image: [start, end)
my @bodies;
open my $nm, '-|', 'nm', '-S', '--numeric-sort', $vmlinux or die "nm: $!";
while (<$nm>) {
	push @bodies, [$1, $2] if /^([0-9a-f]{16}) ([0-9a-f]{16}) [tTwWiI] /;
}
close $nm;

my (%expected, $end);
my $next = 0;
$end = '';
for my $call (sort keys %calls) {
	while ($next < @bodies && $bodies[$next][0] le $call) {
		my $stop = sprintf '%016x', hex($bodies[$next][0]) + hex $bodies[$next][1];
		$end = $stop if $stop gt $end;
		$next++;
	}
	$expected{$call} = 1 if $call lt $end;
}

my @table = map { sprintf '%016x', hex s{\s}{}gr } qx{perl "$script" --dump "$vmlinux"};
is($?, 0, 'the table can be read');
my %table = map { $_ => 1 } @table;

is(scalar keys %table, scalar @table, 'no entry is there twice');
is_deeply([grep { $table[$_ - 1] ge $table[$_] } 1 .. $#table], [], 'the table is sorted');
is_deeply([grep { !$table{$_} } sort keys %expected], [], 'no call is missing');
is_deeply([grep { !$calls{$_} } @table], [], 'nothing else is in it');
is_deeply([grep { !$expected{$_} } @table], [], 'no body of an overridden function is in it');

done_testing();
