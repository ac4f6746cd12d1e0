#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# damage_btf.pl MODULE.ko arguments|value: prints the module with BTF in which the arguments, or
# the values, of all functions have a type that is not there. The kernel loads it.
use strict;
use warnings;

my $NOT_THERE = 0x7fffffff;
my $KIND_FUNC_PROTO = 13;
# The words behind a type's three, by kind: some, and some for each member
my %words = (1 => [1, 0], 3 => [3, 0], 4 => [0, 3], 5 => [0, 3], 6 => [0, 2], 13 => [0, 2],
	     14 => [1, 0], 15 => [0, 3], 17 => [1, 0], 19 => [0, 3]);

my ($path, $what) = @ARGV;
open my $in, '<:raw', $path or die "$path: $!\n";
my $file = do { local $/; <$in> };
close $in;

# Its header has a magic number, and is 24 bytes long.
$file =~ /\x9f\xeb\x01\x00\x18\x00\x00\x00/g or die "$path: no BTF\n";
my $at = pos($file) - 8;
my ($from, $length) = unpack 'x8 L2', substr $file, $at, 24;
my $nr = 0;
$at += 24 + $from;
for (my $end = $at + $length; $at < $end;) {
	my ($info) = unpack 'x4 L', substr $file, $at, 12;
	my ($kind, $members) = ($info >> 24 & 31, $info & 0xffff);
	my ($some, $each) = @{$words{$kind} // [0, 0]};

	my @places = $kind != $KIND_FUNC_PROTO ? () : $what eq 'value' ? $at + 8 :
		     map { $at + 12 + 8 * $_ + 4 } 0 .. $members - 1;
	substr($file, $_, 4) = pack 'L', $NOT_THERE for @places;
	$nr += @places;
	$at += 12 + 4 * ($some + $each * $members);
}
die "$path: no $what\n" if !$nr;
binmode STDOUT;
print $file;
