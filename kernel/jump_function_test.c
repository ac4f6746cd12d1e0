// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of jump functions, whether they are patched or pointers, and of
 * tracepoints, whatever they call their probes by
 */
#include <kunit/test.h>

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/jump_function.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/srcu.h>
#include <linux/text_site.h>
#include <linux/tracepoint.h>

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

/* Run something on each CPU but this one, where that leaves any. */
static struct task_struct **run_elsewhere(struct kunit *test, int (*func)(void *data), void *data)
{
	struct task_struct **tasks = kunit_kcalloc(test, nr_cpu_ids, sizeof(*tasks), GFP_KERNEL);
	const int here = raw_smp_processor_id();
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, tasks);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(here)), 0);
	for_each_online_cpu(cpu) {
		if (cpu == here && num_online_cpus() > 1)
			continue;
		tasks[cpu] = kthread_run_on_cpu(func, data, cpu, "jump_test/%u");
		KUNIT_EXPECT_NOT_ERR_OR_NULL(test, tasks[cpu]);
	}
	return tasks;
}

static void stop_elsewhere(struct task_struct **tasks)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (!IS_ERR_OR_NULL(tasks[cpu]))
			kthread_stop(tasks[cpu]);
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/* There may be one processor for all, and little time for each. */
static bool few(atomic_long_t *first, atomic_long_t *second)
{
	return atomic_long_read(first) <= 10 || atomic_long_read(second) <= 10;
}

/* Half a second, or until both have been called: but not for ever */
static bool over(unsigned long begin, atomic_long_t *first, atomic_long_t *second)
{
	if (few(first, second))
		return time_after(jiffies, begin + 60 * HZ);
	return time_after(jiffies, begin + HZ / 2);
}

static void test_updates_while_called(struct kunit *test)
{
	static struct calls calls;
	struct task_struct **tasks = run_elsewhere(test, call_in_a_loop, &calls);
	const unsigned long begin = jiffies;
	unsigned long updates;

	for (updates = 0; !over(begin, &calls.first, &calls.second); updates += 2) {
		KUNIT_EXPECT_EQ(test, dynfunc_update(test_many, many_second), 0);
		KUNIT_EXPECT_EQ(test, call_many(updates), 0x200 | (u8)updates);
		/* Without preemption and with one CPU, callers run only here and below. */
		cond_resched();
		KUNIT_EXPECT_EQ(test, dynfunc_update(test_many, many_first), 0);
		KUNIT_EXPECT_EQ(test, call_many(updates), 0x100 | (u8)updates);
		cond_resched();
	}

	stop_elsewhere(tasks);

	kunit_info(test, "%lu updates, %ld and %ld calls\n", updates,
		   atomic_long_read(&calls.first), atomic_long_read(&calls.second));
	KUNIT_EXPECT_FALSE(test, few(&calls.first, &calls.second));
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

#ifdef CONFIG_TRACEPOINTS
DECLARE_TRACE(jump_test, TP_PROTO(u64 e), TP_ARGS(e));
DEFINE_TRACE(jump_test, TP_PROTO(u64 e), TP_ARGS(e));

/* Each probe's data is its own. With that of another it would be a crash elsewhere. */
static atomic_long_t first_hits, second_hits, wrong_hits;

static void probe_first(void *data, u64 e)
{
	atomic_long_inc(data == &first_hits && e == (u32)e * 0x100000001ull ? &first_hits :
									      &wrong_hits);
}

static void probe_second(void *data, u64 e)
{
	atomic_long_inc(data == &second_hits && e == (u32)e * 0x100000001ull ? &second_hits :
									       &wrong_hits);
}

static int fire_in_a_loop(void *data)
{
	u32 e;

	for (e = 0; !kthread_should_stop(); e++) {
		trace_jump_test(e * 0x100000001ull);
		cond_resched();
	}
	return 0;
}

/* What the next call gets to, where that is known: a probe's alone a grace period later */
static void expect_called(struct kunit *test, void *func)
{
#ifdef CONFIG_TRACEPOINTS_JUMP_FUNCTION
	void *target = dynfunc_target(tp_func_jump_test);

	if (target != __traceiter_jump_test)
		KUNIT_EXPECT_PTR_EQ(test, target, func);
#endif
}

static void add_first(struct kunit *test, int prio)
{
	KUNIT_EXPECT_EQ(test, register_trace_prio_jump_test(probe_first, &first_hits, prio), 0);
}

static void add_second(struct kunit *test, int prio)
{
	KUNIT_EXPECT_EQ(test, register_trace_prio_jump_test(probe_second, &second_hits, prio), 0);
}

static void remove_first(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, unregister_trace_jump_test(probe_first, &first_hits), 0);
}

