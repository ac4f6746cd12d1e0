// SPDX-License-Identifier: GPL-2.0
/*
 * Modules, and the kernel's own text: function entries come and go with it, see struct
 * text_site_kind.
 *
 *   tables_coming      relocated, still writable: calls become NOPs
 *   tables_enable      text has its final protection: attach what is wanted
 *   tables_free_text   init text goes
 *   tables_going       everything goes; also when loading fails anywhere
 *
 * From coming to enable the sites of a module are off: ops that are registered meanwhile
 * get into their sets, and change no text.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include <asm/sections.h>

#include "apply.h"
#include "filter.h"
#include "freed.h"
#include "module.h"
#include "names.h"
#include "register.h"
#include "set.h"
#include "waiting.h"

extern struct text_site __start_mcount_loc[], __stop_mcount_loc[];

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

/* A record from the build has no state: the script sees to that in the kernel's table. */
static int tables_take(struct text_site_table *table)
{
	struct text_site *site;

	if (!table->mod)
		return 0;
	for_each_text_site(site, table) {
		if (likely(!site->state))
			continue;
		pr_err("%s: entry %td of the %s table has state %x\n", module_name(table->mod),
		       site - table->sites, table->kind->name, site->state);
		return -EINVAL;
	}
	return 0;
}

static int tables_coming(struct text_site_table *table)
{
	struct text_site *site;

	count_table(table, 1);
	if (fentry_dead) {
		text_site_table_kill(table, 0, ULONG_MAX);
		return 0;
	}
	ftrace_update_tot_cnt += table->nr - arch_text_site_convert(table);
	if (!table->mod) {
		table->ready = true;
		return 0;
	}
	for_each_text_site(site, table)
		site->state |= fentry_no_ops_off.id;
	return 0;
}

/*
 * A weak function that another one took the place of has left its body behind. It is
 * never called; kallsyms says that it belongs to the function before it. For the kernel
 * the build drops those.
 */
static void drop_bodies_without_name(struct text_site_table *table)
{
	struct fentry_symbols symbols = {};
	struct text_site *site;

	for_each_text_site(site, table) {
		if (site->state & TEXT_SITE_DEAD)
			continue;
		cond_resched();
		if (fentry_symbol_offset(&symbols, table, site) > FTRACE_MCOUNT_MAX_OFFSET) {
			fentry_site_gone(site, false);
			ftrace_update_tot_cnt--;
		}
	}
	fentry_symbols_free(&symbols);
}

/* Switches a table on, or off. */
static int table_set_ready(struct text_site_table *table, bool ready)
{
	table->ready = ready;
	return fentry_apply(&(struct fentry_change){ .table = table });
}

/* Gives the sites of a module the sets they are to have, and switches them on. */
static int table_attach(struct text_site_table *table)
{
	struct ftrace_ops *ops;
	int ret;

	for_each_fentry_member(ops) {
		const struct fentry_scope scope = fentry_ops_scope(ops);

		/*
		 * Such an ops has attached itself to functions of this module, if any. Other
		 * addresses in its filter are stale: they were another module's.
		 */
		if (ops->flags & FENTRY_EXCLUSIVE)
			continue;
		ret = fentry_apply(&(struct fentry_change) {
			.ops = &ops, .nr = 1, .new = &scope, .table = table,
		});
		if (ret)
			return ret;
	}
	ret = table_set_ready(table, true);
	if (ret)
		table_set_ready(table, false);
	return ret;
}

static int tables_enable(struct module *mod, struct text_site_table *table)
{
	int ret = 0;

	scoped_guard(mutex, &ftrace_lock) {
		if (IS_ENABLED(CONFIG_MODULES) && table && !fentry_dead) {
			drop_bodies_without_name(table);
			ret = table_attach(table);
		}
		/* ftrace_kill() may come at any time. */
		if (fentry_dead)
			ret = 0;
	}
	if (ret) {
		pr_err("%s: its functions cannot be traced as they should be (%d)\n",
		       module_name(mod), ret);
		return ret;
	}
	fentry_waiting_run(module_name(mod));
	return 0;
}

/* Sites go whose addresses are from @start to before @end: which? @called: see apply.c. */
static struct fentry_filter *sites_gone(struct text_site_table *table,
					unsigned long start, unsigned long end, bool called)
{
	unsigned long *ips __free(kvfree) = kvmalloc_array(table->nr, sizeof(*ips), GFP_KERNEL);
	struct fentry_filter *gone = NULL;
	struct text_site *site;
	unsigned int nr = 0;

	for_each_text_site(site, table) {
		unsigned long addr = text_site_addr(site);

		if ((site->state & TEXT_SITE_DEAD) || addr < start || addr >= end)
			continue;
		if (ips)
			ips[nr++] = addr;
		fentry_site_gone(site, called);
		ftrace_update_tot_cnt--;
	}

	if (nr)
		gone = fentry_filter_new(ips, nr);
	if ((nr || !ips) && !gone)
		pr_warn("no memory, filters keep addresses of freed text\n");
	return gone;
}

static void tables_free_text(struct text_site_table *table, unsigned long start,
			     unsigned long end)
{
	struct fentry_filter *gone __free(kvfree) = NULL;

	scoped_guard(mutex, &ftrace_lock) {
		gone = sites_gone(table, start, end, false);
		if (IS_ENABLED(CONFIG_MODULES) && gone && table->mod && !list_empty(&fentry_ops))
			fentry_keep_symbols(table->mod, gone);
	}
	if (gone)
		fentry_filters_forget(gone);
}

static void tables_going(struct module *mod, struct text_site_table *table)
{
	struct fentry_filter *gone __free(kvfree) = NULL;

	scoped_guard(mutex, &ftrace_lock) {
		if (IS_ENABLED(CONFIG_MODULES))
			fentry_drop_symbols(mod);
		if (table) {
			/*
			 * Work that the module has begun may still be under way. If its text
			 * cannot be switched off, that work calls trampolines.
			 */
			const bool called = table->ready && table_set_ready(table, false);

			gone = sites_gone(table, 0, ULONG_MAX, called);
			fentry_symbols_go();
			text_site_table_remove(table);
			count_table(table, -1);
		}
	}
	if (gone)
		fentry_filters_forget(gone);
}

/* Makes the kernel's own function entries NOPs, and has modules' ones come and go. */
int __init fentry_tables_init(void)
{
	fentry_sites.take = tables_take;
	fentry_sites.coming = tables_coming;
	fentry_sites.enable = tables_enable;
	fentry_sites.going = tables_going;
	fentry_sites.free_text = tables_free_text;
	return text_site_kind_init(&fentry_sites, __start_mcount_loc, __stop_mcount_loc, NULL);
}
