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
#include <linux/memory.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <linux/value_site.h>

#include <asm/nops.h>
#include <asm/text-patching.h>

#include "run.h"
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
	return FIELD_GET(VALUE_SITE_LOG, state);
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
		put_unaligned(value_get(value, log), (u64 *)(insn + 2));
	} else {
		memcpy(insn, load->immediate, 2);
		insn[2] = MODRM_REG | reg;
		put_unaligned((u32)value_get(value, log), (u32 *)(insn + 3));
	}
}

/* From behind a branch to its label */
static __always_inline s32 branch_distance(u32 state)
{
	return sign_extend32(state, 27);
}

/* The instruction of a site that is in @state. Return: its size */
static unsigned int value_insn(u8 *insn, const struct text_site *site, u32 state,
			       const void *value)
{
	if (state & VALUE_SITE_LOAD) {
		load_insn(insn, text_site_addr(site), site_log(state), state & VALUE_SITE_REG,
			  state & VALUE_SITE_ON, value);
		return loads[site_log(state)].size;
	}
	if (state & VALUE_SITE_ON) {
		insn[0] = JMP32_INSN_OPCODE;
		put_unaligned(branch_distance(state), (s32 *)(insn + 1));
	} else {
		memcpy(insn, x86_nops[TEXT_SITE_SIZE], TEXT_SITE_SIZE);
	}
	return TEXT_SITE_SIZE;
}

/*
 * The state that a pending site is to have: a branch is switched over, and a load has its
 * value from its first time on.
 */
static u32 next_state(u32 state)
{
	return state & VALUE_SITE_LOAD ? state | VALUE_SITE_ON : state ^ VALUE_SITE_ON;
}

static unsigned int value_size(const struct text_site *site)
{
	const u32 state = READ_ONCE(site->state);

	return state & VALUE_SITE_LOAD ? loads[site_log(state)].size : TEXT_SITE_SIZE;
}

/**
 * arch_value_site_take - take a value site's record into use
 * @site: as the compiler has made it. Its state is the reference to a branch's label, 0
 *	for a load; it gets that of a site that is as it was compiled.
 * @value: what it depends on
 * @log: the logarithm of the value's size in bytes, to the base 2
 * @text: what text the site begins in
 *
 * Return: 0, or -EINVAL with a message: it is not what the compiler makes.
 */
int arch_value_site_take(struct text_site *site, const void *value, unsigned int log,
			 const struct text_range *text)
{
	const unsigned long addr = text_site_addr(site);
	unsigned long label = addr;
	long distance = 0;

	if (site->state) {
		label = (unsigned long)&site->state + (s32)site->state;
		distance = label - (addr + TEXT_SITE_SIZE);
		site->state = distance & VALUE_SITE_DISTANCE;
	} else if (addr + loads[log].size <= text->end) {
		site->state = VALUE_SITE_LOAD | FIELD_PREP(VALUE_SITE_LOG, log) |
			      (((const u8 *)addr)[loads[log].prefix] >> 3 & VALUE_SITE_REG);
	} else {
		label = 0;
	}
	if (branch_distance(distance & VALUE_SITE_DISTANCE) != distance ||
	    label < text->start || label >= text->end) {
		pr_err("%pS: no load, and cannot jump to %pS\n", (void *)addr, (void *)label);
		return -EINVAL;
	}
	return arch_value_site_verify(site, value);
}

/* Of the value that an immediate load has in it, any will do: what is in it goes. */
static bool verified(const struct text_site *site, const u8 *insn, unsigned int size)
{
	const u32 state = site->state;

	if (state & VALUE_SITE_LOAD && state & VALUE_SITE_ON)
		size -= site_log(state) == LOG_WIDE ? sizeof(u64) : sizeof(u32);
	return !memcmp((const u8 *)text_site_addr(site), insn, size);
}

