// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of ops sets, and of sites being what the ops say */
#include <kunit/test.h>

#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/ftrace_direct.h>
#include <linux/prandom.h>
#include <linux/rcupdate_wait.h>

#include "apply.h"
#include "fentry_test.h"
#include "filter.h"
#include "register.h"
#include "set.h"

#define CALLEE	((unsigned long)fentry_test_callee)
#define CALLER	((unsigned long)fentry_test_caller)

/* Ops that are in no list; nothing is attached to a site. */
static struct ftrace_ops fake_ops[17];

static void fake_callback(unsigned long ip, unsigned long parent_ip,
			  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

static void fake_init(unsigned long flags)
{
	for (int i = 0; i < ARRAY_SIZE(fake_ops); i++)
		fake_ops[i] = (struct ftrace_ops) { .func = fake_callback, .flags = flags };
}

/* The set with the ops whose bits are set */
static struct ops_set *set_of(unsigned long bits, bool off)
{
	struct ftrace_ops *ops[ARRAY_SIZE(fake_ops)];
	unsigned int nr = 0, bit;

	for_each_set_bit(bit, &bits, ARRAY_SIZE(fake_ops))
		ops[nr++] = &fake_ops[bit];
	return fentry_set_get(ops, nr, 0, off);
}

static void test_sets_are_interned(struct kunit *test)
{
	struct ops_set *ab, *abc, *off;

	fake_init(0);
	guard(mutex)(&ftrace_lock);
	ab = set_of(3, false);
	abc = set_of(7, false);
	KUNIT_EXPECT_PTR_EQ(test, set_of(3, false), ab);
	KUNIT_EXPECT_PTR_EQ(test, set_of(0, false), &fentry_no_ops);
	KUNIT_EXPECT_PTR_EQ(test, set_of(0, true), &fentry_no_ops_off);

	/* Each is a target of its own */
	KUNIT_EXPECT_NE(test, ab->id, abc->id);
	KUNIT_EXPECT_PTR_EQ(test, text_target(&fentry_sites, ab->id)->owner, ab);
	KUNIT_EXPECT_EQ(test, text_target(&fentry_sites, ab->id)->addr, ab->tramp.addr);
	KUNIT_EXPECT_PTR_EQ(test, fentry_trampoline_find(ab->tramp.addr), &ab->tramp);
	KUNIT_EXPECT_PTR_EQ(test, fentry_trampoline_find(ab->tramp.addr + ab->tramp.size - 1),
			    &ab->tramp);
	KUNIT_EXPECT_PTR_NE(test, fentry_trampoline_find(ab->tramp.addr + ab->tramp.size),
			    &ab->tramp);

	/* What is off is a NOP, and has a twin that is on. */
	off = fentry_set_twin(abc);
	KUNIT_EXPECT_PTR_EQ(test, off, set_of(7, true));
	KUNIT_EXPECT_EQ(test, text_target(&fentry_sites, off->id)->addr, 0);
	KUNIT_EXPECT_PTR_EQ(test, fentry_set_twin(off), abc);
	KUNIT_EXPECT_PTR_EQ(test, fentry_set_twin(&fentry_no_ops), &fentry_no_ops_off);

	fentry_set_put_unused(off);
	fentry_set_put_unused(abc);
	fentry_set_put_unused(ab);
	/* It is not found any more, so it is made anew. */
	KUNIT_EXPECT_PTR_NE(test, set_of(3, false), ab);
	fentry_set_put_unused(set_of(3, false));
}

static void test_stub_is_not_called(struct kunit *test)
{
	struct ops_set *set;

	fake_init(FTRACE_OPS_FL_STUB);
	guard(mutex)(&ftrace_lock);
	set = set_of(1, false);
	KUNIT_EXPECT_EQ(test, text_target(&fentry_sites, set->id)->addr, 0);
	fentry_set_put_unused(set);
}

/* 70,000 combinations: those for which there is no set share one. */
static void test_many_combinations(struct kunit *test)
{
	const unsigned int max = fentry_sets_max;
	unsigned int own = 0, sharing = 0;
	struct ops_set *set;

	fake_init(FTRACE_OPS_FL_STUB);
	mutex_lock(&ftrace_lock);
	fentry_sets_max = min(max, 1000u);
	for (unsigned long bits = 1; bits <= 70000; bits++) {
		set = set_of(bits, false);
		if (IS_ERR(set))
			break;
		*(set->shared ? &sharing : &own) += 1;
	}
	for (unsigned long bits = 1; bits <= 70000; bits++)
		fentry_set_put_unused(set_of(bits, false));
	fentry_sets_max = max;
	mutex_unlock(&ftrace_lock);

	KUNIT_EXPECT_EQ(test, own + sharing, 70000);
	KUNIT_EXPECT_GT(test, own, 500);
	KUNIT_EXPECT_GT(test, sharing, 60000);
}

/* An ops that counts its calls */
struct counter {
	struct ftrace_ops	ops;
	unsigned int		calls;
};

static void count(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		  struct ftrace_regs *fregs)
{
	/* Racy, but tests compare only calls that one task makes. */
	data_race(container_of(ops, struct counter, ops)->calls++);
}

static struct counter *counters_at(struct kunit *test, unsigned int nr, unsigned long func)
{
	struct counter *counters = kunit_kcalloc(test, nr, sizeof(*counters), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, counters);
	for (unsigned int i = 0; i < nr; i++)
		fentry_test_ops_at(test, &counters[i].ops, count, func);
	return counters;
}

static void expect_calls(struct kunit *test, struct counter *counters, int nr,
			 const unsigned int *calls)
{
	KUNIT_EXPECT_EQ(test, fentry_test_caller(), 654321);
	for (int i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, counters[i].calls, calls[i]);
		counters[i].calls = 0;
	}
}

