// SPDX-License-Identifier: GPL-2.0
/*
 * Value sites: those within functions that hold what a value in memory says.
 *
 * Any number of sites may depend on a value. A commit compares each site of its kind
 * with its value, and has the patcher change those that differ, in one batch. It needs
 * no memory and no list of what has changed.
 *
 * The breakpoint handler reads the state of a site, and the value of one that loads it.
 * The patcher changes the state between its first sync, from when on every CPU that
 * comes to the site meets the breakpoint, and its second, before which no CPU gets past
 * it by the new text. A CPU that meets the breakpoint executes the old or the new
 * instruction until the commit returns, then only the new one.
 *
 * The tables, the states and the values of loads change under the lock of the kind's
 * owner. A value that only branches depend on may be changed by its owner at any time,
 * who commits afterwards: a commit reads it once.
 */
#define pr_fmt(fmt) "text_site: " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/value_site.h>

#include <asm/sections.h>

/* Is what a module's site depends on data that is there for as long as the site? */
static bool is_value(const struct module *mod, unsigned long addr, const void *value,
		     unsigned int size)
{
#ifdef CONFIG_MODULES
	if (text_site_in_data(mod, value, size) || text_site_in_used(mod, MOD_DATA, value, size) ||
	    (text_site_in_memory(mod, MOD_INIT_DATA, value, size) &&
	     text_site_in_memory(mod, MOD_INIT_TEXT, (void *)addr, 1)))
		return true;
#endif
	return is_kernel_core_data((unsigned long)value);
}

/* A record and what it refers to. Text that was compiled in is left as it is. */
static int site_take(struct text_site_table *table, struct text_site *site)
{
	const unsigned long addr = text_site_addr(site);
	const unsigned long ref = value_site_ref(table, site);
	const unsigned int log = ref & VALUE_REF_LOG;

	if (table->mod && ((ref & VALUE_REF_FLAGS) != log ||
			   !is_value(table->mod, addr, value_site_value(table, site), 1 << log))) {
		pr_err("%s: the %s site %pS depends on %pS, which is not a value\n",
		       module_name(table->mod), table->kind->name, (void *)addr, (void *)ref);
		return -EINVAL;
	}
	return arch_value_site_take(table, site);
}

/**
 * value_sites_take - take the records of a kind of value sites into use
 * @table: which
 *
 * For struct text_site_kind. A site of the kernel's that is not right is dead from then
 * on: it stays as it was compiled.
 *
 * Return: 0, or -EINVAL with a message if it is a module's.
 */
int value_sites_take(struct text_site_table *table)
{
	struct text_site *site;
	int ret;

	for_each_text_site(site, table) {
		ret = site_take(table, site);
		if (ret && table->mod)
			return ret;
		if (ret)
			site->state = TEXT_SITE_DEAD;
	}
	return 0;
}

/* The value of one in text that was freed may have gone with it. */
static bool is_right(const struct text_site_table *table, const struct text_site *site)
{
	return site->state & TEXT_SITE_DEAD || arch_value_site_holds(table, site);
}

/**
 * value_sites_coming - have the sites of a table do what their values say
 * @table: not known yet
 *
 * For struct text_site_kind.
 *
 * Context: under the lock of the kind's owner. The text is writable, nobody runs it.
 *
 * Return: 0.
 */
int value_sites_coming(struct text_site_table *table)
{
	struct text_site *site;

	for_each_text_site(site, table) {
		if (!is_right(table, site))
			arch_value_site_set_early(table, site);
	}
	return 0;
}

/**
 * value_sites_commit - have every site of a kind do what its value says
 * @kind: which
 * @concerns: is it an error of the caller's if a site that depends on this value cannot
 *	be changed? NULL: of any value
 * @who: for @concerns
 *
 * One run of the patcher, however many values have changed and however many sites they
 * have, see text_site_commit(); none if none has. When this returns, all CPUs execute the
 * new instructions; tasks may still be in code that the ones before have led to.
 *
 * A site whose text is not what it should be is dead from then on, with one message. If
 * @concerns says that its value is the caller's, this commit fails, and otherwise the next
 * one with a @concerns of NULL.
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading and text_mutex. Under
 * the lock of the kind's owner.
 *
 * Return: 0, or -EINVAL and no site changed. The message may have come with an earlier commit,
 * of another value.
 */
int value_sites_commit(struct text_site_kind *kind,
		       bool (*concerns)(const void *value, const void *who), const void *who)
{
	struct text_site_table *table;
	struct text_site *site;
	int ret = 0;

	/* A commit of all values also reports the sites that commits of one value gave up. */
	if (!concerns && kind->missed) {
		kind->missed = false;
		ret = -EINVAL;
	}
	for_each_text_site_table_of(kind, table) {
		for_each_text_site(site, table) {
			if (is_right(table, site))
				continue;
			if (!arch_text_site_verify(table, site)) {
				text_site_mark(table, site);
				continue;
			}
			WRITE_ONCE(site->state, site->state | TEXT_SITE_DEAD);
			if (!concerns || concerns(value_site_value(table, site), who))
				ret = -EINVAL;
			else
				kind->missed = true;
		}
	}
	if (ret) {
		text_site_abort(kind);
		return ret;
	}
	return text_site_commit(kind);
}
