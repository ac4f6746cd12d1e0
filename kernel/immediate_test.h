/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of immediate values and of markers have in common */
#ifndef _KERNEL_IMMEDIATE_TEST_H
#define _KERNEL_IMMEDIATE_TEST_H

#include <linux/compiler.h>
#include <linux/value_site.h>

#ifdef CONFIG_TEXT_SITES
/* The first value site in a function, and the table that it is in; NULL if there is none */
static inline struct text_site *value_site_in(const void *function, struct text_site_table **table)
{
	unsigned long start = (unsigned long)function;
	struct text_site *site;

	/* objtool takes constant text addresses for functions: there must be none of the end. */
	OPTIMIZER_HIDE_VAR(start);
	for (unsigned long addr = start; addr < start + 64; addr++) {
		site = text_site_find(NULL, addr, addr, table);
		if (site && (*table)->kind->insn == &text_insn_value)
			return site;
	}
	return NULL;
}
#endif /* CONFIG_TEXT_SITES */

#endif /* _KERNEL_IMMEDIATE_TEST_H */
