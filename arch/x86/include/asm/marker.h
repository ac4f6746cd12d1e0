/* SPDX-License-Identifier: GPL-2.0 */
/* Markers on x86 */
#ifndef _ASM_X86_MARKER_H
#define _ASM_X86_MARKER_H

#ifdef CONFIG_X86_32
# include <asm/marker_32.h>
#else
# include <asm/marker_64.h>
#endif

/* In assembler only: its arguments are where ARCH_MARKER_CALL() has put them. */
void __marker_call(void);

/* Whether the marker has probes: a NOP or a jump */
#define ARCH_MARKER_ON(which)	arch_marker_branch(&(which)->on, 0)

#endif /* _ASM_X86_MARKER_H */
