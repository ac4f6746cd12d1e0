/* SPDX-License-Identifier: GPL-2.0 */
/* Between the files of arch/x86/kernel/text_site/ */
#ifndef _X86_TEXT_SITE_H
#define _X86_TEXT_SITE_H

#include <linux/mm.h>
#include <linux/types.h>

#include <asm/text-patching.h>
#include <asm/text_site.h>

struct pt_regs;
struct text_site;

/**
 * struct site_nop - a candidate for what an unattached site holds
 * @name: what text_nop= calls it
 * @bytes: one instruction that does nothing
 */
struct site_nop {
	const char	*name;
	u8		bytes[TEXT_SITE_SIZE];
};

/**
 * struct nop_cpu - what the choice of a NOP depends on
 * @vendor: X86_VENDOR_*
 * @family: as CPUID gives it
 * @model: as CPUID gives it
 * @nopl: has the long NOP
 */
struct nop_cpu {
	u8	vendor;
	u8	family;
	u8	model;
	bool	nopl;
};

extern const struct site_nop *site_nop;

/* How many pages of text can be written at a time; all are in one page table. */
#define TEXT_WINDOW_PAGES	128

/**
 * struct text_window - pages of text that can be written
 * @nr: how many
 * @last: the last one, by number
 * @distance: what to add to an address in the last page to get where it is written
 * @page: which they are, by number, ascending
 * @prev: the mm that is not there meanwhile
 * @irqs: whether interrupts were on
 */
struct text_window {
	unsigned int	nr;
	unsigned long	last;
	unsigned long	distance;
	unsigned long	page[TEXT_WINDOW_PAGES];
	temp_mm_state_t	prev;
	unsigned long	irqs;
};

/* The page table of text_poke()'s mm that its two pages are in, from its start on */
#define TEXT_WINDOW	(poking_addr & PMD_MASK)

void text_window_begin(struct text_window *window);
bool text_window_extend(struct text_window *window, unsigned long addr, unsigned int size);
void text_window_open(struct text_window *window);
void text_window_close(struct text_window *window);

/**
 * text_window_add - have a window include a site
 * @window: begun, not open
 * @addr: the site's, above that of the last one
 * @size: of what is written there, in bytes
 *
 * Return: where it can be written while the window is open; NULL if that is full.
 */
static __always_inline u8 *text_window_add(struct text_window *window, unsigned long addr,
					   unsigned int size)
{
	if ((addr + size - 1) >> PAGE_SHIFT != window->last &&
	    !text_window_extend(window, addr, size))
		return NULL;

	/* A site that begins in the page before: that one is mapped before it. */
	return (u8 *)(addr + window->distance);
}

/* The passes of patch.c */
enum patch_pass { PASS_BREAK, PASS_TAIL, PASS_HEAD };

/* The longest instruction of an inline site, in bytes */
#define INLINE_SITE_MAX		10

unsigned int inline_site_insn(u8 *insn, const struct text_site *site, u32 state,
			      const void *value);
u32 inline_site_next(u32 state);
void inline_site_write(struct text_site *site, const void *value, u8 *at, enum patch_pass pass);
void inline_site_emulate(struct pt_regs *regs, unsigned long addr, u32 state,
			 const void *value);

const struct site_nop *site_nop_choose(const struct nop_cpu *cpu);
const struct site_nop *site_nop_by_name(const char *name);

#endif /* _X86_TEXT_SITE_H */
