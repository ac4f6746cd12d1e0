#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# change_tables.pl MODULE.ko [TABLE...]: loads the module with everything changed that its
# tables of text sites can hold, one thing at a time: each byte, records dropped, twice, in
# another order, and the sections themselves. The kernel either loads it, or refuses it
# with EINVAL and a message; nothing may make it complain. Prints what is not so, and counts.
# A TABLE:ADDRESS has what is referred to in the table be there, in hex; that is refused.
use strict;
use warnings;

my ($path, @only) = @ARGV;
my $name = $path =~ s{.*/|\.ko$}{}gr;
my $changed = "/tmp/$name.ko";
my @tables = qw(__dynfunc_sites __value_sites __value_refs __marker_sites __marker_refs);
unshift @tables, '__mcount_loc' if `zcat /proc/config.gz` =~ /^CONFIG_FTRACE_ENGINE_TEXT_SITES=y/m;
my %record = map { $_ => /refs/ ? 4 : 8 } @tables;
my @elsewhere = map { [split /:/] } grep { /:/ } @only;
@tables = grep { !/:/ } @only if @only;
my $RELOC = 24;		# bytes of a relocation: offset, info, addend

open my $in, '<:raw', $path or die "$path: $!\n";
my $file = do { local $/; <$in> };
close $in;

# The sections, by name: where the header is, offset and size in the file
my ($shoff, $shentsize, $shnum, $shstrndx) = unpack 'x40 Q x10 S S S', $file;
my @header = map { $shoff + $_ * $shentsize } 0 .. $shnum - 1;
my $names = unpack 'x24 Q', substr $file, $header[$shstrndx], $shentsize;
my %section;
for my $header (@header) {
	my ($at, $offset, $size) = unpack 'L x20 Q Q', substr $file, $header, $shentsize;
	$section{unpack 'Z*', substr $file, $names + $at} = { header => $header, at => $offset, size => $size };
}

# relocs TABLE: where in the file the relocation of each place in the table is
sub relocs
{
	my $rela = $section{".rela$_[0]"} or return ();
	return map { unpack('Q', substr $file, $_, 8) => $_ }
		map { $rela->{at} + $_ * $RELOC } 0 .. $rela->{size} / $RELOC - 1;
}

my (%count, $failed);
my $log = 0;

