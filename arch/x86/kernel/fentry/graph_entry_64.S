/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a function returns to whose return is traced, instead of to its caller.
 */
#include <linux/cfi_types.h>
#include <linux/linkage.h>

#include <asm/alternative.h>
#include <asm/asm-offsets.h>
#include <asm/cpufeatures.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace-abi.h>
#include <asm/unwind_hints.h>

	.code64
	.section .text, "ax"

/* What a user of function returns has for one it does not want to know of */
SYM_TYPED_FUNC_START(ftrace_stub_graph)
	CALL_DEPTH_ACCOUNT
	RET
SYM_FUNC_END(ftrace_stub_graph)

/*
 * %rax and %rdx have what the function returns. The unwinder knows this address,
 * and asks who the caller is (ftrace_graph_ret_addr).
 */
SYM_CODE_START(return_to_handler)
	UNWIND_HINT_UNDEFINED
	ANNOTATE_NOENDBR

	/*
	 * The unwinder looks for this address in the slot that the return has popped, which
	 * an interrupt may have overwritten. Below the slot is a struct ftrace_regs.
	 */
	pushq	$return_to_handler
	UNWIND_HINT_FUNC
	subq	$FRAME_SIZE, %rsp
	movq	%rdx, RDX(%rsp)
	movq	%rax, RAX(%rsp)
	leaq	FRAME_SIZE+8(%rsp), %rcx
	movq	%rcx, RSP(%rsp)
	/*
	 * Not from %rbp itself, which objtool would take for a register that is saved there: the
	 * unwinder would read it from there until the end, when the frame has gone.
	 */
	movq	%rbp, %rcx
	movq	%rcx, RBP(%rsp)

	movq	%rsp, %rdi
	call	ftrace_return_to_handler
	/* From here on, the unwinder finds the return address at each instruction. */
	movq	%rax, FRAME_SIZE(%rsp)

	movq	RAX(%rsp), %rax
	movq	RDX(%rsp), %rdx
	addq	$FRAME_SIZE, %rsp

	/*
	 * Go there by a return, as there is no ENDBR for an indirect branch to land on; and
	 * by a call before it, as the predictor of returns has one entry less than there
	 * are callers.
	 */
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lgo
	int3
.Lgo:
	addq	$8, %rsp
	ALTERNATIVE __stringify(RET), \
		    __stringify(ANNOTATE_UNRET_SAFE; ret; int3), \
		    X86_FEATURE_CALL_DEPTH
SYM_CODE_END(return_to_handler)
