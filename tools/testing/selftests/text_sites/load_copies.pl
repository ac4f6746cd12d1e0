#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# load_copies.pl NAME_000.ko NUMBER...: loads copies of a module, each with a number of three
# digits in the place of 000 wherever the file has the name: nothing moves in it.
use strict;
use warnings;

my $SYS_INIT_MODULE = length(pack 'p', '') == 8 ? 175 : 128;	# on x86-64, and on 32-bit x86
my ($path, @numbers) = @ARGV;
my ($name) = $path =~ m{([^/]*)_000\.ko$} or die "load_copies: $path: not a name_000.ko\n";

open my $in, '<:raw', $path or die "load_copies: $path: $!\n";
my $file = do { local $/; <$in> };
close $in;

for my $number (@numbers) {
	my $copy = $file =~ s/${name}_000/${name}_$number/gr;
	die "load_copies: $number: not three digits\n" if length $copy != length $file;
	syscall($SYS_INIT_MODULE, $copy, length $copy, my $parameters = '') == 0
		or die "load_copies: ${name}_$number: $!\n";
}
