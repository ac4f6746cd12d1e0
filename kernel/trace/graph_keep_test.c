// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of trees of calls in memory, of the words of tasks, and of units in filters.
 */
#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/math.h>
#include <linux/sched.h>

#include "graph_keep.h"

#define TEST_DEPTH	7	/* of the root */

/* Functions are numbers here, and the time is that of the test. */
struct keep_test {
	struct graph_keep_pool	*pool;
	struct graph_keep_tree	*tree;
	u64			now;
	unsigned int		units;
};

static bool call_more(struct keep_test *test, u64 func)
{
	struct graph_keep_record *record;

	record = graph_keep_claim(test->pool, test->tree, test->units);
	if (!record) {
		local_inc(&test->tree->missing);
		return false;
	}
	record->word = func;
	record->time = ++test->now;
	if (test->units > 1)
		record[test->units - 1].time = func;
	return true;
}

static void return_value(struct keep_test *test, u64 value, u64 duration)
{
	graph_keep_claim_return(test->pool, test->tree, value, duration);
}

static void begin_tree(struct kunit *kunit, struct keep_test *test, unsigned int nr,
		       unsigned int bound, unsigned int units)
{
	*test = (struct keep_test) {
		.pool = graph_keep_pool_alloc(nr, bound),
		.units = units,
	};
	KUNIT_ASSERT_NOT_NULL(kunit, test->pool);
	test->tree = graph_keep_begin(test->pool, TEST_DEPTH);
	KUNIT_ASSERT_NOT_NULL(kunit, test->tree);
}

static void end_tree(struct kunit *kunit, struct keep_test *test)
{
	graph_keep_give_back(test->pool, test->tree);
	KUNIT_EXPECT_EQ(kunit, graph_keep_pool_used(test->pool), 0);
	graph_keep_pool_free(test->pool);
}

static void expect_call(struct kunit *kunit, struct graph_keep_iter *iter, int depth, u64 func)
{
	struct graph_keep_event event = { };

	KUNIT_ASSERT_TRUE(kunit, graph_keep_next(iter, &event));
	KUNIT_ASSERT_EQ(kunit, event.kind, GRAPH_KEEP_CALL);
	KUNIT_EXPECT_EQ(kunit, event.depth, TEST_DEPTH + depth);
	KUNIT_EXPECT_EQ(kunit, event.func, (unsigned long)func);
}

static void expect_return(struct kunit *kunit, struct graph_keep_iter *iter, int depth, u64 func,
			  u64 value, u64 duration)
{
	struct graph_keep_event event = { };

	KUNIT_ASSERT_TRUE(kunit, graph_keep_next(iter, &event));
	KUNIT_ASSERT_EQ(kunit, event.kind, GRAPH_KEEP_RET);
	KUNIT_EXPECT_EQ(kunit, event.depth, TEST_DEPTH + depth);
	KUNIT_EXPECT_EQ(kunit, event.func, (unsigned long)func);
	KUNIT_EXPECT_EQ(kunit, event.value, (unsigned long)value);
	KUNIT_EXPECT_EQ(kunit, event.duration, duration);
}

static void expect_end(struct kunit *kunit, struct graph_keep_iter *iter)
{
	struct graph_keep_event event;

	KUNIT_EXPECT_FALSE(kunit, graph_keep_next(iter, &event));
}

/* A root that calls two functions, the first of which calls another one */
static void keep_small(struct kunit *kunit)
{
	struct graph_keep_iter iter;
	struct keep_test test;

	begin_tree(kunit, &test, 4, 4, 1);
	call_more(&test, 1);
	call_more(&test, 2);
	call_more(&test, 3);
	return_value(&test, 0, 30);
	return_value(&test, -2ull, 0);
	call_more(&test, 4);
	return_value(&test, ~0ull, -5ull);

	graph_keep_read(&iter, test.tree, 1);
	expect_call(kunit, &iter, 0, 1);
	expect_call(kunit, &iter, 1, 2);
	expect_call(kunit, &iter, 2, 3);
	expect_return(kunit, &iter, 2, 3, 0, 30);
	expect_return(kunit, &iter, 1, 2, -2ull, 0);
	expect_call(kunit, &iter, 1, 4);
	expect_return(kunit, &iter, 1, 4, ~0ull, -5ull);
	expect_end(kunit, &iter);
	end_tree(kunit, &test);
}

