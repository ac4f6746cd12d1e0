// SPDX-License-Identifier: GPL-2.0
/*
 * Ops: registering callbacks, changing what they trace, stopping everything.
 *
 * ftrace_lock is held over each change as a whole, so at any time the sites
 * hold what the registered ops want. Filter files take regex_lock of the ops'
 * filters before it, trace_types_lock comes before both, text_mutex after.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include <asm/sections.h>

#include "fentry.h"
#include "filter.h"
#include "pid_func.h"

/* All of the engine's state, from the ops to the sites */
DEFINE_MUTEX(ftrace_lock);

/* All registered ops, the latest first */
LIST_HEAD(fentry_ops);

/* kernel.ftrace_enabled; and what the sites are like */
int ftrace_enabled __read_mostly;
bool fentry_sites_enabled = true;

bool fentry_dead __read_mostly;

struct ftrace_ops global_ops = {
	.func			= ftrace_stub,
	.local_hash.regex_lock	= __MUTEX_INITIALIZER(global_ops.local_hash.regex_lock),
	.func_hash		= &global_ops.local_hash,
	.subop_list		= LIST_HEAD_INIT(global_ops.subop_list),
	.flags			= FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_PID,
};

/**
 * fentry_ops_init - make an ops' filters usable
 * @ops: the user has set its func, flags and private at most
 *
 * Context: process context, sleeps.
 */
void fentry_ops_init(struct ftrace_ops *ops)
{
	static DEFINE_MUTEX(init_mutex);

	/* Pairs with the release below: who sees the flag sees the rest. */
	if (smp_load_acquire(&ops->flags) & FTRACE_OPS_FL_INITIALIZED)
		return;

	mutex_lock(&init_mutex);
	if (!(ops->flags & FTRACE_OPS_FL_INITIALIZED)) {
		mutex_init(&ops->local_hash.regex_lock);
		INIT_LIST_HEAD(&ops->subop_list);
		ops->func_hash = &ops->local_hash;
		/* Pairs with the acquire above. */
		smp_store_release(&ops->flags, ops->flags | FTRACE_OPS_FL_INITIALIZED);
	}
	mutex_unlock(&init_mutex);
}

/* Calls an ops that cannot be called from within itself, or not without RCU. */
static void guarded_callback(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	int bit = trace_test_and_set_recursion(ip, parent_ip, TRACE_LIST_START);

	if (bit < 0)
		return;

	if (rcu_is_watching() || !(ops->flags & FTRACE_OPS_FL_RCU))
		ops->func(ip, parent_ip, ops, fregs);
	trace_clear_recursion(bit);
}
NOKPROBE_SYMBOL(guarded_callback);

/**
 * fentry_ops_callback - what a trampoline calls for an ops
 * @ops: whose
 *
 * Return: the function.
 */
void *fentry_ops_callback(const struct ftrace_ops *ops)
{
	if (ops->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU))
		return guarded_callback;

	return ops->func;
}

/**
 * ftrace_ops_get_func - what is called for an ops at a function's entry
 * @ops: whose
 *
 * Return: @ops->func, or a function that guards it as its flags ask for.
 */
ftrace_func_t ftrace_ops_get_func(struct ftrace_ops *ops)
{
	return fentry_ops_callback(ops);
}

/**
 * fentry_ops_scope - where an ops is wanted
 * @ops: initialised
 *
 * Context: under ftrace_lock.
 *
 * Return: its filters.
 */
struct fentry_scope fentry_ops_scope(const struct ftrace_ops *ops)
{
	return (struct fentry_scope) {
		.filter		= fentry_ops_hash(ops, false),
		.exclude	= fentry_ops_hash(ops, true),
	};
}

/**
 * ftrace_ops_test - is an ops wanted at a site?
 * @ops: initialised
 * @ip: the site
 * @regs: not used
 *
 * Context: any, under RCU or with preemption off.
 *
 * Return: 1 if it is, else 0.
 */
int ftrace_ops_test(struct ftrace_ops *ops, unsigned long ip, void *regs)
{
	struct ftrace_hash *filter = rcu_dereference_raw(ops->func_hash->filter_hash);
	struct ftrace_hash *exclude = rcu_dereference_raw(ops->func_hash->notrace_hash);

	return (ftrace_hash_empty(filter) || ftrace_lookup_ip(filter, ip)) &&
	       !ftrace_lookup_ip(exclude, ip);
}

