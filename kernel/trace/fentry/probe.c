// SPDX-License-Identifier: GPL-2.0
/*
 * Probes: functions with an action attached to them, by commands in a filter
 * file: "function:traceoff:3". All functions with the same action in an instance
 * share one ops.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "command.h"
#include "filter.h"
#include "ops.h"
#include "register.h"
#include "set.h"

/**
 * struct ftrace_func_probe - an action that some functions of an instance have
 * @ops: with the functions as filter; while it has none, it is not registered
 * @action: what is done
 * @tr: the instance
 * @list: all of the instance, under probes_mutex
 * @data: the action's own
 */
struct ftrace_func_probe {
	struct ftrace_ops		ops;
	struct ftrace_probe_ops		*action;
	struct trace_array		*tr;
	struct list_head		list;
	void				*data;
};

/* Held while functions get an action or lose it, or are listed. Before ftrace_lock. */
static DEFINE_MUTEX(probes_mutex);

static struct fentry_filter *probe_functions(const struct ftrace_func_probe *probe)
{
	return fentry_filter(rcu_dereference_protected(probe->ops.func_hash->filter_hash,
						       lockdep_is_held(&probes_mutex)));
}

static void probe_callback(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct ftrace_func_probe *probe = container_of(ops, struct ftrace_func_probe, ops);

	/* Actions count on it. */
	guard(preempt_notrace)();
	probe->action->func(ip, parent_ip, probe->tr, probe->action, probe->data);
}

static struct ftrace_func_probe *probe_find(struct trace_array *tr,
					    const struct ftrace_probe_ops *action)
{
	struct ftrace_func_probe *probe;

	list_for_each_entry(probe, &tr->func_probes, list) {
		if (probe->action == action)
			return probe;
	}
	return NULL;
}

static struct ftrace_func_probe *probe_new(struct trace_array *tr,
					   struct ftrace_probe_ops *action)
{
	struct ftrace_func_probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);

	if (!probe)
		return NULL;
	probe->ops.func = probe_callback;
	probe->action = action;
	probe->tr = tr;
	fentry_ops_init(&probe->ops);
	list_add(&probe->list, &tr->func_probes);
	return probe;
}

static void probe_free_unused(struct ftrace_func_probe *probe)
{
	if (probe_functions(probe))
		return;
	/* Address 0: the action frees what it has for all functions. */
	if (probe->action->free)
		probe->action->free(probe->action, probe->tr, 0, probe->data);
	list_del(&probe->list);
	kfree(probe);
}

/* Tell the action that the first @nr of @functions do not have it any more. */
static void action_free(struct ftrace_func_probe *probe,
			const struct fentry_filter *functions, unsigned long nr)
{
	struct ftrace_probe_ops *action = probe->action;

	while (action->free && nr--)
		action->free(action, probe->tr, functions->ip[nr], probe->data);
}

/* Tell the action about its new functions; if it refuses one, about none. */
static int action_init(struct ftrace_func_probe *probe,
		       const struct fentry_filter *functions, void *data)
{
	struct ftrace_probe_ops *action = probe->action;
	unsigned long i;
	int ret;

	for (i = 0; action->init && i < functions->hash.count; i++) {
		ret = action->init(action, probe->tr, functions->ip[i], data, &probe->data);
		if (ret < 0) {
			action_free(probe, functions, i);
			return ret;
		}
	}
	return 0;
}

/* The probe is to have these functions. Takes @functions over. */
static int probe_set(struct ftrace_func_probe *probe, struct fentry_filter *functions)
{
	struct ftrace_ops *ops = &probe->ops;
	int ret;

	guard(mutex)(&ftrace_lock);
	if (functions->hash.count) {
		ret = fentry_ops_set_filter(ops, functions, false, NULL);
		if (!ret && !(ops->flags & FTRACE_OPS_FL_ENABLED))
			ret = ftrace_startup(ops, 0);
	} else {
		/* An empty filter would stand for every function. */
		kvfree(functions);
		ret = ftrace_shutdown(ops, 0);
	}
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		ftrace_free_filter(ops);
	return ret;
}

/*
 * The probe is to have the functions @to, which it takes over, NULL: there was no memory.
 * Returns how many came or went, or with nothing changed an error, -EINVAL if none did.
 */
static int probe_move(struct ftrace_func_probe *probe, struct fentry_filter *to, void *data)
{
	const struct fentry_filter *had = probe_functions(probe);
	struct fentry_filter *functions __free(kvfree) = to;
	struct fentry_filter *added __free(kvfree) = fentry_filter_subtract(to, had);
	struct fentry_filter *gone __free(kvfree) = fentry_filter_subtract(had, to);
	unsigned long nr;
	int ret;

	if (!functions || !added || !gone)
		return -ENOMEM;
	nr = added->hash.count + gone->hash.count;
	if (!nr)
		return -EINVAL;

	ret = action_init(probe, added, data);
	if (ret)
		return ret;
	ret = probe_set(probe, no_free_ptr(functions));
	if (ret) {
		action_free(probe, added, added->hash.count);
		return ret;
	}

	/*
	 * A task may still be on its way to the action of one that is gone. For the last
	 * of them, ftrace_shutdown() has waited.
	 */
	if (gone->hash.count && probe_functions(probe))
		fentry_sets_sync();
	action_free(probe, gone, gone->hash.count);
	return nr;
}

