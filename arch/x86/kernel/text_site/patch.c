// SPDX-License-Identifier: GPL-2.0
/*
 * Changing the instruction of text sites: at boot directly, later in three
 * passes over a whole batch.
 *
 *                 byte   0     1   2   3   4
 *   before               0f    1f  44  00  00     nopl
 *   1. break             cc    1f  44  00  00     int3, rest as it was
 *      sync
 *   2. tail              cc    d0  d1  d2  d3     the site's state changes too
 *      sync
 *   3. head              e8    d0  d1  d2  d3     call; or jmp: what the kind says
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
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/text_site.h>
#include <linux/unaligned.h>

#include <asm/sync_core.h>
#include <asm/text-patching.h>

#include "text_site.h"

/* First bytes. What follows each is where to, relative to the next instruction. */
static const u8 opcodes[] = {
	[TEXT_INSN_CALL]	= CALL_INSN_OPCODE,
	[TEXT_INSN_JMP]		= JMP32_INSN_OPCODE,
};

/* What a site at @addr holds when it goes to @target, or nowhere if that is 0 */
static void site_insn(u8 *insn, const struct text_site_kind *kind, unsigned long addr,
		      unsigned long target)
{
	if (target)
		__text_gen_insn(insn, opcodes[kind->insn], (void *)addr, (void *)target,
				TEXT_SITE_SIZE);
	else
		memcpy(insn, site_nop->bytes, TEXT_SITE_SIZE);
}

/*
 * Text that nobody patches meanwhile, in the only mapping it has so far.
 *
 * One store for the whole instruction where possible: an NMI that comes in
 * between runs the old or the new one. The three bytes behind it are written
 * back as they were. At the end of a page there may be nothing behind it.
 */
static __always_inline void convert_site(unsigned long addr, u64 nop)
{
	const u64 mask = GENMASK_ULL(8 * TEXT_SITE_SIZE - 1, 0);

	if (unlikely(offset_in_page(addr) > PAGE_SIZE - sizeof(u64)))
		memcpy((void *)addr, site_nop->bytes, TEXT_SITE_SIZE);
	else
		put_unaligned((get_unaligned((u64 *)addr) & ~mask) | nop, (u64 *)addr);
}

static unsigned long destination(unsigned long addr)
{
	return addr + TEXT_SITE_SIZE + get_unaligned((s32 *)(addr + 1));
}

static bool holds_insn(u8 opcode, unsigned long addr, unsigned long target)
{
	return *(u8 *)addr == opcode && destination(addr) == target;
}

static bool holds_nop(unsigned long addr)
{
	return *(u8 *)addr == site_nop->bytes[0] &&
	       get_unaligned((u32 *)(addr + 1)) == get_unaligned((u32 *)(site_nop->bytes + 1));
}

/**
 * arch_text_site_convert - turn the sites of a table into NOPs
 * @table: initialised, not yet added
 *
 * A site that does not go to its kind's @original is left as it is and dead.
 *
 * Context: the text is writable and nobody runs it, but for the kernel's own
 * at boot, where there is one CPU with interrupts off.
 *
 * Return: what became of the sites.
 */
struct text_site_report arch_text_site_convert(struct text_site_table *table)
{
	const unsigned long original = table->kind->original;
	const u8 opcode = opcodes[table->kind->insn];
	struct text_site_report report = {};
	struct text_site *site;
	u64 nop = 0;

	memcpy(&nop, site_nop->bytes, TEXT_SITE_SIZE);

	for_each_text_site(site, table) {
		unsigned long addr = text_site_addr(site);

		if (likely(holds_insn(opcode, addr, original))) {
			convert_site(addr, nop);
			continue;
		}
		if (!report.left++)
			pr_warn("text_site: %pS: %*ph does not go to %pS, left alone\n",
				(void *)addr, TEXT_SITE_SIZE, (void *)addr, (void *)original);
		site->state |= TEXT_SITE_DEAD;
	}
	report.converted = table->nr - report.left;

	sync_core();
	return report;
}

static noinline int not_verified(const struct text_site_kind *kind, unsigned long addr,
				 unsigned long target)
{
	u8 insn[TEXT_SITE_SIZE];

	site_insn(insn, kind, addr, target);
	pr_err("text_site: %pS: holds %*ph, should hold %*ph; nothing is changed\n",
	       (void *)addr, TEXT_SITE_SIZE, (void *)addr, TEXT_SITE_SIZE, insn);
	return -EINVAL;
}

