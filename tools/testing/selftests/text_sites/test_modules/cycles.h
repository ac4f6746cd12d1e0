/* SPDX-License-Identifier: GPL-2.0 */
/* How modules for benchmarks count */
#ifndef _CYCLES_H
#define _CYCLES_H

#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/timex.h>

#define CALLS	1000
#define ROUNDS	5

/* Cycles of the time stamp counter for something with interrupts off, the least of ROUNDS */
#define LEAST_CYCLES(something) ({					\
	cycles_t __least = ~0ull;					\
									\
	for (int __round = 0; __round < ROUNDS; __round++) {		\
		unsigned long __flags;					\
		cycles_t __start;					\
									\
		local_irq_save(__flags);				\
		__start = get_cycles();					\
		something;						\
		__least = min(__least, get_cycles() - __start);		\
		local_irq_restore(__flags);				\
	}								\
	__least;							\
})

/* The same for something CALLS times. @i is the number of the time, as long. */
#define CYCLES(i, something)						\
	LEAST_CYCLES(for (long i = 0; i < CALLS; i++) something)

#endif /* _CYCLES_H */
