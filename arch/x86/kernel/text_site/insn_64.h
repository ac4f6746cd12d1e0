/* SPDX-License-Identifier: GPL-2.0 */
/* What text sites hold in 64-bit code: for nop.c and value.c */
#ifndef _X86_TEXT_SITE_INSN_64_H
#define _X86_TEXT_SITE_INSN_64_H

#include <linux/types.h>

/* ds lea 0(%rsi),%rsi */
#define NOP_LEA_BYTES		0x3e, 0x48, 0x8d, 0x76, 0x00

/* The NOP of CPUs that are not known to have a long one, and of those that are slow with it */
#define NOP_ANY			NOP_PREFIX

/* See struct load. The memory is relative to the next instruction. */
#define VALUE_LOADS {							\
	{ 7,  4, 2, 2, { 0x0f, 0xb6, 0x05 },		{ 0x40, 0xc7, 0xc0 } }, \
	{ 7,  4, 2, 2, { 0x0f, 0xb7, 0x05 },		{ 0x40, 0xc7, 0xc0 } }, \
	{ 7,  4, 2, 2, { 0x40, 0x8b, 0x05 },		{ 0x40, 0xc7, 0xc0 } }, \
	{ 10, 8, 5, 1, { 0x2e, 0x2e, 0x2e, 0x48, 0x8b, 0x05 }, { 0x48, 0xb8 } }, \
}

/* How far left the number of the register is in a load with the value in it */
#define VALUE_REG_SHIFT		0

/* What a load of @value has in it that ends at @end */
static inline s32 value_reference(unsigned long value, unsigned long end)
{
	return value - end;
}

#endif /* _X86_TEXT_SITE_INSN_64_H */
