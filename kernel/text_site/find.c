// SPDX-License-Identifier: GPL-2.0
/*
 * Finding a text site by its address.
 *
 * The text of a module is in two pieces, one of which is freed after initialisation, and
 * other modules are anywhere between them. So what is looked up is not a table but an
 * area: the sites of a table in one piece of text. Areas of a kind do not overlap. They
 * are in a latched tree, which can be searched in any context, even in an NMI that has
 * interrupted who changes it. That takes the logarithm of the number of modules.
 *
 * In the area, a site is found by an index once sites of the table have been changed: it
 * has the number of the first site in each TEXT_GRANULE_SHIFT of text, and few are left to
 * be looked at from there on. Before that, it is found by binary search.
 *
 * The entry code of the breakpoint has no time for the tree. It knows the area of the
 * kernel's text; to others that have an index it is led by a map, from the number of the
 * address's page:
 *
 *   kind->map[TEXT_MAP_SIZE] -> leaf[1 << TEXT_LEAF_SHIFT] -> area
 *
 * There is no end of the map and no hole in it: an address anywhere leads to some area, if
 * to none of the kind then to no_area, in which there is nothing. So what is looked up is
 * masked, not compared, and a CPU that speculates about an address that is no site's reads
 * only the map and such areas. Whoever is led to an area has to ask it whether it has the
 * address. On machines with more text than the map has pages, addresses share an entry:
 * the area that comes first has it, others are only in the tree.
 *
 * A tree and a map change under the lock of the kind's owner. Readers are those of RCU and
 * the breakpoint handler; text_site_table_remove() waits for both before an area goes.
 * Leaves stay.
 */
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/text_site.h>

#include <asm/sections.h>

#define TEXT_LEAF_SIZE	BIT(TEXT_LEAF_SHIFT)

/*
 * Where addresses lead that are in no area: @indexed is 0. The rest, and the first entry of
 * an index, is there for a CPU to read that does not know that yet.
 */
static struct text_site no_site;
static u32 no_index;
static struct text_area no_area = { .index = &no_index, .sites = &no_site };
static struct text_area *no_leaf[TEXT_LEAF_SIZE];

/* What is looked for: any area, or site, that has some of this text; @last is inclusive. */
struct text_key {
	unsigned long start, last;
};

static __always_inline struct text_area *area_of(struct latch_tree_node *node)
{
	return container_of(node, struct text_area, node);
}

static __always_inline bool area_less(struct latch_tree_node *a, struct latch_tree_node *b)
{
	return area_of(a)->start < area_of(b)->start;
}

static __always_inline int area_cmp(void *key, struct latch_tree_node *node)
{
	const struct text_area *area = area_of(node);
	const struct text_key *text = key;

	if (text->last < area->start)
		return -1;
	return text->start >= area->last + TEXT_SITE_SIZE;
}

static const struct latch_tree_ops area_ops = { .less = area_less, .comp = area_cmp };

static __always_inline struct text_area *area_find(const struct text_site_kind *kind,
						   unsigned long start, unsigned long last)
{
	struct text_key key = { start, last };
	struct latch_tree_node *node;

	node = latch_tree_find(&key, (struct latch_tree_root *)&kind->areas, &area_ops);
	return node ? area_of(node) : NULL;
}

