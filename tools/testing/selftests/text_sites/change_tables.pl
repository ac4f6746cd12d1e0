#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# change_tables.pl MODULE.ko [TABLE...]: loads the module with everything changed that its
# tables of text sites can hold, one thing at a time: each byte, records dropped, twice, in
# another order, a part of one more or less, and the sections themselves. The kernel either
# loads it, or refuses it with EINVAL and a message; nothing may make it complain. Prints what
# is not so, and counts. A TABLE:ADDRESS has what is referred to in the table be there, in hex;
# that is refused.
#
# change_tables.pl MODULE.ko any NUMBER SEED: with so many changes that are made at random:
# several at a time, and tables that are put together anew.
#
# Nothing but this file is read from a disk, and no program is started, so that there can be
# thousands.
use strict;
use warnings;

# What differs: on x86-64 a module is an ELF64 file, whose relocations have addends. On 32-bit
# x86 it is an ELF32 file, and the addend is what the place of the relocation holds.
my $WIDE = length(pack 'p', '') == 8;
my ($SYS_INIT_MODULE, $SYS_DELETE_MODULE) = $WIDE ? (175, 176) : (128, 129);
# Where the ELF header says where the section headers are, of which size and how many
my ($SHOFF, $SHENTSIZE) = $WIDE ? ('x40 Q', 'x58 S3') : ('x32 L', 'x46 S3');
# A word, the fields of a section header, and those of a relocation
my ($WORD, $FLAGS, $OFFSET, $SIZE) = $WIDE ? ('Q', 8, 24, 32) : ('L', 8, 16, 20);
my ($REL, $RELOC, $INFO, $SYMBOL) = $WIDE ? ('.rela', 24, 8, 32) : ('.rel', 8, 4, 8);
my $WORD_SIZE = length pack $WORD, 0;
# One of what is at the absolute address that it holds
my $ABSOLUTE = 1;		# R_X86_64_64, R_386_32
# What the loader of modules knows: R_X86_64_NONE, 64, PC32, PLT32, 32, 32S and PC64, or R_386_NONE,
# 32, PC32 and PLT32. The last one it refuses: R_X86_64_GOTPCREL, R_386_GOTOFF.
my @types = $WIDE ? (0, 1, 2, 4, 10, 11, 24, 9) : (0, 1, 2, 4, 9);
my ($EINVAL, $ENOEXEC, $O_NONBLOCK) = (22, 8, 04000);

my ($path, @only) = @ARGV;
my ($any, $seed) = @only && $only[0] eq 'any' ? @only[1, 2] : (0, 0);
@only = () if $any;
my $name = $path =~ s{.*/|\.ko$}{}gr;
# The option that each table belongs to, in the order in which the tables are changed. A kernel
# that does not show its configuration is taken to have all of them.
my @options = ([ '__mcount_loc', 'FTRACE_ENGINE_TEXT_SITES' ], [ '__dynfunc_sites', 'JUMP_FUNCTION' ],
	       [ '__value_sites', 'IMMEDIATE_VALUES' ], [ '__value_refs', 'IMMEDIATE_VALUES' ],
	       [ '__marker_sites', 'MARKERS' ], [ '__marker_refs', 'MARKERS' ]);
my $config = -e '/proc/config.gz' ? `zcat /proc/config.gz` : undef;
my @tables = map { $_->[0] } grep { !defined $config || $config =~ /^CONFIG_$_->[1]=y/m } @options;
my %record = map { $_ => /refs/ ? 4 : 8 } @tables;
my @elsewhere = map { [split /:/] } grep { /:/ } @only;
@tables = grep { !/:/ } @only if @only;

open my $in, '<:raw', $path or die "$path: $!\n";
my $file = do { local $/; <$in> };
close $in;

# The sections, by name: where the header is, offset and size in the file
my ($shoff) = unpack $SHOFF, $file;
my ($shentsize, $shnum, $shstrndx) = unpack $SHENTSIZE, $file;
my @header = map { $shoff + $_ * $shentsize } 0 .. $shnum - 1;
my $names = unpack "x$OFFSET $WORD", substr $file, $header[$shstrndx], $shentsize;
my %section;
for my $header (@header) {
	my ($at, $offset, $size) = unpack "L \@$OFFSET ${WORD}2", substr $file, $header, $shentsize;
	$section{unpack 'Z*', substr $file, $names + $at} = { header => $header, at => $offset, size => $size };
}
for my $table (@tables) {
	die "# FAIL: $path has no $table\n" if !$section{$table} || !$section{$table}{size};
}

