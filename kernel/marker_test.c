// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of branches, markers and their probes
 */
#include <kunit/test.h>

#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/marker.h>
#include <linux/marker_probe.h>
#include <linux/string.h>
#include <linux/value_site.h>

#include "immediate_test.h"

/* What a probe was called with last, and how often */
struct record {
	unsigned int	hits;
	unsigned int	order;
	u64		args[MARKER_ARGS_MAX];
};

static unsigned int nr_hits;

/* Copies more than there may be: what is behind the arguments is on the stack, too. */
static void record_probe(void *private, const u64 *args)
{
	struct record *record = private;

	record->hits++;
	record->order = ++nr_hits;
	memcpy(record->args, args, sizeof(record->args));
}

#define L	sizeof(long)

static void test_formats(struct kunit *test)
{
	static const struct {
		const char	*format;
		char		conversion;
		u8		size;	/* 0: none */
	} cases[] = {
		{ "%d", 'i', 4 },	{ "%i", 'i', 4 },	{ "%u", 'u', 4 },
		{ "%x", 'x', 4 },	{ "%X", 'X', 4 },	{ "%o", 'o', 4 },
		{ "%hhd", 'i', 1 },	{ "%hu", 'u', 2 },	{ "%ld", 'i', L },
		{ "%llx", 'x', 8 },	{ "%Lx", 'x', 8 },	{ "%zu", 'u', L },
		{ "%td", 'i', L },
		{ "%c", 'c', 1 },	{ "%s", 's', 1 },	{ "%-16.16s", 's', 1 },
		{ "%#010lx", 'x', L },	{ "a %% b %+d", 'i', 4 },	{ "%p", 'p', L },
		{ "%pS", 'p', L },	{ "%ps,", 'p', L },	{ "%px", 'p', L },
		{ "%n" }, { "%*d" }, { "%.*s" }, { "%pI4" }, { "%pSR" }, { "%f" }, { "%" },
		{ "%ls" }, { "%Ls" }, { "%5" }, { "%l" }, { "%hhs" }, { "%y" }, { "%p4cc" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *pos = cases[i].format;
		struct marker_arg arg;

		if (!cases[i].size) {
			KUNIT_EXPECT_EQ_MSG(test, marker_format_next(&pos, &arg), -EINVAL,
					    "%s", cases[i].format);
			continue;
		}
		KUNIT_EXPECT_EQ_MSG(test, marker_format_next(&pos, &arg), 1, "%s", pos);
		KUNIT_EXPECT_EQ_MSG(test, arg.conversion, cases[i].conversion, "%s", pos);
		KUNIT_EXPECT_EQ_MSG(test, arg.size, cases[i].size, "%s", pos);
		KUNIT_EXPECT_EQ_MSG(test, marker_format_next(&pos, &arg), 0, "%s", pos);
		KUNIT_EXPECT_EQ(test, *pos, '\0');
	}
}

/* As for vsnprintf(): a dot alone is none. */
static void test_precision(struct kunit *test)
{
	static const struct {
		const char	*format;
		u16		precision;
	} cases[] = {
		{ "%s", MARKER_PRECISION_NONE },	{ "%5s", MARKER_PRECISION_NONE },
		{ "%.s", MARKER_PRECISION_NONE },	{ "%.0s", 0 },
		{ "%-9.16s", 16 },			{ "%.8s,", 8 },
		{ "%.70000s", MARKER_PRECISION_NONE },
		{ "%.99999999999999999999s", MARKER_PRECISION_NONE },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *pos = cases[i].format;
		struct marker_arg arg;

		KUNIT_EXPECT_EQ_MSG(test, marker_format_next(&pos, &arg), 1, "%s", pos);
		KUNIT_EXPECT_EQ_MSG(test, arg.precision, cases[i].precision, "%s", cases[i].format);
		KUNIT_EXPECT_EQ_MSG(test, arg.conversion, 's', "%s", cases[i].format);
	}
}

static int evaluated;

static int evaluate(int value)
{
	evaluated++;
	return value;
}

static noinline void pass_two(int a, const char *b)
{
	trace_mark(marker_test, two, "%d %s", evaluate(a), b);
}

#define TWO	"marker_test:two", "%d %s"

static void test_connect(struct kunit *test)
{
	struct record record = {};

	evaluated = 0;
	pass_two(1, "one");
	KUNIT_EXPECT_EQ(test, evaluated, 0);

	KUNIT_EXPECT_EQ(test, marker_probe_register(TWO, record_probe, &record), 0);
	pass_two(-2, "two");
	KUNIT_EXPECT_EQ(test, evaluated, 1);
	KUNIT_EXPECT_EQ(test, record.hits, 1);
	KUNIT_EXPECT_EQ(test, (s64)record.args[0], -2);
	KUNIT_EXPECT_STREQ(test, (const char *)(unsigned long)record.args[1], "two");

	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:two", record_probe, &record), 0);
	pass_two(3, "three");
	KUNIT_EXPECT_EQ(test, evaluated, 1);
	KUNIT_EXPECT_EQ(test, record.hits, 1);
}

struct typed {
	int		hits;
	signed char	small;
	char		character;
	unsigned short	number;
	int		whole;
	unsigned long	bits;
	u64		large;
	const char	*text;
	const void	*pointer;
};

MARKER_PROBE(typed_probe, "%hhd %c %hu %d %lx %llu %s %p", signed char, small, char, character,
	     unsigned short, number, int, whole, unsigned long, bits, u64, large,
	     const char *, text, const void *, pointer)
{
	*(struct typed *)private = (struct typed) {
		((struct typed *)private)->hits + 1,
		small, character, number, whole, bits, large, text, pointer,
	};
}

MARKER_PROBE(plain_probe, "nothing")
{
	++*(int *)private;
}

MARKER_PROBE(unsigned_probe, "%u %s", unsigned int, a, const char *, b)
{
	++*(int *)private;
}

static void test_types(struct kunit *test)
{
	const char *text = "text";
	struct typed typed = {};
	int hits = 0;

	KUNIT_ASSERT_EQ(test, marker_connect("marker_test:typed", &typed_probe, &typed), 0);
	trace_mark(marker_test, typed, "%hhd %c %hu %d %lx %llu %s %p", (signed char)-1, 'c',
		   (unsigned short)65535, -3, ~0ul, 1ull << 63, text, test);
	KUNIT_EXPECT_EQ(test, typed.hits, 1);
	KUNIT_EXPECT_EQ(test, typed.small, -1);
	KUNIT_EXPECT_EQ(test, typed.character, 'c');
	KUNIT_EXPECT_EQ(test, typed.number, 65535);
	KUNIT_EXPECT_EQ(test, typed.whole, -3);
	KUNIT_EXPECT_EQ(test, typed.bits, ~0ul);
	KUNIT_EXPECT_EQ(test, typed.large, 1ull << 63);
	KUNIT_EXPECT_PTR_EQ(test, typed.text, text);
	KUNIT_EXPECT_PTR_EQ(test, typed.pointer, (const void *)test);
	KUNIT_EXPECT_EQ(test, marker_disconnect("marker_test:typed", &typed_probe, &typed), 0);

	KUNIT_EXPECT_EQ(test, marker_connect("marker_test:none", &plain_probe, &hits), 0);
	trace_mark(marker_test, none, "nothing");
	KUNIT_EXPECT_EQ(test, hits, 1);
	KUNIT_EXPECT_EQ(test, marker_disconnect("marker_test:none", &plain_probe, &hits), 0);
	KUNIT_EXPECT_EQ(test, marker_disconnect("marker_test:none", &plain_probe, &hits), -ENOENT);

	/* The marker has an int. */
	KUNIT_EXPECT_EQ(test, marker_connect("marker_test:two", &unsigned_probe, &hits), -EINVAL);
	pass_two(1, "");
	KUNIT_EXPECT_EQ(test, hits, 1);
	marker_synchronize();
}

struct place {
	int		hits;
	u64		sum;
	char		where[KSYM_NAME_LEN];
};

MARKER_PROBE(place_probe, "%d %llu %s", int, a, u64, b, const char *, c)
{
	struct place *place = private;

	place->hits++;
	place->sum += a + b + strlen(c);
	snprintf(place->where, sizeof(place->where), "%ps", (void *)_THIS_IP_);
}

static noinline void pass_in_place(signed char a, u64 b)
{
	trace_mark_inline(place_probe, marker_test, place, "%d %llu %s", a, b, "four");
}

static noinline void pass_elsewhere(int a)
{
	trace_mark(marker_test, place, "%d %llu %s", a, 0ull, "");
}

static noinline void pass_depth(void)
{
	trace_mark_inline(place_probe, marker_test, depth, "%d %llu %s", preempt_count(), 0ull, "");
}

#define PLACE	"marker_test:place"

/* The compiler may have put it behind the function, under a name of its own. */
#define expect_place(test, place, func)							\
	KUNIT_EXPECT_EQ_MSG(test, strncmp((place)->where, func, strlen(func)), 0, "%s",	\
			    (place)->where)

/* Arguments are evaluated where one may do what one may do outside of the marker. */
static void test_inline_arguments(struct kunit *test)
{
	struct place place = {};

	KUNIT_ASSERT_EQ(test, marker_connect("marker_test:depth", &place_probe, &place), 0);
	pass_depth();
	KUNIT_EXPECT_EQ(test, marker_disconnect("marker_test:depth", &place_probe, &place), 0);
	marker_synchronize();
	KUNIT_EXPECT_EQ(test, place.hits, 1);
	KUNIT_EXPECT_EQ(test, place.sum, preempt_count());
	expect_place(test, &place, "pass_depth");
}

static void test_inline_probe(struct kunit *test)
{
	struct place place = {};
	struct record record = {};

	pass_in_place(-1, 2);
	KUNIT_ASSERT_EQ(test, marker_connect(PLACE, &place_probe, &place), 0);
	pass_in_place(-1, 1ull << 40);
	KUNIT_EXPECT_EQ(test, place.hits, 1);
	KUNIT_EXPECT_EQ(test, place.sum, (1ull << 40) + 3);
	expect_place(test, &place, "pass_in_place");
	pass_elsewhere(-3);
	KUNIT_EXPECT_EQ(test, place.hits, 2);
	KUNIT_EXPECT_EQ(test, place.sum, 1ull << 40);
	expect_place(test, &place, "place_probe_func");

	/* With another one, both are called, and then the other one. */
	KUNIT_EXPECT_EQ(test, marker_probe_register(PLACE, "%d %llu %s", record_probe, &record), 0);
	pass_in_place(-5, 7);
	KUNIT_EXPECT_EQ(test, place.hits, 3);
	KUNIT_EXPECT_EQ(test, place.sum, (1ull << 40) + 6);
	expect_place(test, &place, "place_probe_func");
	KUNIT_EXPECT_EQ(test, record.hits, 1);
	KUNIT_EXPECT_EQ(test, (s64)record.args[0], -5);
	KUNIT_EXPECT_EQ(test, record.args[1], 7);
	KUNIT_EXPECT_EQ(test, marker_disconnect(PLACE, &place_probe, &place), 0);
	pass_in_place(1, 1);
	KUNIT_EXPECT_EQ(test, place.hits, 3);
	KUNIT_EXPECT_EQ(test, record.hits, 2);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(PLACE, record_probe, &record), 0);
	pass_in_place(1, 1);
	KUNIT_EXPECT_EQ(test, record.hits, 2);
	marker_synchronize();
}

