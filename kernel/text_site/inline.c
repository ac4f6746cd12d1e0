// SPDX-License-Identifier: GPL-2.0
/*
 * Inline sites: those within functions, that hold what a value in memory says.
 *
 * Any number of sites may depend on a value. A commit compares each site with its
 * value, and has the patcher change those that differ, in one batch. It needs no memory
 * and no list of what has changed.
 *
 * The breakpoint handler reads the state of a site, and the value of one that loads it.
 * The passes of the patcher change the state between their first sync, from when on
 * every CPU that comes to the site meets the breakpoint, and the second, before which no
 * CPU is let past it by the new text. A CPU that has met it does what was or what is to
 * be; both are right until the commit returns, from when on all of them do the latter.
 *
 * The tables, the states and the values of loads change under inline_mutex. A value that
 * only branches depend on may be changed by its owner at any time, who commits
 * afterwards: it is read once for a commit.
 */
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/inline_site.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/text_site.h>

#include <asm/sections.h>

static DEFINE_MUTEX(inline_mutex);

static unsigned int ref_flags(const s32 *ref)
{
	return ((unsigned long)ref + *ref) & INLINE_VALUE_FLAGS;
}

/* Is a module's reference one to data of the kernel or of a module? */
static bool is_data(const void *value, unsigned int size)
{
	return (value >= (void *)_sdata && value + size <= (void *)_end) ||
	       is_module_address((unsigned long)value);
}

/*
 * A record, and what it refers to, before it is used for the first time. One of the
 * kernel that is not right is left as it was compiled: the others are.
 */
static int site_take(struct text_site_table *table, unsigned int i)
{
	struct text_site *site = &table->sites[i];
	const s32 *ref = &table->values[i];
	const unsigned int log = ref_flags(ref) & INLINE_VALUE_LOG;
	void *value = inline_value_of(ref);
	int ret;

	if (table->mod && !is_data(value, 1 << log)) {
		pr_err("text_site: %s: inline site %pS depends on %pS, which is no data\n",
		       module_name(table->mod), (void *)text_site_addr(site), value);
		return -EINVAL;
	}
	ret = arch_inline_site_init(site, value, log);
	if (ret && !table->mod) {
		site->state = TEXT_SITE_DEAD;
		return 0;
	}
	return ret;
}

static struct text_site_kind inline_sites = {
	.name	= "inline",
	.insn	= TEXT_INSN_INLINE,
	.take	= site_take,
};

/*
 * Put those of a table into the batch that do not hold what their values say. Text that
 * is not what it should be is given up, or it would be in the way of all others.
 */
static int table_prepare(struct text_site_table *table)
{
	struct text_site *site;
	int ret = 0;

	for_each_text_site(site, table) {
		const s32 *ref = &table->values[site - table->sites];
		const void *value = inline_value_of(ref);

		/* The value of one in init text may have gone with it. */
		if (site->state & TEXT_SITE_DEAD ||
		    arch_inline_site_holds(site, inline_value_get(value, ref_flags(ref) &
								  INLINE_VALUE_LOG)))
			continue;
		if (arch_inline_site_verify(site, value)) {
			WRITE_ONCE(site->state, site->state | TEXT_SITE_DEAD);
			ret = -EINVAL;
			continue;
		}
		text_site_mark(table, site);
	}
	return ret;
}

static int commit(void)
{
	struct text_site_table *table;
	int ret = 0;

	lockdep_assert_held(&inline_mutex);

	for_each_text_site_table_of(&inline_sites, table)
		ret = table_prepare(table) ?: ret;
	if (ret) {
		text_site_abort(&inline_sites);
		return ret;
	}
	return text_site_commit(&inline_sites);
}

/**
 * inline_sites_commit - have every inline site hold what its value says
 *
 * Three synchronisations of all CPUs, however many values have changed and however
 * many sites they have; none if none has. When this returns, all CPUs go by the new
 * values; those that have gone by the ones before may still be on their way.
 *
 * Before the kernel's sites are known, early in boot, there is nothing to do: they
 * get their values then.
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading.
 *
 * Return: 0, or -EINVAL with a message if the text somewhere is not what it should be;
 * then no site has changed. The site is given up, and is in nobody's way from then on.
 */
int inline_sites_commit(void)
{
	guard(mutex)(&inline_mutex);
	return commit();
}
EXPORT_SYMBOL_GPL(inline_sites_commit);

static void value_put(void *value, unsigned int size, u64 to)
{
	switch (size) {
	case 1:
		WRITE_ONCE(*(u8 *)value, to);
		break;
	case 2:
		WRITE_ONCE(*(u16 *)value, to);
		break;
	case 4:
		WRITE_ONCE(*(u32 *)value, to);
		break;
	default:
		WRITE_ONCE(*(u64 *)value, to);
	}
}

/**
 * inline_sites_set - change a value, and what depends on it
 * @value: address of the value
 * @size: the value's, in bytes
 * @to: what it is to be
 *
 * As inline_sites_commit(), which this does.
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading.
 *
 * Return: 0, or -EINVAL with a message; then the value and all sites are as before.
 */
int inline_sites_set(void *value, unsigned int size, u64 to)
{
	u64 was;
	int ret;

	guard(mutex)(&inline_mutex);

	was = inline_value_get(value, ilog2(size));
	value_put(value, size, to);
	ret = commit();
	if (ret)
		value_put(value, size, was);
	return ret;
}
EXPORT_SYMBOL_GPL(inline_sites_set);