static void remove_second(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, unregister_trace_jump_test(probe_second, &second_hits), 0);
}

#define PRIO TRACEPOINT_DEFAULT_PRIO

static void change_probes(struct kunit *test)
{
	/* none, one, two, the other one, none: each alone for long enough for others to call it */
	add_first(test, PRIO);
	expect_called(test, probe_first);
	fsleep(1000);
	add_second(test, PRIO);
	expect_called(test, __traceiter_jump_test);
	remove_first(test);
	expect_called(test, probe_second);
	fsleep(1000);
	remove_second(test);

	/* one, two with the new one in front, again the one */
	add_first(test, PRIO);
	add_second(test, PRIO + 1);
	expect_called(test, __traceiter_jump_test);
	remove_second(test);
	expect_called(test, probe_first);
	remove_first(test);
	expect_called(test, __traceiter_jump_test);
}

static void test_probes_change_while_called(struct kunit *test)
{
	struct task_struct **tasks = run_elsewhere(test, fire_in_a_loop, NULL);
	const unsigned long begin = jiffies;
	int changes;

	for (changes = 0; !over(begin, &first_hits, &second_hits); changes++)
		change_probes(test);

	stop_elsewhere(tasks);
	tracepoint_synchronize_unregister();
	kunit_info(test, "%d rounds, %ld and %ld hits\n", changes,
		   atomic_long_read(&first_hits), atomic_long_read(&second_hits));
	KUNIT_EXPECT_FALSE(test, few(&first_hits, &second_hits));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&wrong_hits), 0);
}

#ifdef CONFIG_TRACEPOINTS_JUMP_FUNCTION
/* Each leaves the second probe alone, with the first one's data read just before. */
static void other_after_none(struct kunit *test)
{
	remove_first(test);
	add_second(test, PRIO);
}

static void other_behind(struct kunit *test)
{
	add_second(test, PRIO);
	remove_first(test);
}

static void other_in_front(struct kunit *test)
{
	add_second(test, PRIO + 1);
	remove_first(test);
}

static void other_after_two(struct kunit *test)
{
	add_second(test, PRIO + 1);
	remove_first(test);
	remove_second(test);
	add_second(test, PRIO);
}

/* So long that what is waited for is only the section that the caller is in. */
static void other_a_while_after_none(struct kunit *test)
{
	remove_first(test);
	msleep(200);
	add_second(test, PRIO);
}

static void other_after_a_few(struct kunit *test)
{
	for (int i = 0; i < 3; i++) {
		remove_first(test);
		add_first(test, PRIO);
	}
	other_after_none(test);
}

static void (*const to_other[])(struct kunit *test) = {
	other_after_none, other_a_while_after_none, other_behind, other_in_front,
	other_after_two, other_after_a_few,
};

/* The jump leads to the one probe, soon. */
static void expect_direct(struct kunit *test, void *func)
{
	const unsigned long begin = jiffies;

	while (dynfunc_target(tp_func_jump_test) != func && time_before(jiffies, begin + 60 * HZ))
		msleep(20);
	KUNIT_EXPECT_PTR_EQ(test, (void *)dynfunc_target(tp_func_jump_test), func);
}

/* What a caller does first */
static void *read_data(void)
{
	/* Pairs with the release in tracepoint_set_funcs(). */
	return smp_load_acquire(&__tracepoint_jump_test.data);
}

/*
 * A caller that waits between reading the data and jumping, until the change is over or for
 * max_wait. It notes by itself which of these it was: nobody else can tell when it jumps.
 */
struct slow_caller {
	struct completion	has_data;
	unsigned long		max_wait;	/* in jiffies */
	bool			is_to_call;
	bool			in_time;
};