#define EXPECT_CALLS(_test, _counters, ...)				\
	expect_calls(_test, _counters,					\
		     sizeof((unsigned int[]){ __VA_ARGS__ }) / sizeof(int), \
		     (const unsigned int[]){ __VA_ARGS__ })

static void test_shared(struct kunit *test)
{
	struct counter *c = counters_at(test, 4, CALLEE);

	c[1].ops.flags |= FTRACE_OPS_FL_RECURSION;
	c[2].ops.flags |= FTRACE_OPS_FL_SAVE_REGS;

	KUNIT_ASSERT_EQ(test, register_ftrace_function(&c[0].ops), 0);
	fentry_test_share_sets(true);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&c[1].ops), 0);
	KUNIT_EXPECT_TRUE(test, fentry_test_set_at(CALLEE)->shared);
	EXPECT_CALLS(test, c, 1, 1, 0, 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&c[2].ops), 0);
	fentry_test_share_sets(false);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&c[3].ops), 0);
	KUNIT_EXPECT_TRUE(test, fentry_test_set_at(CALLEE)->shared);
	EXPECT_CALLS(test, c, 1, 1, 1, 1);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&c[0].ops), 0);
	EXPECT_CALLS(test, c, 0, 1, 1, 1);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&c[1].ops, CALLER, 0, 1), 0);
	KUNIT_EXPECT_FALSE(test, fentry_test_set_at(CALLER)->shared);
	EXPECT_CALLS(test, c, 0, 1, 1, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&c[2].ops), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&c[3].ops), 0);
	KUNIT_EXPECT_PTR_EQ(test, fentry_test_set_at(CALLEE), &fentry_no_ops);
	EXPECT_CALLS(test, c, 0, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&c[1].ops), 0);
	EXPECT_CALLS(test, c, 0, 0, 0, 0);
}

/* An ops goes though there is no memory for another set: nothing is left of it. */
static void test_going_needs_no_memory(struct kunit *test)
{
	struct counter *c = counters_at(test, 3, CALLEE);

	for (int i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, register_ftrace_function(&c[i].ops), 0);
	fentry_test_share_sets(true);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&c[1].ops), 0);
	EXPECT_CALLS(test, c, 1, 0, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&c[0].ops), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&c[2].ops), 0);
	fentry_test_share_sets(false);
	KUNIT_EXPECT_PTR_EQ(test, fentry_test_set_at(CALLEE), &fentry_no_ops);
	EXPECT_CALLS(test, c, 0, 0, 0);
}

