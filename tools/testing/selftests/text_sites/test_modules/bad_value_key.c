// SPDX-License-Identifier: GPL-2.0
/* bad_value_key: a module whose value site is what a static key changes as well */
#include <linux/jump_label.h>

#include <asm/asm.h>

#include "bad_value.h"

DEFINE_STATIC_KEY_FALSE(bad_value_key);

asm("	.pushsection __jump_table, \"aw\"\n"
	"	.balign	8\n"
	"	.long	bad_value_nop - ., bad_value_label - .\n"
	"	" _ASM_PTR "bad_value_key - .\n"
	"	.popsection\n");

BAD_VALUE("bad_value_nop", "bad_value_label - .", "bad_value_data - .");

MODULE_DESCRIPTION("A value site that cannot be trusted");
MODULE_LICENSE("GPL");
