// SPDX-License-Identifier: GPL-2.0
/*
 * Ops sets: the combinations of ops that sites have, each made once.
 *
 * A set is a target of the sites' kind. It has the one trampoline that calls its ops,
 * so a site never needs to look up who wants it. A subops has no call of its own: the
 * trampoline calls its manager, once for all of its subops in the set. With an ops for
 * direct calls, what is called belongs to the combination: sites that call different
 * things have different sets.
 *
 * Each combination has two sets: one whose sites call, and one whose sites are NOPs
 * (off), for when kernel.ftrace_enabled is 0 and for modules that are not ready.
 *
 * If there is no memory for a set, there are too many, or its trampoline would be too
 * large, its sites get a set that all such combinations share. Its trampoline finds the
 * callbacks by asking every ops: that is slow, but no switch fails for want of memory.
 *
 * Everything here is under ftrace_lock, unless it says otherwise.
 */
#include <linux/ftrace_direct.h>
#include <linux/hashtable.h>
#include <linux/idr.h>
#include <linux/jhash.h>
#include <linux/perf_event.h>
#include <linux/rcupdate_wait.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <asm/ftrace.h>

#include "set.h"

struct ops_set fentry_no_ops, fentry_no_ops_off = { .id = 1, .off = true };

static struct ops_set shared = { .id = 2, .shared = true };
static struct ops_set shared_off = { .id = 3, .shared = true, .off = true };

#define FIRST_ID	4

/* A site has it, or has had it, and its callback may still be running */
static bool shared_used;
static unsigned int shared_gets;	/* how often it was given to a site */

static struct text_target first_targets[TEXT_TARGET_PAGE] = {
	[0] = { .owner = &fentry_no_ops },
	[1] = { .owner = &fentry_no_ops_off },
	[2] = { .owner = &shared, .mark = FENTRY_TOUCHED | FENTRY_MODIFIED },
	[3] = { .owner = &shared_off },
};

/* What happens as its tables come and go is in module.c. */
struct text_site_kind fentry_sites = {
	.name		= "function entry",
	.insn		= &text_insn_call,
	.section	= TEXT_SECTION_ENTRIES,
	.original	= (unsigned long)__fentry__,
	.lock		= &ftrace_lock,
	.pages		= { first_targets },
};

static DEFINE_HASHTABLE(sets, 12);
static atomic_t nr_sets;	/* retired ones included */
static atomic_t changes;	/* how often a trampoline has come or gone */

/* Half of all ids: those of retired sets are in use for a while yet. */
unsigned int fentry_sets_max = TEXT_TARGET_MAX / 2;

static DEFINE_IDA(set_ids);

/* What is to be done when all tasks have left: see ftrace_after_tasks() */
static struct rcu_head *retired;

static void retire_work_func(struct work_struct *work);
static DECLARE_WORK(retire_work, retire_work_func);

/* The ops that stands for the @i'th of a set: NULL if one before it stands for both */
struct ftrace_ops *fentry_set_called(const struct ops_set *set, unsigned int i)
{
	struct ftrace_ops *called = fentry_ops_called(set->ops[i]);

	for (unsigned int j = 0; called != set->ops[i] && j < i; j++) {
		if (fentry_ops_called(set->ops[j]) == called)
			return NULL;
	}
	return called;
}

static u32 ops_hash(struct ftrace_ops *const *ops, unsigned int nr, unsigned long direct,
		    bool off)
{
	return jhash(ops, nr * sizeof(*ops), (u32)direct ^ (nr << 1 | off));
}

static struct ops_set *set_lookup(struct ftrace_ops *const *ops, unsigned int nr,
				  unsigned long direct, bool off)
{
	struct ops_set *set;

	hash_for_each_possible(sets, set, hash, ops_hash(ops, nr, direct, off)) {
		if (set->nr == nr && set->off == off && set->direct == direct &&
		    !memcmp(set->ops, ops, nr * sizeof(*ops)))
			return set;
	}
	return NULL;
}

static int target_alloc(struct ops_set *set)
{
	u32 mark = FENTRY_TOUCHED;
	struct text_target *target;
	int id, ret;

	id = ida_alloc_range(&set_ids, FIRST_ID, TEXT_TARGET_MAX - 1, GFP_KERNEL);
	if (id < 0)
		return id;

	ret = text_target_reserve(&fentry_sites, id);
	if (ret) {
		ida_free(&set_ids, id);
		return ret;
	}

	if (set->flags & FENTRY_EXCLUSIVE)
		mark |= FENTRY_MODIFIED;
	set->id = id;
	target = text_target(&fentry_sites, id);
	*target = (struct text_target) {
		.addr	= set->off ? 0 : set->tramp.nr ? set->tramp.addr : set->direct,
		.mark	= set->off ? 0 : mark,
	};
	/* Pairs with fentry_trampoline_nth(): who sees the set sees what is in it. */
	smp_store_release(&target->owner, set);
	return 0;
}

