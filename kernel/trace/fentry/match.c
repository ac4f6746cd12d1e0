// SPDX-License-Identifier: GPL-2.0
/*
 * Matching: which sites a user's pattern means.
 */
#include <linux/glob.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fentry.h"
#include "filter.h"

/**
 * struct pattern - one of the globs that trace filters know
 * @type: where in the name @text must be
 * @text: what
 * @len: its length
 * @invert: it is meant the other way round
 */
struct pattern {
	enum regex_type	type;
	char		*text;
	int		len;
	int		invert;
};

static struct pattern pattern_parse(char *text)
{
	struct pattern pattern = {};

	pattern.type = filter_parse_regex(text, strlen(text), &pattern.text,
					  &pattern.invert);
	pattern.len = strlen(pattern.text);
	return pattern;
}

static bool pattern_matches(const struct pattern *pattern, const char *name)
{
	size_t len;

	switch (pattern->type) {
	case MATCH_FULL:
		return !strcmp(name, pattern->text);
	case MATCH_FRONT_ONLY:
		return !strncmp(name, pattern->text, pattern->len);
	case MATCH_MIDDLE_ONLY:
		return strstr(name, pattern->text);
	case MATCH_END_ONLY:
		len = strlen(name);
		return len >= pattern->len &&
		       !strcmp(name + len - pattern->len, pattern->text);
	case MATCH_GLOB:
		return glob_match(pattern->text, name);
	default:
		return false;
	}
}

/*
 * Is a site with this name in the module that is asked for? An empty pattern
 * stands for any module; inverted, for the kernel itself.
 */
static bool module_matches(const struct pattern *module, const char *modname)
{
	if (!module)
		return true;
	if (!module->len)
		return !modname == !!module->invert;

	return (modname && pattern_matches(module, modname)) != !!module->invert;
}

/**
 * struct matches - addresses found so far
 * @ip: the addresses
 * @nr: how many
 * @room: for how many there is room
 */
struct matches {
	unsigned long	*ip;
	unsigned int	nr, room;
};

static int matches_add(struct matches *matches, unsigned long ip)
{
	unsigned int room = max(2 * matches->room, 64u);
	unsigned long *more;

	if (matches->nr == matches->room) {
		more = kvrealloc(matches->ip, room * sizeof(*more), GFP_KERNEL);
		if (!more)
			return -ENOMEM;
		matches->ip = more;
		matches->room = room;
	}
	matches->ip[matches->nr++] = ip;
	return 0;
}

/**
 * struct search - for sites by name
 * @func: of the function
 * @module: of the module it is in, NULL if that does not matter
 * @found: so far
 */
struct search {
	const struct pattern	*func;
	const struct pattern	*module;
	struct matches		found;
};

/* With a module, an empty name is any. */
static bool any_name(const struct search *search)
{
	return search->module && !search->func->len;
}

static int match_site(struct search *search, const struct text_site *site)
{
	unsigned long ip = text_site_addr(site);
	char name[KSYM_SYMBOL_LEN];
	char *modname;

	if ((site->state & TEXT_SITE_DEAD) ||
	    !kallsyms_lookup(ip, NULL, NULL, &modname, name) ||
	    !module_matches(search->module, modname) ||
	    !(any_name(search) || pattern_matches(search->func, name)))
		return 0;

	return matches_add(&search->found, ip);
}

/* The sites in a symbol of the kernel. That may have a better name: it is asked for. */
static int match_symbol(void *data, unsigned long addr)
{
	unsigned long size, end;
	struct text_site *site;
	int ret = 0;

	if (!kallsyms_lookup_size_offset(addr, &size, NULL))
		return 0;

	for (end = addr + size; !ret && addr < end; addr = text_site_addr(site) + TEXT_SITE_SIZE) {
		site = text_site_find(&fentry_sites, addr, end - 1, NULL);
		if (!site)
			break;
		ret = match_site(data, site);
	}
	return ret;
}

static int match_table(struct search *search, const struct text_site_table *table)
{
	struct text_site *site;
	int ret = 0;

	for_each_text_site(site, table) {
		ret = match_site(search, site);
		if (ret)
			break;
		cond_resched();
	}
	return ret;
}