/**
 * arch_text_site_verify - is a site's text what it should be?
 * @kind: of which kind
 * @site: which
 * @target: address it should go to, 0 if it should be a NOP
 *
 * Context: under text_mutex.
 *
 * Return: 0, or -EINVAL with a message.
 */
int arch_text_site_verify(const struct text_site_kind *kind, const struct text_site *site,
			  unsigned long target)
{
	unsigned long addr = text_site_addr(site);

	if (likely(target ? holds_insn(opcodes[kind->insn], addr, target) : holds_nop(addr)))
		return 0;
	return not_verified(kind, addr, target);
}

/**
 * arch_text_site_set_early - change a site while nobody else can run it
 * @kind: of which kind
 * @addr: the site's
 * @target: address it is to go to, 0: it is to be a NOP
 *
 * Context: boot, with one CPU and the text writable.
 */
void __ref arch_text_site_set_early(const struct text_site_kind *kind, unsigned long addr,
				    unsigned long target)
{
	u8 insn[TEXT_SITE_SIZE];

	site_insn(insn, kind, addr, target);
	text_poke_early((void *)addr, insn, sizeof(insn));
}

/**
 * arch_text_site_get - where a site goes, by its text
 * @kind: of which kind
 * @addr: the site's, in no batch
 *
 * Return: an address, 0 if that is not an instruction of this kind.
 */
unsigned long arch_text_site_get(const struct text_site_kind *kind, unsigned long addr)
{
	return *(u8 *)addr == opcodes[kind->insn] ? destination(addr) : 0;
}

/**
 * struct patch_target - what a site holds: mostly the same as the one before it
 * @id: the target's
 * @now: the target
 * @next: the one that it is replaced by
 * @head: the first byte of a site that holds it
 */
struct patch_target {
	u32				id;
	u8				head;
	const struct text_target	*now, *next;
};

static __always_inline void patch_target(struct patch_target *target,
					 const struct text_site_kind *kind, u32 state)
{
	if (likely((state & TEXT_SITE_TARGET) == target->id))
		return;

	target->id = state & TEXT_SITE_TARGET;
	target->now = text_target(kind, target->id);
	target->next = text_target(kind, target->now->next);
	target->head = target->now->addr ? opcodes[kind->insn] : site_nop->bytes[0];
}

/* One site, to be written at @at. @pass is known when this is compiled. */
static __always_inline void patch_site(struct text_site *site, u8 *at, struct patch_target *target,
				       const struct text_site_kind *kind, enum patch_pass pass)
{
	const u32 state = site->state;

	switch (pass) {
	case PASS_BREAK:
		WRITE_ONCE(*at, INT3_INSN_OPCODE);
		break;

	case PASS_TAIL:
		patch_target(target, kind, state);
		/*
		 * From here on the breakpoint handler does what is to be, instead
		 * of what was. Both are right. The target's address and code have
		 * been visible to every CPU since the sync before this pass at
		 * the latest.
		 */
		WRITE_ONCE(site->state, (state & ~TEXT_SITE_TARGET) | target->now->next |
					target->next->mark);
		if (target->next->addr)
			put_unaligned((s32)(target->next->addr - text_site_addr(site) -
					    TEXT_SITE_SIZE), (s32 *)(at + 1));
		else
			memcpy(at + 1, site_nop->bytes + 1, TEXT_SITE_SIZE - 1);
		break;

	case PASS_HEAD:
		patch_target(target, kind, state);
		WRITE_ONCE(*at, target->head);
		/*
		 * After the head, which x86 does not reorder: who sees the site
		 * not pending sees no breakpoint of ours.
		 */
		barrier();
		WRITE_ONCE(site->state, state & ~TEXT_SITE_PENDING);
		break;
	}
}

static struct text_site *next_pending(struct text_site *site,
				      const struct text_site *end)
{
	while (site < end && !(site->state & TEXT_SITE_PENDING))
		site++;
	return site;
}

/* How many sites are written at once: bounds the time for which interrupts are off. */
#define RUN_MAX	512

/**
 * struct patch_run - pending sites that are written at once
 * @window: where
 * @nr: how many
 * @todo: which, ascending, and where to write each
 */
struct patch_run {
	struct text_window	window;
	unsigned int		nr;
	struct {
		struct text_site	*site;
		u8			*at;
	} todo[RUN_MAX];
};

/* The sites that get into a run, from @site on. Return: the first that does not. */
static struct text_site *run_fill(struct patch_run *run, struct text_site *site,
				  struct text_site *end, bool is_inline)
{
	unsigned int nr = 0;

