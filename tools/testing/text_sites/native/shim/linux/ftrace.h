/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_FTRACE_H
#define _SHIM_LINUX_FTRACE_H

#include <linux/types.h>

/* As the ABI has them; gcc's own name for a 64-bit register is that without its r. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

/* Where a shared trampoline goes on to; there is none here. */
static inline void ftrace_stub_direct_tramp(void) { }

#endif /* _SHIM_LINUX_FTRACE_H */
