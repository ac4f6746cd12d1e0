// SPDX-License-Identifier: GPL-2.0
/*
 * Apply: makes sites what the registered ops and their filters say.
 *
 * Whoever changes an ops, a filter, a table or kernel.ftrace_enabled edits the data and
 * then calls fentry_apply(). If that fails, the caller puts the data back, and calls it
 * again with the change reversed: sites that had not changed are what they should be.
 *
 * Each site concerned goes from its set to the one with the changed ops added or taken
 * away. That is looked up once for each set that is met, and remembered in the set, so a
 * site costs the same however many ops are registered. An ops for direct calls has each
 * site call what its filter says, so the set is looked up again for each other callee.
 *
 * Sites whose text has to change are marked; others, as in tables that are off, only get
 * another target. One text_site_commit() then changes the text of all that are marked.
 *
 * Everything here is under ftrace_lock.
 */
#include <linux/list.h>
#include <linux/slab.h>

#include "apply.h"
#include "filter.h"
#include "set.h"

bool fentry_enabled = true;

/**
 * struct filter_cursor - a place in a filter, from where the next address is looked for
 * @hash: the filter
 * @at: how many of its addresses are below the last one that was looked for
 */
struct filter_cursor {
	struct ftrace_hash	*hash;
	unsigned long		at;
};

/**
 * struct apply - a change being applied
 * @change: which
 * @seq: number of this struct apply; sets with another one were not met yet
 * @met: the sets that sites have, or go to
 * @id: of the target that the last site had
 * @set: and its set
 * @filter: the filter of where the ops are wanted now
 * @notrace_filter: and that of where they are not
 * @is_direct: the change is of an ops for direct calls
 * @direct: if so: what the site at hand is to call for it, 0: it is not wanted there
 */
struct apply {
	const struct fentry_change	*change;
	unsigned long			seq;
	struct list_head		met;
	u32				id;
	struct ops_set			*set;
	struct filter_cursor		filter, notrace_filter;
	bool				is_direct;
	unsigned long			direct;
};

/* Is an address in the filter? It takes a step for each entry that was passed over. */
static __always_inline bool cursor_has(struct filter_cursor *cursor, unsigned long ip)
{
	const struct fentry_filter *filter = fentry_filter(cursor->hash);
	const unsigned long nr = fentry_filter_count(filter);

	while (cursor->at < nr && filter->ip[cursor->at] < ip)
		cursor->at++;
	/* Sites ascend; tables need not. */
	while (cursor->at && filter->ip[cursor->at - 1] >= ip)
		cursor->at--;
	return cursor->at < nr && filter->ip[cursor->at] == ip;
}

/* The latest registered come first; the subops of one manager stay together. */
static bool comes_before(const struct ftrace_ops *a, const struct ftrace_ops *b)
{
	return a->seq != b->seq ? a->seq > b->seq : a > b;
}

/* The set with the changed ops added if @wanted, else taken away */
static struct ops_set *set_changed(const struct ops_set *set, const struct apply *apply,
				   bool wanted)
{
	const struct fentry_change *change = apply->change;
	struct ftrace_ops **ops __free(kfree) = NULL;
	unsigned int room = wanted ? change->nr : 0, nr = 0, i, j;

	for (i = 0; i < set->nr; i++)
		room += !fentry_ops_among(change->ops, change->nr, set->ops[i]);
	if (room) {
		ops = kmalloc_array(room, sizeof(*ops), GFP_KERNEL);
		if (!ops)
			return fentry_set_shared(set->off);
	}

	for (i = 0; i < set->nr; i++) {
		if (fentry_ops_among(change->ops, change->nr, set->ops[i]))
			continue;
		ops[nr++] = set->ops[i];
	}
	for (i = 0; nr < room; i++) {
		for (j = nr++; j && comes_before(change->ops[i], ops[j - 1]); j--)
			ops[j] = ops[j - 1];
		ops[j] = change->ops[i];
	}
	return fentry_set_get(ops, nr, apply->is_direct ? apply->direct : set->direct, set->off);
}

/* The first time that a set has to do with this change */
static void set_begin(struct apply *apply, struct ops_set *set)
{
	if (set->seq == apply->seq)
		return;
	set->seq = apply->seq;
	set->to = NULL;
	set->split = false;
	set->delta = 0;
	list_add(&set->met, &apply->met);
}

/* Does a set have the changed ops, as they are now? */
static bool set_has(const struct apply *apply, const struct ops_set *set)
{
	/* A shared set may contain any ops: shared_leave() looks for it. */
	return set->shared || (fentry_set_has(set, apply->change->ops[0]) &&
			       (!apply->direct || set->direct == apply->direct));
}

