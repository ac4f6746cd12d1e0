// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of immediate values, whether they are patched or variables
 */
#include <kunit/test.h>

#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/immediate.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/value_site.h>

#include "immediate_test.h"

enum colour { RED, GREEN = 500, BLUE = -7 };

/* As in a header */
DECLARE_IMV(bool, test_bool);
DECLARE_IMV(u8, test_u8);

DEFINE_IMV(bool, test_bool, true);
DEFINE_IMV(u8, test_u8, 200);
static DEFINE_IMV(s8, test_s8, -3);
static DEFINE_IMV(u16, test_u16, 60000);
static DEFINE_IMV(s16, test_s16, -30000);
static DEFINE_IMV(u32, test_u32, 4000000000u);
static DEFINE_IMV(int, test_int, -5);
static DEFINE_IMV(enum colour, test_enum, GREEN);
static DEFINE_IMV(u64, test_u64, 0x123456789abcdef0ull);
static DEFINE_IMV(long, test_long, LONG_MIN / 3);
static DEFINE_IMV(const char *, test_pointer, "first");
/* Half of it is 0 */
static DEFINE_IMV(u64, test_upper, 1ull << 40);

#define CHECK(test, name, value) do {					\
	typeof(imv_##name) __value = (value);				\
									\
	KUNIT_EXPECT_EQ(test, imv_read(name), __value);			\
	KUNIT_EXPECT_EQ(test, !!__value, imv_cond(name) ? 1 : 0);	\
} while (0)

#define CHECK_SETTING(test, name, values...) do {			\
	static const typeof(imv_##name) __values[] = { values };	\
									\
	for (unsigned int __i = 0; __i < ARRAY_SIZE(__values); __i++) {	\
		KUNIT_EXPECT_EQ(test, imv_set(name, __values[__i]), 0);	\
		CHECK(test, name, __values[__i]);			\
	}								\
} while (0)

/* As they are defined: so this is the first of the tests. */
static void test_defined(struct kunit *test)
{
	CHECK(test, test_bool, true);
	CHECK(test, test_u8, 200);
	CHECK(test, test_s8, -3);
	CHECK(test, test_u16, 60000);
	CHECK(test, test_s16, -30000);
	CHECK(test, test_u32, 4000000000u);
	CHECK(test, test_int, -5);
	CHECK(test, test_enum, GREEN);
	CHECK(test, test_u64, 0x123456789abcdef0ull);
	CHECK(test, test_long, LONG_MIN / 3);
	KUNIT_EXPECT_STREQ(test, imv_read(test_pointer), "first");
	CHECK(test, test_upper, 1ull << 40);
}

static void test_set(struct kunit *test)
{
	const char *text = "second";

	CHECK_SETTING(test, test_bool, false, true, false, true);
	CHECK_SETTING(test, test_u8, 0, 1, 127, 128, 255, 200);
	CHECK_SETTING(test, test_s8, 0, -1, S8_MIN, S8_MAX, -3);
	CHECK_SETTING(test, test_u16, 0, 1, 0x7fff, 0x8000, U16_MAX, 60000);
	CHECK_SETTING(test, test_s16, 0, -1, S16_MIN, S16_MAX, -30000);
	CHECK_SETTING(test, test_u32, 0, 1, S32_MAX, 0x80000000, U32_MAX, 4000000000u);
	CHECK_SETTING(test, test_int, 0, -1, S32_MIN, S32_MAX, -5);
	CHECK_SETTING(test, test_enum, RED, BLUE, GREEN);
	CHECK_SETTING(test, test_u64, 0, 1, U32_MAX, 1ull << 32, S64_MAX, 1ull << 63, U64_MAX);
	CHECK_SETTING(test, test_long, 0, -1, LONG_MIN, LONG_MAX, LONG_MIN / 3);
	KUNIT_EXPECT_EQ(test, imv_set(test_pointer, NULL), 0);
	KUNIT_EXPECT_NULL(test, imv_read(test_pointer));
	KUNIT_EXPECT_FALSE(test, imv_cond(test_pointer));
	KUNIT_EXPECT_EQ(test, imv_set(test_pointer, text), 0);
	KUNIT_EXPECT_PTR_EQ(test, imv_read(test_pointer), text);
	KUNIT_EXPECT_TRUE(test, imv_cond(test_pointer));
	CHECK_SETTING(test, test_upper, 0, 1ull << 40);
}

