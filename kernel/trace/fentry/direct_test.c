// SPDX-License-Identifier: GPL-2.0
/* Tests of direct calls, alone at a site and together with other ops */
#include <kunit/test.h>
#include <linux/ftrace_direct.h>
#include <linux/objtool.h>
#include <linux/prandom.h>

#include <asm/ibt.h>
#include <asm/linkage.h>
#include <asm/nospec-branch.h>

#include "fentry_test.h"
#include "filter.h"
#include "ops.h"
#include "set.h"

int fentry_test_direct_hits[2];

/* What sites call: counts, and changes nothing else but the flags */
#define DIRECT_TRAMPOLINE(_name, _counter)					\
	asm(".pushsection .text, \"ax\", @progbits\n"				\
	    ASM_FUNC_ALIGN "\n"							\
	    ".type " #_name ", @function\n"					\
	    ".globl " #_name "\n"						\
	    #_name ":\n"							\
	    ASM_ENDBR								\
	    CALL_DEPTH_ACCOUNT							\
	    "lock incl " #_counter "\n"					\
	    ASM_RET								\
	    ".size " #_name ", . - " #_name "\n"				\
	    ".popsection\n")

DIRECT_TRAMPOLINE(fentry_test_direct_a, fentry_test_direct_hits);
DIRECT_TRAMPOLINE(fentry_test_direct_b, fentry_test_direct_hits + 4);

#define A	((unsigned long)fentry_test_direct_a)
#define B	((unsigned long)fentry_test_direct_b)
#define CALLEE	((unsigned long)fentry_test_callee)
#define CALLER	((unsigned long)fentry_test_caller)

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
	/* Racy, but tests compare only calls that one task makes. */
	data_race(callback_calls++);
}

static void go_elsewhere(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	if (regs)
		instruction_pointer_set(regs, (unsigned long)fentry_test_other);
	else
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
	scoped_guard(mutex, &ftrace_lock) {
		KUNIT_EXPECT_EQ(test, fentry_filter_direct(fentry_ops_hash(&second->ops, false),
							   CALLEE), 0);
	}
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct->ops, 0), -EINVAL);
	expect_call(test, 654321, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct->ops, A, true), 0);

	/* What was refused can still be done. */
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&second->ops, B), 0);
	expect_call(test, 654321, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&second->ops, B, true), 0);
	expect_call(test, 654321, 0, 0, 0);
}

/* Of two that change where the function goes on, the second is refused. */
static void test_two_ipmodify(struct kunit *test)
{
	struct ftrace_ops *first = filtered(test, sizeof(*first));
	struct ftrace_ops *second = filtered(test, sizeof(*second));

	first->func = go_elsewhere;
	first->flags |= FTRACE_OPS_FL_IPMODIFY;
	/* It could, but does not. */
	second->func = count;
	second->flags |= FTRACE_OPS_FL_IPMODIFY;
	KUNIT_ASSERT_EQ(test, register_ftrace_function(first), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(second), -EBUSY);

	/* Nor by its filter */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(second, CALLER, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(second), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(second, CALLEE, 0, 0), -EBUSY);
	expect_call(test, 654321 + 6, 0, 0, 1);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(first), 0);
	expect_call(test, 654321, 0, 0, 1);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(second, CALLEE, 0, 0), 0);
	expect_call(test, 654321, 0, 0, 2);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(second), 0);
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

/* What functions are to call directly */
struct call {
	unsigned long	ip, direct;
};

enum { ADD, DEL, MOD };

static int update(struct ftrace_ops *ops, int what, const struct call *calls, unsigned int nr)
{
	struct ftrace_hash *hash = alloc_ftrace_hash(FTRACE_HASH_DEFAULT_BITS);
	int ret = hash ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < nr && !ret; i++) {
		if (!add_ftrace_hash_entry_direct(hash, calls[i].ip, calls[i].direct))
			ret = -ENOMEM;
	}
	if (!ret)
		ret = what == ADD ? update_ftrace_direct_add(ops, hash) :
		      what == DEL ? update_ftrace_direct_del(ops, hash) :
				    update_ftrace_direct_mod(ops, hash, true);
	free_ftrace_hash(hash);
	return ret;
}

#define UPDATE(_ops, _what, ...)					\
	update(_ops, _what, ((const struct call[]){ __VA_ARGS__ }),	\
	       sizeof((const struct call[]){ __VA_ARGS__ }) / sizeof(struct call))

static struct direct *unfiltered(struct kunit *test)
{
	struct direct *direct = kunit_kzalloc(test, sizeof(*direct), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, direct);
	return direct;
}

