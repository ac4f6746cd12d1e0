// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of how arguments and values of traced functions are printed, by their types */
#include <kunit/test.h>

#include <linux/fpu.h>
#include <linux/ftrace.h>

#include "args_test.h"
#include "../func_args.h"

/* The last call of a function of args_test.h */
static unsigned long called_ip;
static unsigned long called_args[FUNC_ARGS];
static struct trace_seq printed;

static void record(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		   struct ftrace_regs *fregs)
{
	called_ip = ip;
	func_args_save(called_args, fregs);
}

static struct ftrace_ops recorder = { .func = record };

static int start_recording(struct kunit_suite *suite)
{
	char pattern[] = "args_test_*";
	const int ret = ftrace_set_filter(&recorder, pattern, strlen(pattern), 1);

	return ret ?: register_ftrace_function(&recorder);
}

static void stop_recording(struct kunit_suite *suite)
{
	if (recorder.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&recorder);
	ftrace_free_filter(&recorder);
}

static const char *printed_text(void)
{
	trace_seq_putc(&printed, '\0');
	return printed.buffer;
}

/* What is printed for the last call, and for one with other words in its registers */
#define EXPECT_ARGS_OF(_test, _args, _text)				\
	do {								\
		trace_seq_init(&printed);				\
		KUNIT_EXPECT_TRUE(_test, func_args_print_typed(&printed, called_ip, _args)); \
		KUNIT_EXPECT_STREQ(_test, printed_text(), _text);	\
	} while (0)
#define EXPECT_ARGS(_test, _text)	EXPECT_ARGS_OF(_test, called_args, _text)

/* What is printed if the function that was called last returns @_value */
#define EXPECT_VALUE(_test, _value, _text)				\
	do {								\
		trace_seq_init(&printed);				\
		KUNIT_EXPECT_TRUE(_test, func_value_print_typed(&printed, called_ip, _value)); \
		KUNIT_EXPECT_STREQ(_test, printed_text(), _text);	\
		KUNIT_EXPECT_FALSE(_test, func_is_void_typed(called_ip)); \
	} while (0)

#define GARBAGE		0xdeadbeefcafe0000ul

static void test_numbers(struct kunit *test)
{
	const unsigned long garbage[FUNC_ARGS] = {
		GARBAGE | 0xfc, GARBAGE | 0xfffe, GARBAGE | 0x7fff, 0x1234,
	};

	args_test_numbers(-4, 65534, -70000, NULL);
	EXPECT_ARGS(test, "small=-4, word=65534, number=-70000, text=0x0");
	EXPECT_ARGS_OF(test, garbage, "small=-4, word=65534, number=-889290753, text=0x1234");
}

static void test_kinds(struct kunit *test)
{
	const unsigned long garbage[FUNC_ARGS] = {
		GARBAGE, GARBAGE | 1, GARBAGE | 2, 5,
	};

	args_test_kinds(true, false, ARGS_TEST_MINUS, ARGS_TEST_LONG);
	EXPECT_ARGS(test, "yes=true, no=false, sign=-2, wide=1099511627776");
	EXPECT_ARGS_OF(test, garbage, "yes=false, no=true, sign=-889323518, wide=5");
}

/* Of a word that is not full, only what belongs to the structure is printed. */
static void test_pairs(struct kunit *test)
{
	const struct args_test_pair pair = { 0x11, 0x22, 0x33 };
	const struct args_test_small small = { 0x44, 0x55, 0x66 };
	const union args_test_union any = { .number = 0x77 };
	const unsigned long garbage[FUNC_ARGS] = {
		8, 0x123456789abcdef0, 0x123456789abcdef, 0x123456789abcdef, 1, 9,
	};
	static const char of_garbage[] =
		"a=8, pair={0x123456789abcdef0, 0x89abcdef}, small={0xabcdef}, any={0x1}, z=9";

	args_test_pairs(-1, pair, small, any, 88);
	EXPECT_ARGS(test, "a=-1, pair={0x2200000011, 0x33}, small={0x665544}, any={0x77}, z=88");
	EXPECT_ARGS_OF(test, garbage, of_garbage);
}