/**
 * inline_sites_assign - change a value, but not yet what depends on it
 * @value: address of the value
 * @size: the value's, in bytes
 * @to: what it is to be, from the next commit on
 *
 * Context: process context, sleeps.
 */
void inline_sites_assign(void *value, unsigned int size, u64 to)
{
	/* Not while a commit writes the value into text */
	guard(mutex)(&inline_mutex);

	value_put(value, size, to);
}
EXPORT_SYMBOL_GPL(inline_sites_assign);

/**
 * inline_sites_for_each - go through the sites that depend on some kind of value
 * @mod: those of this module, or NULL: of the kernel. Loaded or loading or going.
 * @flags: INLINE_VALUE_* that the values have
 * @func: called for each site with its value: for one value any number of times
 *
 * Context: as @func needs it.
 */
void inline_sites_for_each(const struct module *mod, unsigned int flags,
			   void (*func)(void *value))
{
	const s32 *ref = __start___inline_values, *end = __stop___inline_values;

#ifdef CONFIG_MODULES
	if (mod) {
		ref = mod->inline_values;
		end = ref + mod->num_inline_values;
	}
#endif
	for (; ref < end; ref++) {
		if ((ref_flags(ref) & flags) == flags)
			func(inline_value_of(ref));
	}
}
/**
 * inline_sites_free_text - text goes that is not needed after initialisation
 * @mod: the module it is of, NULL for the kernel
 * @start: address of its first byte
 * @end: address of the first byte after it
 *
 * Context: process context, sleeps. Nobody runs that text any more.
 */
void inline_sites_free_text(const struct module *mod, unsigned long start, unsigned long end)
{
	struct text_site_table *table;
	struct text_site *site;

	guard(mutex)(&inline_mutex);

	table = text_site_table_of_module(&inline_sites, mod);
	if (!table)
		return;
	for_each_text_site(site, table) {
		const unsigned long addr = text_site_addr(site);

		/* Read by the breakpoint handler */
		if (addr >= start && addr < end)
			WRITE_ONCE(site->state, site->state | TEXT_SITE_DEAD);
	}
}

/**
 * inline_sites_reserved - does text that somebody wants to change hold a site?
 * @start: first byte
 * @end: last byte, inclusive
 *
 * Context: any.
 *
 * Return: whether it does.
 */
bool inline_sites_reserved(const void *start, const void *end)
{
	const unsigned long first = (unsigned long)start, last = (unsigned long)end;
	struct text_site_table *table;
	struct text_site *site;

	/* Keeps the tables: text_site_table_remove() waits. */
	guard(rcu)();

	for_each_text_site_table_of(&inline_sites, table) {
		for_each_text_site(site, table) {
			const unsigned long addr = text_site_addr(site);

			if (addr <= last && addr + arch_inline_site_size(site) > first &&
			    !(READ_ONCE(site->state) & TEXT_SITE_DEAD))
				return true;
		}
	}
	return false;
}

static int table_add(struct text_site_table *table, struct text_site *sites, unsigned int nr)
{
	int ret;

	table->kind = &inline_sites;
	ret = text_site_table_init(table, sites, nr);
	if (ret)
		return ret;

	table->ready = true;
	text_site_table_add(table);
	ret = commit();
	if (ret)
		text_site_table_remove(table);
	return ret;
}

static int __init inline_sites_init(void)
{
	static struct text_site_table kernel;
	unsigned int nr = __stop___inline_sites - __start___inline_sites;
	int ret;

	guard(mutex)(&inline_mutex);

	kernel.values = __start___inline_values;
	ret = table_add(&kernel, __start___inline_sites, nr);
	if (ret)
		pr_err("text_site: the kernel's inline sites stay as they were compiled (%d)\n",
		       ret);
	return 0;
}
early_initcall(inline_sites_init);

#ifdef CONFIG_MODULES
static int module_coming(struct module *mod)
{
	struct text_site_table *table;
	int ret;

	if (mod->num_inline_sites != mod->num_inline_values) {
		pr_err("text_site: %s: %u inline sites, but %u values\n", mod->name,
		       mod->num_inline_sites, mod->num_inline_values);
		return -EINVAL;
	}
	if (!mod->num_inline_sites)
		return 0;

	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;

	table->mod = mod;
	table->values = mod->inline_values;
	mutex_lock(&inline_mutex);
	ret = table_add(table, mod->inline_sites, mod->num_inline_sites);
	mutex_unlock(&inline_mutex);
	if (ret)
		kfree(table);
	return ret;
}

static void module_going(const struct module *mod)
{
	struct text_site_table *table;

	guard(mutex)(&inline_mutex);

	table = text_site_table_of_module(&inline_sites, mod);
	if (!table)
		return;
	text_site_table_remove(table);
	kfree(table);
}

static int module_notify(struct notifier_block *nb, unsigned long state, void *mod)
{
	int ret = 0;

	if (state == MODULE_STATE_COMING)
		ret = module_coming(mod);
	else if (state == MODULE_STATE_GOING)
		module_going(mod);
	return notifier_from_errno(ret);
}

/* Before the users of inline sites: they connect to what is there. */
static struct notifier_block module_nb = {
	.notifier_call	= module_notify,
	.priority	= INT_MAX,
};

static int __init modules_init(void)
{
	return register_module_notifier(&module_nb);
}
early_initcall(modules_init);
#endif /* CONFIG_MODULES */
