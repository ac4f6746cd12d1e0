// SPDX-License-Identifier: GPL-2.0
/*
 * The instructions of value sites: see <asm/value_site.h> for what they are, and
 * patch.c for how they are changed.
 *
 * A site's state says which of its two forms it has: as it was compiled, or with the
 * value. That changes in the second pass, like other sites'. What a load moves to its
 * register is not in the state: the breakpoint handler reads the value. That is written
 * before the breakpoint, and changes under the same lock as sites do; so who meets the
 * breakpoint reads the new value. Who does not executes the instruction that was there
 * before, or after.
 */
#define pr_fmt(fmt) "text_site: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <linux/value_site.h>

#include <asm/nops.h>
#include <asm/text-patching.h>

#include "run.h"
#include "text_site.h"

/**
 * struct load - the two forms of a load
 * @size: of the instruction, in bytes
 * @operand: of the value in it, at its end; what refers to memory there has 4
 * @from: offset of the byte that has the number of the register, as it is compiled
 * @to: the same, with the value in it
 * @memory: as it is compiled: what comes before the last 4 bytes, with register 0
 * @immediate: what comes before the value
 */
static const struct load {
	u8	size, operand, from, to;
	u8	memory[6];
	u8	immediate[3];
} loads[] = VALUE_LOADS;	/* by the logarithm of the value's size */

/* In the byte that has the register, as it is compiled */
#define MODRM_REG_SHIFT	3

static __always_inline unsigned int site_log(u32 state)
{
	return FIELD_GET(VALUE_SITE_LOG, state);
}

/* A load in @state of what is at @value; with the value in it, if it has one, that is @bits */
static unsigned int load_insn(u8 *insn, unsigned long addr, u32 state, const void *value,
			      u64 bits)
{
	const unsigned int log = site_log(state), reg = state & VALUE_SITE_REG;
	const struct load *load = &loads[log];

	if (!(state & VALUE_SITE_ON)) {
		memcpy(insn, load->memory, load->size - sizeof(s32));
		insn[load->from] |= reg << MODRM_REG_SHIFT;
		put_unaligned(value_reference((unsigned long)value, addr + load->size),
			      (s32 *)(insn + load->size - sizeof(s32)));
	} else {
		memcpy(insn, load->immediate, load->size - load->operand);
		insn[load->to] |= reg << VALUE_REG_SHIFT;
		insn += load->size - load->operand;
		if (load->operand == sizeof(u64))
			put_unaligned(bits, (u64 *)insn);
		else
			put_unaligned((u32)bits, (u32 *)insn);
	}
	return load->size;
}

/* The value that a load has in it */
static u64 immediate(const struct text_site *site)
{
	const struct load *load = &loads[site_log(site->state)];
	const u8 *operand = (const u8 *)text_site_addr(site) + load->size - load->operand;

	return load->operand == sizeof(u64) ? get_unaligned((u64 *)operand) :
					      get_unaligned((u32 *)operand);
}

/* From behind a branch to its label */
static __always_inline s32 branch_distance(u32 state)
{
	return sign_extend32(state, 27);
}

/*
 * The state that a pending site is to have: a branch is switched over, and a load has its
 * value from its first time on.
 */
static u32 next_state(u32 state)
{
	return state & VALUE_SITE_LOAD ? state | VALUE_SITE_ON : state ^ VALUE_SITE_ON;
}

/* The value that a load has in it is right as it is: what is in it goes. */
static unsigned int make_value(const struct text_site_table *table,
			       const struct text_site *site, bool next, u8 *insn)
{
	const void *value = value_site_value(table, site);
	const u32 state = next ? next_state(site->state) : site->state;

	if (state & VALUE_SITE_LOAD)
		return load_insn(insn, text_site_addr(site), state, value,
				 next ? value_get(value, site_log(state)) : immediate(site));
	if (state & VALUE_SITE_ON) {
		insn[0] = JMP32_INSN_OPCODE;
		put_unaligned(branch_distance(state), (s32 *)(insn + 1));
	} else {
		memcpy(insn, x86_nops[TEXT_SITE_SIZE], TEXT_SITE_SIZE);
	}
	return TEXT_SITE_SIZE;
}

static unsigned int value_size(const struct text_site *site)
{
	const u32 state = READ_ONCE(site->state);

	return state & VALUE_SITE_LOAD ? loads[site_log(state)].size : TEXT_SITE_SIZE;
}

/**
 * arch_value_site_take - take a value site's record into use
 * @table: the table it is in
 * @site: as the compiler has made it. Its state is the reference to a branch's label, 0
 *	for a load; it gets that of a site that is as it was compiled.
 *
 * Return: 0, or -EINVAL with a message: it is not what the compiler makes.
 */
