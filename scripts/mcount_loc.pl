#!/usr/bin/env perl
# SPDX-License-Identifier: GPL-2.0
#
# mcount_loc.pl - collect the function-entry sites of an object or an image
#
# Built with -pg, every traceable function begins with a call to __fentry__
# (or mcount). The kernel turns these calls into NOPs at boot and into calls
# to a tracer later on, so it needs to know where they are. This script makes
# the table that tells it, in two steps:
#
#   mcount_loc.pl OBJECT...
#	After each compilation: read the relocations of the calls, add a
#	section __mcount_loc with one entry per call. Extracting per object is
#	what keeps this off the final link: it runs in parallel, and only for
#	what was recompiled.
#
#   mcount_loc.pl --sort [--verbose] VMLINUX
#	After the final link: sort the table by address and drop the entries of
#	functions that are no longer there, so that the kernel can use the
#	table as it finds it.
#
#   mcount_loc.pl --dump FILE
#	Print the addresses in the table of a linked file, one a line.
#
# An entry is eight bytes, on 32-bit and on 64-bit alike:
#
#	        +0                +4               +8
#	        +-----------------+----------------+
#	   P -> | s32  site - P   | u32  state = 0 |      in __mcount_loc
#	        +-----------------+----------------+
#	                |
#	                +--> site:  e8 | rel32 |          call __fentry__
#	                               ^
#	                               +-- the relocation we look for: site + 1
#
# The reference is relative to the entry, so it takes half the room of an
# address and KASLR has nothing to relocate. The state belongs to the kernel.
# An all-zero entry ends the table: what --sort frees is left as such.
#
# This runs once per object of the whole kernel. Hence it starts no other
# program, loads no module and touches the ELF file directly: starting perl is
# the larger part of what it costs.

use strict;
use warnings;

# ELF, as far as we need it. Constant subs are inlined and, other than
# constant.pm, cost nothing at start-up.

sub ET_REL()		{ 1 }
sub ET_EXEC()		{ 2 }
sub ET_DYN()		{ 3 }

sub SHN_LORESERVE()	{ 0xff00 }
sub SHN_XINDEX()	{ 0xffff }

sub SHT_NULL()		{ 0 }
sub SHT_PROGBITS()	{ 1 }
sub SHT_SYMTAB()	{ 2 }
sub SHT_STRTAB()	{ 3 }
sub SHT_RELA()		{ 4 }
sub SHT_NOBITS()	{ 8 }
sub SHT_REL()		{ 9 }
sub SHT_GROUP()		{ 17 }
sub SHT_SYMTAB_SHNDX()	{ 18 }
sub SHT_LLVM_ADDRSIG()	{ 0x6fff4c03 }

sub SHF_WRITE()		{ 0x1 }
sub SHF_ALLOC()		{ 0x2 }
sub SHF_INFO_LINK()	{ 0x40 }
sub SHF_GROUP()		{ 0x200 }
sub SHF_CODE()		{ 0x6 }		# SHF_ALLOC | SHF_EXECINSTR

sub STB_LOCAL()		{ 0 }
sub STB_GLOBAL()	{ 1 }
sub STT_NOTYPE()	{ 0 }
sub STT_FUNC()		{ 2 }
sub STT_SECTION()	{ 3 }

# R_386_* and R_X86_64_* share these two numbers
sub R_PC32()		{ 2 }
sub R_PLT32()		{ 4 }

# A section header is an array of its ten fields
sub NAME()		{ 0 }
sub TYPE()		{ 1 }
sub FLAGS()		{ 2 }
sub ADDR()		{ 3 }
sub OFFSET()		{ 4 }
sub SIZE()		{ 5 }
sub LINK()		{ 6 }
sub INFO()		{ 7 }
sub ALIGN()		{ 8 }
sub ENTSIZE()		{ 9 }

sub ENTRY_SIZE()	{ 8 }

# Where the two ELF classes differ. Symbols and relocations are read by
# column: one unpack() for, say, all the values of a symbol table. The last
# two make a section symbol out of its st_shndx, and a relocation out of
# offset, symbol and addend.
my %class32 = (
	bits		=> 32,
	machine		=> 3,			# EM_386
	ehdr_size	=> 52,
	ehdr		=> 'x16 v v x12 V x10 v v v',
	at_shoff	=> [ 32, 'V' ],
	at_shnum	=> 48,
	shdr		=> 'V10',
	shdr_size	=> 40,
	sym_size	=> 16,
	st_name		=> '(V x12)*',
	st_value	=> '(x4 V x8)*',
	st_size		=> '(x8 V x4)*',
	st_info		=> '(x12 C x3)*',
	st_shndx	=> '(x14 v)*',
	rel_size	=> { SHT_REL, 8, SHT_RELA, 12 },
	r_offset	=> { SHT_REL, '(V x4)*', SHT_RELA, '(V x8)*' },
	r_info		=> { SHT_REL, '(x4 V)*', SHT_RELA, '(x4 V x4)*' },
	at_info		=> [ 4, 'V' ],
	sym_shift	=> 8,
	new_type	=> SHT_REL,
	new_name	=> '.rel__mcount_loc',
	section_symbol	=> sub { pack('V3 C2 v', 0, 0, 0, STT_SECTION, 0, @_) },
	relocation	=> sub { pack('V2', $_[0], $_[1] << 8 | R_PC32) },
);

