#!/usr/bin/env perl
# SPDX-License-Identifier: GPL-2.0
#
# mcount_loc.pl - collect the function-entry sites of an object or an image
#
# With -pg, the compiler begins each traceable function with a call to
# __fentry__ (or mcount). The kernel replaces these calls by NOPs at boot, and
# the NOPs by calls to a tracer later on. It finds them by a table, which this
# script makes in two steps:
#
#   mcount_loc.pl OBJECT...
#	kbuild runs this after each compilation. It reads the relocations of
#	the calls and adds a section __mcount_loc with one entry per call. This
#	happens in parallel, and only for objects that are recompiled; the
#	final link pays nothing for it.
#
#   mcount_loc.pl --sort [--verbose] VMLINUX
#	kbuild runs this after the final link. It sorts the table by address
#	and drops the entries of overridden weak functions. The kernel uses the
#	table as it is.
#
#   mcount_loc.pl --dump FILE
#	Prints the addresses in the table of a linked file, one per line.
#
# An entry has eight bytes, in 32-bit and in 64-bit files:
#
#	        +0                +4               +8
#	        +-----------------+----------------+
#	   P -> | s32  site - P   | u32  state = 0 |      in __mcount_loc
#	        +-----------------+----------------+
#	                |
#	                +--> site:  e8 | rel32 |          call __fentry__
#	                               ^
#	                               +-- the call's relocation, at site + 1
#
# The site is relative to the entry: it takes half the space of an address, and
# KASLR need not relocate it. The kernel owns the state. An all-zero entry ends
# the table; --sort zeroes the entries it frees.
#
# kbuild runs this script for each object of a kernel, and starting perl is most
# of the cost. The script therefore starts no other program, loads no module and
# reads and writes the ELF file itself.

use strict;
use warnings;

# ELF constants. Perl inlines such subs; constant.pm would have to be loaded.

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

sub STT_NOTYPE()	{ 0 }
sub STT_FUNC()		{ 2 }
sub STT_SECTION()	{ 3 }

# The same for R_386_* and R_X86_64_*
sub R_PC32()		{ 2 }
sub R_PLT32()		{ 4 }

sub ENTRY_SIZE()	{ 8 }

# The fields of the ELF header and of a section header
my @EHDR = qw(ident type machine version entry phoff shoff flags
	      ehsize phentsize phnum shentsize shnum shstrndx);
my @SHDR = qw(name type flags addr offset size link info addralign entsize);

# The ELF classes, by EI_CLASS. They differ in the size of a word, in the order
# of the fields of a symbol, and in the bits of r_info that hold the symbol. A
# field of a symbol is [ offset, template for unpack() ].
my %class = (
	1 => elf_class(bits => 32, machine => 3, word => 'V', symbol_shift => 8,
		       rel_type => SHT_REL, rel_name => '.rel__mcount_loc',
		       symbol => { name => [ 0, 'V' ], value => [ 4, 'V' ], size => [ 8, 'V' ],
				   info => [ 12, 'C' ], shndx => [ 14, 'v' ] }),
	2 => elf_class(bits => 64, machine => 62, word => 'Q<', symbol_shift => 32,
		       rel_type => SHT_RELA, rel_name => '.rela__mcount_loc',
		       symbol => { name => [ 0, 'V' ], info => [ 4, 'C' ], shndx => [ 6, 'v' ],
				   value => [ 8, 'Q<' ], size => [ 16, 'Q<' ] }),
);

sub elf_class
{
	my %c = @_;
	my ($word, $size) = ($c{word}, $c{bits} / 8);

	return { %c,
		word_size	=> $size,
		ehdr		=> "a16 v2 V ${word}3 V v6",
		ehdr_size	=> 40 + 3 * $size,
		shdr		=> "V2 ${word}4 V2 ${word}2",
		shdr_size	=> 16 + 6 * $size,
		# By section type, for sections that are arrays
		entry_size	=> {
			SHT_SYMTAB,		8 + 2 * $size,
			SHT_REL,		2 * $size,
			SHT_RELA,		3 * $size,
			SHT_GROUP,		4,
			SHT_SYMTAB_SHNDX,	4,
		},
	};
}

