/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of jump functions and of tracepoints have in common */
#ifndef _JUMP_FUNCTION_TEST_H
#define _JUMP_FUNCTION_TEST_H

#include <kunit/test.h>

#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/text_site.h>

/* Run something on each CPU but this one, where that leaves any. */
static inline struct task_struct **
jump_test_run_elsewhere(struct kunit *test, int (*func)(void *data), void *data)
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

static inline void jump_test_stop_elsewhere(struct task_struct **tasks)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (!IS_ERR_OR_NULL(tasks[cpu]))
			kthread_stop(tasks[cpu]);
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/* There may be one processor for all, and little time for each. */
static inline bool jump_test_few(atomic_long_t *first, atomic_long_t *second)
{
	return atomic_long_read(first) <= 10 || atomic_long_read(second) <= 10;
}

/* Half a second, or until both have been called: but not for ever */
static inline bool jump_test_over(unsigned long begin, atomic_long_t *first,
				  atomic_long_t *second)
{
	if (jump_test_few(first, second))
		return time_after(jiffies, begin + 60 * HZ);
	return time_after(jiffies, begin + HZ / 2);
}

#ifdef CONFIG_JUMP_FUNCTION
/* The target that a jump function has, and its kind: what its text is to be */
static inline struct text_target *jump_test_target(const void *dynfunc,
						   struct text_site_kind **kind)
{
	const unsigned long addr = (unsigned long)dynfunc;
	struct text_site_table *table;
	struct text_site *site = text_site_find(NULL, addr, addr, &table);

	*kind = table->kind;
	return text_target(table->kind, text_site_target_id(site));
}
#endif

#endif /* _JUMP_FUNCTION_TEST_H */
