// SPDX-License-Identifier: GPL-2.0
/*
 * Registering: ops come and go, and change what they trace or call.
 *
 * Each of these edits the data, the list of ops or an ops' filters, and has
 * fentry_apply() make the sites follow; if that fails the data is put back. ftrace_lock
 * is held over all of it, so at any other time the sites hold what the ops want. Filter
 * files take regex_lock of the ops' filters before it, trace_types_lock comes before
 * both, text_mutex after.
 */
#include <linux/filter.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include <asm/sections.h>

#include "apply.h"
#include "register.h"
#include "set.h"

/* kernel.ftrace_enabled, as it is read and written */
int ftrace_enabled __read_mostly;

struct ftrace_ops global_ops = {
	.func			= ftrace_stub,
	.local_hash.regex_lock	= __MUTEX_INITIALIZER(global_ops.local_hash.regex_lock),
	.func_hash		= &global_ops.local_hash,
	.subop_list		= LIST_HEAD_INIT(global_ops.subop_list),
	.flags			= FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_PID |
				  FTRACE_OPS_FL_NO_REGS,
};

/* Pid filters have come or gone. Sleeps, under ftrace_lock. */
void fentry_pids_changed(void)
{
	struct ftrace_ops *ops;

	fgraph_fast_update();
	if (fentry_dead)
		return;

	list_for_each_entry(ops, &fentry_ops, list) {
		if (fentry_ops_select_func(ops))
			fentry_sets_retarget(ops);
	}
	fgraph_update_pid_func();
}

/*
 * May an ops do at a filter's functions what only one ops can do there? Changing where a
 * function continues, or what it calls directly, is for functions that are named. An ops
 * for direct calls can be with another that does the former, if its owner agrees. Of the
 * other order direct.c takes care. Only @sites are new, or call something new.
 */
static int check_exclusive(struct ftrace_ops *ops, struct ftrace_hash *filter,
			   struct ftrace_hash *sites)
{
	const unsigned long wants = ops->flags & FENTRY_EXCLUSIVE;
	unsigned long taken;

	if (!wants)
		return 0;
	if (ftrace_hash_empty(filter) || wants == FENTRY_EXCLUSIVE)
		return -EINVAL;

	taken = fentry_exclusive_at(ops, sites, filter);
	if (taken & wants)
		return -EBUSY;
	if (!taken || !(wants & FTRACE_OPS_FL_DIRECT))
		return 0;
	return ops->ops_func ?
	       ops->ops_func(ops, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF) : -EBUSY;
}

static int check_startup(struct ftrace_ops *ops)
{
	if (fentry_dead)
		return -ENODEV;
	if (ops->flags & FTRACE_OPS_FL_DELETED)
		return -EINVAL;
	if (WARN_ON(ops->flags & FTRACE_OPS_FL_ENABLED))
		return -EBUSY;
	if ((ops->flags & FTRACE_OPS_FL_PERMANENT) && !ftrace_enabled)
		return -EBUSY;
	return check_exclusive(ops, fentry_ops_hash(ops, false), fentry_ops_hash(ops, false));
}

/* Makes sites what they should be after an ops has come or changed, or has gone */
static int ops_apply(struct ftrace_ops *ops, bool wanted)
{
	const struct fentry_scope scope = fentry_ops_scope(ops);
	const struct fentry_change change = {
		.ops = &ops,
		.nr  = 1,
		.old = wanted ? NULL : &scope,
		.new = wanted ? &scope : NULL,
	};

	return fentry_apply(&change);
}

/*
 * An ops that is not on the list any more goes. Its owner is going to free it, come what
 * may: if its sites cannot be switched, because text is not what it should be, it is
 * called no more, and no site is switched any more.
 */
static void ops_go(struct ftrace_ops *ops)
{
	int ret = ops_apply(ops, false);

	if (!ret)
		return;
	if (ret != -ENODEV) {
		pr_warn("%pS is called no more, but its sites are not switched (%d)\n",
			ops->saved_func, ret);
		ftrace_kill();
	}
	fentry_sets_silence(ops);
}

