/* SPDX-License-Identifier: GPL-2.0 */
/* Making sites what they should be */
#ifndef _FENTRY_APPLY_H
#define _FENTRY_APPLY_H

#include "ops.h"

struct text_site;
struct text_site_table;

/**
 * struct fentry_change - what is different since sites were last made what they should be
 * @ops: ops with the same filters that have come, gone, or been changed; the first has
 *	them as they are now
 * @nr: how many; 0: it is the tables that are to be on or off now
 * @old: where these ops were wanted so far, NULL: nowhere
 * @new: where they are wanted now, NULL: nowhere
 * @sites: only these are concerned, NULL: those that @old or @new may name
 * @table: only sites of this table are concerned, NULL: of all
 */
struct fentry_change {
	struct ftrace_ops		**ops;
	unsigned int			nr;
	const struct fentry_scope	*old, *new;
	struct ftrace_hash		*sites;
	struct text_site_table		*table;
};

/* Sites are as the ops want them; else kernel.ftrace_enabled has them all off. */
extern bool fentry_enabled;

int fentry_apply(const struct fentry_change *change);
unsigned long fentry_exclusive_at(const struct ftrace_ops *ops, struct ftrace_hash *sites,
				  struct ftrace_hash *filter);
void fentry_site_gone(struct text_site *site, bool called);

#endif /* _FENTRY_APPLY_H */