my %class64 = (
	bits		=> 64,
	machine		=> 62,			# EM_X86_64
	ehdr_size	=> 64,
	ehdr		=> 'x16 v v x20 Q< x10 v v v',
	at_shoff	=> [ 40, 'Q<' ],
	at_shnum	=> 60,
	shdr		=> 'V2 Q<4 V2 Q<2',
	shdr_size	=> 64,
	sym_size	=> 24,
	st_name		=> '(V x20)*',
	st_value	=> '(x8 Q< x8)*',
	st_size		=> '(x16 Q<)*',
	st_info		=> '(x4 C x19)*',
	st_shndx	=> '(x6 v x16)*',
	rel_size	=> { SHT_REL, 16, SHT_RELA, 24 },
	r_offset	=> { SHT_REL, '(Q< x8)*', SHT_RELA, '(Q< x16)*' },
	r_info		=> { SHT_REL, '(x8 Q<)*', SHT_RELA, '(x8 Q< x8)*' },
	at_info		=> [ 8, 'Q<' ],
	sym_shift	=> 32,
	new_type	=> SHT_RELA,
	new_name	=> '.rela__mcount_loc',
	section_symbol	=> sub { pack('V C2 v Q<2', 0, STT_SECTION, 0, @_, 0, 0) },
	relocation	=> sub { pack('Q< V2 q<', $_[0], R_PC32, $_[1], $_[2]) },
);

# Nothing is written before everything has been checked, so giving up is
# always possible and always leaves the file as it was.
sub fail
{
	die join('', @_), "\n";
}

# ------------------------------------------------------------------------
# Reading ELF files
# ------------------------------------------------------------------------

# The bytes [$offset, $offset + $size) of the file. An object is in memory as
# a whole; of an image, which may have hundreds of megabytes of debug
# information, only what is asked for is read.
sub bytes
{
	my ($f, $offset, $size, $what) = @_;

	fail("$what lies beyond the end of the file")
		if $offset > $f->{size} || $size > $f->{size} - $offset;
	return substr($f->{buf}, $offset, $size) if defined $f->{buf};

	my $buf = '';
	sysseek($f->{fh}, $offset, 0) or fail("cannot seek: $!");
	while (length($buf) < $size) {
		my $n = sysread($f->{fh}, $buf, $size - length($buf),
				length($buf));
		fail("cannot read: $!") unless defined $n;
		fail('file shrinks while it is read') unless $n;
	}
	return $buf;
}

sub section_bytes
{
	my ($f, $i) = @_;
	my $s = $f->{sections}[$i];

	return bytes($f, $s->[OFFSET], $s->[SIZE], "section [$i]");
}

# Root may read and write anything, but who takes all read or write bits away
# wants it left alone: go by the mode as well.
sub open_file
{
	my ($path, $open_mode) = @_;
	my @stat = stat($path) or fail($!);

	fail('is a directory') if -d _;
	fail('not a regular file') unless -f _;
	fail('not readable') unless $stat[2] & 0444;
	fail('read-only') if $open_mode eq '+<' && !writable($stat[2]);
	open(my $fh, "$open_mode:raw", $path) or fail("cannot open: $!");

	return { path => $path, fh => $fh, mode => $stat[2], size => $stat[7] };
}

# To be called right after stat()
sub writable
{
	my ($mode) = @_;

	return $mode & 0222 && -w _;
}

sub read_elf_header
{
	my ($f, @types) = @_;
	my $ident = bytes($f, 0, $f->{size} < 16 ? $f->{size} : 16, 'header');

	fail('not an ELF file') unless substr($ident, 0, 4) eq "\x7fELF";
	fail('truncated ELF header') if length($ident) < 16;

	my ($class, $data) = unpack('x4 C C', $ident);
	my $c = $class == 1 ? \%class32 : $class == 2 ? \%class64 :
		fail("unknown ELF class $class");
	fail('not little-endian') unless $data == 1;

	$f->{class} = $c;
	my ($type, $machine, $shoff, $shentsize, $shnum, $shstrndx) =
		unpack($c->{ehdr}, bytes($f, 0, $c->{ehdr_size}, 'ELF header'));

	fail("wrong machine $machine for a $c->{bits}-bit x86 file")
		unless $machine == $c->{machine};
	fail("wrong ELF type $type, not ",
	     $types[0] == ET_REL ? 'an object file' : 'a linked file')
		unless grep { $_ == $type } @types;
	fail('no section header table') unless $shoff;
	fail("section headers of $shentsize bytes")
		unless $shentsize == $c->{shdr_size};
	return ($shoff, $shnum, $shstrndx);
}

