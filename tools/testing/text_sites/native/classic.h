/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the classic engine finds out whose callbacks a function has, as soon as there are two:
 * it asks all ops that are registered anywhere, each with a hash of addresses of its own.
 * This is not its source, which needs a kernel around it, but does the same in its order:
 * one recursion check with preemption switched off, and for each ops the tests of its flags,
 * of both of its hashes, and an indirect call.
 */
#ifndef _NATIVE_CLASSIC_H
#define _NATIVE_CLASSIC_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/types.h>

struct ops;

typedef void (*ops_func)(unsigned long ip, unsigned long parent, struct ops *ops, void *regs);

/* An address that a filter has, in the list of its bucket */
struct filter_entry {
	struct filter_entry	*next;
	unsigned long		ip;
};

struct filter {
	unsigned int		bits;
	unsigned long		nr;
	struct filter_entry	*buckets[64];
};

/* No filter, or an empty one: all functions, or none that is not wanted */
struct filters {
	struct filter		*only, *not;
};

struct ops {
	ops_func		func;
	struct ops		*next;
	unsigned long		flags;
	struct filters		*filters;
};

#define OPS_RCU		1ul	/* only while RCU is watching */
#define OPS_STUB	2ul	/* has no callback */

/* One bit for each context, and one for what comes between two of them */
struct task {
	u64	stack[8];
	u32	recursion;
};

extern struct task *current_task;
extern struct ops *ops_list;
extern u32 rcu_is_watching;

static __always_inline unsigned int filter_bucket(const struct filter *filter, unsigned long ip)
{
	return filter->bits ? ip * 0x61c8864680b583ebul >> (64 - filter->bits) : 0;
}

static __always_inline bool filter_has(const struct filter *filter, unsigned long ip)
{
	const struct filter_entry *entry = READ_ONCE(filter->buckets[filter_bucket(filter, ip)]);

	for (; entry; entry = READ_ONCE(entry->next)) {
		if (entry->ip == ip)
			return true;
	}
	return false;
}

static __always_inline bool filter_empty(const struct filter *filter)
{
	return !filter || !(filter->bits || filter->nr);
}

static __always_inline bool ops_want(const struct ops *ops, unsigned long ip)
{
	const struct filter *only = READ_ONCE(ops->filters->only);
	const struct filter *not = READ_ONCE(ops->filters->not);

	return (filter_empty(only) || filter_has(only, ip)) &&
	       (filter_empty(not) || !filter_has(not, ip));
}

/* 0 in a task, and one more in each of a soft interrupt, an interrupt and an NMI */
static __always_inline unsigned int context_level(void)
{
	const u32 count = this_cpu_read(__preempt_count);

	return !!(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) +
	       !!(count & (NMI_MASK | HARDIRQ_MASK)) + !!(count & NMI_MASK);
}

static __always_inline void walk_list(unsigned long ip, unsigned long parent, void *regs)
{
	struct task *task = this_cpu_read(current_task);
	u32 bit = 16u >> context_level();
	struct ops *ops;

	if (unlikely(task->recursion & bit)) {
		bit = 32;
		if (task->recursion & bit)
			return;
	}
	WRITE_ONCE(task->recursion, task->recursion | bit);
	preempt_disable_notrace();

	for (ops = READ_ONCE(ops_list); ops; ops = READ_ONCE(ops->next)) {
		if (ops->flags & OPS_STUB)
			continue;
		if ((!(ops->flags & OPS_RCU) || this_cpu_read(rcu_is_watching)) &&
		    ops_want(ops, ip))
			ops->func(ip, parent, ops, regs);
	}

	preempt_enable_notrace();
	task = this_cpu_read(current_task);
	WRITE_ONCE(task->recursion, task->recursion & ~bit);
}

#endif /* _NATIVE_CLASSIC_H */
