// SPDX-License-Identifier: GPL-2.0
/*
 * Probes: functions with an action attached to them, by commands in a filter
 * file: "function:traceoff:3". All functions with the same action in an instance
 * share one ops.
 */
#include <linux/hashtable.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "fentry.h"
#include "filter.h"
#include "match.h"
#include "probe.h"

/**
 * struct ftrace_func_probe - an action that some functions of an instance have
 * @ops: with the functions as filter
 * @action: what is done
 * @tr: the instance
 * @list: all of the instance, under ftrace_lock
 * @data: the action's own
 * @refs: functions, and users of this structure; under ftrace_lock
 */
struct ftrace_func_probe {
	struct ftrace_ops		ops;
	struct ftrace_probe_ops		*action;
	struct trace_array		*tr;
	struct list_head		list;
	void				*data;
	unsigned long			refs;
};

static void probe_callback(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct ftrace_func_probe *probe = container_of(ops, struct ftrace_func_probe, ops);

	/* Actions count on it. */
	preempt_disable_notrace();
	probe->action->func(ip, parent_ip, probe->tr, probe->action, probe->data);
	preempt_enable_notrace();
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

static struct ftrace_func_probe *probe_get(struct trace_array *tr,
					   struct ftrace_probe_ops *action, bool create)
{
	struct ftrace_func_probe *probe;

	mutex_lock(&ftrace_lock);
	probe = probe_find(tr, action);
	if (!probe && create) {
		probe = kzalloc(sizeof(*probe), GFP_KERNEL);
		if (probe) {
			probe->ops.func = probe_callback;
			fentry_ops_init(&probe->ops);
			probe->action = action;
			probe->tr = tr;
			list_add(&probe->list, &tr->func_probes);
		}
	}
	if (probe)
		probe->refs++;
	mutex_unlock(&ftrace_lock);
	return probe;
}

static void probe_put(struct ftrace_func_probe *probe)
{
	mutex_lock(&ftrace_lock);
	if (!--probe->refs) {
		/* No function is left: the action frees what it has for all. */
		if (probe->action->free)
			probe->action->free(probe->action, probe->tr, 0, probe->data);
		list_del(&probe->list);
		ftrace_free_filter(&probe->ops);
		kfree(probe);
	}
	mutex_unlock(&ftrace_lock);
}

/* Tell the action about its new functions; if it refuses one, about none. */
static int action_init(struct ftrace_func_probe *probe, const struct fentry_filter *added,
		       void *data)
{
	struct ftrace_probe_ops *action = probe->action;
	unsigned long i;
	int ret;

	for (i = 0; action->init && i < added->hash.count; i++) {
		ret = action->init(action, probe->tr, added->ip[i], data, &probe->data);
		if (ret < 0) {
			while (action->free && i--)
				action->free(action, probe->tr, added->ip[i], probe->data);
			return ret;
		}
	}
	return 0;
}

static void action_free(struct ftrace_func_probe *probe, const struct fentry_filter *gone)
{
	struct ftrace_probe_ops *action = probe->action;
	unsigned long i;

	for (i = 0; action->free && i < gone->hash.count; i++)
		action->free(action, probe->tr, gone->ip[i], probe->data);
}

static int probe_attach(struct ftrace_func_probe *probe, struct fentry_filter *added)
{
	struct fentry_filter *now = fentry_filter(fentry_ops_hash(&probe->ops, false)), *all;
	int ret;

	all = now ? fentry_filter_union(now, added) : fentry_filter_copy(&added->hash);
	if (!all)
		return -ENOMEM;

	ret = fentry_ops_set_filter(&probe->ops, all, false);
	if (ret)
		return ret;

	if (!(probe->ops.flags & FTRACE_OPS_FL_ENABLED)) {
		ret = ftrace_startup(&probe->ops, 0);
		if (ret)
			fentry_ops_set_filter(&probe->ops, NULL, false);
	}
	return ret;
}

/**
 * register_ftrace_function_probe - attach an action to functions
 * @glob: which functions, without !
 * @tr: in which instance
 * @action: what to do
 * @data: for @action->init()
 *
 * Context: process context, sleeps, takes ftrace_lock.
 *
 * Return: how many functions got it that had not had it, or with nothing
 * changed -EINVAL if none, -ENOMEM, or an error of @action->init() or
 * fentry_switch().
 */
int register_ftrace_function_probe(char *glob, struct trace_array *tr,
				   struct ftrace_probe_ops *action, void *data)
{
	struct fentry_filter *added, *had;
	struct ftrace_func_probe *probe;
	struct mutex *regex_lock;
	int ret;

	if (WARN_ON(!tr || glob[0] == '!'))
		return -EINVAL;

	probe = probe_get(tr, action, true);
	added = fentry_filter_copy(NULL);
	if (!probe || !added) {
		ret = -ENOMEM;
		goto out_put;
	}

	regex_lock = &probe->ops.func_hash->regex_lock;
	mutex_lock(regex_lock);

	ret = fentry_match(&added, glob, NULL);
	if (ret < 0)
		goto out_unlock;

	had = fentry_filter(fentry_ops_hash(&probe->ops, false));
	if (had) {
		struct fentry_filter *rest = fentry_filter_subtract(added, had);

		ret = -ENOMEM;
		if (!rest)
			goto out_unlock;
		kvfree(added);
		added = rest;
	}

	ret = added->hash.count ? action_init(probe, added, data) : -EINVAL;
	if (ret)
		goto out_unlock;

	mutex_lock(&ftrace_lock);
	ret = probe_attach(probe, added);
	if (!ret)
		probe->refs += added->hash.count;
	mutex_unlock(&ftrace_lock);

	if (ret)
		action_free(probe, added);
	else
		ret = added->hash.count;

out_unlock:
	mutex_unlock(regex_lock);
out_put:
	kvfree(added);
	if (probe)
		probe_put(probe);
	return ret;
}

/* Take functions away from a probe, which is without any if none is left. */
static int probe_detach(struct ftrace_func_probe *probe, const struct fentry_filter *gone)
{
	struct fentry_filter *rest;

	rest = fentry_filter_subtract(fentry_filter(fentry_ops_hash(&probe->ops, false)), gone);
	if (!rest)
		return -ENOMEM;
	if (rest->hash.count)
		return fentry_ops_set_filter(&probe->ops, rest, false);

	/* An empty filter would mean everything: unregister it first */
	kvfree(rest);
	return ftrace_shutdown(&probe->ops, 0);
}

/**
 * unregister_ftrace_function_probe_func - take an action off functions
 * @glob: which functions; NULL, empty or "*": all
 * @tr: in which instance
 * @action: what is no longer to be done
 *
 * Context: process context, sleeps, takes ftrace_lock.
 *
 * Return: 0, -ENODEV if the action is attached to nothing, -EINVAL if not to a
 * function that matches, -ENOMEM, or an error of fentry_switch().
 */
int unregister_ftrace_function_probe_func(char *glob, struct trace_array *tr,
					  struct ftrace_probe_ops *action)
{
	struct fentry_filter *gone = NULL, *now, *keep;
	struct ftrace_func_probe *probe;
	int ret = -EINVAL;

	if (WARN_ON(glob && glob[0] == '!'))
		return -EINVAL;

	probe = probe_get(tr, action, false);
	if (!probe)
		return -ENODEV;

	mutex_lock(&probe->ops.func_hash->regex_lock);
	now = fentry_filter(fentry_ops_hash(&probe->ops, false));
	if (!now)
		goto out;

	/* What matches is what is left when all that does not is taken away. */
	gone = fentry_filter_copy(&now->hash);
	if (gone && glob && *glob && strcmp(glob, "*")) {
		struct fentry_filter *match = fentry_filter_copy(NULL);

		ret = match ? fentry_match(&match, glob, NULL) : -ENOMEM;
		keep = !ret || ret == -EINVAL ? fentry_filter_subtract(gone, match) : NULL;
		kvfree(gone);
		gone = keep ? fentry_filter_subtract(now, keep) : NULL;
		kvfree(keep);
		kvfree(match);
	}
	if (!gone) {
		ret = -ENOMEM;
		goto out;
	}
	if (!gone->hash.count) {
		ret = -EINVAL;
		goto out;
	}

	mutex_lock(&ftrace_lock);
	ret = probe_detach(probe, gone);
	if (!ret && !(probe->ops.flags & FTRACE_OPS_FL_ENABLED))
		ftrace_free_filter(&probe->ops);
	mutex_unlock(&ftrace_lock);
	if (ret)
		goto out;

	/* A task may still be on its way to the action of one of them. */
	fentry_sets_sync();
	action_free(probe, gone);
	mutex_lock(&ftrace_lock);
	probe->refs -= gone->hash.count;
	mutex_unlock(&ftrace_lock);
out:
	mutex_unlock(&probe->ops.func_hash->regex_lock);
	kvfree(gone);
	probe_put(probe);
	return ret;
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

	guard(mutex)(&ftrace_lock);
	list_for_each_entry(probe, &tr->func_probes, list) {
		struct fentry_filter *functions =
			fentry_filter(fentry_ops_hash(&probe->ops, false));
		struct ftrace_probe_ops *action = probe->action;

		for (i = 0; i < fentry_filter_count(functions); i++) {
			if (action->print)
				action->print(m, functions->ip[i], action, probe->data);
			else
				seq_printf(m, "%ps:%ps\n", (void *)functions->ip[i],
					   action->func);
		}
	}
}

/*
 * Mappers: something that an action has for each of its functions. Looked up
 * from callbacks, changed under the probe's regex_lock.
 */
struct mapping {
	struct hlist_node	node;
	struct rcu_head		rcu;
	unsigned long		ip;
	void			*data;
};

struct ftrace_func_mapper {
	DECLARE_HASHTABLE(map, 8);
};

/**
 * allocate_ftrace_func_mapper - a new mapper with nothing in it
 *
 * Return: the mapper, NULL if there is no memory.
 */
struct ftrace_func_mapper *allocate_ftrace_func_mapper(void)
{
	return kzalloc(sizeof(struct ftrace_func_mapper), GFP_KERNEL);
}

static struct mapping *mapping_find(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	struct mapping *mapping;

	hash_for_each_possible_rcu_notrace(mapper->map, mapping, node, ip) {
		if (mapping->ip == ip)
			return mapping;
	}
	return NULL;
}

/**
 * ftrace_func_mapper_find_ip - what a mapper has for a function
 * @mapper: the mapper
 * @ip: the function's site
 *
 * Context: any, with preemption off.
 *
 * Return: where the data is, to be used in place; NULL if there is none.
 */
void **ftrace_func_mapper_find_ip(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	struct mapping *mapping = mapping_find(mapper, ip);

	return mapping ? &mapping->data : NULL;
}

/**
 * ftrace_func_mapper_add_ip - put something into a mapper for a function
 * @mapper: the mapper
 * @ip: the function's site
 * @data: what
 *
 * Return: 0, -EBUSY if there is something for it, -ENOMEM.
 */
int ftrace_func_mapper_add_ip(struct ftrace_func_mapper *mapper, unsigned long ip,
			      void *data)
{
	struct mapping *mapping;

	if (mapping_find(mapper, ip))
		return -EBUSY;

	mapping = kmalloc(sizeof(*mapping), GFP_KERNEL);
	if (!mapping)
		return -ENOMEM;

	mapping->ip = ip;
	mapping->data = data;
	hash_add_rcu(mapper->map, &mapping->node, ip);
	return 0;
}

/**
 * ftrace_func_mapper_remove_ip - take what it has for a function from a mapper
 * @mapper: the mapper
 * @ip: the function's site
 *
 * Return: the data, NULL if there is none.
 */
void *ftrace_func_mapper_remove_ip(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	struct mapping *mapping = mapping_find(mapper, ip);
	void *data;

	if (!mapping)
		return NULL;

	data = mapping->data;
	hash_del_rcu(&mapping->node);
	kfree_rcu(mapping, rcu);
	return data;
}

/**
 * free_ftrace_func_mapper - free a mapper that is not used any more
 * @mapper: the mapper, or NULL
 * @free_func: called for each data, if not NULL
 */
void free_ftrace_func_mapper(struct ftrace_func_mapper *mapper,
			     ftrace_mapper_func free_func)
{
	struct mapping *mapping;
	struct hlist_node *next;
	int bucket;

	if (!mapper)
		return;

	hash_for_each_safe(mapper->map, bucket, next, mapping, node) {
		if (free_func)
			free_func(mapping->data);
		hash_del_rcu(&mapping->node);
		kfree_rcu(mapping, rcu);
	}
	kfree(mapper);
}
