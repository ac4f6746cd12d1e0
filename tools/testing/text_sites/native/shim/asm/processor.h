/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_ASM_PROCESSOR_H
#define _SHIM_ASM_PROCESSOR_H

#include <linux/types.h>

/* Only those that the choice of a NOP depends on */
#define X86_VENDOR_INTEL	0
#define X86_VENDOR_AMD		2
#define X86_VENDOR_UNKNOWN	0xff

struct cpuinfo_x86 {
	u8	x86;		/* family */
	u8	x86_vendor;
	u8	x86_model;
};

extern struct cpuinfo_x86 boot_cpu_data;

/* X86_FEATURE_NOPL, of every 64-bit processor */
#define test_cpu_cap(_cpu, _feature)	((void)(_cpu), (void)(_feature), true)

#endif /* _SHIM_ASM_PROCESSOR_H */