/* Includes the calls of its trampoline, behind @ops. */
static size_t set_size(unsigned int nr)
{
	return struct_size_t(struct ops_set, ops, nr) + nr * sizeof(struct fentry_callback);
}

static int set_trampoline(struct ops_set *set)
{
	struct fentry_callback *calls = (void *)(set->ops + set->nr);
	unsigned int nr = 0, flags = 0;

	for (unsigned int i = 0; i < set->nr; i++) {
		struct ftrace_ops *ops = fentry_set_called(set, i);

		if (!ops || !fentry_ops_is_called(ops))
			continue;
		calls[nr++] = (struct fentry_callback){
			.func = fentry_ops_callback(ops),
			.arg = ops,
		};
	}
	if (!nr)
		return 0;
	if (set->flags & FTRACE_OPS_FL_SAVE_REGS)
		flags |= TRAMPOLINE_REGS;
	if (set->flags & FTRACE_OPS_FL_IPMODIFY)
		flags |= TRAMPOLINE_SET_IP;
	if (set->flags & FTRACE_OPS_FL_NO_REGS)
		flags |= TRAMPOLINE_BARE;
	return fentry_trampoline_create(&set->tramp, flags, calls, nr, set->direct);
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
	atomic_inc(&changes);
	if (!comes)
		perf_event_text_poke(text, text, tramp->size, NULL, 0);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, tramp->addr, tramp->size, !comes,
			   FENTRY_TRAMPOLINE_SYM);
	if (comes)
		perf_event_text_poke(text, NULL, 0, text, tramp->size);
}

/* The trampoline for all combinations that have none: before there is any other */
static int shared_trampoline(void)
{
	static struct fentry_callback call = { .func = fentry_shared_callback };
	int ret;

	if (shared.tramp.nr)
		return 0;
	ret = fentry_trampoline_create(&shared.tramp, TRAMPOLINE_SHARED, &call, 1, 0);
	if (ret)
		return ret;
	text_target(&fentry_sites, shared.id)->addr = shared.tramp.addr;
	report_trampoline(&shared, true);
	return 0;
}

static int set_init(struct ops_set *set, struct ftrace_ops *const *ops)
{
	int ret;

	set->flags = FTRACE_OPS_FL_NO_REGS;
	for (unsigned int i = 0; i < set->nr; i++) {
		const struct ftrace_ops *called = fentry_ops_called(ops[i]);
		const unsigned long flags = ops[i]->flags | called->flags;

		set->ops[i] = ops[i];
		if (fentry_ops_is_called(called) && !(called->flags & FTRACE_OPS_FL_NO_REGS))
			set->flags &= ~FTRACE_OPS_FL_NO_REGS;
		set->flags |= flags & (FENTRY_EXCLUSIVE | FTRACE_OPS_FL_SAVE_REGS);
		if (flags & FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED)
			set->flags |= FTRACE_OPS_FL_SAVE_REGS;
	}

	ret = set->off ? 0 : set_trampoline(set);
	if (ret)
		return ret;
	ret = target_alloc(set);
	if (ret && set->tramp.nr)
		fentry_trampoline_free(&set->tramp);
	return ret;
}

/*
 * The set for combinations that cannot have one of their own. From now on, tasks may be in its
 * trampoline. Sleeps. Fails only with -ENOMEM, and only as long as there never was a set.
 */
struct ops_set *fentry_set_shared(bool off)
{
	int ret = shared_trampoline();

	shared_used = true;
	shared_gets++;
	return ret ? ERR_PTR(ret) : off ? &shared_off : &shared;
}

/* Are there too many sets, even when those that nobody needs are gone? */
static bool sets_full(void)
{
	if (atomic_read(&nr_sets) >= fentry_sets_max && system_unbound_wq)
		flush_work(&retire_work);
	return atomic_read(&nr_sets) >= fentry_sets_max;
}

static struct ops_set *set_create(struct ftrace_ops *const *ops, unsigned int nr,
				  unsigned long direct, bool off)
{
	struct ops_set *set = sets_full() ? NULL : kzalloc(set_size(nr), GFP_KERNEL);

	if (!set)
		return fentry_set_shared(off);
	set->nr = nr;
	set->direct = direct;
	set->off = off;
	if (shared_trampoline() || set_init(set, ops)) {
		kfree_rcu(set, rcu);	/* an unwinder may have seen its trampoline */
		return fentry_set_shared(off);
	}

	atomic_inc(&nr_sets);
	hash_add(sets, &set->hash, ops_hash(ops, nr, direct, off));
	report_trampoline(set, true);
	return set;
}

