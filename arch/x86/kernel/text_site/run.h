/* SPDX-License-Identifier: GPL-2.0 */
/* Runs: pending sites that passes write through one window */
#ifndef _X86_TEXT_SITE_RUN_H
#define _X86_TEXT_SITE_RUN_H

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/text_site.h>

#include <asm/text-patching.h>

/* How many pages of text can be written at a time: as many as a page table has */
#define TEXT_WINDOW_PAGES	PTRS_PER_PTE

/**
 * struct text_window - pages of text that can be written
 * @nr: how many
 * @last: the last one, by number
 * @distance: what to add to an address in the last page to get where it is written
 * @page: which they are, by number
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
void text_window_map(const struct text_window *window);
void text_window_open(struct text_window *window);
void text_window_close(struct text_window *window);
void text_window_unmap(struct text_window *window);

/**
 * text_window_add - have a window include a site
 * @window: begun, not mapped
 * @addr: the site's: above the last one, or @last of the window has been set to 0
 * @size: of what is written there, in bytes
 *
 * While the window is open, the site can be written @distance of the window behind @addr.
 * That is so for sites that were added before as well, as long as @distance stays the same.
 *
 * Return: false if the window is full.
 */
static __always_inline bool text_window_add(struct text_window *window, unsigned long addr,
					    unsigned int size)
{
	return (addr + size - 1) >> PAGE_SHIFT == window->last ||
	       text_window_extend(window, addr, size);
}

/*
 * How many sites are written at once. Interrupts are off for some 25 instructions per site.
 * Opening the window costs some 550 instructions each time: with 40 sites instead of 192,
 * switching all functions on takes a fifth longer.
 */
#define RUN_MAX		(IS_ENABLED(CONFIG_PREEMPT_RT) ? 40 : 192)

/* How many pieces a run has: with each other site pending, a piece is one site. */
#define RUN_PIECES	512

/**
 * struct patch_piece - pending sites that follow each other
 * @table: the table they are in
 * @first: the first one
 * @end: behind the last one
 * @distance: from a site to where it is written
 * @opens: the window is opened for this piece and those behind it
 */
struct patch_piece {
	struct text_site_table	*table;
	struct text_site	*first, *end;
	unsigned long		distance;
	bool			opens;
};

/**
 * struct patch_run - pending sites that are written through one window
 * @window: where
 * @begin: the first one; NULL: there is no run, nothing is mapped
 * @next: the first one that the run has no room for, NULL if there is none
 * @next_table: the table that is in
 * @nr: how many pieces
 * @piece: the sites, ascending
 * @pass: the pass that is made, or was made last
 * @site: the first site that it has not written yet, NULL: it has written all
 * @table: the table that is in
 * @atomic: preemption is off, see arch_text_site_pass()
 *
 * A round with one run is laid out once, for all passes.
 */
struct patch_run {
	struct text_window	window;
	struct text_site	*begin, *next;
	struct text_site_table	*next_table;
	unsigned int		nr;
	struct patch_piece	piece[RUN_PIECES];
	enum text_pass		pass;
	struct text_site	*site;
	struct text_site_table	*table;
	bool			atomic;
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

/* The first pending site of a table or, if that has none, of one behind it; else NULL */
static inline struct text_site *first_pending(struct text_site_table **table)
{
	for (; *table; *table = (*table)->next) {
		struct text_site *site;

		for_each_pending_site(site, *table)
			return site;
	}
	return NULL;
}

void run_map(struct patch_run *run);
void run_unmap(struct patch_run *run);
void run_go_on(struct patch_run *run, unsigned int nr);

/* Writes what is behind the first byte of a pending site, to @at, and changes its state. */
typedef void text_tail_fn(const struct text_site_table *table, struct text_site *site, u8 *at,
			  void *with);

/* The first byte of a site, of its new state */
typedef u8 text_head_fn(const struct text_site_table *table, const struct text_site *site,
			void *with);

/* One pass over a piece; the pass is known when this is compiled. */
static __always_inline void write_piece(const struct patch_piece *piece, enum text_pass pass,
					text_tail_fn *tail, text_head_fn *head, void *with)
{
	const unsigned long distance = piece->distance;
	const struct text_site *end = piece->end;

	for (struct text_site *site = piece->first; site < end; site++) {
		u8 *at = (u8 *)(text_site_addr(site) + distance);

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
			tail(piece->table, site, at, with);
			break;

		case TEXT_PASS_HEAD:
			WRITE_ONCE(*at, head(piece->table, site, with));
			/*
			 * After the head, which x86 does not reorder; pairs with the
			 * order in which text_site_emulate() reads: who sees the
			 * site not pending sees no breakpoint of ours.
			 */
			barrier();
			WRITE_ONCE(site->state, site->state & ~TEXT_SITE_PENDING);
			break;
		}
	}
}

/* Lays out a run that begins with the site to be written next. */
static __always_inline void run_lay_out(struct patch_run *run,
					unsigned int (*size)(const struct text_site *site))
{
	struct text_site_table *table = run->table;
	struct text_site *site = run->site;
	unsigned int nr = RUN_MAX;

	run_unmap(run);
	for (run->nr = 0; site && run->nr < RUN_PIECES; run->nr++) {
		const struct text_site *end = table->sites + table->last;
		struct patch_piece *piece = &run->piece[run->nr];

		if (nr == RUN_MAX && !run->atomic)
			cond_resched();
		if (!text_window_add(&run->window, text_site_addr(site), size(site)))
			break;
		*piece = (struct patch_piece) {
			.table = table, .first = site, .distance = run->window.distance,
			.opens = nr == RUN_MAX,
		};
		nr = nr == RUN_MAX ? 0 : nr;
		do {
			site++;
			nr++;
		} while (site < end && (site->state & TEXT_SITE_PENDING) && nr < RUN_MAX &&
			 text_window_add(&run->window, text_site_addr(site), size(site)) &&
			 run->window.distance == piece->distance);
		piece->end = site;

		site = next_pending(site, end);
		if (site == end) {
			table = table->next;
			site = first_pending(&table);
			run->window.last = 0;	/* Its text may be anywhere. */
		}
	}
	run->next_table = table;
	run->next = site;
	run_map(run);
}

/*
 * A pass over a round, run by run. This is a template: the functions are known when it is
 * compiled, so that sites cost no indirect calls. They get @with.
 */
static __always_inline void patch_round(enum text_pass pass,
					unsigned int (*size)(const struct text_site *site),
					text_tail_fn *tail, text_head_fn *head, void *with)
{
	struct patch_run *run = &patch_run;

	while (run->site) {
		if (run->begin != run->site)
			run_lay_out(run, size);

		for (unsigned int i = 0; i < run->nr;) {
			text_window_open(&run->window);
			do {
				const struct patch_piece *piece = &run->piece[i];

				if (pass == TEXT_PASS_BREAK)
					write_piece(piece, TEXT_PASS_BREAK, tail, head, with);
				else if (pass == TEXT_PASS_TAIL)
					write_piece(piece, TEXT_PASS_TAIL, tail, head, with);
				else
					write_piece(piece, TEXT_PASS_HEAD, tail, head, with);
			} while (++i < run->nr && !run->piece[i].opens);
			run_go_on(run, i);	/* interrupts are still off */
			text_window_close(&run->window);
			if (!run->atomic)
				cond_resched();
		}
	}
}

#endif /* _X86_TEXT_SITE_RUN_H */