	text_window_begin(&run->window);
	while (nr < RUN_MAX && site < end) {
		u8 *at = text_window_add(&run->window, text_site_addr(site),
					 is_inline ? arch_inline_site_size(site) :
						     TEXT_SITE_SIZE);

		if (!at)
			break;
		run->todo[nr].site = site;
		run->todo[nr++].at = at;
		site = next_pending(site + 1, end);
	}
	run->nr = nr;
	return site;
}

static void run_write_inline(struct patch_run *run, const struct text_site_table *table,
			     enum patch_pass pass)
{
	unsigned int i;

	text_window_open(&run->window);
	for (i = 0; i < run->nr; i++)
		inline_site_write(run->todo[i].site, inline_site_value(table, run->todo[i].site),
				  run->todo[i].at, pass);
	text_window_close(&run->window);
}

static __always_inline void run_write(struct patch_run *run, const struct text_site_kind *kind,
				      enum patch_pass pass)
{
	struct patch_target target = { .id = ~0 };
	unsigned int i;

	text_window_open(&run->window);
	for (i = 0; i < run->nr; i++)
		patch_site(run->todo[i].site, run->todo[i].at, &target, kind, pass);
	text_window_close(&run->window);
}

static void patch_table(struct text_site_table *table, enum patch_pass pass)
{
	struct text_site *end = table->sites + table->last;
	struct text_site *site = next_pending(table->sites + table->first, end);
	const bool is_inline = table->kind->insn == TEXT_INSN_INLINE;
	static struct patch_run run;	/* under text_mutex */

	while (site < end) {
		site = run_fill(&run, site, end, is_inline);
		if (is_inline) {
			run_write_inline(&run, table, pass);
			cond_resched();
			continue;
		}
		switch (pass) {
		case PASS_BREAK:
			run_write(&run, table->kind, PASS_BREAK);
			break;
		case PASS_TAIL:
			run_write(&run, table->kind, PASS_TAIL);
			break;
		case PASS_HEAD:
			run_write(&run, table->kind, PASS_HEAD);
			break;
		}
		cond_resched();
	}
}

/* What a pending site holds, and what it is to hold. Return: how many bytes. */
static unsigned int pending_insns(const struct text_site_table *table,
				  const struct text_site *site, u8 *old, u8 *new)
{
	const struct text_site_kind *kind = table->kind;
	const unsigned long addr = text_site_addr(site);
	const struct text_target *target;

	if (kind->insn == TEXT_INSN_INLINE) {
		const void *value = inline_site_value(table, site);
		unsigned int size = inline_site_insn(old, site, site->state, value);

		/* The value that it has in it is known from there only. */
		memcpy(old + 1, (void *)(addr + 1), size - 1);
		return inline_site_insn(new, site, inline_site_next(site->state), value);
	}
	target = text_target(kind, text_site_target_id(site));
	site_insn(old, kind, addr, target->addr);
	target = text_target(kind, target->next);
	site_insn(new, kind, addr, target->addr);
	return TEXT_SITE_SIZE;
}

/*
 * Tell perf what is about to change. Who decodes a trace of branches takes the
 * change to be at the moment of the record: that is between the breakpoints and
 * the new heads, where a site is neither.
 */
static void report_pending(struct text_site_kind *kind)
{
	u8 old[INLINE_SITE_MAX], new[INLINE_SITE_MAX];
	struct text_site_table *table;
	struct text_site *site, *end;
	unsigned int size;

	if (!atomic_read(&nr_text_poke_events))
		return;

	for_each_text_site_table_of(kind, table) {
		end = table->sites + table->last;
		for (site = next_pending(table->sites + table->first, end); site < end;
		     site = next_pending(site + 1, end)) {
			size = pending_insns(table, site, old, new);
			perf_event_text_poke((void *)text_site_addr(site), old, size, new, size);
			cond_resched();
		}
	}
}

/**
 * arch_text_site_patch - switch the pending sites of a kind
 * @kind: which; all its pending sites have been verified
 *
 * Context: process context, under text_mutex. Interrupts are off for RUN_MAX sites
 * at a time.
 */
void arch_text_site_patch(struct text_site_kind *kind)
{
	struct text_site_table *table;
	enum patch_pass pass;

	lockdep_assert_held(&text_mutex);

	for (pass = PASS_BREAK; pass <= PASS_HEAD; pass++) {
		if (pass == PASS_TAIL)
			report_pending(kind);
		for_each_text_site_table_of(kind, table) {
			if (table->nr_pending)
				patch_table(table, pass);
		}
		arch_text_site_sync();
	}
}

/**
 * arch_text_site_sync - make every CPU serialise
 *
 * Context: process context, interrupts on.
 */
void arch_text_site_sync(void)
{
	text_poke_sync();
}