/*
 * The set with some ops, the latest registered first, one of which has @direct called
 * unless that is 0. Sleeps. Fails as fentry_set_shared().
 */
struct ops_set *fentry_set_get(struct ftrace_ops *const *ops, unsigned int nr,
			       unsigned long direct, bool off)
{
	if (!nr)
		return off ? &fentry_no_ops_off : &fentry_no_ops;
	return set_lookup(ops, nr, direct, off) ?: set_create(ops, nr, direct, off);
}

/* The set with the same ops that is on if @set is off, or the other way round */
struct ops_set *fentry_set_twin(struct ops_set *set)
{
	if (set->shared)
		return fentry_set_shared(!set->off);
	return fentry_set_get(set->ops, set->nr, set->direct, !set->off);
}

/*
 * Has the trampolines of all sets with an ops call @func for it from now on. Other ops in
 * them may have been freed, after ftrace_kill().
 */
static void retarget(struct ftrace_ops *ops, void *func)
{
	struct ops_set *set;
	int bucket;

	hash_for_each(sets, bucket, set, hash)
		fentry_trampoline_retarget(&set->tramp, ops, func);
}

DEFINE_LOCK_GUARD_0(fentry_redirect, fentry_redirect_begin(), fentry_redirect_end())

/* An ops' callback has changed. Sleeps. */
void fentry_sets_retarget(struct ftrace_ops *ops)
{
	guard(fentry_redirect)();
	retarget(ops, fentry_ops_callback(ops));
}

/*
 * An ops goes though its sites could not be switched: its trampolines call a stub in its
 * place, for good. A site that has nothing but its direct call keeps that. Sleeps.
 */
void fentry_sets_silence(struct ftrace_ops *ops)
{
	struct ops_set *set;
	int bucket;

	guard(fentry_redirect)();
	retarget(ops, ftrace_stub);
	if (!(ops->flags & FTRACE_OPS_FL_DIRECT))
		return;
	hash_for_each(sets, bucket, set, hash) {
		if (set->tramp.nr && fentry_set_has(set, ops))
			fentry_trampoline_go_on_to(&set->tramp,
						   (unsigned long)ftrace_stub_direct_tramp);
	}
}

/* With ftrace=, the first trampolines are older than the kernel's choice of mitigations. */
static int __init sets_mitigate(void)
{
	struct ops_set *set;
	int bucket;

	guard(mutex)(&ftrace_lock);
	guard(fentry_redirect)();
	fentry_trampoline_mitigate(&shared.tramp);
	hash_for_each(sets, bucket, set, hash)
		fentry_trampoline_mitigate(&set->tramp);
	return 0;
}
early_initcall(sets_mitigate);

/**
 * ftrace_after_tasks - call a function when no task is on its way from where it was
 * @head: what @func gets, in memory that stays until then
 * @func: may sleep, and waits for none that waits for ftrace_lock
 *
 * A task that has entered a function whose site was switched meanwhile may be preempted
 * before it gets to what the site called. @func runs when all such tasks have got there
 * and have gone on to where they sleep: as after unregister_ftrace_function(), but nobody
 * waits for it.
 *
 * Context: any that may take a spinlock. What is called has been taken off all sites.
 */
void ftrace_after_tasks(struct rcu_head *head, rcu_callback_t func)
{
	head->func = func;
	head->next = READ_ONCE(retired);
	/* Pairs with the xchg() of retire_work_func(). */
	while (!try_cmpxchg(&retired, &head->next, head))
		;
	/* Before there are workqueues, retire_early() has to do it. */
	if (system_unbound_wq)
		queue_work(system_unbound_wq, &retire_work);
}

static void set_free(struct rcu_head *head)
{
	struct ops_set *set = container_of(head, struct ops_set, rcu);

	/* fentry_trampoline_nth() does not find it any more. */
	WRITE_ONCE(text_target(&fentry_sites, set->id)->owner, NULL);
	if (set->tramp.nr) {
		report_trampoline(set, false);
		fentry_trampoline_free(&set->tramp);
	}
	ida_free(&set_ids, set->id);
	atomic_dec(&nr_sets);
	kfree_rcu(set, rcu);
}

/* The trampoline calls none of its ops from now on: they may be freed. Sleeps. */
static void trampoline_silence(struct fentry_trampoline *tramp)
{
	guard(fentry_redirect)();
	for (unsigned int i = 0; i < tramp->nr; i++)
		fentry_trampoline_retarget(tramp, tramp->call[i].arg, ftrace_stub);
	if (tramp->nr && tramp->onward)
		fentry_trampoline_go_on_to(tramp, (unsigned long)ftrace_stub_direct_tramp);
}

