// SPDX-License-Identifier: GPL-2.0
/*
 * What sched_clock_from_cycles() works with.
 *
 * tsc.c tells before it changes how a counter is scaled. Until that has settled,
 * sched_clock() is called. Then each CPU takes over its new scale.
 */
#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <asm/sched_clock_inline.h>
#include <asm/timer.h>
#include <asm/tsc.h>

DEFINE_PER_CPU_ALIGNED(struct sched_clock_scale, sched_clock_scale);

static DEFINE_RAW_SPINLOCK(scale_lock);
static unsigned int scale_changes;	/* how often tsc.c has told */
static unsigned int scale_settled;	/* the scale_changes that CPUs may take over */
static bool scale_used;

/* This CPU takes over its scale, unless that is about to change. Interrupts are off. */
static void scale_update(void)
{
	struct cyc2ns_data data;

	if (scale_settled != scale_changes)
		return;
	cyc2ns_read_begin(&data);
	cyc2ns_read_end();
	/* The multiplier of a slow counter does not fit, nor a value that firmware has set high. */
	if (data.cyc2ns_mul >> data.cyc2ns_shift > 1 || rdtsc() >> 62)
		return;
	this_cpu_write(sched_clock_scale.offset, data.cyc2ns_offset);
	/* Pairs with smp_rmb() in sched_clock_from_cycles(). */
	smp_wmb();
	this_cpu_write(sched_clock_scale.mul, (unsigned long)data.cyc2ns_mul <<
					      (SCHED_CLOCK_SHIFT - data.cyc2ns_shift));
}

static void scale_settle(void *seen)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&scale_lock, flags);
	/* If there was another change, the work is queued again. */
	if (*(unsigned int *)seen == scale_changes) {
		scale_settled = scale_changes;
		scale_update();
	}
	raw_spin_unlock_irqrestore(&scale_lock, flags);
}

/*
 * tsc.c scales with interrupts off, but for the first time, so that it has finished after
 * a grace period; and so has whoever has read a multiplier from before.
 */
static void scale_work_func(struct work_struct *work)
{
	unsigned int seen = READ_ONCE(scale_changes);

	synchronize_rcu();
	guard(cpus_read_lock)();
	on_each_cpu(scale_settle, &seen, true);
}

static DECLARE_DELAYED_WORK(scale_work, scale_work_func);

/**
 * sched_clock_scale_changes - the time of sched_clock() is to be scaled in another way
 *
 * Context: with interrupts off until it is, on any CPU; at boot, before there are others,
 * they may be on.
 */
void sched_clock_scale_changes(void)
{
	unsigned int cpu;

	scoped_guard(raw_spinlock_irqsave, &scale_lock) {
		WRITE_ONCE(scale_changes, scale_changes + 1);
		for_each_possible_cpu(cpu)
			WRITE_ONCE(per_cpu(sched_clock_scale.mul, cpu), 0);
	}
	/* Not each time, on old processors whose counter's frequency keeps changing */
	if (READ_ONCE(scale_used))
		schedule_delayed_work(&scale_work, HZ / 10);
}

static int scale_online(unsigned int cpu)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&scale_lock, flags);
	scale_update();
	raw_spin_unlock_irqrestore(&scale_lock, flags);
	return 0;
}

/*
 * By now the platform has chosen a clock: a paravirtual one, the time stamp counter or
 * jiffies. It does not change any more.
 */
static int __init sched_clock_inline_init(void)
{
	int ret;

	if (!using_native_sched_clock() || !static_key_enabled(&__use_tsc))
		return 0;
	/* Without it, sched_clock() is called for good. */
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "x86/sched_clock:online", scale_online, NULL);
	if (ret < 0)
		return ret;
	WRITE_ONCE(scale_used, true);
	schedule_delayed_work(&scale_work, 0);
	return 0;
}
core_initcall(sched_clock_inline_init);
