// SPDX-License-Identifier: GPL-2.0
/*
 * Freed functions: the names of functions of modules whose text has been freed after
 * initialisation, but that stand in traces.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "fentry.h"
#include "filter.h"

/**
 * struct freed_text - functions of a module whose text has been freed
 * @list: all of them
 * @mod: the module
 * @rcu: for freeing
 * @nr: how many functions
 * @funcs: the functions
 */
struct freed_text {
	struct list_head	list;
	struct module		*mod;
	struct rcu_head		rcu;
	unsigned int		nr;
	struct freed_func {
		unsigned long	ip, size;
		char		*name;
	} funcs[] __counted_by(nr);
};

static LIST_HEAD(freed_texts);	/* changes under ftrace_lock, read under RCU */

/**
 * fentry_keep_symbols - remember the names of functions that are about to go
 * @mod: the module
 * @gone: their sites
 *
 * Without memory for it, traces will show addresses.
 *
 * Context: process context, sleeps, under ftrace_lock.
 */
void fentry_keep_symbols(struct module *mod, const struct fentry_filter *gone)
{
	char name[KSYM_SYMBOL_LEN];
	struct freed_text *text;
	unsigned long i;

	text = gone->hash.count ?
	       kzalloc(struct_size(text, funcs, gone->hash.count), GFP_KERNEL) : NULL;
	if (!text)
		return;

	text->mod = mod;
	for (i = 0; i < gone->hash.count; i++) {
		unsigned long size, offset, ip = gone->ip[i];
		struct freed_func func;

		if (!kallsyms_lookup(ip, &size, &offset, NULL, name))
			continue;
		func = (struct freed_func) { ip - offset, size, kstrdup(name, GFP_KERNEL) };
		if (!func.name)
			break;
		text->funcs[text->nr++] = func;
	}
	list_add_rcu(&text->list, &freed_texts);
}

static void freed_text_free(struct rcu_head *rcu)
{
	struct freed_text *text = container_of(rcu, struct freed_text, rcu);
	unsigned int i;

	for (i = 0; i < text->nr; i++)
		kfree(text->funcs[i].name);
	kfree(text);
}

/**
 * fentry_drop_symbols - forget the names of a module's functions
 * @mod: the module, which is going as a whole
 *
 * Context: under ftrace_lock.
 */
void fentry_drop_symbols(struct module *mod)
{
	struct freed_text *text;

	list_for_each_entry(text, &freed_texts, list) {
		if (text->mod != mod)
			continue;
		list_del_rcu(&text->list);
		call_rcu(&text->rcu, freed_text_free);
		return;
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
int ftrace_mod_address_lookup(unsigned long addr, unsigned long *size,
			      unsigned long *off, char **modname,
			      const unsigned char **modbuildid, char *sym)
{
	struct freed_text *text;
	unsigned int i;
	int ret = 0;

	preempt_disable();
	list_for_each_entry_rcu(text, &freed_texts, list, true) {
		for (i = 0; i < text->nr && !ret; i++) {
			const struct freed_func *func = &text->funcs[i];

			if (addr - func->ip >= func->size)
				continue;
			if (size)
				*size = func->size;
			if (off)
				*off = addr - func->ip;
			if (modname)
				*modname = text->mod->name;
			if (modbuildid)
				*modbuildid = module_buildid(text->mod);
			ret = strscpy(sym, func->name, KSYM_NAME_LEN);
		}
		if (ret)
			break;
	}
	preempt_enable();
	return ret;
}

/**
 * fentry_freed_nth - for listing the functions that have been freed
 * @n: from 0; if there are not so many, gets by how many it was too much
 * @value: gets the address
 * @name: gets the name, KSYM_NAME_LEN bytes
 * @module_name: gets the module's, MODULE_NAME_LEN bytes
 *
 * Context: under RCU or with preemption off.
 *
 * Return: whether there is one.
 */
bool fentry_freed_nth(unsigned int *n, unsigned long *value, char *name, char *module_name)
{
	struct freed_text *text;

	list_for_each_entry_rcu(text, &freed_texts, list, true) {
		if (*n >= text->nr) {
			*n -= text->nr;
			continue;
		}
		*value = text->funcs[*n].ip;
		strscpy(name, text->funcs[*n].name, KSYM_NAME_LEN);
		strscpy(module_name, text->mod->name, MODULE_NAME_LEN);
		return true;
	}
	return false;
}
