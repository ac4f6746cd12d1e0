/* SPDX-License-Identifier: GPL-2.0 */
/* What an enabled marker calls: see asm/marker_64.h */
#include <linux/linkage.h>

#include <asm/frame.h>
#include <asm/nospec-branch.h>

	.text

/*
 * On the stack: return address, marker site, arguments. Saves what C does not, but for %r11:
 * the marker's own function knows it to be changed, and has no use for it nearly always.
 */
SYM_FUNC_START(__marker_call)
	FRAME_BEGIN
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	movq	(9 * 8 + FRAME_OFFSET)(%rsp), %rdi
	leaq	(10 * 8 + FRAME_OFFSET)(%rsp), %rsi
	call	marker_call
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	FRAME_END
	RET
SYM_FUNC_END(__marker_call)
