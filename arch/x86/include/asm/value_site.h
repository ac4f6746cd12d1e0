/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Value sites on x86. A branch:
 *
 *	off		0f 1f 44 00 00			nopl
 *			3e 8d 74 26 00			lea %ds:0(%esi,%eiz,1),%esi in 32-bit code
 *	on		e9 d0 d1 d2 d3			jmp label
 *
 * A load, of up to four bytes and of eight, as it is compiled and with the value:
 *
 *	memory		0f b6 MM d0 d1 d2 d3		movzbl value(%rip), %reg
 *			0f b7 MM d0 d1 d2 d3		movzwl value(%rip), %reg
 *			40 8b MM d0 d1 d2 d3		movl value(%rip), %reg
 *	immediate	40 c7 RR v0 v1 v2 v3		movl $value, %reg
 *
 *	memory		2e 2e 2e 48 8b MM d0 d1 d2 d3	movq value(%rip), %reg
 *	immediate	48 RR v0 v1 v2 v3 v4 v5 v6 v7	movabs $value, %reg
 *
 * A load in 32-bit code, of up to four bytes; eight are read from memory. The register is
 * not %eax: mov has another form for that.
 *
 *	memory		0f b6 MM d0 d1 d2 d3		movzbl value, %reg
 *			0f b7 MM d0 d1 d2 d3		movzwl value, %reg
 *			3e 8b MM d0 d1 d2 d3		ds movl value, %reg
 *	immediate	3e 8d MM v0 v1 v2 v3		ds lea value, %reg
 *
 * Each is one instruction, with prefixes that do nothing where one is shorter than the
 * other: no CPU is ever between two halves of what is replaced. The register is one of
 * the eight that need no bit in a prefix.
 *
 * The record is a struct text_site; until it is taken into use, the state of a branch
 * is a reference to its label, relative to the field. objtool reads both, so records of
 * loads, which have no label, are in a section of their own until the linker puts them
 * behind the branches. The reference to the value has the same place in another section.
 */
#ifndef _ASM_X86_VALUE_SITE_H
#define _ASM_X86_VALUE_SITE_H

#include <linux/compiler.h>
#include <linux/stringify.h>
#include <linux/types.h>

#include <asm/nops.h>

#define VALUE_SITE_RECORD(sites, refs, label)				\
	".pushsection " sites ", \"aw\"\n\t"				\
	".balign 4\n\t"							\
	".long 1b - .\n\t"						\
	".long " label "\n\t"						\
	".popsection\n\t"						\
	".pushsection " refs ", \"aw\"\n\t"				\
	".balign 4\n\t"							\
	".long %c[value] + %c[log] - .\n\t"				\
	".popsection"

/* Whether what @value points to is not 0; it has 1 << @log bytes */
#define DEFINE_VALUE_BRANCH(name, sites, refs)				\
static __always_inline bool name(const void *value, unsigned int log)	\
{									\
	asm goto("1:\n\t"						\
		 ".byte " __stringify(BYTES_NOP5) "\n\t"		\
		 VALUE_SITE_RECORD(sites, refs, "%l[on] - .")		\
		 : : [value] "i" (value), [log] "i" (log) : : on);	\
	return false;							\
on:									\
	return true;							\
}

DEFINE_VALUE_BRANCH(arch_value_branch, "__value_sites", "__value_refs")
DEFINE_VALUE_BRANCH(arch_marker_branch, "__marker_sites", "__marker_refs")

#ifdef CONFIG_X86_32
# define VALUE_AT	"%c[value]"
# define VALUE_REG(var)	"=bcdSD" (var)
# define VALUE_PREFIX	".byte 0x3e; "
#else
# define VALUE_AT	"%c[value](%%rip)"
# define VALUE_REG(var)	"=R" (var)
# define VALUE_PREFIX	".byte 0x40; "
#endif

#define ARCH_VALUE_LOAD(value, log_, load, type) ({			\
	type __loaded;							\
									\
	asm volatile("1:\t" load ", %[loaded]\n\t"			\
		     VALUE_SITE_RECORD("__load_sites", "__load_refs", "0") \
		     : [loaded] VALUE_REG(__loaded)			\
		     : [value] "i" (value), [log] "i" (log_));		\
	__loaded;							\
})

/* What @value points to, which has 1 << @log bytes */
static __always_inline u64 arch_value_load(const void *value, unsigned int log)
{
	switch (log) {
	case 0:
		return ARCH_VALUE_LOAD(value, 0, "movzbl " VALUE_AT, u32);
	case 1:
		return ARCH_VALUE_LOAD(value, 1, "movzwl " VALUE_AT, u32);
	case 2:
		return ARCH_VALUE_LOAD(value, 2, VALUE_PREFIX "movl " VALUE_AT, u32);
	default:
		if (IS_ENABLED(CONFIG_X86_32))
			return READ_ONCE(*(const u64 *)value);
		return ARCH_VALUE_LOAD(value, 3, ".byte 0x2e, 0x2e, 0x2e; movq " VALUE_AT, u64);
	}
}

#endif /* _ASM_X86_VALUE_SITE_H */
