/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sched_clock() without a call, for those who read it often.
 */
#ifndef _ASM_X86_SCHED_CLOCK_INLINE_H
#define _ASM_X86_SCHED_CLOCK_INLINE_H

#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/seqlock_types.h>

#include <asm/msr.h>
#include <asm/timer.h>

/* Of tsc.c: how this CPU's counter becomes nanoseconds */
struct cyc2ns {
	struct cyc2ns_data data[2];	/*  0 + 2*16 = 32 */
	seqcount_latch_t   seq;		/* 32 + 4    = 36 */

}; /* fits one cacheline */

DECLARE_PER_CPU_ALIGNED(struct cyc2ns, cyc2ns);
DECLARE_STATIC_KEY_FALSE(__use_tsc);

/* sched_clock() is native_sched_clock(), and that reads the time stamp counter. */
DECLARE_STATIC_KEY_FALSE(sched_clock_is_tsc);

#ifdef CONFIG_X86_64
/* What native_sched_clock() makes of the counter; preemption is off. */
static __always_inline u64 sched_clock_from_cycles(u64 cycles)
{
	struct cyc2ns_data data;
	unsigned int seq;
	u64 high;

	do {
		struct cyc2ns_data __percpu *now;

		seq = this_cpu_read(cyc2ns.seq.seqcount.sequence);
		now = &cyc2ns.data[seq & 1];
		data.cyc2ns_offset = this_cpu_read(now->cyc2ns_offset);
		data.cyc2ns_mul = this_cpu_read(now->cyc2ns_mul);
		data.cyc2ns_shift = this_cpu_read(now->cyc2ns_shift);
	} while (unlikely(seq != this_cpu_read(cyc2ns.seq.seqcount.sequence)));

	/* mul_u64_u32_shr(), for a shift of less than 64 */
	asm("mulq %[mul]\n\t"
	    "shrdq %%cl, %%rdx, %%rax"
	    : "+a" (cycles), "=&d" (high)
	    : [mul] "r" ((u64)data.cyc2ns_mul), "c" (data.cyc2ns_shift));
	return data.cyc2ns_offset + cycles;
}

/* The value of sched_clock() at this instant; preemption is off. */
static __always_inline u64 sched_clock_inline(void)
{
	if (!static_branch_likely(&sched_clock_is_tsc))
		return sched_clock();
	return sched_clock_from_cycles(rdtsc());
}
#endif

#endif /* _ASM_X86_SCHED_CLOCK_INLINE_H */