/* One name is looked up; a pattern is compared with the name of each site. */
static int match_kernel(struct search *search, const struct text_site_table *table)
{
	if (!module_matches(search->module, NULL))
		return 0;
	if (search->func->type != MATCH_FULL || any_name(search))
		return match_table(search, table);

	return kallsyms_on_each_match_symbol(match_symbol, search->func->text, search);
}

static int match_names(struct search *search)
{
	struct text_site_table *table;
	int ret = 0;

	for_each_fentry_table(table) {
		ret = table->mod ? match_table(search, table) : match_kernel(search, table);
		if (ret)
			break;
	}
	return ret;
}

/* The site whose line in available_filter_functions has this number, from 1 */
static int match_index(struct matches *matches, const struct pattern *func)
{
	struct text_site_table *table;
	struct text_site *site;
	unsigned long index;

	if (kstrtoul(func->text, 0, &index) || !index)
		return 0;

	for_each_fentry_table(table) {
		for_each_text_site(site, table) {
			if (table->ready && !(site->state & TEXT_SITE_DEAD) && !--index)
				return matches_add(matches, text_site_addr(site));
		}
	}
	return 0;
}

/* Replace *@filter by one with the matches in it, or without them. */
static int filter_apply(struct fentry_filter **filter, const struct matches *matches,
			bool remove)
{
	struct fentry_filter *found, *result;

	found = fentry_filter_new(matches->ip, matches->nr);
	if (!found)
		return -ENOMEM;

	result = remove ? fentry_filter_subtract(*filter, found) :
			  fentry_filter_union(*filter, found);
	kvfree(found);
	if (!result)
		return -ENOMEM;

	kvfree(*filter);
	*filter = result;
	return 0;
}

/**
 * fentry_match - put the sites that a pattern means into a filter
 * @filter: the filter, not in use yet; it is replaced
 * @text: for function names: a glob, with ! in front to take the sites out of
 *	the filter; or the number of a line of available_filter_functions. It is
 *	written to.
 * @module: the same for the names of modules, with ! for all others; NULL if
 *	that does not matter. It is written to.
 *
 * Context: process context, sleeps, takes ftrace_lock.
 *
 * Return: 1 if there is such a site, 0 if not, -ENOMEM with *@filter as before.
 */
int fentry_match(struct fentry_filter **filter, char *text, char *module)
{
	struct pattern func = pattern_parse(text), mod = {};
	struct search search = { .func = &func };
	int ret = 0;

	if (module) {
		mod = pattern_parse(module);
		search.module = &mod;
	}

	mutex_lock(&ftrace_lock);
	if (!fentry_dead)
		ret = func.type == MATCH_INDEX ? match_index(&search.found, &func) :
						 match_names(&search);
	mutex_unlock(&ftrace_lock);

	if (!ret && search.found.nr) {
		ret = filter_apply(filter, &search.found, func.invert);
		if (!ret)
			ret = 1;
	}
	kvfree(search.found.ip);
	return ret;
}

/* Find the sites of some addresses and put them into a filter. */
static int match_addresses(struct fentry_filter **filter, const unsigned long *ips,
			   unsigned int nr, bool remove)
{
	struct matches matches = {};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++) {
		unsigned long ip = ftrace_location(ips[i]);

		if (!ip)
			ret = -EINVAL;
		else if (remove && !ftrace_lookup_ip(&(*filter)->hash, ip))
			ret = -ENOENT;
		else
			ret = matches_add(&matches, ip);
	}
	if (!ret && matches.nr)
		ret = filter_apply(filter, &matches, remove);

	kvfree(matches.ip);
	return ret;
}

/**
 * struct change - what is to be done to a filter of an ops
 * @text: pattern, may be NULL
 * @ips: addresses in functions' entries, may be NULL
 * @nr: how many
 * @remove: take the addresses out
 * @reset: start with an empty filter
 * @exclude: the filter is what not to trace
 */
struct change {
	char			*text;
	const unsigned long	*ips;
	unsigned int		nr;
	bool			remove, reset, exclude;
};