/* Many pages, each call with as many records as @units */
static void long_tree(struct kunit *kunit, unsigned int units)
{
	const unsigned int calls = 3000;
	struct graph_keep_event event;
	struct graph_keep_iter iter;
	struct keep_test test;
	unsigned int i;

	begin_tree(kunit, &test, 200, 200, units);
	call_more(&test, 1);
	for (i = 0; i < calls; i++) {
		KUNIT_ASSERT_TRUE(kunit, call_more(&test, 2 + i));
		return_value(&test, i, i);
	}
	KUNIT_EXPECT_EQ(kunit, graph_keep_pool_used(test.pool), local_read(&test.tree->chunks));
	KUNIT_EXPECT_GE(kunit, local_read(&test.tree->chunks) * PAGE_SIZE,
			calls * (units + 1) * sizeof(struct graph_keep_record));

	graph_keep_read(&iter, test.tree, units);
	expect_call(kunit, &iter, 0, 1);
	for (i = 0; i < calls; i++) {
		KUNIT_ASSERT_TRUE(kunit, graph_keep_next(&iter, &event));
		KUNIT_ASSERT_EQ(kunit, event.kind, GRAPH_KEEP_CALL);
		KUNIT_ASSERT_EQ(kunit, event.func, 2ul + i);
		if (units > 1)
			KUNIT_ASSERT_EQ(kunit, ((u64 *)event.more)[2 * units - 3], 2ull + i);
		expect_return(kunit, &iter, 1, 2 + i, i, i);
	}
	expect_end(kunit, &iter);
	end_tree(kunit, &test);
}

static void keep_chain(struct kunit *kunit)
{
	for (unsigned int units = 1; units < 7; units++)
		long_tree(kunit, units);
}

/* What is called in a tree that has been cut is counted; what was called before returns. */
static void keep_bound(struct kunit *kunit)
{
	const int open = GRAPH_KEEP_DEPTH - 2;
	struct graph_keep_event event;
	struct graph_keep_iter iter;
	struct keep_test test;
	u64 calls = 0;
	int i;

	begin_tree(kunit, &test, 10, 2, 1);
	for (i = 0; i <= open; i++)
		KUNIT_ASSERT_TRUE(kunit, call_more(&test, 1 + i));
	while (call_more(&test, 1000 + calls)) {
		calls++;
		/* The record of the return may be the first that is missing. */
		return_value(&test, 5, 6);
	}
	call_more(&test, 1);
	for (i = open; i > 0; i--)
		return_value(&test, 100 + i, i);
	KUNIT_EXPECT_EQ(kunit, graph_keep_pool_used(test.pool), 2);

	graph_keep_read(&iter, test.tree, 1);
	for (i = 0; i <= open; i++)
		expect_call(kunit, &iter, i, 1 + i);
	for (i = 0; i < calls; i++) {
		expect_call(kunit, &iter, open + 1, 1000 + i);
		if (i < calls - 1 || local_read(&test.tree->nr_rest) == open)
			expect_return(kunit, &iter, open + 1, 1000 + i, 5, 6);
	}
	KUNIT_ASSERT_TRUE(kunit, graph_keep_next(&iter, &event));
	KUNIT_EXPECT_EQ(kunit, event.kind, GRAPH_KEEP_CUT);
	KUNIT_EXPECT_EQ(kunit, event.missing, 2);
	if (local_read(&test.tree->nr_rest) > open)
		expect_return(kunit, &iter, open + 1, 1000 + calls - 1, 5, 6);
	for (i = open; i > 0; i--)
		expect_return(kunit, &iter, i, 1 + i, 100 + i, i);
	expect_end(kunit, &iter);
	end_tree(kunit, &test);
}

