// SPDX-License-Identifier: GPL-2.0
/*
 * ring_test: passes a function, a TRACE_EVENT and a marker in a task, in soft and hard
 * interrupts and in NMIs, on each processor, and counts how often. The NMIs are those that
 * nobody else knows the reason of, as the monitor of an emulator sends them.
 *
 * Parameters:
 *
 *   run	write: 1 begins, 0 ends; when the write returns, nobody passes any more
 *   once	write: the task that writes passes all of it once
 *   passed	read: a line for each processor, with how often since run was last set:
 *		its number, in the task, in soft and hard interrupts, in NMIs
 *	functions	read: the addresses of the functions, in the same order
 *
 * The TRACE_EVENT and the marker have three arguments: the context, how often there was a
 * pass before this one on this processor in this context, and the time before the event as
 * trace_clock_local() tells it.
 */
#define CREATE_TRACE_POINTS
#include "ring_test_event.h"

#include <linux/hrtimer.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smpboot.h>
#include <linux/trace_clock.h>

#include <asm/nmi.h>

#define HARDIRQ_NS	250000
#define SOFTIRQ_NS	400000
#define IRQ_PASSES	3
#define TASK_PASSES	64

enum ring_test_context { TASK, SOFTIRQ, HARDIRQ, NMI, NR_CONTEXTS };

struct ring_test {
	struct task_struct	*task;
	struct hrtimer		softirq;
	struct hrtimer		hardirq;
	unsigned long		passed[NR_CONTEXTS];
};

static DEFINE_PER_CPU(struct ring_test, ring_test);
static DEFINE_MUTEX(ring_test_mutex);
static bool running;

/*
 * A function of its own for each context, as its name is all that an event tells. Of the
 * same ones the compiler makes one.
 */
#define IN(context, something)						\
static noinline __noclone int ring_test_in_##context(int n)		\
{									\
	barrier();							\
	return n + (something);						\
}

IN(task, 1) IN(softirq, 2) IN(hardirq, 3) IN(nmi, 4)

static __always_inline void pass(enum ring_test_context context, int (*in)(int n))
{
	const u64 number = this_cpu_inc_return(ring_test.passed[context]) - 1;

	in(0);
	trace_ring_test_pass(context, number, trace_clock_local());
	trace_mark(ring_mark, pass, "%d %llu %llu", (int)context, number,
		   trace_clock_local());
}

static notrace enum hrtimer_restart in_softirq_timer(struct hrtimer *timer)
{
	for (int i = 0; i < IRQ_PASSES; i++)
		pass(SOFTIRQ, ring_test_in_softirq);
	hrtimer_forward_now(timer, SOFTIRQ_NS);
	return HRTIMER_RESTART;
}

static notrace enum hrtimer_restart in_hardirq_timer(struct hrtimer *timer)
{
	for (int i = 0; i < IRQ_PASSES; i++)
		pass(HARDIRQ, ring_test_in_hardirq);
	hrtimer_forward_now(timer, HARDIRQ_NS);
	return HRTIMER_RESTART;
}

static notrace int at_nmi(unsigned int type, struct pt_regs *regs)
{
	if (READ_ONCE(running))
		pass(NMI, ring_test_in_nmi);
	return NMI_HANDLED;
}

