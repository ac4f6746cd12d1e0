/* SPDX-License-Identifier: GPL-2.0 */
/* A breakpoint at a text site: see text_site_entry.h, which includes this */
#ifndef _ASM_X86_TEXT_SITE_ENTRY_32_H
#define _ASM_X86_TEXT_SITE_ENTRY_32_H

#include <asm/processor-flags.h>
#include <asm/segment.h>

/*
 * In the entry code of int3, with a word above the frame of the exception. Goes on behind it
 * with all as it was if the breakpoint is not dealt with.
 */
.macro TEXT_SITE_INT3
	/* %ds may still be the user's, also if one of these branches was mispredicted. */
	testb	$USER_SEGMENT_RPL_MASK, 2*4(%esp)
	jnz	.Lnot_here_\@
#ifdef CONFIG_VM86
	testl	$X86_EFLAGS_VM, 3*4(%esp)
	jnz	.Lnot_here_\@
#endif
	testb	$TEXT_CHANGES_SITES, %ss:text_changes
	jz	.Lnot_here_\@
	pushl	%eax
	pushl	%ecx
	pushl	%edx
	pushl	%esi

	TEXT_SITE_FIND .Lrestore_\@
	jnz	.Lgoes_\@

	/* A NOP: %eip is behind its first byte. */
	addl	$TEXT_SITE_SIZE - 1, 5*4(%esp)
.Lreturn_\@:
	popl	%esi
	popl	%edx
	popl	%ecx
	popl	%eax
	addl	$4, %esp
	iret

.Ljumps_\@:
	movl	%esi, 5*4(%esp)
	jmp	.Lreturn_\@

.Lgoes_\@:
	movl	%ss:TEXT_KIND_INSN(%edx), %edx
	cmpb	$0xe8, %ss:TEXT_INSN_OPCODE(%edx)
	jne	.Ljumps_\@

	/*
	 * A call. The frame has no %esp: it ends where the interrupted stack does, which is to
	 * get the return address. So it moves down by a word, into the one above it.
	 */
	movl	5*4(%esp), %eax
	addl	$TEXT_SITE_SIZE - 1, %eax
	movl	%esi, 4*4(%esp)		/* EIP */
	movl	6*4(%esp), %ecx
	movl	%ecx, 5*4(%esp)		/* CS */
	movl	7*4(%esp), %ecx
	movl	%ecx, 6*4(%esp)		/* EFLAGS */
	movl	%eax, 7*4(%esp)
	popl	%esi
	popl	%edx
	popl	%ecx
	popl	%eax
	iret

.Lrestore_\@:
	popl	%esi
	popl	%edx
	popl	%ecx
	popl	%eax
.Lnot_here_\@:
.endm

#endif /* _ASM_X86_TEXT_SITE_ENTRY_32_H */