/* Puts an ops on the list, as the first. */
static void list_ops(struct ftrace_ops *ops)
{
	static u64 last_seq;

	if (!is_kernel_core_data((unsigned long)ops))
		ops->flags |= FTRACE_OPS_FL_DYNAMIC;
	ops->flags |= FTRACE_OPS_FL_ENABLED;
	ops->saved_func = ops->func;
	ops->seq = ++last_seq;
	fentry_ops_select_func(ops);
	list_add_rcu(&ops->list, &fentry_ops);
}

/*
 * Takes an ops off its list. The manager of a subops goes first if this is its last one: a
 * manager on the list without subops would be an ops like any other.
 */
static void unlist_ops(struct ftrace_ops *ops)
{
	struct ftrace_ops *manager = ops->managed;

	if (manager && list_is_singular(&manager->subop_list)) {
		unlist_ops(manager);
		/* Pairs with fentry_member_next(): no subops means that it is unlisted. */
		smp_wmb();
	}
	list_del_rcu(&ops->list);
	ops->flags &= ~(FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP);
}

/*
 * An instance's ops is freed with the instance, and not before ftrace_destroy_filter_files()
 * has waited: switching its tracer need not wait for so long.
 */
static bool is_of_instance(const struct ftrace_ops *ops)
{
	const struct trace_array *tr = ops->flags & FTRACE_OPS_FL_PID ? ops->private : NULL;

	return tr && tr->ops == ops;
}

/*
 * Do all sites of an ops call trampolines of BPF directly? No trampoline of ours refers to
 * such an ops: only fentry_shared_callback() looks at it. What a task needs that is on its
 * way stays without us: BPF frees a trampoline that no site calls any more when every task
 * has left it, see bpf_tramp_image_put(), and a program that it calls after that by
 * ftrace_after_tasks(). The filter is there until the owner, who unregisters the ops, frees
 * it or the ops.
 */
static bool is_of_bpf(const struct ftrace_ops *ops)
{
	const struct fentry_filter *filter;

	if (!(ops->flags & FTRACE_OPS_FL_DIRECT))
		return false;
	guard(rcu)();
	filter = fentry_filter(rcu_dereference(ops->func_hash->filter_hash));
	for (unsigned long i = 0; i < fentry_filter_count(filter); i++) {
		if (!filter->direct || !is_bpf_text_address(filter->direct[i]))
			return false;
	}
	return true;
}

/*
 * An ops that its owner may free must not be in use once it is unregistered: waits until
 * tasks have left what they called, unless the owner sees to that itself.
 */
static void ops_wait(const struct ftrace_ops *ops)
{
	if (((ops->flags & FTRACE_OPS_FL_DYNAMIC) && !is_of_instance(ops) && !is_of_bpf(ops)) ||
	    fentry_sets_shared())
		fentry_sets_sync();
}

/* Attaches an ops that has just been put on its list, or takes it off again. */
static int ops_come(struct ftrace_ops *ops)
{
	int ret = ops_apply(ops, true);

	if (ret) {
		unlist_ops(ops);
		ops_apply(ops, false);
		ops_wait(ops);
		ops->func = ops->saved_func;
	}
	return ret;
}

/**
 * ftrace_startup - register an ops
 * @ops: initialised, not registered
 * @command: not used
 *
 * Context: process context, sleeps, under ftrace_lock. Takes cpu_hotplug_lock for reading, and
 * text_mutex.
 *
 * Return: 0, or with nothing changed -ENODEV after ftrace_kill(); -EBUSY if it is
 * registered, if it is permanent and kernel.ftrace_enabled is 0, or if another ops at
 * one of its functions does what only one can; -EINVAL if it has been deleted, if it
 * wants to change where functions continue or to be called directly without a filter,
 * or both at once, or if the text of a site is not what it should be; -ENOMEM, which only
 * the first ops of all can get, or one for direct calls whose functions have different
 * callees; or what the owner of an ops for direct calls says.
 */