# The script checks all input before it writes anything. Bad input therefore
# leaves the file as it was.
sub fail
{
	die join('', @_), "\n";
}

sub check_range
{
	my ($what, $limit, $values) = @_;

	fail("$what is out of range") if grep { $_ >= $limit } @$values;
}

# ------------------------------------------------------------------------
# Reading ELF files
# ------------------------------------------------------------------------

# Root may access any file. A user who removes all read or write permissions
# wants the file left alone, so the mode decides as well.
sub open_file
{
	my ($path, $open_mode) = @_;
	my ($mode, $size) = (stat($path))[2, 7] or fail($!);

	fail('not a regular file') unless -f _;
	fail('not readable') unless $mode & 0444;
	my $f = { path => $path, mode => $mode, size => $size, writable => $mode & 0222 && -w _ };
	fail('read-only') if $open_mode eq '+<' && !$f->{writable};
	open($f->{fh}, "$open_mode:raw", $path) or fail("cannot open: $!");
	return $f;
}

# Returns the bytes [$offset, $offset + $size) of a file. An object is in memory
# as a whole. An image may have hundreds of megabytes of debug information, so
# it stays on disk.
sub bytes
{
	my ($f, $offset, $size, $what) = @_;

	fail("$what lies beyond the end of the file") if $offset + $size > $f->{size};
	return substr($f->{buf}, $offset, $size) if defined $f->{buf};

	my $buf = '';
	sysseek($f->{fh}, $offset, 0) or fail("cannot seek: $!");
	while (length($buf) < $size) {
		my $n = sysread($f->{fh}, $buf, $size - length($buf), length($buf));
		fail('cannot read: ', defined $n ? 'unexpected end of file' : $!) unless $n;
	}
	return $buf;
}

sub section_bytes
{
	my ($f, $s) = @_;

	return bytes($f, $s->{offset}, $s->{size}, "section [$s->{index}]");
}

sub string_table
{
	my ($f, $i) = @_;
	my $s = $f->{sections}[$i];

	fail("section [$i] is not a string table") unless $s && $s->{type} == SHT_STRTAB;
	my $strings = section_bytes($f, $s);
	fail("string table [$i] does not end in a NUL")
		unless $strings && substr($strings, -1) eq "\0";
	return $strings;
}

# Returns a hash whose keys are all offsets of these names in a string table. A
# name can have several: "mcount" is also the tail of "_mcount".
sub name_offsets
{
	my ($strings, @names) = @_;
	my %offset;

	for my $name (@names) {
		my $at = -1;

		$offset{$at} = 1 while ($at = index($strings, "$name\0", $at + 1)) >= 0;
	}
	return \%offset;
}

sub read_header
{
	my ($f, @types) = @_;

	fail('not an ELF file') unless $f->{size} >= 16;
	my ($magic, $class, $data) = unpack('a4 C2', bytes($f, 0, 16));
	fail('not an ELF file') unless $magic eq "\x7fELF";
	my $c = $class{$class} or fail("unknown ELF class $class");
	fail('not little-endian') unless $data == 1;

	my %ehdr;
	@ehdr{@EHDR} = unpack($c->{ehdr}, bytes($f, 0, $c->{ehdr_size}, 'ELF header'));
	fail("wrong machine $ehdr{machine} for a $c->{bits}-bit x86 file")
		unless $ehdr{machine} == $c->{machine};
	fail("wrong ELF type $ehdr{type}, not ",
	     $types[0] == ET_REL ? 'an object file' : 'a linked file')
		unless grep { $_ == $ehdr{type} } @types;
	fail('no section header table') unless $ehdr{shoff};
	fail("section headers have $ehdr{shentsize} bytes, not $c->{shdr_size}")
		unless $ehdr{shentsize} == $c->{shdr_size};
	@$f{qw(class ehdr)} = ($c, \%ehdr);
}