# kernel: what it has said since the last time
sub kernel
{
	my @lines = qx(dmesg);
	my @new = @lines[$log .. $#lines];
	$log = @lines;
	return @new;
}

sub fail { print "# $_[0]\n"; $failed++ }

# write_to FILE, TEXT: there may be no function tracer, and no such file
sub write_to
{
	my $control = "/sys/kernel/tracing/$_[0]";
	return if !-e $control;
	open my $out, '>', $control or return;
	print $out "$_[1]\n";
	close $out;
}

# try WHAT, EXPECT, MODULE: EXPECT is 'right' (it loads, and works), 'refused', 'unused'
# (its code is not to be run), or ''
sub try
{
	my ($what, $expect, $module) = @_;
	open my $out, '>:raw', $changed or die "$changed: $!\n";
	print $out $module;
	close $out;

	kernel();
	my $said = qx(insmod $changed 2>&1);
	my $loaded = $? == 0;
	my $check = '';
	if ($loaded) {
		for (1 .. ($expect eq 'unused' ? 0 : 2)) {
			write_to('set_ftrace_filter', ":mod:$name");
			write_to('current_tracer', 'function');
			$check = qx(cat /sys/module/$name/parameters/check);
			write_to('current_tracer', 'nop');
			write_to('set_ftrace_filter', '');
		}
		system "rmmod $name";
		fail("$what: cannot be unloaded") if $?;
	}
	my @lines = kernel();
	fail("$what: @{[grep /WARNING:|BUG:|Oops/, @lines]}") if grep /WARNING:|BUG:|Oops/, @lines;
	$count{ $loaded ? 'loaded' : 'refused' }++;
	if ($loaded) {
		fail("$what: it was loaded") if $expect eq 'refused';
		fail("$what: it does not work") if $expect eq 'right' && $check !~ /^right/;
	} else {
		# The loader has its own idea of relocations that are not in their section.
		return if $expect ne 'right' && $said =~ /Invalid module format/;
		fail("$what: $said") if $expect eq 'right' || $said !~ /Invalid parameters/;
		fail("$what: no message: @lines") unless grep /(?:text_site|marker|jump_function): /, @lines;
	}
}

# moved TABLE, FROM, TO, MODULE: with record TO referring to what FROM does in this one
sub moved
{
	my ($table, $from, $to, $module) = @_;
	my %reloc = relocs($table);
	my $size = $record{$table};
	for (my $i = 0; $i < $size; $i += 4) {
		my ($a, $b) = @reloc{$from * $size + $i, $to * $size + $i};
		if (defined $a && defined $b) {
			substr($module, $b + 8, 16) = substr $file, $a + 8, 16;
		} elsif (defined $a || defined $b) {
			return undef;	# a load in the place of a branch
		}
	}
	return $module;
}

# elsewhere TABLE, ADDRESS: what records refer to is there: values, or jumps' defaults
sub elsewhere
{
	my ($table, $address) = @_;
	my %reloc = relocs($table);
	my $module = $file;
	my $is_jump = $table eq '__dynfunc_sites';
	my @where = map { [$reloc{$_}, $address] } grep { !$is_jump || $_ % 8 } keys %reloc;
	push @where, map { [$_, $address - 4] } values %{{ relocs('.kprobes.text') }} if $is_jump;
	for (@where) {
		my ($where, $addend) = @$_;
		# Symbol 0 is at 0.
		substr($module, $where + 12, 12) = pack 'L q', 0, $addend;
	}
	try("$table: refers to " . sprintf('%x', $address), 'refused', $module);
}

try('nothing changed', 'right', $file);
elsewhere($_->[0], unpack 'q>', pack 'H*', $_->[1]) for @elsewhere;
for my $table (grep { $section{$_} } @tables) {
	my ($at, $size, $header) = @{ $section{$table} }{qw(at size header)};
	my $nr = $size / $record{$table};
	my %reloc = relocs($table);
	my $refs = $table =~ s/sites/refs/r;

	for my $byte (0 .. $size - 1) {
		my $where = $reloc{ $byte & ~3 };
		for my $by (1, 0x80) {
			my $module = $file;
			if (defined $where) {
				my $addend = unpack 'q', substr $file, $where + 16, 8;
				substr($module, $where + 16, 8) = pack 'q', $addend + ($by << 8 * ($byte & 3));
			} else {
				substr($module, $at + $byte, 1) = chr $by;
			}
			# What is not at a call of __fentry__, or has a state
			my $expect = $table eq '__mcount_loc' ? 'refused' : '';
			# Which of the module's instructions a branch is to go to nobody can tell.
			$expect = 'unused' if $table =~ /^__(?:value|marker)_sites/ && $byte % 8 > 3;
			try("$table: byte $byte by $by", $expect, $module);
		}
	}

	for my $i (0 .. $nr - 1) {
		my $module = $file;
		for my $place ($i * $record{$table} .. ($i + 1) * $record{$table} - 1) {
			substr($module, $reloc{$place} + 8, 4) = pack 'L', 0 if defined $reloc{$place};
		}
		# A reference to nothing is one to itself.
		try("$table: no record $i", 'refused', $module);
		next if !$i || $refs eq $table;

		my $twice = moved($table, $i - 1, $i, $file);
		$twice = moved($refs, $i - 1, $i, $twice) if defined $twice && $section{$refs};
		try("$table: record @{[$i - 1]} twice", 'refused', $twice) if defined $twice;
		my $swapped = moved($table, $i, $i - 1, moved($table, $i - 1, $i, $file) // next) // next;
		$swapped = moved($refs, $i, $i - 1, moved($refs, $i - 1, $i, $swapped)) if $section{$refs};
		try("$table: records @{[$i - 1]} and $i swapped", 'right', $swapped);
	}

	for my $less (1, 2, 4) {
		my $module = $file;
		substr($module, $header + 32, 8) = pack 'Q', $size - $less;
		try("$table: $less bytes less", $record{$table} > $less || $refs ne $table ? 'refused' : '', $module);
	}
	my $module = $file;
	substr($module, $header + 8, 8) = pack 'Q', 2;
	try("$table: read-only", 'refused', $module);
}
unlink $changed;
print "# ", join(', ', map { "$count{$_} $_" } sort keys %count), "\n";
exit($failed ? 1 : 0);
