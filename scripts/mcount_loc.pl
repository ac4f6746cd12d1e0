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
#	and drops the entries of overridden weak functions, and of functions
#	outside of the kernel's text. The kernel uses the table as it is.
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
# of the cost. The script therefore starts no other program, loads no module (but
# for an object that is a symbolic link) and reads and writes the ELF file itself.

use strict;
# What "use warnings" does where no module is loaded; to load that takes 1.7 ms.
BEGIN { $^W = 1 }

# ELF constants. They are variables, as constant.pm would take 0.8 ms to load.
my ($ET_REL, $ET_EXEC, $ET_DYN) = (1, 2, 3);
my ($SHN_LORESERVE, $SHN_XINDEX) = (0xff00, 0xffff);
my ($SHT_NULL, $SHT_PROGBITS, $SHT_SYMTAB, $SHT_STRTAB, $SHT_RELA) = (0, 1, 2, 3, 4);
my ($SHT_NOBITS, $SHT_REL, $SHT_GROUP, $SHT_SYMTAB_SHNDX) = (8, 9, 17, 18);
my $SHT_LLVM_ADDRSIG = 0x6fff4c03;
my ($SHF_WRITE, $SHF_ALLOC, $SHF_EXECINSTR) = (0x1, 0x2, 0x4);
my ($SHF_INFO_LINK, $SHF_GROUP) = (0x40, 0x200);
my ($STT_NOTYPE, $STT_FUNC, $STT_SECTION) = (0, 2, 3);
# The same for R_386_* and R_X86_64_*
my ($R_PC32, $R_PLT32) = (2, 4);
# What loads an address from the global offset table, by ELF class: R_386_GOT32, R_386_GOT32X;
# R_X86_64_GOTPCREL, R_X86_64_GOTPCRELX, R_X86_64_REX_GOTPCRELX
my @R_GOT = ([ 3, 43 ], [ 9, 41, 42 ]);

my $ENTRY_SIZE = 8;

# The fields of the ELF header and of a section header
my @EHDR = qw(ident type machine version entry phoff shoff flags
	      ehsize phentsize phnum shentsize shnum shstrndx);
my @SHDR = qw(name type flags addr offset size link info addralign entsize);

# The ELF classes: what is different in 32-bit and in 64-bit files. Structures and
# fields are templates for pack().
my %class = (
	machine		=> [ 3, 62 ],
	bits		=> [ 32, 64 ],
	word		=> [ 'V', 'Q<' ],
	ehdr_size	=> [ 52, 64 ],
	ehdr		=> [ 'a16 v2 V5 v6', 'a16 v2 V Q<3 V v6' ],
	shdr_size	=> [ 40, 64 ],
	shdr		=> [ 'V10', 'V2 Q<4 V2 Q<2' ],
	# Entry sizes of sections that are arrays, by section type
	$SHT_SYMTAB	=> [ 16, 24 ],
	$SHT_REL	=> [ 8, 16 ],
	$SHT_RELA	=> [ 12, 24 ],
	$SHT_GROUP	=> [ 4, 4 ],
	$SHT_SYMTAB_SHNDX => [ 4, 4 ],
	# Their fields
	st_name		=> [ '@0 V', '@0 V' ],
	st_value	=> [ '@4 V', '@8 Q<' ],
	st_size		=> [ '@8 V', '@16 Q<' ],
	st_info		=> [ '@12 C', '@4 C' ],
	st_shndx	=> [ '@14 v', '@6 v' ],
	r_offset	=> [ '@0 V', '@0 Q<' ],
	r_info		=> [ '@4 V', '@8 Q<' ],
	symbol_shift	=> [ 8, 32 ],		# r_info >> symbol_shift is the symbol
	# The relocations of __mcount_loc. SHT_REL has no addends.
	reloc		=> [ 'V2', 'Q<2 q<' ],
	reloc_type	=> [ $SHT_REL, $SHT_RELA ],
	reloc_name	=> [ '.rel__mcount_loc', '.rela__mcount_loc' ],
);

# By section type, the keys for sections of which there is one at most
my %unique = ($SHT_SYMTAB => 'symtab', $SHT_SYMTAB_SHNDX => 'xindex');

# The script fails by die(), with one line for the user. It checks all input
# before it writes anything. Bad input therefore leaves the file as it was.

sub check_range {
	my ($what, $limit, $values) = @_;

	grep { $_ >= $limit } @$values and die "$what is out of range\n";
}