/* Each function calls what is its own, from the first that comes to the last that goes. */
static void each_its_own(struct kunit *test)
{
	struct direct *direct = unfiltered(test);
	unsigned long callee = ftrace_location(CALLEE), caller = ftrace_location(CALLER);

	KUNIT_ASSERT_EQ(test, UPDATE(&direct->ops, ADD, { CALLER, B }), 0);
	expect_call(test, 654321, 0, 1, 0);
	KUNIT_ASSERT_EQ(test, UPDATE(&direct->ops, ADD, { CALLEE, A }), 0);
	expect_call(test, 654321, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, ftrace_find_rec_direct(callee), A);
	KUNIT_EXPECT_EQ(test, ftrace_find_rec_direct(caller), B);

	/* They change places: from two combinations to the same two. */
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, MOD, { callee, B }, { caller, A }), 0);
	KUNIT_EXPECT_EQ(test, ftrace_find_rec_direct(callee), B);
	KUNIT_EXPECT_EQ(test, ftrace_find_rec_direct(caller), A);
	expect_call(test, 654321, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, MOD, { caller, B }), 0);
	expect_call(test, 654321, 0, 2, 0);
	/* From one combination to two */
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, MOD, { caller, B }, { callee, A }), 0);
	expect_call(test, 654321, 1, 1, 0);

	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLEE, A }), 0);
	KUNIT_EXPECT_EQ(test, ftrace_find_rec_direct(callee), 0);
	expect_call(test, 654321, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLER, B }), 0);
	expect_call(test, 654321, 0, 0, 0);
	KUNIT_EXPECT_FALSE(test, direct->ops.flags & FTRACE_OPS_FL_ENABLED);

	/* All at once, and again */
	for (int i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, UPDATE(&direct->ops, ADD, { CALLEE, A }, { CALLER, B }), 0);
		expect_call(test, 654321, 1, 1, 0);
		KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLER, B }, { CALLEE, A }), 0);
		expect_call(test, 654321, 0, 0, 0);
	}
	ftrace_free_filter(&direct->ops);
}

static void test_each_its_own(struct kunit *test)
{
	each_its_own(test);
}

static void test_each_its_own_shared(struct kunit *test)
{
	fentry_test_share_sets(true);
	each_its_own(test);
	fentry_test_share_sets(false);
}

/* The two ways to say what is called are one. */
static void test_update_and_modify(struct kunit *test)
{
	struct direct *direct = unfiltered(test);

	KUNIT_ASSERT_EQ(test, UPDATE(&direct->ops, ADD, { CALLEE, A }, { CALLER, B }), 0);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct->ops, B), 0);
	expect_call(test, 654321, 0, 2, 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, MOD, { CALLER, A }), 0);
	expect_call(test, 654321, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct->ops, B, true), 0);
	expect_call(test, 654321, 0, 0, 0);

	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&direct->ops, CALLEE, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct->ops, A), 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLER, A }), 0);
	expect_call(test, 654321, 2, 0, 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLEE, A }), 0);
	expect_call(test, 654321, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct->ops, A, true), 0);
	expect_call(test, 654321, 0, 0, 0);
}

static void test_updates_with_callbacks(struct kunit *test)
{
	struct direct *direct = unfiltered(test);
	struct ftrace_ops *plain = filtered(test, sizeof(*plain));

	plain->func = count;
	KUNIT_ASSERT_EQ(test, register_ftrace_function(plain), 0);
	KUNIT_ASSERT_EQ(test, UPDATE(&direct->ops, ADD, { CALLEE, A }, { CALLER, B }), 0);
	expect_call(test, 654321, 1, 1, 1);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, MOD, { CALLEE, B }, { CALLER, A }), 0);
	expect_call(test, 654321, 1, 1, 1);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(plain, CALLER, 0, 0), 0);
	expect_call(test, 654321, 1, 1, 2);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLEE, B }), 0);
	expect_call(test, 654321, 1, 0, 2);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(plain), 0);
	expect_call(test, 654321, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLER, A }), 0);
	expect_call(test, 654321, 0, 0, 0);
	ftrace_free_filter(plain);
}

