// SPDX-License-Identifier: GPL-2.0
/*
 * The instructions of inline sites: see <asm/inline_site.h> for what they are, and
 * patch.c for how they are changed.
 *
 * A site's state says which of its two forms it has: as it was compiled, or with the
 * value. That changes in the second pass, like other sites'. What a load moves to its
 * register is not in the state: the breakpoint handler reads the value. That was written
 * before the breakpoint, and changes under the same lock as sites do; so who meets the
 * breakpoint reads the new one, and who does not, what was before or comes after it.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/text_site.h>
#include <linux/unaligned.h>

#include <asm/nops.h>
#include <asm/text-patching.h>

#include "text_site.h"

/* A load, by the logarithm of its value's size: what precedes the ModRM byte */
static const struct load {
	u8	size;		/* of the instruction, of both forms */
	u8	prefix;		/* how many bytes come before ModRM, as it is compiled */
	u8	memory[5];	/* which */
	u8	immediate[2];	/* what comes before the register, with the value */
} loads[] = {
	{ 7,  2, { 0x0f, 0xb6 },			{ 0x40, 0xc7 } },
	{ 7,  2, { 0x0f, 0xb7 },			{ 0x40, 0xc7 } },
	{ 7,  2, { 0x40, 0x8b },			{ 0x40, 0xc7 } },
	{ 10, 5, { 0x2e, 0x2e, 0x2e, 0x48, 0x8b },	{ 0x48 } },
};

/* Memory, relative to the next instruction; the register is in the bits from 3 on. */
#define MODRM_RIP	0x05
#define MODRM_REG	0xc0	/* the register */
#define MOVABS		0xb8	/* with the register in the lowest bits */

#define LOG_WIDE	3

static __always_inline unsigned int site_log(u32 state)
{
	return FIELD_GET(INLINE_SITE_LOG, state);
}

/* @reg: where the value goes */
static void load_insn(u8 *insn, unsigned long addr, unsigned int log, unsigned int reg,
		      bool immediate, const void *value)
{
	const struct load *load = &loads[log];

	if (!immediate) {
		memcpy(insn, load->memory, load->prefix);
		insn[load->prefix] = MODRM_RIP | reg << 3;
		put_unaligned((s32)((unsigned long)value - addr - load->size),
			      (s32 *)(insn + load->prefix + 1));
	} else if (log == LOG_WIDE) {
		insn[0] = load->immediate[0];
		insn[1] = MOVABS | reg;
		put_unaligned(inline_value_get(value, log), (u64 *)(insn + 2));
	} else {
		memcpy(insn, load->immediate, 2);
		insn[2] = MODRM_REG | reg;
		put_unaligned((u32)inline_value_get(value, log), (u32 *)(insn + 3));
	}
}

/* From behind a branch to its label */
static __always_inline s32 branch_distance(u32 state)
{
	return sign_extend32(state, 27);
}

/**
 * inline_site_insn - the instruction of an inline site
 * @insn: gets it, INLINE_SITE_MAX bytes at most
 * @site: which
 * @state: the site's, or one that it is to have
 * @value: what it depends on
 *
 * Return: its size, in bytes.
 */
unsigned int inline_site_insn(u8 *insn, const struct text_site *site, u32 state,
			      const void *value)
{
	if (state & INLINE_SITE_LOAD) {
		load_insn(insn, text_site_addr(site), site_log(state), state & INLINE_SITE_REG,
			  state & INLINE_SITE_ON, value);
		return loads[site_log(state)].size;
	}
	if (state & INLINE_SITE_ON) {
		insn[0] = JMP32_INSN_OPCODE;
		put_unaligned(branch_distance(state), (s32 *)(insn + 1));
	} else {
		memcpy(insn, x86_nops[TEXT_SITE_SIZE], TEXT_SITE_SIZE);
	}
	return TEXT_SITE_SIZE;
}

/**
 * inline_site_next - the state that a pending inline site is to have
 * @state: the one it has
 *
 * Return: a branch is switched over; a load has its value, old or new, from its first
 * time on.
 */
u32 inline_site_next(u32 state)
{
	return state & INLINE_SITE_LOAD ? state | INLINE_SITE_ON : state ^ INLINE_SITE_ON;
}

/**
 * arch_inline_site_size - how many bytes of text belong to an inline site
 * @site: which
 */
unsigned int arch_inline_site_size(const struct text_site *site)
{
	const u32 state = READ_ONCE(site->state);

	return state & INLINE_SITE_LOAD ? loads[site_log(state)].size : TEXT_SITE_SIZE;
}

static int not_verified(const struct text_site *site, const u8 *insn, unsigned int size)
{
	void *addr = (void *)text_site_addr(site);

	pr_err("text_site: %pS: holds %*ph, should hold %*ph; nothing is changed\n", addr,
	       size, addr, size, insn);
	return -EINVAL;
}

/**
 * arch_inline_site_init - take an inline site's record into use
 * @site: as the compiler has made it. Its state is the reference to a branch's label, 0
 *	for a load; it gets that of a site that is as it was compiled.
 * @value: what it depends on
 * @log: the logarithm of the value's size in bytes, to the base 2
 *
 * Return: 0, or -EINVAL with a message: it is not what the compiler makes.
 */
