/* SPDX-License-Identifier: GPL-2.0 */
/* As on x86: one instruction each, without lock */
#ifndef _SHIM_ASM_LOCAL_H
#define _SHIM_ASM_LOCAL_H

#include <linux/compiler.h>
#include <linux/types.h>

typedef struct { long counter; } local_t;

#define local_read(_l)			READ_ONCE((_l)->counter)
#define local_set(_l, _value)		WRITE_ONCE((_l)->counter, _value)
#define atomic_read(_v)			READ_ONCE((_v)->counter)

static __always_inline void local_inc(local_t *l)
{
	asm volatile("incq %0" : "+m" (l->counter) : : "cc");
}

static __always_inline void local_dec(local_t *l)
{
	asm volatile("decq %0" : "+m" (l->counter) : : "cc");
}

static __always_inline void local_add(long value, local_t *l)
{
	asm volatile("addq %1, %0" : "+m" (l->counter) : "er" (value) : "cc");
}

static __always_inline long local_add_return(long value, local_t *l)
{
	long old = value;

	asm volatile("xaddq %0, %1" : "+r" (old), "+m" (l->counter) : : "memory", "cc");
	return old + value;
}

static __always_inline bool local_try_cmpxchg(local_t *l, long *old, long value)
{
	bool done;

	asm volatile("cmpxchgq %3, %1"
		     : "=@ccz" (done), "+m" (l->counter), "+a" (*old)
		     : "r" (value) : "memory");
	return done;
}

#endif /* _SHIM_ASM_LOCAL_H */
