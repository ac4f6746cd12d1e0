// SPDX-License-Identifier: GPL-2.0
/*
 * Subops: several users of one ops, each with filters of its own.
 *
 * The manager, of which only one function is called at each site, is attached
 * where any of its subops wants it; that function asks ftrace_ops_test() whom it
 * is for.
 */
#include <linux/list.h>

#include "fentry.h"
#include "filter.h"

/**
 * struct override - what a filter is about to be
 * @hashes: of which ops; NULL: no change is under way
 * @scope: the new filters
 */
struct override {
	const struct ftrace_ops_hash	*hashes;
	const struct fentry_scope	*scope;
};

static struct fentry_scope subops_scope(const struct ftrace_ops *subops,
					const struct override *change)
{
	return subops->func_hash == change->hashes ? *change->scope : fentry_ops_scope(subops);
}

/* *@filter and @more: what is in either, everything if one is empty */
static int join(struct fentry_filter **filter, struct ftrace_hash *more)
{
	struct fentry_filter *both;

	if (!*filter)
		return 0;
	if (ftrace_hash_empty(more)) {
		kvfree(*filter);
		*filter = NULL;
		return 0;
	}
	both = fentry_filter_union(*filter, fentry_filter(more));
	if (!both)
		return -ENOMEM;
	kvfree(*filter);
	*filter = both;
	return 0;
}

/* *@filter and @more: what is in both, nothing if one is empty */
static int meet(struct fentry_filter **filter, struct ftrace_hash *more)
{
	struct fentry_filter *only, *both;

	if (!*filter)
		return 0;
	if (ftrace_hash_empty(more)) {
		kvfree(*filter);
		*filter = NULL;
		return 0;
	}
	only = fentry_filter_subtract(*filter, fentry_filter(more));
	both = only ? fentry_filter_subtract(*filter, only) : NULL;
	kvfree(only);
	if (!both)
		return -ENOMEM;
	kvfree(*filter);
	*filter = both;
	return 0;
}

/* A copy of a filter, NULL if it is empty */
static int copy(struct fentry_filter **filter, struct ftrace_hash *hash)
{
	*filter = ftrace_hash_empty(hash) ? NULL : fentry_filter_copy(hash);
	return *filter || ftrace_hash_empty(hash) ? 0 : -ENOMEM;
}

static int manager_filters(const struct ftrace_ops *manager, const struct override *change,
			   struct fentry_filter **filter, struct fentry_filter **exclude)
{
	struct ftrace_ops *subops;
	bool first = true;
	int ret = 0;

	*filter = NULL;
	*exclude = NULL;
	list_for_each_entry(subops, &manager->subop_list, list) {
		struct fentry_scope scope = subops_scope(subops, change);

		if (first)
			ret = copy(filter, scope.filter) ?: copy(exclude, scope.exclude);
		else
			ret = join(filter, scope.filter) ?: meet(exclude, scope.exclude);
		if (ret)
			break;
		first = false;
	}
	if (ret) {
		kvfree(*filter);
		kvfree(*exclude);
	}
	return ret;
}

static int manager_update(struct ftrace_ops *manager, const struct override *change)
{
	struct fentry_filter *filter, *exclude;
	int ret;

	ret = manager_filters(manager, change, &filter, &exclude);
	return ret ?: fentry_ops_set_filters(manager, filter, exclude);
}

static const struct override no_change;

/* The manager has nobody to trace for: it keeps no filters. */
static void manager_idle(struct ftrace_ops *manager)
{
	if (list_empty(&manager->subop_list))
		ftrace_free_filter(manager);
}

/**
 * ftrace_startup_subops - register an ops with a manager
 * @ops: the manager; it is registered with its first subops
 * @subops: initialised, not registered
 * @command: not used
 *
 * Context: process context, sleeps, under ftrace_lock.
 *
 * Return: 0, or with nothing changed -ENODEV after ftrace_kill(), -EBUSY if
 * @subops is registered, or an error of ftrace_startup().
 */
int ftrace_startup_subops(struct ftrace_ops *ops, struct ftrace_ops *subops, int command)
{
	int ret;

	if (fentry_dead)
		return -ENODEV;

	fentry_ops_init(ops);
	fentry_ops_init(subops);
	if (WARN_ON_ONCE(subops->flags & FTRACE_OPS_FL_ENABLED))
		return -EBUSY;

	list_add(&subops->list, &ops->subop_list);
	ret = manager_update(ops, &no_change);
	if (!ret && !(ops->flags & FTRACE_OPS_FL_ENABLED))
		ret = ftrace_startup(ops, command);
	if (ret) {
		list_del(&subops->list);
		manager_idle(ops);
		return ret;
	}

	subops->flags |= FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP;
	subops->managed = ops;
	return 0;
}

/**
 * ftrace_shutdown_subops - the counterpart of ftrace_startup_subops()
 * @ops: the manager; it is unregistered with its last subops
 * @subops: registered with it
 * @command: not used
 *
 * Context: process context, sleeps for long, under ftrace_lock.
 *
 * Return: 0, or with nothing changed -ENODEV after ftrace_kill(), -EINVAL if
 * @subops is not registered.
 */
int ftrace_shutdown_subops(struct ftrace_ops *ops, struct ftrace_ops *subops, int command)
{
	int ret = 0;

	if (fentry_dead)
		return -ENODEV;
	if (WARN_ON_ONCE(!(subops->flags & FTRACE_OPS_FL_ENABLED)))
		return -EINVAL;

	list_del(&subops->list);
	if (list_empty(&ops->subop_list))
		ret = ftrace_shutdown(ops, command);
	else if (manager_update(ops, &no_change))
		pr_warn("no memory, %pS stays where only a former user wanted it\n",
			ops->func);
	if (ret) {
		list_add(&subops->list, &ops->subop_list);
		return ret;
	}
	manager_idle(ops);

	subops->flags &= ~(FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP);
	subops->managed = NULL;
	return 0;
}

/**
 * fentry_subops_filters - filters are about to change that subops may have
 * @hashes: the filters
 * @scope: what they are about to be
 *
 * Context: process context, sleeps, under ftrace_lock.
 *
 * Return: 0 with every manager attached where its subops will want it, or with
 * nothing changed an error of fentry_switch().
 */
int fentry_subops_filters(const struct ftrace_ops_hash *hashes,
			  const struct fentry_scope *scope)
{
	const struct override change = { .hashes = hashes, .scope = scope };
	struct ftrace_ops *manager, *subops;

	list_for_each_entry(manager, &fentry_ops, list) {
		list_for_each_entry(subops, &manager->subop_list, list) {
			/* There is one manager for all that share filters. */
			if (subops->func_hash == hashes)
				return manager_update(manager, &change);
		}
	}
	return 0;
}