# Returns the first $nr section headers. Each is a hash of its fields and its
# index.
sub section_headers
{
	my ($f, $nr) = @_;
	my ($template, $size) = @{$f->{class}}{qw(shdr shdr_size)};
	my $bytes = bytes($f, $f->{ehdr}{shoff}, $nr * $size, 'section header table');
	my $index = 0;

	return map {
		my %s = (index => $index++);
		@s{@SHDR} = unpack($template, $_);
		\%s;
	} unpack("(a$size)*", $bytes);
}

# Reads and checks all section headers, for the rest of the script to rely on:
#
#	{sections}	the section headers
#	{names}		the string table of their names
#	{symtab}	the header of the symbol table, if there is one
#	{strings}	the string table of its names
#	{xindex}	the header of its extended section indices, if there are any
sub read_sections
{
	my ($f, @types) = @_;

	read_header($f, @types);
	# Section header 0 has the numbers that do not fit in the ELF header
	my ($first) = section_headers($f, 1);
	my ($nr, $shstrndx) = @{$f->{ehdr}}{qw(shnum shstrndx)};
	$f->{sections} = [ section_headers($f, $nr || $first->{size}) ];
	$f->{shstrndx} = $shstrndx == SHN_XINDEX ? $first->{link} : $shstrndx;
	$f->{names} = string_table($f, $f->{shstrndx});
	check_range('the name of a section', length($f->{names}),
		    [ map { $_->{name} } @{$f->{sections}} ]);
	check_section($f, $_) for @{$f->{sections}};
	$f->{strings} = string_table($f, $f->{symtab}{link}) if $f->{symtab};
}

sub check_section
{
	my ($f, $s) = @_;
	my ($i, $type) = @$s{qw(index type)};

	return if $type == SHT_NULL || $type == SHT_NOBITS;
	fail("section [$i] lies beyond the end of the file")
		if $s->{offset} + $s->{size} > $f->{size};
	$s->{in_file} = 1;
	$s->{is_code} = ($s->{flags} & SHF_CODE) == SHF_CODE;

	my $size = $f->{class}{entry_size}{$type} or return;
	fail("section [$i] has entries of $s->{entsize} bytes, not $size")
		unless $s->{entsize} == $size;
	fail("section [$i] ends inside an entry") if $s->{size} % $size;

	if ($type == SHT_RELA || $type == SHT_REL) {
		$s->{is_relocs} = 1;
		check_range("the target of section [$i]", scalar @{$f->{sections}}, [ $s->{info} ]);
	} elsif ($type != SHT_GROUP) {
		my $table = $type == SHT_SYMTAB ? 'symtab' : 'xindex';

		fail("sections [$f->{$table}{index}] and [$i] both have type $type")
			if $f->{$table};
		$f->{$table} = $s;
	}
}

