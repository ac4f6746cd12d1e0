/* SPDX-License-Identifier: GPL-2.0 */
/* Filters: sets of sites as sorted arrays of addresses, and what each is to call directly */
#ifndef _FENTRY_FILTER_H
#define _FENTRY_FILTER_H

#include "../trace.h"

/**
 * struct fentry_filter - a set of sites, by address
 * @hash: how the rest of the kernel sees it: only count, flags and rcu are used
 * @direct: what the sites are to call directly, in the same order; NULL: it is no filter
 *	of an ops for direct calls
 * @ip: the addresses, ascending, none twice
 *
 * A filter in use never changes: a new one takes its place. One that is not in
 * use yet is freed by kvfree(). NULL stands for an empty one.
 */
struct fentry_filter {
	struct ftrace_hash	hash;
	unsigned long		*direct;
	unsigned long		ip[];
};

static inline struct fentry_filter *fentry_filter(const struct ftrace_hash *hash)
{
	return hash ? container_of(hash, struct fentry_filter, hash) : NULL;
}

static inline unsigned long fentry_filter_count(const struct fentry_filter *filter)
{
	return filter ? filter->hash.count : 0;
}

/* What a site is to call directly by a filter, which may be NULL; 0: nothing */
static inline unsigned long fentry_filter_direct(struct ftrace_hash *hash, unsigned long ip)
{
	const struct fentry_filter *filter = fentry_filter(hash);
	const struct ftrace_func_entry *entry;

	if (!filter || !filter->direct)
		return 0;
	entry = ftrace_lookup_ip(hash, ip);
	return entry ? filter->direct[&entry->ip - filter->ip] : 0;
}

struct fentry_filter *fentry_filter_new(const unsigned long *ip, unsigned int nr);
struct fentry_filter *fentry_filter_new_direct(const struct ftrace_hash *hash);
struct fentry_filter *fentry_filter_redirect(const struct fentry_filter *filter,
					     unsigned long direct);
struct fentry_filter *fentry_filter_copy(const struct ftrace_hash *hash);
struct fentry_filter *fentry_filter_union(const struct fentry_filter *a,
					  const struct fentry_filter *b);
struct fentry_filter *fentry_filter_subtract(const struct fentry_filter *a,
					     const struct fentry_filter *b);
int fentry_filter_change(struct fentry_filter **filter, const unsigned long *ip,
			 unsigned int nr, bool remove);
void fentry_filter_free(struct fentry_filter *filter);
unsigned long fentry_filter_below(const struct fentry_filter *filter, unsigned long ip);
bool fentry_filters_overlap(struct ftrace_hash *a, struct ftrace_hash *b);

/* match.c */
int fentry_match(struct fentry_filter **filter, const char *func, const char *module);

/* set_filter.c */
void fentry_filters_forget(struct fentry_filter *gone);

#endif /* _FENTRY_FILTER_H */
