/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The call of a marker in 32-bit code, which is out of line:
 *
 *	mov	argument 1, -n(%ebp)	two words each, where the compiler has room
 *	...
 *	mov	$site, %eax
 *	lea	-n(%ebp), %edx
 *	call	__marker_call		changes no register
 *
 * There are too few registers to have all arguments in some. Nothing has to be in
 * registers that calls preserve.
 */
#ifndef _ASM_X86_MARKER_32_H
#define _ASM_X86_MARKER_32_H

#include <linux/marker_values.h>

#include <asm/asm.h>

#define ARCH_MARKER_CALL(which, args...) do {				\
	const u64 __args[] = { MARKER_VALUES(args) };			\
									\
	asm volatile("call __marker_call"				\
		     : ASM_CALL_CONSTRAINT				\
		     : "a" (which), "d" (__args)			\
		     : "memory");					\
} while (0)

#endif /* _ASM_X86_MARKER_32_H */