/*
 * Retires a set that no site holds. It cannot be found any more, as its ops may be
 * freed. Tasks may still be in its trampoline, so that is freed some time later. A set that is
 * kept keeps its trampoline, silenced: text of a module may call it until it is freed.
 */
void fentry_set_put_unused(struct ops_set *set)
{
	if (set->nr_sites || hlist_unhashed(&set->hash))
		return;

	hash_del(&set->hash);
	if (set->kept)
		trampoline_silence(&set->tramp);
	else
		ftrace_after_tasks(&set->rcu, set_free);
}

static int __init retire_early(void)
{
	queue_work(system_unbound_wq, &retire_work);
	return 0;
}
core_initcall(retire_early);

/* May fentry_shared_callback() be running, which looks at any ops? */
bool fentry_sets_shared(void)
{
	return shared_used;
}

/*
 * Waits until no task is in what was taken off the sites.
 *
 * No task enters a retired set's trampoline: the last sync of the batch that took its
 * last site away came after every breakpoint handler that had read its address. If the
 * text of that site stayed as it was, there was no sync; handlers run with interrupts
 * off, and the rude grace period waits for them. A task
 * in it leaves it before it schedules voluntarily (RCU tasks) or, where RCU does not
 * watch, before its CPU schedules (rude). The same holds for the functions of the ops
 * that it has called.
 *
 * Which of the two it is does not change while a task is there: what RCU does not watch
 * is the idle task, or runs with interrupts off, and is not preempted. So neither grace
 * period has to begin after the other one, and this waits for both at a time.
 *
 * Sleeps for long; ftrace_lock is not needed.
 */
void fentry_sets_sync(void)
{
	/* Without RCU tasks no task is preempted: not to be had lazily, then. */
	const call_rcu_func_t call = IS_ENABLED(CONFIG_TASKS_RCU) ? call_rcu_tasks :
								    call_rcu_hurry;
	struct rcu_synchronize tasks;

	init_rcu_head_on_stack(&tasks.head);
	init_completion(&tasks.completion);
	call(&tasks.head, wakeme_after_rcu);
	synchronize_rcu_tasks_rude();
	wait_for_completion(&tasks.completion);
	destroy_rcu_head_on_stack(&tasks.head);
}

/* The grace period has begun when no site was sharing: so nobody is in the callback. */
static void shared_left(unsigned int gets)
{
	if (!mutex_trylock(&ftrace_lock))
		return;
	if (gets == shared_gets)
		shared_used = false;
	mutex_unlock(&ftrace_lock);
}

/* Does not wait for ftrace_lock: sets_full() waits for this while it is held. */
static void retire_work_func(struct work_struct *work)
{
	struct rcu_head *dying = xchg(&retired, NULL), *next;
	bool sharing = READ_ONCE(shared_used);
	unsigned int gets = 0;

	if (!dying)
		return;

	if (sharing && mutex_trylock(&ftrace_lock)) {
		sharing = shared.nr_sites || shared.kept;
		gets = shared_gets;
		mutex_unlock(&ftrace_lock);
	}
	fentry_sets_sync();
	if (!sharing)
		shared_left(gets);

	for (; dying; dying = next) {
		next = dying->next;
		dying->func(dying);
	}
}

/* Where fentry_trampoline_nth() was last: read and written at once, so that it needs no lock */
union listing {
	u64		word;
	struct {
		u32	changes;
		u16	n, id;
	};
};

/*
 * For /proc/kallsyms: the address of the @n'th trampoline, by id of its set, or 0 if there
 * are fewer. A reader asks for one after the other, so the search continues where the last
 * one ended, unless a trampoline has come or gone since.
 */
unsigned long fentry_trampoline_nth(unsigned int n)
{
	static atomic64_t last;
	union listing at = { .word = atomic64_read(&last) };
	const struct ops_set *set;
	unsigned int id, i;

	guard(rcu)();
	if (at.changes != (u32)atomic_read(&changes) || at.n > n)
		at = (union listing){ .changes = atomic_read(&changes) };

	for (id = at.id, i = at.n; id < TEXT_TARGET_MAX; id++) {
		if (!READ_ONCE(fentry_sites.pages[id / TEXT_TARGET_PAGE])) {
			id += TEXT_TARGET_PAGE - 1;
			continue;
		}
		/* Pairs with target_alloc(): the set is initialised. */
		set = smp_load_acquire(&text_target(&fentry_sites, id)->owner);
		if (!set || !set->tramp.addr || i++ != n)
			continue;
		at.n = n;
		at.id = id;
		atomic64_set(&last, at.word);
		return set->tramp.addr;
	}
	return 0;
}
