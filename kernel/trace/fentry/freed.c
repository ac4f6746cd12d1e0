// SPDX-License-Identifier: GPL-2.0
/*
 * Freed functions: names of functions of modules whose text has been freed after
 * initialisation, for traces that they are in.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "filter.h"
#include "freed.h"
#include "ops.h"

/**
 * struct freed_func - a function whose text has been freed
 * @list: all of them, changes under ftrace_lock, read under RCU
 * @rcu: for freeing
 * @mod: the module it is of
 * @ip: its address
 * @size: in bytes
 * @name: its name
 */
struct freed_func {
	struct list_head	list;
	struct rcu_head		rcu;
	struct module		*mod;
	unsigned long		ip, size;
	char			name[];
};

static LIST_HEAD(freed_funcs);

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
		list_add_rcu(&func->list, &freed_funcs);
	}
}

/* Forget the names of a module that is going as a whole. Under ftrace_lock. */
void fentry_drop_symbols(struct module *mod)
{
	struct freed_func *func, *next;

	list_for_each_entry_safe(func, next, &freed_funcs, list) {
		if (func->mod != mod)
			continue;
		list_del_rcu(&func->list);
		kfree_rcu(func, rcu);
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
	list_for_each_entry_rcu(func, &freed_funcs, list, true) {
		if (addr - func->ip >= func->size)
			continue;
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
	return 0;
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
