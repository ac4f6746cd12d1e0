// SPDX-License-Identifier: GPL-2.0
/*
 * Jump functions: text sites that hold a jump each, and where they jump to.
 *
 * Each has two targets of its own, next to each other in the kind's space of ids:
 * the one that its site holds, and one that is free and stands in the other's @next.
 * An update fills in the free one and has the patcher switch the site over:
 *
 *	now (id 2n)    addr = f    next = 2n + 1	the site's state says 2n
 *	    (id 2n+1)  addr = -    next = 2n
 *
 *	now (id 2n)    addr = f    next = 2n + 1	g is filled in, the site is
 *	    (id 2n+1)  addr = g    next = 2n		pending
 *
 *	    (id 2n)    addr = f    next = 2n + 1	the site's state says 2n + 1,
 *	now (id 2n+1)  addr = g    next = 2n		and 2n is free
 *
 * The breakpoint handler reads a site's state and then the address of the target
 * that it names, with interrupts off. It never sees the free one being filled in: a
 * batch switches states between its breakpoints and the last of its three syncs,
 * each of which has waited for every handler that ran. So once it is over, no handler
 * has an id of before.
 *
 * All this is under dynfunc_mutex, but for reading targets.
 */
#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/idr.h>
#include <linux/init.h>
#include <linux/jump_function.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/text_site.h>

extern struct text_site __start___dynfunc_sites[], __stop___dynfunc_sites[];

static struct text_site_kind dynfunc_sites = {
	.name	= "jump function",
	.insn	= TEXT_INSN_JMP,
};

static DEFINE_MUTEX(dynfunc_mutex);
static DEFINE_IDA(target_pairs);

/* The kernel's table is known. Before that there is one CPU, and text is writable. */
static bool dynfunc_ready __ro_after_init;

/* The target that a site holds */
static struct text_target *target_now(const struct text_site *site)
{
	return text_target(&dynfunc_sites, text_site_target_id(site));
}

static struct text_site *site_of(const void *dynfunc, struct text_site_table **table)
{
	const unsigned long addr = (unsigned long)dynfunc;
	struct text_site *site = text_site_find(&dynfunc_sites, addr, addr, table);

	return site && text_site_addr(site) == addr ? site : NULL;
}

/* Have a site jump to @func when the batch is committed. */
static void site_prepare(struct text_site_table *table, struct text_site *site,
			 unsigned long func)
{
	struct text_target *now = target_now(site);
	struct text_target *next = text_target(&dynfunc_sites, now->next);

	if (now->addr == func && !(site->state & TEXT_SITE_PENDING))
		return;

	/* Nobody reads it yet; after the batch's first sync, all see it: see above. */
	WRITE_ONCE(next->addr, func);
	if (!(site->state & TEXT_SITE_PENDING))
		text_site_mark(table, site);
}

static int change_prepare(const struct dynfunc_change *change)
{
	const unsigned long addr = (unsigned long)change->dynfunc;
	const unsigned long func = (unsigned long)change->func;
	struct text_site_table *table;
	struct text_site *site;

	if (!kernel_text_address(func))
		return -EINVAL;

	if (!dynfunc_ready) {
		if (!arch_text_site_get(&dynfunc_sites, addr))
			return -ENOENT;
		arch_text_site_set_early(&dynfunc_sites, addr, func);
		return 0;
	}

	site = site_of(change->dynfunc, &table);
	if (!site)
		return -ENOENT;

	site_prepare(table, site, func);
	return 0;
}

/**
 * dynfunc_update_batch - point several jump functions at other functions
 * @changes: which, at what. If one is named twice, the last counts.
 * @nr: how many
 *
 * Three synchronisations of all CPUs, however many are changed; none if all are what
 * they should be. Each call on another CPU gets to the old target or to the new,
 * with its arguments, and from when this returns on to the new. Those that have got
 * to the old one may still be in it: see dynfunc_synchronize().
 *
 * A target must stay for as long as it is one; that of a module that goes away is
 * replaced by the default then.
 *
 * Context: process context, sleeps. Also early at boot, before all of that works.
 *
 * Return: 0; or with nothing changed -EINVAL if something is no function of the
 * kernel's or a module's or, with a message, the text of a jump function is not what
 * it should be; -ENOENT if something is no jump function. Early at boot, changes
 * before the wrong one have been made.
 */
int dynfunc_update_batch(const struct dynfunc_change *changes, unsigned int nr)
{
	int ret = 0;

	guard(mutex)(&dynfunc_mutex);

	for (; nr && !ret; nr--, changes++)
		ret = change_prepare(changes);
	if (ret) {
		text_site_abort(&dynfunc_sites);
		return ret;
	}
	return text_site_commit(&dynfunc_sites);
}
EXPORT_SYMBOL_GPL(dynfunc_update_batch);

/* See dynfunc_target(). */
void *__dynfunc_target(const void *dynfunc)
{
	struct text_site_table *table;
	struct text_site *site;

	/* Keeps the table: text_site_table_remove() waits. */
	guard(rcu)();

	site = site_of(dynfunc, &table);
	/* While there is no table, nobody is patching either. */
	return (void *)(site ? READ_ONCE(target_now(site)->addr) :
			       arch_text_site_get(&dynfunc_sites, (unsigned long)dynfunc));
}
EXPORT_SYMBOL_GPL(__dynfunc_target);

