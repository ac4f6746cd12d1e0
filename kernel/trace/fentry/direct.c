// SPDX-License-Identifier: GPL-2.0
/*
 * Direct calls: sites that call a trampoline of someone else's, with nothing in
 * between. If there are other ops at the site, the set's trampoline calls them,
 * and then goes on to that one as if the site had called it.
 *
 * Such a trampoline may call the traced function itself, behind its site, and so
 * miss where an ops with IPMODIFY wants it to go on. Owners who can do it another
 * way have an ops_func that is told to.
 */
#include <linux/ftrace_direct.h>
#include <linux/kernel.h>
#include <linux/slab.h>

#include "filter.h"
#include "register.h"
#include "set.h"

/*
 * While it is held, no ops for direct calls comes or goes, and none with IPMODIFY
 * comes. Before the regex_lock of an ops and ftrace_lock. An ops_func is called under it.
 */
static DEFINE_MUTEX(direct_mutex);

/**
 * ftrace_find_rec_direct - what a site calls directly
 * @ip: any address
 *
 * Context: any.
 *
 * Return: the address, or 0.
 */
unsigned long ftrace_find_rec_direct(unsigned long ip)
{
	const struct text_site *site;
	const struct ops_set *set;
	struct ftrace_ops *ops;

	/* Tables and sets are freed after an RCU grace period, ops after a rude one. */
	guard(preempt_notrace)();
	site = text_site_find(&fentry_sites, ip, ip, NULL);
	if (!site || text_site_addr(site) != ip)
		return 0;
	set = fentry_site_set(site);
	if (!set->shared)
		return set->direct;
	for_each_fentry_member(ops) {
		if ((ops->flags & FTRACE_OPS_FL_DIRECT) && ftrace_ops_test(ops, ip, NULL))
			return fentry_ops_direct(ops, ip);
	}
	return 0;
}

/* Is it registered for direct calls? */
static bool is_direct(const struct ftrace_ops *ops)
{
	const unsigned long flags = FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_DIRECT |
				    FTRACE_OPS_FL_ENABLED;

	return (ops->flags & flags) == flags;
}

/* Nobody else changes it: direct_mutex and regex_lock are held. */
static struct fentry_filter *filter_of(const struct ftrace_ops *ops)
{
	return fentry_filter(fentry_ops_hash(ops, false));
}

/* Puts a filter in, which it takes over; only @sites are different from the former one. */
static int set_filter(struct ftrace_ops *ops, struct fentry_filter *filter,
		      struct fentry_filter *sites)
{
	struct fentry_filter *taken __free(kvfree) = filter;

	if (!filter)
		return -ENOMEM;
	if (fentry_dead)
		return -ENODEV;
	guard(mutex)(&ftrace_lock);
	return fentry_ops_set_filter(ops, no_free_ptr(taken), false, &sites->hash);
}

/* Registers an ops that is to call what @filter says, which it takes over. */
static int direct_register(struct ftrace_ops *ops, struct fentry_filter *filter)
{
	const unsigned long flags = ops->flags;
	int ret;

	ret = set_filter(ops, filter, filter);
	if (ret)
		return ret;
	ops->func = ftrace_stub;
	/* SAVE_REGS is what users of enabled_functions know such an ops by. */
	ops->flags |= FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_REGS;
	ret = fentry_ops_register(ops);
	if (ret) {
		ops->func = NULL;
		ops->flags = flags;
		/* The filter keeps its sites. The ops is not registered: nobody reads this. */
		if (filter_of(ops))
			filter_of(ops)->direct = NULL;
	}
	return ret;
}

static int direct_unregister(struct ftrace_ops *ops)
{
	int ret = fentry_ops_unregister(ops);

	if (!ret)
		ops->func = NULL;
	return ret;
}

/**
 * register_ftrace_direct - have functions call a trampoline directly
 * @ops: has a filter (ftrace_set_filter_ip()), and no function
 * @addr: the trampoline. It gets there as if called by the first instruction of
 *	a function, and has to keep all argument registers.
 *
 * Context: process context, sleeps, not in an ops_func. Takes direct_mutex, the filter's
 * regex_lock, ftrace_lock and what ftrace_startup() takes.
 *
 * Return: 0; or with nothing changed -EINVAL if @ops is registered already, has
 * no filter, or if @addr is not in kernel text; -EBUSY if at one of the
 * functions there is another direct call, or an ops with IPMODIFY that this one
 * cannot be with; what the owner's ops_func says; -ENOMEM; or an error of
 * register_ftrace_function().
 */