int ftrace_startup(struct ftrace_ops *ops, int command)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);

	ret = check_startup(ops);
	if (ret)
		return ret;

	list_ops(ops);
	return ops_come(ops);
}

/* Everything of ftrace_shutdown() but waiting for tasks that are in the ops */
static int ops_shutdown(struct ftrace_ops *ops)
{
	const bool was_dead = fentry_dead;

	lockdep_assert_held(&ftrace_lock);

	if (!(ops->flags & FTRACE_OPS_FL_ENABLED)) {
		WARN_ON(!fentry_dead);
		return fentry_dead ? -ENODEV : -EBUSY;
	}
	unlist_ops(ops);
	ops_go(ops);
	ops->func = ops->saved_func;
	return was_dead || (fentry_dead && (ops->flags & FTRACE_OPS_FL_DIRECT)) ? -ENODEV : 0;
}

/**
 * ftrace_shutdown - unregister an ops
 * @ops: registered
 * @command: not used
 *
 * Context: process context, under ftrace_lock; may wait for grace periods of RCU tasks. Takes
 * cpu_hotplug_lock for reading, and text_mutex.
 *
 * If the text of a site is not what it should be, this calls ftrace_kill() itself. It still
 * succeeds, as no trampoline calls @ops any more; but sites may still call the direct callee of
 * an ops for direct calls.
 *
 * Return: 0; -EBUSY if it is not registered; -ENODEV after ftrace_kill(), or if this has called
 * it for an ops for direct calls.
 */
int ftrace_shutdown(struct ftrace_ops *ops, int command)
{
	int ret = ops_shutdown(ops);

	if (ret != -EBUSY)
		ops_wait(ops);
	return ret;
}

/* ftrace_startup() for callers without ftrace_lock. Sleeps. */
int fentry_ops_register(struct ftrace_ops *ops)
{
	fentry_ops_init(ops);

	guard(mutex)(&ftrace_lock);
	return ftrace_startup(ops, 0);
}

/* ftrace_shutdown() for callers without ftrace_lock, which waits without it. Sleeps. */
int fentry_ops_unregister(struct ftrace_ops *ops)
{
	int ret;

	scoped_guard(mutex, &ftrace_lock)
		ret = ops_shutdown(ops);
	if (ret != -EBUSY)
		ops_wait(ops);
	return ret;
}

/**
 * ftrace_startup_subops - register an ops with a manager
 * @ops: the manager, whose function is called once for all of its subops at a site. It
 *	is registered with its first subops.
 * @subops: initialised, not registered
 * @command: not used
 *
 * Context: as ftrace_startup().
 *
 * Return: as ftrace_startup().
 */
int ftrace_startup_subops(struct ftrace_ops *ops, struct ftrace_ops *subops, int command)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (fentry_dead)
		return -ENODEV;
	fentry_ops_init(ops);
	fentry_ops_init(subops);
	if (WARN_ON_ONCE(subops->flags & FTRACE_OPS_FL_ENABLED))
		return -EBUSY;

	subops->managed = ops;
	list_add_rcu(&subops->list, &ops->subop_list);
	if (list_is_singular(&ops->subop_list))
		list_ops(ops);
	subops->seq = ops->seq;
	subops->saved_func = subops->func;
	subops->flags |= FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP;

	ret = ops_come(subops);
	if (ret)
		subops->managed = NULL;
	return ret;
}

/**
 * ftrace_shutdown_subops - the counterpart of ftrace_startup_subops()
 * @ops: the manager, which is unregistered with its last subops
 * @subops: registered with it
 * @command: not used
 *
 * Context: as ftrace_shutdown().
 *
 * Return: as ftrace_shutdown(), -EINVAL if @subops is not registered.
 */
int ftrace_shutdown_subops(struct ftrace_ops *ops, struct ftrace_ops *subops, int command)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (WARN_ON_ONCE(!(subops->flags & FTRACE_OPS_FL_ENABLED)))
		return -EINVAL;

	ret = ftrace_shutdown(subops, command);
	subops->managed = NULL;
	return ret;
}