# Returns a hash: field of a symbol => array of its values in all symbols. The
# section index of a symbol that is in no section (SHN_ABS, SHN_COMMON) is -1.
sub read_symbols
{
	my ($f, @fields) = @_;
	my ($s, $layout) = ($f->{symtab}, $f->{class}{symbol});
	my $bytes = section_bytes($f, $s);
	my %symbols = map {
		$_ => [ unpack("(\@$layout->{$_}[0] $layout->{$_}[1] \@$s->{entsize})*", $bytes) ]
	} @fields;
	my $shndx = $symbols{shndx};
	my $nr = $f->{nr_symbols} = @$shndx;

	fail("symbol table [$s->{index}] has sh_info $s->{info}, not between 1 and $nr")
		if $s->{info} > $nr || !$s->{info};
	my @extended = $f->{xindex} ? unpack('V*', section_bytes($f, $f->{xindex})) : ();
	fail("section [$f->{xindex}{index}] has ", scalar @extended, " indices for $nr symbols")
		if $f->{xindex} && @extended != $nr;

	for my $i (grep { $shndx->[$_] >= SHN_LORESERVE } 0 .. $#$shndx) {
		my $extends = $shndx->[$i] == SHN_XINDEX;

		fail('no table of extended section indices') if $extends && !@extended;
		$shndx->[$i] = $extends ? $extended[$i] : -1;
	}
	check_range("the section of a symbol", scalar @{$f->{sections}}, $shndx);
	check_range("the name of a symbol", length($f->{strings}), $symbols{name});
	return \%symbols;
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

	# Most objects without sites end here
	my $names = name_offsets($f->{strings}, '__fentry__', 'mcount', '_mcount');
	return unless %$names;
	my $tables = name_offsets($f->{names}, '__mcount_loc');
	return if %$tables && grep { exists $tables->{$_->{name}} } @{$f->{sections}};

	my $symbols = read_symbols($f, qw(name info shndx value));
	my @traced = find_sites($f, $symbols, $names) or return;
	fail('read-only') unless $f->{writable};
	find_bases($f, $symbols, @traced);
	add_tables($f, @traced);
	write_headers($f);
	replace_file($f);
}

# Returns the r_info of all relocations in section $s.
sub reloc_infos
{
	my ($f, $s) = @_;
	my $c = $f->{class};

	fail("section [$s->{index}] does not refer to the symbol table")
		unless $s->{link} == $f->{symtab}{index};
	my @info = unpack("(\@$c->{word_size} $c->{word} \@$s->{entsize})*", section_bytes($f, $s));
	check_range("the symbol of a relocation in section [$s->{index}]",
		    $f->{nr_symbols} << $c->{symbol_shift}, \@info);
	return \@info;
}

# Returns the sections that have sites. {sites} of each is the sorted array of
# their offsets in the section.
sub find_sites
{
	my ($f, $symbols, $names) = @_;
	my ($name, $shndx) = @$symbols{qw(name shndx)};
	my $shift = $f->{class}{symbol_shift};

	# All values of r_info that a call can have
	my @calls = map { $_ << $shift | R_PC32, $_ << $shift | R_PLT32 }
		    grep { !$shndx->[$_] && exists $names->{$name->[$_]} }
		    $f->{symtab}{info} .. $#$name;
	return unless @calls;

	for my $s (grep { $_->{is_relocs} && $_->{info} } @{$f->{sections}}) {
		my $text = $f->{sections}[$s->{info}];

		push @{$text->{sites}}, section_sites($f, $text, $s, @calls) if $text->{is_code};
	}
	my @traced = grep { $_->{sites} && @{$_->{sites}} } @{$f->{sections}};
	$_->{sites} = [ sort { $a <=> $b } @{$_->{sites}} ] for @traced;
	return @traced;
}

# Returns the sites in section $text that section $s has relocations for.
sub section_sites
{
	my ($f, $text, $s, @calls) = @_;
	my $info = reloc_infos($f, $s);
	my @sites;

	for my $call (@calls) {
		for my $n (grep { $info->[$_] == $call } 0 .. $#$info) {
			my $at = $s->{offset} + $n * $s->{entsize};
			my $offset = unpack("x$at $f->{class}{word}", $f->{buf}) or next;

			fail("a call in section [$s->{info}] extends beyond the section")
				if $offset + 4 > $text->{size};
			# Only call rel32 is a site: no jmp, no address taken
			push @sites, $offset - 1
				if substr($f->{buf}, $text->{offset} + $offset - 1, 1) eq "\xe8";
		}
	}
	return @sites;
}

# ------------------------------------------------------------------------
# Objects: what the entries refer to
# ------------------------------------------------------------------------

