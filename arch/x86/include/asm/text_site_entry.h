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
 *   a fence after swapgs would have nothing to stop. If the branch that tells kernel
 *   mode from user mode is mispredicted, the address is the user's choice: it is masked
 *   before memory is read by it. The map has an entry for whatever is left then, each
 *   leads to an area that is there, and what is behind its end is taken for its beginning.
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
 * With FRED the exception does not come here. Xen PV does, but cannot use IRET. Nor do
 * 32-bit kernels come here: text_int3() deals with all.
 */
#ifndef _ASM_X86_TEXT_SITE_ENTRY_H
#define _ASM_X86_TEXT_SITE_ENTRY_H

#include <asm/text_site.h>

/* Where things are that are read here: entry_64.c checks that this is so. */
#define TEXT_KIND_PAGES		0
#define TEXT_KIND_INSN		2048
#define TEXT_KIND_MAP		(TEXT_KIND_INSN + 8)
#define TEXT_KIND_AREA		(TEXT_KIND_MAP + 8 * TEXT_MAP_SIZE) /* the kernel's first one */
#define TEXT_AREA_START		0
#define TEXT_AREA_INDEXED	8
#define TEXT_AREA_INDEX		16
#define TEXT_AREA_SITES		24
#define TEXT_AREA_KIND		48
#define TEXT_INSN_OPCODE	4
#define TEXT_TARGET_LEN		24
#define TEXT_PENDING		0x40000000

#ifdef __ASSEMBLY__
#ifdef CONFIG_TEXT_SITES

#include <asm/alternative.h>
#include <asm/cpufeatures.h>
#include <asm/page_types.h>
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

	/* %rdx: the area; %rax: the address; %rcx: how far it is into what is indexed */
	movq	text_sites_kind(%rip), %rdx
	addq	$TEXT_KIND_AREA, %rdx
	movq	5*8(%rsp), %rax
	decq	%rax
	movq	%rax, %rcx
	subq	TEXT_AREA_START(%rdx), %rcx
	cmpq	TEXT_AREA_INDEXED(%rdx), %rcx
	jb	.Lin_area_\@

	/* Not in the kernel's text: the map says where. */
	movq	%rax, %rcx
	shrq	$PAGE_SHIFT + TEXT_LEAF_SHIFT, %rcx
	andl	$TEXT_MAP_SIZE - 1, %ecx
	movq	TEXT_KIND_MAP - TEXT_KIND_AREA(%rdx, %rcx, 8), %rdx
	movl	%eax, %ecx
	shrl	$PAGE_SHIFT, %ecx
	andl	$(1 << TEXT_LEAF_SHIFT) - 1, %ecx
	movq	(%rdx, %rcx, 8), %rdx
	movq	%rax, %rcx
	subq	TEXT_AREA_START(%rdx), %rcx
	cmpq	TEXT_AREA_INDEXED(%rdx), %rcx
	jae	.Lrestore_\@

.Lin_area_\@:
	/* Carry is set, but if one of the branches was mispredicted. */
	sbbq	%rsi, %rsi
	andq	%rsi, %rcx

	/*
	 * %rcx: the site, one of those in the granule: the last one in the index ends it.
	 * %eax: from its record to the address, as the record says it. Both are in the
	 * same 2 GB.
	 */
	shrq	$TEXT_GRANULE_SHIFT, %rcx
	movq	TEXT_AREA_INDEX(%rdx), %rsi
	movl	(%rsi, %rcx, 4), %ecx
	movq	TEXT_AREA_SITES(%rdx), %rsi
	leaq	-8(%rsi, %rcx, 8), %rcx
	subl	%ecx, %eax
.Lnext_\@:
	addq	$8, %rcx
	subl	$8, %eax
	cmpl	(%rcx), %eax
	jg	.Lnext_\@
	jne	.Lrestore_\@

	/* %rsi: where what it holds now goes; two bytes of the state are the id of that */
	movl	4(%rcx), %ecx
	testl	$TEXT_PENDING, %ecx
	jz	.Lrestore_\@
	movq	TEXT_AREA_KIND(%rdx), %rdx
	movzbl	%ch, %esi
	movzbl	%cl, %ecx
	movq	TEXT_KIND_PAGES(%rdx, %rsi, 8), %rsi
	testq	%rsi, %rsi	/* of values there are none */
	jz	.Lrestore_\@
	imull	$TEXT_TARGET_LEN, %ecx, %ecx
	movq	(%rsi, %rcx), %rsi
	testq	%rsi, %rsi
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
	if (likely(!changes))
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