# ------------------------------------------------------------------------
# Reading ELF files
# ------------------------------------------------------------------------

# Returns the bytes [$offset, $offset + $size) of a file. An object is in memory
# as a whole. An image may have hundreds of megabytes of debug information, so
# it stays on disk.
sub bytes {
	my ($f, $offset, $size, $what) = @_;

	$offset + $size <= $f->{size} or die "$what lies beyond the end of the file\n";
	return substr($f->{buf}, $offset, $size) if defined $f->{buf};

	seek($f->{fh}, $offset, 0) or die "cannot seek: $!\n";
	my $n = read($f->{fh}, my $bytes, $size) // die "cannot read: $!\n";
	$n == $size or die "cannot read: unexpected end of file\n";
	return $bytes;
}

sub section_bytes {
	my ($f, $s) = @_;

	return bytes($f, $s->{offset}, $s->{size}, "section [$s->{index}]");
}

# Returns an array of one field of all symbols or relocations in a section.
sub column {
	my ($f, $s, $field) = @_;

	return [ unpack("($f->{class}{$field} \@$s->{entsize})*", section_bytes($f, $s)) ];
}

sub string_table {
	my ($f, $i) = @_;
	my $s = $f->{sections}[$i];

	$s && $s->{type} == $SHT_STRTAB or die "section [$i] is not a string table\n";
	my $strings = section_bytes($f, $s);
	$strings =~ /\0\z/ or die "string table [$i] does not end in a NUL\n";
	return $strings;
}

# Returns the indices of those offsets in a string table that refer to $name.
sub find_name {
	my ($strings, $name, $offsets) = @_;
	my $size = length($name) + 1;

	return grep { substr($strings, $offsets->[$_], $size) eq "$name\0" } 0 .. $#$offsets;
}

# Opens an ELF file, and checks its header. Root may access any file. A user who
# removes all read or write permissions wants the file left alone, so the mode
# decides as well.
sub open_elf {
	my ($path, $open_mode, $what, @types) = @_;
	my ($mode, $size) = (stat($path))[2, 7] or die "$!\n";

	-f _ or die "not a regular file\n";
	$mode & 0444 or die "not readable\n";
	my $f = { path => $path, mode => $mode, size => $size };
	die "read-only\n" if $open_mode eq '+<' && !($mode & 0222 && -w _);
	open($f->{fh}, "$open_mode:raw", $path) or die "cannot open: $!\n";

	my ($magic, $class, $data) = unpack('a4 C2', $size < 16 ? '' : bytes($f, 0, 16));
	$magic eq "\x7fELF" or die "not an ELF file\n";
	$class == 1 || $class == 2 or die "unknown ELF class $class\n";
	$data == 1 or die "not little-endian\n";
	my %c = map { $_ => $class{$_}[$class - 1] } keys %class;

	my %ehdr;
	@ehdr{@EHDR} = unpack($c{ehdr}, bytes($f, 0, $c{ehdr_size}, 'ELF header'));
	$ehdr{machine} == $c{machine}
		or die "wrong machine $ehdr{machine} for a $c{bits}-bit x86 file\n";
	grep { $_ == $ehdr{type} } @types or die "wrong ELF type $ehdr{type}, not $what\n";
	$ehdr{shoff} or die "no section header table\n";
	$ehdr{shentsize} == $c{shdr_size}
		or die "section headers have $ehdr{shentsize} bytes, not $c{shdr_size}\n";
	@$f{qw(class ehdr)} = (\%c, \%ehdr);
	return $f;
}