/* A tree that was cut when something returned has everything if nothing was called since. */
static void keep_cut_by_a_return(struct kunit *kunit)
{
	struct graph_keep_iter iter;
	int records, open, pairs, i;
	struct keep_test test;

	begin_tree(kunit, &test, 1, 1, 1);
	records = (-local_read(&test.tree->next) & ~PAGE_MASK) / sizeof(struct graph_keep_record);
	/* The last record is that of a call. */
	open = 9 + (records & 1);
	pairs = (records - open - 1) / 2;
	for (i = 1; i <= open; i++)
		KUNIT_ASSERT_TRUE(kunit, call_more(&test, i));
	for (i = 0; i < pairs; i++) {
		KUNIT_ASSERT_TRUE(kunit, call_more(&test, 1000));
		return_value(&test, 5, 6);
	}
	KUNIT_ASSERT_TRUE(kunit, call_more(&test, 1000));
	KUNIT_EXPECT_NE(kunit, local_read(&test.tree->next), 0);
	return_value(&test, 5, 6);
	KUNIT_EXPECT_EQ(kunit, local_read(&test.tree->next), 0);
	for (i = open; i > 1; i--)
		return_value(&test, 100 + i, i);

	graph_keep_read(&iter, test.tree, 1);
	for (i = 1; i <= open; i++)
		expect_call(kunit, &iter, i - 1, i);
	for (i = 0; i <= pairs; i++) {
		expect_call(kunit, &iter, open, 1000);
		expect_return(kunit, &iter, open, 1000, 5, 6);
	}
	for (i = open; i > 1; i--)
		expect_return(kunit, &iter, i - 1, i, 100 + i, i);
	expect_end(kunit, &iter);
	end_tree(kunit, &test);
}

/* There are no more pages: a tree is cut, and others cannot begin until one is given back. */
static void keep_exhausted(struct kunit *kunit)
{
	struct graph_keep_tree *other, *third;
	struct graph_keep_event event;
	struct graph_keep_iter iter;
	struct keep_test test;

	begin_tree(kunit, &test, 3, 3, 1);
	other = graph_keep_begin(test.pool, 0);
	third = graph_keep_begin(test.pool, 0);
	KUNIT_ASSERT_NOT_NULL(kunit, other);
	KUNIT_ASSERT_NOT_NULL(kunit, third);
	KUNIT_EXPECT_NULL(kunit, graph_keep_begin(test.pool, 0));
	call_more(&test, 1);
	while (call_more(&test, 2))
		return_value(&test, 0, 0);
	graph_keep_give_back(test.pool, other);
	/* One that was cut stays so. */
	KUNIT_EXPECT_FALSE(kunit, call_more(&test, 3));
	other = graph_keep_begin(test.pool, 0);
	KUNIT_EXPECT_NOT_NULL(kunit, other);
	graph_keep_give_back(test.pool, other);
	graph_keep_give_back(test.pool, third);

	graph_keep_read(&iter, test.tree, 1);
	do {
		KUNIT_ASSERT_TRUE(kunit, graph_keep_next(&iter, &event));
	} while (event.kind != GRAPH_KEEP_CUT);
	KUNIT_EXPECT_EQ(kunit, event.missing, 2);
	end_tree(kunit, &test);
}

struct keep_timer {
	struct hrtimer		timer;
	struct keep_test	*test;
	unsigned long		calls;
	unsigned int		cpu;
};

/* An interrupt that calls a function, which calls another one */
static enum hrtimer_restart keep_interrupt(struct hrtimer *timer)
{
	struct keep_timer *keep = container_of(timer, struct keep_timer, timer);

	if (call_more(keep->test, 100)) {
		keep->calls++;
		if (call_more(keep->test, 101)) {
			keep->calls++;
			return_value(keep->test, 101, 0);
		}
		return_value(keep->test, 100, 0);
	}
	hrtimer_forward_now(timer, 20 * NSEC_PER_USEC);
	return HRTIMER_RESTART;
}

