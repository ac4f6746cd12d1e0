// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of text site tables and batches */
#include <kunit/test.h>

#include <linux/memory.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/text_site.h>

#include <asm/sections.h>

/* Some text to refer to. Nothing is written to it. */
static unsigned long text(unsigned int i)
{
	return (unsigned long)_stext + 64 * (i + 1);
}

static void site_set(struct text_site *site, unsigned long addr, u32 state)
{
	site->offset = addr - (unsigned long)&site->offset;
	site->state = state;
}

static DEFINE_MUTEX(test_lock);

static struct text_site_kind test_kind = {
	.name = "test", .insn = &text_insn_call, .lock = &test_lock,
};

static struct text_site_table test_table(struct text_site *sites, unsigned int nr)
{
	return (struct text_site_table) { .kind = &test_kind, .sites = sites, .nr = nr };
}

/* Some table of the kernel whose sites have all the same size */
static struct text_site_table *kernel_table(struct kunit *test)
{
	struct text_site_kind *kind;

	for_each_text_site_kind(kind) {
		if (!kind->insn->size && kind->kernel.nr > 4)
			return &kind->kernel;
	}
	kunit_skip(test, "no sites");
}

static void test_sort(struct kunit *test)
{
	static const unsigned int order[] = { 4, 1, 0, 3, 2 };
	static struct text_site sites[ARRAY_SIZE(order)];
	struct text_site_table table = test_table(sites, ARRAY_SIZE(sites));
	int i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		site_set(&sites[i], text(order[i]), order[i] << 16);

	KUNIT_ASSERT_EQ(test, text_site_table_init(&table), 0);
	KUNIT_EXPECT_EQ(test, table.nr, ARRAY_SIZE(sites));
	KUNIT_EXPECT_EQ(test, table.start, text(0));
	KUNIT_EXPECT_EQ(test, table.end, text(4) + 5);
	for (i = 0; i < ARRAY_SIZE(sites); i++) {
		KUNIT_EXPECT_EQ(test, text_site_addr(&sites[i]), text(i));
		KUNIT_EXPECT_EQ(test, sites[i].state, i << 16);
	}
}

static void test_dropped_entries_end_the_table(struct kunit *test)
{
	static struct text_site sites[4];
	struct text_site_table table = test_table(sites, 4);

	memset(sites, 0, sizeof(sites));
	site_set(&sites[0], text(0), 0);
	site_set(&sites[1], text(1), 0);

	KUNIT_EXPECT_EQ(test, text_site_table_init(&table), 0);
	KUNIT_EXPECT_EQ(test, table.nr, 2);

	memset(sites, 0, sizeof(sites));
	KUNIT_EXPECT_EQ(test, text_site_table_init(&table), 0);
	KUNIT_EXPECT_EQ(test, table.nr, 0);
}

static int init_two(unsigned long first, unsigned long second)
{
	static struct text_site sites[2];
	struct text_site_table table = test_table(sites, 2);

	site_set(&sites[0], first, 0);
	site_set(&sites[1], second, 0);
	if (!first)
		memset(&sites[0], 0, sizeof(sites[0]));
	return text_site_table_init(&table);
}

