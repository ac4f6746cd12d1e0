/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The call of a marker in 64-bit code, which is out of line:
 *
 *	push	argument n		each a register or a constant, wherever the
 *	...				compiler has it; not %rsp, which this moves
 *	push	argument 1
 *	push	$site
 *	call	__marker_call		changes %r11 only
 *	add	$(8 * (n + 1)), %rsp
 *
 * So the function around it is compiled as if there was no call: it needs no stack
 * frame for it, and nothing has to be in registers that calls preserve. The arguments
 * are where probes read them.
 */
#ifndef _ASM_X86_MARKER_64_H
#define _ASM_X86_MARKER_64_H

#include <linux/args.h>

#include <asm/asm.h>

#define __MARKER_PUSH_0
#define __MARKER_PUSH_1		"push %[a1]\n\t"
#define __MARKER_PUSH_2		"push %[a2]\n\t" __MARKER_PUSH_1
#define __MARKER_PUSH_3		"push %[a3]\n\t" __MARKER_PUSH_2
#define __MARKER_PUSH_4		"push %[a4]\n\t" __MARKER_PUSH_3
#define __MARKER_PUSH_5		"push %[a5]\n\t" __MARKER_PUSH_4
#define __MARKER_PUSH_6		"push %[a6]\n\t" __MARKER_PUSH_5
#define __MARKER_PUSH_7		"push %[a7]\n\t" __MARKER_PUSH_6
#define __MARKER_PUSH_8		"push %[a8]\n\t" __MARKER_PUSH_7

/*
 * "l" is "r" without the stack pointer, but Clang treats it like "r". It never keeps an output
 * of asm in the stack pointer.
 */
#ifdef CONFIG_CC_IS_CLANG
static __always_inline unsigned long __marker_arg(unsigned long x)
{
	if (!__builtin_constant_p(x))
		asm("" : "+r" (x));
	return x;
}
#else
#define __marker_arg(x)		(x)
#endif

/* Sign- or zero-extended, as its type says */
#define __MARKER_ARG(n, x)	[a##n] "le" (__marker_arg((unsigned long)(x))),

#define __MARKER_ARGS_0()
#define __MARKER_ARGS_1(a)	__MARKER_ARG(1, a)
#define __MARKER_ARGS_2(a, b)	__MARKER_ARGS_1(a) __MARKER_ARG(2, b)
#define __MARKER_ARGS_3(a, b, c)					\
	__MARKER_ARGS_2(a, b) __MARKER_ARG(3, c)
#define __MARKER_ARGS_4(a, b, c, d)					\
	__MARKER_ARGS_3(a, b, c) __MARKER_ARG(4, d)
#define __MARKER_ARGS_5(a, b, c, d, e)					\
	__MARKER_ARGS_4(a, b, c, d) __MARKER_ARG(5, e)
#define __MARKER_ARGS_6(a, b, c, d, e, f)				\
	__MARKER_ARGS_5(a, b, c, d, e) __MARKER_ARG(6, f)
#define __MARKER_ARGS_7(a, b, c, d, e, f, g)				\
	__MARKER_ARGS_6(a, b, c, d, e, f) __MARKER_ARG(7, g)
#define __MARKER_ARGS_8(a, b, c, d, e, f, g, h)				\
	__MARKER_ARGS_7(a, b, c, d, e, f, g) __MARKER_ARG(8, h)

#define __ARCH_MARKER_CALL(nr, which, args...)				\
	asm volatile(CONCATENATE(__MARKER_PUSH_, nr)			\
		     "push %[site]\n\t"				\
		     "call __marker_call\n\t"				\
		     "add %[size], %%rsp"				\
		     : ASM_CALL_CONSTRAINT				\
		     : CONCATENATE(__MARKER_ARGS_, nr)(args)		\
		       [site] "i" (which), [size] "i" (8 * ((nr) + 1))	\
		     : "r11", "memory")

#define ARCH_MARKER_CALL(which, args...)				\
	__ARCH_MARKER_CALL(COUNT_ARGS(args), which, ##args)

#endif /* _ASM_X86_MARKER_64_H */