/* Nothing is changed. */
static void test_bad_updates(struct kunit *test)
{
	struct direct *direct = unfiltered(test), *second = unfiltered(test);
	const unsigned long data = (unsigned long)fentry_test_direct_hits;
	struct ftrace_ops *plain = filtered(test, sizeof(*plain));

	/* Not registered; nothing to do */
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLEE, A }), -EINVAL);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, MOD, { CALLEE, A }), -EINVAL);
	KUNIT_EXPECT_EQ(test, update(&direct->ops, ADD, NULL, 0), -EINVAL);

	/* Twice, by the function and its site; no site; no text; something else's filter */
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLER, A }, { CALLEE, A },
				     { ftrace_location(CALLEE), B }), -EINVAL);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLEE, A }, { data, A }), -EINVAL);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLEE, A }, { A, A }), -EINVAL);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLEE, A }, { CALLER, data }), -EINVAL);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLEE, A }, { CALLER, 0 }), -EINVAL);
	KUNIT_EXPECT_EQ(test, UPDATE(plain, ADD, { CALLER, A }), -EINVAL);
	KUNIT_EXPECT_NULL(test, direct->ops.func);
	expect_call(test, 654321, 0, 0, 0);

	/* The same of one that is registered; and what it has, or has not */
	KUNIT_ASSERT_EQ(test, UPDATE(&direct->ops, ADD, { CALLEE, A }), 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLER, A }, { CALLEE, B }), -EBUSY);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLER, A }, { data, A }), -EINVAL);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, MOD, { CALLEE, B }, { CALLER, B }), -EINVAL);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, MOD, { CALLEE, data }), -EINVAL);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, MOD, { CALLEE, B }, { CALLEE, B }), -EINVAL);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLEE, B }), -EINVAL);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLEE, A }, { CALLER, A }), -EINVAL);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLEE, A }, { CALLEE, A }), -EINVAL);
	expect_call(test, 654321, 1, 0, 0);

	/* Another one's function: also one that comes with others, to a registered ops. */
	KUNIT_EXPECT_EQ(test, UPDATE(&second->ops, ADD, { CALLER, B }, { CALLEE, B }), -EBUSY);
	KUNIT_EXPECT_NULL(test, second->ops.func);
	expect_call(test, 654321, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&second->ops, ADD, { CALLER, B }), 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&second->ops, ADD, { CALLEE, B }), -EBUSY);
	KUNIT_EXPECT_EQ(test, UPDATE(&second->ops, MOD, { CALLEE, B }), -EINVAL);
	expect_call(test, 654321, 1, 1, 0);

	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLEE, A }), 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&second->ops, DEL, { CALLER, B }), 0);
	expect_call(test, 654321, 0, 0, 0);
	ftrace_free_filter(plain);
}

/* An owner who is told has its functions call something else. */
static int redirect(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd)
{
	struct ftrace_hash *hash;
	int ret = -ENOMEM;

	if (cmd == FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF)
		return 0;
	hash = alloc_ftrace_hash(FTRACE_HASH_DEFAULT_BITS);
	if (hash && add_ftrace_hash_entry_direct(hash, CALLEE,
						 cmd == FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER ?
						 B : A))
		ret = update_ftrace_direct_mod(ops, hash, false);
	free_ftrace_hash(hash);
	return ret;
}

static void test_updates_with_ipmodify(struct kunit *test)
{
	struct direct *direct = unfiltered(test);
	struct ftrace_ops *other = filtered(test, sizeof(*other));

	other->func = go_elsewhere;
	other->flags |= FTRACE_OPS_FL_IPMODIFY;
	KUNIT_ASSERT_EQ(test, register_ftrace_function(other), 0);

	/* Only functions that come are looked at. */
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLER, A }, { CALLEE, A }), -EBUSY);
	expect_call(test, 654321 + 6, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLER, A }), 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLEE, A }), -EBUSY);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, MOD, { CALLER, B }), 0);
	expect_call(test, 654321 + 6, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, MOD, { CALLER, A }), 0);

	direct->ops.ops_func = listen;
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLEE, A }), 0);
	KUNIT_EXPECT_EQ(test, direct->told[FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF], 1);
	expect_call(test, 654321 + 6, 2, 0, 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLEE, A }), 0);
	KUNIT_EXPECT_EQ(test, direct->told[FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF], 1);
	expect_call(test, 654321 + 6, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, ADD, { CALLEE, A }), 0);

	direct->ops.ops_func = redirect;
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(other), 0);
	expect_call(test, 654321, 2, 0, 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(other), 0);
	expect_call(test, 654321 + 6, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(other), 0);
	expect_call(test, 654321, 2, 0, 0);

	KUNIT_EXPECT_EQ(test, UPDATE(&direct->ops, DEL, { CALLEE, A }, { CALLER, A }), 0);
	ftrace_free_filter(other);
	expect_call(test, 654321, 0, 0, 0);
}

/* Many functions, and what each is to call; 0: nothing */
struct many {
	struct ftrace_ops	direct, plain;
	unsigned int		nr;
	struct call		call[2000], change[2000];
};

