// SPDX-License-Identifier: GPL-2.0
/*
 * Filters: sets of sites as sorted arrays of addresses.
 *
 * Sites are sorted as well, so whether a filter has a site is answered for all
 * of them in one pass over both. A filter is never changed: joining and cutting
 * make a new one, in time linear in the two.
 */
#include <linux/bsearch.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "fentry.h"

static int ip_cmp(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

static struct fentry_filter *filter_alloc(size_t room)
{
	struct fentry_filter *filter;

	return kvzalloc(struct_size(filter, ip, room), GFP_KERNEL);
}

/**
 * fentry_filter_new - a filter of some addresses
 * @ip: the addresses, in any order, maybe several times
 * @nr: how many
 *
 * Return: the filter, NULL if there is no memory.
 */
struct fentry_filter *fentry_filter_new(const unsigned long *ip, unsigned int nr)
{
	struct fentry_filter *filter = filter_alloc(nr);
	unsigned int i, kept = 0;

	if (!filter)
		return NULL;

	memcpy(filter->ip, ip, nr * sizeof(*ip));
	sort(filter->ip, nr, sizeof(*ip), ip_cmp, NULL);
	for (i = 0; i < nr; i++) {
		if (!kept || filter->ip[kept - 1] != filter->ip[i])
			filter->ip[kept++] = filter->ip[i];
	}
	filter->hash.count = kept;
	return filter;
}

/**
 * fentry_filter_copy - one's own copy of a filter in use
 * @hash: of an ops, or NULL
 *
 * Return: the filter, NULL if there is no memory.
 */
struct fentry_filter *fentry_filter_copy(const struct ftrace_hash *hash)
{
	unsigned long count = hash ? hash->count : 0;
	struct fentry_filter *filter = filter_alloc(count);

	if (filter && hash) {
		filter->hash.count = count;
		filter->hash.flags = hash->flags;
		memcpy(filter->ip, fentry_filter(hash)->ip, count * sizeof(*filter->ip));
	}
	return filter;
}

/**
 * fentry_filter_join - what is in either of two filters
 * @a: whose flags the result has
 * @b: another
 *
 * Return: the filter, NULL if there is no memory.
 */
struct fentry_filter *fentry_filter_join(const struct fentry_filter *a,
					 const struct fentry_filter *b)
{
	unsigned long i = 0, j = 0, nr = 0;
	struct fentry_filter *both;

	both = filter_alloc(size_add(a->hash.count, b->hash.count));
	if (!both)
		return NULL;

	while (i < a->hash.count || j < b->hash.count) {
		if (j == b->hash.count ||
		    (i < a->hash.count && a->ip[i] < b->ip[j])) {
			both->ip[nr++] = a->ip[i++];
			continue;
		}
		if (i < a->hash.count && a->ip[i] == b->ip[j])
			i++;
		both->ip[nr++] = b->ip[j++];
	}
	both->hash.count = nr;
	both->hash.flags = a->hash.flags;
	return both;
}

/**
 * fentry_filter_cut - what is in one filter and not in another
 * @a: whose flags the result has
 * @b: what is taken out of it
 *
 * Return: the filter, NULL if there is no memory.
 */
struct fentry_filter *fentry_filter_cut(const struct fentry_filter *a,
					const struct fentry_filter *b)
{
	unsigned long i, j = 0, nr = 0;
	struct fentry_filter *rest = filter_alloc(a->hash.count);

	if (!rest)
		return NULL;

	for (i = 0; i < a->hash.count; i++) {
		while (j < b->hash.count && b->ip[j] < a->ip[i])
			j++;
		if (j == b->hash.count || b->ip[j] != a->ip[i])
			rest->ip[nr++] = a->ip[i];
	}
	rest->hash.count = nr;
	rest->hash.flags = a->hash.flags;
	return rest;
}

/**
 * fentry_filter_free - free a filter that may have been in use
 * @filter: readers may still look at it, or NULL
 */
void fentry_filter_free(struct fentry_filter *filter)
{
	if (filter)
		kvfree_rcu(filter, hash.rcu);
}

/**
 * ftrace_lookup_ip - is a site in a filter?
 * @hash: the filter, or NULL
 * @ip: the site's address
 *
 * Context: any, with the filter kept from being freed.
 *
 * Return: NULL if not; otherwise an entry of which only @ip is to be read.
 */
struct ftrace_func_entry *ftrace_lookup_ip(struct ftrace_hash *hash, unsigned long ip)
{
	unsigned long *found;

	if (!hash || !hash->count)
		return NULL;

	found = __inline_bsearch(&ip, fentry_filter(hash)->ip, hash->count,
				 sizeof(ip), ip_cmp);
	return found ? container_of(found, struct ftrace_func_entry, ip) : NULL;
}

static bool overlap(const struct fentry_filter *a, const struct fentry_filter *b)
{
	unsigned long i = 0, j = 0;

	while (i < a->hash.count && j < b->hash.count) {
		if (a->ip[i] == b->ip[j])
			return true;
		if (a->ip[i] < b->ip[j])
			i++;
		else
			j++;
	}
	return false;
}

/**
 * fentry_filters_overlap - is some site in both of two filters?
 * @a: one, NULL: empty
 * @b: another, NULL: empty
 *
 * Return: true if so.
 */
bool fentry_filters_overlap(struct ftrace_hash *a, struct ftrace_hash *b)
{
	return a && b && overlap(fentry_filter(a), fentry_filter(b));
}

/*
 * A filter that had entries must not become empty by their text being freed: that
 * would mean everything. It keeps a zero.
 */
static struct fentry_filter *filter_forget(const struct fentry_filter *filter,
					   const struct fentry_filter *gone)
{
	struct fentry_filter *rest = fentry_filter_cut(filter, gone);

	if (rest && filter->hash.count && !rest->hash.count)
		rest->hash.count = 1;
	return rest;
}

static void hash_forget(struct ftrace_hash __rcu **slot, const struct fentry_filter *gone)
{
	struct fentry_filter *old, *rest;

	old = fentry_filter(rcu_dereference_protected(*slot, lockdep_is_held(&ftrace_lock)));
	if (!old || !overlap(old, gone))
		return;

	rest = filter_forget(old, gone);
	if (!rest) {
		pr_warn("no memory, a filter keeps addresses of freed text\n");
		return;
	}
	rcu_assign_pointer(*slot, &rest->hash);
	fentry_filter_free(old);
}

/**
 * fentry_filters_forget - take freed text out of the filters of all instances, and
 *	out of those made of them
 * @gone: sites that were in it
 *
 * Other text may get to be there, and is not what the user has asked for.
 *
 * Context: process context, sleeps, takes trace_types_lock and regex locks.
 */
void fentry_filters_forget(const struct fentry_filter *gone)
{
	struct ftrace_ops *ops;
	struct trace_array *tr;

	mutex_lock(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		struct ftrace_ops_hash *hashes = tr->ops ? tr->ops->func_hash : NULL;

		if (!hashes)
			continue;
		mutex_lock(&hashes->regex_lock);
		mutex_lock(&ftrace_lock);
		hash_forget(&hashes->filter_hash, gone);
		hash_forget(&hashes->notrace_hash, gone);
		mutex_unlock(&ftrace_lock);
		mutex_unlock(&hashes->regex_lock);
	}
	mutex_unlock(&trace_types_lock);

	/* And those that were made of them: only under ftrace_lock, too. */
	guard(mutex)(&ftrace_lock);
	list_for_each_entry(ops, &fentry_ops, list) {
		if (list_empty(&ops->subop_list))
			continue;
		hash_forget(&ops->func_hash->filter_hash, gone);
		hash_forget(&ops->func_hash->notrace_hash, gone);
	}
}