/* Finds out what a site's set is to this change: mostly it is the set that was met before. */
static noinline void set_meet(struct apply *apply, u32 id)
{
	struct ops_set *set = text_target(&fentry_sites, id)->owner;

	apply->id = id;
	apply->set = set;
	set_begin(apply, set);
	set->has = apply->change->nr ? set_has(apply, set) : !set->off;
	/*
	 * Further sites of the set go to another one. All can go to the shared one: as an ops
	 * that goes is wanted nowhere, no site of its needs text_site_set_next(), which can fail.
	 */
	if (apply->is_direct && set->to && !set->to->shared && set->to->direct != apply->direct) {
		set->to = NULL;
		set->split = true;
	}
}

static int set_leave_to(struct apply *apply, struct ops_set *set, struct ops_set *to)
{
	struct text_target *target = text_target(&fentry_sites, set->id);

	if (IS_ERR(to))
		return PTR_ERR(to);
	set_begin(apply, to);
	set->to = to;
	set->same_text = text_target(&fentry_sites, to->id)->addr == target->addr;
	/* With sites on their way to another set, others need text_site_set_next(). */
	if (!set->split)
		target->next = to->id;
	return 0;
}

/* Finds the set that sites with @set go to. */
static noinline int set_leave(struct apply *apply, struct ops_set *set, bool wanted)
{
	return set_leave_to(apply, set, apply->change->nr ?
					set_changed(set, apply, wanted) :
					fentry_set_twin(set));
}

/*
 * A site with a shared set stays with it until no ops wants the site any more. Returns 1
 * if it goes.
 */
static noinline int shared_leave(struct apply *apply, struct ops_set *set, unsigned long ip)
{
	cond_resched();
	if (fentry_ops_wanted_at(ip))
		return 0;
	if (set->to)
		return 1;
	return set_leave_to(apply, set, set->off ? &fentry_no_ops_off : &fentry_no_ops) ?: 1;
}

/* Its text stays as it is. */
static noinline void site_store(struct text_site *site, struct ops_set *set)
{
	const struct text_target *to = text_target(&fentry_sites, set->to->id);

	WRITE_ONCE(site->state, (site->state & ~TEXT_SITE_TARGET) | set->to->id | to->mark);
	set->nr_sites--;
	set->to->nr_sites++;
}

static __always_inline int site_apply(struct apply *apply, struct text_site_table *table,
				      struct text_site *site, bool wanted)
{
	const u32 state = site->state;
	struct ops_set *set;
	int ret;

	if (state & (TEXT_SITE_DEAD | TEXT_SITE_PENDING))
		return 0;

	/* Mostly it has the set that the site before it has. */
	if (unlikely((state & TEXT_SITE_TARGET) != apply->id))
		set_meet(apply, state & TEXT_SITE_TARGET);
	set = apply->set;
	if (set->has == wanted)
		return 0;

	if (unlikely(set->shared && apply->change->nr)) {
		ret = shared_leave(apply, set, text_site_addr(site));
		if (ret <= 0)
			return ret;
	} else if (unlikely(!set->to)) {
		ret = set_leave(apply, set, wanted);
		if (ret)
			return ret;
	}

	if (unlikely(set->same_text)) {
		site_store(site, set);
		return 0;
	}
	set->delta--;
	set->to->delta++;
	text_site_mark(table, site);
	return 0;
}

/*
 * For an ops for direct calls. Sites of one set may go to different ones, as what they call
 * is not the same.
 */
static int site_apply_direct(struct apply *apply, struct text_site_table *table,
			     struct text_site *site)
{
	const struct fentry_scope *new = apply->change->new;
	const struct ops_set *set = fentry_site_set(site);
	const unsigned long ip = text_site_addr(site);
	int ret;

	if (site->state & TEXT_SITE_PENDING)
		return 0;
	apply->direct = new && !ftrace_lookup_ip(new->notrace_filter, ip) ?
			fentry_filter_direct(new->filter, ip) : 0;
	apply->id = ~0;		/* its set is to be met again */
	ret = site_apply(apply, table, site, apply->direct);
	if (ret || !(site->state & TEXT_SITE_PENDING) ||
	    text_site_next(table, site) == set->to->id)
		return ret;
	return text_site_set_next(table, site, set->to->id);
}

/* All sites of a table. If they are to be on or off, that is so for the table as a whole. */
static int table_apply(struct apply *apply, struct text_site_table *table)
{
	const struct fentry_change *change = apply->change;
	const struct fentry_scope *new = change->new;
	const bool all = change->nr ? new && ftrace_hash_empty(new->filter) :
				      fentry_enabled && table->ready;
	const bool by_name = new && (!all || !ftrace_hash_empty(new->notrace_filter));
	struct text_site *site;
	int ret;

	for_each_text_site(site, table) {
		const unsigned long ip = text_site_addr(site);
		const bool wanted = !by_name ? all :
				    (all || cursor_has(&apply->filter, ip)) &&
				    !cursor_has(&apply->notrace_filter, ip);

		ret = site_apply(apply, table, site, wanted);
		if (ret)
			return ret;
	}
	return 0;
}