/* In the processor's own task, when that begins, and when the processor comes back */
static void start_timers(unsigned int cpu)
{
	struct ring_test *test = this_cpu_ptr(&ring_test);

	hrtimer_init(&test->softirq, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	test->softirq.function = in_softirq_timer;
	hrtimer_start(&test->softirq, SOFTIRQ_NS, HRTIMER_MODE_REL_PINNED_SOFT);
	hrtimer_init(&test->hardirq, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	test->hardirq.function = in_hardirq_timer;
	hrtimer_start(&test->hardirq, HARDIRQ_NS, HRTIMER_MODE_REL_PINNED_HARD);
}

static void cancel_timers(unsigned int cpu)
{
	struct ring_test *test = per_cpu_ptr(&ring_test, cpu);

	hrtimer_cancel(&test->softirq);
	hrtimer_cancel(&test->hardirq);
}

static void end_task(unsigned int cpu, bool online)
{
	cancel_timers(cpu);
}

static int should_run(unsigned int cpu)
{
	return true;
}

static void run_task(unsigned int cpu)
{
	ktime_t nap = ns_to_ktime(300 * NSEC_PER_USEC);

	for (int i = 0; i < TASK_PASSES; i++)
		pass(TASK, ring_test_in_task);
	/*
	 * With PREEMPT_RT, ksoftirqd ends other sleeps. It is parked before this thread when
	 * the CPU goes, which then would not wake up any more.
	 */
	__set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout_range(&nap, 300 * NSEC_PER_USEC, HRTIMER_MODE_REL_HARD);
}

static struct smp_hotplug_thread threads = {
	.store			= &ring_test.task,
	.thread_should_run	= should_run,
	.thread_fn		= run_task,
	.thread_comm		= "ring_test/%u",
	.setup			= start_timers,
	.cleanup		= end_task,
	.park			= cancel_timers,
	.unpark			= start_timers,
};

static int start(void)
{
	int cpu, ret;

	for_each_possible_cpu(cpu)
		memset(per_cpu(ring_test.passed, cpu), 0, sizeof(ring_test.passed));
	ret = smpboot_register_percpu_thread(&threads);
	WRITE_ONCE(running, !ret);
	return ret;
}

static void stop(void)
{
	WRITE_ONCE(running, false);
	/* A handler for NMIs is a reader. */
	synchronize_rcu();
	smpboot_unregister_percpu_thread(&threads);
}

static int run_set(const char *val, const struct kernel_param *kp)
{
	bool run;
	int ret = kstrtobool(val, &run);

	guard(mutex)(&ring_test_mutex);
	if (ret || run == running)
		return ret;
	if (run)
		return start();
	stop();
	return 0;
}

static int once_set(const char *val, const struct kernel_param *kp)
{
	pass(TASK, ring_test_in_task);
	return 0;
}

static int passed_get(char *buffer, const struct kernel_param *kp)
{
	int cpu, len = 0;

	for_each_possible_cpu(cpu) {
		len += sysfs_emit_at(buffer, len, "%d", cpu);
		for (int i = 0; i < NR_CONTEXTS; i++)
			len += sysfs_emit_at(buffer, len, " %lu",
					     per_cpu(ring_test.passed[i], cpu));
		len += sysfs_emit_at(buffer, len, "\n");
	}
	return len;
}

static int functions_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%lx %lx %lx %lx\n", (unsigned long)ring_test_in_task,
			  (unsigned long)ring_test_in_softirq, (unsigned long)ring_test_in_hardirq,
			  (unsigned long)ring_test_in_nmi);
}

static const struct kernel_param_ops run_ops = { .set = run_set };
static const struct kernel_param_ops once_ops = { .set = once_set };
static const struct kernel_param_ops passed_ops = { .get = passed_get };
static const struct kernel_param_ops functions_ops = { .get = functions_get };

module_param_cb(run, &run_ops, NULL, 0200);
module_param_cb(once, &once_ops, NULL, 0200);
module_param_cb(passed, &passed_ops, NULL, 0400);
module_param_cb(functions, &functions_ops, NULL, 0400);

static int __init ring_test_init(void)
{
	return register_nmi_handler(NMI_UNKNOWN, at_nmi, 0, "ring_test");
}
module_init(ring_test_init);

static void __exit ring_test_exit(void)
{
	if (running)
		stop();
	unregister_nmi_handler(NMI_UNKNOWN, "ring_test");
}
module_exit(ring_test_exit);

MODULE_DESCRIPTION("Events that are counted, in every context");
MODULE_LICENSE("GPL");
