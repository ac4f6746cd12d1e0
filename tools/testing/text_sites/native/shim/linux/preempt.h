/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_PREEMPT_H
#define _SHIM_LINUX_PREEMPT_H

#include <linux/percpu.h>

/* The highest bit: no other task is to run. */
#define PREEMPT_NEED_RESCHED	0x80000000u
#define SOFTIRQ_OFFSET		0x100u
#define HARDIRQ_MASK		0xf0000u
#define NMI_MASK		0xf00000u

extern u32 __preempt_count;

void preempt_schedule_notrace(void);

static __always_inline void preempt_disable_notrace(void)
{
	asm volatile("incl %%gs:%0" : "+m" (__preempt_count) : : "memory", "cc");
}

static __always_inline void preempt_enable_notrace(void)
{
	bool zero;

	asm volatile("decl %%gs:%0"
		     : "+m" (__preempt_count), "=@ccz" (zero) : : "memory");
	if (unlikely(zero))
		preempt_schedule_notrace();
}

#endif /* _SHIM_LINUX_PREEMPT_H */