/* Only the sites that a filter names */
static int named_apply(struct apply *apply, struct ftrace_hash *hash)
{
	const struct text_site_table *only = apply->change->table;
	const struct fentry_scope *new = apply->change->new;
	const struct fentry_filter *filter = fentry_filter(hash);
	const unsigned long from = only ? fentry_filter_below(filter, only->start) : 0;
	struct text_site_table *table;
	struct text_site *site;
	int ret;

	for (unsigned long i = from; i < hash->count; i++) {
		const unsigned long ip = filter->ip[i];

		if (only && ip >= only->end)
			break;
		site = text_site_find(&fentry_sites, ip, ip, &table);
		if (!site || text_site_addr(site) != ip)
			continue;
		if (apply->is_direct)
			ret = site_apply_direct(apply, table, site);
		else
			ret = site_apply(apply, table, site, new && fentry_scope_has(new, ip));
		if (ret)
			return ret;
	}
	return 0;
}

/* Is it less work to look at all sites than to find those that a filter names? */
static bool names_many(const struct fentry_scope *scope, const struct fentry_change *change)
{
	return scope && (ftrace_hash_empty(scope->filter) ||
			 (!change->table && scope->filter->count > ftrace_update_tot_cnt / 16));
}

static int tables_apply(struct apply *apply)
{
	const struct fentry_change *change = apply->change;
	struct text_site_table *table;
	int ret = 0;

	if (change->sites)
		return named_apply(apply, change->sites);
	if (!apply->is_direct &&
	    (!change->nr || names_many(change->old, change) || names_many(change->new, change))) {
		for_each_fentry_table(table) {
			if (!change->table || table == change->table)
				ret = ret ?: table_apply(apply, table);
		}
		return ret;
	}

	if (change->old)
		ret = named_apply(apply, change->old->filter);
	if (change->new && !ret)
		ret = named_apply(apply, change->new->filter);
	return ret;
}

/*
 * Makes sites what they should be after a change. Sleeps.
 *
 * Two ops that want at a site what only one can have are refused before this, by
 * check_exclusive().
 *
 * Returns 0; or with no text changed -ENODEV after ftrace_kill(), -EINVAL if the text of a
 * site is not what it should be, or -ENOMEM: there has never been a set, or there is no
 * memory to note the new sets of sites whose direct calls differ. Then the caller has to
 * put the data back and to apply the reverse.
 */
int fentry_apply(const struct fentry_change *change)
{
	static unsigned long last_seq;
	struct apply apply = {
		.change	   = change,
		.seq	   = ++last_seq,
		.met	   = LIST_HEAD_INIT(apply.met),
		.id	   = ~0,
		.is_direct = change->nr && (change->ops[0]->flags & FTRACE_OPS_FL_DIRECT),
	};
	struct ops_set *set, *next;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (fentry_dead)
		return -ENODEV;

	if (change->new) {
		apply.filter.hash = change->new->filter;
		apply.notrace_filter.hash = change->new->notrace_filter;
	}
	ret = tables_apply(&apply);
	if (!ret)
		ret = text_site_commit(&fentry_sites);
	else
		text_site_abort(&fentry_sites);

	list_for_each_entry_safe(set, next, &apply.met, met) {
		if (!ret)
			set->nr_sites += set->delta;
		fentry_set_put_unused(set);
	}
	return ret;
}

/*
 * What others at an ops' functions do of which there can be only one: flags of
 * FENTRY_EXCLUSIVE. Which functions: those of @sites that are in @filter.
 */
unsigned long fentry_exclusive_at(const struct ftrace_ops *ops, struct ftrace_hash *sites,
				  struct ftrace_hash *filter)
{
	unsigned long flags = 0;

	for (unsigned long i = 0; i < sites->count; i++) {
		const unsigned long ip = fentry_filter(sites)->ip[i];
		const struct text_site *site = text_site_find(&fentry_sites, ip, ip, NULL);
		const struct ops_set *set;
		struct ftrace_ops *other;

		if (!site || text_site_addr(site) != ip ||
		    (sites != filter && !ftrace_lookup_ip(filter, ip)))
			continue;
		set = fentry_site_set(site);
		if (!set->shared) {
			flags |= set->flags & ~(fentry_set_has(set, ops) ? ops->flags : 0);
			continue;
		}
		for_each_fentry_member(other) {
			if (other != ops && ftrace_ops_test(other, ip, NULL))
				flags |= other->flags;
		}
	}
	return flags & FENTRY_EXCLUSIVE;
}

/*
 * A site's text is about to be freed: it stays as it is, and belongs to no set. With @called,
 * tasks may execute it until then, so the trampoline that it calls has to stay. Sleeps.
 */
void fentry_site_gone(struct text_site *site, bool called)
{
	struct ops_set *set = fentry_site_set(site);

	WRITE_ONCE(site->state, site->state | TEXT_SITE_DEAD);
	set->kept |= called;
	set->nr_sites--;
	fentry_set_put_unused(set);
}
