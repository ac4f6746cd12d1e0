/* SPDX-License-Identifier: GPL-2.0 */
/* What an enabled marker calls: see asm/marker.h */
#include <linux/linkage.h>

#include <asm/frame.h>
#include <asm/nospec-branch.h>

	.text

/*
 * On the stack: return address, marker site, arguments. Saves what C does not, but for what
 * the marker's own function knows to be changed: it has little use for these registers.
 */
SYM_FUNC_START(__marker_call)
	FRAME_BEGIN
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	movq	(7 * 8 + FRAME_OFFSET)(%rsp), %rdi
	leaq	(8 * 8 + FRAME_OFFSET)(%rsp), %rsi
	call	marker_call
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	FRAME_END
	RET
SYM_FUNC_END(__marker_call)