static void test_wide_number(struct kunit *test)
{
	args_test_wide(((__int128)1 << 64) | 2, 3);
	EXPECT_ARGS(test, "wide={0x2, 0x1}, after=3");
}

/* What does not fit is on the stack, and leaves its registers to what follows. */
static void test_stack(struct kunit *test)
{
	args_test_stack(1, (struct args_test_large){ { 2, 3, 4 } }, 5);
	EXPECT_ARGS(test, "before=1, large={...}, after=5");
	args_test_no_room(1, 2, 3, 4, 5, (struct args_test_pair){ 6, 7, 8 }, 9, 10);
	EXPECT_ARGS(test, "a=1, b=2, c=3, d=4, e=5, pair={...}, last=9, ...");
	args_test_variable(1, 2, 3);
	EXPECT_ARGS(test, "number=1, ...");
}

static void test_float(struct kunit *test)
{
	if (!kernel_fpu_available())
		kunit_skip(test, "no floating point numbers");
	kernel_fpu_begin();
	args_test_call_float();
	kernel_fpu_end();
	EXPECT_ARGS(test, "before=1, number={...}, other={...}, after=4");
	kernel_fpu_begin();
	args_test_call_return_float();
	kernel_fpu_end();
	EXPECT_ARGS(test, "number={...}, after=2");
	EXPECT_VALUE(test, 1, "{...}");
}

static void test_large_values(struct kunit *test)
{
	/* Its first argument is where it stores this. */
	KUNIT_EXPECT_EQ(test, args_test_return_large(1).word[2], 3);
	EXPECT_ARGS(test, "number=1");
	EXPECT_VALUE(test, 1, "{...}");
	KUNIT_EXPECT_EQ(test, args_test_return_pair(1).c, 3);
	EXPECT_ARGS(test, "number=1");
	EXPECT_VALUE(test, 1, "{...}");
}

/* Who returns sets only as much of the register as the type has. */
static void test_small_values(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, args_test_return_bool());
	EXPECT_VALUE(test, GARBAGE | 1, "true");
	EXPECT_VALUE(test, GARBAGE, "false");
	KUNIT_EXPECT_EQ(test, args_test_return_char(), -1);
	EXPECT_VALUE(test, GARBAGE | 0xff, "-1 (EPERM)");
	EXPECT_VALUE(test, GARBAGE | 0x7f, "127");
	KUNIT_EXPECT_EQ(test, args_test_return_unsigned(), U32_MAX);
	EXPECT_VALUE(test, 0xdeadbeefffffffff, "4294967295");
	KUNIT_EXPECT_EQ(test, args_test_return_enum(), ARGS_TEST_MINUS);
	EXPECT_VALUE(test, 0xfffffffe, "-2 (ENOENT)");
	EXPECT_VALUE(test, 2, "2");
}

static void test_no_value(struct kunit *test)
{
	args_test_variable(1);
	trace_seq_init(&printed);
	KUNIT_EXPECT_TRUE(test, func_is_void_typed(called_ip));
	KUNIT_EXPECT_FALSE(test, func_value_print_typed(&printed, called_ip, 1));
	KUNIT_EXPECT_STREQ(test, printed_text(), "");
}

static struct kunit_case args_cases[] = {
	KUNIT_CASE(test_numbers),
	KUNIT_CASE(test_kinds),
	KUNIT_CASE(test_pairs),
	KUNIT_CASE(test_wide_number),
	KUNIT_CASE(test_stack),
	KUNIT_CASE(test_float),
	KUNIT_CASE(test_large_values),
	KUNIT_CASE(test_small_values),
	KUNIT_CASE(test_no_value),
	{}
};

static struct kunit_suite args_suite = {
	.name		= "fentry_args",
	.suite_init	= start_recording,
	.suite_exit	= stop_recording,
	.test_cases	= args_cases,
};

kunit_test_suites(&args_suite);