int arch_value_site_take(const struct text_site_table *table, struct text_site *site)
{
	const unsigned int log = value_site_log(table, site);
	const unsigned long addr = text_site_addr(site);
	unsigned long label = addr;
	struct text_range text;
	long distance = 0;

	text_site_text(table, addr, &text);
	if (site->state) {
		label = (unsigned long)&site->state + (s32)site->state;
		distance = label - (addr + TEXT_SITE_SIZE);
		site->state = distance & VALUE_SITE_DISTANCE;
	} else if (loads[log].size && addr + loads[log].size <= text.end) {
		site->state = VALUE_SITE_LOAD | FIELD_PREP(VALUE_SITE_LOG, log) |
			      (((const u8 *)addr)[loads[log].from] >> MODRM_REG_SHIFT &
			       VALUE_SITE_REG);
	} else {
		label = 0;
	}
	if (branch_distance(distance & VALUE_SITE_DISTANCE) != distance ||
	    label < text.start || label >= text.end) {
		pr_err("%pS: no load, and cannot jump to %pS\n", (void *)addr, (void *)label);
		return -EINVAL;
	}
	return arch_text_site_verify(table, site);
}

/**
 * arch_value_site_holds - does a value site's instruction do what its value says?
 * @table: the table it is in
 * @site: which, not pending
 *
 * Context: nobody changes the site meanwhile.
 *
 * Return: whether it is.
 */
bool arch_value_site_holds(const struct text_site_table *table, const struct text_site *site)
{
	const u64 value = value_get(value_site_value(table, site), value_site_log(table, site));
	const bool on = site->state & VALUE_SITE_ON;

	return site->state & VALUE_SITE_LOAD ? on && immediate(site) == value : on == !!value;
}

/**
 * arch_value_site_set_early - have a value site do what its value says
 * @table: the table it is in
 * @site: one that does not hold it, taken into use and verified
 *
 * Context: nobody else can run the text, which is writable: a module's that is not there
 * yet, or at boot with one CPU.
 */
void __ref arch_value_site_set_early(const struct text_site_table *table, struct text_site *site)
{
	u8 insn[TEXT_SITE_MAX];
	unsigned int size = make_value(table, site, true, insn);

	site->state = next_state(site->state);
	text_poke_early((void *)text_site_addr(site), insn, size);
}

static unsigned long value_label(const struct text_site *site)
{
	const u32 state = READ_ONCE(site->state);

	return state & VALUE_SITE_LOAD ? 0 : text_site_addr(site) + TEXT_SITE_SIZE +
					     branch_distance(state);
}

static void value_tail(const struct text_site_table *table, struct text_site *site, u8 *at,
		       void *with)
{
	u8 insn[TEXT_SITE_MAX];
	unsigned int size = make_value(table, site, true, insn);

	WRITE_ONCE(site->state, next_state(site->state));
	memcpy(at + 1, insn + 1, size - 1);
}

static u8 value_head(const struct text_site_table *table, const struct text_site *site,
		     void *with)
{
	u8 insn[TEXT_SITE_MAX];

	make_value(table, site, false, insn);
	return insn[0];
}

static void patch_values(enum text_pass pass)
{
	patch_round(pass, value_size, value_tail, value_head, NULL);
}

static int verify_values(const struct text_site_table *table)
{
	struct text_site *site;
	int nr = 0;

	for_each_pending_site(site, table) {
		if (arch_text_site_verify(table, site))
			return -EINVAL;
		nr++;
	}
	return nr;
}

const struct text_insn text_insn_value = {
	.type		= TEXT_INSN_VALUE,
	.size		= value_size,
	.label		= value_label,
	.verify		= verify_values,
	.patch		= patch_values,
	.make		= make_value,
};

/* Where pt_regs has the registers that a load may use, by number */
static const u8 reg_at[] = {
	offsetof(struct pt_regs, ax), offsetof(struct pt_regs, cx),
	offsetof(struct pt_regs, dx), offsetof(struct pt_regs, bx),
	offsetof(struct pt_regs, sp), offsetof(struct pt_regs, bp),
	offsetof(struct pt_regs, si), offsetof(struct pt_regs, di),
};

noinstr void value_site_emulate(struct pt_regs *regs, unsigned long addr, u32 state,
				const void *value)
{
	unsigned long *reg;

	if (state & VALUE_SITE_LOAD) {
		/* With a register of 32 bits the upper half is 0 as well. */
		reg = (void *)regs + reg_at[state & VALUE_SITE_REG];
		*reg = value_get(value, site_log(state));
		addr += loads[site_log(state)].size;
	} else {
		addr += TEXT_SITE_SIZE;
		if (state & VALUE_SITE_ON)
			addr += branch_distance(state);
	}
	int3_emulate_jmp(regs, addr);
}
