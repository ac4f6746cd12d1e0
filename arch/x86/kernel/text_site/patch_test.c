// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the conversion of sites, on data that looks like text */
#include <kunit/test.h>

#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/text_site.h>

#include <asm/text-patching.h>

#include "run.h"
#include "text_site.h"

#define NR_SITES	4

static u8 text[2 * PAGE_SIZE] __aligned(PAGE_SIZE);
static struct text_site sites[NR_SITES];

/* Where the sites go at first: nothing is called, so any address in reach will do. */
static const u8 original;

static struct text_target targets[TEXT_TARGET_PAGE];

static struct text_site_kind call_sites = {
	.name = "call", .insn = &text_insn_call, .original = (unsigned long)&original,
	.pages = { targets },
};

static struct text_site_kind jump_sites = {
	.name = "jump", .insn = &text_insn_jump, .pages = { targets },
};

/* A call of @original at each of some offsets, and other bytes everywhere else */
static void text_init(struct text_site_table *table, const unsigned int *offsets)
{
	int i;

	memset(text, 0x55, sizeof(text));
	for (i = 0; i < NR_SITES; i++) {
		u8 *at = text + offsets[i];

		__text_gen_insn(at, CALL_INSN_OPCODE, at, &original, CALL_INSN_SIZE);
		sites[i].offset = (unsigned long)at - (unsigned long)&sites[i].offset;
		sites[i].state = 0;
	}
	*table = (struct text_site_table) {
		.sites = sites, .nr = NR_SITES, .kind = &call_sites,
	};
}

