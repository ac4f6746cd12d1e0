// SPDX-License-Identifier: GPL-2.0
/*
 * Ops sets: the combinations of ops that sites have, each made once.
 *
 * A set is a target of the sites' kind. It has the one trampoline that calls
 * its ops, which is why no site ever needs to look up who wants it.
 *
 * Everything here is under ftrace_lock, unless it says otherwise.
 */
#include <linux/hashtable.h>
#include <linux/idr.h>
#include <linux/jhash.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "fentry.h"

/* The set of a site that nothing is attached to */
static struct ops_set no_ops;
struct ops_set *const fentry_no_ops = &no_ops;

static struct text_target first_targets[TEXT_TARGET_PAGE] = {
	[0] = { .owner = &no_ops },
};

struct text_site_kind fentry_sites = {
	.name	= "function entry",
	.insn	= TEXT_INSN_CALL,
	.original = (unsigned long)__fentry__,
	.pages	= { first_targets },
};

static DEFINE_HASHTABLE(sets, 8);
static DEFINE_IDA(set_ids);
static LIST_HEAD(retired);	/* under ftrace_lock */

static void retire_work_func(struct work_struct *work);
static DECLARE_WORK(retire_work, retire_work_func);

/*
 * Stands in a set for an ops that is not there any more. It is in no other place,
 * so the set becomes one without it as soon as it changes at all.
 */
static struct ftrace_ops absent_ops = {
	.func	= ftrace_stub,
};

/* The same for one that has no call in the trampoline */
static struct ftrace_ops absent_uncalled_ops = {
	.flags		= FTRACE_OPS_FL_DIRECT,
	.direct_call	= (unsigned long)ftrace_stub_direct_tramp,
};

static bool is_absent(const struct ftrace_ops *ops)
{
	return ops == &absent_ops || ops == &absent_uncalled_ops;
}

/**
 * fentry_set_has - is an ops in a set?
 * @set: any set
 * @ops: any ops
 *
 * Return: true if so.
 */
bool fentry_set_has(const struct ops_set *set, const struct ftrace_ops *ops)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		if (set->ops[i] == ops)
			return true;
	}
	return false;
}

static u32 ops_hash(struct ftrace_ops *const *ops, unsigned int nr)
{
	return jhash(ops, nr * sizeof(*ops), nr);
}

/* What a site with these ops calls directly: at most one of them wants that. */
static unsigned long direct_call(struct ftrace_ops *const *ops, unsigned int nr)
{
	while (nr--) {
		if ((*ops)->flags & FTRACE_OPS_FL_DIRECT)
			return (*ops)->direct_call;
		ops++;
	}
	return 0;
}

static struct ops_set *set_lookup(struct ftrace_ops *const *ops, unsigned int nr)
{
	const unsigned long direct = direct_call(ops, nr);
	struct ops_set *set;

	hash_for_each_possible(sets, set, hash, ops_hash(ops, nr)) {
		if (set->nr == nr && set->direct == direct &&
		    !memcmp(set->ops, ops, nr * sizeof(*ops)))
			return set;
	}
	return NULL;
}

static int target_alloc(struct ops_set *set)
{
	int id, ret;

	id = ida_alloc_range(&set_ids, 1, TEXT_TARGET_MAX - 1, GFP_KERNEL);
	if (id < 0)
		return id;

	ret = text_target_reserve(&fentry_sites, id);
	if (ret) {
		ida_free(&set_ids, id);
		return ret;
	}

	*text_target(&fentry_sites, id) = (struct text_target) {
		.addr	= set->tramp.nr ? set->tramp.addr : set->direct,
		.owner	= set,
		.mark	= FENTRY_TOUCHED | (set->flags & FENTRY_EXCLUSIVE ? FENTRY_MODIFIED : 0),
	};
	set->id = id;
	return 0;
}

static int set_trampoline(struct ops_set *set)
{
	struct fentry_callback *calls;
	unsigned int i, nr = 0, flags = 0;
	int ret = 0;

	calls = kcalloc(set->nr, sizeof(*calls), GFP_KERNEL);
	if (!calls)
		return -ENOMEM;

	for (i = 0; i < set->nr; i++) {
		struct ftrace_ops *ops = set->ops[i];

		if (!fentry_ops_is_called(ops))
			continue;
		if (ops->flags & (FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED))
			flags |= TRAMPOLINE_REGS;
		if (ops->flags & FTRACE_OPS_FL_IPMODIFY)
			flags |= TRAMPOLINE_SET_IP;
		calls[nr].func = fentry_ops_callback(ops);
		calls[nr].arg = ops;
		nr++;
	}

	if (nr)
		ret = fentry_trampoline_create(&set->tramp, flags, calls, nr, set->direct);

	kfree(calls);
	return ret;
}