# Fills in $f->{sections}, an array of section headers, $f->{names}, what
# their names are offsets into, and $f->{symtab}, the index of the symbol
# table. Everything checked here need not be checked by anyone else.
sub read_sections
{
	my ($f, @types) = @_;
	my ($shoff, $shnum, $shstrndx) = read_elf_header($f, @types);
	my $c = $f->{class};

	# What does not fit in the ELF header is in section header 0
	my @first = unpack($c->{shdr}, bytes($f, $shoff, $c->{shdr_size},
					     'section header table'));
	$shnum = $first[SIZE] unless $shnum;
	$shstrndx = $first[LINK] if $shstrndx == SHN_XINDEX;

	fail('section header table lies beyond the end of the file')
		if $shnum > $f->{size};
	my $headers = bytes($f, $shoff, $shnum * $c->{shdr_size},
			    'section header table');
	my @sections = map { [ unpack($c->{shdr}, $_) ] }
			   unpack("(a$c->{shdr_size})*", $headers);
	$f->{sections} = \@sections;

	fail("no section name table [$shstrndx]")
		unless $shstrndx && $shstrndx < $shnum &&
		       $sections[$shstrndx][TYPE] == SHT_STRTAB;
	$f->{shstrndx} = $shstrndx;
	$f->{names} = string_table($f, $shstrndx);
	$f->{new_names} = '';
	check_section($f, $_) for 0 .. $#sections;
	return $f;
}

sub check_section
{
	my ($f, $i) = @_;
	my $s = $f->{sections}[$i];
	my $type = $s->[TYPE];

	fail("section [$i] has a name beyond the section name table")
		if $s->[NAME] >= length($f->{names});
	return if $type == SHT_NULL || $type == SHT_NOBITS;
	fail("section [$i] lies beyond the end of the file")
		if $s->[OFFSET] > $f->{size} ||
		   $s->[SIZE] > $f->{size} - $s->[OFFSET];

	my $entsize;
	if ($type == SHT_SYMTAB) {
		fail("two symbol tables, [$f->{symtab}] and [$i]")
			if $f->{symtab};
		$f->{symtab} = $i;
		$entsize = $f->{class}{sym_size};
	} else {
		$entsize = $f->{class}{rel_size}{$type} or return;
		fail("section [$i] relocates section [$s->[INFO]], of ",
		     scalar @{$f->{sections}})
			if $s->[INFO] >= @{$f->{sections}};
	}
	fail("section [$i] has entries of $s->[ENTSIZE] bytes, not $entsize")
		unless $s->[ENTSIZE] == $entsize;
	fail("section [$i] ends inside an entry") if $s->[SIZE] % $entsize;
}

sub string_table
{
	my ($f, $i) = @_;
	my $s = $f->{sections}[$i];

	fail("section [$i] is not a string table")
		unless $s && $s->[TYPE] == SHT_STRTAB;
	my $strings = section_bytes($f, $i);
	fail("string table [$i] does not end in a NUL")
		unless length($strings) && substr($strings, -1) eq "\0";
	return $strings;
}

# All the offsets in a string table where one of these names is to be found.
# There may be several for one, "mcount" being the tail of "_mcount".
sub name_offsets
{
	my ($strings, @names) = @_;
	my %offset;

	for my $name (@names) {
		my $at = -1;

		$offset{$at} = $name
			while ($at = index($strings, "$name\0", $at + 1)) >= 0;
	}
	return \%offset;
}

# The symbol table by columns. The section index of a symbol is undef where it
# is in no section at all (SHN_ABS, SHN_COMMON).
sub read_symbols
{
	my ($f) = @_;
	my $c = $f->{class};
	my $s = $f->{sections}[$f->{symtab}];
	my $bytes = section_bytes($f, $f->{symtab});
	my @shndx = unpack($c->{st_shndx}, $bytes);
	my $extended;

	for my $i (grep { $shndx[$_] >= SHN_LORESERVE } 0 .. $#shndx) {
		if ($shndx[$i] != SHN_XINDEX) {
			$shndx[$i] = undef;
			next;
		}
		$extended ||= extended_indices($f, scalar @shndx);
		$shndx[$i] = $extended->[$i];
	}

	my $nr = @{$f->{sections}};
	fail('a symbol is in a section out of range')
		if grep { defined && $_ >= $nr } @shndx;

	my @name = unpack($c->{st_name}, $bytes);
	my $limit = length($f->{strings});
	fail('a symbol has a name beyond the string table')
		if grep { $_ >= $limit } @name;

	fail("symbol table [$f->{symtab}] has $s->[INFO] local symbols, of ",
	     scalar @shndx)
		if $s->[INFO] > @shndx || !$s->[INFO];

	return {
		bytes	=> $bytes,
		nr	=> scalar @shndx,
		locals	=> $s->[INFO],
		name	=> \@name,
		shndx	=> \@shndx,
		info	=> [ unpack($c->{st_info}, $bytes) ],
		value	=> [ unpack($c->{st_value}, $bytes) ],
	};
}