# The kinds of symbols that an entry may refer to, best first, by st_info (the
# binding and the type). Weak symbols are none of them: the linker may resolve
# one to a function in another object, and the entry would point there. Neither
# are ifuncs, which resolve to a PLT slot.
my %rank = (
	0x03	=> 1,		# local section
	0x02	=> 2,		# local function
	0x00	=> 3,		# local, no type
	0x12	=> 4,		# global function
	0x10	=> 5,		# global, no type
);

# Sets {base} of each section to the symbol that its entries refer to, as
# [ index, value, rank ]. The assembler omits section symbols that it does not
# need, so a section may have no suitable symbol.
sub find_bases
{
	my ($f, $symbols, @traced) = @_;
	my ($info, $shndx, $value) = @$symbols{qw(info shndx value)};
	my %traced = map { $_->{index} => $_ } @traced;

	for my $i (grep { exists $traced{$shndx->[$_]} } 1 .. $#$shndx) {
		my $s = $traced{$shndx->[$i]};
		my $rank = $rank{$info->[$i]} or next;

		$s->{base} = [ $i, $value->[$i], $rank ]
			if !$s->{base} || $rank < $s->{base}[2];
	}
	add_section_symbols($f, @traced) if grep { !$_->{base} } @traced;
}

# Adds a section symbol for each section without a base. ELF requires local
# symbols to precede global ones. The new symbols take the place of the first
# global symbols, and those move to the end; with two new symbols:
#
#	before:  null  local...  G1 G2 G3 G4
#	after:   null  local...  S1 S2 G3 G4 G1 G2
#
# This renumbers as few symbols as possible.
sub add_section_symbols
{
	my ($f, @traced) = @_;
	my ($symbol, $symtab, $nr) = ($f->{class}{symbol}, @$f{qw(symtab nr_symbols)});
	my @missing = grep { !$_->{base} } @traced;
	my $first = $symtab->{info};
	my $end = $first + @missing < $nr ? $first + @missing : $nr;
	my ($new, $extended) = ('', '');

	for my $i (map { $_->{index} } @missing) {
		my $extends = $i >= SHN_LORESERVE;

		$new .= pack("\@$symbol->{info}[0] C \@$symbol->{shndx}[0] v \@$symtab->{entsize}",
			     STT_SECTION, $extends ? SHN_XINDEX : $i);
		$extended .= pack('V', $extends ? $i : 0);
	}
	$f->{xindex} ||= add_section($f, '.symtab_shndx', "\0" x (4 * $nr),
				     type => SHT_SYMTAB_SHNDX, link => $symtab->{index},
				     addralign => 4, entsize => 4)
		if $missing[-1]{index} >= SHN_LORESERVE;

	for ([ $symtab, $new ], $f->{xindex} ? [ $f->{xindex}, $extended ] : ()) {
		my ($s, $entries) = @$_;
		my $bytes = section_bytes($f, $s);
		my $moved = substr($bytes, $first * $s->{entsize}, length($entries), $entries);

		set_section($f, $s, $bytes . $moved);
	}
	$symtab->{info} += @missing;

	my $distance = $nr + @missing - $end;
	renumber_symbols($f, $first, $end, $distance);
	for my $base (map { $_->{base} || () } @traced) {
		$base->[0] += $distance if $base->[0] >= $first && $base->[0] < $end;
	}
	$missing[$_]{base} = [ $first + $_, 0 ] for 0 .. $#missing;
}

