/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A breakpoint at a text site, in the entry code of the exception: what happens millions
 * of times while the sites of busy functions are being changed.
 *
 * TEXT_SITE_INT3 deals with a site that is pending, in text that has an index, and calls,
 * jumps, or does nothing: text_int3() does the same, after saving all registers. It
 * also does whatever is not dealt with here: nothing has been touched then.
 *
 * Why so little is enough, coming from kernel mode:
 *
 * - No site is in entry code, which is noinstr. So CR3 and GS are the kernel's: what
 *   comes in where they are not, an NMI in entry code for one, has gone through
 *   paranoid_entry() before it gets to a site. error_entry() relies on that too.
 * - Nothing here returns, calls, or jumps indirectly, or uses GS: returns have been
 *   untrained, and the call depth counted, as far as the interrupted code needs it, and
 *   a fence after swapgs would have nothing to stop. The callee of an emulated call counts
 *   it, although the return stack buffer has no entry for it, as in the base. If the
 *   branch that tells kernel mode from user mode is mispredicted, the address is the user's
 *   choice: it is masked before memory is read by it. The map has an entry for whatever is
 *   left then, each leads to an area that is there, and what is behind its end is taken for
 *   its beginning.
 * - It has no instrumentation, no use of RCU that has to be watched, and no state that
 *   lockdep or context tracking would have to know. Interrupts are off throughout. Who
 *   waits for it, waits for that: see text_site_table_remove() and arch_text_site_pass().
 *   So an area that the map has led to stays until this is through, module or not, even
 *   if the map has been changed since. The kind is read once: after a stale breakpoint,
 *   sites of another one may be changed before this ends, and ids mean nothing there.
 * - An NMI or a machine check may come in anywhere. They have stacks of their own; a #VC
 *   goes on below %rsp. Nothing below that is used. A breakpoint in an NMI ends with an
 *   IRET that lets the next one in: asm_exc_nmi() is made for that.
 * - Unwinders find the interrupted code at any moment: one of the two frames is whole.
 *   %rbp is not changed.
 * - This kernel has no shadow stack for itself. IRET to a target is no indirect branch
 *   for IBT.
 *
 * With FRED the exception does not come here. Xen PV does, but cannot use IRET.
 *
 * On 32 bits, there is no swapgs, ORC, #VC, Xen PV or FRED. What differs:
 *
 * - User mode may load any segment register but %ss, so memory is read through %ss.
 * - In VM86 mode, %cs may look like the kernel's, while the page tables are the user's.
 * - A module's table is in vmalloc memory, and reading that may fault. The fault nests below
 *   %esp. Its handler has sites in the kernel's text, so the index of that is not in vmalloc
 *   memory.
 * - An NMI uses the same stack, below %esp. The unwinder follows %ebp, which is not changed. It
 *   misses the caller of the interrupted function, as at the first instruction of any function.
 */
#ifndef _ASM_X86_TEXT_SITE_ENTRY_H
#define _ASM_X86_TEXT_SITE_ENTRY_H

#include <asm/text_site.h>

/* Where things are that are read here: entry.c checks that this is so. */
#define TEXT_WORD		__SIZEOF_POINTER__
#define TEXT_KIND_PAGES		0
#define TEXT_KIND_INSN		(256 * TEXT_WORD)
#define TEXT_KIND_MAP		(TEXT_KIND_INSN + TEXT_WORD)
/* The kernel's first one */
#define TEXT_KIND_AREA		(TEXT_KIND_MAP + TEXT_WORD * TEXT_MAP_SIZE)
#define TEXT_AREA_START		0
#define TEXT_AREA_INDEXED	TEXT_WORD
#define TEXT_AREA_INDEX		(2 * TEXT_WORD)
#define TEXT_AREA_SITES		(3 * TEXT_WORD)
#define TEXT_AREA_KIND		(5 * TEXT_WORD + 8)
#define TEXT_INSN_OPCODE	4
#define TEXT_TARGET_LEN		(2 * TEXT_WORD + 8)
#define TEXT_PENDING		0x40000000

#ifdef __ASSEMBLY__
#ifdef CONFIG_TEXT_SITES

#include <asm/asm.h>
#include <asm/page_types.h>

#ifdef CONFIG_X86_64
#define TEXT_SEG
#else
#define TEXT_SEG	%ss:
#endif

/*
 * With ax, cx, dx and si on the stack, and above them a word and the frame of the exception:
 * %si becomes the address that the site's pending target has, 0 for none, which flags tell, and
 * %dx the kind. Goes to @none if there is no such site.
 */
.macro TEXT_SITE_FIND none:req
	/* %dx: the area; %ax: the address; %cx: how far it is into what is indexed */
	mov	TEXT_SEG _ASM_RIP(text_sites_kind), %_ASM_DX
	add	$TEXT_KIND_AREA, %_ASM_DX
	mov	5 * TEXT_WORD(%_ASM_SP), %_ASM_AX
	dec	%_ASM_AX
	mov	%_ASM_AX, %_ASM_CX
	sub	TEXT_SEG TEXT_AREA_START(%_ASM_DX), %_ASM_CX
	cmp	TEXT_SEG TEXT_AREA_INDEXED(%_ASM_DX), %_ASM_CX
	jb	.Lin_area_\@

	/* Not in the kernel's text: the map says where. */
	mov	%_ASM_AX, %_ASM_CX
	shr	$PAGE_SHIFT + TEXT_LEAF_SHIFT, %_ASM_CX
	andl	$TEXT_MAP_SIZE - 1, %ecx
	mov	TEXT_SEG TEXT_KIND_MAP - TEXT_KIND_AREA(%_ASM_DX, %_ASM_CX, TEXT_WORD), %_ASM_DX
	movl	%eax, %ecx
	shrl	$PAGE_SHIFT, %ecx
	andl	$(1 << TEXT_LEAF_SHIFT) - 1, %ecx
	mov	TEXT_SEG (%_ASM_DX, %_ASM_CX, TEXT_WORD), %_ASM_DX
	mov	%_ASM_AX, %_ASM_CX
	sub	TEXT_SEG TEXT_AREA_START(%_ASM_DX), %_ASM_CX
	cmp	TEXT_SEG TEXT_AREA_INDEXED(%_ASM_DX), %_ASM_CX
	jae	\none

