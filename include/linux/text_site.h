/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text sites: places in kernel text whose one instruction is changed while
 * other CPUs run it. See Documentation/trace/text-sites.rst.
 */
#ifndef _LINUX_TEXT_SITE_H
#define _LINUX_TEXT_SITE_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/inline_site.h>
#include <linux/types.h>

#include <asm/text_site.h>

struct module;
struct pt_regs;

/**
 * struct text_site - one patchable instruction
 * @offset: from this field to the instruction, in bytes
 * @state: TEXT_SITE_* below: which target the site holds, and flags
 *
 * Build scripts emit these records; the running kernel uses them in place.
 * @offset is relative so that moving the kernel needs no relocation here.
 */
struct text_site {
	s32	offset;
	u32	state;
};

#define TEXT_SITE_TARGET	GENMASK(15, 0)	/* id of what the site holds */
#define TEXT_SITE_OWNER		GENMASK(29, 16)	/* flags of the kind's owner */
#define TEXT_SITE_PENDING	BIT(30)		/* in the batch being prepared */
#define TEXT_SITE_DEAD		BIT(31)		/* never touch this text */

/**
 * struct text_target - something that sites of a kind can hold
 * @addr: address that a site holding this target calls or jumps to; 0: none, it
 *	is a NOP
 * @owner: what it is to the owner of the kind
 * @next: id of the target that a pending site holding this one is to get
 * @mark: TEXT_SITE_OWNER flags that a site gets with this target, for good
 */
struct text_target {
	unsigned long	addr;
	void		*owner;
	u32		next;
	u32		mark;
};

#define TEXT_TARGET_PAGE	256
#define TEXT_TARGET_PAGES	256
#define TEXT_TARGET_MAX		(TEXT_TARGET_PAGE * TEXT_TARGET_PAGES)

/**
 * enum text_insn - what the instruction of a site does with its target
 * @TEXT_INSN_CALL: calls it
 * @TEXT_INSN_JMP: jumps to it
 * @TEXT_INSN_INLINE: jumps to a place of the site's own, or moves a value to a register,
 *	see <asm/inline_site.h>. There are no targets: the site's state says what it
 *	holds, and a value in memory what it is to hold.
 */
enum text_insn { TEXT_INSN_CALL, TEXT_INSN_JMP, TEXT_INSN_INLINE };

/* The states of inline sites have these in the place of target and owner. */
#define INLINE_SITE_DISTANCE	GENMASK(27, 0)	/* a branch: from behind it to its label, signed */
#define INLINE_SITE_REG		GENMASK(2, 0)	/* a load: number of the register */
#define INLINE_SITE_LOG		GENMASK(4, 3)	/* a load: the value has 1 << this bytes */
#define INLINE_SITE_LOAD	BIT(28)		/* it is a load */
#define INLINE_SITE_ON		BIT(29)		/* it jumps, or has the value in it */

struct text_site_table;

/**
 * struct text_site_kind - sites that share one space of target ids
 * @name: for messages
 * @insn: what its sites hold, unless it is the NOP
 * @original: where they go as they were compiled, until arch_text_site_convert()
 * @take: takes the record with this number into use, of a table that has been checked
 *	and not yet sorted; NULL: nothing is to be done
 * @tables: where its sites are
 * @pages: the targets, in pages that are never freed, so that the breakpoint
 *	handler can follow an id at any moment without a lock. Target 0 exists
 *	always and is the NOP.
 */
struct text_site_kind {
	const char		*name;
	enum text_insn		insn;
	unsigned long		original;
	int			(*take)(struct text_site_table *table, unsigned int i);
	struct text_site_table	*tables;
	struct text_target	*pages[TEXT_TARGET_PAGES];
};

/**
 * struct text_site_table - the sites of one kind in the kernel or in a module
 * @sites: the records, in the order of the addresses they refer to
 * @values: for each of them a reference to what it depends on, relative to its own
 *	place, and INLINE_VALUE_*; NULL: sites of this kind have none
 * @nr: how many
 * @kind: what they are
 * @mod: the module they are in, NULL for the kernel
 * @start: address of the first site
 * @end: first address after the last site
 * @first: no site before this one is pending
 * @last: no site from this one on is pending
 * @nr_pending: sites marked since the last commit
 * @ready: the text has its final protection, sites may be switched
 * @next: the list of all tables
 * @next_of_kind: the list of those of its kind
 */
struct text_site_table {
	struct text_site	*sites;
	s32			*values;
	unsigned int		nr;
	struct text_site_kind	*kind;
	struct module		*mod;
	unsigned long		start, end;
	unsigned int		first, last;
	unsigned int		nr_pending;
	bool			ready;
	struct text_site_table	*next;
	struct text_site_table	*next_of_kind;
};