# Adds $distance to every reference to one of the symbols [$first, $end).
sub renumber_symbols
{
	my ($f, $first, $end, $distance) = @_;
	my $c = $f->{class};
	my ($min, $max, $add) = map { $_ << $c->{symbol_shift} } $first, $end, $distance;

	for my $s (grep { $_->{link} == $f->{symtab}{index} } @{$f->{sections}}) {
		if ($s->{type} == SHT_GROUP) {
			check_range("the signature of group [$s->{index}]",
				    $f->{nr_symbols}, [ $s->{info} ]);
			$s->{info} += $distance if $s->{info} >= $first && $s->{info} < $end;
		} elsif ($s->{type} == SHT_LLVM_ADDRSIG) {
			# This list of symbols is only a hint, in an encoding of its
			# own. Linkers ignore it without the link to the symbols.
			$s->{link} = 0;
		} elsif ($s->{is_relocs}) {
			my $info = reloc_infos($f, $s);
			my $at = $s->{offset} + $c->{word_size};

			for my $n (grep { $info->[$_] >= $min && $info->[$_] < $max }
				   0 .. $#$info) {
				substr($f->{buf}, $at + $n * $s->{entsize}, $c->{word_size},
				       pack($c->{word}, $info->[$n] + $add));
			}
		}
	}
}

# ------------------------------------------------------------------------
# Objects: adding the table
# ------------------------------------------------------------------------

# Appends $bytes to the file, and returns their offset. Existing contents are
# never moved.
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
	my ($f, $s, $bytes) = @_;

	@$s{qw(offset size)} = (append($f, $bytes), length($bytes));
}

# Adds a section whose header has these fields, and returns it. Its name may
# share the tail of an existing name.
sub add_section
{
	my ($f, $name, $bytes, %header) = @_;
	my $s = { (map { $_ => 0 } @SHDR), index => scalar @{$f->{sections}}, %header };

	$s->{name} = index($f->{names}, "$name\0");
	if ($s->{name} < 0) {
		$s->{name} = length($f->{names});
		$f->{names} .= "$name\0";
	}
	set_section($f, $s, $bytes);
	push @{$f->{sections}}, $s;
	return $s;
}

# The linker keeps or discards a section group as a whole, and no other section
# may refer to a discarded one. The entries of a group's functions therefore
# belong in the group: each group with sites gets a table of its own, and all
# other sections share one.
sub add_tables
{
	my ($f, @traced) = @_;
	my $sections = $f->{sections};
	my %members;

	for my $group (grep { $_->{type} == SHT_GROUP } @$sections) {
		my ($flags, @members) = unpack('V*', section_bytes($f, $group));

		check_range("a member of group [$group->{index}]", scalar @$sections, \@members);
		$sections->[$_]{group} = $group->{index} for @members;
	}
	push @{$members{$_->{group} || 0}}, $_ for @traced;
	for my $group (sort { $a <=> $b } keys %members) {
		add_table($f, $group && $sections->[$group], @{$members{$group}});
	}
	set_section($f, $sections->[$f->{shstrndx}], $f->{names});
}

sub add_table
{
	my ($f, $group, @members) = @_;
	my $c = $f->{class};
	my $flags = $group ? SHF_GROUP : 0;
	my $rela = $c->{rel_type} == SHT_RELA;
	my ($table, $relocs) = ('', '');

	for my $text (@members) {
		my ($symbol, $value) = @{$text->{base}};
		my $info = $symbol << $c->{symbol_shift} | R_PC32;

		for my $site (@{$text->{sites}}) {
			# With REL, the relocated field holds the addend
			$relocs .= pack("$c->{word}2", length($table), $info);
			$relocs .= pack('q<', $site - $value) if $rela;
			$table .= pack('l< V', $rela ? 0 : $site - $value, 0);
		}
	}

	# The longer name comes first; the other one is its tail
	my $r = add_section($f, $c->{rel_name}, $relocs, type => $c->{rel_type},
			    flags => SHF_INFO_LINK | $flags, link => $f->{symtab}{index},
			    info => @{$f->{sections}} + 1, addralign => $c->{word_size},
			    entsize => $c->{entry_size}{$c->{rel_type}});
	my $t = add_section($f, '__mcount_loc', $table, type => SHT_PROGBITS,
			    flags => SHF_ALLOC | SHF_WRITE | $flags, addralign => ENTRY_SIZE);
	return unless $group;
	set_section($f, $group, section_bytes($f, $group) . pack('V2', $r->{index}, $t->{index}));
}