/* The probe gets the functions that match, or loses them. */
static int probe_change(struct ftrace_func_probe *probe, const char *glob, bool remove,
			void *data)
{
	const struct fentry_filter *had = probe_functions(probe);
	struct fentry_filter *match __free(kvfree) = fentry_filter_copy(NULL);
	int ret;

	if (!match)
		return -ENOMEM;
	scoped_guard(mutex, &ftrace_lock)
		ret = fentry_match(&match, glob, NULL);
	if (ret)
		return ret;
	return probe_move(probe, remove ? fentry_filter_subtract(had, match) :
					  fentry_filter_union(had, match), data);
}

/* The probe loses all its functions. That needs no memory: its instance may be going. */
static int probe_clear(struct ftrace_func_probe *probe)
{
	const struct fentry_filter *had = probe_functions(probe);
	int ret;

	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_shutdown(&probe->ops, 0);
	action_free(probe, had, had->hash.count);
	ftrace_free_filter(&probe->ops);
	return ret;
}

/**
 * register_ftrace_function_probe - attach an action to functions
 * @glob: which functions, without !
 * @tr: in which instance
 * @action: what to do
 * @data: for @action->init()
 *
 * Context: process context, sleeps, takes ftrace_lock and what ftrace_startup() takes.
 *
 * Return: how many functions got it that had not had it, or with nothing
 * changed -EINVAL if none, -ENOMEM, -ENODEV after ftrace_kill(), or an error of
 * @action->init() or ftrace_startup().
 */
int register_ftrace_function_probe(char *glob, struct trace_array *tr,
				   struct ftrace_probe_ops *action, void *data)
{
	struct ftrace_func_probe *probe;
	int ret;

	if (WARN_ON(!tr || glob[0] == '!'))
		return -EINVAL;

	guard(mutex)(&probes_mutex);
	probe = probe_find(tr, action) ?: probe_new(tr, action);
	if (!probe)
		return -ENOMEM;
	ret = probe_change(probe, glob, false, data);
	probe_free_unused(probe);
	return ret;
}

/**
 * unregister_ftrace_function_probe_func - take an action off functions
 * @glob: which functions, without !; NULL, empty or "*": all
 * @tr: in which instance
 * @action: what is no longer to be done
 *
 * Context: process context, sleeps, takes ftrace_lock and what ftrace_startup() takes.
 *
 * Return: 0, -ENODEV if the action is attached to nothing or after ftrace_kill(); if not
 * all are meant, also -EINVAL if it is not attached to a function that matches or @glob begins
 * with !, -ENOMEM, or an error of fentry_ops_set_filter().
 */
int unregister_ftrace_function_probe_func(char *glob, struct trace_array *tr,
					  struct ftrace_probe_ops *action)
{
	bool all = !glob || !*glob || !strcmp(glob, "*");
	struct ftrace_func_probe *probe;
	int ret;

	/* set_ftrace_filter takes off one '!' of "!!function:command". */
	if (glob && glob[0] == '!')
		return -EINVAL;

	guard(mutex)(&probes_mutex);
	probe = probe_find(tr, action);
	if (!probe)
		return -ENODEV;

	ret = all ? probe_clear(probe) : probe_change(probe, glob, true, NULL);
	probe_free_unused(probe);
	return min(ret, 0);
}

/**
 * clear_ftrace_function_probes - take all actions off all functions
 * @tr: of an instance, which is going
 */
void clear_ftrace_function_probes(struct trace_array *tr)
{
	struct ftrace_func_probe *probe, *next;

	list_for_each_entry_safe(probe, next, &tr->func_probes, list)
		unregister_ftrace_function_probe_func(NULL, tr, probe->action);
}

/* List the functions with an action. */
void fentry_probes_show(struct seq_file *m, struct trace_array *tr)
{
	struct ftrace_func_probe *probe;
	unsigned long i;

	guard(mutex)(&probes_mutex);
	list_for_each_entry(probe, &tr->func_probes, list) {
		const struct fentry_filter *functions = probe_functions(probe);
		struct ftrace_probe_ops *action = probe->action;

		for (i = 0; i < fentry_filter_count(functions) && !seq_has_overflowed(m); i++) {
			cond_resched();
			if (action->print)
				action->print(m, functions->ip[i], action, probe->data);
			else
				seq_printf(m, "%ps:%ps\n", (void *)functions->ip[i],
					   action->func);
		}
	}
}