/* The registered ops that share filters. Returns how many: *@sharers is to be freed. */
static int find_sharers(const struct ftrace_ops_hash *hashes, struct ftrace_ops ***sharers)
{
	struct ftrace_ops *ops, **more;
	int nr = 0;

	for_each_fentry_member(ops) {
		if (ops->func_hash != hashes)
			continue;
		more = krealloc_array(*sharers, nr + 1, sizeof(*more), GFP_KERNEL);
		if (!more)
			return -ENOMEM;
		more[nr++] = ops;
		*sharers = more;
	}
	return nr;
}

static void scope_put(struct ftrace_ops_hash *hashes, const struct fentry_scope *scope)
{
	rcu_assign_pointer(hashes->filter_hash, scope->filter);
	rcu_assign_pointer(hashes->notrace_hash, scope->notrace_filter);
}

/* Has all ops with the same filters trace what @new says; @sites as in struct fentry_change. */
static int scope_apply(struct ftrace_ops *ops, const struct fentry_scope *old,
		       const struct fentry_scope *new, struct ftrace_hash *sites)
{
	struct fentry_change change = {
		.ops   = &ops,
		.nr    = !!(ops->flags & FTRACE_OPS_FL_ENABLED),
		.old   = old,
		.new   = new,
		.sites = sites,
	};
	struct ftrace_ops_hash *hashes = ops->func_hash;
	struct ftrace_ops **sharers __free(kfree) = NULL;
	int ret;

	/* Only the filters of instances are shared, whose ops look at pids. */
	if (hashes != &ops->local_hash || (ops->flags & FTRACE_OPS_FL_PID)) {
		ret = find_sharers(hashes, &sharers);
		if (ret < 0)
			return ret;
		change.ops = sharers;
		change.nr = ret;
	}

	scope_put(hashes, new);
	ret = change.nr ? fentry_apply(&change) : 0;
	if (ret) {
		scope_put(hashes, old);
		swap(change.old, change.new);
		fentry_apply(&change);
		/* fentry_shared_callback() may have called what only @new names. */
		if (change.nr && fentry_sets_shared())
			fentry_sets_sync();
	}
	return ret;
}

/*
 * Sets one of an ops' filters, registered or not, to @filter, which it takes over;
 * empty or NULL: none. @is_notrace: it is what not to trace. @sites: only those are
 * different from the former filter, NULL: any may be. Sleeps, under regex_lock and
 * ftrace_lock. Returns 0 or an error of ftrace_startup(), -EINVAL also if the ops has
 * IPMODIFY and a notrace filter.
 */
int fentry_ops_set_filter(struct ftrace_ops *ops, struct fentry_filter *filter, bool is_notrace,
			  struct ftrace_hash *sites)
{
	const struct fentry_scope old = fentry_ops_scope(ops);
	struct fentry_scope new = old;
	struct ftrace_hash **changed = is_notrace ? &new.notrace_filter : &new.filter;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	*changed = filter && !ftrace_hash_empty(&filter->hash) ? &filter->hash : NULL;
	ret = (ops->flags & FTRACE_OPS_FL_IPMODIFY) && new.notrace_filter ? -EINVAL : 0;
	if (!ret && (ops->flags & FTRACE_OPS_FL_ENABLED))
		ret = check_exclusive(ops, new.filter, sites ?: new.filter);
	ret = ret ?: scope_apply(ops, &old, &new, sites);
	/* A reader may have seen either. */
	if (ret || !*changed)
		fentry_filter_free(filter);
	if (!ret)
		fentry_filter_free(fentry_filter(is_notrace ? old.notrace_filter : old.filter));
	return ret;
}

/**
 * ftrace_free_filter - have an ops trace everything again, and free its filters
 * @ops: not registered
 */
