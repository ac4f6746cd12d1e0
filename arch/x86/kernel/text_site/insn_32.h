/* SPDX-License-Identifier: GPL-2.0 */
/* What text sites hold in 32-bit code: for nop.c and value.c */
#ifndef _X86_TEXT_SITE_INSN_32_H
#define _X86_TEXT_SITE_INSN_32_H

#include <linux/types.h>

/* lea %ds:0(%esi,%eiz,1),%esi: what the kernel pads with here */
#define NOP_LEA_BYTES		0x3e, 0x8d, 0x74, 0x26, 0x00

/*
 * The NOP of CPUs that are not known to have a long one: in 32-bit kernels, none is. Prefixes
 * take a cycle each to decode on most of them, from the 486 to the Pentium III.
 */
#define NOP_ANY			NOP_LEA

/* See struct load. Values of eight bytes are read from memory, in two halves. */
#define VALUE_LOADS {							\
	{ 7, 4, 2, 2, { 0x0f, 0xb6, 0x05 },		{ 0x3e, 0x8d, 0x05 } }, \
	{ 7, 4, 2, 2, { 0x0f, 0xb7, 0x05 },		{ 0x3e, 0x8d, 0x05 } }, \
	{ 7, 4, 2, 2, { 0x3e, 0x8b, 0x05 },		{ 0x3e, 0x8d, 0x05 } }, \
	{ }, \
}

/* How far left the number of the register is in a load with the value in it */
#define VALUE_REG_SHIFT		3

/* What a load of @value has in it that ends at @end */
static inline s32 value_reference(unsigned long value, unsigned long end)
{
	return value;
}

#endif /* _X86_TEXT_SITE_INSN_32_H */