static void test_several_probes(struct kunit *test)
{
	struct record records[3] = {};

	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, marker_probe_register(TWO, record_probe, &records[i]), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_register(TWO, record_probe, &records[1]), -EEXIST);
	evaluated = 0;
	pass_two(1, "");
	KUNIT_EXPECT_EQ(test, evaluated, 1);
	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, records[i].hits, 1);
	KUNIT_EXPECT_LT(test, records[0].order, records[1].order);
	KUNIT_EXPECT_LT(test, records[1].order, records[2].order);

	/* The middle one, the first, the last: what is left is called. */
	for (int i = 0; i < 3; i++) {
		static const int gone[] = { 1, 0, 2 };

		KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:two", record_probe,
							      &records[gone[i]]), 0);
		pass_two(1, "");
	}
	KUNIT_EXPECT_EQ(test, records[1].hits, 1);
	KUNIT_EXPECT_EQ(test, records[0].hits, 2);
	KUNIT_EXPECT_EQ(test, records[2].hits, 3);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:two", record_probe, &records[0]),
			-ENOENT);
}

#ifdef CONFIG_TEXT_SITES
static noinline void pass_two_elsewhere(int a)
{
	trace_mark(marker_test, two, "%d %s", evaluate(a), "elsewhere");
}

/* A site whose text does not match stays on; the other sites of its marker are switched off. */
static void test_bad_site(struct kunit *test)
{
	struct text_site_table *table;
	struct text_site *site = value_site_in(pass_two, &table);
	struct record records[2] = {};

	KUNIT_ASSERT_NOT_NULL(test, site);
	KUNIT_ASSERT_EQ(test, marker_probe_register(TWO, record_probe, &records[0]), 0);
	evaluated = 0;
	pass_two(1, "");
	pass_two_elsewhere(2);
	KUNIT_EXPECT_EQ(test, evaluated, 2);
	KUNIT_EXPECT_EQ(test, records[0].hits, 2);

	site->state ^= FIELD_PREP(VALUE_SITE_DISTANCE, 1);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:two", record_probe, &records[0]),
			0);
	KUNIT_EXPECT_TRUE(test, site->state & TEXT_SITE_DEAD);
	pass_two(1, "");
	pass_two_elsewhere(2);
	KUNIT_EXPECT_EQ(test, evaluated, 3);
	KUNIT_EXPECT_EQ(test, records[0].hits, 2);

	/* It is switched again when its state is right. */
	site->state ^= FIELD_PREP(VALUE_SITE_DISTANCE, 1) | TEXT_SITE_DEAD;
	KUNIT_EXPECT_EQ(test, marker_probe_register(TWO, record_probe, &records[1]), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:two", record_probe, &records[1]),
			0);
	pass_two(1, "");
	KUNIT_EXPECT_EQ(test, evaluated, 3);
}
#endif