# Appends the new section header table, and updates the ELF header.
sub write_headers
{
	my ($f) = @_;
	my ($c, $ehdr, $sections) = @$f{qw(class ehdr sections)};

	$ehdr->{shnum} = @$sections;
	if (@$sections >= SHN_LORESERVE) {
		$sections->[0]{size} = @$sections;
		$ehdr->{shnum} = 0;
	}
	$ehdr->{shoff} = append($f, join('', map { pack($c->{shdr}, @$_{@SHDR}) } @$sections));
	substr($f->{buf}, 0, $c->{ehdr_size}, pack($c->{ehdr}, @$ehdr{@EHDR}));
}

# Follows the symbolic links in $path. They form no loop: open_file() has called
# stat(), which would have failed.
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

# Replaces the object by rename(). An interrupt or a full disk leaves the old
# object in place, and a hard link to it, as in a compiler cache, does not
# change. "make clean" removes .*.tmp, the temporary file of a killed script.
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
	open(my $fh, '>:raw', $temporary) or fail("cannot write $temporary: $!");
	return if write_bytes($fh, $f->{buf}) && close($fh) &&
		  chmod($f->{mode} & 07777, $temporary) && rename($temporary, $path);
	my $why = $!;
	unlink $temporary;
	fail("cannot write $temporary: $why");
}

sub write_bytes
{
	my ($fh, $bytes) = @_;
	my $done = 0;

	while ($done < length($bytes)) {
		$done += syswrite($fh, $bytes, length($bytes) - $done, $done) || return 0;
	}
	return 1;
}

# ------------------------------------------------------------------------
# Linked files
# ------------------------------------------------------------------------

sub open_linked
{
	my ($path, $open_mode) = @_;
	my $f = open_file($path, $open_mode);

	read_sections($f, ET_EXEC, ET_DYN);
	fail('no symbol table') unless $f->{symtab};
	$f->{symbols} = read_symbols($f, qw(name info shndx value size));
	find_table($f);
	return $f;
}

sub symbol_value
{
	my ($f, $name) = @_;
	my $names = name_offsets($f->{strings}, $name);
	my ($st_name, $shndx, $value) = @{$f->{symbols}}{qw(name shndx value)};
	my @found = grep { $shndx->[$_] && exists $names->{$st_name->[$_]} } 1 .. $#$st_name;

	fail("no symbol $name") unless @found;
	fail("symbol $name is defined more than once") if @found > 1;
	return $value->[$found[0]];
}

# Sets {table}: the address of the table, its offset in the file and its bytes.
sub find_table
{
	my ($f) = @_;
	my $start = symbol_value($f, '__start_mcount_loc');
	my $stop = symbol_value($f, '__stop_mcount_loc');

	fail('__stop_mcount_loc is below __start_mcount_loc') if $stop < $start;
	my $size = $stop - $start;
	fail("the table has $size bytes, not a multiple of ", ENTRY_SIZE) if $size % ENTRY_SIZE;

	$f->{table} = { address => $start, bytes => '' };
	return unless $size;
	my ($s) = grep { $_->{flags} & SHF_ALLOC && $_->{in_file} && $start >= $_->{addr} &&
			 $stop - $_->{addr} <= $_->{size} } @{$f->{sections}}
		or fail('no section contains the table');
	$f->{table}{offset} = $s->{offset} + ($start - $s->{addr});
	$f->{table}{bytes} = bytes($f, $f->{table}{offset}, $size, 'table');
}