/* Many places of one value: they are one after the other, in a loop and inlined. */
static DEFINE_IMV(int, test_many, 1);

static __always_inline int inlined(int add)
{
	return imv_read(test_many) + add;
}

static noinline int unrolled(void)
{
	int sum = 0;

#pragma GCC unroll 8
	for (int i = 0; i < 8; i++) {
		sum += imv_read(test_many);
		if (imv_cond(test_many))
			sum += 100;
		barrier();
	}
	return sum;
}

static void test_many_places(struct kunit *test)
{
	for (int value = 3; value >= 0; value--) {
		KUNIT_EXPECT_EQ(test, imv_set(test_many, value), 0);
		KUNIT_EXPECT_EQ(test, unrolled(), 8 * value + (value ? 800 : 0));
		KUNIT_EXPECT_EQ(test, inlined(1) + inlined(2), 2 * value + 3);
	}
}

/* What is not to be evaluated, and a loop that only the value ends */
static DEFINE_IMV(u8, test_off, 0);
static int evaluated;

static noinline int evaluate(void)
{
	return ++evaluated;
}

static void test_cond(struct kunit *test)
{
	int n = 0;

	evaluated = 0;
	if (imv_cond(test_off) && evaluate())
		n++;
	KUNIT_EXPECT_EQ(test, evaluated, 0);
	KUNIT_EXPECT_EQ(test, imv_set(test_off, 2), 0);
	if (imv_cond(test_off) && evaluate())
		n++;
	KUNIT_EXPECT_EQ(test, evaluated, 1);
	KUNIT_EXPECT_EQ(test, n, 1);
	while (imv_cond(test_off)) {
		if (n++ == 5)
			imv_set(test_off, 0);
	}
	KUNIT_EXPECT_EQ(test, n, 6);
}

static void test_batch(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, imv_set(test_int, 1), 0);
	KUNIT_EXPECT_EQ(test, imv_set(test_u64, 1), 0);
	imv_assign(test_int, 2);
	imv_assign(test_u64, 1ull << 50);
	imv_assign(test_off, 1);
	KUNIT_EXPECT_EQ(test, imv_commit(), 0);
	CHECK(test, test_int, 2);
	CHECK(test, test_u64, 1ull << 50);
	CHECK(test, test_off, 1);
	KUNIT_EXPECT_EQ(test, imv_set(test_off, 0), 0);
}

static DEFINE_IMV(int, test_early, 1);
static int early_read = -1;

/* When consoles are set up, there is one CPU and the early initcalls are yet to come. */
static int __init set_early(void)
{
	imv_set_early(test_early, 77);
	early_read = imv_read(test_early);
	return 0;
}
console_initcall(set_early);

static void test_set_early(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, early_read, 77);
	CHECK(test, test_early, 77);
}

/*
 * One task sets, as fast as it can, others read: each value that is read is one that
 * was set, and nothing but its register changes.
 */
#define WIDE_OF(n)	(ULONG_MAX / 255 * (u8)(n))
#define NARROW_OF(n)	(0x0101u * (u8)(n))

static DEFINE_IMV(unsigned long, test_wide, WIDE_OF(1));
static DEFINE_IMV(u16, test_narrow, NARROW_OF(1));

struct reader {
	unsigned long	reads;
	unsigned long	wrong;
};

