// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of ops that come and change while others do, and of changes that fail */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/ftrace_direct.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

#include <asm/sections.h>

#include "fentry_test.h"
#include "filter.h"
#include "ops.h"
#include "set.h"

#define A	((unsigned long)fentry_test_direct_a)
#define B	((unsigned long)fentry_test_direct_b)
#define CALLEE	((unsigned long)fentry_test_callee)
#define CALLER	((unsigned long)fentry_test_caller)
#define FLAGS	((unsigned long)fentry_test_flags)

static struct ftrace_ops *ops_at(struct kunit *test, unsigned long func, ftrace_func_t callback)
{
	struct ftrace_ops *ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ops);
	fentry_test_ops_at(test, ops, callback, func);
	return ops;
}

static bool holding, held, left_again;

/* Keeps a task in the shared trampoline for a while. */
static void hold(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		 struct ftrace_regs *fregs)
{
	const unsigned long until = jiffies + HZ / 4;

	if (!READ_ONCE(holding))
		return;
	WRITE_ONCE(held, true);
	while (time_before(jiffies, until))
		cpu_relax();
	WRITE_ONCE(left_again, true);
}

static void do_nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
}

static int call_the_caller(void *unused)
{
	fentry_test_caller();
	return 0;
}

/*
 * Sites that share call what a new filter names before it is known whether it can be had. If it
 * cannot, nobody is there any more when the caller knows that.
 */
static void test_failed_change(struct kunit *test)
{
	unsigned long filter[] = { CALLEE, FLAGS };
	struct ftrace_ops *holds = ops_at(test, CALLEE, hold);
	struct ftrace_ops *ops = ops_at(test, CALLER, do_nothing);
	struct ftrace_ops *other = ops_at(test, FLAGS, do_nothing);
	struct task_struct *task;
	struct text_site *wrong;
	u32 state;

	fentry_test_share_sets(true);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(holds), 0);
	fentry_test_share_sets(false);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(ops), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(other), 0);
	KUNIT_EXPECT_TRUE(test, fentry_test_set_at(CALLEE)->shared);

	WRITE_ONCE(left_again, false);
	WRITE_ONCE(held, false);
	WRITE_ONCE(holding, true);
	task = kthread_run(call_the_caller, NULL, "fentry_test");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	while (!READ_ONCE(held))
		schedule_timeout_uninterruptible(1);

	/* As if the text of a site were not what it should be */
	wrong = fentry_test_site_at(FLAGS);
	state = wrong->state;
	WRITE_ONCE(wrong->state, (state & ~TEXT_SITE_TARGET) | fentry_no_ops.id);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(ops, filter, 2, 0, 1), -EINVAL);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(left_again));
	WRITE_ONCE(wrong->state, state);
	WRITE_ONCE(holding, false);

	/* Nothing has changed. */
	KUNIT_EXPECT_TRUE(test, ftrace_ops_test(ops, ftrace_location(CALLER), NULL));
	KUNIT_EXPECT_FALSE(test, ftrace_ops_test(ops, ftrace_location(CALLEE), NULL));
	KUNIT_EXPECT_TRUE(test, fentry_set_has(fentry_test_set_at(CALLER), ops));
	KUNIT_EXPECT_FALSE(test, fentry_set_has(fentry_test_set_at(FLAGS), ops));
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(holds), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(other), 0);
	KUNIT_EXPECT_PTR_EQ(test, fentry_test_set_at(CALLEE), &fentry_no_ops);
	KUNIT_EXPECT_PTR_EQ(test, fentry_test_set_at(FLAGS), &fentry_no_ops);
}

/* Two tasks that register the same ops */
static struct racer {
	struct ftrace_ops	*ops;
	unsigned long		addr;
	struct completion	starts;
	struct task_struct	*task;
} racers[2];

static int register_racer(void *data)
{
	struct racer *racer = data;

	complete(&racer->starts);
	return register_ftrace_direct(racer->ops, racer->addr);
}

/* While this runs, no ops for direct calls can come: both wait for that. */
static int start_racers(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd)
{
	if (cmd != FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF)
		return 0;
	for (int i = 0; i < ARRAY_SIZE(racers); i++) {
		init_completion(&racers[i].starts);
		racers[i].task = kthread_create(register_racer, &racers[i], "fentry_test");
		if (IS_ERR(racers[i].task))
			return PTR_ERR(racers[i].task);
		get_task_struct(racers[i].task);
		wake_up_process(racers[i].task);
		wait_for_completion(&racers[i].starts);
	}
	msleep(100);
	return 0;
}

