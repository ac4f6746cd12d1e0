// SPDX-License-Identifier: GPL-2.0
/*
 * Modules, and the kernel's own init text: sites come and go with their text.
 *
 *   ftrace_module_init      relocated, still writable: calls become NOPs
 *   ftrace_module_enable    text has its final protection: attach what is wanted
 *   ftrace_free_mem         init text goes
 *   ftrace_release_mod      everything goes; also when loading fails anywhere
 *
 * And filters for modules that are not there yet, which wait for them.
 */
#include <linux/inline_site.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "apply.h"
#include "filter.h"
#include "freed.h"
#include "match.h"
#include "module.h"
#include "register.h"
#include "set.h"

/* What dyn_ftrace_total_info shows */
unsigned long ftrace_update_tot_cnt;
unsigned long ftrace_number_of_pages;
unsigned long ftrace_number_of_groups;

static void count_table(const struct text_site_table *table, int sign)
{
	ftrace_number_of_pages += sign * (int)DIV_ROUND_UP(table->nr * sizeof(*table->sites),
							   PAGE_SIZE);
	ftrace_number_of_groups += sign;
}

/*
 * Makes a table's sites NOPs and known. @table has its mod filled in, else it is empty;
 * @report gets what became of the sites. The text is writable and not run. Returns 0, or
 * -EINVAL with a message and nothing changed if the records are no good.
 */
int fentry_add_table(struct text_site_table *table, struct text_site *sites,
		     unsigned int nr, struct text_site_report *report)
{
	int ret;

	table->kind = &fentry_sites;
	ret = text_site_table_init(table, sites, nr);
	if (ret)
		return ret;

	*report = arch_text_site_convert(table);
	text_site_table_add(table);
	ftrace_update_tot_cnt += report->converted;
	count_table(table, 1);
	return 0;
}

/* Filters that were given for modules not loaded then: mod_trace, mod_notrace */

static void request_free(struct ftrace_mod_load *request)
{
	list_del(&request->list);
	kfree(request->module);
	kfree(request->func);
	kfree(request);
}

/**
 * fentry_mod_requests_clear - drop the filters that wait for modules
 * @requests: mod_trace or mod_notrace of an instance
 */
void fentry_mod_requests_clear(struct list_head *requests)
{
	struct ftrace_mod_load *request, *next;

	mutex_lock(&ftrace_lock);
	list_for_each_entry_safe(request, next, requests, list)
		request_free(request);
	mutex_unlock(&ftrace_lock);
}

static bool module_is_loaded(const char *name)
{
	char sym[MODULE_NAME_LEN + sizeof(":__this_module")];

	/* Every module has this symbol. */
	if (snprintf(sym, sizeof(sym), "%s:__this_module", name) >= sizeof(sym))
		return false;
	return module_kallsyms_lookup_name(sym);
}

static int request_add(struct list_head *requests, const char *func, const char *module)
{
	struct ftrace_mod_load *request = kzalloc(sizeof(*request), GFP_KERNEL);

	if (!request)
		return -ENOMEM;

	INIT_LIST_HEAD(&request->list);
	request->func = kstrdup(func, GFP_KERNEL);
	request->module = kstrdup(module, GFP_KERNEL);
	if (!request->func || !request->module) {
		request_free(request);
		return -ENOMEM;
	}
	list_add(&request->list, requests);
	return 0;
}

static int request_remove(struct list_head *requests, const char *func,
			  const char *module)
{
	struct ftrace_mod_load *request, *next;
	int ret = -EINVAL;

	list_for_each_entry_safe(request, next, requests, list) {
		if (!strcmp(request->module, module) &&
		    (!strcmp(func, "*") || !strcmp(request->func, func))) {
			request_free(request);
			ret = 0;
		}
	}
	return ret;
}

/**
 * fentry_mod_request - have a filter wait for a module
 * @tr: the instance
 * @func: the pattern for functions; with ! in front, forget it
 * @module: the module's name
 * @is_notrace: it is for set_ftrace_notrace
 *
 * Return: 0, -ENOMEM, -EINVAL if the module is loaded (and had no such
 * function), or if there is nothing to forget.
 */