static void expect_nop(struct kunit *test, unsigned int offset)
{
	KUNIT_EXPECT_EQ(test, memcmp(text + offset, site_nop->bytes, TEXT_SITE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, text[offset - 1], 0x55);
	KUNIT_EXPECT_EQ(test, text[offset + TEXT_SITE_SIZE], 0x55);
}

static void test_convert(struct kunit *test)
{
	/* In a page, at its very end, and from one page into the next */
	static const unsigned int offsets[NR_SITES] = {
		16, 32, PAGE_SIZE - 12, PAGE_SIZE - 3,
	};
	struct text_site_table table;
	int i;

	text_init(&table, offsets);
	KUNIT_EXPECT_EQ(test, arch_text_site_convert(&table), 0);
	for (i = 0; i < NR_SITES; i++) {
		expect_nop(test, offsets[i]);
		KUNIT_EXPECT_EQ(test, sites[i].state, 0);
		KUNIT_EXPECT_EQ(test, arch_text_site_verify(&table, &sites[i]), 0);
	}
}

static void test_what_is_no_call_is_left_alone(struct kunit *test)
{
	static const unsigned int offsets[NR_SITES] = { 16, 32, 48, 64 };
	struct text_site_table table;
	u8 before[3];

	text_init(&table, offsets);
	text[32] = JMP32_INSN_OPCODE;			/* a jump there */
	text[49]++;					/* a call of something else */
	memcpy(before, text + 32, sizeof(before));

	KUNIT_EXPECT_EQ(test, arch_text_site_convert(&table), 2);
	expect_nop(test, 16);
	expect_nop(test, 64);
	KUNIT_EXPECT_EQ(test, memcmp(text + 32, before, sizeof(before)), 0);
	KUNIT_EXPECT_EQ(test, text[48], CALL_INSN_OPCODE);
	KUNIT_EXPECT_EQ(test, sites[0].state, 0);
	KUNIT_EXPECT_EQ(test, sites[1].state, TEXT_SITE_DEAD);
	KUNIT_EXPECT_EQ(test, sites[2].state, TEXT_SITE_DEAD);
	KUNIT_EXPECT_EQ(test, sites[3].state, 0);
}

/* Is the first site's text what one of a kind has that goes to a target? */
static int verify(struct text_site_table *table, struct text_site_kind *kind,
		  unsigned long target)
{
	int ret;

	table->kind = kind;
	targets[0].addr = target;
	ret = arch_text_site_verify(table, &table->sites[0]);
	targets[0].addr = 0;
	return ret;
}

static void test_verify(struct kunit *test)
{
	static const unsigned int offsets[NR_SITES] = { 16, 32, 48, 64 };
	const unsigned long target = (unsigned long)&original;
	struct text_site_table table;

	text_init(&table, offsets);
	KUNIT_EXPECT_EQ(test, verify(&table, &call_sites, target), 0);
	KUNIT_EXPECT_EQ(test, verify(&table, &call_sites, target + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, verify(&table, &call_sites, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, verify(&table, &jump_sites, target), -EINVAL);

	/* The same bytes but for the first are a jump. */
	KUNIT_EXPECT_EQ(test, arch_text_site_get(&jump_sites, (unsigned long)text + 16), 0);
	text[16] = JMP32_INSN_OPCODE;
	KUNIT_EXPECT_EQ(test, verify(&table, &jump_sites, target), 0);
	KUNIT_EXPECT_EQ(test, verify(&table, &call_sites, target), -EINVAL);
	KUNIT_EXPECT_EQ(test, arch_text_site_get(&jump_sites, (unsigned long)text + 16), target);
	KUNIT_EXPECT_EQ(test, arch_text_site_get(&call_sites, (unsigned long)text + 16), 0);
}

static struct text_window window;

/*
 * Two tables in a round. One site of the first has a target of its own. The second one's text is
 * below that of the first, and its first site ends in the page that the first table's is in.
 */
static void test_tables(struct kunit *test)
{
	static const unsigned int offsets[NR_SITES] = {
		PAGE_SIZE + 16, PAGE_SIZE + 32, PAGE_SIZE - 3, PAGE_SIZE + 64,
	};
	static const u32 ids[NR_SITES] = { 1, 2, 1, 1 };
	struct text_site_kind *kind = &call_sites;
	struct text_site_table table, other;
	u16 own[] = { TEXT_TARGET_NONE, 2 };
	unsigned int i;

	text_init(&table, offsets);
	KUNIT_ASSERT_EQ(test, arch_text_site_convert(&table), 0);
	for (i = 1; i <= 2; i++)
		targets[i].addr = (unsigned long)&original + 16 * i;
	targets[0].next = 1;
	other = (struct text_site_table) {
		.sites = sites + 2, .nr = 2, .first = 2, .kind = kind,
	};
	table = (struct text_site_table) {
		.sites = sites, .nr = 2, .first = 2, .kind = kind, .own_next = own, .next = &other,
	};
	kind->tables = &table;
	/* The entry code looks up stale breakpoints of other kinds in this kind's map. */
	text_areas_add(&(struct text_site_table){ .kind = kind });
	for (i = 0; i < NR_SITES; i++)
		text_site_mark(i < 2 ? &table : &other, &sites[i]);

	scoped_guard(mutex, &text_mutex) {
		for (enum text_pass pass = TEXT_PASS_BREAK; pass <= TEXT_PASS_HEAD; pass++)
			arch_text_site_pass(kind, pass, false);
	}
	for (i = 0; i < NR_SITES; i++) {
		KUNIT_EXPECT_EQ(test, sites[i].state, ids[i]);
		KUNIT_EXPECT_EQ(test, arch_text_site_get(kind, text_site_addr(&sites[i])),
				targets[ids[i]].addr);
		KUNIT_EXPECT_EQ(test, text[offsets[i] - 1], 0x55);
		KUNIT_EXPECT_EQ(test, text[offsets[i] + TEXT_SITE_SIZE], 0x55);
	}
	kind->tables = NULL;
	memset(targets, 0, sizeof(targets));
}

/* Where is the @page'th of the window? */
static unsigned long window_page(unsigned int page)
{
	return TEXT_WINDOW + page * PAGE_SIZE;
}

static void expect_window(struct kunit *test, unsigned long addr, unsigned long at,
			  unsigned int nr)
{
	KUNIT_EXPECT_TRUE(test, text_window_add(&window, addr, TEXT_SITE_SIZE));
	KUNIT_EXPECT_EQ(test, addr + window.distance, at);
	KUNIT_EXPECT_EQ(test, window.nr, nr);
}

static void test_window(struct kunit *test)
{
	const unsigned long page = 0x1000 * PAGE_SIZE;

	text_window_begin(&window);
	expect_window(test, page + 16, window_page(0) + 16, 1);
	expect_window(test, page + 32, window_page(0) + 32, 1);
	/* From one page into the next; and one in that */
	expect_window(test, page + PAGE_SIZE - 3, window_page(0) + PAGE_SIZE - 3, 2);
	expect_window(test, page + PAGE_SIZE + 16, window_page(1) + 16, 2);
	/* Pages left out, and both pages new */
	expect_window(test, page + 8 * PAGE_SIZE, window_page(2), 3);
	expect_window(test, page + 10 * PAGE_SIZE - 1, window_page(3) + PAGE_SIZE - 1, 5);

	KUNIT_EXPECT_EQ(test, window.page[0], page / PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, window.page[1], page / PAGE_SIZE + 1);
	KUNIT_EXPECT_EQ(test, window.page[2], page / PAGE_SIZE + 8);
	KUNIT_EXPECT_EQ(test, window.page[3], page / PAGE_SIZE + 9);
	KUNIT_EXPECT_EQ(test, window.page[4], page / PAGE_SIZE + 10);
}

static void test_full_window(struct kunit *test)
{
	unsigned int i;

	text_window_begin(&window);
	for (i = 0; text_window_add(&window, (0x1000 + 2 * i) * PAGE_SIZE, TEXT_SITE_SIZE); i++)
		KUNIT_ASSERT_LT(test, i, TEXT_WINDOW_PAGES);

	/* There was room for a site in two pages, not for one more. */
	KUNIT_EXPECT_EQ(test, window.nr, TEXT_WINDOW_PAGES - 1);
	KUNIT_EXPECT_EQ(test, window.page[window.nr - 1], 0x1000 + 2 * (i - 1));
	/* What is in the last page still gets in. */
	expect_window(test, window.last * PAGE_SIZE + 64, window_page(window.nr - 1) + 64,
		      TEXT_WINDOW_PAGES - 1);
}

/* More places than are written at once, each @step bytes */
static void expect_gathered(struct kunit *test, u8 *buffer, u8 *expected, size_t size,
			    unsigned int step)
{
	u8 insn[POKE_MAX_OPCODE_SIZE] = {};

	mutex_lock(&text_mutex);
	for (size_t i = 1; i + sizeof(insn) <= size; i += step) {
		const size_t len = 1 + i % sizeof(insn);

		insn[0]++;
		insn[len - 1] += step;
		text_poke_gather(buffer + i, insn, len);
		memcpy(expected + i, insn, len);
	}
	KUNIT_EXPECT_NE(test, memcmp(buffer, expected, size), 0);
	text_poke_gathered();
	mutex_unlock(&text_mutex);
	KUNIT_EXPECT_EQ(test, memcmp(buffer, expected, size), 0);
}

static void test_gather(struct kunit *test)
{
	const size_t size = (2 * RUN_MAX + 8) * PAGE_SIZE;
	u8 *buffer = kunit_kzalloc(test, size, GFP_KERNEL);
	u8 *expected = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	KUNIT_ASSERT_NOT_NULL(test, expected);
	expect_gathered(test, buffer, expected, size, 7);
	expect_gathered(test, buffer, expected, size, PAGE_SIZE - 1);
	expect_gathered(test, buffer, expected, size, 2 * PAGE_SIZE);
}

static void test_write(struct kunit *test)
{
	const size_t size = 4 * PAGE_SIZE;
	u8 *buffer = kunit_kzalloc(test, size, GFP_KERNEL);
	u8 *expected = kunit_kzalloc(test, size, GFP_KERNEL);
	u8 *text = kunit_kmalloc(test, size, GFP_KERNEL);
	/* In a page, all of it, from one into the next, and more than two */
	static const struct { unsigned int from, len; } writes[] = {
		{ 16, 1 }, { PAGE_SIZE, PAGE_SIZE }, { PAGE_SIZE - 3, 5 },
		{ 2 * PAGE_SIZE - 1, PAGE_SIZE + 2 }, { 0, 4 * PAGE_SIZE },
	};

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	KUNIT_ASSERT_NOT_NULL(test, expected);
	KUNIT_ASSERT_NOT_NULL(test, text);
	for (size_t i = 0; i < ARRAY_SIZE(writes); i++) {
		for (size_t at = 0; at < writes[i].len; at++)
			text[at] = i + 1 + at % 251;
		memcpy(expected + writes[i].from, text, writes[i].len);
		text_write(buffer + writes[i].from, text, writes[i].len);
		KUNIT_EXPECT_EQ(test, memcmp(buffer, expected, size), 0);
	}
}

static struct kunit_case patch_cases[] = {
	KUNIT_CASE(test_convert),
	KUNIT_CASE(test_what_is_no_call_is_left_alone),
	KUNIT_CASE(test_verify),
	KUNIT_CASE(test_tables),
	KUNIT_CASE(test_window),
	KUNIT_CASE(test_full_window),
	KUNIT_CASE(test_gather),
	KUNIT_CASE(test_write),
	{}
};

static struct kunit_suite patch_suite = {
	.name		= "text_site_patch",
	.test_cases	= patch_cases,
};

kunit_test_suite(patch_suite);