/* The first site at an address or above it, or what is behind the last one */
static __always_inline struct text_site *first_from(const struct text_area *area,
						    unsigned long addr)
{
	struct text_site *site = area->sites;
	unsigned int nr = area->nr;

	if (addr <= area->start)
		return site;

	/*
	 * The last site is at the end of what is indexed. The acquire pairs with the release
	 * in area_index(); the entry code of the breakpoint reads in this order, too.
	 */
	if (addr - area->start < smp_load_acquire(&area->indexed)) {
		site += area->index[(addr - area->start) >> TEXT_GRANULE_SHIFT];
		while (text_site_addr(site) < addr)
			site++;
		return site;
	}

	/* It is one of the @nr sites from @site on, or the one behind them. */
	while (nr) {
		const unsigned int half = nr / 2;

		if (text_site_addr(site + half) < addr) {
			site += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return site;
}

/**
 * text_site_find - a site of which any of the first TEXT_SITE_SIZE bytes is in a range
 * @kind: of which kind, NULL for any
 * @start: first address
 * @end: last address, inclusive, in the text of the same module
 * @in: if not NULL, gets the table the site is in
 *
 * Value sites may be longer. A caller that looks for the rest of these, too, begins its range
 * that much earlier: see kind_reserves().
 *
 * Context: any, with a site's table kept from going away: in an RCU read-side
 * section, or under the lock of @kind's owner, or with interrupts off.
 *
 * Return: a live site, the lowest in the range of @kind, or of the first kind that has
 * one there; or NULL.
 */
noinstr struct text_site *text_site_find(const struct text_site_kind *kind, unsigned long start,
					 unsigned long end, struct text_site_table **in)
{
	const struct text_site_kind *each = kind ?: READ_ONCE(text_site_kinds);
	struct text_area *area;
	struct text_site *site;

	for (; each; each = kind ? NULL : READ_ONCE(each->next)) {
		area = area_find(each, start, end);
		if (!area)
			continue;
		/* The first one that may end above @start */
		site = start < area->start + TEXT_SITE_SIZE ? area->sites :
			first_from(area, start - TEXT_SITE_SIZE + 1);
		for (; site < area->sites + area->nr && text_site_addr(site) <= end; site++) {
			if (READ_ONCE(site->state) & TEXT_SITE_DEAD)
				continue;
			if (in)
				*in = area->table;
			return site;
		}
	}
	return NULL;
}

static bool kind_reserves(const struct text_site_kind *kind, unsigned long start,
			  unsigned long last)
{
	/* Longer ones than text_site_find() knows of may begin this much before it. */
	unsigned long from = start - (TEXT_SITE_MAX - TEXT_SITE_SIZE);
	struct text_site *site;

	while ((site = text_site_find(kind, from, last, NULL))) {
		if (text_site_addr(site) + text_site_size(kind, site) > start)
			return true;
		from = text_site_addr(site) + TEXT_SITE_SIZE;
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
	struct text_site_kind *kind;

	/* Keeps the areas: text_site_table_remove() waits. */
	guard(rcu)();

	for_each_text_site_kind(kind) {
		if (kind->reserved && kind_reserves(kind, (unsigned long)start,
						    (unsigned long)end))
			return true;
	}
	return false;
}

static bool kind_leads_to(const struct text_site_kind *kind, unsigned long start,
			  unsigned long last)
{
	const struct text_site_table *table;
	struct text_site *site;

	for_each_text_site_table_of(kind, table) {
		for_each_text_site(site, table) {
			const unsigned long label = kind->insn->label(site);

			if (start <= label && label <= last &&
			    !(READ_ONCE(site->state) & TEXT_SITE_DEAD))
				return true;
		}
	}
	return false;
}

/**
 * text_sites_lead_to - is text the target of a site's branch, on or off?
 * @start: first byte
 * @end: last byte, inclusive
 *
 * Checks all sites, not only those of the function: compilers move parts of a function that
 * rarely run elsewhere, and a branch there may jump back.
 *
 * Context: any.
 *
 * Return: whether any byte is.
 */
bool text_sites_lead_to(unsigned long start, unsigned long end)
{
	const struct text_site_kind *kind;

	/* Keeps the tables: text_site_table_remove() waits. */
	guard(rcu)();

	for_each_text_site_kind(kind) {
		if (kind->insn->label && kind_leads_to(kind, start, end))
			return true;
	}
	return false;
}

/* Has nothing lead anywhere yet */
static void map_init(struct text_site_kind *kind)
{
	memset_p((void **)no_leaf, &no_area, ARRAY_SIZE(no_leaf));
	memset_p((void **)kind->map, no_leaf, ARRAY_SIZE(kind->map));
}

/* Where pages of an area have led to @was, they lead to @is from now on. */
static void map_lead(const struct text_area *area, const struct text_area *was,
		     struct text_area *is)
{
	unsigned long page = area->start >> PAGE_SHIFT;

	for (; page <= area->last >> PAGE_SHIFT; page++) {
		const unsigned long i = (page >> TEXT_LEAF_SHIFT) % TEXT_MAP_SIZE;
		struct text_area **leaf = area->kind->map[i];

		if (leaf == no_leaf) {
			if (is == &no_area)
				continue;
			leaf = kvmalloc(sizeof(no_leaf), GFP_KERNEL);
			if (!leaf)
				return;
			memcpy(leaf, no_leaf, sizeof(no_leaf));
			/* Pairs with the address dependency of the entry code. */
			smp_store_release(&area->kind->map[i], leaf);
		}
		leaf += page % TEXT_LEAF_SIZE;
		if (*leaf != was)
			continue;
		/* The same: all that is read there has been written by now. */
		smp_store_release(leaf, is);
	}
}

/*
 * In the kernel's own text, only if sites are so many that an index is no larger than half
 * of their records. Init text gets none: nobody would free it with that text.
 */
static void area_index(struct text_area *area)
{
	const unsigned long nr = ((area->last - area->start) >> TEXT_GRANULE_SHIFT) + 1;
	unsigned long granule = 0;
	u32 *index;

	if (!area->table->mod && (nr > area->nr || is_kernel_inittext(area->start)))
		return;
	/*
	 * Reading vmalloc memory may fault on 32-bit x86, and the fault handler has sites in the
	 * kernel's text: looking these up must not fault again.
	 */
	if (area->table->mod)
		index = kvmalloc_array(nr, sizeof(*index), GFP_KERNEL | __GFP_NOWARN);
	else
		index = kmalloc_array(nr, sizeof(*index),
				      GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	if (!index)
		return;

	for (unsigned int i = 0; i < area->nr; i++) {
		const unsigned long offset = text_site_addr(&area->sites[i]) - area->start;

		for (; granule <= offset >> TEXT_GRANULE_SHIFT; granule++)
			index[granule] = i;
	}
	area->index = index;
	/* Readers may be looking at the area: they see the index when it is complete. */
	smp_store_release(&area->indexed, area->last - area->start + 1);
	if (area != area->kind->kernel.areas)
		map_lead(area, &no_area, area);
}

/**
 * text_areas_index - let sites of a table be found sooner, as it will be often
 * @table: after text_areas_add()
 *
 * Not before sites of it are changed: until then, breakpoints are rare. Without memory
 * for an index all is found as well.
 *
 * Context: process context. Under the lock of the kind's owner.
 */
void text_areas_index(struct text_site_table *table)
{
	for (int i = 0; i < ARRAY_SIZE(table->areas); i++) {
		if (table->areas[i].known && !table->areas[i].indexed)
			area_index(&table->areas[i]);
	}
}

/**
 * text_areas_add - make the sites of a table be found
 * @table: initialised
 *
 * Context: process context, or early boot. Under the lock of the kind's owner.
 */
void text_areas_add(struct text_site_table *table)
{
	unsigned int nr = 0;

	if (!table->kind->map[0])
		map_init(table->kind);
	for (int i = 0; i < ARRAY_SIZE(table->areas) && nr < table->nr; i++) {
		struct text_area *area = &table->areas[i];
		struct text_range range;

		*area = (struct text_area) {
			.kind = table->kind, .table = table,
			.index = &no_index, .sites = table->sites + nr, .nr = table->nr - nr,
			.start = text_site_addr(table->sites + nr),
		};
		text_site_text(table, area->start, &range);
		area->nr = first_from(area, range.end) - area->sites;
		area->last = text_site_addr(area->sites + area->nr - 1);
		nr += area->nr;

		area->known = true;
		latch_tree_insert(&area->node, &table->kind->areas, &area_ops);
	}
}

/**
 * text_areas_forget - some text of a table goes: its sites are not to be found any more
 * @table: after text_areas_add()
 * @start: address of the text's first byte
 * @end: address of the first byte after it
 *
 * Who has found a site there before may still look at it.
 *
 * Context: under the lock of the kind's owner.
 */
void text_areas_forget(struct text_site_table *table, unsigned long start, unsigned long end)
{
	for (int i = 0; i < ARRAY_SIZE(table->areas); i++) {
		struct text_area *area = &table->areas[i];

		if (area->known && area->start >= start && area->last < end) {
			map_lead(area, area, &no_area);
			WRITE_ONCE(area->indexed, 0);
			latch_tree_erase(&area->node, &table->kind->areas, &area_ops);
			area->known = false;
		}
	}
}

/**
 * text_areas_free - free what text_areas_index() has allocated
 * @table: whose areas are all forgotten, and nobody looks at them any more
 *
 * Context: process context.
 */
void text_areas_free(struct text_site_table *table)
{
	for (int i = 0; i < ARRAY_SIZE(table->areas); i++) {
		if (table->areas[i].index != &no_index)
			kvfree(table->areas[i].index);
	}
}