int register_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	guard(mutex)(&direct_mutex);
	if (ops->func || !(ops->flags & FTRACE_OPS_FL_INITIALIZED) ||
	    (ops->flags & FTRACE_OPS_FL_ENABLED) || !kernel_text_address(addr))
		return -EINVAL;

	guard(mutex)(&ops->func_hash->regex_lock);
	return direct_register(ops, fentry_filter_redirect(filter_of(ops), addr));
}
EXPORT_SYMBOL_GPL(register_ftrace_direct);

/**
 * unregister_ftrace_direct - the counterpart of register_ftrace_direct()
 * @ops: what was registered
 * @addr: not used: it is known what is called
 * @free_filters: free them, too
 *
 * Context: as unregister_ftrace_function(). Takes direct_mutex first; not in an ops_func.
 *
 * Return: 0, or -EINVAL if @ops is not registered for direct calls, or an error
 * of unregister_ftrace_function().
 */
int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long addr,
			     bool free_filters)
{
	int ret;

	if (!is_direct(ops))
		return -EINVAL;

	scoped_guard(mutex, &direct_mutex)
		ret = direct_unregister(ops);
	if (free_filters)
		ftrace_free_filter(ops);
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_direct);

/**
 * modify_ftrace_direct_nolock - modify_ftrace_direct() for an ops' own ops_func
 * @ops: registered
 * @addr: what to call from now on
 *
 * Context: in an ops_func, under direct_mutex, but not for
 * FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF, which comes under ftrace_lock. Otherwise as
 * register_ftrace_direct().
 *
 * Return: as modify_ftrace_direct().
 */
int modify_ftrace_direct_nolock(struct ftrace_ops *ops, unsigned long addr)
{
	struct fentry_filter *filter;

	lockdep_assert_held(&direct_mutex);

	if (!is_direct(ops) || !kernel_text_address(addr))
		return -EINVAL;

	guard(mutex)(&ops->func_hash->regex_lock);
	filter = fentry_filter_redirect(filter_of(ops), addr);
	return set_filter(ops, filter, filter);
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct_nolock);

/**
 * modify_ftrace_direct - have functions call another trampoline directly
 * @ops: registered
 * @addr: what to call from now on
 *
 * When it returns, no site calls the former one any more, but tasks may be there
 * for an RCU-tasks grace period. There is no moment at which neither is called.
 *
 * Context: as register_ftrace_direct().
 *
 * Return: 0; or with nothing changed -ENODEV after ftrace_kill(), -EINVAL if @ops
 * is not registered for direct calls or @addr is not in kernel text, -EBUSY or what
 * the owner's ops_func says if there is an ops with IPMODIFY, -ENOMEM, or an error of
 * ftrace_startup().
 */
int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	guard(mutex)(&direct_mutex);
	return modify_ftrace_direct_nolock(ops, addr);
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct);

/**
 * alloc_ftrace_hash - get a hash for update_ftrace_direct_add() and the like
 * @size_bits: not used: it is as large as what is added
 *
 * Context: may sleep.
 *
 * Return: an empty one, for free_ftrace_hash(); NULL without memory.
 */
struct ftrace_hash *alloc_ftrace_hash(int size_bits)
{
	/* A hash to collect entries in needs no buckets: one list will do. */
	struct ftrace_hash *hash = kzalloc(size_add(sizeof(*hash), sizeof(*hash->buckets)),
					   GFP_KERNEL);

	if (hash)
		hash->buckets = (struct hlist_head *)(hash + 1);
	return hash;
}
EXPORT_SYMBOL_GPL(alloc_ftrace_hash);

/**
 * free_ftrace_hash - the counterpart of alloc_ftrace_hash()
 * @hash: a hash and all its entries; may be NULL
 */
void free_ftrace_hash(struct ftrace_hash *hash)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *next;

	if (!hash)
		return;
	hlist_for_each_entry_safe(entry, next, hash->buckets, hlist)
		kfree(entry);
	kfree(hash);
}
EXPORT_SYMBOL_GPL(free_ftrace_hash);

/**
 * add_ftrace_hash_entry_direct - say what a function is to call directly
 * @hash: where
 * @ip: the function, or its site
 * @direct: the trampoline, see register_ftrace_direct()
 *
 * Context: may sleep.
 *
 * Return: the entry, NULL without memory.
 */
struct ftrace_func_entry *add_ftrace_hash_entry_direct(struct ftrace_hash *hash,
						       unsigned long ip, unsigned long direct)
{
	struct ftrace_func_entry *entry = kmalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return NULL;
	entry->ip = ip;
	entry->direct = direct;
	hlist_add_head(&entry->hlist, hash->buckets);
	hash->count++;
	return entry;
}
EXPORT_SYMBOL_GPL(add_ftrace_hash_entry_direct);