static int call_slowly(void *arg)
{
	struct slow_caller *caller = arg;
	unsigned long begin;
	void *data;

	preempt_disable();
	data = read_data();
	begin = jiffies;
	complete(&caller->has_data);
	for (;;) {
		/* Pairs with the release in change_before_call(): the change is over. */
		caller->in_time = smp_load_acquire(&caller->is_to_call);
		if (caller->in_time || time_after(jiffies, begin + caller->max_wait))
			break;
		cpu_relax();
	}
	dynfunc_tp_func_jump_test(data, 0x700000007ull);
	preempt_enable();

	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

/* What the slow caller gets to is the second, with what is its own. */
static void expect_other_called(struct kunit *test, long first, long second)
{
	KUNIT_EXPECT_EQ(test, atomic_long_read(&first_hits), first);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&second_hits), second + 1);
}

/* Returns whether the change was over before the caller jumped, after @seconds at most. */
static bool change_before_call(struct kunit *test, void (*change)(struct kunit *test), int there,
			       unsigned int seconds)
{
	struct slow_caller caller = { .max_wait = seconds * HZ };
	struct task_struct *task;
	long first, second;
	void *target;

	add_first(test, PRIO);
	expect_direct(test, probe_first);
	first = atomic_long_read(&first_hits);
	second = atomic_long_read(&second_hits);
	init_completion(&caller.has_data);
	task = kthread_run_on_cpu(call_slowly, &caller, there, "slow_caller/%u");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	wait_for_completion(&caller.has_data);

	change(test);
	target = (void *)dynfunc_target(tp_func_jump_test);
	/* Pairs with the acquire in call_slowly(). */
	smp_store_release(&caller.is_to_call, true);
	kthread_stop(task);

	if (caller.in_time) {
		KUNIT_EXPECT_PTR_EQ(test, target, (void *)__traceiter_jump_test);
		expect_other_called(test, first, second);
	}
	KUNIT_EXPECT_EQ(test, atomic_long_read(&wrong_hits), 0);
	expect_direct(test, probe_second);
	remove_second(test);
	return caller.in_time;
}

static void test_slow_caller_with_rcu(struct kunit *test)
{
	const int here = raw_smp_processor_id();
	const int there = cpumask_any_but(cpu_online_mask, here);
	int i, tries;

	if (there >= nr_cpu_ids)
		kunit_skip(test, "one processor");
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(here)), 0);

	for (i = 0; i < ARRAY_SIZE(to_other); i++) {
		/* Somebody else that the change needs may have to wait for the processor. */
		for (tries = 0; tries < 20; tries++) {
			if (change_before_call(test, to_other[i], there, min(3 + tries, 12)))
				break;
		}
		KUNIT_EXPECT_LT(test, tries, 20);
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	tracepoint_synchronize_unregister();
}

static void test_slow_caller_with_srcu(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(to_other); i++) {
		long first, second;
		void *data;
		int idx;

		add_first(test, PRIO);
		expect_direct(test, probe_first);
		first = atomic_long_read(&first_hits);
		second = atomic_long_read(&second_hits);

		idx = srcu_read_lock(&tracepoint_srcu);
		data = read_data();
		to_other[i](test);
		/* Long enough for grace periods of RCU, which does not know of it. */
		synchronize_rcu();
		msleep(100);
		KUNIT_EXPECT_PTR_EQ(test, (void *)dynfunc_target(tp_func_jump_test),
				    (void *)__traceiter_jump_test);
		dynfunc_tp_func_jump_test(data, 0x700000007ull);
		srcu_read_unlock(&tracepoint_srcu, idx);

		expect_other_called(test, first, second);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&wrong_hits), 0);
		expect_direct(test, probe_second);
		remove_second(test);
	}
	tracepoint_synchronize_unregister();
}
#endif
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

/* The target that a jump function has, and its kind: what its text is to be */
static struct text_target *target_of(const void *dynfunc, struct text_site_kind **kind)
{
	const unsigned long addr = (unsigned long)dynfunc;
	struct text_site_table *table;
	struct text_site *site = text_site_find(NULL, addr, addr, &table);

	*kind = table->kind;
	return text_target(table->kind, text_site_target_id(site));
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
		KUNIT_EXPECT_EQ(test, target_of(&dynfunc_test_one, &kind)->addr,
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
	struct text_target *wrong = target_of(&dynfunc_test_wrong, &kind);

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

#ifdef CONFIG_TRACEPOINTS_JUMP_FUNCTION
DECLARE_TRACE(jump_test_wrong, TP_PROTO(u64 e), TP_ARGS(e));
DEFINE_TRACE(jump_test_wrong, TP_PROTO(u64 e), TP_ARGS(e));

/* Have the text of the tracepoint's jump be wrong, or right again. */
static void change_jump(void)
{
	struct text_site_kind *kind;

	target_of(&dynfunc_tp_func_jump_test_wrong, &kind)->addr ^= 1;
}

static void fire_wrong(struct kunit *test, long first, long second)
{
	const long first_was = atomic_long_read(&first_hits);
	const long second_was = atomic_long_read(&second_hits);

	trace_jump_test_wrong(0x100000001ull);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&first_hits), first_was + first);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&second_hits), second_was + second);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&wrong_hits), 0);
}

