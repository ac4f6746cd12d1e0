// SPDX-License-Identifier: GPL-2.0
/*
 * Setting filters: what an ops traces, by name and by address. And what is taken
 * out of filters when its text is freed.
 */
#include <linux/slab.h>

#include "filter.h"
#include "ops.h"
#include "register.h"

/**
 * struct change - what is to be done to a filter of an ops
 * @glob: add the functions that match, may be NULL
 * @ips: add these addresses in functions' entries, may be NULL
 * @nr: how many
 * @remove: take the addresses out instead
 * @reset: start with an empty filter
 * @is_notrace: the filter is what not to trace
 */
struct change {
	const char		*glob;
	const unsigned long	*ips;
	unsigned int		nr;
	bool			remove, reset, is_notrace;
};

static int change_by_ips(struct fentry_filter **filter, const struct change *change)
{
	unsigned long *sites __free(kvfree) = kvmalloc_array(change->nr, sizeof(*sites),
							     GFP_KERNEL);
	unsigned int i;

	if (!sites)
		return -ENOMEM;

	for (i = 0; i < change->nr; i++) {
		cond_resched();
		sites[i] = ftrace_location(change->ips[i]);
		if (!sites[i])
			return -EINVAL;
		if (change->remove && !ftrace_lookup_ip(&(*filter)->hash, sites[i]))
			return -ENOENT;
	}
	return fentry_filter_change(filter, sites, change->nr, change->remove);
}

static int change_filter(struct ftrace_ops *ops, const struct change *change)
{
	struct fentry_filter *filter __free(kvfree) = NULL;
	int ret = 0;

	if (fentry_dead)
		return -ENODEV;

	fentry_ops_init(ops);
	guard(mutex)(&ops->func_hash->regex_lock);
	guard(mutex)(&ftrace_lock);

	filter = fentry_filter_copy(change->reset ? NULL :
				    fentry_ops_hash(ops, change->is_notrace));
	if (!filter)
		return -ENOMEM;

	if (change->glob)
		ret = fentry_match(&filter, change->glob, NULL);
	else if (change->ips && change->nr)
		ret = change_by_ips(&filter, change);
	return ret ?: fentry_ops_set_filter(ops, no_free_ptr(filter), change->is_notrace, NULL);
}

/**
 * ftrace_set_filter - say by name what an ops traces
 * @ops: registered or not; if it is, it is switched at once
 * @buf: a glob that function names are to match, NULL: none
 * @len: not used: @buf is a string
 * @reset: drop what was in the filter; with @buf NULL, trace everything
 *
 * Context: process context, sleeps, takes ftrace_lock and what ftrace_startup() takes.
 *
 * Return: 0, or with nothing changed -EINVAL if no function matches, -ENOMEM,
 * -ENODEV after ftrace_kill(), or an error of fentry_ops_set_filter().
 */
int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return change_filter(ops, &(struct change) { .glob = buf, .reset = reset });
}
EXPORT_SYMBOL_GPL(ftrace_set_filter);

/**
 * ftrace_set_notrace - say by name what an ops does not trace
 * @ops: registered or not; if it is, it is switched at once
 * @buf: a glob that function names are to match, NULL: none
 * @len: not used: @buf is a string
 * @reset: drop what was in the filter
 *
 * Context: process context, sleeps, takes ftrace_lock and what ftrace_startup() takes.
 *
 * Return: as ftrace_set_filter().
 */
int ftrace_set_notrace(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return change_filter(ops, &(struct change) {
				     .glob = buf, .reset = reset, .is_notrace = true });
}
EXPORT_SYMBOL_GPL(ftrace_set_notrace);

/**
 * ftrace_set_global_filter - ftrace_set_filter() for set_ftrace_filter's filter
 * @buf: a glob
 * @len: not used
 * @reset: drop what was in the filter
 */
void ftrace_set_global_filter(unsigned char *buf, int len, int reset)
{
	ftrace_set_filter(&global_ops, buf, len, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_filter);

/**
 * ftrace_set_global_notrace - ftrace_set_notrace() for set_ftrace_notrace's filter
 * @buf: a glob
 * @len: not used
 * @reset: drop what was in the filter
 */
void ftrace_set_global_notrace(unsigned char *buf, int len, int reset)
{
	ftrace_set_notrace(&global_ops, buf, len, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_notrace);

/**
 * ftrace_set_filter_ips - say by address what an ops traces
 * @ops: registered or not; if it is, it is switched at once
 * @ips: addresses of functions, or of their sites; NULL: none
 * @cnt: how many
 * @remove: take them out of the filter instead of putting them in
 * @reset: drop what was in the filter
 *
 * Context: process context, sleeps, takes ftrace_lock and what ftrace_startup() takes.
 *
 * Return: 0, or with nothing changed -EINVAL if an address is not one of a
 * function with a site, -ENOENT if one to be removed is not in the filter,
 * -ENOMEM, -ENODEV after ftrace_kill(), or an error of fentry_ops_set_filter().
 */
int ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips, unsigned int cnt,
			  int remove, int reset)
{
	return change_filter(ops, &(struct change) {
				     .ips = ips, .nr = cnt, .remove = remove, .reset = reset });
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ips);

/**
 * ftrace_set_filter_ip - ftrace_set_filter_ips() for one address
 * @ops: registered or not
 * @ip: the address
 * @remove: take it out of the filter
 * @reset: drop what was in the filter
 *
 * Return: as ftrace_set_filter_ips().
 */
int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip, int remove, int reset)
{
	return ftrace_set_filter_ips(ops, &ip, 1, remove, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ip);

static int ops_forget(struct ftrace_ops *ops, struct fentry_filter *gone, bool is_notrace)
{
	struct ftrace_hash *hash = fentry_ops_hash(ops, is_notrace);
	struct fentry_filter *rest;

	if (!fentry_filters_overlap(hash, &gone->hash))
		return 0;
	rest = fentry_filter_subtract(fentry_filter(hash), gone);
	if (!rest)
		return -ENOMEM;
	/* Without entries it would stand for every function: it keeps address 0. */
	rest->hash.count = max(rest->hash.count, 1ul);
	return fentry_ops_set_filter(ops, rest, is_notrace, NULL);
}

/*
 * Take freed text out of the filters of all instances: the user has not asked for the
 * text that gets to be there next. Takes trace_types_lock, regex locks and ftrace_lock.
 */
void fentry_filters_forget(struct fentry_filter *gone)
{
	struct trace_array *tr;
	int ret;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (!tr->ops || !tr->ops->func_hash)
			continue;
		guard(mutex)(&tr->ops->func_hash->regex_lock);
		guard(mutex)(&ftrace_lock);
		if (fentry_dead)
			return;
		ret = ops_forget(tr->ops, gone, false) ?: ops_forget(tr->ops, gone, true);
		if (ret)
			pr_warn("a filter keeps addresses of freed text (%d)\n", ret);
	}
}
