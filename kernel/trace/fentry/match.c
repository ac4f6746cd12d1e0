// SPDX-License-Identifier: GPL-2.0
/*
 * Matching: which sites a user's pattern means.
 *
 * A pattern is a glob for names of functions, or the number of a line of
 * available_filter_functions. One that begins with ! takes sites out of a filter.
 */
#include <linux/ctype.h>
#include <linux/glob.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "filter.h"
#include "names.h"
#include "ops.h"
#include "set.h"

/**
 * struct pattern - a glob, and what it stands for
 * @glob: what names have to match
 * @invert: the names that do not match, or the sites to take away
 */
struct pattern {
	const char	*glob;
	bool		invert;
};

static struct pattern pattern_parse(const char *text, const char *when_empty)
{
	bool invert = *text == '!';

	text += invert;
	return (struct pattern) { *text ? text : when_empty, invert };
}

/**
 * struct search - for sites
 * @func: matches the function
 * @module: matches the module it is in, without a glob if that does not matter
 * @line: search for the site on this line of available_filter_functions, from 1;
 *	0: search by name
 * @lines: lines seen so far
 * @names: for names of sites, one after the other
 * @ip: the addresses found
 * @nr: how many
 * @room: for how many there is room
 */
struct search {
	struct pattern	func, module;
	unsigned long	line, lines;
	struct fentry_names	names;
	unsigned long	*ip;
	unsigned int	nr, room;
};

static int search_found(struct search *search, unsigned long ip)
{
	unsigned int room = max(2 * search->room, 64u);
	unsigned long *more;

	if (search->nr == search->room) {
		more = kvrealloc(search->ip, room * sizeof(*more), GFP_KERNEL);
		if (!more)
			return -ENOMEM;
		search->ip = more;
		search->room = room;
	}
	search->ip[search->nr++] = ip;
	return 0;
}

static bool table_matches(const struct search *search, const struct text_site_table *table)
{
	const struct pattern *module = &search->module;

	if (search->line)
		return table->ready;
	if (!module->glob)
		return true;
	return (table->mod && glob_match(module->glob, module_name(table->mod))) != module->invert;
}

/* glob_match(), which takes long to find where what is behind a leading * begins */
static bool name_matches(const char *glob, const char *name)
{
	if (*glob != '*' || strchr("*?[\\", glob[1]))
		return glob_match(glob, name);

	for (glob++; (name = strchr(name, *glob)); name++) {
		/* Rules out most names without a call. */
		if (name[1] != glob[1] && isalnum(glob[1]))
			continue;
		if (glob_match(glob, name))
			return true;
	}
	return false;
}

static bool site_matches(struct search *search, const struct text_site_table *table,
			 const struct text_site *site)
{
	const char *name;

	if (search->line)
		return ++search->lines == search->line;
	name = fentry_site_name(&search->names, table, site);
	return name && name_matches(search->func.glob, name);
}

static int search_table(struct search *search, const struct text_site_table *table)
{
	struct text_site *site;
	int ret = 0;

	for_each_text_site(site, table) {
		if (site->state & TEXT_SITE_DEAD)
			continue;
		if (site_matches(search, table, site))
			ret = search_found(search, text_site_addr(site));
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

/* The site of a symbol of the kernel; kallsyms may know the function by another name. */
static int search_symbol(void *data, unsigned long addr)
{
	unsigned long ip = ftrace_location(addr);
	struct search *search = data;
	char name[KSYM_SYMBOL_LEN];

	if (ip && kallsyms_lookup(ip, NULL, NULL, NULL, name) && !strcmp(search->func.glob, name))
		return search_found(search, ip);
	return 0;
}

/* To look up one name of the kernel's takes less than to match the name of each site. */
static int search_all(struct search *search)
{
	bool plain = !search->line && !strpbrk(search->func.glob, "*?[\\");
	struct text_site_table *table;
	int ret = 0;

	if (!search->line && !plain)
		fentry_names_match(&search->names, search->func.glob);
	for_each_fentry_table(table) {
		if (!table_matches(search, table))
			continue;
		if (table->mod || !plain)
			ret = search_table(search, table);
		else
			ret = kallsyms_on_each_match_symbol(search_symbol, search->func.glob,
							    search);
		if (ret)
			break;
	}
	return ret;
}

/*
 * Add the sites that match @func to *@filter, which is not in use, or take them out if
 * @func begins with !. @module is the same for names of modules, with ! for all others;
 * NULL if that does not matter. Sleeps, under ftrace_lock. Returns 0, or with *@filter as
 * it was -EINVAL if no site matches, -ENODEV after ftrace_kill(), -ENOMEM.
 */
int fentry_match(struct fentry_filter **filter, const char *func, const char *module)
{
	struct search search = { .func = pattern_parse(func, module ? "*" : "") };
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (fentry_dead)
		return -ENODEV;
	if (module)
		search.module = pattern_parse(module, "*");
	if (isdigit(*search.func.glob) &&
	    (kstrtoul(search.func.glob, 0, &search.line) || !search.line))
		return -EINVAL;

	ret = search_all(&search);
	if (!ret)
		ret = search.nr ? fentry_filter_change(filter, search.ip, search.nr,
						       search.func.invert) : -EINVAL;
	kvfree(search.ip);
	fentry_names_free(&search.names);
	return ret;
}
