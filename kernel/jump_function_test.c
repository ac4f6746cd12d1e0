// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of jump functions, whether they are patched or pointers */
#include <kunit/test.h>

#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/jump_function.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/text_site.h>

#include "jump_function_test.h"

/* More than there are registers for, of several widths, and one that is memory */
struct on_stack {
	long	a, b, c;
};

static unsigned long many(unsigned long tag, u8 a, s16 b, const char *c, s32 d, u64 e, u16 f,
			  long g, struct on_stack h)
{
	bool right = b == -(s16)a && *c == (char)a && d == (s32)e && f == (u16)(e >> 8) &&
		     g == ~(long)e && h.a == g + 1 && h.b == g + 2 && h.c == g + 3 &&
		     (u8)e == a;

	return right ? tag | a : 0;
}

static noinline unsigned long many_first(u8 a, s16 b, const char *c, s32 d, u64 e, u16 f,
					 long g, struct on_stack h)
{
	return many(0x100, a, b, c, d, e, f, g, h);
}

static noinline unsigned long many_second(u8 a, s16 b, const char *c, s32 d, u64 e, u16 f,
					  long g, struct on_stack h)
{
	return many(0x200, a, b, c, d, e, f, g, h);
}

DEFINE_DYNFUNC(test_many, many_first);

static unsigned long call_many(u64 e)
{
	const struct on_stack h = { ~(long)e + 1, ~(long)e + 2, ~(long)e + 3 };
	const char c = e;

	return dynfunc_test_many(e, -(s16)(u8)e, &c, e, e, e >> 8, ~(long)e, h);
}

static int counted;

static noinline void none_first(void)
{
	counted += 1;
}

static noinline void none_second(void)
{
	counted += 10;
}

DEFINE_DYNFUNC(test_none, none_first);

static noinline int one_first(int a)
{
	return a + 1;
}

static noinline int one_second(int a)
{
	return a + 2;
}

static noinline int one_third(int a)
{
	return a + 3;
}

/* Two of them start at the same place. */
DEFINE_DYNFUNC(test_one, one_first);
DEFINE_DYNFUNC(test_other, one_first);

static void test_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_many, many_first), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_none, none_first), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_one, one_first), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_other, one_first), 0);
}

static void test_arguments(struct kunit *test)
{
	counted = 0;
	dynfunc_test_none();
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_none, none_second), 0);
	dynfunc_test_none();
	KUNIT_EXPECT_EQ(test, counted, 11);

	KUNIT_EXPECT_EQ(test, dynfunc_test_one(40), 41);
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_one, one_second), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_test_one(40), 42);

	KUNIT_EXPECT_EQ(test, call_many(0x123456789abcdef0), 0x1f0);
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_many, many_second), 0);
	KUNIT_EXPECT_EQ(test, call_many(0x123456789abcdef0), 0x2f0);
}

static void test_target(struct kunit *test)
{
	KUNIT_EXPECT_PTR_EQ(test, dynfunc_target(test_one), &one_first);
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_one, one_third), 0);
	KUNIT_EXPECT_PTR_EQ(test, dynfunc_target(test_one), &one_third);
	KUNIT_EXPECT_PTR_EQ(test, dynfunc_target(test_other), &one_first);
	/* To what it is already */
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_one, one_third), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_test_one(0), 3);
	KUNIT_EXPECT_EQ(test, dynfunc_test_other(0), 1);
}

static void test_batch(struct kunit *test)
{
	const struct dynfunc_change changes[] = {
		DYNFUNC_CHANGE(test_one, one_third),
		DYNFUNC_CHANGE(test_none, none_second),
		DYNFUNC_CHANGE(test_other, one_second),
		DYNFUNC_CHANGE(test_one, one_second),	/* the last one counts */
	};
	const struct dynfunc_change back[] = {
		DYNFUNC_CHANGE(test_one, one_third),
		DYNFUNC_CHANGE(test_one, one_second),	/* what it was */
		DYNFUNC_CHANGE(test_other, one_first),
	};

	KUNIT_EXPECT_EQ(test, dynfunc_update_batch(changes, ARRAY_SIZE(changes)), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_test_one(0), 2);
	KUNIT_EXPECT_EQ(test, dynfunc_test_other(0), 2);
	KUNIT_EXPECT_PTR_EQ(test, dynfunc_target(test_none), &none_second);

	KUNIT_EXPECT_EQ(test, dynfunc_update_batch(back, ARRAY_SIZE(back)), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_test_one(0), 2);
	KUNIT_EXPECT_EQ(test, dynfunc_test_other(0), 1);

	KUNIT_EXPECT_EQ(test, dynfunc_update_batch(NULL, 0), 0);
}

/* Before any of it is there, when nobody else is either */
DEFINE_DYNFUNC(test_early, one_first);

static int target_early, result_early;

static int __init update_early(void)
{
	if (dynfunc_target(test_early) == one_first)
		target_early = dynfunc_update(test_early, one_second) ?: 1;
	if (dynfunc_target(test_early) != one_second)
		target_early = -ENOENT;
	result_early = dynfunc_test_early(10);
	return 0;
}

