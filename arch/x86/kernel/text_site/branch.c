// SPDX-License-Identifier: GPL-2.0
/*
 * Sites that call a target, or jump to it: their first byte says which, and what
 * follows is where to, relative to the next instruction. Without target they are NOPs.
 */
#define pr_fmt(fmt) "text_site: " fmt

#include <linux/string.h>
#include <linux/text_site.h>
#include <linux/unaligned.h>

#include <asm/sync_core.h>
#include <asm/text-patching.h>

#include "run.h"
#include "text_site.h"

/* What a site at @addr holds when it goes to @target, or nowhere if that is 0 */
static void branch_insn(u8 *insn, const struct text_site_kind *kind, unsigned long addr,
			unsigned long target)
{
	if (target)
		__text_gen_insn(insn, kind->insn->opcode, (void *)addr, (void *)target,
				TEXT_SITE_SIZE);
	else
		memcpy(insn, site_nop->bytes, TEXT_SITE_SIZE);
}

/*
 * Text that nobody patches meanwhile, in the only mapping it has so far.
 *
 * One store for the whole instruction where possible: an NMI that comes in
 * between runs the old or the new one. The three bytes behind it are written
 * back as they were. At the end of a page there may be nothing behind it. 32-bit
 * processors take two stores, as for whatever else text_poke_early() writes.
 */
static __always_inline void convert_site(unsigned long addr, u64 nop)
{
	const u64 mask = GENMASK_ULL(8 * TEXT_SITE_SIZE - 1, 0);

	if (unlikely(offset_in_page(addr) > PAGE_SIZE - sizeof(u64)))
		memcpy((void *)addr, site_nop->bytes, TEXT_SITE_SIZE);
	else
		put_unaligned((get_unaligned((u64 *)addr) & ~mask) | nop, (u64 *)addr);
}

static unsigned long destination(unsigned long addr)
{
	return addr + TEXT_SITE_SIZE + get_unaligned((s32 *)(addr + 1));
}

static bool holds_branch(u8 opcode, unsigned long addr, unsigned long target)
{
	return *(u8 *)addr == opcode && destination(addr) == target;
}

static bool holds_nop(unsigned long addr)
{
	return *(u8 *)addr == site_nop->bytes[0] &&
	       get_unaligned((u32 *)(addr + 1)) == get_unaligned((u32 *)(site_nop->bytes + 1));
}

/**
 * arch_text_site_convert - turn the sites of a table into NOPs
 * @table: initialised, not yet added
 *
 * A site that does not go to its kind's @original is left as it is and dead.
 *
 * Context: the text is writable and nobody runs it, but for the kernel's own
 * at boot, where there is one CPU with interrupts off.
 *
 * Return: how many were left.
 */
unsigned int arch_text_site_convert(struct text_site_table *table)
{
	const unsigned long original = table->kind->original;
	const u8 opcode = table->kind->insn->opcode;
	unsigned int left = 0;
	struct text_site *site;
	u64 nop = 0;

	memcpy(&nop, site_nop->bytes, TEXT_SITE_SIZE);

	for_each_text_site(site, table) {
		unsigned long addr = text_site_addr(site);

		if (likely(holds_branch(opcode, addr, original))) {
			convert_site(addr, nop);
			continue;
		}
		if (!left++)
			pr_warn("%pS: %*ph does not go to %pS, left alone\n", (void *)addr,
				TEXT_SITE_SIZE, (void *)addr, (void *)original);
		site->state |= TEXT_SITE_DEAD;
	}
	sync_core();
	return left;
}

static __always_inline bool holds(const struct text_site_kind *kind,
				  const struct text_site *site)
{
	const unsigned long target = text_target(kind, text_site_target_id(site))->addr;
	const unsigned long addr = text_site_addr(site);

	return target ? holds_branch(kind->insn->opcode, addr, target) : holds_nop(addr);
}

static int verify_branches(const struct text_site_table *table)
{
	struct text_site *site;
	int nr = 0;

	for_each_pending_site(site, table) {
		if (unlikely(!holds(table->kind, site)) && arch_text_site_verify(table, site))
			return -EINVAL;
		nr++;
	}
	return nr;
}

