// SPDX-License-Identifier: GPL-2.0
/*
 * Text site tables: which sites there are.
 *
 * The tables of a kind stand in a list, which changes under the lock of the kind's
 * owner. It is read without a lock as well:
 *
 *   table_add()                      a reader
 *     fill in table                    t = READ_ONCE(kind->tables or next)
 *     smp_store_release(tables/next)   ... t->fields: ordered by the address
 *                                      dependency on t
 *
 *   table_remove()
 *     WRITE_ONCE(*prev, table->next), and its areas leave the tree, see find.c
 *     synchronize_rcu()              readers in process context are gone
 *     arch_text_site_sync()          the breakpoint handler, which looks at areas,
 *                                    has left this one: it runs with interrupts off,
 *                                    so a CPU that took the IPI is not in it
 */
#define pr_fmt(fmt) "text_site: " fmt

#include <linux/bsearch.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sort.h>
#include <linux/text_site.h>

#include <asm/sections.h>

/**
 * text_site_table_kill - text goes: its sites are not to be touched any more
 * @table: which
 * @start: address of the first byte
 * @end: address of the first byte after the last
 *
 * Context: under the lock of the kind's owner; nobody runs that text any more.
 */
void text_site_table_kill(struct text_site_table *table, unsigned long start,
			  unsigned long end)
{
	struct text_site *site;

	for_each_text_site(site, table) {
		const unsigned long addr = text_site_addr(site);

		/* Read by the breakpoint handler */
		if (addr >= start && addr < end)
			WRITE_ONCE(site->state, site->state | TEXT_SITE_DEAD);
	}
}

static int site_cmp(const void *a, const void *b, const void *table)
{
	unsigned long x = text_site_addr(a), y = text_site_addr(b);

	return x < y ? -1 : x > y;
}

/* References are relative to their own place, so a move changes them. */
static void reference_swap(s32 *x, s32 *y)
{
	s32 distance = (unsigned long)y - (unsigned long)x, was = *x;

	*x = *y + distance;
	*y = was - distance;
}

static void site_swap(void *a, void *b, int size, const void *in)
{
	const struct text_site_table *table = in;
	struct text_site *x = a, *y = b;

	reference_swap(&x->offset, &y->offset);
	swap(x->state, y->state);
	if (table->refs)
		reference_swap(&table->refs[x - table->sites], &table->refs[y - table->sites]);
}

/* The text of the kernel or of a module: that which stays, or that for initialisation */
static struct text_range text_of(const struct text_site_table *table, bool init)
{
#ifdef CONFIG_MODULES
	if (table->mod) {
		const struct module_memory *mem = &table->mod->mem[init ? MOD_INIT_TEXT : MOD_TEXT];
		const unsigned long start = (unsigned long)mem->base;

		return (struct text_range){ start, start + mem->size };
	}
#endif
	if (!init)
		return (struct text_range){ (unsigned long)_stext, (unsigned long)_etext };
	/* .exit.text is freed with it. */
	return (struct text_range){ (unsigned long)__init_begin, (unsigned long)__init_end };
}

/**
 * text_site_text - the text of a table's kernel or module that an address is in
 * @table: which; need not be initialised
 * @addr: any address
 * @range: gets the text: that which stays, or that for initialisation
 *
 * Return: false if it is in none.
 */
bool text_site_text(const struct text_site_table *table, unsigned long addr,
		    struct text_range *range)
{
	for (int init = 0; init < 2; init++) {
		*range = text_of(table, init);
		if (addr >= range->start && addr < range->end)
			return true;
	}
	return false;
}

static int refused(const struct text_site_table *table, unsigned int i, const char *why)
{
	pr_err("%s: entry %u of the %s table refers to %pS, %s\n", module_name(table->mod), i,
	       table->kind->name, (void *)text_site_addr(&table->sites[i]), why);
	return -EINVAL;
}

/* Do a module's sites hold what they were compiled to? The kernel's are looked at later. */
static int check_text(const struct text_site_table *table)
{
	const struct text_site_kind *kind = table->kind;

	for (unsigned int i = 0; table->mod && kind->original && i < table->nr; i++) {
		if (arch_text_site_get(kind, text_site_addr(&table->sites[i])) != kind->original)
			return refused(table, i, "which does not go where it should");
	}
	return 0;
}

/* Is a site of the least size within the range? Written so that no sum can wrap. */
static bool fits(const struct text_range *range, unsigned long addr)
{
	return addr >= range->start && addr < range->end && range->end - addr >= TEXT_SITE_SIZE;
}

