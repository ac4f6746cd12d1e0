// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of tracepoints, whatever they call their probes by */
#include <kunit/test.h>

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/jump_function.h>
#include <linux/jump_label.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/srcu.h>
#include <linux/tracepoint.h>
#include <linux/tracepoint_batch.h>
#include <linux/workqueue.h>

#include "jump_function_test.h"

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
	struct task_struct **tasks = jump_test_run_elsewhere(test, fire_in_a_loop, NULL);
	const unsigned long begin = jiffies;
	int changes;

	for (changes = 0; !jump_test_over(begin, &first_hits, &second_hits); changes++)
		change_probes(test);

	jump_test_stop_elsewhere(tasks);
	tracepoint_synchronize_unregister();
	kunit_info(test, "%d rounds, %ld and %ld hits\n", changes,
		   atomic_long_read(&first_hits), atomic_long_read(&second_hits));
	KUNIT_EXPECT_FALSE(test, jump_test_few(&first_hits, &second_hits));
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

#ifdef CONFIG_JUMP_FUNCTION	/* else it is a pointer, which can always be changed */
DECLARE_TRACE(jump_test_wrong, TP_PROTO(u64 e), TP_ARGS(e));
DEFINE_TRACE(jump_test_wrong, TP_PROTO(u64 e), TP_ARGS(e));

/* Have the text of the tracepoint's jump be wrong, or right again. */
static void change_jump(void)
{
	struct text_site_kind *kind;

	jump_test_target(&dynfunc_tp_func_jump_test_wrong, &kind)->addr ^= 1;
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

#ifdef CONFIG_TRACEPOINT_BATCH
static DEFINE_STATIC_KEY_FALSE(batch_key);

/* What the text says, whatever the key says */
static noinline bool batch_text(void)
{
	return static_branch_unlikely(&batch_key);
}

static struct jump_entry *batch_entry(void)
{
	struct jump_entry *entry;

	for (entry = __start___jump_table; entry < __stop___jump_table; entry++) {
		if (jump_entry_key(entry) == &batch_key.key)
			return entry;
	}
	return NULL;
}

static void lock_keys(struct work_struct *work)
{
	jump_label_lock();
	jump_label_unlock();
}

/*
 * Who may decode the text of keys finds none of another task's batch still to be written. While
 * the kernel boots, keys do not wait for the end of a batch: the text is queued here.
 */
static void test_batch_is_written_for_others(struct kunit *test)
{
	struct jump_entry *entry = batch_entry();
	struct work_struct work;

	KUNIT_ASSERT_NOT_NULL(test, entry);
	INIT_WORK_ONSTACK(&work, lock_keys);
	static_key_batch_begin(true);
	KUNIT_EXPECT_TRUE(test, arch_jump_label_transform_queue(entry, JUMP_LABEL_JMP));
	KUNIT_EXPECT_FALSE(test, batch_text());
	jump_label_lock();
	jump_label_unlock();
	KUNIT_EXPECT_FALSE(test, batch_text());

	schedule_work(&work);
	flush_work(&work);
	KUNIT_EXPECT_TRUE(test, batch_text());
	KUNIT_EXPECT_TRUE(test, arch_jump_label_transform_queue(entry, JUMP_LABEL_NOP));
	static_key_batch_end();
	KUNIT_EXPECT_FALSE(test, batch_text());
	destroy_work_on_stack(&work);
}
#endif

static struct kunit_case tracepoint_cases[] = {
	KUNIT_CASE(test_probes_change_while_called),
#ifdef CONFIG_TRACEPOINT_BATCH
	KUNIT_CASE(test_batch_is_written_for_others),
#endif
#ifdef CONFIG_TRACEPOINTS_JUMP_FUNCTION
	KUNIT_CASE(test_slow_caller_with_rcu),
	KUNIT_CASE(test_slow_caller_with_srcu),
#ifdef CONFIG_JUMP_FUNCTION
	KUNIT_CASE(test_jump_cannot_be_changed),
	KUNIT_CASE(test_jump_cannot_be_changed_later),
#endif
#endif
	{}
};

static struct kunit_suite tracepoint_suite = {
	.name		= "tracepoint",
	.test_cases	= tracepoint_cases,
};

kunit_test_suite(tracepoint_suite);
