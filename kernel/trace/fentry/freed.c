// SPDX-License-Identifier: GPL-2.0
/*
 * Freed functions: names of functions of modules whose text has been freed after
 * initialisation, for traces that they are in.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/rbtree_latch.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "filter.h"
#include "freed.h"
#include "ops.h"

/**
 * struct freed_func - a function whose text has been freed
 * @node: in the tree of all of them, by address
 * @list: all of them, in the order that kallsyms has them
 * @rcu: for freeing
 * @mod: the module it is of
 * @ip: its address
 * @size: in bytes
 * @name: its name
 */
struct freed_func {
	struct latch_tree_node	node;
	struct list_head	list;
	struct rcu_head		rcu;
	struct module		*mod;
	unsigned long		ip, size;
	char			name[];
};

/*
 * Both change under ftrace_lock and are read under RCU. A non-maskable interrupt may print a
 * stack during a change: a latched tree can be searched even then.
 */
static LIST_HEAD(freed_funcs);
static struct latch_tree_root freed_tree;

/* Addresses from @start to @last, inclusive */
struct freed_range {
	unsigned long start, last;
};

static bool freed_less(struct latch_tree_node *a, struct latch_tree_node *b)
{
	return container_of(a, struct freed_func, node)->ip <
	       container_of(b, struct freed_func, node)->ip;
}

/* Is the range @key before the function @node (-1), after it (1), or do they overlap? */
static int freed_cmp(void *key, struct latch_tree_node *node)
{
	const struct freed_func *func = container_of(node, struct freed_func, node);
	const struct freed_range *range = key;

	if (range->last < func->ip)
		return -1;
	return range->start >= func->ip + func->size;
}

static const struct latch_tree_ops freed_ops = { .less = freed_less, .comp = freed_cmp };

static struct freed_func *freed_find(unsigned long start, unsigned long size)
{
	struct freed_range range = { .start = start, .last = start + size - 1 };
	struct latch_tree_node *node = latch_tree_find(&range, &freed_tree, &freed_ops);

	return node ? container_of(node, struct freed_func, node) : NULL;
}

static void freed_remove(struct freed_func *func)
{
	latch_tree_erase(&func->node, &freed_tree, &freed_ops);
	list_del_rcu(&func->list);
	kfree_rcu(func, rcu);
}

/* A function replaces those that were freed at its addresses before. */
static void freed_add(struct freed_func *func)
{
	struct freed_func *former;

	while ((former = freed_find(func->ip, func->size)))
		freed_remove(former);
	latch_tree_insert(&func->node, &freed_tree, &freed_ops);
	list_add_rcu(&func->list, &freed_funcs);
}

/*
 * Remember the names of functions that are about to go, by their sites. Without memory
 * traces show addresses. Under ftrace_lock.
 */
void fentry_keep_symbols(struct module *mod, const struct fentry_filter *gone)
{
	unsigned long i, size, offset, len;
	char name[KSYM_SYMBOL_LEN];
	struct freed_func *func;

	for (i = 0; i < gone->hash.count; i++) {
		if (!kallsyms_lookup(gone->ip[i], &size, &offset, NULL, name))
			continue;
		len = strlen(name) + 1;
		func = kmalloc(struct_size(func, name, len), GFP_KERNEL);
		if (!func)
			return;
		func->mod = mod;
		func->ip = gone->ip[i] - offset;
		func->size = size;
		memcpy(func->name, name, len);
		freed_add(func);
	}
}

/* Forget the names of a module that is going as a whole. Under ftrace_lock. */
void fentry_drop_symbols(struct module *mod)
{
	struct freed_func *func, *next;

	list_for_each_entry_safe(func, next, &freed_funcs, list) {
		if (func->mod == mod)
			freed_remove(func);
	}
}

/**
 * ftrace_mod_address_lookup - kallsyms' question about freed functions
 * @addr: any address
 * @size: gets the function's size in bytes
 * @off: gets the offset of @addr in it
 * @modname: gets the module's name
 * @modbuildid: gets the module's build id
 * @sym: gets the function's name, KSYM_NAME_LEN bytes
 *
 * Context: any, under RCU or with preemption off for as long as the names are
 * used.
 *
 * Return: length of the name, 0 if the address is in no such function.
 */
int ftrace_mod_address_lookup(unsigned long addr, unsigned long *size, unsigned long *off,
			      char **modname, const unsigned char **modbuildid, char *sym)
{
	const struct freed_func *func;

	guard(preempt)();
	func = freed_find(addr, 1);
	if (!func)
		return 0;

	if (size)
		*size = func->size;
	if (off)
		*off = addr - func->ip;
	if (modname)
		*modname = func->mod->name;
	if (modbuildid)
		*modbuildid = module_buildid(func->mod);
	return strscpy(sym, func->name, KSYM_NAME_LEN);
}

/*
 * The *@n-th freed function, from 0. If there are not so many, *@n gets reduced by how
 * many there are. @name has KSYM_NAME_LEN bytes, @module_name MODULE_NAME_LEN. Under RCU
 * or with preemption off.
 */
bool fentry_freed_nth(unsigned int *n, unsigned long *value, char *name, char *module_name)
{
	const struct freed_func *func;

	list_for_each_entry_rcu(func, &freed_funcs, list, true) {
		if ((*n)--)
			continue;
		*value = func->ip;
		strscpy(name, func->name, KSYM_NAME_LEN);
		strscpy(module_name, func->mod->name, MODULE_NAME_LEN);
		return true;
	}
	return false;
}
