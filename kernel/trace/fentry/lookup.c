// SPDX-License-Identifier: GPL-2.0
/*
 * Lookup: from addresses and names to sites, and what code there is that kallsyms
 * does not know of itself: trampolines.
 */
#include <linux/bsearch.h>
#include <linux/kallsyms.h>
#include <linux/module.h>

#include "freed.h"
#include "ops.h"
#include "set.h"

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

	guard(rcu)();
	site = text_site_find(&fentry_sites, start, end, NULL);
	return site ? text_site_addr(site) : 0;
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
	return !!ftrace_location_range((unsigned long)start, (unsigned long)end);
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
	    module_kallsyms_on_each_symbol(NULL, search_symbol, &search) > 0)
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
	guard(preempt_notrace)();
	return fentry_trampoline_find(addr);
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
	guard(rcu)();
	if (IS_ENABLED(CONFIG_MODULES) &&
	    fentry_freed_nth(&symnum, value, name, module_name)) {
		*type = 'T';
		*exported = 1;
		return 0;
	}

	*value = fentry_trampoline_nth(symnum);
	if (!*value)
		return -ERANGE;
	*type = 't';
	strscpy(name, FENTRY_TRAMPOLINE_SYM, KSYM_NAME_LEN);
	strscpy(module_name, "__builtin__ftrace", MODULE_NAME_LEN);
	*exported = 0;
	return 0;
}
