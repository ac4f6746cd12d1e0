// SPDX-License-Identifier: GPL-2.0
/*
 * Changing the instruction of text sites, in three passes over a batch, or over a
 * part of it, a round:
 *
 *                 byte   0     1   2   3   4
 *   before               0f    1f  44  00  00     nopl
 *   1. break             cc    1f  44  00  00     int3, rest as it was
 *      sync
 *   2. tail              cc    d0  d1  d2  d3     the site's state changes too
 *      sync
 *   3. head              e8    d0  d1  d2  d3     call; or what else the kind says
 *      sync
 *
 * Each sync is an IPI to every CPU that makes it serialise, and returns when
 * all have. So before the first tail is written, every CPU fetches either the
 * whole old instruction, already retired by then, or the breakpoint; and before
 * the first head is written, no CPU holds a tail from before. What a CPU that
 * meets the breakpoint does is in int3.c.
 *
 * Tails may tear: nobody executes them. Heads are one byte.
 */
#define pr_fmt(fmt) "text_site: " fmt

#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/text_site.h>

#include <asm/text-patching.h>
#include <asm/text_site_entry.h>

#include "run.h"
#include "text_site.h"

struct patch_run patch_run = { .pass = TEXT_PASS_HEAD };

u8 text_changes __read_mostly;
struct text_site_kind *text_sites_kind __read_mostly;

/* A run has been laid out. */
void run_map(struct patch_run *run)
{
	text_window_map(&run->window);
	barrier();	/* a caller that dies before leaves no run */
	run->begin = run->site;
}

/* There is no run any more. */
void run_unmap(struct patch_run *run)
{
	run->begin = NULL;
	if (run->window.nr)
		text_window_unmap(&run->window);
	text_window_begin(&run->window);
}

/* The first @nr pieces of a run have been written. */
void run_go_on(struct patch_run *run, unsigned int nr)
{
	const struct patch_piece *piece = &run->piece[nr];
	const bool more = nr < run->nr;

	run->table = more ? piece->table : run->next_table;
	run->site = more ? piece->first : run->next;
}

/**
 * arch_text_site_verify - is the text of a site what its state says?
 * @table: the table it is in
 * @site: which
 *
 * Context: under text_mutex, or where nobody changes the text.
 *
 * Return: 0, or -EINVAL with a message.
 */
int arch_text_site_verify(const struct text_site_table *table, const struct text_site *site)
{
	void *addr = (void *)text_site_addr(site);
	u8 insn[TEXT_SITE_MAX];
	unsigned int size = table->kind->insn->make(table, site, false, insn);

	if (!memcmp(addr, insn, size))
		return 0;
	/* An unprivileged user of perf may have this called in a loop. */
	pr_err_ratelimited("%pS: holds %*ph, should hold %*ph; nothing is changed\n", addr, size,
			   addr, size, insn);
	return -EINVAL;
}

/*
 * Tell perf what is about to change. Who decodes a trace of branches takes the
 * change to be at the moment of the record: that is between the breakpoints and
 * the new heads, where a site is neither.
 */
static void report_pending(struct text_site_kind *kind, bool atomic)
{
	u8 old[TEXT_SITE_MAX], new[TEXT_SITE_MAX];
	struct text_site_table *table;
	struct text_site *site;
	unsigned int size;

	if (!atomic_read(&nr_text_poke_events))
		return;

	for_each_text_site_table_of(kind, table) {
		for_each_pending_site(site, table) {
			kind->insn->make(table, site, false, old);
			size = kind->insn->make(table, site, true, new);
			perf_event_text_poke((void *)text_site_addr(site), old, size, new, size);
			if (!atomic)
				cond_resched();
		}
	}
}

/**
 * arch_text_site_pass - one pass over the pending sites of a kind, or of one round
 * @kind: which; the pending sites from @first to before @last of each table have been
 *	verified
 * @pass: all are made, one after the other
 * @atomic: the caller must not be preempted, and has so few sites that it need not
 *
 * If the caller dies before this returns, another task can make the same pass: two that
 * follow each other differ. It goes on behind what has been written. Only if the caller has
 * died with interrupts off, it is not known what of the last RUN_MAX sites that is.
 *
 * Context: process context; @atomic: with preemption off. text_mutex is held, maybe by the
 * task that waits for the caller. Interrupts are off for RUN_MAX sites at a time.
 */
void arch_text_site_pass(struct text_site_kind *kind, enum text_pass pass, bool atomic)
{
	struct patch_run *run = &patch_run;

	lockdep_assert(mutex_is_locked(&text_mutex));

	if (pass == TEXT_PASS_BREAK) {
		WRITE_ONCE(text_sites_kind, kind);
		smp_wmb();	/* who sees that there are sites sees of which kind */
		WRITE_ONCE(text_changes, TEXT_CHANGES_SITES);
		smp_wmb();	/* before the first breakpoint: pairs with text_int3() */
	}
	if (run->pass != pass) {
		if (pass == TEXT_PASS_TAIL)
			report_pending(kind, atomic);
		run->table = kind->tables;
		run->site = first_pending(&run->table);
		barrier();	/* a caller that dies here has written nothing */
		WRITE_ONCE(run->pass, pass);
	}

	run->atomic = atomic;
	kind->insn->patch(pass);
	arch_text_site_sync();

	if (pass == TEXT_PASS_HEAD) {
		run_unmap(run);
		/* Every CPU that has met one of the breakpoints has dealt with it. */
		WRITE_ONCE(text_changes, 0);
	}
}

/**
 * arch_text_site_sync - make every CPU serialise
 *
 * Context: process context, interrupts on; or early boot, when there is one CPU.
 */
void arch_text_site_sync(void)
{
	text_poke_sync();
}
