/* SPDX-License-Identifier: GPL-2.0 */
/* Text sites on x86: trampolines, for the engine and the unwinder. */
#ifndef _ASM_X86_TEXT_SITE_H
#define _ASM_X86_TEXT_SITE_H

#include <linux/rculist.h>
#include <linux/types.h>

struct orc_entry;

#define TEXT_SITE_SIZE	5	/* bytes of text that belong to a site: one call */

/**
 * struct text_site_callback - a call that a trampoline makes
 * @func: called as func(site, parent, arg, regs)
 * @arg: its third argument
 */
struct text_site_callback {
	void	*func;
	void	*arg;
};

/* What a trampoline does beyond handing over the argument registers */
#define TRAMPOLINE_REGS		BIT(0)	/* all registers, and back */
#define TRAMPOLINE_SET_IP	BIT(1)	/* returns to where regs->ip says */

/**
 * struct text_trampoline - generated code that sites call
 * @addr: its first byte
 * @size: in bytes
 * @nr: number of callbacks
 * @frame: bytes of stack it takes below the return address
 * @flags_at: offset of the instruction before which the stack holds eight
 *	bytes more, the flags, while they are saved; 0: there is none
 * @flags_back_at: the same where they are restored
 * @body: offset of the first instruction with the frame in place
 * @tail: offset of the first instruction with the frame gone again: the return,
 *	or the jump to @onward
 * @onward: where it goes on to instead of returning to the site, which to what is
 *	there looks as if the site had called it; 0: it returns
 * @call_at: offsets of the calls, by callback
 * @list: all trampolines
 */
struct text_trampoline {
	unsigned long		addr;
	unsigned int		size;
	unsigned int		nr;
	u16			frame;
	u16			flags_at;
	u16			flags_back_at;
	u16			body;
	u16			tail;
	unsigned long		onward;
	u16			*call_at;
	struct list_head	list;
};

int text_trampoline_create(struct text_trampoline *tramp, unsigned int flags,
			   const struct text_site_callback *calls, unsigned int nr,
			   unsigned long onward);
void text_trampoline_free(struct text_trampoline *tramp);
void text_trampoline_retarget(struct text_trampoline *tramp, unsigned int call,
			      void *func);
void text_trampoline_go_on_to(struct text_trampoline *tramp, unsigned long onward);
struct text_trampoline *text_trampoline_find(unsigned long addr);
struct orc_entry *text_trampoline_orc(unsigned long addr);

#endif /* _ASM_X86_TEXT_SITE_H */
