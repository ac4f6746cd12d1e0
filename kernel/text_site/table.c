// SPDX-License-Identifier: GPL-2.0
/*
 * Text site tables: which sites there are, and finding one by its address.
 *
 * All tables stand in one list. It changes under text_mutex; it is read without
 * a lock, by the breakpoint handler among others:
 *
 *   table_add()                      a reader
 *     fill in table                    t = READ_ONCE(list or next)
 *     smp_store_release(next/list)     ... t->fields: ordered by the address
 *                                      dependency on t
 *
 *   table_remove()
 *     WRITE_ONCE(*prev, table->next)
 *     synchronize_rcu()              readers in process context are gone
 *     arch_text_site_sync()          readers in the breakpoint handler are gone:
 *                                    it runs with interrupts off, so a CPU that
 *                                    took the IPI has left it
 */
#include <linux/bsearch.h>
#include <linux/kernel.h>
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/text_site.h>

#include <asm/sections.h>

struct text_site_table *text_site_tables;

struct text_range {
	unsigned long start, end;
};

/* Compares a range of addresses with the bytes of a site. */
static __always_inline int range_cmp_site(const void *key, const void *elt)
{
	const struct text_range *range = key;
	unsigned long addr = text_site_addr(elt);

	if (range->end < addr)
		return -1;
	if (range->start >= addr + TEXT_SITE_SIZE)
		return 1;
	return 0;
}

static __always_inline struct text_site *
first_live(const struct text_site_table *table, const struct text_range *range)
{
	struct text_site *end = table->sites + table->nr, *site;

	site = __inline_bsearch(range, table->sites, table->nr, sizeof(*site),
				range_cmp_site);
	if (!site)
		return NULL;

	while (site > table->sites && !range_cmp_site(range, site - 1))
		site--;
	for (; site < end && !range_cmp_site(range, site); site++) {
		if (!(READ_ONCE(site->state) & TEXT_SITE_DEAD))
			return site;
	}
	return NULL;
}

/**
 * text_site_find - the site whose bytes overlap a range of addresses
 * @start: first address
 * @end: last address, inclusive
 * @in: if not NULL, gets the table the site is in
 *
 * Context: any, with a site's table kept from going away: in an RCU read-side
 * section, or under the lock of the kind's owner, or with interrupts off.
 *
 * Return: a live site, the lowest there is in the range, or NULL.
 */
noinstr struct text_site *text_site_find(unsigned long start, unsigned long end,
					 struct text_site_table **in)
{
	struct text_range range = { start, end };
	struct text_site_table *table;
	struct text_site *site;

	for_each_text_site_table(table) {
		if (end < table->start || start >= table->end)
			continue;

		/*
		 * Only dead ones here: their text may have been freed, and be
		 * another table's by now.
		 */
		site = first_live(table, &range);
		if (!site)
			continue;
		if (in)
			*in = table;
		return site;
	}
	return NULL;
}

static int site_cmp(const void *a, const void *b)
{
	unsigned long x = text_site_addr(a), y = text_site_addr(b);

	return x < y ? -1 : x > y;
}

/* References are relative to their own place, so a move changes them. */
static void site_swap(void *a, void *b, int size)
{
	struct text_site *x = a, *y = b, was = *x;
	s32 distance = (unsigned long)y - (unsigned long)x;

	x->offset = y->offset + distance;
	x->state = y->state;
	y->offset = was.offset - distance;
	y->state = was.state;
}

static bool site_in_text(const struct text_site_table *table, unsigned long addr)
{
	if (!table->mod)
		/* .exit.text is in neither text range, but goes with init */
		return core_kernel_text(addr) || init_section_contains((void *)addr, 1);

	return within_module_mem_type(addr, table->mod, MOD_TEXT) ||
	       within_module_mem_type(addr, table->mod, MOD_INIT_TEXT);
}

/**
 * text_site_table_init - check and sort a table
 * @table: with its kind and mod filled in
 * @sites: the records, at the place where they stay
 * @nr: how many. The table ends before this at a record without reference:
 *	the build leaves those where it dropped sites.
 *
 * Context: before the table is added. Does not sleep.
 *
 * Return: 0, or -EINVAL with a message if a record refers to anything outside
 * the text of the kernel or of the module: nothing in such a table can be
 * trusted, and no text has been touched.
 */
int text_site_table_init(struct text_site_table *table, struct text_site *sites,
			 unsigned int nr)
{
	const char *who = table->mod ? table->mod->name : "kernel";
	bool sorted = true;
	unsigned int i;

	while (nr && !sites[nr - 1].offset)
		nr--;

	for (i = 0; i < nr; i++) {
		unsigned long addr = text_site_addr(&sites[i]);

		if (!site_in_text(table, addr) ||
		    !site_in_text(table, addr + TEXT_SITE_SIZE - 1)) {
			pr_err("text_site: %s: entry %u of the %s table refers to %pS, which is not in its text\n",
			       who, i, table->kind->name, (void *)addr);
			return -EINVAL;
		}
		if (i && site_cmp(&sites[i - 1], &sites[i]) >= 0)
			sorted = false;
	}

	if (!sorted)
		sort(sites, nr, sizeof(*sites), site_cmp, site_swap);

	table->sites = sites;
	table->nr = nr;
	table->start = nr ? text_site_addr(&sites[0]) : 0;
	table->end = nr ? text_site_addr(&sites[nr - 1]) + TEXT_SITE_SIZE : 0;
	table->first = nr;
	table->last = 0;
	return 0;
}

/**
 * text_site_table_add - make a table's sites known
 * @table: after text_site_table_init() and arch_text_site_convert()
 *
 * Context: process context, takes text_mutex. The owner of the kind serialises
 * this with its batches.
 */
void text_site_table_add(struct text_site_table *table)
{
	struct text_site_table **p = &text_site_tables;

	mutex_lock(&text_mutex);
	while (*p)
		p = &(*p)->next;
	table->next = NULL;
	/* Pairs with the address dependency of the readers, see above. */
	smp_store_release(p, table);
	mutex_unlock(&text_mutex);
}

/**
 * text_site_table_remove - forget a table, whose text is about to go
 * @table: after text_site_table_add()
 *
 * When this returns, nobody is looking at the table or its sites.
 *
 * Context: process context, sleeps, takes text_mutex. The owner of the kind
 * serialises this with its batches.
 */
void text_site_table_remove(struct text_site_table *table)
{
	struct text_site_table **p = &text_site_tables;

	mutex_lock(&text_mutex);
	while (*p != table)
		p = &(*p)->next;
	WRITE_ONCE(*p, table->next);
	mutex_unlock(&text_mutex);

	synchronize_rcu();
	arch_text_site_sync();
}