sub extended_section
{
	my ($f) = @_;
	my $sections = $f->{sections};

	for my $i (1 .. $#$sections) {
		return $i if $sections->[$i][TYPE] == SHT_SYMTAB_SHNDX &&
			     $sections->[$i][LINK] == $f->{symtab};
	}
	return undef;
}

sub extended_indices
{
	my ($f, $nr) = @_;
	my $i = extended_section($f);

	fail('no table of extended section indices') unless $i;
	my @index = unpack('V*', section_bytes($f, $i));
	fail("section [$i] has ", scalar @index, " indices for $nr symbols")
		unless @index == $nr;
	return \@index;
}

# ------------------------------------------------------------------------
# Objects: finding the sites
# ------------------------------------------------------------------------

sub do_object
{
	my ($path) = @_;
	my $f = open_file($path, '<');

	$f->{buf} = bytes($f, 0, $f->{size}, 'file');
	read_sections($f, ET_REL);
	return unless $f->{symtab};
	$f->{strings} = string_table($f, $f->{sections}[$f->{symtab}][LINK]);

	# Most of what is not traced ends here
	my $names = name_offsets($f->{strings}, '__fentry__', 'mcount', '_mcount');
	return unless %$names;
	return if has_table($f);

	my $symbols = read_symbols($f);
	my $sites = find_sites($f, $symbols, $names);
	return unless %$sites;

	stat($path);
	fail('read-only') unless writable($f->{mode});
	my $base = find_bases($f, $symbols, $sites);
	add_tables($f, $sites, $base);
	replace_file($f);
}

sub has_table
{
	my ($f) = @_;
	my $names = name_offsets($f->{names}, '__mcount_loc');

	return %$names && grep { $names->{$_->[NAME]} } @{$f->{sections}};
}

# Returns a hash: index of a section => sorted offsets of the sites in it
sub find_sites
{
	my ($f, $symbols, $names) = @_;
	my $sections = $f->{sections};
	my $shift = $f->{class}{sym_shift};
	my ($name, $shndx) = @$symbols{qw(name shndx)};
	my (@call, %sites);

	for my $offset (keys %$names) {
		for my $i (grep { $name->[$_] == $offset }
			   $symbols->{locals} .. $symbols->{nr} - 1) {
			next unless defined $shndx->[$i] && $shndx->[$i] == 0;
			push @call, $i << $shift | R_PC32, $i << $shift | R_PLT32;
		}
	}
	return {} unless @call;

	for my $i (1 .. $#$sections) {
		my $s = $sections->[$i];
		next unless $s->[TYPE] == SHT_RELA || $s->[TYPE] == SHT_REL;

		my $text = $sections->[$s->[INFO]];
		next unless ($text->[FLAGS] & SHF_CODE) == SHF_CODE;
		next if $text->[TYPE] == SHT_NOBITS || $text->[TYPE] == SHT_NULL;

		my @found = section_sites($f, $i, $symbols->{nr}, \@call)
			or next;
		push @{$sites{$s->[INFO]}}, @found;
	}
	@$_ = sort { $a <=> $b } @$_ for values %sites;
	return \%sites;
}

