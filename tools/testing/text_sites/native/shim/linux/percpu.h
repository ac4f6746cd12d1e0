/* SPDX-License-Identifier: GPL-2.0 */
/* The instructions are those of the kernel: the base of %gs is 0 here. */
#ifndef _SHIM_LINUX_PERCPU_H
#define _SHIM_LINUX_PERCPU_H

#include <linux/compiler.h>
#include <linux/types.h>

#define DECLARE_PER_CPU_ALIGNED(_type, _name)	extern _type _name __aligned(64)
#define this_cpu_read(_variable)					\
({									\
	typeof(_variable) _value;					\
									\
	asm volatile("mov %%gs:%1, %0" : "=r" (_value) : "m" (_variable));	\
	_value;								\
})

/* This one may be part of another instruction. */
#define raw_cpu_read(_variable)						\
	(*(const __seg_gs typeof(_variable) *)(unsigned long)&(_variable))

extern u32 cpu_number;

#define raw_smp_processor_id()	this_cpu_read(cpu_number)

#endif /* _SHIM_LINUX_PERCPU_H */
