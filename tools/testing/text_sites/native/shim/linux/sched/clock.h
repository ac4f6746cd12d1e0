/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SCHED_CLOCK_H
#define _SHIM_LINUX_SCHED_CLOCK_H

#include <linux/types.h>

u64 sched_clock(void);

#endif /* _SHIM_LINUX_SCHED_CLOCK_H */