extern struct text_site_table *text_site_tables;

/* The kernel's inline sites, and the values they depend on */
extern struct text_site __start___inline_sites[], __stop___inline_sites[];
extern s32 __start___inline_values[], __stop___inline_values[];

/* For RCU readers, and under the lock of the kind's owner */
#define for_each_text_site_table_of(kind, table)			\
	for (table = READ_ONCE((kind)->tables); table;			\
	     table = READ_ONCE(table->next_of_kind))

#define for_each_text_site(site, table)					\
	for (struct text_site *__end = (site = (table)->sites) + (table)->nr; \
	     site < __end; site++)

static __always_inline unsigned long text_site_addr(const struct text_site *site)
{
	return (unsigned long)&site->offset + site->offset;
}

static __always_inline struct text_target *
text_target(const struct text_site_kind *kind, u32 id)
{
	return &kind->pages[id / TEXT_TARGET_PAGE][id % TEXT_TARGET_PAGE];
}

/* What an inline site depends on: @ref is its reference among a table's values. */
static __always_inline void *inline_value_of(const s32 *ref)
{
	return (void *)(((unsigned long)ref + *ref) & ~(unsigned long)INLINE_VALUE_FLAGS);
}

static __always_inline void *inline_site_value(const struct text_site_table *table,
					       const struct text_site *site)
{
	return inline_value_of(&table->values[site - table->sites]);
}

/* A value of 1 << @log bytes */
static __always_inline u64 inline_value_get(const void *value, unsigned int log)
{
	switch (log) {
	case 0:
		return READ_ONCE(*(const u8 *)value);
	case 1:
		return READ_ONCE(*(const u16 *)value);
	case 2:
		return READ_ONCE(*(const u32 *)value);
	default:
		return READ_ONCE(*(const u64 *)value);
	}
}

static __always_inline u32 text_site_target_id(const struct text_site *site)
{
	return READ_ONCE(site->state) & TEXT_SITE_TARGET;
}

/* Targets: kernel/text_site/target.c */
int text_target_reserve(struct text_site_kind *kind, u32 id);

/* Tables: kernel/text_site/table.c */
int text_site_table_init(struct text_site_table *table, struct text_site *sites,
			 unsigned int nr);
void text_site_table_add(struct text_site_table *table);
void text_site_table_remove(struct text_site_table *table);
struct text_site_table *text_site_table_of_module(const struct text_site_kind *kind,
						  const struct module *mod);
struct text_site *text_site_find(const struct text_site_kind *kind, unsigned long start,
				 unsigned long end, struct text_site_table **in);

/* Batches: kernel/text_site/batch.c */

/**
 * text_site_mark - put a site into the batch being prepared
 * @table: the table it is in, which must be ready
 * @site: a live site, not yet marked
 *
 * Context: under the lock of the kind's owner.
 */
static __always_inline void text_site_mark(struct text_site_table *table,
					   struct text_site *site)
{
	unsigned int i = site - table->sites;

	site->state |= TEXT_SITE_PENDING;
	if (i < table->first)
		table->first = i;
	if (i >= table->last)
		table->last = i + 1;
	table->nr_pending++;
}

int text_site_commit(struct text_site_kind *kind);
void text_site_abort(struct text_site_kind *kind);

/**
 * struct text_site_report - what became of a table's sites at their conversion
 * @converted: sites that are NOPs now
 * @left: sites that did not hold what was to be there, and are dead
 */
struct text_site_report {
	unsigned int	converted;
	unsigned int	left;
};

/* Provided by the architecture: arch/.../kernel/text_site/ */
void arch_text_site_init(void);
struct text_site_report arch_text_site_convert(struct text_site_table *table);
int arch_text_site_verify(const struct text_site_kind *kind, const struct text_site *site,
			  unsigned long target);
int arch_inline_site_init(struct text_site *site, const void *value, unsigned int log);
int arch_inline_site_verify(const struct text_site *site, const void *value);
bool arch_inline_site_holds(const struct text_site *site, u64 value);
unsigned int arch_inline_site_size(const struct text_site *site);
void arch_text_site_set_early(const struct text_site_kind *kind, unsigned long addr,
			      unsigned long target);
unsigned long arch_text_site_get(const struct text_site_kind *kind, unsigned long addr);
void arch_text_site_patch(struct text_site_kind *kind);
void arch_text_site_sync(void);
const char *arch_text_site_nop_name(void);
bool text_site_int3(struct pt_regs *regs);

#endif /* _LINUX_TEXT_SITE_H */
