/* SPDX-License-Identifier: GPL-2.0 */
/* Registered ops: which there are, where each is wanted, what is called for it */
#ifndef _FENTRY_OPS_H
#define _FENTRY_OPS_H

#undef pr_fmt
#define pr_fmt(fmt) "fentry: " fmt

#include <linux/ftrace.h>
#include <linux/lockdep.h>
#include <linux/rcupdate.h>

#include "../trace.h"
#include "../ftrace_internal.h"

/* What only one ops at a site can do: change where it continues, or what it calls */
#define FENTRY_EXCLUSIVE	(FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT)

/* All registered ops, the latest first; a manager stands for its subops. */
extern struct list_head fentry_ops;

/* Set by ftrace_kill(): no site is switched any more. */
extern bool fentry_dead;

/**
 * struct fentry_scope - the sites an ops is wanted at
 * @filter: only these; empty: all
 * @notrace_filter: but not these
 */
struct fentry_scope {
	struct ftrace_hash	*filter;
	struct ftrace_hash	*notrace_filter;
};

void fentry_ops_init(struct ftrace_ops *ops);
void *fentry_ops_callback(const struct ftrace_ops *ops);
bool fentry_ops_select_func(struct ftrace_ops *ops);
struct ftrace_ops *fentry_member_next(struct ftrace_ops *prev);
bool fentry_ops_wanted_at(unsigned long ip);
unsigned long fentry_ops_direct(const struct ftrace_ops *ops, unsigned long ip);
void fentry_shared_callback(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *unused, struct ftrace_regs *fregs);

/* Under ftrace_lock: each ops that a set can contain, the latest registered first */
#define for_each_fentry_member(ops)					\
	for ((ops) = NULL; ((ops) = fentry_member_next(ops)); )

/* The ops whose function is called for @ops: its manager's, if it has one */
static inline struct ftrace_ops *fentry_ops_called(struct ftrace_ops *ops)
{
	return ops->managed ?: ops;
}

/* Is @one among some ops? */
static inline bool fentry_ops_among(struct ftrace_ops *const *ops, unsigned int nr,
				    const struct ftrace_ops *one)
{
	while (nr && *ops != one) {
		ops++;
		nr--;
	}
	return nr;
}

/* Does a trampoline call it? Neither direct calls nor placeholders. */
static inline bool fentry_ops_is_called(const struct ftrace_ops *ops)
{
	return !(ops->flags & (FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_DIRECT));
}

/* A filter in use, for a holder of one of the locks it changes under */
static inline struct ftrace_hash *fentry_ops_hash(const struct ftrace_ops *ops, bool is_notrace)
{
	struct ftrace_ops_hash *hashes = ops->func_hash;

	return rcu_dereference_protected(is_notrace ? hashes->notrace_hash : hashes->filter_hash,
					 lockdep_is_held(&ftrace_lock) ||
					 lockdep_is_held(&hashes->regex_lock));
}

/* Where an ops is wanted: under ftrace_lock */
static inline struct fentry_scope fentry_ops_scope(const struct ftrace_ops *ops)
{
	return (struct fentry_scope) {
		.filter		= fentry_ops_hash(ops, false),
		.notrace_filter	= fentry_ops_hash(ops, true),
	};
}

/* Does a scope contain a site? In the same context as whoever may look at its filters */
static inline bool fentry_scope_has(const struct fentry_scope *scope, unsigned long ip)
{
	return (ftrace_hash_empty(scope->filter) || ftrace_lookup_ip(scope->filter, ip)) &&
	       !ftrace_lookup_ip(scope->notrace_filter, ip);
}

#endif /* _FENTRY_OPS_H */
