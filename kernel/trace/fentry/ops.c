// SPDX-License-Identifier: GPL-2.0
/*
 * Ops: the registered ones, and what a trampoline calls for each.
 *
 * The list changes under ftrace_lock. fentry_shared_callback() reads it without a
 * lock, from a trampoline: an ops that was taken off the list stays as it is until
 * fentry_sets_sync() has returned, see register.c.
 */
#include <linux/kprobes.h>
#include <linux/rculist.h>

#include "filter.h"
#include "ops.h"

/* All of the engine's state, from the ops to the sites */
DEFINE_MUTEX(ftrace_lock);

LIST_HEAD(fentry_ops);
bool fentry_dead __read_mostly;

/**
 * fentry_ops_init - make an ops' filters usable
 * @ops: its owner has set func, flags and private at most
 *
 * Context: process context, sleeps.
 */
void fentry_ops_init(struct ftrace_ops *ops)
{
	static DEFINE_MUTEX(init_mutex);

	/* Pairs with the release below: a reader of the flag sees the rest. */
	if (smp_load_acquire(&ops->flags) & FTRACE_OPS_FL_INITIALIZED)
		return;

	guard(mutex)(&init_mutex);
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED)
		return;
	mutex_init(&ops->local_hash.regex_lock);
	INIT_LIST_HEAD(&ops->subop_list);
	ops->func_hash = &ops->local_hash;
	/* Pairs with the acquire above. */
	smp_store_release(&ops->flags, ops->flags | FTRACE_OPS_FL_INITIALIZED);
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
	const struct fentry_scope scope = {
		.filter		= rcu_dereference_raw(ops->func_hash->filter_hash),
		.notrace_filter	= rcu_dereference_raw(ops->func_hash->notrace_hash),
	};

	return fentry_scope_has(&scope, ip);
}

/* What an ops for direct calls has a site call; under RCU or with preemption off */
unsigned long fentry_ops_direct(const struct ftrace_ops *ops, unsigned long ip)
{
	return fentry_filter_direct(rcu_dereference_raw(ops->func_hash->filter_hash), ip);
}

/**
 * ftrace_pids_enabled - does an ops look at pids?
 * @ops: any
 *
 * Return: true if it does.
 */
bool ftrace_pids_enabled(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->flags & FTRACE_OPS_FL_PID ? ops->private : NULL;

	return tr && (rcu_access_pointer(tr->function_pids) ||
		      rcu_access_pointer(tr->function_no_pids));
}

/* The callback of an ops with a pid filter: its own is in saved_func. */
static void pid_callback(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct trace_array *tr = op->private;
	int pid;

	if (tr) {
		pid = this_cpu_read(tr->array_buffer.data->ftrace_ignore_pid);
		if (pid == FTRACE_PID_IGNORE ||
		    (pid != FTRACE_PID_TRACE && pid != current->pid))
			return;
	}
	op->saved_func(ip, parent_ip, op, fregs);
}

/* Has an ops look at pids, or not. Returns whether that changes its function. */
bool fentry_ops_select_func(struct ftrace_ops *ops)
{
	ftrace_func_t func = ftrace_pids_enabled(ops) ? pid_callback : ops->saved_func;

	if (!(ops->flags & FTRACE_OPS_FL_PID) || ops->func == func)
		return false;

	WRITE_ONCE(ops->func, func);
	return true;
}

/* Guards an ops that cannot be called from within itself, or only while RCU watches. */
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

/* What a trampoline calls for an ops */
void *fentry_ops_callback(const struct ftrace_ops *ops)
{
	return ops->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU) ? guarded_callback :
									    READ_ONCE(ops->func);
}

static struct list_head *list_next(struct list_head *node)
{
	return rcu_dereference_raw(list_next_rcu(node));
}

/*
 * The next ops of for_each_fentry_member(). A manager that is found without subops has
 * just lost its last one: it has been unlisted before that, see unlist_ops().
 */
struct ftrace_ops *fentry_member_next(struct ftrace_ops *prev)
{
	struct ftrace_ops *manager = prev ? prev->managed : NULL, *ops;
	struct list_head *next, *first;

	if (manager) {
		next = list_next(&prev->list);
		if (next != &manager->subop_list)
			return list_entry(next, struct ftrace_ops, list);
		prev = manager;
	}

	next = prev ? &prev->list : &fentry_ops;
	while ((next = list_next(next)) != &fentry_ops) {
		ops = list_entry(next, struct ftrace_ops, list);
		/* Read once: the subops may go meanwhile. */
		first = list_next(&ops->subop_list);
		if (first != &ops->subop_list)
			return list_entry(first, struct ftrace_ops, list);
		smp_rmb();	/* pairs with unlist_ops() */
		if (READ_ONCE(ops->flags) & FTRACE_OPS_FL_ENABLED)
			return ops;
	}
	return NULL;
}

/* Does any registered ops want a site? Under ftrace_lock. */
bool fentry_ops_wanted_at(unsigned long ip)
{
	struct ftrace_ops *ops;

	for_each_fentry_member(ops) {
		if (ftrace_ops_test(ops, ip, NULL))
			return true;
	}
	return false;
}

/*
 * The callback of the trampoline that sites share which have none for their own
 * combination: asks each registered ops whether it wants the site, in the order in
 * which other trampolines call them.
 *
 * It runs in a trampoline: an ops found on the list is not freed before this task
 * has left it, see fentry_sets_sync(). A filter is freed after an RCU grace period.
 */
void fentry_shared_callback(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *unused, struct ftrace_regs *fregs)
{
	struct ftrace_ops *ops, *called, *last = NULL;
	unsigned long direct;
	ftrace_func_t func;
	bool wanted;

	for_each_fentry_member(ops) {
		called = fentry_ops_called(ops);
		if (called == last)
			continue;
		preempt_disable_notrace();
		wanted = ftrace_ops_test(ops, ip, NULL);
		direct = called->flags & FTRACE_OPS_FL_DIRECT ? fentry_ops_direct(called, ip) : 0;
		preempt_enable_notrace();
		if (!wanted)
			continue;
		last = called;
		if (direct) {
			arch_ftrace_set_direct_caller(fregs, direct);
		} else if (fentry_ops_is_called(called)) {
			func = fentry_ops_callback(called);
			func(ip, parent_ip, called, fregs);
		}
	}
}
NOKPROBE_SYMBOL(fentry_shared_callback);
