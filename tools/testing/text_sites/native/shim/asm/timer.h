/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_ASM_TIMER_H
#define _SHIM_ASM_TIMER_H

#include <linux/types.h>

struct cyc2ns_data {
	u32	cyc2ns_mul;
	u32	cyc2ns_shift;
	u64	cyc2ns_offset;
};

#endif /* _SHIM_ASM_TIMER_H */