/* An ops with a pid filter on has a function that looks at it first. */
static bool select_func(struct ftrace_ops *ops)
{
	ftrace_func_t func = ftrace_pids_enabled(ops) ? fentry_pid_func : ops->saved_func;

	if (ops->func == func)
		return false;

	ops->func = func;
	return true;
}

/**
 * fentry_pids_changed - pid filters have come or gone
 *
 * Context: process context, sleeps, under ftrace_lock.
 */
void fentry_pids_changed(void)
{
	struct ftrace_ops *ops;

	if (fentry_dead)
		return;

	list_for_each_entry(ops, &fentry_ops, list) {
		if ((ops->flags & FTRACE_OPS_FL_PID) && select_func(ops))
			fentry_sets_retarget(ops);
	}
	fgraph_update_pid_func();
}

/**
 * fentry_ops_check_exclusive - may an ops do at a filter's sites what one can?
 * @ops: initialised, registered or not; if it is for direct calls, under its lock
 * @filter: where
 *
 * Changing where a function goes on, or what it calls directly, is for functions
 * one has named. An ops for direct calls can do with another that does the former,
 * if its owner says so.
 *
 * Context: process context, sleeps, under ftrace_lock.
 *
 * Return: 0, -EINVAL if @filter is everything or @ops wants both, -EBUSY if
 * another ops does it already, or what the owner says.
 */
int fentry_ops_check_exclusive(struct ftrace_ops *ops, struct ftrace_hash *filter)
{
	const unsigned long wants = ops->flags & FENTRY_EXCLUSIVE;
	struct ftrace_ops *pos;
	int ret;

	if (!wants)
		return 0;
	if (ftrace_hash_empty(filter) || wants == FENTRY_EXCLUSIVE)
		return -EINVAL;

	list_for_each_entry(pos, &fentry_ops, list) {
		if (pos == ops || !(pos->flags & FENTRY_EXCLUSIVE) ||
		    !fentry_filters_overlap(fentry_ops_hash(pos, false), filter))
			continue;
		if (pos->flags & wants)
			return -EBUSY;
		/* Of the other order fentry_ipmodify_register() takes care. */
		if (!(wants & FTRACE_OPS_FL_DIRECT))
			continue;
		if (!ops->ops_func)
			return -EBUSY;
		ret = ops->ops_func(ops, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF);
		if (ret)
			return ret;
	}
	return 0;
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
	return fentry_ops_check_exclusive(ops, fentry_ops_hash(ops, false));
}

/**
 * ftrace_startup - register an ops
 * @ops: initialised, not registered
 * @command: not used
 *
 * Context: process context, sleeps, under ftrace_lock.
 *
 * Return: 0, or with nothing changed -ENODEV after ftrace_kill(), -EBUSY if it
 * is registered, or if it is permanent and kernel.ftrace_enabled is 0, -EINVAL
 * if it has been deleted, or an error of fentry_ops_check_exclusive() or
 * fentry_switch().
 */
int ftrace_startup(struct ftrace_ops *ops, int command)
{
	struct fentry_scope scope;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	ret = check_startup(ops);
	if (ret)
		return ret;

	if (!is_kernel_core_data((unsigned long)ops))
		ops->flags |= FTRACE_OPS_FL_DYNAMIC;

	ops->flags |= FTRACE_OPS_FL_ENABLED;
	ops->saved_func = ops->func;
	if (ops->flags & FTRACE_OPS_FL_PID)
		select_func(ops);
	list_add(&ops->list, &fentry_ops);

	scope = fentry_ops_scope(ops);
	if (fentry_sites_enabled)
		ret = fentry_switch(ops, false, NULL, &scope);
	if (ret) {
		list_del(&ops->list);
		ops->func = ops->saved_func;
		ops->flags &= ~FTRACE_OPS_FL_ENABLED;
	}
	return ret;
}

