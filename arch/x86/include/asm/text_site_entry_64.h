/* SPDX-License-Identifier: GPL-2.0 */
/* A breakpoint at a text site: see text_site_entry.h, which includes this */
#ifndef _ASM_X86_TEXT_SITE_ENTRY_64_H
#define _ASM_X86_TEXT_SITE_ENTRY_64_H

#include <asm/alternative.h>
#include <asm/cpufeatures.h>
#include <asm/unwind_hints.h>

/*
 * In the entry code of int3, from kernel mode, with ORIG_RAX above the frame of the
 * exception. Goes on behind it with all as it was if the breakpoint is not dealt with.
 */
.macro TEXT_SITE_INT3
	testb	$TEXT_CHANGES_SITES, text_changes(%rip)
	jz	.Lnot_here_\@
#ifdef CONFIG_XEN_PV
	/* Nor is it known early that this is not Xen. */
	ALTERNATIVE "jmp .Lnot_here_\@", "", ALT_NOT(X86_FEATURE_XENPV)
#endif
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi

	TEXT_SITE_FIND .Lrestore_\@
	jnz	.Lgoes_\@

	/* A NOP: %rip is behind its first byte. */
	addq	$TEXT_SITE_SIZE - 1, 5*8(%rsp)
.Lreturn_\@:
	/* From here on %rip is the instruction that is next, not one behind its first byte. */
	UNWIND_HINT_IRET_REGS offset=5*8
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	addq	$8, %rsp
	iretq

.Ljumps_\@:
	movq	%rsi, 5*8(%rsp)
	UNWIND_HINT_IRET_REGS offset=5*8
	jmp	.Lreturn_\@

.Lgoes_\@:
	UNWIND_HINT_IRET_REGS offset=5*8 signal=0
	movq	TEXT_KIND_INSN(%rdx), %rdx
	cmpb	$0xe8, TEXT_INSN_OPCODE(%rdx)
	jne	.Ljumps_\@

	/*
	 * A call. The frame begins where the interrupted stack ends, or 8 bytes below, as
	 * it is aligned to 16: so what is called returns to the address in this gap, or
	 * where the frame has SS. Return through another frame, below. The order matters
	 * for who unwinds the stack in an NMI: of the first frame, only %rip and %rsp.
	 */
	movq	5*8(%rsp), %rax
	addq	$TEXT_SITE_SIZE - 1, %rax
	movq	8*8(%rsp), %rcx
	subq	$8, %rcx
	pushq	9*8(%rsp)	/* SS */
	pushq	%rcx		/* RSP */
	pushq	9*8(%rsp)	/* RFLAGS */
	pushq	9*8(%rsp)	/* CS */
	pushq	%rsi		/* RIP */
	movq	%rax, (%rcx)
	UNWIND_HINT_IRET_REGS
	movq	5*8(%rsp), %rsi
	movq	6*8(%rsp), %rdx
	movq	7*8(%rsp), %rcx
	movq	8*8(%rsp), %rax
	iretq

.Lrestore_\@:
	UNWIND_HINT_IRET_REGS offset=5*8 signal=0
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
.Lnot_here_\@:
.endm

#endif /* _ASM_X86_TEXT_SITE_ENTRY_64_H */
