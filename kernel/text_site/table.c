// SPDX-License-Identifier: GPL-2.0
/*
 * Text site tables: which sites there are, and finding one by its address.
 *
 * The tables of a kind stand in a list, which changes under the lock of the kind's
 * owner. It is read without a lock as well, by the breakpoint handler for one:
 *
 *   table_add()                      a reader
 *     fill in table                    t = READ_ONCE(kind->tables or next)
 *     smp_store_release(tables/next)   ... t->fields: ordered by the address
 *                                      dependency on t
 *
 *   table_remove()
 *     WRITE_ONCE(*prev, table->next)
 *     synchronize_rcu()              readers in process context are gone
 *     arch_text_site_sync()          readers in the breakpoint handler are gone:
 *                                    it runs with interrupts off, so a CPU that
 *                                    took the IPI has left it
 */
#define pr_fmt(fmt) "text_site: " fmt

#include <linux/bsearch.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/text_site.h>

#include <asm/sections.h>

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
	const struct text_site_kind *each = kind ?: READ_ONCE(text_site_kinds);
	struct text_site_table *table;
	struct text_site *site;

	for (; each; each = kind ? NULL : READ_ONCE(each->next)) {
		for_each_text_site_table_of(each, table) {
			site = find_in(table, start, end);
			if (!site)
				continue;
			if (in)
				*in = table;
			return site;
		}
	}
	return NULL;
}

static bool table_reserves(const struct text_site_table *table, unsigned long start,
			   unsigned long end)
{
	const struct text_site *site;

	if (end < table->start || start >= table->end)
		return false;

	/* Longer ones than the search looks for may begin this much before it. */
	site = first_above(table, start - (TEXT_SITE_MAX - TEXT_SITE_SIZE));
	for (; site < table->sites + table->nr && text_site_addr(site) <= end; site++) {
		if (text_site_addr(site) + text_site_size(table->kind, site) > start &&
		    !(READ_ONCE(site->state) & TEXT_SITE_DEAD))
			return true;
	}
	return false;
}

/**
 * text_sites_reserved - is text that somebody wants to change a site's?
 * @start: first byte
 * @end: last byte, inclusive
 *
 * For function entries this is not the place to ask: see ftrace_text_reserved().
 *
 * Context: any.
 *
 * Return: whether it is.
 */
bool text_sites_reserved(const void *start, const void *end)
{
	struct text_site_table *table;
	struct text_site_kind *kind;

	/* Keeps the tables: text_site_table_remove() waits. */
	guard(rcu)();

	for_each_text_site_kind(kind) {
		if (!kind->reserved)
			continue;
		for_each_text_site_table_of(kind, table) {
			if (table_reserves(table, (unsigned long)start, (unsigned long)end))
				return true;
		}
	}
	return false;
}

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

/* Is every site in text? @sorted: are they in order, and far enough apart? */
static int check_addresses(const struct text_site_table *table, bool *sorted)
{
	struct text_range range = {};
	unsigned long addr, next = 0;
	unsigned int i;

	*sorted = true;
	for (i = 0; i < table->nr; i++, next = addr + TEXT_SITE_SIZE) {
		addr = text_site_addr(&table->sites[i]);
		if (unlikely(addr < range.start || addr + TEXT_SITE_SIZE > range.end) &&
		    (!text_site_text(table, addr, &range) || addr + TEXT_SITE_SIZE > range.end))
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

	synchronize_rcu();
	arch_text_site_sync();
}
