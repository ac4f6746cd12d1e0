/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sched_clock() in a few instructions, for those who read it often.
 */
#ifndef _ASM_X86_SCHED_CLOCK_INLINE_H
#define _ASM_X86_SCHED_CLOCK_INLINE_H

#include <linux/bits.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>

#include <asm/msr.h>

/* The multiplier is a fixed-point number with so many fractional bits. */
#define SCHED_CLOCK_SHIFT	(BITS_PER_LONG - 1)

/**
 * struct sched_clock_scale - how this CPU's counter becomes the time of sched_clock()
 * @mul: ns per cycle, in units of 2^-SCHED_CLOCK_SHIFT; 0: call sched_clock()
 * @offset: of the time, in ns
 * @offset_word: the same, by words of 32-bit code
 *
 * @mul becomes 0 before sched_clock() changes. It becomes another value an RCU grace
 * period later, and after @offset, so whoever has read it with preemption off finds
 * the @offset that belongs to it.
 */
struct sched_clock_scale {
	unsigned long	mul;
	union {
		u64	offset;
		u32	offset_word[2];
	};
};

DECLARE_PER_CPU_ALIGNED(struct sched_clock_scale, sched_clock_scale);
/* Of tsc.c: is the counter read at all? */
DECLARE_STATIC_KEY_FALSE(__use_tsc);

/*
 * The time of a counter's value, to the bit what native_sched_clock() makes of it. A counter that
 * starts with the machine does not reach 2^63.
 */
#ifdef CONFIG_X86_64
static __always_inline u64 sched_clock_from_cycles(u64 cycles, unsigned long mul)
{
	u64 time, low;

	/* mul_u64_u64_shr(cycles << 1, mul, 64), which aligns the stack */
	asm("mulq %[mul]" : "=a" (low), "=d" (time) : "0" (cycles << 1), [mul] "r" (mul) : "cc");
	/* Read after @mul was; pairs with smp_wmb() in scale_update(). */
	smp_rmb();
	return time + raw_cpu_read(sched_clock_scale.offset);
}
#else
static __always_inline u64 sched_clock_from_cycles(u64 cycles, unsigned long mul)
{
	union {
		u64 time;
		u32 word[2];
	} sum;
	u32 high;

	/* As above */
	smp_rmb();
	/*
	 * (cycles << 1) * mul >> 32, of two halves, plus the offset. The compiler keeps products
	 * and sums in memory, and asks whether there is a second product.
	 */
	asm("movl	%%edx, %[high]\n\t"
	    "addl	%%eax, %%eax\n\t"
	    "adcl	%[high], %[high]\n\t"
	    "mull	%[mul]\n\t"
	    "movl	%[high], %%eax\n\t"
	    "movl	%%edx, %[high]\n\t"
	    "mull	%[mul]\n\t"
	    "addl	%[high], %%eax\n\t"
	    "adcl	$0, %%edx\n\t"
	    "addl	" __percpu_arg([offset0]) ", %%eax\n\t"
	    "adcl	" __percpu_arg([offset1]) ", %%edx"
	    : "=a" (sum.word[0]), "=d" (sum.word[1]), [high] "=&r" (high)
	    : "A" (cycles), [mul] "rm" (mul),
	      [offset0] "m" (__my_cpu_var(sched_clock_scale.offset_word[0])),
	      [offset1] "m" (__my_cpu_var(sched_clock_scale.offset_word[1])) : "cc");
	return sum.time;
}
#endif

/* What sched_clock_from_cycles() takes; 0: call sched_clock(). Preemption is off. */
static __always_inline unsigned long sched_clock_mul(void)
{
	return this_cpu_read(sched_clock_scale.mul);
}

#ifdef CONFIG_RING_BUFFER
void sched_clock_scale_changes(void);
#else
static inline void sched_clock_scale_changes(void) { }
#endif

#endif /* _ASM_X86_SCHED_CLOCK_INLINE_H */