/* The earliest that there are, long before early_initcall() */
console_initcall(update_early);

static void test_update_early(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, target_early, 1);
	KUNIT_EXPECT_EQ(test, result_early, 12);
	KUNIT_EXPECT_PTR_EQ(test, dynfunc_target(test_early), &one_second);
	KUNIT_EXPECT_EQ(test, dynfunc_test_early(20), 22);
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_early, one_third), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_test_early(20), 23);
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_early, one_second), 0);
}

struct calls {
	atomic_long_t	first, second, wrong;
};

static int call_in_a_loop(void *data)
{
	struct calls *calls = data;
	u64 e;

	for (e = 0; !kthread_should_stop(); e += 0x0123456789abcdef) {
		unsigned long ret = call_many(e);

		atomic_long_inc(ret == (0x100 | (u8)e) ? &calls->first :
				ret == (0x200 | (u8)e) ? &calls->second : &calls->wrong);
		cond_resched();
	}
	return 0;
}

static void test_updates_while_called(struct kunit *test)
{
	static struct calls calls;
	struct task_struct **tasks = jump_test_run_elsewhere(test, call_in_a_loop, &calls);
	const unsigned long begin = jiffies;
	unsigned long updates;

	for (updates = 0; !jump_test_over(begin, &calls.first, &calls.second); updates += 2) {
		KUNIT_EXPECT_EQ(test, dynfunc_update(test_many, many_second), 0);
		KUNIT_EXPECT_EQ(test, call_many(updates), 0x200 | (u8)updates);
		/* Without preemption and with one CPU, callers run only here and below. */
		cond_resched();
		KUNIT_EXPECT_EQ(test, dynfunc_update(test_many, many_first), 0);
		KUNIT_EXPECT_EQ(test, call_many(updates), 0x100 | (u8)updates);
		cond_resched();
	}

	jump_test_stop_elsewhere(tasks);

	kunit_info(test, "%lu updates, %ld and %ld calls\n", updates,
		   atomic_long_read(&calls.first), atomic_long_read(&calls.second));
	KUNIT_EXPECT_FALSE(test, jump_test_few(&calls.first, &calls.second));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&calls.wrong), 0);
}

#if defined(CONFIG_JUMP_FUNCTION) && defined(CONFIG_KPROBES)
/* The task told to reschedule at each sync, and how often it had not done so by the next one */
static struct task_struct *wanted;
static atomic_t kept;

/* How often the thread synchronised all processors */
static atomic_t rest_syncs;

/* Called in place of an interrupt that wakes up another task, on each processor at a time */
static int at_sync(struct kprobe *probe, struct pt_regs *regs)
{
	if (current == READ_ONCE(wanted)) {
		if (test_tsk_need_resched(current))
			atomic_inc(&kept);
		set_tsk_need_resched(current);
		set_preempt_need_resched();
	}
	if (!strcmp(current->comm, "text_site"))
		atomic_inc(&rest_syncs);
	return 0;
}

/* Returns how often the thread synchronised during an update. */
static unsigned int update_once(struct kunit *test, unsigned int nth, bool is_wanted)
{
	atomic_set(&rest_syncs, 0);
	WRITE_ONCE(wanted, is_wanted ? current : NULL);
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_many, nth & 1 ? many_first : many_second), 0);
	WRITE_ONCE(wanted, NULL);
	KUNIT_EXPECT_EQ(test, call_many(nth), (nth & 1 ? 0x100 : 0x200) | (u8)nth);
	return atomic_read(&rest_syncs);
}

/* Who has one site to change gives its processor up between two passes if it is wanted. */
static void test_processor_is_wanted(struct kunit *test)
{
	struct kprobe probe = { .symbol_name = "do_sync_core", .pre_handler = at_sync };
	unsigned int updates = 0, nr = 0, by_thread = 0, cpu;
	const unsigned long begin = jiffies;

	KUNIT_ASSERT_EQ(test, register_kprobe(&probe), 0);
	/* Somebody may really want it, and do so often where processors are emulated. */
	while (update_once(test, updates++, false) && time_before(jiffies, begin + 60 * HZ))
		cond_resched();
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, begin + 60 * HZ));

	/*
	 * On the processor where the thread ran last, the thread makes the remaining passes. On
	 * others, it races with this task. A caller that ignored need_resched() would be counted
	 * at two of the three syncs of each update.
	 */
	atomic_set(&kept, 0);
	for_each_online_cpu(cpu) {
		KUNIT_EXPECT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(cpu)), 0);
		for (unsigned int i = 0; i < 50; i++, nr++)
			by_thread += update_once(test, updates++, true) >= 2;
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	unregister_kprobe(&probe);
	KUNIT_EXPECT_LT(test, atomic_read(&kept), nr / 2);
	KUNIT_EXPECT_GE(test, by_thread, 25);
}
#endif