int fentry_mod_request(struct trace_array *tr, const char *func, const char *module,
		       bool is_notrace)
{
	struct list_head *requests = fentry_mod_requests(tr, is_notrace);
	int ret;

	mutex_lock(&ftrace_lock);
	if (func[0] == '!')
		ret = request_remove(requests, func + 1, module);
	else if (module_is_loaded(module))
		ret = -EINVAL;
	else
		ret = request_add(requests, func, module);
	mutex_unlock(&ftrace_lock);
	return ret;
}

/* Sites go whose addresses are in a range, both ends inclusive: which? */
static struct fentry_filter *sites_gone(struct text_site_table *table,
					unsigned long start, unsigned long end)
{
	unsigned long *ips = kvmalloc_array(table->nr, sizeof(*ips), GFP_KERNEL);
	struct fentry_filter *gone = NULL;
	struct text_site *site;
	unsigned int nr = 0;

	for_each_text_site(site, table) {
		unsigned long addr = text_site_addr(site);

		if ((site->state & TEXT_SITE_DEAD) || addr < start || addr > end)
			continue;
		if (ips)
			ips[nr++] = addr;
		fentry_site_gone(site);
		ftrace_update_tot_cnt--;
	}

	if (nr)
		gone = fentry_filter_new(ips, nr);
	if ((nr || !ips) && !gone)
		pr_warn("no memory, filters keep addresses of freed text\n");
	kvfree(ips);
	return gone;
}

/**
 * ftrace_free_mem - text goes that is not needed after initialisation
 * @mod: the module it is of, NULL for the kernel
 * @start: its first byte
 * @end: the first byte after it
 */
void ftrace_free_mem(struct module *mod, void *start, void *end)
{
	struct fentry_filter *gone = NULL;
	struct text_site_table *table;

	if (start >= end)
		return;

	inline_sites_free_text(mod, (unsigned long)start, (unsigned long)end);

	mutex_lock(&ftrace_lock);
	table = text_site_table_of_module(&fentry_sites, mod);
	if (table)
		gone = sites_gone(table, (unsigned long)start, (unsigned long)end - 1);
	if (IS_ENABLED(CONFIG_MODULES) && gone && mod && !list_empty(&fentry_ops))
		fentry_keep_symbols(mod, gone);
	mutex_unlock(&ftrace_lock);

	if (gone)
		fentry_filters_forget(gone);
	kvfree(gone);
}

/**
 * ftrace_free_init_mem - the kernel's init text goes
 */
void __init ftrace_free_init_mem(void)
{
	ftrace_boot_snapshot();
	ftrace_free_mem(NULL, __init_begin, __init_end);
}

#ifdef CONFIG_MODULES
/* Gives the sites of a module that is not ready the sets they are to have then. */
static int table_attach(struct text_site_table *table)
{
	struct ftrace_ops *ops;
	struct text_site *site;
	int ret;

	for_each_text_site(site, table)
		site->state = (site->state & TEXT_SITE_DEAD) | fentry_no_ops_off.id;

	for_each_fentry_member(ops) {
		const struct fentry_scope scope = fentry_ops_scope(ops);

		ret = fentry_apply(&(struct fentry_change) {
			.ops = &ops, .nr = 1, .new = &scope, .table = table,
		});
		if (ret) {
			pr_err("%s: cannot be traced by %pS (%d)\n", table->mod->name,
			       ops->func, ret);
			return ret;
		}
	}
	return 0;
}

/**
 * ftrace_module_init - a module's text is in place and relocated
 * @mod: the module, not visible yet
 *
 * If its table is no good or there is no memory, its functions cannot be
 * traced; it works all the same.
 */
void ftrace_module_init(struct module *mod)
{
	struct text_site_report report = {};
	struct text_site_table *table;

	if (fentry_dead || !mod->num_ftrace_callsites)
		return;

	/* The module loader's idea of a record is an address: as large as ours */
	BUILD_BUG_ON(sizeof(struct text_site) != sizeof(*mod->ftrace_callsites));

	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return;		/* kzalloc() has complained */

	table->mod = mod;
	mutex_lock(&ftrace_lock);
	if (fentry_add_table(table, (struct text_site *)mod->ftrace_callsites,
			     mod->num_ftrace_callsites, &report))
		kfree(table);
	else
		table_attach(table);
	mutex_unlock(&ftrace_lock);

	if (report.left)
		pr_warn("%s: %u of %u sites left alone\n", mod->name,
			report.left, mod->num_ftrace_callsites);
}