/* A manager is called once for its subops, and only where one of them is wanted. */
static void test_subops(struct kunit *test, bool share)
{
	struct counter *manager = kunit_kzalloc(test, sizeof(*manager), GFP_KERNEL);
	struct counter *sub = counters_at(test, 3, CALLEE);

	KUNIT_ASSERT_NOT_NULL(test, manager);
	manager->ops.func = count;
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&sub[2].ops, CALLER, 0, 1), 0);

	if (share)
		fentry_test_share_sets(true);
	mutex_lock(&ftrace_lock);
	for (int i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, ftrace_startup_subops(&manager->ops, &sub[i].ops, 0), 0);
		EXPECT_CALLS(test, manager, i < 2 ? 1 : 2);
	}
	KUNIT_EXPECT_EQ(test, fentry_test_set_at(CALLEE)->shared, share);
	KUNIT_EXPECT_EQ(test, ftrace_shutdown_subops(&manager->ops, &sub[0].ops, 0), 0);
	EXPECT_CALLS(test, manager, 2);
	KUNIT_EXPECT_EQ(test, ftrace_shutdown_subops(&manager->ops, &sub[1].ops, 0), 0);
	EXPECT_CALLS(test, manager, 1);
	KUNIT_EXPECT_PTR_EQ(test, fentry_test_set_at(CALLEE), &fentry_no_ops);
	KUNIT_EXPECT_EQ(test, ftrace_shutdown_subops(&manager->ops, &sub[2].ops, 0), 0);
	EXPECT_CALLS(test, manager, 0);
	KUNIT_EXPECT_FALSE(test, manager->ops.flags & FTRACE_OPS_FL_ENABLED);
	KUNIT_EXPECT_PTR_EQ(test, fentry_test_set_at(CALLER), &fentry_no_ops);
	mutex_unlock(&ftrace_lock);
	if (share)
		fentry_test_share_sets(false);
}

static void test_subops_own(struct kunit *test)
{
	test_subops(test, false);
}

static void test_subops_shared(struct kunit *test)
{
	test_subops(test, true);
}

static void enable_sites(struct kunit *test, bool enable)
{
	const struct fentry_change all = {};

	guard(mutex)(&ftrace_lock);
	fentry_enabled = enable;
	KUNIT_EXPECT_EQ(test, fentry_apply(&all), 0);
}

/* While sites are off, ops come and go all the same. */
static void test_off(struct kunit *test)
{
	struct counter *c = counters_at(test, 2, CALLEE);

	KUNIT_ASSERT_EQ(test, register_ftrace_function(&c[0].ops), 0);
	enable_sites(test, false);
	EXPECT_CALLS(test, c, 0, 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&c[1].ops), 0);
	EXPECT_CALLS(test, c, 0, 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&c[0].ops), 0);
	enable_sites(test, true);
	EXPECT_CALLS(test, c, 0, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&c[1].ops), 0);
}

/* Waits until what was taken off the sites is retired. */
static void wait_retired(void)
{
	struct rcu_synchronize retired;

	init_completion(&retired.completion);
	ftrace_after_tasks(&retired.head, wakeme_after_rcu);
	wait_for_completion(&retired.completion);
}

/* Sites that share while they are off do so when they are on: an ops that goes waits for tasks. */
static void test_off_shared(struct kunit *test)
{
	struct counter *c = counters_at(test, 1, CALLEE);

	KUNIT_ASSERT_EQ(test, register_ftrace_function(&c->ops), 0);
	fentry_test_share_sets(true);
	enable_sites(test, false);
	fentry_test_share_sets(false);
	KUNIT_EXPECT_TRUE(test, fentry_test_set_at(CALLEE)->shared);
	EXPECT_CALLS(test, c, 0);

	/* No task is in the shared trampoline. A round that finds ftrace_lock held is lost. */
	for (int i = 0; i < 20 && fentry_sets_shared(); i++)
		wait_retired();
	KUNIT_EXPECT_FALSE(test, fentry_sets_shared());

	enable_sites(test, true);
	KUNIT_EXPECT_TRUE(test, fentry_test_set_at(CALLEE)->shared);
	KUNIT_EXPECT_TRUE(test, fentry_sets_shared());
	EXPECT_CALLS(test, c, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&c->ops), 0);
	EXPECT_CALLS(test, c, 0);
}

