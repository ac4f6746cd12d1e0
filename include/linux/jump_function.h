/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jump functions: functions that can be pointed at another function at run time,
 * at the price of one direct jump. See Documentation/trace/jump-functions.rst.
 *
 *	int plain(int a, long b);		what it does at first
 *
 *	DECLARE_DYNFUNC(work, plain);		in a header
 *	DEFINE_DYNFUNC(work, plain);		in one file
 *	EXPORT_DYNFUNC_GPL(work);		for modules, if they are to have it
 *
 *	dynfunc_work(1, 2);			a call, with the prototype of plain()
 *	dynfunc_update(work, other);		from now on it is other()
 *	dynfunc_target(work)			other
 *
 * dynfunc_work is a function that consists of one jump; where jumps are not
 * patched, it is a pointer to a function. In either case &dynfunc_work is which
 * jump function it is, and what *dynfunc_work is of is the type of its targets.
 */
#ifndef _LINUX_JUMP_FUNCTION_H
#define _LINUX_JUMP_FUNCTION_H

#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct module;

/**
 * struct dynfunc_change - a jump function and what it is to be
 * @dynfunc: which
 * @func: its new target
 *
 * Made by DYNFUNC_CHANGE(), which sees to it that the two fit together.
 */
struct dynfunc_change {
	void	*dynfunc;
	void	*func;
};

/**
 * DYNFUNC_CHANGE - initialiser of a struct dynfunc_change
 * @name: of a jump function
 * @to: a function. One of another prototype than its default does not compile.
 */
#define DYNFUNC_CHANGE(name, to) {					\
	.dynfunc = &dynfunc_##name,					\
	.func	 = __builtin_choose_expr(__same_type(*(to), *dynfunc_##name), \
					 (to), (void)0),		\
}

/**
 * dynfunc_update - point a jump function at another function
 * @name: of the jump function
 * @to: a function of the same prototype
 *
 * As dynfunc_update_batch().
 */
#define dynfunc_update(name, to) ({					\
	const struct dynfunc_change __change = DYNFUNC_CHANGE(name, to);\
									\
	dynfunc_update_batch(&__change, 1);				\
})

/**
 * dynfunc_target - what a jump function is pointed at
 * @name: of the jump function
 *
 * Context: any, while the module that defines it is there.
 *
 * Return: the function. Until an update has returned, it may be the old one or the
 * new.
 */
#define dynfunc_target(name)						\
	((typeof(*dynfunc_##name) *)__dynfunc_target(&dynfunc_##name))

#ifdef CONFIG_JUMP_FUNCTION

#include <asm/jump_function.h>

#define DECLARE_DYNFUNC(name, func)					\
	extern typeof(func) dynfunc_##name

/* The compiler does not see what refers to @func. */
#define DEFINE_DYNFUNC(name, func)					\
	DECLARE_DYNFUNC(name, func);					\
	__ADDRESSABLE(func)						\
	ARCH_DEFINE_DYNFUNC(dynfunc_##name, func)

int dynfunc_update_batch(const struct dynfunc_change *changes, unsigned int nr);
void *__dynfunc_target(const void *dynfunc);

#else /* !CONFIG_JUMP_FUNCTION */

#define DECLARE_DYNFUNC(name, func)					\
	extern typeof(func) *dynfunc_##name

#define DEFINE_DYNFUNC(name, func)					\
	typeof(func) *dynfunc_##name __read_mostly = (func)

static inline int dynfunc_update_batch(const struct dynfunc_change *changes, unsigned int nr)
{
	for (; nr; nr--, changes++) {
		/*
		 * Pairs with smp_rmb() in a target that reads what the caller has prepared
		 * for it: it orders the load of the pointer before those of the target.
		 */
		smp_store_release((void **)changes->dynfunc, changes->func);
	}
	return 0;
}

static inline void *__dynfunc_target(const void *dynfunc)
{
	return READ_ONCE(*(void **)dynfunc);
}

#endif /* CONFIG_JUMP_FUNCTION */

#define EXPORT_DYNFUNC(name)		EXPORT_SYMBOL(dynfunc_##name)
#define EXPORT_DYNFUNC_GPL(name)	EXPORT_SYMBOL_GPL(dynfunc_##name)

/**
 * dynfunc_synchronize - wait until nobody runs targets of before
 *
 * After a jump function has been pointed elsewhere, tasks may still be in its old
 * target, or just before its first instruction. When this returns, those are out of
 * it that did not sleep there of their own accord: a target that sleeps has to be
 * waited for by other means before it goes away.
 *
 * A caller with preemption off, or in an interrupt, is in an RCU read-side section.
 * One that was preempted is waited for by RCU-tasks, which a preemptible kernel must
 * have for this (select NEED_TASKS_RCU).
 *
 * Context: process context, sleeps, long.
 */
static inline void dynfunc_synchronize(void)
{
	synchronize_rcu();
	synchronize_rcu_tasks();
}

#endif /* _LINUX_JUMP_FUNCTION_H */