static noinline void pass_many(s8 a, u8 b, s16 c, u32 d, s32 e, u64 f, const void *g, bool h)
{
	trace_mark(marker_test, none, "nothing");
	trace_mark(marker_test, one, "%hhd", a);
	trace_mark(marker_test, many, "%hhd %hhu %hd %u %d %llu %p %d", a, b, c, d, e, f, g, h);
}

static void test_arguments(struct kunit *test)
{
	struct record none = {}, one = {}, many = {};

	KUNIT_EXPECT_EQ(test, marker_probe_register("marker_test:none", "nothing",
						    record_probe, &none), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_register("marker_test:one", "%hhd",
						    record_probe, &one), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_register("marker_test:many",
						    "%hhd %hhu %hd %u %d %llu %p %d",
						    record_probe, &many), 0);
	pass_many(-1, 255, -2, 0xfffffffe, -3, 0x123456789abcdef0, test, true);
	KUNIT_EXPECT_EQ(test, none.hits, 1);
	KUNIT_EXPECT_EQ(test, one.hits, 1);
	KUNIT_EXPECT_EQ(test, (s64)one.args[0], -1);
	KUNIT_EXPECT_EQ(test, many.hits, 1);
	KUNIT_EXPECT_EQ(test, (s64)many.args[0], -1);
	KUNIT_EXPECT_EQ(test, many.args[1], 255);
	KUNIT_EXPECT_EQ(test, (s64)many.args[2], -2);
	KUNIT_EXPECT_EQ(test, many.args[3], 0xfffffffe);
	KUNIT_EXPECT_EQ(test, (s64)many.args[4], -3);
	KUNIT_EXPECT_EQ(test, many.args[5], 0x123456789abcdef0);
	KUNIT_EXPECT_PTR_EQ(test, (void *)(unsigned long)many.args[6], (void *)test);
	KUNIT_EXPECT_EQ(test, many.args[7], 1);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:none", record_probe, &none), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:one", record_probe, &one), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:many", record_probe, &many), 0);
}

