/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For KUnit tests of unwinding: a task that steps through a piece of text, with its stack
 * unwound before each instruction, and one that sleeps, for others to unwind its stack.
 */
#ifndef _FENTRY_STEP_H
#define _FENTRY_STEP_H

#include <kunit/test.h>

#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kdebug.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/stacktrace.h>

#include <asm/insn.h>
#include <asm/irqflags.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>
#include <asm/text-patching.h>

#define STEP_MAX	1024	/* bytes of text */

/**
 * struct steps - a task that single-steps through a piece of text
 * @block: the notifier of the debug exception, step_notify()
 * @task: the task
 * @start: address of the text
 * @size: of the text, in bytes, up to STEP_MAX
 * @unwinds: does the unwinder find the right callers from these registers?
 * @may_fail: number of instructions at which unwinding may fail
 * @nr: number of instructions that were stepped through
 * @wrong: number of instructions at which unwinding failed
 * @wrong_at: offset of the first failure beyond @may_fail
 * @stepped: offsets of the instructions that were stepped through
 */
struct steps {
	struct notifier_block	block;
	struct task_struct	*task;
	unsigned long		start, size;
	bool			(*unwinds)(struct pt_regs *regs);
	unsigned int		may_fail;
	unsigned int		nr, wrong;
	unsigned long		wrong_at;
	DECLARE_BITMAP(stepped, STEP_MAX);
};

static inline int step_notify(struct notifier_block *block, unsigned long event, void *data)
{
	struct steps *steps = container_of(block, struct steps, block);
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	const unsigned long at = regs->ip - steps->start;

	if (event != DIE_DEBUG || current != steps->task)
		return NOTIFY_DONE;
	if (at >= min(steps->size, STEP_MAX))
		return NOTIFY_STOP;
	if (!__test_and_set_bit(at, steps->stepped))
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

/**
 * step_next - decode an instruction of text that has no branches but calls
 * @insn: gets the instruction
 * @at: its address
 *
 * Return: address of the next instruction, or 0 if this is the last one, or none.
 */
static inline unsigned long step_next(struct insn *insn, unsigned long at)
{
	if (insn_decode_kernel(insn, (void *)at))
		return 0;
	at += insn->length;
	switch (insn->opcode.bytes[0]) {
	case RET_INSN_OPCODE:
	case JMP32_INSN_OPCODE:
		return 0;
	case CALL_INSN_OPCODE:	/* over the next byte, without return? */
		return insn->immediate.value == 1 ? at + 1 : at;
	case 0xff:	/* jmp *%reg? */
		return X86_MODRM_REG(insn->modrm.bytes[0]) == 4 ? 0 : at;
	default:
		return at;
	}
}

/* Expect that the task has stepped through each instruction, and that there are so many. */
static inline void step_expect_all(struct kunit *test, const struct steps *steps)
{
	unsigned long at = steps->start, offset;
	unsigned int nr = 0;
	struct insn insn;

	KUNIT_EXPECT_LE(test, steps->size, STEP_MAX);
	while (at && at - steps->start < min(steps->size, STEP_MAX)) {
		offset = at - steps->start;
		KUNIT_EXPECT_TRUE_MSG(test, test_bit(offset, steps->stepped), "at %lu", offset);
		nr++;
		at = step_next(&insn, at);
	}
	KUNIT_EXPECT_EQ(test, at, 0);
	KUNIT_EXPECT_EQ(test, steps->nr, nr);
}

#ifdef CONFIG_HAVE_RELIABLE_STACKTRACE
#define SLEEPER_STACK	64	/* entries */

/**
 * struct sleeper - a kernel thread that sleeps
 * @call: what it calls; there, sleeper_called() comes first and sleeper_sleep() somewhere
 * @task: the thread
 * @asleep: it is about to sleep
 * @wake: it is to go on
 * @nr_callers: number of @callers
 * @callers: what any reliable trace of its stack ends with: who has called @call, and so on
 */
struct sleeper {
	void			(*call)(struct sleeper *sleeper);
	struct task_struct	*task;
	struct completion	asleep, wake;
	unsigned int		nr_callers;
	unsigned long		callers[SLEEPER_STACK];
};

static noinline int sleeper_thread(void *data)
{
	struct sleeper *sleeper = data;

	sleeper->nr_callers = stack_trace_save(sleeper->callers, SLEEPER_STACK, 0);
	sleeper->call(sleeper);
	/* So that this is not a tail call */
	barrier();
	return 0;
}

static __always_inline void sleeper_called(struct sleeper *sleeper)
{
	sleeper->callers[0] = _RET_IP_;
}

static __always_inline void sleeper_sleep(struct sleeper *sleeper)
{
	complete(&sleeper->asleep);
	wait_for_completion(&sleeper->wake);
}

/* Start the thread, on @cpu alone if that is not negative. */
static inline int sleeper_start(struct sleeper *sleeper, void (*call)(struct sleeper *sleeper),
				int cpu)
{
	sleeper->call = call;
	init_completion(&sleeper->asleep);
	init_completion(&sleeper->wake);
	sleeper->task = kthread_create(sleeper_thread, sleeper, "sleeper");
	if (IS_ERR(sleeper->task))
		return PTR_ERR(sleeper->task);

	get_task_struct(sleeper->task);
	if (cpu >= 0)
		kthread_bind(sleeper->task, cpu);
	wake_up_process(sleeper->task);
	return wait_for_completion_timeout(&sleeper->asleep, 30 * HZ) ? 0 : -ETIMEDOUT;
}

/* The counterpart of sleeper_start(), if that has made a thread */
static inline void sleeper_stop(struct sleeper *sleeper)
{
	if (IS_ERR(sleeper->task))
		return;
	complete(&sleeper->wake);
	kthread_stop_put(sleeper->task);
}

/**
 * sleeper_trace - have a thread sleep, and look at its stack
 * @sleeper: gets its callers
 * @call: where it is to sleep
 * @trace: gets SLEEPER_STACK entries at most
 *
 * Return: as stack_trace_save_tsk_reliable(), or another error.
 */
static inline int sleeper_trace(struct sleeper *sleeper, void (*call)(struct sleeper *sleeper),
				unsigned long *trace)
{
	int ret = sleeper_start(sleeper, call, -1);

	/* It sleeps in a moment, if it does. */
	for (int i = 0; !ret && !wait_task_inactive(sleeper->task, TASK_UNINTERRUPTIBLE); i++) {
		schedule_timeout_uninterruptible(1);
		ret = i < 30 * HZ ? 0 : -ETIMEDOUT;
	}
	if (!ret)
		ret = stack_trace_save_tsk_reliable(sleeper->task, trace, SLEEPER_STACK);
	sleeper_stop(sleeper);
	return ret;
}

/* Where in a trace are @nr entries, which are followed by the thread's callers? -1: nowhere */
static inline int sleeper_find(const struct sleeper *sleeper, const unsigned long *trace, int len,
			       const unsigned long *entries, int nr)
{
	const int callers = len - (int)sleeper->nr_callers, at = callers - nr;

	if (at < 0 || (nr && memcmp(&trace[at], entries, nr * sizeof(*entries))) ||
	    memcmp(&trace[callers], sleeper->callers, sleeper->nr_callers * sizeof(*trace)))
		return -1;
	return at;
}
#endif /* CONFIG_HAVE_RELIABLE_STACKTRACE */

#endif /* _FENTRY_STEP_H */