# The sites among the relocations in section [$i]. @$call holds every r_info
# that a call can have.
sub section_sites
{
	my ($f, $i, $nr_symbols, $call) = @_;
	my ($c, $s) = ($f->{class}, $f->{sections}[$i]);
	my $text = $f->{sections}[$s->[INFO]];

	fail("section [$i] does not use the symbol table")
		unless $s->[LINK] == $f->{symtab};

	my $relocs = section_bytes($f, $i);
	my @info = unpack($c->{r_info}{$s->[TYPE]}, $relocs);
	my @offset = unpack($c->{r_offset}{$s->[TYPE]}, $relocs);

	my $limit = $nr_symbols << $c->{sym_shift};
	fail("a relocation in section [$i] has a symbol out of range")
		if grep { $_ >= $limit } @info;
	$limit = $text->[SIZE];
	fail("a relocation in section [$i] is outside section [$s->[INFO]]")
		if grep { $_ > $limit } @offset;

	my @sites;
	for my $offset (map { my $want = $_;
			      @offset[grep { $info[$_] == $want } 0 .. $#info]
			} @$call) {
		next unless $offset;
		fail("a call in section [$s->[INFO]] runs out of it")
			if $offset + 4 > $text->[SIZE];
		# call rel32; a jmp, or an address that is taken, is no site
		push @sites, $offset - 1
			if substr($f->{buf}, $text->[OFFSET] + $offset - 1, 1)
			   eq "\xe8";
	}
	return @sites;
}

# ------------------------------------------------------------------------
# Objects: what the entries refer to
# ------------------------------------------------------------------------

# How well a symbol serves to refer to the section it is defined in, 0 being
# best; undef if not at all. Never by a weak symbol: the linker may resolve it
# to a function in another object, and the entry would point there. Nor by an
# ifunc, which resolves to a PLT slot.
sub rank
{
	my ($info) = @_;
	my ($bind, $type) = ($info >> 4, $info & 15);

	return $type == STT_SECTION ? 0 :
	       $type == STT_FUNC    ? 1 :
	       $type == STT_NOTYPE  ? 2 : undef if $bind == STB_LOCAL;
	return $type == STT_FUNC    ? 3 :
	       $type == STT_NOTYPE  ? 4 : undef if $bind == STB_GLOBAL;
	return undef;
}

# Returns a hash: index of a section => [ index of the symbol that its sites
# are counted from, value of that symbol ]. The assembler leaves out section
# symbols that nothing refers to, so there may be none to be found.
sub find_bases
{
	my ($f, $symbols, $sites) = @_;
	my ($info, $shndx, $value) = @$symbols{qw(info shndx value)};
	my (%base, %best);

	for my $i (1 .. $symbols->{nr} - 1) {
		# Locals come first and one of them will do
		last if $i >= $symbols->{locals} && %base == %$sites;

		my $s = $shndx->[$i];
		next unless defined $s && $sites->{$s};
		my $rank = rank($info->[$i]);
		next unless defined $rank;
		next if defined $best{$s} && $best{$s} <= $rank;

		fail("symbol $i lies outside section [$s]")
			if $value->[$i] > $f->{sections}[$s][SIZE];
		$best{$s} = $rank;
		$base{$s} = [ $i, $value->[$i] ];
	}

	my @missing = sort { $a <=> $b } grep { !$base{$_} } keys %$sites;
	add_section_symbols($f, $symbols, \%base, @missing) if @missing;
	return \%base;
}

# Give each of the sections @missing a section symbol. Local symbols have to
# come before the global ones, so the new ones take the place of the first
# globals, which move to the end; with two new ones:
#
#	before:  null  local...  G1 G2 G3 G4
#	after:   null  local...  S1 S2 G3 G4 G1 G2
#
# This changes the number of as few symbols as possible.
sub add_section_symbols
{
	my ($f, $symbols, $base, @missing) = @_;
	my $c = $f->{class};
	my $s = $f->{sections}[$f->{symtab}];
	my $first = $symbols->{locals};
	my $globals = $symbols->{nr} - $first;
	my $moved = @missing < $globals ? @missing : $globals;
	my $distance = @missing < $globals ? $globals : @missing;

	# Cut in three: what stays, what moves, and what stays behind that
	my $cut = sub {
		my ($bytes, $size) = @_;

		return unpack('a' . $first * $size . ' a' . $moved * $size . ' a*',
			      $bytes);
	};

	my $size = $c->{sym_size};
	my ($head, $move, $tail) = $cut->($symbols->{bytes}, $size);
	for my $i (0 .. $#missing) {
		my $shndx = $missing[$i];

		$shndx = SHN_XINDEX if $shndx >= SHN_LORESERVE;
		$head .= $c->{section_symbol}->($shndx);
		$base->{$missing[$i]} = [ $first + $i, 0, 'new' ];
	}
	set_section($f, $f->{symtab}, $head . $tail . $move);
	$s->[INFO] += @missing;

	my $x = extended_section($f);
	if (!$x && $missing[-1] >= SHN_LORESERVE) {
		$x = new_section($f, '.symtab_shndx', SHT_SYMTAB_SHNDX, 0,
				 "\0" x (4 * $symbols->{nr}),
				 $f->{symtab}, 0, 4, 4);
	}
	if ($x) {
		fail("section [$x] does not match the symbol table")
			unless $f->{sections}[$x][SIZE] == 4 * $symbols->{nr};
		($head, $move, $tail) = $cut->(section_bytes($f, $x), 4);
		$head .= pack('V', $_ >= SHN_LORESERVE ? $_ : 0) for @missing;
		set_section($f, $x, $head . $tail . $move);
	}

	renumber_symbols($f, $first, $moved, $distance, $symbols->{nr});
	for (values %$base) {
		$_->[0] += $distance
			if !$_->[2] && $_->[0] >= $first &&
			   $_->[0] < $first + $moved;
	}
}

# Whatever refers to one of the $nr symbols from $first on by number shall
# refer to the one $distance further on.
sub renumber_symbols
{
	my ($f, $first, $nr, $distance, $limit) = @_;
	my ($c, $sections) = ($f->{class}, $f->{sections});
	my $shift = $c->{sym_shift};
	my ($at, $packed) = @{$c->{at_info}};

	for my $i (1 .. $#$sections) {
		my $s = $sections->[$i];
		my $type = $s->[TYPE];
		next unless $s->[LINK] == $f->{symtab};

		if ($type == SHT_GROUP) {
			fail("the signature of group [$i] is out of range")
				if $s->[INFO] >= $limit;
			$s->[INFO] += $distance
				if $s->[INFO] >= $first &&
				   $s->[INFO] < $first + $nr;
			next;
		}
		# The list of address-significant symbols is but a hint, in a
		# form of its own; without the link, linkers ignore it.
		$s->[LINK] = 0 if $type == SHT_LLVM_ADDRSIG;
		next unless $type == SHT_RELA || $type == SHT_REL;

		my @info = unpack($c->{r_info}{$type}, section_bytes($f, $i));
		for my $n (0 .. $#info) {
			my $symbol = $info[$n] >> $shift;

			next if $symbol < $first;
			fail("a relocation in section [$i] has a symbol out of range")
				if $symbol >= $limit;
			next if $symbol >= $first + $nr;
			my $new = pack($packed, $info[$n] + ($distance << $shift));
			substr($f->{buf}, $s->[OFFSET] + $n * $s->[ENTSIZE] + $at,
			       length($new), $new);
		}
	}
}

# ------------------------------------------------------------------------
# Objects: adding the table
# ------------------------------------------------------------------------

# What is in the file stays where it is; new contents go to its end.
sub append
{
	my ($f, $bytes) = @_;

	$f->{buf} .= "\0" x (-length($f->{buf}) & 7);
	my $offset = length($f->{buf});
	$f->{buf} .= $bytes;
	$f->{size} = length($f->{buf});
	return $offset;
}

sub set_section
{
	my ($f, $i, $bytes) = @_;
	my $s = $f->{sections}[$i];

	$s->[OFFSET] = append($f, $bytes);
	$s->[SIZE] = length($bytes);
}

# Returns the index of the new section. Its name may be the tail of one that
# was added before.
sub new_section
{
	my ($f, $name, $type, $flags, $bytes, $link, $info, $align, $entsize) = @_;
	my $at = index($f->{new_names}, "$name\0");

	if ($at < 0) {
		$at = length($f->{new_names});
		$f->{new_names} .= "$name\0";
	}
	push @{$f->{sections}}, [ length($f->{names}) + $at, $type, $flags, 0,
				  append($f, $bytes), length($bytes),
				  $link, $info, $align, $entsize ];
	return $#{$f->{sections}};
}

# A section group is kept or thrown away as a whole, and nothing outside may
# refer into one that is thrown away: what describes a group's functions has
# to be in the group. Hence a table for each group that has sites, and one for
# all the rest.
sub add_tables
{
	my ($f, $sites, $base) = @_;
	my $group_of = groups($f, $sites);
	my %members;

	for my $i (sort { $a <=> $b } keys %$sites) {
		push @{$members{$group_of->{$i} || 0}}, $i;
	}
	for my $group (sort { $a <=> $b } keys %members) {
		add_table($f, $sites, $base, $group, @{$members{$group}});
	}

	set_section($f, $f->{shstrndx}, $f->{names} . $f->{new_names});
	write_headers($f);
}

# Returns a hash: index of a section with sites => index of its group
sub groups
{
	my ($f, $sites) = @_;
	my $sections = $f->{sections};
	my %group_of;

	my @grouped = grep { $sections->[$_][FLAGS] & SHF_GROUP } keys %$sites;
	return {} unless @grouped;

	for my $i (1 .. $#$sections) {
		next unless $sections->[$i][TYPE] == SHT_GROUP;
		my ($flags, @members) = unpack('V*', section_bytes($f, $i));
		fail("group [$i] has a member out of range")
			if grep { $_ >= @$sections } @members;
		$group_of{$_} = $i for @members;
	}
	for (@grouped) {
		fail("section [$_] is in no group") unless $group_of{$_};
	}
	return \%group_of;
}

sub add_table
{
	my ($f, $sites, $base, $group, @members) = @_;
	my $c = $f->{class};
	my $flags = $group ? SHF_GROUP : 0;
	my ($table, $relocs) = ('', '');

	for my $i (@members) {
		my ($symbol, $value) = @{$base->{$i}};

		for my $site (@{$sites->{$i}}) {
			my $addend = $site - $value;

			$relocs .= $c->{relocation}->(length($table), $symbol,
						      $addend);
			# REL keeps the addend in the field it relocates
			$addend = 0 if $c->{new_type} == SHT_RELA;
			$table .= pack('l< V', $addend, 0);
		}
	}

	# The longer name first, for the other one to share
	my $r = new_section($f, $c->{new_name}, $c->{new_type},
			    SHF_INFO_LINK | $flags, $relocs, $f->{symtab},
			    @{$f->{sections}} + 1, $c->{bits} / 8,
			    $c->{rel_size}{$c->{new_type}});
	my $t = new_section($f, '__mcount_loc', SHT_PROGBITS,
			    SHF_ALLOC | SHF_WRITE | $flags, $table,
			    0, 0, ENTRY_SIZE, 0);
	return unless $group;
	set_section($f, $group, section_bytes($f, $group) . pack('V2', $r, $t));
}

# The new section header table, and what the ELF header says of it
sub write_headers
{
	my ($f) = @_;
	my ($c, $sections) = ($f->{class}, $f->{sections});
	my ($nr, $e_shnum) = (scalar @$sections) x 2;
	my ($at, $packed) = @{$c->{at_shoff}};

	if ($nr >= SHN_LORESERVE) {
		$sections->[0][SIZE] = $nr;
		$e_shnum = 0;
	}
	my $shoff = append($f, join('', map { pack($c->{shdr}, @$_) } @$sections));
	$shoff = pack($packed, $shoff);
	substr($f->{buf}, $at, length($shoff), $shoff);
	substr($f->{buf}, $c->{at_shnum}, 2, pack('v', $e_shnum));
}

# Follows the symbolic links in $path. stat() has followed them before, so they
# do not form a loop.
sub resolve
{
	my ($path) = @_;

	while (defined(my $target = readlink($path))) {
		$path =~ s{[^/]*\z}{};
		$path = '' if $target =~ m{^/};
		$path .= $target;
	}
	return $path;
}

# The object is replaced in one step: whoever interrupts us, or a full disk,
# leaves the old one in place. It also keeps our hands off an object that
# shares its inode with a compiler cache. "make clean" removes .*.tmp, which is
# what a script that is killed leaves.
sub replace_file
{
	my ($f) = @_;
	my $path = resolve($f->{path});
	my $temporary = $path =~ s{([^/]+)\z}{.$1.$$.tmp}r;
	my $stop = sub {
		unlink $temporary;
		$SIG{$_[0]} = 'DEFAULT';
		kill $_[0], $$;
	};
	local @SIG{qw(HUP INT TERM)} = ($stop) x 3;
	local $SIG{XFSZ} = 'IGNORE';

	unlink $temporary;
	return if write_file($temporary, $f->{buf}) &&
		  chmod($f->{mode} & 07777, $temporary) &&
		  rename($temporary, $path);
	my $why = $!;
	unlink $temporary;
	fail("cannot write $temporary: $why");
}

sub write_file
{
	my ($path, $bytes) = @_;
	my $done = 0;

	open(my $fh, '>:raw', $path) or return 0;
	while ($done < length($bytes)) {
		my $n = syswrite($fh, $bytes, length($bytes) - $done, $done);
		return 0 unless $n;
		$done += $n;
	}
	return close($fh);
}

# ------------------------------------------------------------------------
# Linked files
# ------------------------------------------------------------------------

sub open_linked
{
	my ($path, $open_mode) = @_;
	my $f = read_sections(open_file($path, $open_mode), ET_EXEC, ET_DYN);

	fail('no symbol table') unless $f->{symtab};
	$f->{strings} = string_table($f, $f->{sections}[$f->{symtab}][LINK]);
	$f->{symbols} = read_symbols($f);
	find_table($f);
	return $f;
}

sub symbol_value
{
	my ($f, $name) = @_;
	my $symbols = $f->{symbols};
	my $names = name_offsets($f->{strings}, $name);
	my ($st_name, $shndx) = @$symbols{qw(name shndx)};
	my @found = grep { $names->{$st_name->[$_]} &&
			   !(defined $shndx->[$_] && $shndx->[$_] == 0) }
			 1 .. $symbols->{nr} - 1;

	fail("no symbol $name") unless @found;
	fail("symbol $name is defined more than once") if @found > 1;
	return $symbols->{value}[$found[0]];
}

# Fills in $f->{table}: the table's address and offset, and its bytes
sub find_table
{
	my ($f) = @_;
	my $start = symbol_value($f, '__start_mcount_loc');
	my $stop = symbol_value($f, '__stop_mcount_loc');

	fail('__stop_mcount_loc is below __start_mcount_loc') if $stop < $start;
	my $size = $stop - $start;
	fail("table of $size bytes, not a multiple of ", ENTRY_SIZE)
		if $size % ENTRY_SIZE;

	$f->{table} = { address => $start, bytes => '', offset => 0 };
	return unless $size;

	for my $s (@{$f->{sections}}) {
		next if $s->[TYPE] == SHT_NOBITS || $s->[TYPE] == SHT_NULL;
		next unless $s->[FLAGS] & SHF_ALLOC;
		next if $start < $s->[ADDR] ||
			$start - $s->[ADDR] > $s->[SIZE] ||
			$size > $s->[SIZE] - ($start - $s->[ADDR]);

		$f->{table}{offset} = $s->[OFFSET] + ($start - $s->[ADDR]);
		$f->{table}{bytes} = bytes($f, $f->{table}{offset}, $size,
					   'table');
		return;
	}
	fail('table is in no section of the file');
}

# The addresses of all sites in the table, in its order. All-zero entries are
# what an earlier --sort left at the end, or the alignment of an input section.
sub table_sites
{
	my ($f) = @_;
	my @word = unpack('(l< V)*', $f->{table}{bytes});
	my @site;

	for (my $i = 0; $i < @word; $i += 2) {
		my $entry = $f->{table}{address} + $i / 2 * ENTRY_SIZE;

		fail(sprintf('entry at 0x%x has state 0x%x, not 0',
			     $entry, $word[$i + 1])) if $word[$i + 1];
		next unless $word[$i];
		my $site = $entry + $word[$i];
		# 32-bit pointers wrap; in 64 bits there is always room
		$site &= 0xffffffff if $f->{class}{bits} == 32;
		push @site, $site;
	}
	return @site;
}

# All functions in the file, as [ start, end ] sorted by start
sub functions
{
	my ($f) = @_;
	my ($info, $shndx, $value) = @{$f->{symbols}}{qw(info shndx value)};
	my @size = unpack($f->{class}{st_size}, $f->{symbols}{bytes});
	my @code_end = map { ($_->[FLAGS] & SHF_CODE) == SHF_CODE ?
			     $_->[ADDR] + $_->[SIZE] : 0 } @{$f->{sections}};
	my @functions;

	for my $i (1 .. $#size) {
		next unless $size[$i] && defined $shndx->[$i];
		my $type = $info->[$i] & 15;
		next unless $type == STT_FUNC || $type == STT_NOTYPE;
		my $limit = $code_end[$shndx->[$i]] or next;

		my $end = $value->[$i] + $size[$i];
		$end = $limit if $end > $limit;
		push @functions, [ $value->[$i], $end ];
	}
	return sort { $a->[0] <=> $b->[0] } @functions;
}

# The sites, sorted, each once, that are in one of the functions. When a weak
# function is overridden, the linker drops its symbol but not its body: its
# site is in no function, and tracing it would be tracing what is never called
# under the name of whatever symbol comes before.
sub live_sites
{
	my ($sites, $functions) = @_;
	my ($next, $end, $last) = (0, 0, -1);
	my @live;

	for my $site (sort { $a <=> $b } @$sites) {
		for (; $next < @$functions; $next++) {
			last if $functions->[$next][0] > $site;
			$end = $functions->[$next][1]
				if $functions->[$next][1] > $end;
		}
		next if $site <= 0 || $site >= $end || $site == $last;
		push @live, $last = $site;
	}
	return @live;
}

# Written in place: the file can be hundreds of megabytes, and what changes is
# one stretch of it that keeps its size. A copy could run out of disk where
# overwriting what is already there cannot.
sub do_sort
{
	my ($path, $verbose) = @_;
	my $f = open_linked($path, '+<');
	my $table = $f->{table};
	my @sites = table_sites($f);
	my @live = live_sites(\@sites, [ functions($f) ]);
	my $entry = $table->{address};
	my $new = '';

	for my $site (@live) {
		my $distance = $site - $entry;

		if ($f->{class}{bits} == 32) {
			$distance = unpack('l', pack('L', $distance & 0xffffffff));
		}
		fail(sprintf('site 0x%x is out of reach of the table', $site))
			if abs($distance) >= 2 ** 31;
		$new .= pack('l< V', $distance, 0);
		$entry += ENTRY_SIZE;
	}
	$new .= "\0" x (length($table->{bytes}) - length($new));

	if ($new ne $table->{bytes}) {
		sysseek($f->{fh}, $table->{offset}, 0) or fail("cannot seek: $!");
		my $n = syswrite($f->{fh}, $new);
		fail('cannot write: ', $!) unless defined $n;
		fail('table written in part only') if $n != length($new);
	}
	close($f->{fh}) or fail("cannot write: $!");

	printf("mcount_loc: %s: %d sites kept, %d dropped\n", $path,
	       scalar @live, @sites - @live) if $verbose;
}

sub do_dump
{
	my ($path) = @_;
	my $f = open_linked($path, '<');
	my $digits = $f->{class}{bits} / 4;

	printf("%0${digits}x\n", $_) for table_sites($f);
	close(STDOUT) or fail("cannot write: $!");
}

# ------------------------------------------------------------------------

sub usage
{
	print STDERR "usage: mcount_loc.pl OBJECT...\n",
		     "       mcount_loc.pl --sort [--verbose] VMLINUX\n",
		     "       mcount_loc.pl --dump FILE\n";
	exit 2;
}

my ($work, %option) = (\&do_object);
while (@ARGV && $ARGV[0] =~ /^-/) {
	my $option = shift @ARGV;

	last if $option eq '--';
	usage() unless $option =~ /^--(sort|dump|verbose)$/;
	$option{$1} = 1;
}
usage() unless @ARGV;
if ($option{sort} || $option{dump}) {
	usage() if @ARGV > 1 || ($option{sort} && $option{dump});
	$work = $option{sort} ? \&do_sort : \&do_dump;
}
usage() if $option{verbose} && !$option{sort};

my $status = 0;
for my $path (@ARGV) {
	next if eval { $work->($path, $option{verbose}); 1 };
	print STDERR "mcount_loc: $path: $@";
	$status = 1;
}
exit $status;
