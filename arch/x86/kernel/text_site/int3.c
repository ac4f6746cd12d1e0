// SPDX-License-Identifier: GPL-2.0
/*
 * What a CPU does that meets a breakpoint at a text site: what the site's
 * state says, now.
 *
 * There is no record of a batch in flight, so it makes no difference when the
 * breakpoint was met. Let B, T, H be the passes of patch.c. A CPU that traps
 * between B and T's write of the state acts as the old instruction, one that
 * traps later as the new one; both are right until the batch ends, because what
 * the old one calls stays callable until every task has left it. A CPU (or an
 * emulator's translation of the page) that meets the breakpoint long after H
 * still finds the site in its table, and acts as the instruction that memory
 * holds. A site not attached to anything is a NOP: it is skipped.
 *
 * Others' breakpoints, of kprobes for one, pay for no lookup: memory has them, and no
 * site is being changed.
 *
 * All of this runs with interrupts off, takes no lock and reads only memory
 * that is always there. On 32 bits, reading a module's table may fault to map it.
 */
#include <linux/compiler.h>
#include <linux/ptrace.h>
#include <linux/value_site.h>

#include <asm/nops.h>
#include <asm/text-patching.h>
#include <asm/text_site_entry.h>

#include "text_site.h"

/* Skips a NOP of the kernel's, of @len bytes. */
static __always_inline bool emulate_nop(struct pt_regs *regs, unsigned long addr,
					unsigned int len)
{
	const u8 *insn = (const u8 *)addr, *nop = x86_nops[len];

	for (unsigned int i = 0; i < len; i++) {
		if (insn[i] != nop[i])
			return false;
	}
	int3_emulate_jmp(regs, addr + len);
	return true;
}

/*
 * The opcodes that kernel text is patched with, other than at text sites. A
 * breakpoint that somebody else has put there and taken away again, when memory
 * is read: do what memory says. It cannot change under us: a patcher that has
 * written its next breakpoint waits for this CPU before it writes more.
 */
static __always_inline bool emulate_text(struct pt_regs *regs, unsigned long addr)
{
	const u8 *insn = (const u8 *)addr;
	const u8 opcode = READ_ONCE(insn[0]);

	switch (opcode) {
	case CALL_INSN_OPCODE:
		int3_emulate_call(regs, addr + CALL_INSN_SIZE + *(s32 *)(insn + 1));
		return true;

	case JMP32_INSN_OPCODE:
		int3_emulate_jmp(regs, addr + JMP32_INSN_SIZE + *(s32 *)(insn + 1));
		return true;

	case JMP8_INSN_OPCODE:
		int3_emulate_jmp(regs, addr + JMP8_INSN_SIZE + *(s8 *)(insn + 1));
		return true;

	case RET_INSN_OPCODE:
		int3_emulate_ret(regs);
		return true;

	case 0x70 ... 0x7f:	/* jcc rel8 */
		int3_emulate_jcc(regs, opcode & 0xf, addr + 2, *(s8 *)(insn + 1));
		return true;

	case 0x2e:		/* xor %eax,%eax with prefixes: a static call of return 0 */
		if (insn[1] != 0x2e || insn[2] != 0x2e || insn[3] != 0x31 || insn[4] != 0xc0)
			return false;
		regs->ax = 0;
		int3_emulate_jmp(regs, addr + 5);
		return true;

	case 0x0f:
		if ((insn[1] & 0xf0) == 0x80) {		/* jcc rel32 */
			int3_emulate_jcc(regs, insn[1] & 0xf, addr + 6,
					 *(s32 *)(insn + 2));
			return true;
		}
		return emulate_nop(regs, addr, 5);

	default:
		return emulate_nop(regs, addr, 2) || emulate_nop(regs, addr, 5);
	}
}

static __always_inline unsigned long target_addr(const struct text_site_kind *kind, u32 state)
{
	return READ_ONCE(text_target(kind, state & TEXT_SITE_TARGET)->addr);
}

/**
 * text_site_emulate - do what the instruction under a breakpoint in kernel text does
 * @regs: as the trap has left them
 * @kind: at whose site the breakpoint is if it is at one, NULL: it may be any
 *
 * Context: see text_int3().
 *
 * Return: true if @regs say where to go on, false if the breakpoint is
 * somebody else's.
 */
noinstr bool text_site_emulate(struct pt_regs *regs, const struct text_site_kind *kind)
{
	const unsigned long addr = regs->ip - INT3_INSN_SIZE;
	struct text_site_table *table;
	struct text_site *site;
	unsigned long target;
	u32 state;

	site = text_site_find(kind, addr, addr, &table);
	if (!site || text_site_addr(site) != addr)
		return emulate_text(regs, addr);

	/*
	 * A breakpoint in memory at a site that is not pending was put there by
	 * somebody else, a debugger. The patcher clears PENDING after it has
	 * written the head (TEXT_PASS_HEAD), so read it first.
	 */
	state = READ_ONCE(site->state);
	if (!(state & TEXT_SITE_PENDING) && READ_ONCE(*(u8 *)addr) == INT3_INSN_OPCODE) {
		/*
		 * Unless the one that was met was stale, and the next batch has
		 * begun since. That does not end without this CPU.
		 */
		state = READ_ONCE(site->state);
		if (!(state & TEXT_SITE_PENDING))
			return false;
	}

	/* No operation of the kind's: there are no indirect calls here. */
	switch (table->kind->insn->type) {
	case TEXT_INSN_VALUE:
		value_site_emulate(regs, addr, state, value_site_value(table, site));
		return true;

	case TEXT_INSN_JUMP:
		int3_emulate_jmp(regs, target_addr(table->kind, state) ?: addr + TEXT_SITE_SIZE);
		return true;

	case TEXT_INSN_CALL:
		target = target_addr(table->kind, state);
		if (target)
			int3_emulate_call(regs, target);
		else
			int3_emulate_jmp(regs, addr + TEXT_SITE_SIZE);
		return true;
	}
	return false;
}