.Lin_area_\@:
	/* Carry is set, but if one of the branches was mispredicted. */
	sbb	%_ASM_SI, %_ASM_SI
	and	%_ASM_SI, %_ASM_CX

	/*
	 * %cx: the site, one of those in the granule: the last one in the index ends it.
	 * %eax: from its record to the address, as the record says it. Both are in the
	 * same 2 GB.
	 */
	shr	$TEXT_GRANULE_SHIFT, %_ASM_CX
	mov	TEXT_SEG TEXT_AREA_INDEX(%_ASM_DX), %_ASM_SI
	movl	TEXT_SEG (%_ASM_SI, %_ASM_CX, 4), %ecx
	mov	TEXT_SEG TEXT_AREA_SITES(%_ASM_DX), %_ASM_SI
	lea	-8(%_ASM_SI, %_ASM_CX, 8), %_ASM_CX
	subl	%ecx, %eax
.Lnext_\@:
	add	$8, %_ASM_CX
	subl	$8, %eax
	cmpl	TEXT_SEG (%_ASM_CX), %eax
	jg	.Lnext_\@
	jne	\none

	/* Two bytes of the state are the id of where what the site holds now goes. */
	movl	TEXT_SEG 4(%_ASM_CX), %ecx
	testl	$TEXT_PENDING, %ecx
	jz	\none
	mov	TEXT_SEG TEXT_AREA_KIND(%_ASM_DX), %_ASM_DX
	movzbl	%ch, %esi
	movzbl	%cl, %ecx
	mov	TEXT_SEG TEXT_KIND_PAGES(%_ASM_DX, %_ASM_SI, TEXT_WORD), %_ASM_SI
	test	%_ASM_SI, %_ASM_SI	/* Values have none. */
	jz	\none
	imull	$TEXT_TARGET_LEN, %ecx, %ecx
	mov	TEXT_SEG (%_ASM_SI, %_ASM_CX), %_ASM_SI
	test	%_ASM_SI, %_ASM_SI
.endm

#ifdef CONFIG_X86_64
#include <asm/text_site_entry_64.h>
#else
#include <asm/text_site_entry_32.h>
#endif

#else /* !CONFIG_TEXT_SITES */

.macro TEXT_SITE_INT3
.endm

#endif /* CONFIG_TEXT_SITES */

#else /* !__ASSEMBLY__ */

#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/barrier.h>
#include <asm/ptrace.h>
#include <asm/text-patching.h>

#ifdef CONFIG_TEXT_SITES

struct text_site_kind;

/* Of which kind the sites are that are being changed. It stays after that: kinds do. */
extern struct text_site_kind *text_sites_kind;

bool text_site_emulate(struct pt_regs *regs, const struct text_site_kind *kind);

/**
 * text_int3 - handle a breakpoint in kernel text
 * @regs: as the trap has left them
 *
 * While nobody changes text, a breakpoint that is in memory is somebody else's, such as a
 * kprobe's, and is looked at no further.
 *
 * Context: the entry code of the breakpoint exception, interrupts off, before
 * anything that may be traced or patched.
 *
 * Return: true if @regs say where to go on, false if the breakpoint is
 * somebody else's.
 */
static __always_inline bool text_int3(struct pt_regs *regs)
{
	u8 changes;

	if (user_mode(regs))
		return false;

	/* A stale one, ours or text_poke_bp()'s: memory has something else by now. */
	if (READ_ONCE(*(u8 *)(regs->ip - INT3_INSN_SIZE)) != INT3_INSN_OPCODE)
		return text_site_emulate(regs, NULL) || poke_int3_handler(regs);

	/*
	 * One in memory is at a site of the kind that is being changed, or text_poke_bp()
	 * has put it there, or it is somebody else's. Pairs with the order in which
	 * arch_text_site_pass() and text_poke_bp_batch() write: who sees a breakpoint of
	 * theirs sees that there are some. It stays so until this CPU is through, as they
	 * wait for it before they say that there are none.
	 */
	smp_rmb();
	changes = READ_ONCE(text_changes);
	if (likely_notrace(!changes))
		return false;
	if (changes & TEXT_CHANGES_SITES)
		return text_site_emulate(regs, READ_ONCE(text_sites_kind));
	return poke_int3_handler(regs);
}

#else /* !CONFIG_TEXT_SITES */

static __always_inline bool text_int3(struct pt_regs *regs)
{
	return poke_int3_handler(regs);
}

#endif /* CONFIG_TEXT_SITES */

#endif /* __ASSEMBLY__ */

#endif /* _ASM_X86_TEXT_SITE_ENTRY_H */