#ifdef CONFIG_JUMP_FUNCTION
static int not_a_function;

static void test_what_is_no_function(struct kunit *test)
{
	const struct dynfunc_change changes[] = {
		DYNFUNC_CHANGE(test_other, one_third),
		{ &dynfunc_test_one, &not_a_function },
	};
	const struct dynfunc_change none = { &dynfunc_test_one, NULL };

	KUNIT_EXPECT_EQ(test, dynfunc_update_batch(changes, ARRAY_SIZE(changes)), -EINVAL);
	/* Nor has the good one been changed. */
	KUNIT_EXPECT_EQ(test, dynfunc_test_other(0), 1);
	KUNIT_EXPECT_EQ(test, dynfunc_test_one(0), 1);
	KUNIT_EXPECT_EQ(test, dynfunc_update_batch(&none, 1), -EINVAL);
}

static void test_what_is_no_jump_function(struct kunit *test)
{
	const struct dynfunc_change changes[] = {
		DYNFUNC_CHANGE(test_other, one_third),
		{ one_first, one_second },
	};
	const struct dynfunc_change middle = { (u8 *)&dynfunc_test_one + 1, one_second };

	KUNIT_EXPECT_EQ(test, dynfunc_update_batch(changes, ARRAY_SIZE(changes)), -ENOENT);
	KUNIT_EXPECT_EQ(test, dynfunc_test_other(0), 1);
	KUNIT_EXPECT_EQ(test, dynfunc_update_batch(&middle, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, dynfunc_test_one(0), 1);
}

/* What the text is, and what the breakpoint handler would do, are the same. */
static void test_text(struct kunit *test)
{
	int (*const targets[])(int) = { one_second, one_third, one_first };
	const unsigned long addr = (unsigned long)&dynfunc_test_one;
	struct text_site_table *table;
	struct text_site_kind *kind;
	struct text_site *site;
	unsigned int i;

	site = text_site_find(NULL, addr, addr, &table);
	KUNIT_ASSERT_NOT_NULL(test, site);
	KUNIT_ASSERT_EQ(test, text_site_addr(site), addr);
	/* Another kind of site: not for who traces functions */
	KUNIT_EXPECT_EQ(test, ftrace_location(addr), 0);

	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		KUNIT_EXPECT_EQ(test, dynfunc_update(test_one, targets[i]), 0);
		KUNIT_EXPECT_EQ(test, jump_test_target(&dynfunc_test_one, &kind)->addr,
				(unsigned long)targets[i]);
		KUNIT_EXPECT_EQ(test, arch_text_site_get(kind, addr), (unsigned long)targets[i]);
	}
}

#ifdef CONFIG_MODULES
DEFINE_DYNFUNC(test_wrong, one_first);

/* One whose text is wrong does not keep others jumping into text that goes. */
static void test_targets_go(struct kunit *test)
{
	struct module *module = kunit_kzalloc(test, sizeof(*module), GFP_KERNEL);
	struct text_site_kind *kind;
	struct text_target *wrong = jump_test_target(&dynfunc_test_wrong, &kind);

	KUNIT_ASSERT_NOT_NULL(test, module);
	module->mem[MOD_TEXT].base = one_third;
	module->mem[MOD_TEXT].size = 1;
	KUNIT_ASSERT_EQ(test, dynfunc_update(test_one, one_third), 0);
	KUNIT_ASSERT_EQ(test, dynfunc_update(test_other, one_third), 0);
	wrong->addr = (unsigned long)one_third;

	kind->going(module, NULL);
	KUNIT_EXPECT_EQ(test, dynfunc_test_one(0), 1);
	KUNIT_EXPECT_EQ(test, dynfunc_test_other(0), 1);
	/* It stays as it is from then on. */
	KUNIT_EXPECT_EQ(test, dynfunc_update(test_wrong, one_second), -ENOENT);
	KUNIT_EXPECT_EQ(test, dynfunc_test_wrong(0), 1);
	wrong->addr = (unsigned long)one_first;
}
#endif
#endif

static struct kunit_case jump_function_cases[] = {
	KUNIT_CASE(test_arguments),
	KUNIT_CASE(test_target),
	KUNIT_CASE(test_batch),
	KUNIT_CASE(test_update_early),
	KUNIT_CASE(test_updates_while_called),
#if defined(CONFIG_JUMP_FUNCTION) && defined(CONFIG_KPROBES)
	KUNIT_CASE(test_processor_is_wanted),
#endif
#ifdef CONFIG_JUMP_FUNCTION
	KUNIT_CASE(test_what_is_no_function),
	KUNIT_CASE(test_what_is_no_jump_function),
	KUNIT_CASE(test_text),
#ifdef CONFIG_MODULES
	KUNIT_CASE(test_targets_go),
#endif
#endif
	{}
};

static struct kunit_suite jump_function_suite = {
	.name		= "jump_function",
	.exit		= test_exit,
	.test_cases	= jump_function_cases,
};

kunit_test_suite(jump_function_suite);