# set_header MODULE, SECTION, FIELD, VALUE: a field of the section's header
sub set_header
{
	my ($section, $field, $value) = @_[1 .. 3];
	substr($_[0], $section{$section}{header} + $field, $WORD_SIZE) = pack $WORD, $value;
}

# relocs SECTION: by each place in it that has a relocation: where in the file that is, and its
# addend
sub relocs
{
	my ($section) = @_;
	my $of = $section{"$REL$section"} or return ();
	return map {
		my $place = unpack $WORD, substr $file, $_, $WORD_SIZE;
		$place => { at => $_, addend => $WIDE ? $_ + 16 : $section{$section}{at} + $place };
	} map { $of->{at} + $_ * $RELOC } 0 .. $of->{size} / $RELOC - 1;
}

# addend MODULE, RELOC
sub addend
{
	my $reloc = $_[1];
	return unpack $WIDE ? 'q' : 'l', substr $_[0], $reloc->{addend}, $WORD_SIZE;
}

# set_addend MODULE, RELOC, ADDEND
sub set_addend
{
	my ($reloc, $addend) = @_[1, 2];
	substr($_[0], $reloc->{addend}, $WORD_SIZE) = pack $WIDE ? 'q' : 'l', $addend;
}

# set_info MODULE, RELOC, INFO: its symbol and its type
sub set_info
{
	my ($reloc, $info) = @_[1, 2];
	substr($_[0], $reloc->{at} + $INFO, $WORD_SIZE) = pack $WORD, $info;
}

# copy MODULE, FROM, TO, OF: the relocation TO in MODULE refers to what FROM does in OF
sub copy
{
	my ($from, $to) = @_[1, 2];
	my $info = unpack $WORD, substr $_[3], $from->{at} + $INFO, $WORD_SIZE;
	my $addend = addend($_[3], $from);
	set_info($_[0], $to, $info);
	set_addend($_[0], $to, $addend);
}

my (%count, $failed);

# kernel: what it has said since the last time
open my $kmsg, '<:unix', '/dev/kmsg' or die "/dev/kmsg: $!\n";
fcntl $kmsg, 4, $O_NONBLOCK or die "/dev/kmsg: $!\n";		# F_SETFL
seek $kmsg, 0, 2;