/*
 * Tell perf of a trampoline that comes or goes. Its text is of a symbol: it comes
 * after that, and goes before.
 */
static void report_trampoline(const struct ops_set *set, bool comes)
{
	const struct fentry_trampoline *tramp = &set->tramp;
	void *text = (void *)tramp->addr;

	if (!tramp->nr)
		return;
	if (!comes)
		perf_event_text_poke(text, text, tramp->size, NULL, 0);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, tramp->addr, tramp->size, !comes,
			   FENTRY_TRAMPOLINE_SYM);
	if (comes)
		perf_event_text_poke(text, NULL, 0, text, tramp->size);
}

static struct ops_set *set_create(struct ftrace_ops *const *ops, unsigned int nr)
{
	struct ops_set *set;
	unsigned int i;
	int ret;

	set = kzalloc(struct_size(set, ops, nr), GFP_KERNEL);
	if (!set)
		return ERR_PTR(-ENOMEM);

	set->nr = nr;
	for (i = 0; i < nr; i++) {
		set->ops[i] = ops[i];
		set->flags |= ops[i]->flags & (FENTRY_EXCLUSIVE |
					       FTRACE_OPS_FL_SAVE_REGS |
					       FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED);
	}
	if (set->flags & FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED)
		set->flags |= FTRACE_OPS_FL_SAVE_REGS;
	set->direct = direct_call(ops, nr);

	ret = set_trampoline(set);
	if (ret)
		goto err_free;
	ret = target_alloc(set);
	if (ret)
		goto err_trampoline;

	hash_add_rcu(sets, &set->hash, ops_hash(ops, nr));
	report_trampoline(set, true);
	return set;

err_trampoline:
	if (set->tramp.nr)
		fentry_trampoline_free(&set->tramp);
err_free:
	kfree_rcu(set, rcu);
	return ERR_PTR(ret);
}

static struct ops_set *set_get(struct ftrace_ops *const *ops, unsigned int nr)
{
	return nr ? set_lookup(ops, nr) ?: set_create(ops, nr) : &no_ops;
}

/**
 * fentry_set_add - the set with one ops more
 * @set: any set without @ops; or one with it, but calling directly what @ops
 *	has called so far
 * @ops: on fentry_ops
 *
 * Context: process context, sleeps.
 *
 * Return: the set; or a pointer of -EBUSY if both @ops and another in @set want
 * to change where a function goes on, or what it calls directly; -ENOMEM;
 * -ENOSPC if there are TEXT_TARGET_MAX sets already.
 */
struct ops_set *fentry_set_add(struct ops_set *set, struct ftrace_ops *ops)
{
	struct ftrace_ops **list, *pos;
	struct ops_set *to;
	unsigned int nr = 0;

	if ((set->flags & ops->flags & FENTRY_EXCLUSIVE) && !fentry_set_has(set, ops))
		return ERR_PTR(-EBUSY);

	list = kmalloc_array(set->nr + 1, sizeof(*list), GFP_KERNEL);
	if (!list)
		return ERR_PTR(-ENOMEM);

	/* One combination, one order: that of registration. */
	list_for_each_entry(pos, &fentry_ops, list) {
		if (pos == ops || fentry_set_has(set, pos))
			list[nr++] = pos;
	}

	to = set_get(list, nr);
	kfree(list);
	return to;
}

/**
 * fentry_set_del - the set with one ops less
 * @set: any set with @ops
 * @ops: any ops
 *
 * Context: process context, sleeps.
 *
 * Return: the set, or a pointer of -ENOMEM or -ENOSPC.
 */
struct ops_set *fentry_set_del(struct ops_set *set, struct ftrace_ops *ops)
{
	struct ftrace_ops **list;
	struct ops_set *to;
	unsigned int i, nr = 0;

	/* This cannot fail: see fentry_sets_remove(). */
	if (set->nr == 1)
		return &no_ops;

	list = kmalloc_array(set->nr, sizeof(*list), GFP_KERNEL);
	if (!list)
		return ERR_PTR(-ENOMEM);

	for (i = 0; i < set->nr; i++) {
		if (set->ops[i] != ops && !is_absent(set->ops[i]))
			list[nr++] = set->ops[i];
	}

	to = set_get(list, nr);
	kfree(list);
	return to;
}

/**
 * fentry_sets_retarget - an ops' callback has changed
 * @ops: whose
 *
 * Makes the trampolines of all sets it is in call the new one.
 *
 * Context: process context, sleeps.
 */