/* What a record refers to until it gets its targets */
static unsigned long built_in_default(const struct text_site *site)
{
	return (unsigned long)&site->state + (s32)site->state;
}

static int targets_alloc(struct text_site *site)
{
	int pair, ret;
	u32 id;

	pair = ida_alloc_range(&target_pairs, 1, TEXT_TARGET_MAX / 2 - 1, GFP_KERNEL);
	if (pair < 0)
		return pair;

	id = 2 * pair;
	ret = text_target_reserve(&dynfunc_sites, id);
	if (ret) {
		ida_free(&target_pairs, pair);
		return ret;
	}

	/* The other is in the same page, as a page has an even number of them. */
	for (int i = 0; i < 2; i++) {
		*text_target(&dynfunc_sites, id + i) = (struct text_target) {
			.owner	= (void *)built_in_default(site),
			.next	= id + !i,
		};
	}
	site->state = id;
	return 0;
}

static void targets_free(struct text_site *sites, unsigned int nr)
{
	while (nr--)
		ida_free(&target_pairs, text_site_target_id(&sites[nr]) / 2);
}

/* What each site of a table holds, by its text: it may have been changed early. */
static int table_read_text(struct text_site_table *table)
{
	struct text_site *site;

	for_each_text_site(site, table) {
		const unsigned long addr = text_site_addr(site);

		target_now(site)->addr = arch_text_site_get(&dynfunc_sites, addr);
		if (!target_now(site)->addr) {
			pr_err("jump_function: there is no jump at %pS\n", (void *)addr);
			return -EINVAL;
		}
	}
	return 0;
}

static int table_add(struct text_site_table *table, struct text_site *sites, unsigned int nr)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < nr; i++) {
		ret = targets_alloc(&sites[i]);
		if (ret)
			goto err;
	}

	table->kind = &dynfunc_sites;
	ret = text_site_table_init(table, sites, nr);
	if (!ret)
		ret = table_read_text(table);
	if (ret)
		goto err;

	table->ready = true;
	text_site_table_add(table);
	return 0;
err:
	targets_free(sites, i);
	return ret;
}

static int __init dynfunc_init(void)
{
	static struct text_site_table kernel;
	unsigned int nr = __stop___dynfunc_sites - __start___dynfunc_sites;
	int ret;

	guard(mutex)(&dynfunc_mutex);

	ret = table_add(&kernel, __start___dynfunc_sites, nr);
	if (ret)
		pr_err("jump_function: the kernel's cannot be changed (%d)\n", ret);
	dynfunc_ready = true;
	return 0;
}

/* Other CPUs come up after this, and text becomes read-only. */
early_initcall(dynfunc_init);

#ifdef CONFIG_MODULES
static int dynfunc_module_coming(struct module *mod)
{
	struct text_site_table *table;
	int ret;

	if (!mod->num_dynfunc_sites)
		return 0;

	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;

	table->mod = mod;
	mutex_lock(&dynfunc_mutex);
	ret = table_add(table, mod->dynfunc_sites, mod->num_dynfunc_sites);
	mutex_unlock(&dynfunc_mutex);
	if (ret)
		kfree(table);
	return ret;
}

/* Sites outside of a module that jump into it: how many will not any more? */
static unsigned int prepare_defaults(const struct module *mod)
{
	struct text_site_table *table;
	struct text_site *site;
	unsigned int nr = 0;

	for_each_text_site_table_of(&dynfunc_sites, table) {
		if (table->mod == mod)
			continue;
		for_each_text_site(site, table) {
			struct text_target *now = target_now(site);

			if (!within_module(now->addr, mod))
				continue;
			pr_info("jump_function: %pS goes with %s: %pS is %pS again\n",
				(void *)now->addr, mod->name, (void *)text_site_addr(site),
				now->owner);
			site_prepare(table, site, (unsigned long)now->owner);
			nr++;
		}
	}
	return nr;
}

static void dynfunc_module_going(struct module *mod)
{
	struct text_site_table *table;
	unsigned int nr;

	mutex_lock(&dynfunc_mutex);
	nr = prepare_defaults(mod);
	if (nr && text_site_commit(&dynfunc_sites))
		pr_err("jump_function: %s is still jumped into\n", mod->name);
	table = text_site_table_of_module(&dynfunc_sites, mod);
	if (table) {
		text_site_table_remove(table);
		targets_free(table->sites, table->nr);
		kfree(table);
	}
	mutex_unlock(&dynfunc_mutex);

	if (nr)
		dynfunc_synchronize();
}

static int dynfunc_module_notify(struct notifier_block *nb, unsigned long state, void *mod)
{
	int ret = 0;

	if (state == MODULE_STATE_COMING)
		ret = dynfunc_module_coming(mod);
	else if (state == MODULE_STATE_GOING)
		dynfunc_module_going(mod);
	return notifier_from_errno(ret);
}

/*
 * Before all who might update a module's functions when it comes, tracepoints among
 * them. When it goes they do so in vain, after its table: nobody calls it any more.
 */
static struct notifier_block dynfunc_module_nb = {
	.notifier_call	= dynfunc_module_notify,
	.priority	= INT_MAX,
};

static int __init dynfunc_modules_init(void)
{
	return register_module_notifier(&dynfunc_module_nb);
}
early_initcall(dynfunc_modules_init);
#endif /* CONFIG_MODULES */