/* Put what waits for a module into the instance's filter. */
static void requests_run(struct trace_array *tr, const char *modname, bool is_notrace)
{
	struct list_head *requests = fentry_mod_requests(tr, is_notrace);
	struct ftrace_ops_hash *hashes = tr->ops->func_hash;
	struct ftrace_mod_load *request, *next;
	struct fentry_filter *filter;
	LIST_HEAD(mine);
	int ret = 0;

	mutex_lock(&hashes->regex_lock);

	mutex_lock(&ftrace_lock);
	list_for_each_entry_safe(request, next, requests, list) {
		if (!strcmp(request->module, modname))
			list_move_tail(&request->list, &mine);
	}
	mutex_unlock(&ftrace_lock);
	if (list_empty(&mine))
		goto out;

	filter = fentry_filter_copy(fentry_ops_hash(tr->ops, is_notrace));
	if (!filter)
		ret = -ENOMEM;

	list_for_each_entry_safe(request, next, &mine, list) {
		if (filter && !ret)
			ret = fentry_match(&filter, request->func, request->module);
		/* It has no such function. */
		if (ret == -EINVAL)
			ret = 0;
		request_free(request);
	}

	if (filter && !ret) {
		mutex_lock(&ftrace_lock);
		if (!is_notrace && list_empty(requests))
			filter->hash.flags &= ~FTRACE_HASH_FL_MOD;
		ret = fentry_ops_set_filter(tr->ops, filter, is_notrace);
		mutex_unlock(&ftrace_lock);
	} else {
		kvfree(filter);
	}
	if (ret)
		pr_warn("%s: its filter could not be set (%d)\n", modname, ret);
out:
	mutex_unlock(&hashes->regex_lock);
}

static void all_requests_run(const char *modname)
{
	struct trace_array *tr;

	mutex_lock(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (!list_empty(&tr->mod_trace))
			requests_run(tr, modname, false);
		if (!list_empty(&tr->mod_notrace))
			requests_run(tr, modname, true);
	}
	mutex_unlock(&trace_types_lock);
}

/*
 * A weak function that another one took the place of has left its body behind. It is
 * never called; kallsyms says that it belongs to the function before it. For the kernel
 * the build drops those.
 */
static void drop_bodies_without_name(struct text_site_table *table)
{
	unsigned long size, offset;
	struct text_site *site;

	for_each_text_site(site, table) {
		if (site->state & TEXT_SITE_DEAD)
			continue;
		cond_resched();
		if (!kallsyms_lookup_size_offset(text_site_addr(site), &size, &offset) ||
		    offset > FTRACE_MCOUNT_MAX_OFFSET) {
			fentry_site_gone(site);
			ftrace_update_tot_cnt--;
		}
	}
}

/* Switches a module's sites on, or off. */
static int table_set_ready(struct text_site_table *table, bool ready)
{
	table->ready = ready;
	return fentry_apply(&(struct fentry_change){ .table = table });
}

/**
 * ftrace_module_enable - a module's text has its final protection
 * @mod: the module, which does not run yet
 */
void ftrace_module_enable(struct module *mod)
{
	struct text_site_table *table;

	mutex_lock(&ftrace_lock);
	table = text_site_table_of_module(&fentry_sites, mod);
	if (table && !fentry_dead) {
		drop_bodies_without_name(table);
		if (table_set_ready(table, true))
			table_set_ready(table, false);
	}
	mutex_unlock(&ftrace_lock);

	all_requests_run(mod->name);
}

/**
 * ftrace_release_mod - a module goes, or does not come
 * @mod: the module, none of whose functions runs any more
 */
void ftrace_release_mod(struct module *mod)
{
	struct fentry_filter *gone = NULL;
	struct text_site_table *table;

	mutex_lock(&ftrace_lock);
	fentry_drop_symbols(mod);
	table = text_site_table_of_module(&fentry_sites, mod);
	if (table) {
		/* Work that the module has begun may still be under way. */
		if (table->ready)
			table_set_ready(table, false);
		gone = sites_gone(table, 0, ULONG_MAX);
		text_site_table_remove(table);
		count_table(table, -1);
	}
	mutex_unlock(&ftrace_lock);

	if (gone)
		fentry_filters_forget(gone);
	kvfree(gone);
	kfree(table);
}
#endif /* CONFIG_MODULES */