# Returns the addresses of all sites, in the order of the table. All-zero entries
# come from an earlier --sort, or from the alignment of an input section.
sub table_sites
{
	my ($f) = @_;
	my @word = unpack('(l< V)*', $f->{table}{bytes});
	my $entry = $f->{table}{address};
	my @site;

	while (my ($distance, $state) = splice(@word, 0, 2)) {
		fail(sprintf('entry at 0x%x has state 0x%x, not 0', $entry, $state)) if $state;
		my $site = $entry + $distance;
		# 32-bit addresses wrap around
		$site &= 0xffffffff if $f->{class}{bits} == 32;
		push @site, $site if $distance;
		$entry += ENTRY_SIZE;
	}
	return @site;
}

# Returns all functions in the file as [ start, end ], sorted by start.
sub functions
{
	my ($f) = @_;
	my ($info, $shndx, $value, $size) = @{$f->{symbols}}{qw(info shndx value size)};
	my @code_end = map { $_->{is_code} ? $_->{addr} + $_->{size} : 0 } @{$f->{sections}};
	my @functions;

	for my $i (grep { $size->[$_] && $shndx->[$_] > 0 } 1 .. $#$size) {
		my $type = $info->[$i] & 15;
		next unless $type == STT_FUNC || $type == STT_NOTYPE;
		my $limit = $code_end[$shndx->[$i]] or next;

		my $end = $value->[$i] + $size->[$i];
		push @functions, [ $value->[$i], $end < $limit ? $end : $limit ];
	}
	return sort { $a->[0] <=> $b->[0] } @functions;
}

# Returns the sites that are inside of functions, sorted and without duplicates.
# When another object overrides a weak function, the linker drops the symbol of
# the weak function but keeps its body. That body is never called, and kallsyms
# would attribute its site to the symbol before it.
sub live_sites
{
	my ($sites, @functions) = @_;
	my ($next, $end, $last) = (0, 0, 0);
	my @live;

	for my $site (sort { $a <=> $b } @$sites) {
		for (; $next < @functions && $functions[$next][0] <= $site; $next++) {
			$end = $functions[$next][1] if $functions[$next][1] > $end;
		}
		push @live, $last = $site if $site > $last && $site < $end;
	}
	return @live;
}

# Overwrites the table in place. The image can have hundreds of megabytes, of
# which only the table changes, and its size remains the same. Writing a copy
# could fill the disk.
sub do_sort
{
	my ($path, $verbose) = @_;
	my $f = open_linked($path, '+<');
	my $table = $f->{table};
	my @sites = table_sites($f);
	my @live = live_sites(\@sites, functions($f));
	my $entry = $table->{address};
	my $new = '';

	for my $site (@live) {
		my $distance = $site - $entry;

		fail(sprintf('site 0x%x is 2 GiB or more away from its entry', $site))
			if abs($distance) >= 2 ** 31 && $f->{class}{bits} == 64;
		$new .= pack('l< V', $distance, 0);
		$entry += ENTRY_SIZE;
	}
	$new .= "\0" x (length($table->{bytes}) - length($new));

	if ($new ne $table->{bytes}) {
		sysseek($f->{fh}, $table->{offset}, 0) && write_bytes($f->{fh}, $new)
			or fail("cannot write: $!");
	}
	close($f->{fh}) or fail("cannot write: $!");

	printf("mcount_loc: %s: %d sites kept, %d dropped\n", $path, scalar @live, @sites - @live)
		if $verbose;
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

my $option = @ARGV && $ARGV[0] =~ /^-/ ? shift(@ARGV) : '';
my $work = { '' => \&do_object, '--sort' => \&do_sort, '--dump' => \&do_dump }->{$option};
my $verbose = $option eq '--sort' && @ARGV && $ARGV[0] eq '--verbose' && shift(@ARGV);
usage() if !$work || !@ARGV || $ARGV[0] =~ /^-/ || ($option && @ARGV > 1);

my $status = 0;
for my $path (@ARGV) {
	next if eval { $work->($path, $verbose); 1 };
	print STDERR "mcount_loc: $path: $@";
	$status = 1;
}
exit $status;
