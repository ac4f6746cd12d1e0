// SPDX-License-Identifier: GPL-2.0
/*
 * Switching: attach an ops to sites, take it off, or both in one batch.
 *
 * Each site that changes goes from its set S to S with or without the ops. That
 * is looked up once for each S that is met, and kept in S while the batch is
 * prepared; the sites are only marked. Until text_site_commit() nothing has
 * happened that dropping the marks does not undo.
 */
#include <linux/list.h>

#include "fentry.h"
#include "filter.h"

static unsigned long switch_seq;

/**
 * struct fentry_batch - sites that go from one set to another
 * @ops: what they get or lose; NULL: they lose all they have
 * @sharers: together with all registered ops that have the same filters. A site
 *	has all of them or none.
 * @switching: the sets they leave
 *
 * An ops that calls directly something else than so far counts as one that a set
 * does not have.
 */
struct fentry_batch {
	struct ftrace_ops	*ops;
	bool			sharers;
	struct list_head	switching;
};

/* Answers for ascending addresses whether they are in a filter. */
struct filter_cursor {
	const unsigned long *ip, *end;
};

static struct filter_cursor filter_cursor(struct ftrace_hash *hash)
{
	struct fentry_filter *filter = fentry_filter(hash);

	return (struct filter_cursor) {
		.ip  = filter ? filter->ip : NULL,
		.end = filter ? filter->ip + hash->count : NULL,
	};
}

static bool cursor_has(struct filter_cursor *cursor, unsigned long ip)
{
	while (cursor->ip < cursor->end && *cursor->ip < ip)
		cursor->ip++;

	return cursor->ip < cursor->end && *cursor->ip == ip;
}

static struct ops_set *step_one(struct ops_set *set, struct ftrace_ops *ops, bool add)
{
	return add ? fentry_set_add(set, ops) : fentry_set_del(set, ops);
}

/* The set that a site with @set gets */
static struct ops_set *step(struct fentry_batch *batch, struct ops_set *set)
{
	struct ops_set *to = set, *via;
	struct ftrace_ops *ops;

	if (!batch->ops)
		return fentry_no_ops;
	if (!batch->sharers)
		return step_one(set, batch->ops, !set->has);

	list_for_each_entry(ops, &fentry_ops, list) {
		if (ops->func_hash != batch->ops->func_hash)
			continue;
		via = to;
		to = step_one(via, ops, !set->has);
		if (via != set)
			fentry_set_put_unused(via);
		if (IS_ERR(to))
			break;
	}
	return to;
}

static bool set_has(const struct ops_set *set, const struct ftrace_ops *ops)
{
	return fentry_set_has(set, ops) &&
	       (!(ops->flags & FTRACE_OPS_FL_DIRECT) || set->direct == ops->direct_call);
}

/* What @set is to this batch; found out when the first site with it is met */
static void batch_meet(struct fentry_batch *batch, struct ops_set *set)
{
	set->seq = switch_seq;
	set->has = batch->ops ? set_has(set, batch->ops) : set->nr;
	set->to = NULL;
	set->moving = 0;
}

static int batch_leave(struct fentry_batch *batch, struct ops_set *set)
{
	struct ops_set *to;

	to = step(batch, set);
	if (IS_ERR(to))
		return PTR_ERR(to);

	set->to = to;
	text_target(&fentry_sites, set->id)->next = to->id;
	list_add(&set->switching, &batch->switching);
	return 0;
}

static __always_inline int batch_site(struct fentry_batch *batch, struct text_site_table *table,
				      struct text_site *site, bool want)
{
	struct ops_set *set;
	int ret;

	if (site->state & (TEXT_SITE_DEAD | TEXT_SITE_PENDING))
		return 0;

	set = fentry_site_set(site);
	if (unlikely(set->seq != switch_seq))
		batch_meet(batch, set);
	if (set->has == want)
		return 0;

	if (!set->to) {
		ret = batch_leave(batch, set);
		if (ret)
			return ret;
	}
	set->moving++;
	text_site_mark(table, site);
	return 0;
}

/* Every site of a table. @new NULL: the ops goes from all of them. */
static int batch_table(struct fentry_batch *batch, struct text_site_table *table,
		       const struct fentry_scope *new)
{
	struct filter_cursor filter = {}, exclude = {};
	bool all = false;
	struct text_site *site;
	int ret;

	if (new) {
		all = ftrace_hash_empty(new->filter);
		filter = filter_cursor(new->filter);
		exclude = filter_cursor(new->exclude);
	}

	for_each_text_site(site, table) {
		unsigned long ip = text_site_addr(site);
		bool want = new && (all || cursor_has(&filter, ip)) &&
			    !cursor_has(&exclude, ip);

		ret = batch_site(batch, table, site, want);
		if (ret)
			return ret;
	}
	return 0;
}

