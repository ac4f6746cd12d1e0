/* SPDX-License-Identifier: GPL-2.0 */
/* A module with one value site that is written by hand: BAD_VALUE(site, to, value) */
#ifndef _BAD_VALUE_H
#define _BAD_VALUE_H

#include <linux/module.h>
#include <linux/stringify.h>

#include <asm/nops.h>

/* Where a condition is that is off, and one that is none; and what they depend on */
asm("	.pushsection .text\n"
	"bad_value_nop:	.byte " __stringify(BYTES_NOP5) "\n"
	"bad_value_other:	.byte 0x0f, 0x1f, 0x44, 0x00, 0x01\n"
	"bad_value_label:	nop\n"
	"	.popsection\n"
	"	.pushsection .data\n"
	"	.balign 8\n"
	"bad_value_data:	.quad 0\n"
	"	.popsection\n");

/* What objtool does not read, as it would not be fooled */
#define BAD_VALUE(site, to, value)					\
asm("	.pushsection __load_sites, \"aw\"\n"				\
	"	.balign	4\n"						\
	"	.long	" site " - .\n"					\
	"	.long	" to "\n"					\
	"	.popsection\n"						\
	"	.pushsection __load_refs, \"aw\"\n"			\
	"	.balign	4\n"						\
	"	.long	" value "\n"					\
	"	.popsection\n")

#endif /* _BAD_VALUE_H */