static noinline bool read_is_right(unsigned long a, unsigned long b, unsigned long c)
{
	const unsigned long wide = imv_read(test_wide);
	const u16 narrow = imv_read(test_narrow);
	bool cond = false;

	if (imv_cond(test_wide))
		cond = true;
	OPTIMIZER_HIDE_VAR(a);
	OPTIMIZER_HIDE_VAR(b);
	OPTIMIZER_HIDE_VAR(c);
	return cond && wide == WIDE_OF(wide) && narrow == NARROW_OF(narrow) &&
	       a + 1 == b && b + 1 == c;
}

static int read_values(void *data)
{
	struct reader *reader = data;

	while (!kthread_should_stop()) {
		for (int i = 0; i < 1000; i++) {
			if (!read_is_right(i, i + 1, i + 2))
				reader->wrong++;
		}
		WRITE_ONCE(reader->reads, reader->reads + 1000);
		cond_resched();
	}
	return 0;
}

static bool all_have_read(const struct reader *readers, unsigned int nr)
{
	while (nr && READ_ONCE(readers[nr - 1].reads))
		nr--;
	return !nr;
}

static void test_set_while_read(struct kunit *test)
{
	const unsigned int nr_readers = min(3u, num_online_cpus());
	struct task_struct *task[3] = {};
	struct reader readers[3] = {};
	unsigned long end;
	unsigned int i, rounds = 0;

	for (i = 0; i < nr_readers; i++) {
		task[i] = kthread_run(read_values, &readers[i], "imv_read/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task[i]);
	}

	/*
	 * How long a round takes, and how often one reads, depends on who else runs. Where many
	 * emulated CPUs share few real ones, a minute may not be enough for a hundred rounds.
	 */
	for (end = jiffies + 60 * HZ; time_before(jiffies, end); rounds++) {
		const u8 value = rounds % 255 + 1;

		if (rounds >= 100 && all_have_read(readers, nr_readers))
			break;
		if (rounds & 1) {
			KUNIT_EXPECT_EQ(test, imv_set(test_wide, WIDE_OF(value)), 0);
			KUNIT_EXPECT_EQ(test, imv_set(test_narrow, NARROW_OF(value)), 0);
		} else {
			imv_assign(test_wide, WIDE_OF(value));
			imv_assign(test_narrow, NARROW_OF(value));
			KUNIT_EXPECT_EQ(test, imv_commit(), 0);
		}
		CHECK(test, test_wide, WIDE_OF(value));
		CHECK(test, test_narrow, NARROW_OF(value));
		cond_resched();
	}

	for (i = 0; i < nr_readers; i++) {
		kthread_stop(task[i]);
		KUNIT_EXPECT_EQ(test, readers[i].wrong, 0);
		KUNIT_EXPECT_GT(test, readers[i].reads, 0);
	}
	kunit_info(test, "%u rounds, %lu reads by the first\n", rounds, readers[0].reads);
	KUNIT_EXPECT_GE(test, rounds, 10);
}

#ifdef CONFIG_IMMEDIATE_VALUES
static DEFINE_IMV(u8, test_text8, 0x81);
static DEFINE_IMV(int, test_text32, 0x12345678);
#define TEXT_LONG	(ULONG_MAX / 7)

static DEFINE_IMV(unsigned long, test_text_long, TEXT_LONG);

static noinline u8 read8(void)
{
	return imv_read(test_text8);
}

static noinline int read32(void)
{
	return imv_read(test_text32);
}

static noinline unsigned long read_long(void)
{
	return imv_read(test_text_long);
}

/* Not in %rax, where it is returned */
static noinline int read32_cx(void)
{
	int value = imv_read(test_text32);

	asm volatile("" : "+c" (value));
	return value;
}

static noinline bool cond32(void)
{
	if (imv_cond(test_text32))
		return true;
	return false;
}

static int kprobe_at(unsigned long addr)
{
#ifdef CONFIG_KPROBES
	struct kprobe kprobe = { .addr = (void *)addr };
	int ret = register_kprobe(&kprobe);

	if (!ret)
		unregister_kprobe(&kprobe);
	return ret;
#else
	return -EINVAL;
#endif
}

/* What is in the text: the value, and no address */
static void test_text(struct kunit *test)
{
	static const struct {
		void	*function;
		u8	size, at, value_size;
	} cases[] = {
		{ read8, 7, 3, 4 }, { read32, 7, 3, 4 },
		{ read_long, BITS_PER_LONG == 64 ? 10 : 7, BITS_PER_LONG == 64 ? 2 : 3,
		  sizeof(long) },
		{ read32_cx, 7, 3, 4 },
	};
	struct text_site_table *table;
	struct text_site *site;

	for (int round = 0; round < 2; round++) {
		const u64 value32 = round ? -2u : 0x12345678;
		const u64 values[] = { round ? 5 : 0x81, value32,
				       round ? 3ul << (BITS_PER_LONG - 4) : TEXT_LONG, value32 };

		KUNIT_ASSERT_EQ(test, imv_set(test_text8, values[0]), 0);
		KUNIT_ASSERT_EQ(test, imv_set(test_text32, values[1]), 0);
		KUNIT_ASSERT_EQ(test, imv_set(test_text_long, values[2]), 0);
		KUNIT_EXPECT_EQ(test, read8(), (u8)values[0]);
		KUNIT_EXPECT_EQ(test, read32(), (int)values[1]);
		KUNIT_EXPECT_EQ(test, read32_cx(), (int)values[1]);
		KUNIT_EXPECT_EQ(test, read_long(), values[2]);

		for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
			u64 held = 0;

			site = value_site_in(cases[i].function, &table);
			KUNIT_ASSERT_NOT_NULL(test, site);
			KUNIT_EXPECT_EQ(test, site->state & (VALUE_SITE_LOAD | VALUE_SITE_ON),
					VALUE_SITE_LOAD | VALUE_SITE_ON);
			KUNIT_EXPECT_EQ(test, text_site_size(table->kind, site), cases[i].size);
			memcpy(&held, (u8 *)text_site_addr(site) + cases[i].at,
			       cases[i].value_size);
			KUNIT_EXPECT_EQ(test, held, values[i]);
			KUNIT_EXPECT_EQ(test, arch_text_site_verify(table, site), 0);
		}
	}
	KUNIT_EXPECT_EQ(test, imv_set(test_text8, 0x81), 0);
	KUNIT_EXPECT_EQ(test, imv_set(test_text_long, TEXT_LONG), 0);
}