/* Is every site in text? @sorted: are they in order, and far enough apart? */
static int check_addresses(const struct text_site_table *table, bool *sorted)
{
	struct text_range range = {};
	unsigned long addr, next = 0;
	unsigned int i;

	*sorted = true;
	for (i = 0; i < table->nr; i++, next = addr + TEXT_SITE_SIZE) {
		addr = text_site_addr(&table->sites[i]);
		if (unlikely(!fits(&range, addr)) &&
		    (!text_site_text(table, addr, &range) || !fits(&range, addr)))
			return refused(table, i, "which is not in its text");
		if (addr < next)
			*sorted = false;
	}
	return 0;
}

static unsigned long end_of(const struct text_site_table *table, unsigned int i)
{
	const struct text_site *site = &table->sites[i];

	return text_site_addr(site) + text_site_size(table->kind, site);
}

/**
 * text_site_table_init - check and sort a table
 * @table: with its kind, mod, sites, nr, and refs if there are any. The kernel's function
 *	entries end before records without reference, which the build leaves where it has
 *	dropped weak functions
 *
 * Context: process context, or early boot; before the table is added.
 *
 * Return: 0; or an error with a message, and no text has been touched: -EINVAL if a
 * record refers to anything outside the text of the kernel or of the module, or to where
 * another one does, or if a module's text is not that of the kind's @original, as nothing
 * in such a table can be trusted; or what the kind's @take returns.
 */
int text_site_table_init(struct text_site_table *table)
{
	const bool may_end_early = !table->mod && table->kind->section == TEXT_SECTION_ENTRIES;
	unsigned int i;
	bool sorted;
	int ret;

	while (may_end_early && table->nr && !table->sites[table->nr - 1].offset)
		table->nr--;

	ret = check_addresses(table, &sorted) ?: check_text(table);
	if (!ret && table->kind->take)
		ret = table->kind->take(table);
	if (ret)
		return ret;

	if (!sorted)
		sort_r(table->sites, table->nr, sizeof(*table->sites), site_cmp, site_swap, table);
	/* Those of the least size are far enough apart if they were sorted. */
	for (i = 1; (!sorted || table->kind->insn->size) && i < table->nr; i++) {
		if (end_of(table, i - 1) > text_site_addr(&table->sites[i]))
			return refused(table, i, "where another does");
	}

	table->start = table->nr ? text_site_addr(&table->sites[0]) : 0;
	table->end = table->nr ? end_of(table, table->nr - 1) : 0;
	table->first = table->nr;
	table->last = 0;
	return 0;
}

struct overlap {
	const struct text_site_kind	*kind;
	struct text_range		text;
};

/* Where a site is from some text: before it, in it, behind it */
static int text_cmp(const void *key, const void *site)
{
	const struct overlap *overlap = key;
	const unsigned long addr = text_site_addr(site);

	if (addr >= overlap->text.end)
		return -1;
	return addr + text_site_size(overlap->kind, site) <= overlap->text.start;
}

/**
 * text_site_table_overlaps - does any of some text belong to a site?
 * @table: initialised
 * @start: address of the first byte
 * @end: address of the first byte after the last
 * @why: it may not, for the message
 *
 * Return: if so true, with a message.
 */
bool text_site_table_overlaps(const struct text_site_table *table, unsigned long start,
			      unsigned long end, const char *why)
{
	const struct overlap key = { table->kind, { start, end } };
	const struct text_site *site = bsearch(&key, table->sites, table->nr, sizeof(*site),
					       text_cmp);

	return site && refused(table, site - table->sites, why);
}

/**
 * text_site_table_add - make a table's sites known
 * @table: after text_site_table_init()
 *
 * Context: under the lock of the kind's owner.
 */
void text_site_table_add(struct text_site_table *table)
{
	struct text_site_table **p = &table->kind->tables;

	lockdep_assert_held(table->kind->lock);

	while (*p)
		p = &(*p)->next;
	text_areas_add(table);
	table->known = true;
	table->next = NULL;
	/* Pairs with the address dependency of the readers, see above. */
	smp_store_release(p, table);
}

/**
 * text_site_table_remove - forget a table, whose text is about to go
 * @table: after text_site_table_add()
 *
 * When this returns, nobody is looking at the table or its sites.
 *
 * Context: process context, sleeps. Under the lock of the kind's owner.
 */
void text_site_table_remove(struct text_site_table *table)
{
	struct text_site_table **p = &table->kind->tables;

	lockdep_assert_held(table->kind->lock);

	while (*p != table)
		p = &(*p)->next;
	WRITE_ONCE(*p, table->next);
	table->known = false;
	text_areas_forget(table, 0, ULONG_MAX);

	synchronize_rcu();
	arch_text_site_sync();
	text_areas_free(table);
}
