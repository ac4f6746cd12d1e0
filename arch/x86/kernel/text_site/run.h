/* SPDX-License-Identifier: GPL-2.0 */
/* Runs: pending sites of a table that a pass writes at once, through one window */
#ifndef _X86_TEXT_SITE_RUN_H
#define _X86_TEXT_SITE_RUN_H

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/text_site.h>

#include <asm/text-patching.h>

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

/* How many sites are written at once: bounds the time for which interrupts are off. */
#define RUN_MAX	192

/**
 * struct patch_run - pending sites that are written at once
 * @window: where
 * @nr: how many
 * @atomic: preemption is off, see arch_text_site_pass()
 * @pass: which pass it is of
 * @written: how many sites of that pass have been written
 * @skip: how many of the pass are left out, as they have been written before
 * @todo: which, ascending, and where to write each
 */
struct patch_run {
	struct text_window	window;
	unsigned int		nr;
	bool			atomic;
	enum text_pass		pass;
	unsigned int		written, skip;
	struct {
		struct text_site	*site;
		u8			*at;
	} todo[RUN_MAX];
};

extern struct patch_run patch_run;	/* under text_mutex */

static __always_inline struct text_site *next_pending(struct text_site *site,
						      const struct text_site *end)
{
	while (site < end && !(site->state & TEXT_SITE_PENDING))
		site++;
	return site;
}

#define for_each_pending_site(site, table)				\
	for (struct text_site *__end = (site = (table)->sites + (table)->first, \
					(table)->sites + (table)->last);	\
	     (site = next_pending(site, __end)) < __end; site++)

/* Writes what is behind the first byte of a pending site, to @at, and changes its state. */
typedef void text_tail_fn(const struct text_site_table *table, struct text_site *site, u8 *at,
			  void *with);

/* The first byte of a site, of its new state */
typedef u8 text_head_fn(const struct text_site_table *table, const struct text_site *site,
			void *with);

/* One pass over a run, which is known when this is compiled */
static __always_inline void write_run(const struct text_site_table *table, enum text_pass pass,
				      text_tail_fn *tail, text_head_fn *head, void *with)
{
	for (unsigned int i = 0; i < patch_run.nr; i++) {
		struct text_site *site = patch_run.todo[i].site;
		u8 *at = patch_run.todo[i].at;

		switch (pass) {
		case TEXT_PASS_BREAK:
			WRITE_ONCE(*at, INT3_INSN_OPCODE);
			break;

		case TEXT_PASS_TAIL:
			/*
			 * From here on the breakpoint handler does what is to be,
			 * instead of what was. Both are right. What the new state
			 * refers to has been visible to every CPU since the sync
			 * before this pass at the latest.
			 */
			tail(table, site, at, with);
			break;

		case TEXT_PASS_HEAD:
			WRITE_ONCE(*at, head(table, site, with));
			/*
			 * After the head, which x86 does not reorder; pairs with the
			 * order in which text_int3() reads: who sees the site
			 * not pending sees no breakpoint of ours.
			 */
			barrier();
			WRITE_ONCE(site->state, site->state & ~TEXT_SITE_PENDING);
			break;
		}
	}
}

/*
 * A pass over the pending sites of a table, run by run. This is a template: the functions
 * are known when it is compiled, so that sites cost no indirect calls. They get @with.
 */
static __always_inline void
patch_table(struct text_site_table *table, enum text_pass pass,
	    unsigned int (*size)(const struct text_site *site),
	    text_tail_fn *tail, text_head_fn *head, void *with)
{
	struct text_site *end = table->sites + table->last;
	struct text_site *site = next_pending(table->sites + table->first, end);
	struct patch_run *run = &patch_run;

	for (; unlikely(run->skip) && site < end; run->skip--)
		site = next_pending(site + 1, end);

	while (site < end) {
		unsigned int nr = 0;

		text_window_begin(&run->window);
		while (nr < RUN_MAX && site < end) {
			u8 *at = text_window_add(&run->window, text_site_addr(site), size(site));

			if (!at)
				break;
			run->todo[nr].site = site;
			run->todo[nr++].at = at;
			site = next_pending(site + 1, end);
		}
		run->nr = nr;

		text_window_open(&run->window);
		if (pass == TEXT_PASS_BREAK)
			write_run(table, TEXT_PASS_BREAK, tail, head, with);
		else if (pass == TEXT_PASS_TAIL)
			write_run(table, TEXT_PASS_TAIL, tail, head, with);
		else
			write_run(table, TEXT_PASS_HEAD, tail, head, with);
		run->written += nr;	/* interrupts are still off */
		text_window_close(&run->window);
		if (!run->atomic)
			cond_resched();
	}
}

#endif /* _X86_TEXT_SITE_RUN_H */