static int batch_all_tables(struct fentry_batch *batch, const struct fentry_scope *new)
{
	struct text_site_table *table;
	int ret;

	for_each_fentry_table(table) {
		if (!table->ready)
			continue;
		ret = batch_table(batch, table, new);
		if (ret)
			return ret;
	}
	return 0;
}

/* Only the sites that a filter names */
static int batch_named(struct fentry_batch *batch, const struct fentry_scope *named,
		       const struct fentry_scope *new)
{
	struct fentry_filter *filter = fentry_filter(named->filter);
	struct text_site_table *table;
	struct text_site *site;
	unsigned long i;
	int ret;

	for (i = 0; i < filter->hash.count; i++) {
		unsigned long ip = filter->ip[i];
		bool want = new && ftrace_lookup_ip(new->filter, ip) &&
			    !ftrace_lookup_ip(new->exclude, ip);

		site = text_site_find(&fentry_sites, ip, ip, &table);
		if (!site || text_site_addr(site) != ip || !table->ready)
			continue;
		ret = batch_site(batch, table, site, want);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Is it less work to look at all sites than at those that a filter names? Finding
 * a site by its address is a binary search.
 */
static bool names_many(const struct fentry_scope *scope)
{
	return ftrace_hash_empty(scope->filter) ||
	       scope->filter->count > ftrace_update_tot_cnt / 16;
}

static void batch_begin(struct fentry_batch *batch, struct ftrace_ops *ops, bool sharers)
{
	lockdep_assert_held(&ftrace_lock);

	switch_seq++;
	batch->ops = ops;
	batch->sharers = sharers;
	INIT_LIST_HEAD(&batch->switching);
}

/* @ret: an error so far, or 0. Commits the batch or drops it. */
static int batch_end(struct fentry_batch *batch, int ret)
{
	struct ops_set *set, *next;

	if (!ret)
		ret = text_site_commit(&fentry_sites);
	else
		text_site_abort(&fentry_sites);

	if (!ret) {
		list_for_each_entry(set, &batch->switching, switching) {
			set->nr_sites -= set->moving;
			set->to->nr_sites += set->moving;
		}
	}

	list_for_each_entry_safe(set, next, &batch->switching, switching) {
		struct ops_set *to = set->to;

		set->to = NULL;
		fentry_set_put_unused(to);
		fentry_set_put_unused(set);
	}
	return ret;
}

/**
 * fentry_switch - attach an ops where it is wanted, and only there
 * @ops: on fentry_ops
 * @sharers: and all others on fentry_ops that have the same filters
 * @old: where it is wanted so far, NULL: nowhere
 * @new: where it is wanted from now on, NULL: nowhere
 *
 * Context: process context, sleeps, under ftrace_lock.
 *
 * Return: 0; or with every site in its former state: -EBUSY if at some site
 * another ops with IPMODIFY is in the way of this one's, -ENOMEM, -ENOSPC, or
 * -EINVAL if the text of a site is not what it should be.
 */
int fentry_switch(struct ftrace_ops *ops, bool sharers, const struct fentry_scope *old,
		  const struct fentry_scope *new)
{
	struct fentry_batch batch;
	int ret = 0;

	batch_begin(&batch, ops, sharers);

	if ((old && names_many(old)) || (new && names_many(new))) {
		ret = batch_all_tables(&batch, new);
	} else {
		if (old)
			ret = batch_named(&batch, old, new);
		if (new && !ret)
			ret = batch_named(&batch, new, new);
	}

	return batch_end(&batch, ret);
}

/**
 * fentry_switch_table - switch the sites of one table
 * @table: ready
 * @ops: on fentry_ops, not attached to any site of @table; or NULL
 * @new: where it is wanted; or NULL: everything goes from all sites
 *
 * Context: process context, sleeps, under ftrace_lock.
 *
 * Return: as fentry_switch(). Without @ops there is no way to fail but by text
 * that is not what it should be.
 */
int fentry_switch_table(struct text_site_table *table, struct ftrace_ops *ops,
			const struct fentry_scope *new)
{
	struct fentry_batch batch;

	batch_begin(&batch, ops, false);
	return batch_end(&batch, batch_table(&batch, table, new));
}

/**
 * fentry_switch_all_off - make every site a NOP
 *
 * Context: process context, sleeps, under ftrace_lock.
 *
 * Return: 0, or -EINVAL as fentry_switch().
 */
int fentry_switch_all_off(void)
{
	struct fentry_batch batch;

	batch_begin(&batch, NULL, false);
	return batch_end(&batch, batch_all_tables(&batch, NULL));
}

/**
 * fentry_site_gone - a site's text is about to be freed
 * @site: not pending
 *
 * Its text stays as it is.
 *
 * Context: under ftrace_lock.
 */
void fentry_site_gone(struct text_site *site)
{
	struct ops_set *set = fentry_site_set(site);

	WRITE_ONCE(site->state, site->state | TEXT_SITE_DEAD);
	if (set != fentry_no_ops) {
		set->nr_sites--;
		fentry_set_put_unused(set);
	}
}