/**
 * arch_value_site_verify - is a value site's text what its state says?
 * @site: which
 * @value: what it depends on
 *
 * Context: under text_mutex, or where nobody changes the text.
 *
 * Return: 0, or -EINVAL with a message.
 */
int arch_value_site_verify(const struct text_site *site, const void *value)
{
	u8 insn[TEXT_SITE_MAX];
	unsigned int size = value_insn(insn, site, site->state, value);

	return verified(site, insn, size) ? 0 : site_not_verified(site, insn, size);
}

/**
 * arch_value_site_holds - does a value site's instruction do what its value says?
 * @site: which, not pending
 * @value: what it depends on
 *
 * Context: nobody changes the site meanwhile.
 */
bool arch_value_site_holds(const struct text_site *site, u64 value)
{
	const u8 *insn = (const u8 *)text_site_addr(site);
	const bool on = site->state & VALUE_SITE_ON;

	if (!(site->state & VALUE_SITE_LOAD))
		return on == !!value;
	if (!on)
		return false;
	return site_log(site->state) == LOG_WIDE ? get_unaligned((u64 *)(insn + 2)) == value :
						   get_unaligned((u32 *)(insn + 3)) == value;
}

/**
 * arch_value_site_set_early - have a value site do what its value says
 * @site: one that does not hold it, taken into use and verified
 * @value: what it depends on
 *
 * Context: nobody else can run the text, which is writable: a module's that is not there
 * yet, or at boot with one CPU.
 */
void __ref arch_value_site_set_early(struct text_site *site, const void *value)
{
	u8 insn[TEXT_SITE_MAX];

	site->state = next_state(site->state);
	text_poke_early((void *)text_site_addr(site), insn,
			value_insn(insn, site, site->state, value));
}

/* A pass over a site; patch.c says when the state changes, branch.c what barrier() is for. */
static void write_value(struct text_site *site, const void *value, u8 *at, enum text_pass pass)
{
	u32 state = site->state;
	u8 insn[TEXT_SITE_MAX];
	unsigned int size;

	switch (pass) {
	case TEXT_PASS_BREAK:
		WRITE_ONCE(*at, INT3_INSN_OPCODE);
		break;

	case TEXT_PASS_TAIL:
		state = next_state(state);
		WRITE_ONCE(site->state, state);
		size = value_insn(insn, site, state, value);
		memcpy(at + 1, insn + 1, size - 1);
		break;

	case TEXT_PASS_HEAD:
		value_insn(insn, site, state, value);
		WRITE_ONCE(*at, insn[0]);
		barrier();
		WRITE_ONCE(site->state, state & ~TEXT_SITE_PENDING);
		break;
	}
}

static void write_values(const struct text_site_table *table, enum text_pass pass)
{
	unsigned int i;

	for (i = 0; i < patch_run.nr; i++) {
		struct text_site *site = patch_run.todo[i].site;

		write_value(site, value_site_value(table, site), patch_run.todo[i].at, pass);
	}
}

static void patch_values(struct text_site_table *table, enum text_pass pass)
{
	run_table(table, pass, value_size, write_values);
}

static int verify_values(const struct text_site_table *table)
{
	struct text_site *site;
	int ret = 0;

	for_each_pending_site(site, table)
		ret = ret ?: arch_value_site_verify(site, value_site_value(table, site));
	return ret;
}

static unsigned int describe_value(const struct text_site_table *table,
				   const struct text_site *site, u8 *old, u8 *new)
{
	const void *value = value_site_value(table, site);
	unsigned int size = value_insn(old, site, site->state, value);

	/* Only the text knows the value that it has in it. */
	memcpy(old + 1, (void *)(text_site_addr(site) + 1), size - 1);
	return value_insn(new, site, next_state(site->state), value);
}

const struct text_insn text_insn_value = {
	.type		= TEXT_INSN_VALUE,
	.size		= value_size,
	.verify		= verify_values,
	.patch		= patch_values,
	.describe	= describe_value,
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
