// SPDX-License-Identifier: GPL-2.0
/*
 * Text site tables: which sites there are, and finding one by its address.
 *
 * All tables stand in one list, and those of each kind in another. Both change
 * under text_mutex and the lock of the kind's owner, so that the owner finds his
 * tables as they are. They are read without a lock as well, the first by the
 * breakpoint handler:
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

/*
 * The first site of a table that ends above an address. A breakpoint is mostly a
 * search: so this is as little as it takes.
 */
static __always_inline struct text_site *first_above(const struct text_site_table *table,
						     unsigned long addr)
{
	struct text_site *site = table->sites;
	unsigned int nr = table->nr;

	/* It is one of the @nr sites from @site on, or the one behind them. */
	while (nr) {
		const unsigned int half = nr / 2;

		if (text_site_addr(site + half) + TEXT_SITE_SIZE <= addr) {
			site += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return site;
}

static __always_inline struct text_site *
find_in(const struct text_site_table *table, unsigned long start, unsigned long end)
{
	struct text_site *site;

	if (end < table->start || start >= table->end)
		return NULL;

	site = first_above(table, start);
	for (; site < table->sites + table->nr && text_site_addr(site) <= end; site++) {
		if (!(READ_ONCE(site->state) & TEXT_SITE_DEAD))
			return site;
	}
	/*
	 * Only dead ones here: their text may have been freed, and be another
	 * table's by now.
	 */
	return NULL;
}

/**
 * text_site_find - the site whose bytes overlap a range of addresses
 * @kind: of which kind, NULL for any
 * @start: first address
 * @end: last address, inclusive
 * @in: if not NULL, gets the table the site is in
 *
 * Context: any, with a site's table kept from going away: in an RCU read-side
 * section, or under the lock of @kind's owner, or with interrupts off.
 *
 * Return: a live site, the lowest there is in the range, or NULL.
 */
noinstr struct text_site *text_site_find(const struct text_site_kind *kind, unsigned long start,
					 unsigned long end, struct text_site_table **in)
{
	struct text_site_table *table = READ_ONCE(*(kind ? &kind->tables : &text_site_tables));
	struct text_site *site = NULL;

	while (table) {
		site = find_in(table, start, end);
		if (site)
			break;
		table = READ_ONCE(*(kind ? &table->next_of_kind : &table->next));
	}
	if (in)
		*in = table;
	return site;
}

/**
 * text_site_table_of_module - the table of a module
 * @kind: of which kind
 * @mod: the module, NULL for the kernel
 *
 * Context: as text_site_find().
 *
 * Return: the table, or NULL if the module has none of this kind.
 */
struct text_site_table *text_site_table_of_module(const struct text_site_kind *kind,
						  const struct module *mod)
{
	struct text_site_table *table;

	for_each_text_site_table_of(kind, table) {
		if (table->mod == mod)
			return table;
	}
	return NULL;
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
	if (table->values)
		reference_swap(&table->values[x - table->sites], &table->values[y - table->sites]);
}

#ifdef CONFIG_MODULES
/* A module's text, or that for its initialisation; there may be none. */
static struct text_range module_text(const struct module *mod, bool init)
{
	const struct module_memory *mem = &mod->mem[init ? MOD_INIT_TEXT : MOD_TEXT];
	const unsigned long start = (unsigned long)mem->base;

	if (!mem->size)
		return (struct text_range){ 1, 0 };
	return (struct text_range){ start, start + mem->size - 1 };
}
#else
static struct text_range module_text(const struct module *mod, bool init)
{
	return (struct text_range){ 1, 0 };
}
#endif

/* The text that an address is in: @range gets its first address and its last */
static bool text_around(const struct text_site_table *table, unsigned long addr,
			struct text_range *range)
{
	const struct text_range kernel[] = {
		{ (unsigned long)_stext, (unsigned long)_etext - 1 },
		/* .exit.text is in no range of text, but goes with init */
		{ (unsigned long)__init_begin, (unsigned long)__init_end - 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kernel); i++) {
		*range = table->mod ? module_text(table->mod, i) : kernel[i];
		if (addr >= range->start && addr <= range->end)
			return true;
	}
	return false;
}

/**
 * text_site_table_init - check and sort a table
 * @table: with its kind and mod filled in, and values if there are any
 * @sites: the records, at the place where they stay
 * @nr: how many. The table ends before this at a record without reference:
 *	the build leaves those where it dropped sites.
 *
 * Context: before the table is added. Does not sleep.
 *
 * Return: 0, or -EINVAL with a message if a record refers to anything outside
 * the text of the kernel or of the module: nothing in such a table can be
 * trusted, and no text has been touched. Or what the kind's @take returns.
 */
int text_site_table_init(struct text_site_table *table, struct text_site *sites,
			 unsigned int nr)
{
	struct text_range range = { 1, 0 };
	unsigned long addr, last = 0;
	bool sorted = true;
	unsigned int i;
	int ret;

	while (nr && !sites[nr - 1].offset)
		nr--;

	for (i = 0; i < nr; i++, last = addr) {
		addr = text_site_addr(&sites[i]);
		if (unlikely(addr < range.start || addr + TEXT_SITE_SIZE - 1 > range.end) &&
		    (!text_around(table, addr, &range) ||
		     addr + TEXT_SITE_SIZE - 1 > range.end)) {
			pr_err("text_site: %s: entry %u of the %s table refers to %pS, which is not in its text\n",
			       module_name(table->mod), i, table->kind->name, (void *)addr);
			return -EINVAL;
		}
		if (addr <= last)
			sorted = false;
	}

	table->sites = sites;
	for (i = 0; table->kind->take && i < nr; i++) {
		ret = table->kind->take(table, i);
		if (ret)
			return ret;
	}
	if (!sorted)
		sort_r(sites, nr, sizeof(*sites), site_cmp, site_swap, table);

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
 * Context: process context, takes text_mutex. Under the lock of the kind's owner.
 */
void text_site_table_add(struct text_site_table *table)
{
	struct text_site_table **p = &text_site_tables, **of_kind = &table->kind->tables;

	mutex_lock(&text_mutex);
	while (*p)
		p = &(*p)->next;
	while (*of_kind)
		of_kind = &(*of_kind)->next_of_kind;
	table->next = NULL;
	table->next_of_kind = NULL;
	/* Pairs with the address dependency of the readers, see above. */
	smp_store_release(p, table);
	/* The same */
	smp_store_release(of_kind, table);
	mutex_unlock(&text_mutex);
}

/**
 * text_site_table_remove - forget a table, whose text is about to go
 * @table: after text_site_table_add()
 *
 * When this returns, nobody is looking at the table or its sites.
 *
 * Context: process context, sleeps, takes text_mutex. Under the lock of the kind's
 * owner.
 */
void text_site_table_remove(struct text_site_table *table)
{
	struct text_site_table **p = &text_site_tables, **of_kind = &table->kind->tables;

	mutex_lock(&text_mutex);
	while (*p != table)
		p = &(*p)->next;
	while (*of_kind != table)
		of_kind = &(*of_kind)->next_of_kind;
	WRITE_ONCE(*p, table->next);
	WRITE_ONCE(*of_kind, table->next_of_kind);
	mutex_unlock(&text_mutex);

	synchronize_rcu();
	arch_text_site_sync();
}