/* Everything of ftrace_shutdown() but waiting for those who are in the ops */
static int ops_shutdown(struct ftrace_ops *ops)
{
	struct fentry_scope scope;
	unsigned long flags;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);

	if (fentry_dead)
		return -ENODEV;
	if (WARN_ON(!(ops->flags & FTRACE_OPS_FL_ENABLED)))
		return -EBUSY;

	flags = ops->flags;
	scope = fentry_ops_scope(ops);
	if (fentry_sites_enabled)
		ret = fentry_switch(ops, false, &scope, NULL);
	if (ret) {
		/* Who unregisters an ops is going to free it, come what may. */
		pr_warn("%pS is called no more, but its sites are not switched (%d)\n",
			ops->saved_func, ret);
		fentry_sets_remove(ops);
		/*
		 * What is called directly is in no trampoline, but to take it
		 * off needs no memory. If text is not what it should be, there
		 * is no help.
		 */
		if (WARN_ON(fentry_switch(ops, false, &scope, NULL)))
			ftrace_kill();
	}

	list_del(&ops->list);
	ops->func = ops->saved_func;
	ops->flags = flags & ~FTRACE_OPS_FL_ENABLED;
	return 0;
}

/* An ops that may be freed must not be in use when it has been unregistered. */
static void ops_wait(const struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_DYNAMIC)
		fentry_sets_sync();
}

/**
 * ftrace_shutdown - unregister an ops
 * @ops: registered
 * @command: not used
 *
 * Context: process context, sleeps for long, under ftrace_lock.
 *
 * Return: 0, or with nothing changed -ENODEV after ftrace_kill(), -EBUSY if it
 * is not registered.
 */
int ftrace_shutdown(struct ftrace_ops *ops, int command)
{
	int ret = ops_shutdown(ops);

	if (!ret)
		ops_wait(ops);
	return ret;
}

/**
 * fentry_ops_register - register an ops, whatever direct calls there are
 * @ops: not registered
 *
 * Context: process context, sleeps.
 *
 * Return: as ftrace_startup().
 */
int fentry_ops_register(struct ftrace_ops *ops)
{
	int ret;

	fentry_ops_init(ops);

	mutex_lock(&ftrace_lock);
	ret = ftrace_startup(ops, 0);
	mutex_unlock(&ftrace_lock);
	return ret;
}

/**
 * fentry_ops_unregister - the counterpart of fentry_ops_register()
 * @ops: what was registered
 *
 * Context: process context, sleeps for long.
 *
 * Return: as ftrace_shutdown().
 */
int fentry_ops_unregister(struct ftrace_ops *ops)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = ops_shutdown(ops);
	mutex_unlock(&ftrace_lock);

	if (!ret)
		ops_wait(ops);
	return ret;
}

/**
 * register_ftrace_function - have a function called at function entries
 * @ops: the function, flags and filters. The function, and what it calls, must
 *	not be traced itself.
 *
 * Context: process context, sleeps.
 *
 * Return: as ftrace_startup(); or -EBUSY, or what its owner says, if an ops for
 * direct calls is at a function where @ops wants to change where it goes on.
 */