/**
 * arch_text_site_set_early - change a site while nobody else can run it
 * @kind: of which kind
 * @addr: the site's
 * @target: address it is to go to, 0: it is to be a NOP
 *
 * Context: boot, with one CPU and the text writable.
 */
void __ref arch_text_site_set_early(const struct text_site_kind *kind, unsigned long addr,
				    unsigned long target)
{
	u8 insn[TEXT_SITE_SIZE];

	branch_insn(insn, kind, addr, target);
	text_poke_early((void *)addr, insn, sizeof(insn));
}

/**
 * arch_text_site_get - where a site goes, by its text
 * @kind: of which kind
 * @addr: the site's, in no batch
 *
 * Return: an address, 0 if that is not an instruction of this kind.
 */
unsigned long arch_text_site_get(const struct text_site_kind *kind, unsigned long addr)
{
	return *(u8 *)addr == kind->insn->opcode ? destination(addr) : 0;
}

/**
 * struct patch_target - what a site holds: mostly the same as the one before it
 * @id: the target's; ~0 if what the next site gets is to be looked up in any case
 * @next_id: of the target that it is replaced by
 * @next: that target
 * @head: the first byte of a site that holds the one with @id
 */
struct patch_target {
	u32				id, next_id;
	u8				head;
	const struct text_target	*next;
};

static __always_inline void patch_target(struct patch_target *target,
					 const struct text_site_table *table,
					 const struct text_site *site, u32 state)
{
	const struct text_site_kind *kind = table->kind;

	if (likely((state & TEXT_SITE_TARGET) == target->id && !table->own_next))
		return;

	target->id = table->own_next ? ~0 : state & TEXT_SITE_TARGET;
	target->next_id = text_site_next(table, site);
	target->next = text_target(kind, target->next_id);
	target->head = text_target(kind, state & TEXT_SITE_TARGET)->addr ? kind->insn->opcode :
									   site_nop->bytes[0];
}

static __always_inline void branch_tail(const struct text_site_table *table,
					struct text_site *site, u8 *at, void *with)
{
	struct patch_target *target = with;
	const u32 state = site->state;

	patch_target(target, table, site, state);
	WRITE_ONCE(site->state, (state & ~TEXT_SITE_TARGET) | target->next_id |
				target->next->mark);
	if (target->next->addr)
		put_unaligned((s32)(target->next->addr - text_site_addr(site) - TEXT_SITE_SIZE),
			      (s32 *)(at + 1));
	else
		memcpy(at + 1, site_nop->bytes + 1, TEXT_SITE_SIZE - 1);
}

static __always_inline u8 branch_head(const struct text_site_table *table,
				      const struct text_site *site, void *with)
{
	struct patch_target *target = with;

	patch_target(target, table, site, site->state);
	return target->head;
}

static __always_inline unsigned int branch_size(const struct text_site *site)
{
	return TEXT_SITE_SIZE;
}

static void patch_branches(enum text_pass pass)
{
	struct patch_target target = { .id = ~0 };

	patch_round(pass, branch_size, branch_tail, branch_head, &target);
}

static unsigned int make_branch(const struct text_site_table *table,
				const struct text_site *site, bool next, u8 *insn)
{
	const u32 id = next ? text_site_next(table, site) : text_site_target_id(site);

	branch_insn(insn, table->kind, text_site_addr(site), text_target(table->kind, id)->addr);
	return TEXT_SITE_SIZE;
}

#define BRANCH(_type, _opcode) {					\
	.type		= _type,					\
	.opcode		= _opcode,					\
	.verify		= verify_branches,				\
	.patch		= patch_branches,				\
	.make		= make_branch,					\
}

const struct text_insn text_insn_call = BRANCH(TEXT_INSN_CALL, CALL_INSN_OPCODE);
const struct text_insn text_insn_jump = BRANCH(TEXT_INSN_JUMP, JMP32_INSN_OPCODE);
