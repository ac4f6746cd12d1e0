// SPDX-License-Identifier: GPL-2.0
/* Tests of direct calls, alone at a site and together with other ops */
#include <kunit/test.h>
#include <linux/objtool.h>

#include <asm/ibt.h>
#include <asm/linkage.h>
#include <asm/nospec-branch.h>

#include "fentry_test.h"
#include "ops.h"
#include "set.h"

int fentry_test_direct_hits[2];

/* What sites call: counts, and changes nothing else but the flags */
#define DIRECT_TRAMPOLINE(_name, _counter)					\
	asm(".pushsection .text, \"ax\", @progbits\n"				\
	    ".type " #_name ", @function\n"					\
	    ".globl " #_name "\n"						\
	    #_name ":\n"							\
	    ASM_ENDBR								\
	    CALL_DEPTH_ACCOUNT							\
	    "lock incl " #_counter "(%rip)\n"					\
	    ASM_RET								\
	    ".size " #_name ", . - " #_name "\n"				\
	    ".popsection\n")

DIRECT_TRAMPOLINE(fentry_test_direct_a, fentry_test_direct_hits);
DIRECT_TRAMPOLINE(fentry_test_direct_b, fentry_test_direct_hits + 4);

#define A	((unsigned long)fentry_test_direct_a)
#define B	((unsigned long)fentry_test_direct_b)
#define CALLEE	((unsigned long)fentry_test_callee)

/* An ops for direct calls, and what its owner was told */
struct direct {
	struct ftrace_ops	ops;
	unsigned int		told[FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER + 1];
	int			answer;
};

static int listen(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd)
{
	struct direct *direct = container_of(ops, struct direct, ops);

	direct->told[cmd]++;
	return direct->answer;
}

static unsigned int callback_calls;

static void count(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		  struct ftrace_regs *fregs)
{
	callback_calls++;
}

static void go_elsewhere(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)fentry_test_other);
}

static void *filtered(struct kunit *test, size_t size)
{
	struct ftrace_ops *ops = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ops);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(ops, CALLEE, 0, 1), 0);
	return ops;
}

/* Calls the callee: what it returns, and who was called on the way */
static void expect_call(struct kunit *test, long ret, int a, int b, unsigned int callbacks)
{
	fentry_test_direct_hits[0] = 0;
	fentry_test_direct_hits[1] = 0;
	callback_calls = 0;
	KUNIT_EXPECT_EQ(test, fentry_test_caller(), ret);
	KUNIT_EXPECT_EQ(test, READ_ONCE(fentry_test_direct_hits[0]), a);
	KUNIT_EXPECT_EQ(test, READ_ONCE(fentry_test_direct_hits[1]), b);
	KUNIT_EXPECT_EQ(test, callback_calls, callbacks);
}

static void test_alone(struct kunit *test)
{
	struct direct *direct = filtered(test, sizeof(*direct));
	unsigned long site = ftrace_location(CALLEE);

	expect_call(test, 654321, 0, 0, 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct->ops, A), 0);
	KUNIT_EXPECT_EQ(test, ftrace_find_rec_direct(site), A);
	expect_call(test, 654321, 1, 0, 0);

	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct->ops, B), 0);
	KUNIT_EXPECT_EQ(test, ftrace_find_rec_direct(site), B);
	expect_call(test, 654321, 0, 1, 0);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct->ops, B, true), 0);
	KUNIT_EXPECT_EQ(test, ftrace_find_rec_direct(site), 0);
	expect_call(test, 654321, 0, 0, 0);
}

/* In every order of coming and going */
static void test_with_callbacks(struct kunit *test)
{
	struct direct *direct = filtered(test, sizeof(*direct));
	struct ftrace_ops *plain = filtered(test, sizeof(*plain));
	struct ftrace_ops *regs = filtered(test, sizeof(*regs));

	plain->func = count;
	regs->func = count;
	regs->flags |= FTRACE_OPS_FL_SAVE_REGS;

	KUNIT_ASSERT_EQ(test, register_ftrace_function(plain), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct->ops, A), 0);
	expect_call(test, 654321, 1, 0, 1);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(regs), 0);
	expect_call(test, 654321, 1, 0, 2);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct->ops, B), 0);
	expect_call(test, 654321, 0, 1, 2);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(plain), 0);
	expect_call(test, 654321, 0, 1, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct->ops, B, false), 0);
	expect_call(test, 654321, 0, 0, 1);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct->ops, A), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(regs), 0);
	expect_call(test, 654321, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct->ops, A, true), 0);
	expect_call(test, 654321, 0, 0, 0);
	ftrace_free_filter(plain);
	ftrace_free_filter(regs);
}

