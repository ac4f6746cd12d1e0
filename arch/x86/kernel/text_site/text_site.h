/* SPDX-License-Identifier: GPL-2.0 */
/* Between the files of arch/x86/kernel/text_site/ */
#ifndef _X86_TEXT_SITE_H
#define _X86_TEXT_SITE_H

#include <linux/types.h>

#include <asm/text_site.h>

#ifdef CONFIG_X86_32
# include "insn_32.h"
#else
# include "insn_64.h"
#endif

struct cpuinfo_x86;
struct pt_regs;

/**
 * struct site_nop - a candidate for what an unattached site holds
 * @name: what text_nop= calls it
 * @bytes: one instruction that does nothing
 */
struct site_nop {
	const char	*name;
	u8		bytes[TEXT_SITE_SIZE];
};

extern const struct site_nop *site_nop;

const struct site_nop *site_nop_choose(const struct cpuinfo_x86 *cpu);
const struct site_nop *site_nop_by_name(const char *name);

/* value.c: has @regs as after the instruction of a site in this state */
void value_site_emulate(struct pt_regs *regs, unsigned long addr, u32 state,
			const void *value);

#endif /* _X86_TEXT_SITE_H */