# Returns the first $nr section headers. Each is a hash of its fields and its
# index.
sub section_headers {
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
sub read_sections {
	my ($f) = @_;
	my ($nr, $shstrndx) = @{$f->{ehdr}}{qw(shnum shstrndx)};
	# Section header 0 has the numbers that do not fit in the ELF header
	my ($first) = section_headers($f, 1);
	my @sections = section_headers($f, $nr || $first->{size});

	$f->{sections} = \@sections;
	$f->{shstrndx} = $shstrndx == $SHN_XINDEX ? $first->{link} : $shstrndx;
	$f->{names} = string_table($f, $f->{shstrndx});
	check_range('the name of a section', length($f->{names}), [ map { $_->{name} } @sections ]);

	for my $s (@sections) {
		my ($i, $type) = @$s{qw(index type)};

		next if $type == $SHT_NULL || $type == $SHT_NOBITS;
		$s->{offset} + $s->{size} <= $f->{size}
			or die "section [$i] lies beyond the end of the file\n";
		$s->{in_file} = 1;
		$s->{is_code} = $s->{flags} & $SHF_ALLOC && $s->{flags} & $SHF_EXECINSTR;

		my $size = $f->{class}{$type} or next;
		$s->{entsize} == $size
			or die "section [$i] has entries of $s->{entsize} bytes, not $size\n";
		$s->{size} % $size == 0 or die "section [$i] ends inside an entry\n";

		$s->{is_relocs} = $type == $SHT_RELA || $type == $SHT_REL;
		check_range("the target of section [$i]", scalar @sections, [ $s->{info} ])
			if $s->{is_relocs};
		my $key = $unique{$type} or next;
		$f->{$key} and die "sections [$f->{$key}{index}] and [$i] both have type $type\n";
		$f->{$key} = $s;
	}
	$f->{strings} = string_table($f, $f->{symtab}{link}) if $f->{symtab};
}

# Sets {symbols}, a hash: field => array of its values in all symbols. The section
# index of a symbol that is in no section (SHN_ABS, SHN_COMMON) is -1.
sub read_symbols {
	my ($f, @fields) = @_;
	my $s = $f->{symtab};
	my %symbols = map { $_ => column($f, $s, $_) } @fields;
	my $shndx = $symbols{st_shndx};
	my $nr = @$shndx;

	$s->{info} && $s->{info} <= $nr
		or die "symbol table [$s->{index}] has sh_info $s->{info}, not between 1 and $nr\n";
	my @extended = $f->{xindex} ? unpack('V*', section_bytes($f, $f->{xindex})) : ();
	die "section [$f->{xindex}{index}] has ", scalar @extended, " indices for $nr symbols\n"
		if $f->{xindex} && @extended != $nr;

	for my $i (grep { $shndx->[$_] >= $SHN_LORESERVE } 0 .. $nr - 1) {
		my $extends = $shndx->[$i] == $SHN_XINDEX;

		die "no table of extended section indices\n" if $extends && !@extended;
		$shndx->[$i] = $extends ? $extended[$i] : -1;
	}
	check_range('the section of a symbol', scalar @{$f->{sections}}, $shndx);
	check_range('the name of a symbol', length($f->{strings}), $symbols{st_name});
	@$f{qw(symbols nr_symbols)} = (\%symbols, $nr);
}

# ------------------------------------------------------------------------
# Objects: finding the sites
# ------------------------------------------------------------------------

sub do_object {
	my ($path) = @_;
	my $f = open_elf($path, '<', 'an object file', $ET_REL);

	$f->{buf} = bytes($f, 0, $f->{size}, 'file');
	read_sections($f);
	return unless $f->{symtab};

	my @there = find_name($f->{names}, '__mcount_loc', [ map { $_->{name} } @{$f->{sections}} ]);
	grep { !($f->{sections}[$_]{flags} & $SHF_WRITE) } @there
		and die "has a table of addresses, not made by this script (-mrecord-mcount?)\n";
	return if @there;
	# Most objects without sites end here
	my @names = grep { index($f->{strings}, "$_\0") >= 0 } '__fentry__', 'mcount', '_mcount';
	return unless @names;

	read_symbols($f, qw(st_name st_info st_shndx st_value));
	my @traced = find_sites($f, @names) or return;
	find_bases($f, @traced);
	add_tables($f, @traced);
	write_headers($f);
	replace_file($f);
}

# Returns the r_info of all relocations in section $s.
sub reloc_infos {
	my ($f, $s) = @_;

	$s->{link} == $f->{symtab}{index}
		or die "section [$s->{index}] does not refer to the symbol table\n";
	my $info = column($f, $s, 'r_info');
	check_range("the symbol of a relocation in section [$s->{index}]",
		    $f->{nr_symbols} << $f->{class}{symbol_shift}, $info);
	return $info;
}

# Returns the sections that have sites. {sites} of each is the sorted array of
# their offsets in the section.
sub find_sites {
	my ($f, @names) = @_;
	my ($sections, $symbols, $c) = @$f{qw(sections symbols class)};
	my (%call, %got);

	# The r_info of all relocations that a call can have, and that of one that is no site
	for my $i (map { find_name($f->{strings}, $_, $symbols->{st_name}) } @names) {
		next if $symbols->{st_shndx}[$i] || $i < $f->{symtab}{info};
		$call{$i << $c->{symbol_shift} | $_} = 1 for $R_PC32, $R_PLT32;
		$got{$i << $c->{symbol_shift} | $_} = 1 for @{$R_GOT[$c->{bits} == 64]};
	}
	return unless %call;

	for my $s (grep { $_->{is_relocs} && $_->{info} } @$sections) {
		my $text = $sections->[$s->{info}];
		next unless $text->{is_code};
		my ($info, $offset) = (reloc_infos($f, $s), column($f, $s, 'r_offset'));

		die "calls in section [$s->{info}] go through the global offset table (-fPIC?)\n"
			if grep { $got{$_} } @$info;
		for my $at (grep { $_ } @$offset[grep { $call{$info->[$_]} } 0 .. $#$info]) {
			die "a call in section [$s->{info}] extends beyond the section\n"
				if $at + 4 > $text->{size};
			# Only call rel32 is a site: no jmp, no address taken
			push @{$text->{sites}}, $at - 1
				if substr($f->{buf}, $text->{offset} + $at - 1, 1) eq "\xe8";
		}
	}
	my @traced = grep { $_->{sites} } @$sections;
	@{$_->{sites}} = sort { $a <=> $b } @{$_->{sites}} for @traced;
	return @traced;
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
sub find_bases {
	my ($f, @traced) = @_;
	my ($info, $shndx, $value) = @{$f->{symbols}}{qw(st_info st_shndx st_value)};

	for my $i (grep { $shndx->[$_] > 0 } 1 .. $#$shndx) {
		my $s = $f->{sections}[$shndx->[$i]];
		my $rank = $rank{$info->[$i]} or next;

		# An assignment can give a symbol any value. The addend must not overflow.
		next if $value->[$i] > $s->{size};
		$s->{base} = [ $i, $value->[$i], $rank ]
			if !$s->{base} || $rank < $s->{base}[2];
	}
	my @missing = grep { !$_->{base} } @traced;
	add_section_symbols($f, @missing) if @missing;
}

# Adds symbols for sections, and makes them their bases. ELF requires local
# symbols to precede global ones. The new symbols take the place of the first
# global symbols, and those move to the end; with two new symbols:
#
#	before:  null  local...  G1 G2 G3 G4
#	after:   null  local...  S1 S2 G3 G4 G1 G2
#
# This renumbers as few symbols as possible.
sub add_section_symbols {
	my ($f, @missing) = @_;
	my ($c, $symtab, $nr) = @$f{qw(class symtab nr_symbols)};
	my @index = map { $_->{index} } @missing;
	my @symbols = map {
		pack("$c->{st_info} $c->{st_shndx} \@$symtab->{entsize}",
		     $STT_SECTION, $_ < $SHN_LORESERVE ? $_ : $SHN_XINDEX)
	} @index;
	my @extended = map { pack('V', $_ < $SHN_LORESERVE ? 0 : $_) } @index;

	$f->{xindex} ||= add_section($f, '.symtab_shndx', "\0" x (4 * $nr),
				     type => $SHT_SYMTAB_SHNDX, link => $symtab->{index},
				     addralign => 4, entsize => 4)
		if $index[-1] >= $SHN_LORESERVE;

	my $first = $symtab->{info};
	for ([ $symtab, @symbols ], $f->{xindex} ? [ $f->{xindex}, @extended ] : ()) {
		my ($s, @new) = @$_;
		my @entries = unpack("(a$s->{entsize})*", section_bytes($f, $s));

		push @entries, splice(@entries, $first, @new, @new);
		set_section($f, $s, join('', @entries));
	}
	$symtab->{info} += @missing;
	renumber_symbols($f, $first, $symtab->{info},
			 $nr > $symtab->{info} ? $nr - $first : scalar @missing);
	$missing[$_]{base} = [ $first + $_, 0 ] for 0 .. $#missing;
}

# Adds $distance to every reference to one of the symbols [$first, $end).
sub renumber_symbols {
	my ($f, $first, $end, $distance) = @_;
	my $c = $f->{class};
	my $size = $c->{bits} / 8;
	my ($min, $max, $add) = map { $_ << $c->{symbol_shift} } $first, $end, $distance;

	$_->[0] += $distance for grep { $_->[0] >= $first && $_->[0] < $end }
				 map { $_->{base} || () } @{$f->{sections}};
	for my $s (grep { $_->{link} == $f->{symtab}{index} } @{$f->{sections}}) {
		if ($s->{type} == $SHT_GROUP) {
			check_range("the signature of group [$s->{index}]",
				    $f->{nr_symbols}, [ $s->{info} ]);
			$s->{info} += $distance if $s->{info} >= $first && $s->{info} < $end;
		} elsif ($s->{type} == $SHT_LLVM_ADDRSIG) {
			# This list of symbols is only a hint, in an encoding of its
			# own. Linkers ignore it without the link to the symbols.
			$s->{link} = 0;
		} elsif ($s->{is_relocs}) {
			my $info = reloc_infos($f, $s);
			# r_info is the second word of an entry
			my $at = $s->{offset} + $size;

			substr($f->{buf}, $at + $_ * $s->{entsize}, $size,
			       pack($c->{word}, $info->[$_] + $add))
				for grep { $info->[$_] >= $min && $info->[$_] < $max } 0 .. $#$info;
		}
	}
}

# ------------------------------------------------------------------------
# Objects: adding the table
# ------------------------------------------------------------------------

# Appends new contents of a section to the file. Existing bytes are never moved.
sub set_section {
	my ($f, $s, $bytes) = @_;

	$f->{buf} .= "\0" x (-length($f->{buf}) & 7);
	@$s{qw(offset size)} = (length($f->{buf}), length($bytes));
	$f->{buf} .= $bytes;
	$f->{size} = length($f->{buf});
}

# Adds a section whose header has these fields, and returns it. Its name may
# share the tail of an existing name.
sub add_section {
	my ($f, $name, $bytes, %header) = @_;
	my $s = { (map { $_ => 0 } @SHDR), index => scalar @{$f->{sections}}, %header };

	$f->{names} .= "$name\0" if index($f->{names}, "$name\0") < 0;
	$s->{name} = index($f->{names}, "$name\0");
	set_section($f, $s, $bytes);
	push @{$f->{sections}}, $s;
	return $s;
}

# The linker keeps or discards a section group as a whole, and no other section
# may refer to a discarded one. The entries of a group's functions therefore
# belong in the group: each group with sites gets a table of its own, and all
# other sections share one.
sub add_tables {
	my ($f, @traced) = @_;
	my $sections = $f->{sections};
	my %members;

	for my $group (grep { $_->{type} == $SHT_GROUP } @$sections) {
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

sub add_table {
	my ($f, $group, @members) = @_;
	my $c = $f->{class};
	my ($name, $type, $template) = @$c{qw(reloc_name reloc_type reloc)};
	my $flags = $group ? $SHF_GROUP : 0;
	my ($table, $relocs) = ('', '');

	for my $text (@members) {
		my ($symbol, $value) = @{$text->{base}};
		my $info = $symbol << $c->{symbol_shift} | $R_PC32;

		for my $addend (map { $_ - $value } @{$text->{sites}}) {
			$relocs .= pack($template, length($table), $info, $addend);
			$table .= pack('l< V', $type == $SHT_REL ? $addend : 0, 0);
		}
	}

	# "ld.lld -r" before version 22 ends with a segmentation fault if relocations come before
	# the section they are for, https://github.com/llvm/llvm-project/issues/156417
	my $t = add_section($f, '__mcount_loc', $table, type => $SHT_PROGBITS,
			    flags => $SHF_ALLOC | $SHF_WRITE | $flags, addralign => $ENTRY_SIZE);
	my $r = add_section($f, $name, $relocs, type => $type,
			    flags => $SHF_INFO_LINK | $flags, link => $f->{symtab}{index},
			    info => $t->{index}, addralign => $c->{bits} / 8,
			    entsize => $c->{$type});
	return unless $group;
	set_section($f, $group, section_bytes($f, $group) . pack('V2', $t->{index}, $r->{index}));
}

# Appends the new section header table, and updates the ELF header.
sub write_headers {
	my ($f) = @_;
	my ($c, $ehdr, $sections) = @$f{qw(class ehdr sections)};

	$ehdr->{shnum} = @$sections < $SHN_LORESERVE ? @$sections : 0;
	$sections->[0]{size} = @$sections unless $ehdr->{shnum};
	set_section($f, \my %table, join('', map { pack($c->{shdr}, @$_{@SHDR}) } @$sections));
	$ehdr->{shoff} = $table{offset};
	substr($f->{buf}, 0, $c->{ehdr_size}, pack($c->{ehdr}, @$ehdr{@EHDR}));
}

# Replaces the object by rename(). An interrupt or a full disk leaves the old
# object in place, and a hard link to it, as in a compiler cache, does not
# change. "make clean" removes .*.tmp, the temporary file of a killed script.
sub replace_file {
	my ($f) = @_;
	my $path = $f->{path};
	# A link is kept, and the file it leads to replaced. Objects are hardly ever
	# links, so the module is loaded only here.
	$path = Cwd::abs_path($path) if -l $path && require Cwd;
	my $temporary = $path =~ s{([^/]+)\z}{.$1.$$.tmp}r;
	my $stop = sub {
		unlink $temporary;
		$SIG{$_[0]} = 'DEFAULT';
		kill $_[0], $$;
	};
	local @SIG{qw(HUP INT TERM XFSZ)} = (($stop) x 3, 'IGNORE');

	unlink $temporary;
	open(my $fh, '>:raw', $temporary) or die "cannot write $temporary: $!\n";
	# close() also fails if print() has failed
	print {$fh} $f->{buf};
	return if close($fh) && chmod($f->{mode} & 07777, $temporary) && rename($temporary, $path);
	my $why = $!;
	unlink $temporary;
	die "cannot write $temporary: $why\n";
}

# ------------------------------------------------------------------------
# Linked files
# ------------------------------------------------------------------------

# Returns a linked file. Its {table} has the address of the table, its offset in
# the file and its bytes.
sub open_linked {
	my ($path, $open_mode) = @_;
	my $f = open_elf($path, $open_mode, 'a linked file', $ET_EXEC, $ET_DYN);

	read_sections($f);
	$f->{symtab} or die "no symbol table\n";
	read_symbols($f, qw(st_name st_info st_shndx st_value st_size));
	my ($start, $stop) = map { symbol_value($f, "__${_}_mcount_loc") } 'start', 'stop';
	my $size = $stop - $start;

	$stop >= $start or die "__stop_mcount_loc is below __start_mcount_loc\n";
	$size % $ENTRY_SIZE and die "the table has $size bytes, not a multiple of $ENTRY_SIZE\n";
	my ($s) = grep { $_->{flags} & $SHF_ALLOC && $_->{in_file} && $start >= $_->{addr} &&
			 $stop - $_->{addr} <= $_->{size} } @{$f->{sections}};
	$s || !$size or die "no section contains the table\n";
	my $offset = $s ? $s->{offset} + ($start - $s->{addr}) : 0;
	$f->{table} = { address => $start, offset => $offset,
			bytes => bytes($f, $offset, $size, 'table') };
	return $f;
}

sub symbol_value {
	my ($f, $name) = @_;
	my ($st_name, $shndx, $value) = @{$f->{symbols}}{qw(st_name st_shndx st_value)};
	my @found = grep { $_ && $shndx->[$_] } find_name($f->{strings}, $name, $st_name);

	@found or die "no symbol $name\n";
	@found == 1 or die "symbol $name is defined more than once\n";
	return $value->[$found[0]];
}

# Returns the addresses of all sites, in the order of the table. All-zero entries
# come from an earlier --sort, or from the alignment of an input section.
sub table_sites {
	my ($f) = @_;
	# 32-bit addresses wrap around
	my $mask = $f->{class}{bits} == 32 ? 0xffffffff : ~0;
	my $next = $f->{table}{address};

	return map {
		my ($distance, $state) = unpack('l< V', $_);
		my $entry = $next;

		$next += $ENTRY_SIZE;
		die sprintf("entry at 0x%x has state 0x%x, not 0\n", $entry, $state) if $state;
		$distance ? $entry + $distance & $mask : ();
	} unpack("(a$ENTRY_SIZE)*", $f->{table}{bytes});
}

# Returns the sites that are inside of functions, sorted and without duplicates.
# When another object overrides a weak function, the linker drops the symbol of
# the weak function but keeps its body. That body is never called, and kallsyms
# would attribute its site to the symbol before it.
sub live_sites {
	my ($f, @sites) = @_;
	my ($info, $shndx, $start, $size) = @{$f->{symbols}}{qw(st_info st_shndx st_value st_size)};
	my @code_end = map { $_->{is_code} ? $_->{addr} + $_->{size} : 0 } @{$f->{sections}};
	my ($end, $last) = (0, 0);
	my @live;

	my @functions = sort { $start->[$a] <=> $start->[$b] } grep {
		my $type = $info->[$_] & 15;

		$shndx->[$_] > 0 && $code_end[$shndx->[$_]] &&
			($type == $STT_FUNC || $type == $STT_NOTYPE)
	} 1 .. $#$info;
	for my $site (sort { $a <=> $b } @sites) {
		while (@functions && $start->[$functions[0]] <= $site) {
			my $i = shift(@functions);
			my $limit = $code_end[$shndx->[$i]];
			my $stop = $start->[$i] + $size->[$i];

			$stop = $limit if $stop > $limit;
			$end = $stop if $stop > $end;
		}
		push @live, $last = $site if $site > $last && $site < $end;
	}
	return @live;
}

# Returns the sites that are in the kernel's text, and warns of the others. The linker puts
# sections that its script does not name (-ffunction-sections) behind that text, and the kernel
# refuses a table with a site there. Only a kernel has these symbols.
sub sites_in_text {
	my ($f, @sites) = @_;
	return @sites unless find_name($f->{strings}, '_stext', $f->{symbols}{st_name});

	my ($stext, $etext, $init, $init_end) = map { symbol_value($f, $_) }
		qw(_stext _etext __init_begin __init_end);
	my (@inside, %outside);
	for my $site (@sites) {
		if ($site >= $stext && $site < $etext || $site >= $init && $site < $init_end) {
			push @inside, $site;
			next;
		}
		my ($s) = grep { $_->{is_code} && $site >= $_->{addr} &&
				 $site - $_->{addr} < $_->{size} } @{$f->{sections}};
		my $name = substr($f->{names}, $s->{name}) =~ s/\0.*//sr;
		$outside{$name}++;
	}
	warn "mcount_loc: $f->{path}: warning: $outside{$_} functions in $_ cannot be traced, ",
	     "as the kernel's text ends before that section\n" for sort keys %outside;
	return @inside;
}

# Overwrites the table in place. The image can have hundreds of megabytes, of
# which only the table changes, and its size remains the same. Writing a copy
# could fill the disk.
sub do_sort {
	my ($path, $verbose) = @_;
	my $f = open_linked($path, '+<');
	my ($fh, $table) = @$f{qw(fh table)};
	my @sites = table_sites($f);
	my @live = sites_in_text($f, live_sites($f, @sites));
	my $new = '';

	for my $site (@live) {
		my $distance = $site - ($table->{address} + length($new));

		die sprintf("site 0x%x is 2 GiB or more away from its entry\n", $site)
			if abs($distance) >= 2 ** 31 && $f->{class}{bits} == 64;
		$new .= pack('l< V', $distance, 0);
	}
	$new .= "\0" x (length($table->{bytes}) - length($new));

	if ($new ne $table->{bytes}) {
		seek($fh, $table->{offset}, 0) or die "cannot write: $!\n";
		print {$fh} $new;
	}
	close($fh) or die "cannot write: $!\n";

	printf("mcount_loc: %s: %d sites kept, %d dropped\n", $path, scalar @live, @sites - @live)
		if $verbose;
}

sub do_dump {
	my ($path) = @_;
	my $f = open_linked($path, '<');
	my $digits = $f->{class}{bits} / 4;

	printf("%0${digits}x\n", $_) for table_sites($f);
	close(STDOUT) or die "cannot write: $!\n";
}

# ------------------------------------------------------------------------

my $option = @ARGV && $ARGV[0] =~ /^-/ ? shift(@ARGV) : '';
my $work = { '' => \&do_object, '--sort' => \&do_sort, '--dump' => \&do_dump }->{$option};
my $verbose = $option eq '--sort' && @ARGV && $ARGV[0] eq '--verbose' && shift(@ARGV);

if (!$work || !@ARGV || $ARGV[0] =~ /^-/ || ($option && @ARGV > 1)) {
	print STDERR "usage: mcount_loc.pl OBJECT...\n",
		     "       mcount_loc.pl --sort [--verbose] VMLINUX\n",
		     "       mcount_loc.pl --dump FILE\n";
	exit 2;
}

my $status = 0;
for my $path (@ARGV) {
	next if eval { $work->($path, $verbose); 1 };
	print STDERR "mcount_loc: $path: $@";
	$status = 1;
}
exit $status;
