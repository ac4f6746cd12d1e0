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

#include <linux/args.h>
#include <linux/types.h>

#include <asm/asm.h>

/* As the type says; a pointer, which the compiler's class 5 is, is no integer of 64 bits. */
#define __MARKER_ARG(x)							\
	((u64)__builtin_choose_expr(__builtin_classify_type(x) == 5, (unsigned long)(x), (x)))

#define __MARKER_ARGS_0()		0
#define __MARKER_ARGS_1(a)		__MARKER_ARG(a)
#define __MARKER_ARGS_2(a, b...)	__MARKER_ARG(a), __MARKER_ARGS_1(b)
#define __MARKER_ARGS_3(a, b...)	__MARKER_ARG(a), __MARKER_ARGS_2(b)
#define __MARKER_ARGS_4(a, b...)	__MARKER_ARG(a), __MARKER_ARGS_3(b)
#define __MARKER_ARGS_5(a, b...)	__MARKER_ARG(a), __MARKER_ARGS_4(b)
#define __MARKER_ARGS_6(a, b...)	__MARKER_ARG(a), __MARKER_ARGS_5(b)
#define __MARKER_ARGS_7(a, b...)	__MARKER_ARG(a), __MARKER_ARGS_6(b)
#define __MARKER_ARGS_8(a, b...)	__MARKER_ARG(a), __MARKER_ARGS_7(b)

#define ARCH_MARKER_CALL(which, args...) do {				\
	const u64 __args[] = {						\
		CONCATENATE(__MARKER_ARGS_, COUNT_ARGS(args))(args)	\
	};								\
									\
	asm volatile("call __marker_call"				\
		     : ASM_CALL_CONSTRAINT				\
		     : "a" (which), "d" (__args)			\
		     : "memory");					\
} while (0)

#endif /* _ASM_X86_MARKER_32_H */