/* Each return in the tree, also behind the cut, is that of the call that it belongs to. */
static void keep_interrupted(struct kunit *kunit)
{
	struct keep_timer *timer = kunit_kzalloc(kunit, sizeof(*timer), GFP_KERNEL);
	unsigned long calls = 0, read = 0, interrupts = 0;
	const unsigned long begin = jiffies;
	struct graph_keep_event event;
	struct graph_keep_iter iter;
	struct keep_test test;

	KUNIT_ASSERT_NOT_NULL(kunit, timer);
	begin_tree(kunit, &test, 600, 500, 1);
	call_more(&test, 1);
	timer->test = &test;
	/* Only what interrupts this task may use its tree. */
	migrate_disable();
	hrtimer_init(&timer->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->timer.function = keep_interrupt;
	hrtimer_start(&timer->timer, 20 * NSEC_PER_USEC, HRTIMER_MODE_REL_PINNED_HARD);
	preempt_disable();
	while (call_more(&test, 2)) {
		calls++;
		/* Wait for an interrupt: an emulated timer may fire when the tree is full. */
		while (!READ_ONCE(timer->calls) && time_before(jiffies, begin + 60 * HZ))
			cpu_relax();
		return_value(&test, 2, 0);
	}
	preempt_enable();
	hrtimer_cancel(&timer->timer);
	migrate_enable();

	graph_keep_read(&iter, test.tree, 1);
	while (graph_keep_next(&iter, &event)) {
		read += event.kind == GRAPH_KEEP_CALL;
		if (event.kind == GRAPH_KEEP_RET)
			KUNIT_ASSERT_EQ(kunit, event.func, event.value);
		if (event.kind == GRAPH_KEEP_CALL && event.func > 2)
			interrupts++;
	}
	KUNIT_EXPECT_EQ(kunit, read, 1 + calls + timer->calls);
	KUNIT_EXPECT_EQ(kunit, interrupts, timer->calls);
	KUNIT_EXPECT_EQ(kunit, iter.open, 1);
	KUNIT_EXPECT_GT(kunit, interrupts, 0);
	end_tree(kunit, &test);
}

/* No page has two owners. */
static struct keep_owners {
	struct graph_keep_pool	*pool;
	struct completion	begun;
} keep_owners;

static int keep_owner(void *data)
{
	struct graph_keep_pool *pool = keep_owners.pool;
	struct graph_keep_tree *tree;
	int i, wrong = 0;

	complete(&keep_owners.begun);
	for (i = 0; i < 20000; i++) {
		tree = graph_keep_begin(pool, i);
		if (!tree)
			continue;
		local_set(&tree->missing, (long)current);
		cpu_relax();
		wrong += local_read(&tree->missing) != (long)current || tree->depth != i;
		graph_keep_give_back(pool, tree);
		if (!(i & 255))
			schedule();
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return wrong;
}

static void keep_tasks(struct kunit *kunit)
{
	struct graph_keep_pool *pool = graph_keep_pool_alloc(3, 1);
	struct task_struct *tasks[4];

	KUNIT_ASSERT_NOT_NULL(kunit, pool);
	keep_owners.pool = pool;
	init_completion(&keep_owners.begun);
	for (int i = 0; i < ARRAY_SIZE(tasks); i++) {
		tasks[i] = kthread_run(keep_owner, NULL, "graph_keep_test");
		KUNIT_ASSERT_FALSE(kunit, IS_ERR(tasks[i]));
	}
	/* One that is stopped before it begins never does. */
	for (int i = 0; i < ARRAY_SIZE(tasks); i++)
		wait_for_completion(&keep_owners.begun);
	for (int i = 0; i < ARRAY_SIZE(tasks); i++)
		KUNIT_EXPECT_EQ(kunit, kthread_stop(tasks[i]), 0);
	KUNIT_EXPECT_EQ(kunit, graph_keep_pool_used(pool), 0);
	graph_keep_pool_free(pool);
}

static void keep_units(struct kunit *kunit)
{
	static const struct {
		const char *text, *in_ns;
	} units[] = {
		{ "duration > 1ms", "duration > 1000000" },
		{ "duration>=2us&&duration<3s", "duration>=2000&&duration<3000000000" },
		{ "duration == 07ns", "duration == 7" },
		{ "duration == 18446744073709551615ns", "duration == 18446744073709551615" },
		{ "duration < 18446744073709551616ns", "duration < 18446744073709551616ns" },
		{ "duration < 18446744074s", "duration < 18446744074s" },
		{ "ret == -1s", "ret == -1000000000" },
		{ "ret == 0x1s || ret == 1h", "ret == 0x1s || ret == 1h" },
		{ "x1ms == 1 ms && ms == 1msec", "x1ms == 1 ms && ms == 1msec" },
		{ "comm == \"1ms\" && comm ~ '2s*\"3s'", "comm == \"1ms\" && comm ~ '2s*\"3s'" },
		{ "", "" },
	};
	char in_ns[64];

	for (int i = 0; i < ARRAY_SIZE(units); i++) {
		KUNIT_EXPECT_EQ(kunit, graph_keep_units(units[i].text, in_ns, sizeof(in_ns)),
				strlen(units[i].in_ns));
		KUNIT_EXPECT_STREQ(kunit, in_ns, units[i].in_ns);
	}
	/* What does not fit, with its end */
	KUNIT_EXPECT_EQ(kunit, graph_keep_units("1ms", in_ns, 8), 7);
	KUNIT_EXPECT_EQ(kunit, graph_keep_units("1ms", in_ns, 7), -E2BIG);
	KUNIT_EXPECT_EQ(kunit, graph_keep_units(">>>", in_ns, 3), -E2BIG);
}

/*
 * A user of function returns that leaves what looks like a tree in the word of a task. It stores
 * that at the end of its callback, in which the task stays for a while.
 */
static bool in_callback, has_left;

static int data_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
		      struct ftrace_regs *fregs)
{
	return 1;
}

static void data_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	const unsigned long begin = jiffies;

	WRITE_ONCE(in_callback, true);
	while (time_before(jiffies, begin + HZ / 2))
		cpu_relax();
	*fgraph_get_task_var(gops) = PAGE_SIZE | GRAPH_KEEP_TREE;
	WRITE_ONCE(has_left, true);
}