/* What is asked for of the functions in a hash */
enum update { UPDATE_ADD, UPDATE_DEL, UPDATE_MOD };

/* May a function that calls @now by the filter so far, 0: nothing, be updated like that? */
static int check_update(enum update what, unsigned long now, unsigned long ip,
			unsigned long direct)
{
	switch (what) {
	case UPDATE_ADD:
		if (now)
			return -EBUSY;
		return ftrace_location(ip) && kernel_text_address(direct) ? 0 : -EINVAL;
	case UPDATE_DEL:
		return now && now == direct ? 0 : -EINVAL;
	case UPDATE_MOD:
		return now && kernel_text_address(direct) ? 0 : -EINVAL;
	}
	return -EINVAL;
}

static int direct_update(struct ftrace_ops *ops, const struct ftrace_hash *hash, enum update what)
{
	struct fentry_filter *sites __free(kvfree) = NULL;
	struct fentry_filter *new;
	struct ftrace_hash *old;
	unsigned long i;
	int ret;

	lockdep_assert_held(&direct_mutex);
	guard(mutex)(&ops->func_hash->regex_lock);

	if (!hash || !hash->count)
		return -EINVAL;
	sites = fentry_filter_new_direct(hash);
	if (IS_ERR(sites))
		return PTR_ERR(sites);
	old = fentry_ops_hash(ops, false);
	for (i = 0; i < hash->count; i++) {
		ret = check_update(what, fentry_filter_direct(old, sites->ip[i]),
				   sites->ip[i], sites->direct[i]);
		if (ret)
			return ret;
	}

	new = what == UPDATE_DEL ? fentry_filter_subtract(fentry_filter(old), sites) :
				   fentry_filter_union(fentry_filter(old), sites);
	if (!is_direct(ops)) {
		ret = new ? direct_register(ops, new) : -ENOMEM;
		if (ret)
			ftrace_free_filter(ops);
	} else if (new && !new->hash.count) {
		kvfree(new);
		ret = direct_unregister(ops);
		if (!ret)
			ftrace_free_filter(ops);
	} else {
		ret = set_filter(ops, new, sites);
	}
	return ret;
}

/**
 * update_ftrace_direct_add - have more functions call a trampoline each directly
 * @ops: registered for direct calls, or not registered and without function and filter;
 *	then it gets registered
 * @hash: which functions, and what each is to call; the caller's
 *
 * All of them change in one run of the patcher.
 *
 * Context: as register_ftrace_direct().
 *
 * Return: 0; or with nothing changed -EINVAL if @hash is empty, has a function twice, one
 * that has no site, or a trampoline that is not in kernel text, or if @ops is registered
 * for something else or has a filter; -EBUSY if one of the functions has a direct call, or
 * an ops with IPMODIFY that this one cannot be with; what the owner's ops_func says;
 * -ENOMEM; or an error of register_ftrace_function().
 */
int update_ftrace_direct_add(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	fentry_ops_init(ops);
	guard(mutex)(&direct_mutex);
	if (!is_direct(ops) && (ops->func || (ops->flags & FTRACE_OPS_FL_ENABLED) ||
				rcu_access_pointer(ops->func_hash->filter_hash)))
		return -EINVAL;
	return direct_update(ops, hash, UPDATE_ADD);
}
EXPORT_SYMBOL_GPL(update_ftrace_direct_add);

/**
 * update_ftrace_direct_del - have functions call nothing directly any more
 * @ops: registered for direct calls; with its last function it gets unregistered
 * @hash: which functions, and what each calls; the caller's
 *
 * All of them change in one run of the patcher. When it returns, no site calls its
 * trampoline any more, but tasks may be there for an RCU-tasks grace period.
 *
 * Context: as register_ftrace_direct(); for long if it unregisters @ops.
 *
 * Return: 0; or with nothing changed -EINVAL if @ops is not registered for direct calls, or
 * if @hash is empty, has a function twice, or one that does not call this, or if the text of
 * a site is not what it should be; -ENOMEM; -ENODEV after ftrace_kill(). If @hash has all
 * functions that are left: as unregister_ftrace_function().
 */
int update_ftrace_direct_del(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	guard(mutex)(&direct_mutex);
	return is_direct(ops) ? direct_update(ops, hash, UPDATE_DEL) : -EINVAL;
}
EXPORT_SYMBOL_GPL(update_ftrace_direct_del);

