/* SPDX-License-Identifier: GPL-2.0 */
/* For KUnit tests: unwind the stack of a task before each instruction of a piece of text. */
#ifndef _FENTRY_STEP_H
#define _FENTRY_STEP_H

#include <linux/kdebug.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include <asm/irqflags.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>

/**
 * struct steps - a task that single-steps through a piece of text
 * @block: the notifier of the debug exception, step_notify()
 * @task: the task
 * @start: address of the text
 * @size: of the text, in bytes
 * @unwinds: does the unwinder find the right callers from these registers?
 * @may_fail: number of instructions at which unwinding may fail
 * @nr: number of instructions that were stepped through
 * @wrong: number of instructions at which unwinding failed
 * @wrong_at: offset of the first failure beyond @may_fail
 */
struct steps {
	struct notifier_block	block;
	struct task_struct	*task;
	unsigned long		start, size;
	bool			(*unwinds)(struct pt_regs *regs);
	unsigned int		may_fail;
	unsigned int		nr, wrong;
	unsigned long		wrong_at;
};

static inline int step_notify(struct notifier_block *block, unsigned long event, void *data)
{
	struct steps *steps = container_of(block, struct steps, block);
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	const unsigned long at = regs->ip - steps->start;

	if (event != DIE_DEBUG || current != steps->task)
		return NOTIFY_DONE;
	if (at >= steps->size)
		return NOTIFY_STOP;
	steps->nr++;
	if (!steps->unwinds(regs) && steps->wrong++ == steps->may_fail)
		steps->wrong_at = at;
	return NOTIFY_STOP;
}

static __always_inline void step_load_flags(unsigned long flags)
{
	asm volatile("push %0; popf" : : "r" (flags) : "memory", "cc");
}

/*
 * A debug exception after each instruction from the next one on. A context switch would
 * leave the trap flag set for the next task, so preemption is off until step_end().
 */
static __always_inline void step_begin(void)
{
	preempt_disable();
	step_load_flags(native_save_fl() | X86_EFLAGS_TF);
}

static __always_inline void step_end(void)
{
	step_load_flags(native_save_fl() & ~X86_EFLAGS_TF);
	preempt_enable();
}

#endif /* _FENTRY_STEP_H */