static void test_bad_calls(struct kunit *test)
{
	struct direct *direct = filtered(test, sizeof(*direct));
	struct direct *second = filtered(test, sizeof(*second));
	struct direct *nowhere = kunit_kzalloc(test, sizeof(*nowhere), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, nowhere);
	/* No filter; not initialised, and initialised */
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&nowhere->ops, A), -EINVAL);
	ftrace_free_filter(&nowhere->ops);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&nowhere->ops, A), -EINVAL);
	KUNIT_EXPECT_NULL(test, nowhere->ops.func);

	/* No text */
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct->ops, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct->ops,
						     (unsigned long)fentry_test_direct_hits),
			-EINVAL);

	/* Not registered */
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct->ops, B), -EINVAL);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct->ops, A, false), -EINVAL);
	expect_call(test, 654321, 0, 0, 0);

	/* Twice; another at the same function; not to text */
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct->ops, A), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct->ops, B), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&second->ops, B), -EBUSY);
	KUNIT_EXPECT_NULL(test, second->ops.func);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct->ops, 0), -EINVAL);
	expect_call(test, 654321, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct->ops, A, true), 0);

	/* What was refused can still be done. */
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&second->ops, B), 0);
	expect_call(test, 654321, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&second->ops, B, true), 0);
	expect_call(test, 654321, 0, 0, 0);
}

/* With an ops that changes where the function goes on, whoever comes first */
static void test_with_ipmodify(struct kunit *test)
{
	struct direct *direct = filtered(test, sizeof(*direct));
	struct ftrace_ops *other = filtered(test, sizeof(*other));

	other->func = go_elsewhere;
	other->flags |= FTRACE_OPS_FL_IPMODIFY;

	/* Its owner does not say that it can be shared. */
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct->ops, A), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(other), -EBUSY);
	expect_call(test, 654321, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct->ops, A, false), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(other), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct->ops, A), -EBUSY);
	expect_call(test, 654321 + 6, 0, 0, 0);

	/* It does. */
	direct->ops.ops_func = listen;
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct->ops, A), 0);
	KUNIT_EXPECT_EQ(test, direct->told[FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF], 1);
	expect_call(test, 654321 + 6, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct->ops, B), 0);
	KUNIT_EXPECT_EQ(test, direct->told[FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF], 2);
	expect_call(test, 654321 + 6, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(other), 0);
	KUNIT_EXPECT_EQ(test, direct->told[FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER], 1);
	expect_call(test, 654321, 0, 1, 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(other), 0);
	KUNIT_EXPECT_EQ(test, direct->told[FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER], 1);
	expect_call(test, 654321 + 6, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(other), 0);

	/* It does not want to. */
	direct->answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(other), -EAGAIN);
	expect_call(test, 654321, 0, 1, 0);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct->ops, B, true), 0);
	ftrace_free_filter(other);
	expect_call(test, 654321, 0, 0, 0);
}

/* Its sites could not be switched: it is called no more. */
static void test_silenced(struct kunit *test)
{
	struct direct *direct = filtered(test, sizeof(*direct));
	struct ftrace_ops *plain = filtered(test, sizeof(*plain));

	plain->func = count;
	KUNIT_ASSERT_EQ(test, register_ftrace_function(plain), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct->ops, A), 0);

	mutex_lock(&ftrace_lock);
	fentry_sets_silence(&direct->ops);
	mutex_unlock(&ftrace_lock);
	expect_call(test, 654321, 0, 0, 1);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct->ops, A, true), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(plain), 0);
	ftrace_free_filter(plain);
	expect_call(test, 654321, 0, 0, 0);
}

static struct kunit_case direct_cases[] = {
	KUNIT_CASE(test_alone),
	KUNIT_CASE(test_with_callbacks),
	KUNIT_CASE(test_bad_calls),
	KUNIT_CASE(test_with_ipmodify),
	KUNIT_CASE(test_silenced),
	{}
};

static struct kunit_suite direct_suite = {
	.name		= "fentry_direct",
	.test_cases	= direct_cases,
};

kunit_test_suites(&direct_suite);
