// SPDX-License-Identifier: GPL-2.0
/*
 * Mappers: something that a probe's action has for each of its functions. Looked up
 * from callbacks, changed while functions get the action or lose it.
 */
#include <linux/hashtable.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "ops.h"

struct mapping {
	struct hlist_node	node;
	struct rcu_head		rcu;
	unsigned long		ip;
	void			*data;
};

/* With 4096 buckets, chains stay short even if it has every function of the kernel. */
struct ftrace_func_mapper {
	DECLARE_HASHTABLE(map, 12);
};

/**
 * allocate_ftrace_func_mapper - a new mapper with nothing in it
 *
 * Return: the mapper, NULL if there is no memory.
 */
struct ftrace_func_mapper *allocate_ftrace_func_mapper(void)
{
	return kvzalloc(sizeof(struct ftrace_func_mapper), GFP_KERNEL);
}

/**
 * ftrace_func_mapper_find_ip - what a mapper has for a function
 * @mapper: the mapper
 * @ip: the function's site
 *
 * Context: any, with preemption off; or under the lock of who removes mappings.
 *
 * Return: where the data is, to be used in place; NULL if there is none.
 */
void **ftrace_func_mapper_find_ip(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	struct mapping *mapping;

	hash_for_each_possible_rcu_notrace(mapper->map, mapping, node, ip) {
		if (mapping->ip == ip)
			return &mapping->data;
	}
	return NULL;
}

/**
 * ftrace_func_mapper_add_ip - put something into a mapper for a function
 * @mapper: the mapper
 * @ip: the function's site
 * @data: what
 *
 * Return: 0, -EBUSY if there is something for it, -ENOMEM.
 */
int ftrace_func_mapper_add_ip(struct ftrace_func_mapper *mapper, unsigned long ip, void *data)
{
	struct mapping *mapping;

	if (ftrace_func_mapper_find_ip(mapper, ip))
		return -EBUSY;

	mapping = kmalloc(sizeof(*mapping), GFP_KERNEL);
	if (!mapping)
		return -ENOMEM;

	mapping->ip = ip;
	mapping->data = data;
	hash_add_rcu(mapper->map, &mapping->node, ip);
	return 0;
}

static void *mapping_remove(struct mapping *mapping)
{
	void *data = mapping->data;

	hash_del_rcu(&mapping->node);
	kfree_rcu(mapping, rcu);
	return data;
}

/**
 * ftrace_func_mapper_remove_ip - remove what a mapper has for a function
 * @mapper: the mapper
 * @ip: the function's site
 *
 * Return: the data, NULL if there is none.
 */
void *ftrace_func_mapper_remove_ip(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	void **data = ftrace_func_mapper_find_ip(mapper, ip);

	return data ? mapping_remove(container_of(data, struct mapping, data)) : NULL;
}

/**
 * free_ftrace_func_mapper - free a mapper that is not used any more
 * @mapper: the mapper, or NULL
 * @free_func: called for each data, if not NULL
 */
void free_ftrace_func_mapper(struct ftrace_func_mapper *mapper, ftrace_mapper_func free_func)
{
	struct mapping *mapping;
	struct hlist_node *next;
	int bucket;

	if (!mapper)
		return;

	hash_for_each_safe(mapper->map, bucket, next, mapping, node) {
		void *data = mapping_remove(mapping);

		if (free_func)
			free_func(data);
	}
	kvfree(mapper);
}
