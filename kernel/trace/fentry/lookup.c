// SPDX-License-Identifier: GPL-2.0
/*
 * Lookup: from addresses and names to sites, and from addresses of code that
 * kallsyms does not know to names: trampolines, and functions whose text has
 * been freed but that stand in traces.
 */
#include <linux/bsearch.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "fentry.h"

/**
 * ftrace_location_range - the first site in a range of addresses
 * @start: first address
 * @end: last address, inclusive
 *
 * Context: any.
 *
 * Return: the site's address, 0 if there is none.
 */
unsigned long ftrace_location_range(unsigned long start, unsigned long end)
{
	struct text_site *site;
	unsigned long ip;

	rcu_read_lock();
	site = text_site_find(&fentry_sites, start, end, NULL);
	ip = site ? text_site_addr(site) : 0;
	rcu_read_unlock();
	return ip;
}

/**
 * ftrace_location - the site of a function
 * @ip: the function, or any byte of its site
 *
 * Context: any.
 *
 * Return: the site's address, 0 if there is none.
 */
unsigned long ftrace_location(unsigned long ip)
{
	unsigned long size, offset, loc;

	loc = ftrace_location_range(ip, ip);
	if (!loc && kallsyms_lookup_size_offset(ip, &size, &offset) && !offset)
		loc = ftrace_location_range(ip, ip + size - 1);
	return loc;
}

/**
 * ftrace_text_reserved - does text that somebody wants to change hold a site?
 * @start: first byte
 * @end: last byte, inclusive
 *
 * Return: 1 if it does, else 0.
 */
int ftrace_text_reserved(const void *start, const void *end)
{
	guard(rcu)();
	return text_site_find(NULL, (unsigned long)start, (unsigned long)end, NULL) != NULL;
}

struct symbol_search {
	const char	**names;	/* sorted */
	unsigned long	*addrs;
	size_t		nr, found;
};

static int name_cmp(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int search_symbol(void *data, const char *name, unsigned long addr)
{
	struct symbol_search *search = data;
	const char **hit = bsearch(&name, search->names, search->nr, sizeof(name), name_cmp);
	unsigned long *slot = hit ? &search->addrs[hit - search->names] : NULL;

	/* The first of a name that has a site */
	if (slot && !*slot && ftrace_location(addr)) {
		*slot = addr;
		search->found++;
	}
	return search->found == search->nr;
}

/**
 * ftrace_lookup_symbols - addresses of functions that have sites
 * @sorted_syms: their names, sorted
 * @cnt: how many
 * @addrs: gets the addresses, in the same order
 *
 * Context: process context, sleeps.
 *
 * Return: 0, or -ESRCH if one is missing.
 */
int ftrace_lookup_symbols(const char **sorted_syms, size_t cnt, unsigned long *addrs)
{
	struct symbol_search search = {
		.names = sorted_syms, .addrs = addrs, .nr = cnt,
	};

	memset(addrs, 0, cnt * sizeof(*addrs));
	if (kallsyms_on_each_symbol(search_symbol, &search) ||
	    module_kallsyms_on_each_symbol(NULL, search_symbol, &search))
		return 0;
	return -ESRCH;
}

/**
 * is_ftrace_trampoline - is an address in a trampoline of the engine?
 * @addr: any
 *
 * Context: any.
 *
 * Return: true if so.
 */
bool is_ftrace_trampoline(unsigned long addr)
{
	bool ret;

	preempt_disable_notrace();
	ret = text_trampoline_find(addr);
	preempt_enable_notrace();
	return ret;
}

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

static bool nth_freed_func(unsigned int n, unsigned long *value, char *name,
			   char *module_name)
{
	struct freed_text *text;

	list_for_each_entry_rcu(text, &freed_texts, list, true) {
		if (n >= text->nr) {
			n -= text->nr;
			continue;
		}
		*value = text->funcs[n].ip;
		strscpy(name, text->funcs[n].name, KSYM_NAME_LEN);
		strscpy(module_name, text->mod->name, MODULE_NAME_LEN);
		return true;
	}
	return false;
}

static unsigned int nr_freed_funcs(void)
{
	struct freed_text *text;
	unsigned int nr = 0;

	list_for_each_entry_rcu(text, &freed_texts, list, true)
		nr += text->nr;
	return nr;
}

/**
 * ftrace_mod_get_kallsym - for /proc/kallsyms: the engine's own symbols
 * @symnum: which, from 0
 * @value: gets the address
 * @type: gets the type, as in nm
 * @name: gets the name, KSYM_NAME_LEN bytes
 * @module_name: gets the module, MODULE_NAME_LEN bytes; a made-up one for
 *	trampolines
 * @exported: gets whether modules see it, of which only the type's case is left
 *
 * Return: 0, -ERANGE if there are not so many.
 */
int ftrace_mod_get_kallsym(unsigned int symnum, unsigned long *value, char *type,
			   char *name, char *module_name, int *exported)
{
	struct ops_set *set;
	unsigned int nr;
	int ret = 0;

	preempt_disable();
	nr = nr_freed_funcs();
	if (symnum < nr && nth_freed_func(symnum, value, name, module_name)) {
		*type = 'T';
		*exported = 1;
		goto out;
	}

	set = symnum >= nr ? fentry_set_nth(symnum - nr) : NULL;
	if (set) {
		*value = set->tramp.addr;
		*type = 't';
		strscpy(name, FENTRY_TRAMPOLINE_SYM, KSYM_NAME_LEN);
		strscpy(module_name, "__builtin__ftrace", MODULE_NAME_LEN);
		*exported = 0;
	} else {
		ret = -ERANGE;
	}
out:
	preempt_enable();
	return ret;
}