sub kernel
{
	my @lines;
	while (1) {
		my $size = sysread $kmsg, my $line, 8192;
		# EPIPE: some were written over before they were read
		last if !defined $size && $! != 32;
		push @lines, $line =~ s/^[^;]*;//r if $size;
	}
	return @lines;
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

sub read_from
{
	open my $in, '<', $_[0] or return ();
	return <$in>;
}

# traced: all functions of the module are, and nothing else
sub traced
{
	my @wanted = grep { /\[$name\]/ } read_from('/sys/kernel/tracing/available_filter_functions');
	my @are = read_from('/sys/kernel/tracing/enabled_functions');
	return @wanted == @are && !grep { !/\[$name\]/ } @are;
}

# works TRACED: the module's own test, with its functions being traced or not
sub works
{
	if ($_[0]) {
		write_to('set_ftrace_filter', ":mod:$name");
		write_to('current_tracer', 'function');
		fail('not all functions are traced, or others')
			if -e '/sys/kernel/tracing/enabled_functions' && !traced();
	}
	my ($check) = read_from("/sys/module/$name/parameters/check");
	if ($_[0]) {
		write_to('current_tracer', 'nop');
		write_to('set_ftrace_filter', '');
	}
	return ($check // '') =~ /^right/;
}

# try WHAT, EXPECT, MODULE: EXPECT is 'right' (it loads, and works), 'refused', '' (one of these), or
# 'unused' (its code is not to be run)
sub try
{
	my ($what, $expect, $module) = @_;
	kernel();
	my $loaded = syscall($SYS_INIT_MODULE, $module, length $module, my $parameters = '') == 0;
	my $error = $loaded ? 0 : $! + 0;
	my $right = 1;
	if ($loaded) {
		$right = works(0) & works(1) & works(0) if $expect ne 'unused';
		fail("$what: cannot be unloaded: $!")
			if syscall($SYS_DELETE_MODULE, my $unload = $name, $O_NONBLOCK);
	}
	my @lines = kernel();
	fail("$what: @{[grep /WARNING:|BUG:|Oops/, @lines]}") if grep /WARNING:|BUG:|Oops/, @lines;
	$count{ $loaded ? 'loaded' : 'refused' }++;
	if ($loaded) {
		fail("$what: it was loaded") if $expect eq 'refused';
		fail("$what: it does not work") if $expect ne 'unused' && !$right;
	} else {
		# The loader has its own idea of relocations that are not in their section.
		return if $expect ne 'right' && $error == $ENOEXEC;
		fail("$what: error $error, @lines") if $expect eq 'right' || $error != $EINVAL;
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
			copy($module, $a, $b, $file);
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
		my $info = unpack $WORD, substr $file, $where->{at} + $INFO, $WORD_SIZE;
		# Symbol 0 is at 0.
		set_info($module, $where, $info & ((1 << $SYMBOL) - 1));
		set_addend($module, $where, $addend);
	}
	try("$table: refers to " . sprintf('%x', $address), 'refused', $module);
}

# table_of TABLE, MODULE, RECORD...: with the table made of these records of the file's, in
# this order, at the end of the file. So are the relocations.
sub table_of
{
	my ($table, $module, @records) = @_;
	my %reloc = relocs($table);
	my ($size, $bytes, $relocs) = ($record{$table}, '', '');

	for my $record (@records) {
		for (my $i = 0; $i < $size; $i += 4) {
			my $from = $reloc{$record * $size + $i};
			$relocs .= pack($WORD, length $bytes) .
				substr $file, $from->{at} + $WORD_SIZE, $RELOC - $WORD_SIZE
				if defined $from;
			$bytes .= substr $file, $section{$table}{at} + $record * $size + $i, 4;
		}
	}
	for ([ $table, $bytes ], [ "$REL$table", $relocs ]) {
		my ($what, $new) = @$_;
		$module .= "\0" x (-length($module) & 7);
		set_header($module, $what, $OFFSET, length $module);
		set_header($module, $what, $SIZE, length $new);
		$module .= $new;
	}
	return $module;
}

sub some { return int rand $_[0] }

# put_together TABLE: it has other records than before, or others in front. What is to be
# expected then, what was done, and the module
sub put_together
{
	my ($table) = @_;
	my $refs = $table =~ s/sites/refs/r;
	my @all = 0 .. $section{$table}{size} / $record{$table} - 1;
	my @records = sort { rand() <=> 0.5 } @all;
	my $expect = 'right';
	my $kind = some(4);

	if ($kind == 1) {
		# Of entries some may be missing; a value that nobody looks at is a wrong one.
		splice @records, some(scalar @records), 1 + some(2);
		$expect = $table eq '__mcount_loc' ? 'right' : 'unused';
	} elsif ($kind == 2) {
		push @records, map { $all[some(scalar @all)] } 0 .. some(3);
		$expect = 'refused';
	} elsif ($kind == 3) {
		@records = (@records) x (2 + some(200));
		$expect = 'refused';
	}
	my $module = table_of($table, $file, @records);
	if ($section{$refs} && $refs ne $table) {
		my @other = @records;
		if (!some(4) && @all > 1) {
			# Not as many, or not all of them
			some(2) ? pop @other : push @other, 0;
			$expect = 'refused';
		}
		$module = table_of($refs, $module, @other);
	}
	return ($expect, "$table: records @records", $module) if @records < 50;
	return ($expect, "$table: @{[scalar @records]} records", $module);
}

# some_changed TABLE: in one to three places
sub some_changed
{
	my ($table) = @_;
	my $module = $file;
	my %reloc = relocs($table);
	my @places = sort { $a <=> $b } keys %reloc;
	my $size = $section{$table}{size};
	my @what;

	for (0 .. some(3)) {
		my $reloc = $reloc{ $places[some(scalar @places)] };
		my $kind = some(6);
		if ($kind <= 2) {
			my $by = (1, 2, 4, 5, 8, -1, -5, some(4096), -some(4096), 1 << some(31))[some(10)];
			set_addend($module, $reloc, addend($module, $reloc) + $by);
			push @what, "$by further";
		} elsif ($kind == 3) {
			my $from = $reloc{ $places[some(scalar @places)] };
			copy($module, $from, $reloc, $module);
			push @what, 'what another refers to';
		} elsif ($kind == 4) {
			my $at = $places[some(scalar @places)];
			substr($module, $reloc->{at}, $WORD_SIZE) = pack $WORD, $at;
			push @what, "a reference that is at $at now";
		} else {
			my $new = some($size + 1);
			set_header($module, $table, $SIZE, $new);
			# Relocations are where they were: outside of it they are refused, or not.
			set_header($module, "$REL$table", $SIZE, 0);
			push @what, "$new bytes, without references";
		}
	}
	return ('unused', "$table: @{[join ', ', @what]}", $module);
}

try('nothing changed', 'right', $file);
if ($any) {
	srand($seed);
	my @there = grep { relocs($_) } @tables;
	my @sites = grep { !/refs/ } @there;
	for my $i (1 .. $any) {
		my ($expect, $what, $module) = some(2) ? put_together($sites[some(scalar @sites)])
						       : some_changed($there[some(scalar @there)]);
		try("seed $seed, $i: $what", $expect, $module);
		last if ($failed // 0) > 20;
	}
	@tables = ();
}
elsewhere($_->[0], unpack 'q>', pack 'H*', $_->[1]) for @elsewhere;
for my $table (@tables) {
	my ($at, $size) = @{ $section{$table} }{qw(at size)};
	my $nr = $size / $record{$table};
	my %reloc = relocs($table);
	my $refs = $table =~ s/sites/refs/r;

	for my $byte (0 .. $size - 1) {
		my $where = $reloc{ $byte & ~3 };
		for my $bit (0 .. 7) {
			my $by = 1 << $bit;
			my $module = $file;
			if (defined $where) {
				set_addend($module, $where, addend($file, $where) + ($by << 8 * ($byte & 3)));
			} else {
				substr($module, $at + $byte, 1) = chr($by ^ ord substr $file, $at + $byte, 1);
			}
			# What is not at a call of __fentry__, or has a state
			my $expect = $table eq '__mcount_loc' ? 'refused' : '';
			# Which of the module's instructions a branch is to go to nobody can tell.
			$expect = 'unused' if $table =~ /^__(?:value|marker)_sites/ && $byte % 8 > 3;
			# Nor can anybody tell which of its data is the value.
			$expect = 'unused' if $table eq '__value_refs';
			try("$table: byte $byte by $by", $expect, $module);
		}
	}

	# Each reference with each other type of relocation. Some types mean the same there.
	for my $place (sort { $a <=> $b } keys %reloc) {
		my $info = unpack $WORD, substr $file, $reloc{$place}{at} + $INFO, $WORD_SIZE;
		my $old = $info & ((1 << $SYMBOL) - 1);
		for my $type (grep { $_ != $old } @types) {
			my $module = $file;
			set_info($module, $reloc{$place}, $info ^ $old | $type);
			try("$table: reference at $place of type $type", '', $module);
		}
	}

	for my $i (0 .. $nr - 1) {
		my $module = $file;
		for my $place ($i * $record{$table} .. ($i + 1) * $record{$table} - 1) {
			next if !defined $reloc{$place};
			set_info($module, $reloc{$place}, $WIDE ? 0 : $ABSOLUTE);
			set_addend($module, $reloc{$place}, 0);
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

	# The bytes behind a table in the file belong to another section, or to none.
	for my $more (-4, -2, -1, 1, 2, 4) {
		my $module = $file;
		set_header($module, $table, $SIZE, $size + $more);
		try(sprintf('%s: %+d bytes', $table, $more), $record{$table} > abs($more) || $refs ne $table ? 'refused' : '', $module);
	}
	my $module = $file;
	set_header($module, $table, $FLAGS, 2);
	try("$table: read-only", 'refused', $module);
}
print "# ", join(', ', map { "$count{$_} $_" } sort keys %count), "\n";
exit($failed ? 1 : 0);