int register_ftrace_function(struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_IPMODIFY ? fentry_ipmodify_register(ops) :
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
 * Context: process context, sleeps for long.
 *
 * Return: as ftrace_shutdown().
 */
int unregister_ftrace_function(struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_IPMODIFY ? fentry_ipmodify_unregister(ops) :
						     fentry_ops_unregister(ops);
}
EXPORT_SYMBOL_GPL(unregister_ftrace_function);

/* Switch all ops that share filters from one scope to another. */
static int switch_sharers(const struct ftrace_ops_hash *hashes,
			  const struct fentry_scope *old,
			  const struct fentry_scope *new)
{
	struct ftrace_ops *ops;

	list_for_each_entry(ops, &fentry_ops, list) {
		if (ops->func_hash == hashes)
			return fentry_switch(ops, true, old, new);
	}
	return 0;
}

static int check_scope(struct ftrace_ops *ops, const struct fentry_scope *new)
{
	if ((ops->flags & FTRACE_OPS_FL_IPMODIFY) && !ftrace_hash_empty(new->exclude))
		return -EINVAL;

	return ops->flags & FTRACE_OPS_FL_ENABLED ?
	       fentry_ops_check_exclusive(ops, new->filter) : 0;
}

/* Attach all who have an ops' filters, and who stand for such, as is to be. */
static int switch_scope(const struct ftrace_ops_hash *hashes, const struct fentry_scope *old,
			const struct fentry_scope *new)
{
	int ret;

	ret = fentry_subops_filters(hashes, new);
	if (ret || !fentry_sites_enabled)
		return ret;

	ret = switch_sharers(hashes, old, new);
	/* A manager that is attached too widely calls nobody who is not wanted. */
	if (ret && fentry_subops_filters(hashes, old))
		pr_warn("no memory, an ops with subops stays at sites it need not be at\n");
	return ret;
}

static struct ftrace_hash *canonical(struct fentry_filter *filter)
{
	if (!filter || !ftrace_hash_empty(&filter->hash))
		return filter ? &filter->hash : NULL;

	kvfree(filter);
	return NULL;
}

static void filter_replace(struct ftrace_hash __rcu **slot, struct ftrace_hash *old,
			   struct ftrace_hash *new)
{
	if (old == new)
		return;
	rcu_assign_pointer(*slot, new);
	fentry_filter_free(fentry_filter(old));
}

static int set_scope(struct ftrace_ops *ops, const struct fentry_scope *new)
{
	const struct fentry_scope old = fentry_ops_scope(ops);
	struct ftrace_ops_hash *hashes = ops->func_hash;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	ret = check_scope(ops, new) ?: switch_scope(hashes, &old, new);
	if (ret) {
		if (new->filter != old.filter)
			fentry_filter_free(fentry_filter(new->filter));
		if (new->exclude != old.exclude)
			fentry_filter_free(fentry_filter(new->exclude));
		return ret;
	}

	filter_replace(&hashes->filter_hash, old.filter, new->filter);
	filter_replace(&hashes->notrace_hash, old.exclude, new->exclude);
	return 0;
}

/**
 * fentry_ops_set_filter - change what an ops traces
 * @ops: initialised, registered or not
 * @filter: the new filter, the function takes it over. NULL: everything.
 * @exclude: it is what is not to be traced
 *
 * Context: process context, sleeps, under regex_lock and ftrace_lock.
 *
 * Return: 0, or an error of fentry_switch() with nothing changed; -EINVAL also
 * if @ops has IPMODIFY and @exclude is set, or it were to trace everything while
 * registered.
 */
int fentry_ops_set_filter(struct ftrace_ops *ops, struct fentry_filter *filter,
			  bool exclude)
{
	struct fentry_scope new = fentry_ops_scope(ops);

	*(exclude ? &new.exclude : &new.filter) = canonical(filter);
	return set_scope(ops, &new);
}

/**
 * fentry_ops_set_filters - change both filters of an ops at once
 * @ops: initialised, registered or not
 * @filter: what to trace, the function takes it over. NULL: everything.
 * @exclude: but not this, the function takes it over. NULL: nothing.
 *
 * Context: process context, sleeps, under ftrace_lock.
 *
 * Return: as fentry_ops_set_filter().
 */
int fentry_ops_set_filters(struct ftrace_ops *ops, struct fentry_filter *filter,
			   struct fentry_filter *exclude)
{
	const struct fentry_scope new = {
		.filter = canonical(filter), .exclude = canonical(exclude),
	};

	return set_scope(ops, &new);
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
	fentry_sites_enabled = false;
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

static int sites_enable(void)
{
	struct ftrace_ops *ops;
	int ret;

	list_for_each_entry(ops, &fentry_ops, list) {
		struct fentry_scope scope = fentry_ops_scope(ops);

		ret = fentry_switch(ops, false, NULL, &scope);
		if (ret) {
			fentry_switch_all_off();
			return ret;
		}
	}
	return 0;
}

static int sites_disable(void)
{
	struct ftrace_ops *ops;

	list_for_each_entry(ops, &fentry_ops, list) {
		if (ops->flags & FTRACE_OPS_FL_PERMANENT)
			return -EBUSY;
	}
	return fentry_switch_all_off();
}

/* kernel.ftrace_enabled */
static int ftrace_enabled_handler(const struct ctl_table *table, int write,
				  void *buffer, size_t *lenp, loff_t *ppos)
{
	int ret;

	mutex_lock(&ftrace_lock);

	ret = fentry_dead ? -ENODEV : proc_dointvec(table, write, buffer, lenp, ppos);
	if (ret || !write || fentry_sites_enabled == !!ftrace_enabled)
		goto out;

	ret = ftrace_enabled ? sites_enable() : sites_disable();
	if (ret)
		ftrace_enabled = fentry_sites_enabled;
	else
		fentry_sites_enabled = ftrace_enabled;
out:
	mutex_unlock(&ftrace_lock);
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