static void test_racers(struct kunit *test)
{
	struct ftrace_ops *first = ops_at(test, CALLEE, NULL);
	struct ftrace_ops *both = ops_at(test, CALLER, NULL);
	struct ftrace_ops *other = ops_at(test, CALLEE, do_nothing);
	int ret[2];

	/* With this one, the owner of the first is asked. */
	other->flags |= FTRACE_OPS_FL_IPMODIFY;
	KUNIT_ASSERT_EQ(test, register_ftrace_function(other), 0);
	racers[0] = (struct racer) { .ops = both, .addr = A };
	racers[1] = (struct racer) { .ops = both, .addr = B };
	first->ops_func = start_racers;
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(first, A), 0);

	for (int i = 0; i < 2; i++)
		ret[i] = kthread_stop_put(racers[i].task);
	KUNIT_EXPECT_EQ(test, max(ret[0], ret[1]), 0);
	KUNIT_EXPECT_EQ(test, min(ret[0], ret[1]), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_find_rec_direct(ftrace_location(CALLER)), ret[0] ? B : A);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(both, A, true), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(first, A, true), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(other), 0);
}

/* All functions, and all but one */
static void test_notrace(struct kunit *test)
{
	struct ftrace_ops *ops = ops_at(test, CALLEE, do_nothing);

	ftrace_free_filter(ops);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(ops), 0);
	KUNIT_EXPECT_TRUE(test, fentry_set_has(fentry_test_set_at(CALLEE), ops));
	KUNIT_EXPECT_TRUE(test, fentry_set_has(fentry_test_set_at(CALLER), ops));
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);

	KUNIT_ASSERT_EQ(test, ftrace_set_notrace(ops, "fentry_test_callee", 18, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(ops), 0);
	KUNIT_EXPECT_FALSE(test, fentry_set_has(fentry_test_set_at(CALLEE), ops));
	KUNIT_EXPECT_TRUE(test, fentry_set_has(fentry_test_set_at(CALLER), ops));
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
}

/* What of a filter is in a module begins behind what is below it. */
static void test_filter_below(struct kunit *test)
{
	const unsigned long ip[] = { 30, 10, 20 };
	struct fentry_filter *filter = fentry_filter_new(ip, ARRAY_SIZE(ip));

	KUNIT_ASSERT_NOT_NULL(test, filter);
	KUNIT_EXPECT_EQ(test, fentry_filter_below(filter, 0), 0);
	KUNIT_EXPECT_EQ(test, fentry_filter_below(filter, 10), 0);
	KUNIT_EXPECT_EQ(test, fentry_filter_below(filter, 11), 1);
	KUNIT_EXPECT_EQ(test, fentry_filter_below(filter, 30), 2);
	KUNIT_EXPECT_EQ(test, fentry_filter_below(filter, 31), 3);
	KUNIT_EXPECT_EQ(test, fentry_filter_below(NULL, 30), 0);
	kvfree(filter);
}

/* The text of the kernel's initialisation goes: nothing is allocated for it. */
static void test_init_text(struct kunit *test)
{
	struct text_area *areas = fentry_sites.kernel.areas;
	struct ftrace_ops *ops = ops_at(test, CALLEE, do_nothing);

	KUNIT_ASSERT_EQ(test, register_ftrace_function(ops), 0);
	KUNIT_EXPECT_TRUE(test, is_kernel_inittext(areas[1].start));
	KUNIT_EXPECT_EQ(test, areas[1].indexed, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
}

static struct kunit_case register_cases[] = {
	KUNIT_CASE_SLOW(test_failed_change),
	KUNIT_CASE(test_racers),
	KUNIT_CASE(test_notrace),
	KUNIT_CASE(test_filter_below),
	KUNIT_CASE(test_init_text),
	{}
};

static struct kunit_suite register_suite = {
	.name		= "fentry_register",
	.exit		= fentry_test_exit,
	.test_cases	= register_cases,
};

kunit_test_suites(&register_suite);
