/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text sites: places in kernel text whose one instruction is changed while
 * other CPUs run it. See Documentation/trace/text-sites.rst.
 */
#ifndef _LINUX_TEXT_SITE_H
#define _LINUX_TEXT_SITE_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/rbtree_latch.h>
#include <linux/text_section.h>
#include <linux/types.h>

struct module;
struct mutex;
struct text_site_table;

/* Sections of modules: kernel/text_site/section.c */
bool text_site_in_memory(const struct module *mod, unsigned int type, const void *start,
			 unsigned int size);
bool text_site_in_data(const struct module *mod, const void *start, unsigned int size);
int text_section_check(const struct module *mod, enum text_section_id id, unsigned int record,
		       unsigned int align);

#ifdef CONFIG_MODULES
bool text_sites_may_call_module(const void *func);
#else
static inline bool text_sites_may_call_module(const void *func) { return false; }
#endif

#ifdef CONFIG_TEXT_SITES

#include <asm/text_site.h>

/**
 * struct text_site - one patchable instruction
 * @offset: from this field to the instruction, in bytes
 * @state: TEXT_SITE_* below: which target the site holds, and flags
 *
 * Build scripts and the compiler emit these records; the running kernel uses them in
 * place. @offset is relative so that moving the kernel needs no relocation here.
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
 * @next: id of the target that a pending site holding this one is to get, unless
 *	text_site_set_next() has said so of the site
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
#define TEXT_TARGET_MAX		(TEXT_TARGET_PAGE * TEXT_TARGET_PAGES - 1)
#define TEXT_TARGET_NONE	TEXT_TARGET_MAX		/* no target has this id */

/**
 * struct text_area - the sites of a table that are in one piece of text
 * @start: address of the first site
 * @indexed: how many bytes of text from @start on have an index: none, or those up to the
 *	last site's first one
 * @index: how many sites of the area are before each granule of that text; if @indexed is 0,
 *	one that is not asked
 * @sites: the first one's record, the others follow
 * @nr: how many; 0: there is no such area
 * @known: it is in the tree
 * @last: address of the last site
 * @kind: the kind of the table
 * @table: the table
 * @node: in the tree of the kind's areas
 */
struct text_area {
	unsigned long		start;
	unsigned long		indexed;
	u32			*index;
	struct text_site	*sites;
	unsigned int		nr;
	bool			known;
	unsigned long		last;
	struct text_site_kind	*kind;
	struct text_site_table	*table;
	struct latch_tree_node	node;
};

/**
 * struct text_site_table - the sites of one kind in the kernel or in a module
 * @areas: the sites in the text that stays, and in that for initialisation
 * @sites: the records, in the order of the addresses they refer to
 * @refs: for each of them a reference to what it depends on, relative to its own
 *	place; NULL: sites of this kind depend on nothing
 * @nr: how many
 * @kind: what they are
 * @mod: the module they are in, NULL for the kernel
 * @start: address of the first site
 * @end: first address after the last site
 * @first: no site before this one is pending; while sites are patched: nor of this round
 * @last: no site from this one on is pending; or of this round
 * @marked: while sites are patched: no site from this one on is pending
 * @nr_pending: while sites are patched: how many are in later rounds
 * @own_next: for each site the id of the target that it is to get, TEXT_TARGET_NONE: its
 *	target says that; NULL: all targets do. Only while a batch is prepared and patched
 * @known: it is among the tables of its kind
 * @ready: for the kind's owner: sites may be switched
 * @next: the next table of its kind
 */
struct text_site_table {
	struct text_area	areas[2];
	struct text_site	*sites;
	s32			*refs;
	unsigned int		nr;
	struct text_site_kind	*kind;
	struct module		*mod;
	unsigned long		start, end;
	unsigned int		first, last, marked;
	unsigned int		nr_pending;
	u16			*own_next;
	bool			known;
	bool			ready;
	struct text_site_table	*next;
};

/* The passes over a batch, see arch/.../kernel/text_site/patch.c */
enum text_pass { TEXT_PASS_BREAK, TEXT_PASS_TAIL, TEXT_PASS_HEAD };

