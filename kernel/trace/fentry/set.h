/* SPDX-License-Identifier: GPL-2.0 */
/* Ops sets: the combinations of ops that sites have */
#ifndef _FENTRY_SET_H
#define _FENTRY_SET_H

#include <linux/text_site.h>

#include <asm/fentry.h>

#include "ops.h"

/* The name of trampolines in kallsyms and for perf */
#define FENTRY_TRAMPOLINE_SYM	"ftrace_trampoline"

/* Flags that a site keeps once it has held a set with them (TEXT_SITE_OWNER) */
#define FENTRY_TOUCHED	BIT(16)		/* some ops was attached */
#define FENTRY_MODIFIED	BIT(17)		/* one that may change where it returns */

/**
 * struct ops_set - a combination of ops that some site has, or had
 * @id: its target id
 * @nr_sites: how many sites hold it
 * @flags: the FTRACE_OPS_FL_* of all its ops together; FTRACE_OPS_FL_NO_REGS if it is of
 *	each that a trampoline calls
 * @direct: what sites call directly for one of its ops, 0: there is no such ops
 * @off: its sites are NOPs, whatever ops it has: kernel.ftrace_enabled is 0, or their
 *	module is not ready yet
 * @shared: it stands for any combination
 * @kept: never to be freed: text that calls @tramp could not be switched off before it went
 * @tramp: what calls the others; not there if @tramp.nr is 0
 * @hash: all sets in use, by their ops
 * @rcu: for freeing, when no site holds it any more
 * @seq: the change that apply.c has met the set in; the following are about that one
 * @has: does it contain the changed ops, as the site at hand wants it?
 * @to: the set that its sites go to, NULL: not known
 * @same_text: they hold the same text then
 * @split: sites may be pending that go to another one
 * @delta: how many sites more it will have than it had
 * @met: all sets that were met
 * @nr: number of ops
 * @ops: the ops, the latest registered first; the calls of @tramp are stored behind them
 */
struct ops_set {
	u32			id;
	unsigned int		nr_sites;
	unsigned long		flags;
	unsigned long		direct;
	bool			off;
	bool			shared;
	bool			kept;
	struct fentry_trampoline	tramp;
	struct hlist_node	hash;
	struct rcu_head		rcu;

	unsigned long		seq;
	bool			has;
	bool			same_text;
	bool			split;
	struct ops_set		*to;
	int			delta;
	struct list_head	met;

	unsigned int		nr;
	struct ftrace_ops	*ops[] __counted_by(nr);
};

extern struct text_site_kind fentry_sites;

#define for_each_fentry_table(table)	for_each_text_site_table_of(&fentry_sites, table)

/* The set of sites that no ops wants: on, and off */
extern struct ops_set fentry_no_ops, fentry_no_ops_off;

/* With so many sets, new combinations share a trampoline. Less only in tests. */
extern unsigned int fentry_sets_max;

struct ops_set *fentry_set_get(struct ftrace_ops *const *ops, unsigned int nr,
			       unsigned long direct, bool off);
struct ops_set *fentry_set_shared(bool off);
struct ops_set *fentry_set_twin(struct ops_set *set);
struct ftrace_ops *fentry_set_called(const struct ops_set *set, unsigned int i);
void fentry_set_put_unused(struct ops_set *set);
void fentry_sets_retarget(struct ftrace_ops *ops);
void fentry_sets_silence(struct ftrace_ops *ops);
bool fentry_sets_shared(void);
void fentry_sets_sync(void);
unsigned long fentry_trampoline_nth(unsigned int n);

static inline bool fentry_set_has(const struct ops_set *set, const struct ftrace_ops *ops)
{
	return fentry_ops_among(set->ops, set->nr, ops);
}

static inline struct ops_set *fentry_site_set(const struct text_site *site)
{
	return text_target(&fentry_sites, text_site_target_id(site))->owner;
}

#endif /* _FENTRY_SET_H */