void fentry_sets_retarget(struct ftrace_ops *ops)
{
	struct ops_set *set;
	unsigned int i, call;
	int bucket;

	hash_for_each(sets, bucket, set, hash) {
		for (i = 0, call = 0; i < set->nr; i++) {
			if (!fentry_ops_is_called(set->ops[i]))
				continue;
			if (set->ops[i] == ops)
				fentry_trampoline_retarget(&set->tramp, call,
							 fentry_ops_callback(ops));
			call++;
		}
	}
}

/**
 * fentry_sets_remove - take an ops out of all sets where they are
 * @ops: what is about to go
 *
 * For when its sites cannot be switched to other sets, for want of memory. The
 * trampolines call a stub in its place, until their sites are switched. It stays
 * in the sets that have no trampoline: to leave those takes no memory.
 *
 * Context: process context, sleeps. Cannot fail.
 */
void fentry_sets_remove(struct ftrace_ops *ops)
{
	struct ftrace_ops *absent = fentry_ops_is_called(ops) ? &absent_ops :
								&absent_uncalled_ops;
	struct hlist_node *next;
	struct ops_set *set;
	HLIST_HEAD(changed);
	unsigned int i;
	int bucket;

	ops->func = ftrace_stub;
	ops->flags &= ~(FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU);
	fentry_sets_retarget(ops);

	hash_for_each_safe(sets, bucket, next, set, hash) {
		if (!set->tramp.nr || !fentry_set_has(set, ops))
			continue;
		for (i = 0; i < set->nr; i++) {
			if (set->ops[i] == ops)
				set->ops[i] = absent;
		}
		set->flags &= ~(ops->flags & FENTRY_EXCLUSIVE);
		if (ops->flags & FTRACE_OPS_FL_DIRECT) {
			set->direct = absent->direct_call;
			fentry_trampoline_go_on_to(&set->tramp, set->direct);
		}
		hash_del_rcu(&set->hash);
		hlist_add_head(&set->hash, &changed);
	}

	hlist_for_each_entry_safe(set, next, &changed, hash) {
		hlist_del_init(&set->hash);
		hash_add_rcu(sets, &set->hash, ops_hash(set->ops, set->nr));
	}
}

/**
 * fentry_set_put_unused - retire a set that no site holds
 * @set: any set; nothing happens if it is in use
 *
 * It cannot be found any more, as its ops may go away or change. Tasks may
 * still be in its trampoline, so that is freed some time later.
 */
void fentry_set_put_unused(struct ops_set *set)
{
	if (set == &no_ops || set->nr_sites || hlist_unhashed(&set->hash))
		return;

	hash_del_rcu(&set->hash);
	list_add(&set->retired, &retired);
	/* Before there are workqueues, it is retire_early() that has it done. */
	if (system_unbound_wq)
		queue_work(system_unbound_wq, &retire_work);
}

static int __init retire_early(void)
{
	queue_work(system_unbound_wq, &retire_work);
	return 0;
}
core_initcall(retire_early);

/**
 * fentry_sets_sync - wait until nobody is in what was taken off the sites
 *
 * Nobody gets into a retired set's trampoline any more: the last sync of the
 * batch that took its last site away was after every breakpoint handler that
 * had read its address. Whoever is in it leaves it before the task schedules
 * voluntarily (RCU tasks) or, where RCU does not watch, before the CPU does
 * (rude). The same holds for the ops' functions it has called.
 *
 * Context: process context, sleeps for long; ftrace_lock is not needed.
 */
void fentry_sets_sync(void)
{
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
}

static void retire_work_func(struct work_struct *work)
{
	struct ops_set *set, *next;
	LIST_HEAD(dying);

	mutex_lock(&ftrace_lock);
	list_splice_init(&retired, &dying);
	mutex_unlock(&ftrace_lock);

	if (list_empty(&dying))
		return;

	fentry_sets_sync();

	list_for_each_entry_safe(set, next, &dying, retired) {
		if (set->tramp.nr) {
			report_trampoline(set, false);
			fentry_trampoline_free(&set->tramp);
		}
		ida_free(&set_ids, set->id);
		kfree_rcu(set, rcu);
	}
}

/**
 * fentry_set_nth - for listing the sets with a trampoline
 * @n: from 0
 *
 * Context: under RCU.
 *
 * Return: the set, or NULL if there are not so many.
 */
struct ops_set *fentry_set_nth(unsigned int n)
{
	struct ops_set *set;
	int bucket;

	hash_for_each_rcu(sets, bucket, set, hash) {
		if (set->tramp.nr && !n--)
			return set;
	}
	return NULL;
}
