/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_ASM_MSR_H
#define _SHIM_ASM_MSR_H

#include <linux/compiler.h>
#include <linux/types.h>

static __always_inline u64 rdtsc(void)
{
	u32 low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high));
	return (u64)high << 32 | low;
}

#endif /* _SHIM_ASM_MSR_H */
