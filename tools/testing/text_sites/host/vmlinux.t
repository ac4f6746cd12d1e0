#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# The tables in the kernel that was built, and in its modules: do they have the calls of
# __fentry__ that a disassembler finds, and no other? KERNEL_BUILD is the folder of another kernel
# than that of `make test`.
use strict;
use warnings;
no warnings 'portable';	# a perl for these kernels has 64-bit integers
use File::Basename qw(basename);
use FindBin;
use Test::More;

my $top = "$FindBin::Bin/../../../..";
my $script = "$top/scripts/mcount_loc.pl";
my $build = $ENV{KERNEL_BUILD} // "$top/build/text_sites";
my $vmlinux = "$build/vmlinux";

plan skip_all => "no kernel has been built" unless -e $vmlinux;

# Addresses have 16 digits here, or 8, and are compared as text.
my $digits = qx{readelf -h "$vmlinux"} =~ /Class:\s+ELF64/ ? 16 : 8;
my $hex = qr/[0-9a-f]{$digits}/;
my %calls;
open my $objdump, '-|', 'objdump', '-d', '--no-show-raw-insn', $vmlinux or die "objdump: $!";
while (<$objdump>) {
	$calls{$1} = 1 if /^($hex):\s+call\s+[0-9a-f]+ <__fentry__>/;
}
close $objdump;
cmp_ok(scalar keys %calls, '>', 10000, 'calls of __fentry__: ' . keys %calls);

# The bodies of functions that are in the image: [start, end)
my @bodies;
open my $nm, '-|', 'nm', '-S', '--numeric-sort', $vmlinux or die "nm: $!";
while (<$nm>) {
	push @bodies, [$1, $2] if /^($hex) ($hex) [tTwWiI] /;
}
close $nm;

my (%expected, $end);
my $next = 0;
$end = '';
for my $call (sort keys %calls) {
	while ($next < @bodies && $bodies[$next][0] le $call) {
		my $stop = sprintf "%0${digits}x", hex($bodies[$next][0]) + hex $bodies[$next][1];
		$end = $stop if $stop gt $end;
		$next++;
	}
	$expected{$call} = 1 if $call lt $end;
}

my @table = map { sprintf "%0${digits}x", hex s{\s}{}gr } qx{perl "$script" --dump "$vmlinux"};
is($?, 0, 'the table can be read');
my %table = map { $_ => 1 } @table;

is(scalar keys %table, scalar @table, 'no entry is there twice');
is_deeply([grep { $table[$_ - 1] ge $table[$_] } 1 .. $#table], [], 'the table is sorted');
is_deeply([grep { !$table{$_} } sort keys %expected], [], 'no call is missing');
is_deeply([grep { !$calls{$_} } @table], [], 'nothing else is in it');
is_deeply([grep { !$expected{$_} } @table], [], 'no body of an overridden function is in it');

# sections FILE: by name, what readelf says: { offset, size }
sub sections
{
	my ($file) = @_;
	return map {
		/^\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+[0-9a-f]+\s+([0-9a-f]+)\s+([0-9a-f]+)/
			? ($1 => { offset => hex $2, size => hex $3 }) : ()
	} qx{readelf -SW "$file"};
}

# called FILE: the calls of __fentry__ in a relocatable file, as "SECTION+OFFSET"
sub called
{
	my ($file) = @_;
	my ($section, $call, %calls) = ('', '');
	open my $objdump, '-|', 'objdump', '-dr', '--no-show-raw-insn', $file or die "objdump: $!";
	while (<$objdump>) {
		if (/^Disassembly of section (.*):$/) {
			$section = $1;
		} elsif (/^\s*([0-9a-f]+):\s+call\s/) {
			$call = hex $1;
		} elsif (/^\s*([0-9a-f]+): R_\w+_P(?:C|LT)32\s+__fentry__(?:-0x4)?$/) {
			$calls{"$section+$call"} = 1 if hex $1 == $call + 1;
		}
	}
	close $objdump;
	return \%calls;
}

# listed FILE: what its table refers to, in the same form. A relocation of it names a section, or
# a function in it; what is to be added to that is in the relocation or in the table.
sub listed
{
	my ($file) = @_;
	my %section = sections($file);
	my $table = $section{__mcount_loc} or return [];
	my %name = map { /^\s*\[\s*(\d+)\]\s+(\S+)/ ? ($1 => $2) : () } qx{readelf -SW "$file"};
	my (%in, %at, @listed);

	for (qx{readelf -sW "$file"}) {
		my (undef, $value, undef, $type, undef, undef, $index, $symbol) = split ' ', s/^\s*\d+:/x/r;
		next unless defined $index && $index =~ /^\d+$/;
		@at{ $type eq 'SECTION' ? $name{$index} : $symbol // '' } = [ $name{$index}, hex $value ];
	}
	open my $in, '<:raw', $file or die "$file: $!";
	my $bytes = do { local $/; <$in> };
	close $in;
	my $inside = 0;
	for (qx{readelf -rW "$file"}) {
		$inside = /'\.rela?__mcount_loc'/ if /^Relocation section/;
		next unless $inside && /^([0-9a-f]+)\s+[0-9a-f]+\s+R_\w+_PC32\s+[0-9a-f]+\s+(\S+)(?: ([+-]) ([0-9a-f]+))?$/;
		my ($place, $symbol, $sign, $addend) = (hex $1, $2, $3, $4);
		my $added = defined $addend ? ($sign eq '-' ? -hex $addend : hex $addend)
					    : unpack 'l<', substr $bytes, $table->{offset} + $place, 4;
		my ($where, $value) = @{ $at{$symbol} // die "$file: no symbol $symbol" };
		push @listed, "$where+" . ($value + $added);
		$in{$place} = 1;
	}
	is(scalar keys %in, $table->{size} / 8, basename($file) . ': one relocation for each entry');
	return \@listed;
}

my @modules = split /\n/, qx{find "$build" -name '*.ko' ! -path '*/mod/*' ! -path '*/test_modules/*'};
my $calls = 0;
for my $module (sort @modules) {
	my ($called, $listed) = (called($module), listed($module));
	my @called = sort keys %$called;
	$calls += @called;
	is_deeply([sort @$listed], \@called, basename($module) . ': calls are in the table: ' . @called);
}
SKIP: {
	skip 'the kernel has no modules', 1 unless @modules;
	cmp_ok($calls, '>', 0, "calls in modules: $calls");
}

done_testing();
