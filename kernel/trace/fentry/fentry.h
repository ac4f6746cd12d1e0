/* SPDX-License-Identifier: GPL-2.0 */
/* Between the files of the function tracing engine */
#ifndef _FENTRY_H
#define _FENTRY_H

#undef pr_fmt
#define pr_fmt(fmt) "fentry: " fmt

#include <linux/ftrace.h>
#include <linux/text_site.h>

#include <asm/fentry.h>

#include "../trace.h"
#include "../ftrace_internal.h"

/* How trampolines are called in kallsyms and by perf */
#define FENTRY_TRAMPOLINE_SYM	"ftrace_trampoline"

/* What a site keeps once it has had a target with it (TEXT_SITE_OWNER) */
#define FENTRY_TOUCHED	BIT(16)		/* some ops was attached */
#define FENTRY_MODIFIED	BIT(17)		/* one that may change where it returns */

/* What only one ops at a site can do: tell where it goes on, or what it calls */
#define FENTRY_EXCLUSIVE	(FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT)

struct fentry_filter;

extern struct text_site_kind fentry_sites;

#define for_each_fentry_table(table)	for_each_text_site_table_of(&fentry_sites, table)

/* Something is wrong for good: nothing is switched any more. */
extern bool fentry_dead;

/* Sites are as the ops want them; else kernel.ftrace_enabled has them all off. */
extern bool fentry_sites_enabled;

/**
 * struct fentry_scope - which sites an ops is to be attached to
 * @filter: only these; all if it is empty
 * @exclude: but not these
 */
struct fentry_scope {
	struct ftrace_hash	*filter;
	struct ftrace_hash	*exclude;
};

/**
 * struct ops_set - a combination of ops that some site has, or had
 * @id: its target id
 * @nr_sites: how many sites hold it
 * @flags: the FTRACE_OPS_FL_* of all its ops together
 * @direct: what sites call directly for one of its ops, 0: there is no such ops
 * @tramp: what calls the others; not there if @tramp.nr is 0
 * @hash: all sets in use, by their ops
 * @retired: sets that no site holds any more
 * @rcu: for freeing
 * @seq: the switch that the following are about
 * @has: does it contain the ops that is being switched?
 * @to: the set with that ops added or taken away
 * @moving: how many sites go from this set to @to
 * @switching: the sets with a @to
 * @nr: number of ops
 * @ops: the ops, the latest registered first
 */
struct ops_set {
	u32			id;
	unsigned int		nr_sites;
	unsigned long		flags;
	unsigned long		direct;
	struct fentry_trampoline	tramp;
	struct hlist_node	hash;
	struct list_head	retired;
	struct rcu_head		rcu;

	unsigned long		seq;
	bool			has;
	struct ops_set		*to;
	unsigned int		moving;
	struct list_head	switching;

	unsigned int		nr;
	struct ftrace_ops	*ops[] __counted_by(nr);
};

/* set.c */
extern struct ops_set *const fentry_no_ops;

struct ops_set *fentry_set_add(struct ops_set *set, struct ftrace_ops *ops);
struct ops_set *fentry_set_del(struct ops_set *set, struct ftrace_ops *ops);
bool fentry_set_has(const struct ops_set *set, const struct ftrace_ops *ops);
void fentry_set_put_unused(struct ops_set *set);
void fentry_sets_retarget(struct ftrace_ops *ops);
void fentry_sets_remove(struct ftrace_ops *ops);
void fentry_sets_sync(void);
struct ops_set *fentry_set_nth(unsigned int n);

static inline struct ops_set *fentry_site_set(const struct text_site *site)
{
	return text_target(&fentry_sites, text_site_target_id(site))->owner;
}

/* switch.c */
int fentry_switch(struct ftrace_ops *ops, bool sharers, const struct fentry_scope *old,
		  const struct fentry_scope *new);
int fentry_switch_table(struct text_site_table *table, struct ftrace_ops *ops,
			const struct fentry_scope *new);
int fentry_switch_all_off(void);
void fentry_site_gone(struct text_site *site);

/* ops.c */
extern struct list_head fentry_ops;

void fentry_ops_init(struct ftrace_ops *ops);
void *fentry_ops_callback(const struct ftrace_ops *ops);
struct fentry_scope fentry_ops_scope(const struct ftrace_ops *ops);
int fentry_ops_check_exclusive(struct ftrace_ops *ops, struct ftrace_hash *filter);
int fentry_ops_register(struct ftrace_ops *ops);
int fentry_ops_unregister(struct ftrace_ops *ops);
int fentry_ops_set_filter(struct ftrace_ops *ops, struct fentry_filter *filter,
			  bool exclude);
int fentry_ops_set_filters(struct ftrace_ops *ops, struct fentry_filter *filter,
			   struct fentry_filter *exclude);
void fentry_pids_changed(void);

/* What needs a place in a trampoline: not direct calls, not mere placeholders */
static inline bool fentry_ops_is_called(const struct ftrace_ops *ops)
{
	return !(ops->flags & (FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_DIRECT));
}

/* direct.c */
int fentry_ipmodify_register(struct ftrace_ops *ops);
int fentry_ipmodify_unregister(struct ftrace_ops *ops);

/* subops.c */
int fentry_subops_filters(const struct ftrace_ops_hash *hashes,
			  const struct fentry_scope *scope);

/* An ops' filter that is in use, for who holds one of the locks it changes under */
static inline struct ftrace_hash *fentry_ops_hash(const struct ftrace_ops *ops, bool exclude)
{
	struct ftrace_ops_hash *hashes = ops->func_hash;

	return rcu_dereference_protected(exclude ? hashes->notrace_hash : hashes->filter_hash,
					 lockdep_is_held(&ftrace_lock) ||
					 lockdep_is_held(&hashes->regex_lock));
}

/* module.c */
static inline struct list_head *fentry_mod_requests(struct trace_array *tr, bool exclude)
{
	return exclude ? &tr->mod_notrace : &tr->mod_trace;
}

int fentry_add_table(struct text_site_table *table, struct text_site *sites,
		     unsigned int nr, struct text_site_report *report);
void fentry_mod_requests_clear(struct list_head *requests);
int fentry_mod_request(struct trace_array *tr, const char *func,
		       const char *module, bool exclude);

#endif /* _FENTRY_H */