static int change_filter(struct ftrace_ops *ops, const struct change *change)
{
	struct ftrace_ops_hash *hashes = ops->func_hash;
	struct fentry_filter *filter;
	int ret = 0;

	if (fentry_dead)
		return -ENODEV;

	mutex_lock(&hashes->regex_lock);

	filter = fentry_filter_copy(change->reset ? NULL :
				    fentry_ops_hash(ops, change->exclude));
	if (!filter) {
		ret = -ENOMEM;
		goto out;
	}

	if (change->text) {
		ret = fentry_match(&filter, change->text, NULL);
		ret = ret > 0 ? 0 : ret ?: -EINVAL;
	}
	if (!ret && change->ips)
		ret = match_addresses(&filter, change->ips, change->nr, change->remove);
	if (ret) {
		kvfree(filter);
		goto out;
	}

	mutex_lock(&ftrace_lock);
	ret = fentry_ops_set_filter(ops, filter, change->exclude);
	mutex_unlock(&ftrace_lock);
out:
	mutex_unlock(&hashes->regex_lock);
	return ret;
}

/* What set_filter and set_notrace take is not ours to write to. */
static int change_by_text(struct ftrace_ops *ops, const unsigned char *buf, int len,
			  bool reset, bool exclude)
{
	struct change change = { .reset = reset, .exclude = exclude };
	int ret;

	fentry_ops_init(ops);
	if (buf) {
		change.text = kmemdup_nul(buf, len, GFP_KERNEL);
		if (!change.text)
			return -ENOMEM;
	}
	ret = change_filter(ops, &change);
	kfree(change.text);
	return ret;
}

/**
 * ftrace_set_filter - say by name what an ops traces
 * @ops: registered or not; if it is, it is switched at once
 * @buf: a glob that function names are to match, NULL: none
 * @len: its length
 * @reset: drop what was in the filter; with @buf NULL, trace everything
 *
 * Context: process context, sleeps.
 *
 * Return: 0, or with nothing changed -EINVAL if no function matches, -ENOMEM,
 * -ENODEV after ftrace_kill(), or an error of fentry_switch().
 */
int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return change_by_text(ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter);

/**
 * ftrace_set_notrace - say by name what an ops does not trace
 * @ops: registered or not; if it is, it is switched at once
 * @buf: a glob that function names are to match, NULL: none
 * @len: its length
 * @reset: drop what was in the filter
 *
 * Context: process context, sleeps.
 *
 * Return: as ftrace_set_filter().
 */
int ftrace_set_notrace(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return change_by_text(ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_notrace);

/**
 * ftrace_set_global_filter - ftrace_set_filter() for set_ftrace_filter's filter
 * @buf: a glob
 * @len: its length
 * @reset: drop what was in the filter
 */
void ftrace_set_global_filter(unsigned char *buf, int len, int reset)
{
	ftrace_set_filter(&global_ops, buf, len, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_filter);

/**
 * ftrace_set_global_notrace - the same for set_ftrace_notrace's filter
 * @buf: a glob
 * @len: its length
 * @reset: drop what was in the filter
 */
void ftrace_set_global_notrace(unsigned char *buf, int len, int reset)
{
	ftrace_set_notrace(&global_ops, buf, len, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_notrace);

/**
 * ftrace_set_filter_ips - say by address what an ops traces
 * @ops: registered or not; if it is, it is switched at once
 * @ips: addresses of functions, or of their sites
 * @cnt: how many
 * @remove: take them out of the filter instead of putting them in
 * @reset: drop what was in the filter
 *
 * Context: process context, sleeps.
 *
 * Return: 0, or with nothing changed -EINVAL if an address is not one of a
 * function with a site, -ENOENT if one to be removed is not in the filter,
 * -ENOMEM, -ENODEV after ftrace_kill(), or an error of fentry_switch().
 */
int ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips,
			  unsigned int cnt, int remove, int reset)
{
	const struct change change = {
		.ips = ips, .nr = cnt, .remove = remove, .reset = reset,
	};

	fentry_ops_init(ops);
	return change_filter(ops, &change);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ips);

/**
 * ftrace_set_filter_ip - ftrace_set_filter_ips() for one address
 * @ops: registered or not
 * @ip: the address
 * @remove: take it out of the filter
 * @reset: drop what was in the filter
 *
 * Return: as ftrace_set_filter_ips().
 */
int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip, int remove,
			 int reset)
{
	return ftrace_set_filter_ips(ops, &ip, 1, remove, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ip);
