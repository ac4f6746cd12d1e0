/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_COMPILER_H
#define _SHIM_LINUX_COMPILER_H

#include <sys/cdefs.h>	/* __always_inline */

#define likely(_x)		__builtin_expect(!!(_x), 1)
#define unlikely(_x)		__builtin_expect(!!(_x), 0)
#define noinline		__attribute__((noinline))
#define __aligned(_to)		__attribute__((aligned(_to)))
#define __packed		__attribute__((packed))
#define __maybe_unused		__attribute__((unused))
#define __noreturn		__attribute__((noreturn))
#define __printf(_format, _first)	__attribute__((format(printf, _format, _first)))
#define __used			__attribute__((used))
#define __no_caller_saved_registers	__attribute__((no_caller_saved_registers))
#define __uninitialized
#define __percpu

/* The compiler neither leaves these out nor moves them over barrier(). */
#define READ_ONCE(_x)		__atomic_load_n(&(_x), __ATOMIC_RELAXED)
#define WRITE_ONCE(_x, _value)	__atomic_store_n(&(_x), _value, __ATOMIC_RELAXED)
#define BUILD_BUG_ON(_wrong)	_Static_assert(!(_wrong), #_wrong)
#define data_race(_expression)	(_expression)
static __always_inline void barrier(void)
{
	asm volatile("" : : : "memory");
}

/* No frame pointers: the stack need not be as it looks. */
#define ASM_CALL_CONSTRAINT	"+r" (native_stack_pointer)
register unsigned long native_stack_pointer asm("rsp");

/* This processor does not reorder stores. */
#define smp_rmb()		barrier()
#define smp_wmb()		barrier()

#endif /* _SHIM_LINUX_COMPILER_H */