/* While the jump cannot be changed, no probe comes; and none gets what is another's. */
static void test_jump_cannot_be_changed(struct kunit *test)
{
	change_jump();
	KUNIT_EXPECT_EQ(test, register_trace_jump_test_wrong(probe_first, &first_hits), -EINVAL);
	fire_wrong(test, 0, 0);
	change_jump();
	KUNIT_EXPECT_EQ(test, register_trace_jump_test_wrong(probe_first, &first_hits), 0);
	fire_wrong(test, 1, 0);

	change_jump();
	KUNIT_EXPECT_EQ(test, register_trace_prio_jump_test_wrong(probe_second, &second_hits,
								  TRACEPOINT_DEFAULT_PRIO + 1),
			-EINVAL);
	fire_wrong(test, 1, 0);
	KUNIT_EXPECT_EQ(test, unregister_trace_jump_test_wrong(probe_first, &first_hits), 0);
	fire_wrong(test, 0, 0);
	/* It still leads to the first one. */
	KUNIT_EXPECT_EQ(test, register_trace_jump_test_wrong(probe_second, &second_hits), -EINVAL);
	fire_wrong(test, 0, 0);

	change_jump();
	KUNIT_EXPECT_EQ(test, register_trace_jump_test_wrong(probe_second, &second_hits), 0);
	fire_wrong(test, 0, 1);
	KUNIT_EXPECT_EQ(test, unregister_trace_jump_test_wrong(probe_second, &second_hits), 0);
	tracepoint_synchronize_unregister();
}

/* One whose jump cannot be led to its probe later does not keep others from it. */
static void test_jump_cannot_be_changed_later(struct kunit *test)
{
	void *wrong = &__traceiter_jump_test_wrong, *target;
	int idx = srcu_read_lock(&tracepoint_srcu);

	/* Data goes that somebody may have read. */
	add_second(test, PRIO);
	remove_second(test);
	KUNIT_EXPECT_EQ(test, register_trace_jump_test_wrong(probe_first, &first_hits), 0);
	add_second(test, PRIO);
	KUNIT_EXPECT_PTR_EQ(test, (void *)dynfunc_target(tp_func_jump_test),
			    (void *)__traceiter_jump_test);
	KUNIT_EXPECT_PTR_EQ(test, (void *)dynfunc_target(tp_func_jump_test_wrong), wrong);

	change_jump();
	srcu_read_unlock(&tracepoint_srcu, idx);
	expect_direct(test, probe_second);
	fire_wrong(test, 1, 0);
	change_jump();
	/* The worker tries all jumps again, and may have led this one to its probe by now. */
	target = (void *)dynfunc_target(tp_func_jump_test_wrong);
	KUNIT_EXPECT_TRUE(test, target == wrong || target == probe_first);
	fire_wrong(test, 1, 0);

	KUNIT_EXPECT_EQ(test, unregister_trace_jump_test_wrong(probe_first, &first_hits), 0);
	fire_wrong(test, 0, 0);
	remove_second(test);
	tracepoint_synchronize_unregister();
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
#ifdef CONFIG_TRACEPOINTS
	KUNIT_CASE(test_probes_change_while_called),
#ifdef CONFIG_TRACEPOINTS_JUMP_FUNCTION
	KUNIT_CASE(test_slow_caller_with_rcu),
	KUNIT_CASE(test_slow_caller_with_srcu),
#endif
#endif
#ifdef CONFIG_JUMP_FUNCTION
	KUNIT_CASE(test_what_is_no_function),
	KUNIT_CASE(test_what_is_no_jump_function),
	KUNIT_CASE(test_text),
#ifdef CONFIG_MODULES
	KUNIT_CASE(test_targets_go),
#endif
#ifdef CONFIG_TRACEPOINTS_JUMP_FUNCTION
	KUNIT_CASE(test_jump_cannot_be_changed),
	KUNIT_CASE(test_jump_cannot_be_changed_later),
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