/**
 * update_ftrace_direct_mod - have functions call other trampolines directly
 * @ops: registered for direct calls
 * @hash: which of its functions, and what each is to call from now on; the caller's
 * @do_direct_lock: false in an ops_func, see modify_ftrace_direct_nolock(); true elsewhere
 *
 * All of them change in one run of the patcher; see modify_ftrace_direct().
 *
 * Context: as register_ftrace_direct().
 *
 * Return: 0; or with nothing changed -EINVAL if @ops is not registered for direct calls,
 * or if @hash is empty, has a function twice, one that @ops has no call of, or a trampoline
 * that is not in kernel text; or else as modify_ftrace_direct().
 */
int update_ftrace_direct_mod(struct ftrace_ops *ops, struct ftrace_hash *hash,
			     bool do_direct_lock)
{
	int ret;

	if (do_direct_lock)
		mutex_lock(&direct_mutex);
	ret = is_direct(ops) ? direct_update(ops, hash, UPDATE_MOD) : -EINVAL;
	if (do_direct_lock)
		mutex_unlock(&direct_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(update_ftrace_direct_mod);

/*
 * The next ops behind @prev with @flag that is at any function of @ops. If it is one for
 * direct calls it cannot go away, for the lock, and so its place in the list is good.
 */
static struct ftrace_ops *next_at(struct ftrace_ops *prev, const struct ftrace_ops *ops,
				  unsigned long flag)
{
	struct ftrace_ops *pos;

	lockdep_assert_held(&direct_mutex);
	guard(mutex)(&ftrace_lock);

	pos = prev ?: list_entry(&fentry_ops, struct ftrace_ops, list);
	list_for_each_entry_continue(pos, &fentry_ops, list) {
		if (pos != ops && (pos->flags & flag) &&
		    fentry_filters_overlap(fentry_ops_hash(pos, false),
					   fentry_ops_hash(ops, false)))
			return pos;
	}
	return NULL;
}

/* Tell those who call the function themselves that where it goes on may change. */
static int share(const struct ftrace_ops *ops)
{
	struct ftrace_ops *direct = NULL;
	int ret;

	while ((direct = next_at(direct, ops, FTRACE_OPS_FL_DIRECT))) {
		if (!direct->ops_func)
			return -EBUSY;
		ret = direct->ops_func(direct, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER);
		if (ret)
			return ret;
	}
	return 0;
}

/* And that it does not any more. They need not mind, so their errors do not count. */
static void unshare(const struct ftrace_ops *ops)
{
	struct ftrace_ops *direct = NULL;

	while ((direct = next_at(direct, ops, FTRACE_OPS_FL_DIRECT))) {
		if (direct->ops_func && !next_at(NULL, direct, FTRACE_OPS_FL_IPMODIFY))
			direct->ops_func(direct, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER);
	}
}

static int ipmodify_register(struct ftrace_ops *ops)
{
	int ret;

	fentry_ops_init(ops);

	guard(mutex)(&direct_mutex);
	ret = share(ops) ?: fentry_ops_register(ops);
	if (ret)
		unshare(ops);
	return ret;
}

/**
 * register_ftrace_function - have a function called at function entries
 * @ops: the function, flags and filters. The function, and what it calls, must
 *	not be traced itself.
 *
 * Context: process context, sleeps, takes ftrace_lock and what ftrace_startup() takes. With
 * IPMODIFY, takes direct_mutex first.
 *
 * Return: as ftrace_startup(); or -EBUSY, or what its owner says, if an ops for
 * direct calls is at a function where @ops wants to change where it continues.
 */
int register_ftrace_function(struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_IPMODIFY ? ipmodify_register(ops) :
						     fentry_ops_register(ops);
}
EXPORT_SYMBOL_GPL(register_ftrace_function);

/**
 * unregister_ftrace_function - the counterpart of register_ftrace_function()
 * @ops: what was registered
 *
 * When it returns 0, @ops may be freed unless it is in the kernel's own data,
 * and its function is not running for it.
 *
 * Context: process context; may wait for grace periods of RCU tasks. Takes ftrace_lock and
 * what ftrace_shutdown() takes, and direct_mutex with IPMODIFY.
 *
 * Return: as ftrace_shutdown().
 */
int unregister_ftrace_function(struct ftrace_ops *ops)
{
	int ret = fentry_ops_unregister(ops);

	if (ret || !(ops->flags & FTRACE_OPS_FL_IPMODIFY))
		return ret;

	guard(mutex)(&direct_mutex);
	unshare(ops);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_function);