#ifdef CONFIG_ARCH_HAS_CURRENT_STACK_POINTER
/* The arguments may go to the stack one after the other: that moves it. */
static noinline unsigned long pass_stack_pointer(void)
{
	const unsigned long now = current_stack_pointer;

	trace_mark(marker_test, stack, "%lx %d", current_stack_pointer, 1);
	return now;
}
#endif

static noinline const void *pass_array(int n)
{
	char array[16];

	snprintf(array, sizeof(array), "%d", n);
	trace_mark(marker_test, array, "%s %d", array, n);
	/* Only to be compared */
	return (const void *)((unsigned long)array ^ 1);
}

static void test_on_the_stack(struct kunit *test)
{
	struct record record = {};
	const void *array;

	KUNIT_ASSERT_EQ(test, marker_probe_register("marker_test:array", "%s %d",
						    record_probe, &record), 0);
	array = pass_array(7);
	KUNIT_EXPECT_EQ(test, record.args[0] ^ 1, (unsigned long)array);
	KUNIT_EXPECT_EQ(test, record.args[1], 7);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:array", record_probe, &record),
			0);
#ifdef CONFIG_ARCH_HAS_CURRENT_STACK_POINTER
	KUNIT_ASSERT_EQ(test, marker_probe_register("marker_test:stack", "%lx %d",
						    record_probe, &record), 0);
	KUNIT_EXPECT_EQ(test, pass_stack_pointer(), record.args[0]);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:stack", record_probe, &record),
			0);
