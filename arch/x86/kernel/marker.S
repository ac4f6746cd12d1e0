/* SPDX-License-Identifier: GPL-2.0 */
/* What an enabled marker calls: see asm/marker.h */
#include <linux/linkage.h>

#include <asm/frame.h>
#include <asm/nospec-branch.h>

	.text

/* On the stack: return address, marker site, arguments. Saves what C does not. */
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
	pushq	%r11
	movq	(10 * 8 + FRAME_OFFSET)(%rsp), %rdi
	leaq	(11 * 8 + FRAME_OFFSET)(%rsp), %rsi
	call	marker_call
	popq	%r11
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
