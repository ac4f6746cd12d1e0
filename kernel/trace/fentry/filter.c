// SPDX-License-Identifier: GPL-2.0
/*
 * Filters: sets of sites as sorted arrays of addresses.
 *
 * Sites are sorted as well, so one pass over both tells which sites a filter
 * contains. Union and difference make a new filter, in one pass over the two.
 *
 * A filter of an ops for direct calls also says what each site is to call.
 */
#include <linux/bsearch.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "filter.h"

static int ip_cmp(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

static struct fentry_filter *filter_alloc(size_t room, bool direct)
{
	struct fentry_filter *filter;

	filter = kvzalloc(struct_size(filter, ip, size_add(room, direct ? room : 0)), GFP_KERNEL);
	if (filter && direct)
		filter->direct = filter->ip + room;
	return filter;
}

/* Addresses in any order, some maybe twice; NULL without memory */
struct fentry_filter *fentry_filter_new(const unsigned long *ip, unsigned int nr)
{
	struct fentry_filter *filter = filter_alloc(nr, false);
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

/*
 * What a hash of alloc_ftrace_hash() has, by the sites of its functions; or -ENOMEM, or
 * -EINVAL if a function is in it twice.
 */
struct fentry_filter *fentry_filter_new_direct(const struct ftrace_hash *hash)
{
	struct {
		unsigned long	ip, direct;
	} *calls __free(kvfree) = kvmalloc_array(hash->count, sizeof(*calls), GFP_KERNEL);
	struct fentry_filter *filter __free(kvfree) = filter_alloc(hash->count, true);
	const struct ftrace_func_entry *entry;
	unsigned long i = hash->count;
	bool sorted = true;

	if (!calls || !filter)
		return ERR_PTR(-ENOMEM);

	/* The last one that was added comes first. */
	hlist_for_each_entry(entry, hash->buckets, hlist) {
		/* A site may have gone, with its module. */
		calls[--i].ip = ftrace_location(entry->ip) ?: entry->ip;
		calls[i].direct = entry->direct;
		sorted &= i + 1 == hash->count || calls[i].ip < calls[i + 1].ip;
	}
	if (!sorted)
		sort(calls, hash->count, sizeof(*calls), ip_cmp, NULL);
	for (i = 0; i < hash->count; i++) {
		if (i && calls[i].ip == calls[i - 1].ip)
			return ERR_PTR(-EINVAL);
		filter->ip[i] = calls[i].ip;
		filter->direct[i] = calls[i].direct;
	}
	filter->hash.count = i;
	return_ptr(filter);
}

/* The same sites, all to call @direct; NULL without memory */
struct fentry_filter *fentry_filter_redirect(const struct fentry_filter *filter,
					     unsigned long direct)
{
	const unsigned long nr = fentry_filter_count(filter);
	struct fentry_filter *result = filter_alloc(nr, true);

	if (!result)
		return NULL;
	for (unsigned long i = 0; i < nr; i++) {
		result->ip[i] = filter->ip[i];
		result->direct[i] = direct;
	}
	result->hash.count = nr;
	return result;
}

/* The addresses in either, or those in @a without those in @b */
static struct fentry_filter *filter_combine(const struct fentry_filter *a,
					    const struct fentry_filter *b, bool subtract)
{
	unsigned long nr_a = fentry_filter_count(a), nr_b = fentry_filter_count(b);
	unsigned long i = 0, j = 0, nr = 0;
	struct fentry_filter *result;

	result = filter_alloc(subtract ? nr_a : size_add(nr_a, nr_b),
			      (a && a->direct) || (b && b->direct));
	if (!result)
		return NULL;

	while (i < nr_a || j < nr_b) {
		bool in_a = i < nr_a && (j == nr_b || a->ip[i] <= b->ip[j]);
		bool in_b = j < nr_b && (i == nr_a || b->ip[j] <= a->ip[i]);

		if (!subtract || !in_b) {
			if (in_b && b->direct)
				result->direct[nr] = b->direct[j];
			else if (in_a && a->direct)
				result->direct[nr] = a->direct[i];
			result->ip[nr++] = in_a ? a->ip[i] : b->ip[j];
		}
		i += in_a;
		j += in_b;
	}
	result->hash.count = nr;
	result->hash.flags = a ? a->hash.flags : 0;
	return result;
}

/* What is in @a or in @b, with the flags of @a and the callees of @b; NULL without memory */
struct fentry_filter *fentry_filter_union(const struct fentry_filter *a,
					  const struct fentry_filter *b)
{
	return filter_combine(a, b, false);
}

/* What is in @a but not in @b, with the flags of @a; NULL without memory */
struct fentry_filter *fentry_filter_subtract(const struct fentry_filter *a,
					     const struct fentry_filter *b)
{
	return filter_combine(a, b, true);
}

/* A copy to change of a filter in use, which may be NULL; NULL without memory */
struct fentry_filter *fentry_filter_copy(const struct ftrace_hash *hash)
{
	return fentry_filter_union(fentry_filter(hash), NULL);
}

/*
 * Add addresses to *@filter, which is not in use, or take them out. -ENOMEM leaves it
 * as it was.
 */
int fentry_filter_change(struct fentry_filter **filter, const unsigned long *ip,
			 unsigned int nr, bool remove)
{
	struct fentry_filter *change __free(kvfree) = fentry_filter_new(ip, nr);
	struct fentry_filter *result;

	if (!change)
		return -ENOMEM;
	result = remove ? fentry_filter_subtract(*filter, change) :
			  fentry_filter_union(*filter, change);
	if (!result)
		return -ENOMEM;

	kvfree(*filter);
	*filter = result;
	return 0;
}

/* Free a filter, maybe NULL, that readers may still look at. */
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
 * Context: any; the caller keeps the filter from being freed.
 *
 * Return: NULL if not; otherwise an entry of which only @ip may be read.
 */
struct ftrace_func_entry *ftrace_lookup_ip(struct ftrace_hash *hash, unsigned long ip)
{
	unsigned long *found;

	if (!hash)
		return NULL;
	found = __inline_bsearch(&ip, fentry_filter(hash)->ip, hash->count, sizeof(ip), ip_cmp);
	return found ? container_of(found, struct ftrace_func_entry, ip) : NULL;
}

/* How many of a filter's addresses are below @ip? */
unsigned long fentry_filter_below(const struct fentry_filter *filter, unsigned long ip)
{
	unsigned long below = 0, end = fentry_filter_count(filter);

	while (below < end) {
		const unsigned long middle = below + (end - below) / 2;

		if (filter->ip[middle] < ip)
			below = middle + 1;
		else
			end = middle;
	}
	return below;
}

/* Is some site in both? NULL is an empty filter. */
bool fentry_filters_overlap(struct ftrace_hash *a, struct ftrace_hash *b)
{
	unsigned long i;

	if (!a || !b)
		return false;
	if (a->count > b->count)
		swap(a, b);

	for (i = 0; i < a->count; i++) {
		if (ftrace_lookup_ip(b, fentry_filter(a)->ip[i]))
			return true;
	}
	return false;
}