#endif
}

/* What stands around a marker is as if there was none, on or off. */
static noinline unsigned long compute(unsigned long a, unsigned long b, unsigned long c,
				      unsigned long d, unsigned long e, unsigned long f)
{
	unsigned long g = a * b, h = c * d, i = e * f, j = a ^ f, k = b ^ e, l = c ^ d;

	trace_mark(marker_test, compute, "%lu %lu %lu", g, a, 5ul);
	return a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f + 17 * g + 19 * h + 23 * i +
	       29 * j + 31 * k + 37 * l;
}

static void test_registers(struct kunit *test)
{
	struct record record = {};
	unsigned long off = compute(2, 3, 5, 7, 11, 13);

	KUNIT_EXPECT_EQ(test, marker_probe_register("marker_test:compute", "%lu %lu %lu",
						    record_probe, &record), 0);
	KUNIT_EXPECT_EQ(test, compute(2, 3, 5, 7, 11, 13), off);
	KUNIT_EXPECT_EQ(test, record.args[0], 6);
	KUNIT_EXPECT_EQ(test, record.args[1], 2);
	KUNIT_EXPECT_EQ(test, record.args[2], 5);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:compute", record_probe, &record),
			0);
	KUNIT_EXPECT_EQ(test, compute(2, 3, 5, 7, 11, 13), off);
}

/* One marker with a value site for each round and each copy */
static __always_inline void pass_inline(int n)
{
#pragma GCC unroll 4
	for (int i = 0; i < 4; i++)
		trace_mark(marker_test, inlined, "%d", n + i);
}

static noinline void pass_first(void)
{
	pass_inline(10);
}

static noinline void pass_second(void)
{
	pass_inline(20);
	trace_mark(marker_test, inlined, "%d", 30);
}

static void test_inlined_and_unrolled(struct kunit *test)
{
	struct record record = {};

	KUNIT_EXPECT_EQ(test, marker_probe_register("marker_test:inlined", "%d",
						    record_probe, &record), 0);
	pass_first();
	KUNIT_EXPECT_EQ(test, record.hits, 4);
	KUNIT_EXPECT_EQ(test, record.args[0], 13);
	pass_second();
	KUNIT_EXPECT_EQ(test, record.hits, 9);
	KUNIT_EXPECT_EQ(test, record.args[0], 30);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:inlined", record_probe, &record),
			0);
	pass_second();
	KUNIT_EXPECT_EQ(test, record.hits, 9);
}

/* One is refused, as it has another format than the one that the kernel has met first. */
static noinline void pass_differing(void)
{
	trace_mark(marker_test, differs, "%d", evaluate(1));
	trace_mark(marker_test, differs, "%u", (unsigned int)evaluate(2));
}