static void test_outside_text(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, init_two(text(0), (unsigned long)&test_kind), -EINVAL);
	/* Hangs out at the end */
	KUNIT_EXPECT_EQ(test, init_two(text(0), (unsigned long)_etext - 4), -EINVAL);
	/* At the end of all addresses */
	KUNIT_EXPECT_EQ(test, init_two(text(0), -5UL), -EINVAL);
	KUNIT_EXPECT_EQ(test, init_two(-5UL, text(0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, init_two(text(0), -1UL), -EINVAL);
	/* No reference, but not at the end */
	KUNIT_EXPECT_EQ(test, init_two(0, text(0)), -EINVAL);
}

static void test_one_over_another(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, init_two(text(0), text(0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, init_two(text(0), text(0) + 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, init_two(text(0) + 4, text(0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, init_two(text(0) + 5, text(0)), 0);
	KUNIT_EXPECT_EQ(test, init_two(text(0), text(0) + 5), 0);
}

static unsigned int nine_bytes(const struct text_site *site)
{
	return 9;
}

static void test_sizes(struct kunit *test)
{
	static const struct text_insn insn = { .size = nine_bytes };

	test_kind.insn = &insn;
	KUNIT_EXPECT_EQ(test, init_two(text(0), text(0) + 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, init_two(text(0) + 8, text(0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, init_two(text(0), text(0) + 9), 0);
	test_kind.insn = &text_insn_call;
}

/* Text that has a byte of a site, at its beginning, in the middle or at its end */
static void test_overlaps(struct kunit *test)
{
	static struct text_site sites[5];
	struct text_site_table table = test_table(sites, ARRAY_SIZE(sites));

	for (unsigned int i = 0; i < ARRAY_SIZE(sites); i++)
		site_set(&sites[i], text(i), 0);
	KUNIT_ASSERT_EQ(test, text_site_table_init(&table), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(sites); i++) {
		for (unsigned long start = text(i) - 2; start < text(i) + 7; start++) {
			const bool before = start + 2 <= text(i), behind = start >= text(i) + 5;

			KUNIT_EXPECT_EQ(test, !before && !behind,
					text_site_table_overlaps(&table, start, start + 2, "test"));
		}
		KUNIT_EXPECT_TRUE(test, text_site_table_overlaps(&table, text(i) - 2, text(i) + 7,
								 "test"));
	}
}

#ifdef CONFIG_MODULES
/* What the kernel's own table may have, and what a module's may not, of the same text */
static int init_of_module(struct text_site *sites, unsigned int nr)
{
	static struct module module = { .name = "test" };
	struct text_site_table table = test_table(sites, nr);
	int ret = text_site_table_init(&table);

	if (ret)
		return ret;
	table = test_table(sites, nr);
	table.mod = &module;
	module.mem[MOD_TEXT].base = _stext;
	module.mem[MOD_TEXT].size = _etext - _stext;
	return text_site_table_init(&table);
}

static void test_modules_have_whole_tables(struct kunit *test)
{
	static struct text_site sites[2];

	site_set(&sites[0], text(0), 0);
	KUNIT_EXPECT_EQ(test, init_of_module(sites, 1), 0);
	KUNIT_EXPECT_EQ(test, init_of_module(sites, 2), -EINVAL);
}

static void test_modules_text_is_as_compiled(struct kunit *test)
{
	static struct text_site sites[1];
	unsigned long addr = text(0);

	site_set(&sites[0], addr, 0);
	test_kind.original = (unsigned long)&test_kind;
	KUNIT_EXPECT_EQ(test, init_of_module(sites, 1), -EINVAL);

	/* Something in the text that looks like a call */
	while (!arch_text_site_get(&test_kind, addr))
		addr++;
	site_set(&sites[0], addr, 0);
	KUNIT_EXPECT_EQ(test, init_of_module(sites, 1), -EINVAL);
	test_kind.original = arch_text_site_get(&test_kind, addr);
	KUNIT_EXPECT_EQ(test, init_of_module(sites, 1), 0);
	test_kind.original = 0;
}

#endif

static int take_nothing(struct text_site_table *table)
{
	return -ENOMEM;
}

static void test_not_taken(struct kunit *test)
{
	test_kind.take = take_nothing;
	KUNIT_EXPECT_EQ(test, init_two(text(0), text(1)), -ENOMEM);
	test_kind.take = NULL;
}

static void test_find(struct kunit *test)
{
	struct text_site_table *table = kernel_table(test), *in;
	struct text_site *site, *last = NULL;
	int checked = 0;

	for_each_text_site(site, table) {
		unsigned long addr = text_site_addr(site);

		if (site->state & TEXT_SITE_DEAD)
			continue;
		in = NULL;
		KUNIT_ASSERT_PTR_EQ(test, text_site_find(NULL, addr, addr, &in), site);
		KUNIT_ASSERT_PTR_EQ(test, in, table);
		KUNIT_ASSERT_PTR_EQ(test, text_site_find(NULL, addr + 4, addr + 4, NULL), site);
		KUNIT_ASSERT_PTR_EQ(test, text_site_find(NULL, addr - 1, addr, NULL), site);
		KUNIT_ASSERT_PTR_NE(test, text_site_find(NULL, addr + 5, addr + 5, NULL), site);
		if (last)
			KUNIT_ASSERT_PTR_EQ(test, last,
					    text_site_find(table->kind, text_site_addr(last),
							   addr, NULL));
		last = site;
		checked++;
	}
	KUNIT_EXPECT_GT(test, checked, 4);
	KUNIT_EXPECT_NULL(test, text_site_find(NULL, 0, 0, NULL));
	KUNIT_EXPECT_NULL(test, text_site_find(NULL, ~0ul, ~0ul, NULL));
	KUNIT_EXPECT_NULL(test, text_site_find(NULL, (unsigned long)&test_kind,
					       (unsigned long)&test_kind, NULL));
	/* There is one, but of another kind. */
	KUNIT_EXPECT_NULL(test, text_site_find(&test_kind, table->start, table->start, NULL));
}

static void expect_sites_found(struct kunit *test, const struct text_site_kind *kind,
			       const struct text_area *area)
{
	for (unsigned int i = 0; i < area->nr; i++) {
		const unsigned long addr = text_site_addr(&area->sites[i]);

		if (!(area->sites[i].state & TEXT_SITE_DEAD))
			KUNIT_ASSERT_PTR_EQ(test, text_site_find(kind, addr, addr, NULL),
					    &area->sites[i]);
	}
}

/* Every area of all kernel tables, with its index and without it */
static void test_areas(struct kunit *test)
{
	struct text_site_kind *kind;

	for_each_text_site_kind(kind) {
		struct text_area *area = kind->kernel.areas;
		unsigned long indexed;

		scoped_guard(mutex, kind->lock)
			text_areas_index(&kind->kernel);
		indexed = area->indexed;
		KUNIT_EXPECT_EQ(test, area[0].nr + area[1].nr, kind->kernel.nr);
		expect_sites_found(test, kind, area);
		area->indexed = 0;
		expect_sites_found(test, kind, area);
		area->indexed = indexed;
	}
}

/* Where the entry code of the breakpoint looks for a site at an address */
static const struct text_area *led_to(unsigned long addr)
{
	const unsigned long page = addr >> PAGE_SHIFT;

	return test_kind.map[(page >> TEXT_LEAF_SHIFT) % TEXT_MAP_SIZE][page % BIT(TEXT_LEAF_SHIFT)];
}

/* Text that goes is not found any more, what comes in its place is. */
static void test_areas_go(struct kunit *test)
{
	static struct text_site sites[3], others[1];
	struct text_site_table *table, *other;

	table = kunit_kzalloc(test, 2 * sizeof(*table), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table);
	other = table + 1;
	*table = test_table(sites, ARRAY_SIZE(sites));
	*other = test_table(others, ARRAY_SIZE(others));

	/*
	 * In the kernel's text, and in what was freed, behind the text for initialisation, where
	 * nothing is indexed
	 */
	site_set(&sites[0], (unsigned long)__init_end - 64, 0);
	site_set(&sites[1], text(1), 0);
	site_set(&sites[2], text(0), 0);
	site_set(&others[0], (unsigned long)__init_end - 62, 0);
	KUNIT_ASSERT_EQ(test, text_site_table_init(table), 0);
	KUNIT_ASSERT_EQ(test, text_site_table_init(other), 0);

	guard(mutex)(&test_lock);
	text_site_table_add(table);
	KUNIT_EXPECT_EQ(test, table->areas[0].nr, 2);
	KUNIT_EXPECT_EQ(test, table->areas[1].nr, 1);
	for (int i = 0; i < 3; i++) {
		const unsigned long addr = text_site_addr(&sites[i]);

		KUNIT_EXPECT_PTR_EQ(test, text_site_find(&test_kind, addr, addr, NULL), &sites[i]);
	}

	text_areas_index(table);
	KUNIT_EXPECT_PTR_EQ(test, led_to(text_site_addr(&sites[2])), &table->areas[1]);

	/* A dead one is as if it were not there. */
	sites[0].state |= TEXT_SITE_DEAD;
	KUNIT_EXPECT_NULL(test, text_site_find(&test_kind, text(0), text(0), NULL));
	KUNIT_EXPECT_PTR_EQ(test, text_site_find(&test_kind, text(0), text(1), NULL), &sites[1]);

	text_areas_forget(table, (unsigned long)__init_begin, (unsigned long)__init_end);
	KUNIT_EXPECT_PTR_NE(test, led_to(text_site_addr(&sites[2])), &table->areas[1]);
	KUNIT_EXPECT_NULL(test, text_site_find(&test_kind, text_site_addr(&sites[2]),
					       text_site_addr(&sites[2]), NULL));
	text_site_table_add(other);
	KUNIT_EXPECT_PTR_EQ(test, text_site_find(&test_kind, text_site_addr(&others[0]),
						 text_site_addr(&others[0]), NULL), &others[0]);
	KUNIT_EXPECT_PTR_EQ(test, text_site_find(&test_kind, text(1), text(1), NULL), &sites[1]);
	text_site_table_remove(other);
	text_site_table_remove(table);
	KUNIT_EXPECT_NULL(test, text_site_find(&test_kind, text(1), text(1), NULL));
}

/* Every byte of a site is reserved, but of a kind of which probes have their own idea. */
static void test_reserved(struct kunit *test)
{
	struct text_site_kind *kind;
	struct text_site *site;
	int kinds = 0;

	for_each_text_site_kind(kind) {
		kinds += kind->reserved;
		for_each_text_site(site, &kind->kernel) {
			void *first = (void *)text_site_addr(site);
			void *last = first + text_site_size(kind, site) - 1;
			const bool live = !(site->state & TEXT_SITE_DEAD);

			if (!kind->reserved)
				break;
			KUNIT_ASSERT_EQ(test, text_sites_reserved(first, first), live);
			KUNIT_ASSERT_EQ(test, text_sites_reserved(last, last), live);
			if (live)
				KUNIT_ASSERT_TRUE(test, text_sites_reserved(first - 1, last + 1));
		}
	}
	KUNIT_EXPECT_EQ(test, kinds, IS_ENABLED(CONFIG_JUMP_FUNCTION) +
			IS_ENABLED(CONFIG_IMMEDIATE_VALUES) + IS_ENABLED(CONFIG_MARKERS));
	KUNIT_EXPECT_FALSE(test, text_sites_reserved(NULL, NULL));
}

/* Marks bound the range of a table that a batch has to look at. */
static void test_mark(struct kunit *test)
{
	static struct text_site sites[8];
	struct text_site_table table = test_table(sites, 8);
	int i;

	for (i = 0; i < 8; i++)
		site_set(&sites[i], text(i), 0);
	KUNIT_ASSERT_EQ(test, text_site_table_init(&table), 0);
	KUNIT_EXPECT_GE(test, table.first, table.last);

	text_site_mark(&table, &sites[5]);
	KUNIT_EXPECT_EQ(test, table.first, 5);
	KUNIT_EXPECT_EQ(test, table.last, 6);
	text_site_mark(&table, &sites[2]);
	text_site_mark(&table, &sites[3]);
	KUNIT_EXPECT_EQ(test, table.first, 2);
	KUNIT_EXPECT_EQ(test, table.last, 6);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, !!(sites[i].state & TEXT_SITE_PENDING),
				i == 2 || i == 3 || i == 5);
}

/* A site whose text is not what it should be stops the whole batch. */
static void test_commit_of_wrong_text(struct kunit *test)
{
	static struct text_target targets[TEXT_TARGET_PAGE];
	static struct text_site sites[1];
	static u8 before[5];
	struct text_site_table *table;

	table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table);
	test_kind.pages[0] = targets;
	*table = test_table(sites, 1);

	/* Not a site: the middle of one */
	site_set(&sites[0], text_site_addr(kernel_table(test)->sites) + 2, 0);
	KUNIT_ASSERT_EQ(test, text_site_table_init(table), 0);
	memcpy(before, (void *)text_site_addr(sites), 5);

	guard(mutex)(&test_lock);
	text_site_table_add(table);
	text_site_mark(table, sites);
	KUNIT_EXPECT_EQ(test, text_site_commit(&test_kind), -EINVAL);
	KUNIT_EXPECT_EQ(test, sites[0].state, 0);
	KUNIT_EXPECT_FALSE(test, text_site_pending(table));
	KUNIT_EXPECT_EQ(test, memcmp(before, (void *)text_site_addr(sites), 5), 0);

	/* Nothing pending is no batch. */
	KUNIT_EXPECT_EQ(test, text_site_commit(&test_kind), 0);
	text_site_table_remove(table);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(test_sort),
	KUNIT_CASE(test_dropped_entries_end_the_table),
	KUNIT_CASE(test_outside_text),
	KUNIT_CASE(test_one_over_another),
	KUNIT_CASE(test_sizes),
	KUNIT_CASE(test_overlaps),
#ifdef CONFIG_MODULES
	KUNIT_CASE(test_modules_have_whole_tables),
	KUNIT_CASE(test_modules_text_is_as_compiled),
#endif
	KUNIT_CASE(test_not_taken),
	KUNIT_CASE(test_find),
	KUNIT_CASE(test_areas),
	KUNIT_CASE(test_areas_go),
	KUNIT_CASE(test_reserved),
	KUNIT_CASE(test_mark),
	KUNIT_CASE(test_commit_of_wrong_text),
	{}
};

static struct kunit_suite table_suite = {
	.name		= "text_site_table",
	.test_cases	= table_cases,
};

kunit_test_suite(table_suite);