int arch_inline_site_init(struct text_site *site, const void *value, unsigned int log)
{
	const unsigned long addr = text_site_addr(site);
	unsigned long label;
	long distance;

	if (!site->state) {
		const u8 modrm = ((const u8 *)addr)[loads[log].prefix];

		site->state = INLINE_SITE_LOAD | FIELD_PREP(INLINE_SITE_LOG, log) |
			      (modrm >> 3 & INLINE_SITE_REG);
		return arch_inline_site_verify(site, value);
	}

	label = (unsigned long)&site->state + (s32)site->state;
	distance = label - (addr + TEXT_SITE_SIZE);
	site->state = distance & INLINE_SITE_DISTANCE;
	if (branch_distance(site->state) != distance || !kernel_text_address(label)) {
		pr_err("text_site: %pS: cannot jump to %pS\n", (void *)addr, (void *)label);
		return -EINVAL;
	}
	return arch_inline_site_verify(site, value);
}

/* Of the value that an immediate load has in it, any will do: what is in it goes. */
static bool verified(const struct text_site *site, const u8 *insn, unsigned int size)
{
	const u8 *text = (const u8 *)text_site_addr(site);
	const u32 state = site->state;

	if (state & INLINE_SITE_LOAD && state & INLINE_SITE_ON)
		size -= site_log(state) == LOG_WIDE ? sizeof(u64) : sizeof(u32);
	return !memcmp(text, insn, size);
}

/**
 * arch_inline_site_verify - is an inline site's text what its state says?
 * @site: which
 * @value: what it depends on
 *
 * Context: under text_mutex, or where nobody changes the text.
 *
 * Return: 0, or -EINVAL with a message.
 */
int arch_inline_site_verify(const struct text_site *site, const void *value)
{
	u8 insn[INLINE_SITE_MAX];
	unsigned int size = inline_site_insn(insn, site, site->state, value);

	return verified(site, insn, size) ? 0 : not_verified(site, insn, size);
}

/**
 * arch_inline_site_holds - does an inline site's instruction do what its value says?
 * @site: which, not pending
 * @value: what it depends on
 *
 * Context: nobody changes the site meanwhile.
 */
bool arch_inline_site_holds(const struct text_site *site, u64 value)
{
	const u8 *insn = (const u8 *)text_site_addr(site);
	const bool on = site->state & INLINE_SITE_ON;

	if (!(site->state & INLINE_SITE_LOAD))
		return on == !!value;
	if (!on)
		return false;
	return site_log(site->state) == LOG_WIDE ? get_unaligned((u64 *)(insn + 2)) == value :
						   get_unaligned((u32 *)(insn + 3)) == value;
}

/**
 * inline_site_write - a pass of patch.c over an inline site
 * @site: which, pending
 * @value: what it depends on
 * @at: where it can be written
 * @pass: which
 *
 * Context: as the passes have it; what is said there of when the state changes holds.
 */
void inline_site_write(struct text_site *site, const void *value, u8 *at, enum patch_pass pass)
{
	u32 state = site->state;
	u8 insn[INLINE_SITE_MAX];
	unsigned int size;

	switch (pass) {
	case PASS_BREAK:
		WRITE_ONCE(*at, INT3_INSN_OPCODE);
		break;

	case PASS_TAIL:
		state = inline_site_next(state);
		WRITE_ONCE(site->state, state);
		size = inline_site_insn(insn, site, state, value);
		memcpy(at + 1, insn + 1, size - 1);
		break;

	case PASS_HEAD:
		inline_site_insn(insn, site, state, value);
		WRITE_ONCE(*at, insn[0]);
		barrier();	/* as there */
		WRITE_ONCE(site->state, state & ~TEXT_SITE_PENDING);
		break;
	}
}

/* Where pt_regs has the registers that a load may use, by number */
static const u8 reg_at[] = {
	offsetof(struct pt_regs, ax), offsetof(struct pt_regs, cx),
	offsetof(struct pt_regs, dx), offsetof(struct pt_regs, bx),
	offsetof(struct pt_regs, sp), offsetof(struct pt_regs, bp),
	offsetof(struct pt_regs, si), offsetof(struct pt_regs, di),
};

/**
 * inline_site_emulate - do what an inline site's instruction does
 * @regs: of who has met its breakpoint; are as after the instruction
 * @addr: the site's address
 * @state: the site's
 * @value: what it depends on
 *
 * Context: the breakpoint handler.
 */
noinstr void inline_site_emulate(struct pt_regs *regs, unsigned long addr, u32 state,
				 const void *value)
{
	unsigned long *reg;

	if (state & INLINE_SITE_LOAD) {
		/* With a register of 32 bits the upper half is 0 as well. */
		reg = (void *)regs + reg_at[state & INLINE_SITE_REG];
		*reg = inline_value_get(value, site_log(state));
		addr += loads[site_log(state)].size;
	} else {
		addr += TEXT_SITE_SIZE;
		if (state & INLINE_SITE_ON)
			addr += branch_distance(state);
	}
	int3_emulate_jmp(regs, addr);
}