static noinline void pass_bad(void)
{
	int n;

	trace_mark(marker_test, bad, "%n", &n);
}

static void test_refused(struct kunit *test)
{
	static const char *const formats[] = { "%d", "%u" };
	struct record record = {};
	int accepted = 0, rets[2];

	for (int i = 0; i < 2; i++) {
		rets[i] = marker_probe_register("marker_test:differs", formats[i], record_probe,
						&record);
		accepted = rets[i] ? accepted : i;
	}
	KUNIT_EXPECT_EQ(test, rets[accepted], 0);
	KUNIT_EXPECT_EQ(test, rets[!accepted], -EINVAL);
	/* Pointers are in an order of the compiler's choice. */
	if (IS_ENABLED(CONFIG_TEXT_SITES))
		KUNIT_EXPECT_EQ(test, accepted, 0);
	evaluated = 0;
	pass_differing();
	KUNIT_EXPECT_EQ(test, evaluated, 1);
	KUNIT_EXPECT_EQ(test, record.hits, 1);
	KUNIT_EXPECT_EQ(test, record.args[0], accepted + 1);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:differs", record_probe, &record),
			0);

	KUNIT_EXPECT_EQ(test, marker_probe_register("marker_test:bad", "%n", record_probe, &record),
			-EINVAL);
	pass_bad();
	KUNIT_EXPECT_EQ(test, record.hits, 1);
}

static void test_bad_names(struct kunit *test)
{
	static const char *const names[] = {
		"", ":", "a", "a:", ":b", "a:b:c", "a/b:c", "a:b/c", "a:b c", "*:*", "a:../b",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_EQ_MSG(test, marker_probe_register(names[i], "%d", record_probe, NULL),
				    -EINVAL, "%s", names[i]);
	KUNIT_EXPECT_EQ(test, marker_probe_register("marker_test:nine", "%d%d%d%d%d%d%d%d%d",
						    record_probe, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("no:such", record_probe, NULL), -ENOENT);
}

/* No marker yet, perhaps never */
static void test_waiting(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, marker_probe_register("no:such", "%d", record_probe, NULL), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_register("no:such", "%s", record_probe, test), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("no:such", record_probe, NULL), 0);
	/* It is forgotten, and with it the format. */
	KUNIT_EXPECT_EQ(test, marker_probe_register("no:such", "%s", record_probe, test), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("no:such", record_probe, test), 0);
}

static int unregistered;

static void unregister_probe(void *private, const u64 *args)
{
	unregistered = marker_probe_unregister("marker_test:two", unregister_probe, private);
}

static void test_unregister_in_probe(struct kunit *test)
{
	unregistered = 1;
	KUNIT_EXPECT_EQ(test, marker_probe_register(TWO, unregister_probe, test), 0);
	pass_two(1, "");
	KUNIT_EXPECT_EQ(test, unregistered, -EWOULDBLOCK);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:two", unregister_probe, test),
			0);
}

/* As early as one may register */
static struct record early;
static int early_ret = 1;

static void __init pass_early(void)
{
	trace_mark(marker_test, early, "%d", 1);
}

static int __init register_early(void)
{
	early_ret = marker_probe_register("marker_test:early", "%d", record_probe, &early);
	return 0;
}
early_initcall(register_early);

static int __init pass_later(void)
{
	pass_early();
	return 0;
}
core_initcall(pass_later);

static void test_early(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, early_ret, 0);
	KUNIT_EXPECT_EQ(test, early.hits, 1);
	if (!early_ret)
		KUNIT_EXPECT_EQ(test, marker_probe_unregister("marker_test:early", record_probe,
							      &early), 0);
	early_ret = 1;
}

struct pass {
	unsigned long	passed, wrong;
};

struct checked {
	atomic_long_t	hits, wrong;
};

static void check_probe(void *private, const u64 *args)
{
	const unsigned long i = args[0];
	struct checked *checked = private;

	if (args[0] == i && args[1] == ~i && args[2] == i * 3)
		atomic_long_inc(&checked->hits);
	else
		atomic_long_inc(&checked->wrong);
}