/* Does each site have just the ops that want it? Returns how many do not. */
static unsigned int wrong_sites(struct counter *c, unsigned int nr)
{
	struct text_site_table *table;
	struct text_site *site;
	unsigned int wrong = 0;

	guard(mutex)(&ftrace_lock);
	for_each_fentry_table(table) {
		for_each_text_site(site, table) {
			const struct ops_set *set = fentry_site_set(site);

			if (site->state & TEXT_SITE_DEAD)
				continue;
			for (unsigned int i = 0; i < nr; i++)
				wrong += !set->shared && fentry_set_has(set, &c[i].ops) !=
					 ((c[i].ops.flags & FTRACE_OPS_FL_ENABLED) &&
					  ftrace_ops_test(&c[i].ops, text_site_addr(site), NULL));
			if (set->shared)
				wrong += !fentry_ops_wanted_at(text_site_addr(site));
		}
		cond_resched();
	}
	return wrong;
}

static unsigned int nr_shared_sites(void)
{
	struct text_site_table *table;
	struct text_site *site;
	unsigned int nr = 0;

	guard(mutex)(&ftrace_lock);
	for_each_fentry_table(table) {
		for_each_text_site(site, table)
			nr += fentry_site_set(site)->shared;
	}
	return nr;
}

#define NR_RANDOM	20

/* Ops with random filters: many of their combinations have to share. */
static void test_random_filters(struct kunit *test)
{
	struct counter *c = kunit_kcalloc(test, NR_RANDOM, sizeof(*c), GFP_KERNEL);
	struct text_site_table *table = &fentry_sites.kernel;
	const unsigned int every = table->nr / 1500 + 1;
	unsigned long *ips = kunit_kcalloc(test, 1500, sizeof(*ips), GFP_KERNEL);
	const unsigned int max = fentry_sets_max;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_NOT_NULL(test, ips);
	prandom_seed_state(&rnd, 20);
	fentry_sets_max = min(max, 1000u);
	for (int i = 0; i < NR_RANDOM; i++) {
		unsigned int nr = 0;

		for (unsigned int n = 0; n < table->nr; n += every) {
			if ((prandom_u32_state(&rnd) & 1) && !(table->sites[n].state & TEXT_SITE_DEAD))
				ips[nr++] = text_site_addr(&table->sites[n]);
		}
		c[i].ops.func = count;
		KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&c[i].ops, ips, nr, 0, 1), 0);
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&c[i].ops), 0);
	}
	KUNIT_EXPECT_EQ(test, wrong_sites(c, NR_RANDOM), 0);
	KUNIT_EXPECT_GT(test, nr_shared_sites(), 0);

	for (int i = 0; i < NR_RANDOM; i += 2)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&c[i].ops), 0);
	KUNIT_EXPECT_EQ(test, wrong_sites(c, NR_RANDOM), 0);
	for (int i = 1; i < NR_RANDOM; i += 2)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&c[i].ops), 0);
	KUNIT_EXPECT_EQ(test, wrong_sites(c, NR_RANDOM), 0);
	KUNIT_EXPECT_EQ(test, nr_shared_sites(), 0);
	fentry_sets_max = max;
	for (int i = 0; i < NR_RANDOM; i++)
		ftrace_free_filter(&c[i].ops);
}

static struct kunit_case set_cases[] = {
	KUNIT_CASE(test_sets_are_interned),
	KUNIT_CASE(test_stub_is_not_called),
	KUNIT_CASE_SLOW(test_many_combinations),
	{}
};

static struct kunit_suite set_suite = {
	.name		= "fentry_set",
	.test_cases	= set_cases,
};

/* What an assertion has ended may have left sites off. */
static void apply_exit(struct kunit *test)
{
	if (!fentry_enabled)
		enable_sites(test, true);
	fentry_test_exit(test);
}

static struct kunit_case apply_cases[] = {
	KUNIT_CASE(test_shared),
	KUNIT_CASE(test_going_needs_no_memory),
	KUNIT_CASE(test_subops_own),
	KUNIT_CASE(test_subops_shared),
	KUNIT_CASE(test_off),
	KUNIT_CASE(test_off_shared),
	KUNIT_CASE_SLOW(test_random_filters),
	{}
};

static struct kunit_suite apply_suite = {
	.name		= "fentry_apply",
	.exit		= apply_exit,
	.test_cases	= apply_cases,
};

kunit_test_suites(&set_suite, &apply_suite);