void ftrace_free_filter(struct ftrace_ops *ops)
{
	struct ftrace_ops_hash *hashes;

	fentry_ops_init(ops);
	if (WARN_ON((ops->flags & FTRACE_OPS_FL_ENABLED) && !fentry_dead))
		return;

	hashes = ops->func_hash;
	fentry_filter_free(fentry_filter(rcu_replace_pointer(hashes->filter_hash, NULL, true)));
	fentry_filter_free(fentry_filter(rcu_replace_pointer(hashes->notrace_hash, NULL, true)));
}
EXPORT_SYMBOL_GPL(ftrace_free_filter);

/**
 * ftrace_ops_set_global_filter - have an ops trace what set_ftrace_filter says
 * @ops: nothing has been done with it yet, else this has no effect
 */
void ftrace_ops_set_global_filter(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED)
		return;

	fentry_ops_init(ops);
	ops->func_hash = &global_ops.local_hash;
}
EXPORT_SYMBOL_GPL(ftrace_ops_set_global_filter);

/* What the tracers of an instance need */

void __init ftrace_init_global_array_ops(struct trace_array *tr)
{
	tr->ops = &global_ops;
	tr->ops->private = tr;
	ftrace_init_trace_array(tr);
	init_array_fgraph_ops(tr, tr->ops);
}

void ftrace_init_trace_array(struct trace_array *tr)
{
	INIT_LIST_HEAD(&tr->mod_notrace);
	INIT_LIST_HEAD(&tr->mod_trace);
	INIT_LIST_HEAD(&tr->func_probes);
}

void ftrace_init_array_ops(struct trace_array *tr, ftrace_func_t func)
{
	if (tr->flags & TRACE_ARRAY_FL_GLOBAL)
		WARN(tr->ops->func != ftrace_stub, "the top instance traces with %pS",
		     tr->ops->func);

	tr->ops->private = tr;
	tr->ops->func = func;
}

void ftrace_reset_array_ops(struct trace_array *tr)
{
	tr->ops->func = ftrace_stub;
}

/**
 * ftrace_kill - stop switching sites, for good
 *
 * For when nothing about text can be relied on. What is attached stays so.
 *
 * Context: any.
 */
void ftrace_kill(void)
{
	fentry_dead = true;
	ftrace_enabled = 0;
	kprobe_ftrace_kill();
}

/**
 * ftrace_is_dead - has ftrace_kill() been called?
 *
 * Return: 1 if so, else 0.
 */
int ftrace_is_dead(void)
{
	return fentry_dead;
}

static int sites_enable(bool enable)
{
	const struct fentry_change all = {};
	struct ftrace_ops *ops;
	int ret;

	list_for_each_entry(ops, &fentry_ops, list) {
		if (!enable && (ops->flags & FTRACE_OPS_FL_PERMANENT))
			return -EBUSY;
	}

	fentry_enabled = enable;
	ret = fentry_apply(&all);
	if (ret) {
		fentry_enabled = !enable;
		fentry_apply(&all);
	}
	return ret;
}

/* kernel.ftrace_enabled */
static int ftrace_enabled_handler(const struct ctl_table *table, int write,
				  void *buffer, size_t *lenp, loff_t *ppos)
{
	int ret;

	guard(mutex)(&ftrace_lock);

	if (fentry_dead)
		return -ENODEV;
	ret = proc_dointvec(table, write, buffer, lenp, ppos);
	if (ret || !write || fentry_enabled == !!ftrace_enabled)
		return ret;
	ret = sites_enable(ftrace_enabled);
	if (ret)
		ftrace_enabled = fentry_enabled;
	return ret;
}

static struct ctl_table fentry_sysctls[] = { {
	.procname	= "ftrace_enabled",
	.mode		= 0644,
	.data		= &ftrace_enabled,
	.maxlen		= sizeof(ftrace_enabled),
	.proc_handler	= ftrace_enabled_handler,
} };

static int __init fentry_sysctl_init(void)
{
	register_sysctl_init("kernel", fentry_sysctls);
	return 0;
}
late_initcall(fentry_sysctl_init);