/**
 * struct text_insn - what the architecture does with an instruction
 * @type: what the instruction does, for the breakpoint handler
 * @opcode: its first byte, if it has a target
 * @size: how many bytes belong to a site; NULL: TEXT_SITE_SIZE
 * @label: where a site's branch jumps when it is on; 0: it is no branch. NULL: no site is
 * @verify: is the text of every pending site of a table what the state says? Return: how
 *	many are pending, or -EINVAL with a message
 * @patch: one pass over the pending sites of a round, which arch_text_site_pass() begins
 * @make: what a site is to hold by its state; or @next, if it is pending. TEXT_SITE_MAX
 *	bytes at most. Return: how many
 */
struct text_insn {
	enum { TEXT_INSN_CALL, TEXT_INSN_JUMP, TEXT_INSN_VALUE } type;
	u8			opcode;
	unsigned int		(*size)(const struct text_site *site);
	unsigned long		(*label)(const struct text_site *site);
	int			(*verify)(const struct text_site_table *table);
	void			(*patch)(enum text_pass pass);
	unsigned int		(*make)(const struct text_site_table *table,
					const struct text_site *site, bool next, u8 *insn);
};

/* Calls a target or jumps to it; moves a value to a register or jumps if it is not 0 */
extern const struct text_insn text_insn_call, text_insn_jump, text_insn_value;

/**
 * struct text_site_kind - sites that share an instruction, an owner, and a space of
 * target ids
 * @pages: the targets, in pages that are never freed, so that the breakpoint
 *	handler can follow an id at any moment without a lock. Target 0 is the NOP,
 *	of kinds that have NOPs.
 * @insn: what its sites hold, unless it is a NOP
 * @map: by pages of text, leads to areas that have an index, see kernel/text_site/find.c
 * @kernel: the kernel's own table
 * @name: for messages
 * @section: where modules have the records
 * @refs: and what these depend on; 0: on nothing
 * @original: where sites go as they were compiled, for arch_text_site_convert()
 * @reserved: nobody else may change the text of a site
 * @missed: a commit of one value has given up a site of another one, and no commit of all
 *	values has reported that yet; under @lock
 * @lock: the owner's: its tables, and the states of their sites, change under it
 * @take: all records of a table, whose addresses have been checked: may they be ones of
 *	this kind? Puts into their states what the owner has there, and touches no text.
 *	Return: 0, or an error with a message. NULL: there is nothing to be done
 * @coming: a table has been found right, its text is writable and nobody runs it; under
 *	@lock. Return: 0, or an error with a message and everything as before
 * @enable: a module's text has its final protection, nobody runs it yet. Return: 0, or
 *	an error with a message. NULL: nothing to be done
 * @going: a module goes, or does not come. Functions of its parameters may still run, and
 *	work that it has begun. The table may be NULL: there is none, or @coming was not
 *	called or has failed. NULL: nothing to be done but to forget the table
 * @free_text: text goes that is not needed after initialisation, @end is behind it. NULL:
 *	only make its sites dead
 * @tables: all known ones
 * @areas: those of all known tables, by address; changes under @lock
 * @next: the next kind
 */
struct text_site_kind {
	struct text_target	*pages[TEXT_TARGET_PAGES];
	const struct text_insn	*insn;
	struct text_area	**map[TEXT_MAP_SIZE];
	struct text_site_table	kernel;
	const char		*name;
	enum text_section_id	section, refs;
	unsigned long		original;
	bool			reserved;
	bool			missed;
	struct mutex		*lock;
	int	(*take)(struct text_site_table *table);
	int	(*coming)(struct text_site_table *table);
	int	(*enable)(struct module *mod, struct text_site_table *table);
	void	(*going)(struct module *mod, struct text_site_table *table);
	void	(*free_text)(struct text_site_table *table, unsigned long start,
			     unsigned long end);
	struct text_site_table	*tables;
	struct latch_tree_root	areas;
	struct text_site_kind	*next;
};

extern struct text_site_kind *text_site_kinds;

/* For RCU readers; or under the lock of the kind's owner */
#define for_each_text_site_table_of(kind, table)			\
	for (table = READ_ONCE((kind)->tables); table; table = READ_ONCE(table->next))

#define for_each_text_site_kind(kind)					\
	for (kind = READ_ONCE(text_site_kinds); kind; kind = READ_ONCE(kind->next))

#define for_each_text_site(site, table)					\
	for (struct text_site *__end = (site = (table)->sites) + (table)->nr; \
	     site < __end; site++)