static noinline unsigned long pass_checked(unsigned long i, unsigned long a)
{
	trace_mark(marker_test, checked, "%lu %lu %lu", i, ~i, i * 3);
	return i ^ a;
}

static int pass_in_a_loop(void *data)
{
	struct pass *pass = data;

	for (unsigned long i = 0; !kthread_should_stop(); i++) {
		if (pass_checked(i, pass->passed) != (i ^ pass->passed))
			pass->wrong++;
		pass->passed++;
		cond_resched();
	}
	return 0;
}

/* One loop a CPU that passes, and one that connects and disconnects two probes. */
static void test_changed_while_passed(struct kunit *test)
{
	struct task_struct **tasks = kunit_kcalloc(test, nr_cpu_ids, sizeof(*tasks), GFP_KERNEL);
	struct pass *passes = kunit_kcalloc(test, nr_cpu_ids, sizeof(*passes), GFP_KERNEL);
	struct checked *checked = kunit_kcalloc(test, 2, sizeof(*checked), GFP_KERNEL);
	const char *name = "marker_test:checked", *format = "%lu %lu %lu";
	unsigned long end, rounds, wrong = 0;
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, tasks);
	KUNIT_ASSERT_NOT_NULL(test, passes);
	KUNIT_ASSERT_NOT_NULL(test, checked);

	for_each_online_cpu(cpu) {
		struct task_struct *task = kthread_run_on_cpu(pass_in_a_loop, &passes[cpu], cpu,
							      "pass/%u");

		tasks[cpu] = IS_ERR(task) ? NULL : task;
		KUNIT_EXPECT_NOT_NULL(test, tasks[cpu]);
	}

	/* How often they are passed in a round depends on who else runs. */
	end = jiffies + 60 * HZ;
	for (rounds = 0; time_before(jiffies, end); rounds++) {
		if (rounds >= 20 && atomic_long_read(&checked[0].hits) > 10 &&
		    atomic_long_read(&checked[1].hits) > 10)
			break;
		for (int i = 0; i < 2; i++)
			KUNIT_EXPECT_EQ(test, marker_probe_register(name, format, check_probe,
								    &checked[i]), 0);
		fsleep(1000);
		for (int i = 0; i < 2; i++)
			KUNIT_EXPECT_EQ(test, marker_probe_unregister(name, check_probe,
								      &checked[i]), 0);
	}

	for_each_possible_cpu(cpu) {
		if (tasks[cpu])
			kthread_stop(tasks[cpu]);
		wrong += passes[cpu].wrong;
	}
	marker_synchronize();
	kunit_info(test, "%lu rounds, %ld and %ld hits\n", rounds,
		   atomic_long_read(&checked[0].hits), atomic_long_read(&checked[1].hits));
	KUNIT_EXPECT_EQ(test, wrong, 0);
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_GT(test, atomic_long_read(&checked[i].hits), 10);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&checked[i].wrong), 0);
	}
}

static struct kunit_case marker_cases[] = {
	KUNIT_CASE(test_formats),
	KUNIT_CASE(test_precision),
	KUNIT_CASE(test_connect),
	KUNIT_CASE(test_types),
	KUNIT_CASE(test_inline_probe),
	KUNIT_CASE(test_inline_arguments),
	KUNIT_CASE(test_several_probes),
#ifdef CONFIG_TEXT_SITES
	KUNIT_CASE(test_bad_site),
#endif
	KUNIT_CASE(test_arguments),
	KUNIT_CASE(test_on_the_stack),
	KUNIT_CASE(test_registers),
	KUNIT_CASE(test_inlined_and_unrolled),
	KUNIT_CASE(test_refused),
	KUNIT_CASE(test_bad_names),
	KUNIT_CASE(test_waiting),
	KUNIT_CASE(test_unregister_in_probe),
	KUNIT_CASE(test_early),
	KUNIT_CASE(test_changed_while_passed),
	{}
};

static struct kunit_suite marker_suite = {
	.name		= "marker",
	.test_cases	= marker_cases,
};

kunit_test_suite(marker_suite);
