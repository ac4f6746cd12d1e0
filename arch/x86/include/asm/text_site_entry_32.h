/* SPDX-License-Identifier: GPL-2.0 */
/* A breakpoint at a text site: see text_site_entry.h, which includes this */
#ifndef _ASM_X86_TEXT_SITE_ENTRY_32_H
#define _ASM_X86_TEXT_SITE_ENTRY_32_H

#include <asm/page_types.h>
#include <asm/processor-flags.h>
#include <asm/segment.h>

/*
 * In the entry code of int3, with a word above the frame of the exception. Goes on behind it
 * with all as it was if the breakpoint is not dealt with. The steps are those of 64 bits.
 */
.macro TEXT_SITE_INT3
	/*
	 * From user mode, no segment can be relied on but %ss, not even by a branch that was
	 * mispredicted.
	 */
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

	/* %edx: the area; %eax: the address; %ecx: how far it is into what is indexed */
	movl	%ss:text_sites_kind, %edx
	addl	$TEXT_KIND_AREA, %edx
	movl	5*4(%esp), %eax
	decl	%eax
	movl	%eax, %ecx
	subl	%ss:TEXT_AREA_START(%edx), %ecx
	cmpl	%ss:TEXT_AREA_INDEXED(%edx), %ecx
	jb	.Lin_area_\@

	movl	%eax, %ecx
	shrl	$PAGE_SHIFT + TEXT_LEAF_SHIFT, %ecx
	andl	$TEXT_MAP_SIZE - 1, %ecx
	movl	%ss:TEXT_KIND_MAP - TEXT_KIND_AREA(%edx, %ecx, 4), %edx
	movl	%eax, %ecx
	shrl	$PAGE_SHIFT, %ecx
	andl	$(1 << TEXT_LEAF_SHIFT) - 1, %ecx
	movl	%ss:(%edx, %ecx, 4), %edx
	movl	%eax, %ecx
	subl	%ss:TEXT_AREA_START(%edx), %ecx
	cmpl	%ss:TEXT_AREA_INDEXED(%edx), %ecx
	jae	.Lrestore_\@

.Lin_area_\@:
	sbbl	%esi, %esi
	andl	%esi, %ecx

	/* %ecx: the site; %eax: from its record to the address */
	shrl	$TEXT_GRANULE_SHIFT, %ecx
	movl	%ss:TEXT_AREA_INDEX(%edx), %esi
	movl	%ss:(%esi, %ecx, 4), %ecx
	movl	%ss:TEXT_AREA_SITES(%edx), %esi
	leal	-8(%esi, %ecx, 8), %ecx
	subl	%ecx, %eax
.Lnext_\@:
	addl	$8, %ecx
	subl	$8, %eax
	cmpl	%ss:(%ecx), %eax
	jg	.Lnext_\@
	jne	.Lrestore_\@

	/* %esi: where what it holds now goes */
	movl	%ss:4(%ecx), %ecx
	testl	$TEXT_PENDING, %ecx
	jz	.Lrestore_\@
	movl	%ss:TEXT_AREA_KIND(%edx), %edx
	movzbl	%ch, %esi
	movzbl	%cl, %ecx
	movl	%ss:TEXT_KIND_PAGES(%edx, %esi, 4), %esi
	testl	%esi, %esi	/* of values there are none */
	jz	.Lrestore_\@
	imull	$TEXT_TARGET_LEN, %ecx, %ecx
	movl	%ss:(%esi, %ecx), %esi
	testl	%esi, %esi
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