static __always_inline unsigned long text_site_addr(const struct text_site *site)
{
	return (unsigned long)&site->offset + site->offset;
}

static inline unsigned int text_site_size(const struct text_site_kind *kind,
					  const struct text_site *site)
{
	return kind->insn->size ? kind->insn->size(site) : TEXT_SITE_SIZE;
}

static __always_inline struct text_target *
text_target(const struct text_site_kind *kind, u32 id)
{
	return &kind->pages[id / TEXT_TARGET_PAGE][id % TEXT_TARGET_PAGE];
}

static __always_inline u32 text_site_target_id(const struct text_site *site)
{
	return READ_ONCE(site->state) & TEXT_SITE_TARGET;
}

/* The id of the target that a pending site is to get */
static __always_inline u32 text_site_next(const struct text_site_table *table,
					  const struct text_site *site)
{
	const u32 own = table->own_next ? table->own_next[site - table->sites] : TEXT_TARGET_NONE;

	return own != TEXT_TARGET_NONE ? own :
					 text_target(table->kind, text_site_target_id(site))->next;
}

/* Targets: kernel/text_site/target.c */
int text_target_reserve(struct text_site_kind *kind, u32 id);

/* Kinds: kernel/text_site/kind.c */
int text_site_kind_init(struct text_site_kind *kind, struct text_site *start,
			struct text_site *stop, s32 *refs);
bool text_site_in_used(const struct module *mod, unsigned int type, const void *start,
		       unsigned int size);

/* Tables: kernel/text_site/table.c */

/* Some text, up to before @end */
struct text_range {
	unsigned long start, end;
};

bool text_site_text(const struct text_site_table *table, unsigned long addr,
		    struct text_range *range);
int text_site_table_init(struct text_site_table *table);
void text_site_table_add(struct text_site_table *table);
void text_site_table_remove(struct text_site_table *table);
void text_site_table_kill(struct text_site_table *table, unsigned long start,
			  unsigned long end);
bool text_site_table_overlaps(const struct text_site_table *table, unsigned long start,
			      unsigned long end, const char *why);

/* Lookup: kernel/text_site/find.c */
void text_areas_add(struct text_site_table *table);
void text_areas_index(struct text_site_table *table);
void text_areas_forget(struct text_site_table *table, unsigned long start, unsigned long end);
void text_areas_free(struct text_site_table *table);
struct text_site *text_site_find(const struct text_site_kind *kind, unsigned long start,
				 unsigned long end, struct text_site_table **in);

/* Batches: kernel/text_site/batch.c */

/**
 * text_site_mark - put a site into the batch being prepared
 * @table: the table it is in, which must be known
 * @site: a live site, not yet marked
 *
 * Context: under the lock of the kind's owner.
 */
static __always_inline void text_site_mark(struct text_site_table *table,
					   struct text_site *site)
{
	unsigned int i = site - table->sites;

	/* Read by the breakpoint handler, as are all states of sites that are known */
	WRITE_ONCE(site->state, site->state | TEXT_SITE_PENDING);
	if (i < table->first)
		table->first = i;
	if (i >= table->last)
		table->last = i + 1;
}

/* Have sites of a table been marked since the last commit? */
static inline bool text_site_pending(const struct text_site_table *table)
{
	return table->first < table->last;
}

int text_site_set_next(struct text_site_table *table, const struct text_site *site, u32 id);
int text_site_commit(struct text_site_kind *kind);
void text_site_abort(struct text_site_kind *kind);

/* Provided by the architecture: arch/.../kernel/text_site/ */
void arch_text_site_init(void);
unsigned int arch_text_site_convert(struct text_site_table *table);
void arch_text_site_set_early(const struct text_site_kind *kind, unsigned long addr,
			      unsigned long target);
unsigned long arch_text_site_get(const struct text_site_kind *kind, unsigned long addr);
int arch_text_site_verify(const struct text_site_table *table, const struct text_site *site);
void arch_text_site_pass(struct text_site_kind *kind, enum text_pass pass, bool atomic);
void arch_text_site_sync(void);
const char *arch_text_site_nop_name(void);

#endif /* CONFIG_TEXT_SITES */

#endif /* _LINUX_TEXT_SITE_H */