/* Others that want to change text keep off all of it. */
static void test_reserved(struct kunit *test)
{
	static void *const functions[] = { read8, read_long, cond32 };
	struct text_site_table *table;

	for (unsigned int i = 0; i < ARRAY_SIZE(functions); i++) {
		struct text_site *site = value_site_in(functions[i], &table);
		void *first, *last;

		KUNIT_ASSERT_NOT_NULL(test, site);
		first = (void *)text_site_addr(site);
		last = first + text_site_size(table->kind, site) - 1;
		KUNIT_EXPECT_TRUE(test, text_sites_reserved(first, first));
		KUNIT_EXPECT_TRUE(test, text_sites_reserved(last, last));
		KUNIT_EXPECT_FALSE(test, text_sites_reserved(first - 1, first - 1));
		KUNIT_EXPECT_FALSE(test, text_sites_reserved(last + 1, last + 1));
		KUNIT_EXPECT_EQ(test, kprobe_at((unsigned long)first), -EINVAL);
	}
}

/* Text that is not what it should be: it is as before, and the value is. */
static void test_refused(struct kunit *test)
{
	struct text_site_table *table;
	struct text_site *site = value_site_in(read32, &table);
	const int was = imv_read(test_text32);

	KUNIT_ASSERT_NOT_NULL(test, site);
	site->state ^= FIELD_PREP(VALUE_SITE_REG, 1);
	KUNIT_EXPECT_EQ(test, imv_set(test_text32, was + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, imv_test_text32, was);
	KUNIT_EXPECT_EQ(test, read32(), was);
	KUNIT_EXPECT_EQ(test, cond32(), !!was);

	/* It fails nobody from now on. */
	KUNIT_EXPECT_TRUE(test, site->state & TEXT_SITE_DEAD);
	KUNIT_EXPECT_EQ(test, imv_set(test_text8, 7), 0);
	KUNIT_EXPECT_EQ(test, read8(), 7);
	KUNIT_EXPECT_EQ(test, imv_set(test_text8, 0x81), 0);

	site->state ^= FIELD_PREP(VALUE_SITE_REG, 1) | TEXT_SITE_DEAD;
	KUNIT_EXPECT_EQ(test, imv_set(test_text32, was + 1), 0);
	KUNIT_EXPECT_EQ(test, read32(), was + 1);
	KUNIT_EXPECT_EQ(test, imv_set(test_text32, was), 0);
}
#endif

#ifdef CONFIG_IMMEDIATE_VALUES
/* Only who sets a value fails for a site of that value that is not right. */
static void test_bad_one_elsewhere(struct kunit *test)
{
	struct text_site_table *table;
	struct text_site *site = value_site_in(read32, &table);
	const int was = imv_read(test_text32);

	KUNIT_ASSERT_NOT_NULL(test, site);
	site->state ^= FIELD_PREP(VALUE_SITE_REG, 1);
	imv_assign(test_text32, was + 1);
	KUNIT_EXPECT_EQ(test, imv_set(test_text8, 7), 0);
	KUNIT_EXPECT_EQ(test, read8(), 7);
	/* Others of its value are right, and it is as it was. */
	KUNIT_EXPECT_EQ(test, read32(), was);
	KUNIT_EXPECT_TRUE(test, site->state & TEXT_SITE_DEAD);
	KUNIT_EXPECT_EQ(test, imv_set(test_text8, 0x81), 0);
	/* Who has assigned the other value is told, once. */
	KUNIT_EXPECT_EQ(test, imv_commit(), -EINVAL);
	KUNIT_EXPECT_EQ(test, imv_commit(), 0);

	site->state ^= FIELD_PREP(VALUE_SITE_REG, 1) | TEXT_SITE_DEAD;
	KUNIT_EXPECT_EQ(test, imv_set(test_text32, was), 0);
	KUNIT_EXPECT_EQ(test, read32(), was);
}

/* In text that is freed, and never run: it is known, and dead by now. */
static DEFINE_IMV(int, test_exit, 1);

static int __exit __used exit_reads(void)
{
	return imv_cond(test_exit) ? imv_read(test_exit) : 0;
}

static void test_in_exit_text(struct kunit *test)
{
	struct text_site_kind *kind;
	unsigned int nr = 0;

	for_each_text_site_kind(kind) {
		struct text_site *site;

		for_each_text_site(site, &kind->kernel) {
			if (!kind->refs ||
			    value_site_value(&kind->kernel, site) != &imv_test_exit)
				continue;
			/* It was taken into use before. */
			KUNIT_EXPECT_TRUE(test, site->state & VALUE_SITE_ON);
			nr++;
		}
	}
	KUNIT_EXPECT_EQ(test, nr, 2);
	KUNIT_EXPECT_EQ(test, imv_set(test_exit, 2), 0);
}
#endif

static struct kunit_case immediate_cases[] = {
	KUNIT_CASE(test_defined),
	KUNIT_CASE(test_set),
	KUNIT_CASE(test_many_places),
	KUNIT_CASE(test_cond),
	KUNIT_CASE(test_batch),
	KUNIT_CASE(test_set_early),
	KUNIT_CASE(test_set_while_read),
#ifdef CONFIG_IMMEDIATE_VALUES
	KUNIT_CASE(test_text),
	KUNIT_CASE(test_reserved),
	KUNIT_CASE(test_refused),
	KUNIT_CASE(test_bad_one_elsewhere),
	KUNIT_CASE(test_in_exit_text),
#endif
	{}
};

static struct kunit_suite immediate_suite = {
	.name		= "immediate",
	.test_cases	= immediate_cases,
};

kunit_test_suite(immediate_suite);