static int call_traced(void *unused)
{
	int_pow(2, 3);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static DECLARE_COMPLETION(data_unregistered);

static int unregister_data(void *gops)
{
	unregister_ftrace_graph_sync(gops);
	complete(&data_unregistered);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static int user_new(struct fgraph_ops *gops, unsigned long traced)
{
	int ret;

	*gops = (struct fgraph_ops){ .entryfunc = data_entry, .retfunc = data_return };
	ret = ftrace_set_filter_ip(&gops->ops, traced, 0, 1) ?: register_ftrace_graph(gops);
	if (ret)
		ftrace_free_filter(&gops->ops);
	return ret;
}

/* Its index is free once no task is in its callback and all their words are zero. */
static void keep_index(struct kunit *kunit)
{
	static struct fgraph_ops data, others[FGRAPH_FAST_NR + 1];
	struct task_struct *caller, *last;
	int nr = 0, ret;

	reinit_completion(&data_unregistered);
	WRITE_ONCE(in_callback, false);
	WRITE_ONCE(has_left, false);
	KUNIT_ASSERT_EQ(kunit, user_new(&data, (unsigned long)int_pow), 0);
	/* All the other indices are taken. */
	while (nr < FGRAPH_FAST_NR && !user_new(&others[nr], (unsigned long)int_sqrt))
		nr++;
	KUNIT_EXPECT_EQ(kunit, nr, FGRAPH_FAST_NR - 1);

	caller = kthread_run(call_traced, NULL, "graph_keep_test");
	while (!READ_ONCE(in_callback))
		schedule_timeout_uninterruptible(1);
	last = kthread_run(unregister_data, &data, "graph_keep_test");
	do {
		ret = user_new(&others[nr], (unsigned long)int_sqrt);
		if (!ret)
			break;
		schedule_timeout_uninterruptible(1);
	} while (!READ_ONCE(has_left));
	KUNIT_EXPECT_TRUE(kunit, READ_ONCE(has_left));
	wait_for_completion(&data_unregistered);
	kthread_stop(last);
	/* Before anybody registers, which would clear it */
	KUNIT_EXPECT_EQ(kunit, *fgraph_fast_var(caller->ret_stack, data.idx), 0);
	if (ret)
		ret = user_new(&others[nr], (unsigned long)int_sqrt);
	KUNIT_EXPECT_EQ(kunit, ret, 0);
	KUNIT_EXPECT_EQ(kunit, others[nr].idx, data.idx);
	kthread_stop(caller);

	for (; nr >= 0; nr--) {
		unregister_ftrace_graph(&others[nr]);
		ftrace_free_filter(&others[nr].ops);
	}
	ftrace_free_filter(&data.ops);
}

static struct kunit_case keep_cases[] = {
	KUNIT_CASE(keep_small),
	KUNIT_CASE(keep_chain),
	KUNIT_CASE(keep_bound),
	KUNIT_CASE(keep_cut_by_a_return),
	KUNIT_CASE(keep_exhausted),
	KUNIT_CASE(keep_interrupted),
	KUNIT_CASE(keep_tasks),
	KUNIT_CASE(keep_index),
	KUNIT_CASE(keep_units),
	{ }
};

static struct kunit_suite keep_suite = {
	.name = "graph_keep",
	.test_cases = keep_cases,
};

kunit_test_suite(keep_suite);
MODULE_LICENSE("GPL");