/* How many sites do not have what they are to have, by state, set and text */
static unsigned int nr_wrong(struct many *many)
{
	struct text_site_table *table;
	unsigned int wrong = 0;
	struct text_site *site;

	guard(mutex)(&ftrace_lock);
	for (unsigned int i = 0; i < many->nr; i++) {
		const unsigned long ip = many->call[i].ip;

		site = text_site_find(&fentry_sites, ip, ip, &table);
		wrong += ftrace_find_rec_direct(ip) != many->call[i].direct;
		wrong += arch_text_site_verify(table, site) != 0;
		wrong += site->state & TEXT_SITE_PENDING;
	}
	return wrong;
}

/* How many sets are said to have more or fewer sites than they have */
static unsigned int nr_miscounted(void)
{
	struct text_site_table *table;
	struct text_site *site;
	unsigned int wrong = 0;

	guard(mutex)(&ftrace_lock);
	for_each_fentry_table(table) {
		for_each_text_site(site, table)
			fentry_site_set(site)->delta = 0;
	}
	for_each_fentry_table(table) {
		for_each_text_site(site, table)
			fentry_site_set(site)->delta++;
	}
	for_each_fentry_table(table) {
		for_each_text_site(site, table) {
			const struct ops_set *set = fentry_site_set(site);

			wrong += !hlist_unhashed(&set->hash) && set->nr_sites != set->delta;
		}
	}
	return wrong;
}

/* Some functions come, some go, some call something else, and others trace some of them. */
static void random_change(struct kunit *test, struct many *many, struct rnd_state *rnd)
{
	static const unsigned long targets[] = {
		(unsigned long)fentry_test_direct_a, (unsigned long)fentry_test_direct_b,
		(unsigned long)ftrace_stub_direct_tramp,
	};
	const int what = prandom_u32_state(rnd) % 3;
	const bool adds = what == ADD;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < many->nr; i++) {
		struct call *call = &many->call[i];

		if (!call->direct != adds || prandom_u32_state(rnd) % 3 == 0)
			continue;
		many->change[nr] = *call;
		if (what != DEL)
			many->change[nr].direct = targets[prandom_u32_state(rnd) % 3];
		call->direct = what == DEL ? 0 : many->change[nr].direct;
		nr++;
	}
	if (nr)
		KUNIT_EXPECT_EQ(test, update(&many->direct, what, many->change, nr), 0);
}

static void test_random_updates(struct kunit *test)
{
	struct many *many = kunit_kzalloc(test, sizeof(*many), GFP_KERNEL);
	struct text_site_table *table = &fentry_sites.kernel;
	const unsigned int every = table->nr / ARRAY_SIZE(many->call) + 1;
	const unsigned int max = fentry_sets_max;
	unsigned long ip;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, many);
	prandom_seed_state(&rnd, 12);
	many->plain.func = count;
	for (unsigned int n = 0; n < table->nr; n += every) {
		ip = text_site_addr(&table->sites[n]);
		if (table->sites[n].state & TEXT_SITE_DEAD)
			continue;
		many->call[many->nr++].ip = ip;
		if (prandom_u32_state(&rnd) & 1)
			KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&many->plain, ip, 0, 0), 0);
	}
	for (int i = 0; i < 40; i++) {
		if (i % 10 == 3)
			KUNIT_EXPECT_EQ(test, register_ftrace_function(&many->plain), 0);
		if (i % 10 == 8)
			KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&many->plain), 0);
		/* Some of them have no room for a set of their own. */
		fentry_sets_max = i >= 20 && i < 30 ? 3 : max;
		random_change(test, many, &rnd);
		KUNIT_ASSERT_EQ(test, nr_wrong(many), 0);
		KUNIT_ASSERT_EQ(test, nr_miscounted(), 0);
	}
	fentry_sets_max = max;
	if (many->direct.flags & FTRACE_OPS_FL_ENABLED)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&many->direct, 0, true), 0);
	ftrace_free_filter(&many->plain);
}

static struct kunit_case direct_cases[] = {
	KUNIT_CASE(test_alone),
	KUNIT_CASE(test_with_callbacks),
	KUNIT_CASE(test_bad_calls),
	KUNIT_CASE(test_two_ipmodify),
	KUNIT_CASE(test_with_ipmodify),
	KUNIT_CASE(test_silenced),
	KUNIT_CASE(test_each_its_own),
	KUNIT_CASE(test_each_its_own_shared),
	KUNIT_CASE(test_update_and_modify),
	KUNIT_CASE(test_updates_with_callbacks),
	KUNIT_CASE(test_bad_updates),
	KUNIT_CASE(test_updates_with_ipmodify),
	KUNIT_CASE_SLOW(test_random_updates),
	{}
};

static struct kunit_suite direct_suite = {
	.name		= "fentry_direct",
	.exit		= fentry_test_exit,
	.test_cases	= direct_cases,
};

kunit_test_suites(&direct_suite);
