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
 *
 * A module's jump functions work, and can be updated, from text_sites_module_coming()
 * on: notifiers find them so. They do until text_sites_module_going(), and jump to their
 * defaults from then on: functions of the module's parameters still run.
 */
#define pr_fmt(fmt) "jump_function: " fmt

#include <linux/cleanup.h>
#include <linux/idr.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/jump_function.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/text_site.h>

#include <asm/sections.h>

extern struct text_site __start___dynfunc_sites[], __stop___dynfunc_sites[];

static struct text_site_kind dynfunc_sites;
static DEFINE_MUTEX(dynfunc_mutex);
static DEFINE_IDA(target_pairs);

/*
 * The kernel's jump functions have targets. Before that there is one CPU, and text is writable.
 * Set under dynfunc_mutex, so that an update which has waited for the mutex sees the targets.
 */
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

/* Is a function there for as long as a table's jump functions? None of these is in init text. */
static bool stays_for(const struct text_site_table *table, unsigned long func)
{
	if (__is_kernel_text(func))
		return true;
#ifdef CONFIG_MODULES
	return table->mod && (text_site_in_memory(table->mod, MOD_TEXT, (void *)func, 1) ||
			      text_site_in_used(table->mod, MOD_TEXT, (void *)func, 1));
#else
	return false;
#endif
}

static int change_prepare(const struct dynfunc_change *change)
{
	const unsigned long addr = (unsigned long)change->dynfunc;
	const unsigned long func = (unsigned long)change->func;
	struct text_site_table *table;
	struct text_site *site;

	if (!dynfunc_ready) {
		if (!stays_for(&dynfunc_sites.kernel, func))
			return -EINVAL;
		if (!arch_text_site_get(&dynfunc_sites, addr))
			return -ENOENT;
		arch_text_site_set_early(&dynfunc_sites, addr, func);
		return 0;
	}

	site = site_of(change->dynfunc, &table);
	if (!site)
		return -ENOENT;
	/* A module's own are pointed back, whatever they jump to: see prepare_defaults(). */
	if (!stays_for(table, func) && !text_sites_may_call_module(change->func))
		return -EINVAL;

	site_prepare(table, site, func);
	return 0;
}

/**
 * dynfunc_update_batch - point several jump functions at other functions
 * @changes: which, at what. If one is named twice, the last counts.
 * @nr: how many
 *
 * One run of the patcher, however many are changed, see text_site_commit(); none if all
 * are what they should be. Each call on another CPU gets to the old target or to the new,
 * with its arguments, and from when this returns on to the new. Those that have got
 * to the old one may still be in it: see dynfunc_synchronize().
 *
 * A target must stay for as long as it is one; that of a module that goes away is
 * replaced by the default then.
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading and text_mutex. Also
 * early at boot, before all of that works.
 *
 * Return: 0; or with nothing changed -EINVAL if a target is no function of the kernel's
 * or a module's, or is in init text or in a module that is being unloaded, or, with a
 * message, the text of a jump function is not what it should be; -ENOENT if something is
 * no jump function, or was given up as its text was wrong. Early at boot, changes before the
 * wrong one have been made.
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
	unsigned long flags, addr;

	/* Keeps the table: text_site_table_remove() waits. */
	guard(rcu)();

	site = site_of(dynfunc, &table);
	/* While there is no table, nobody is patching either. */
	if (!site)
		return (void *)arch_text_site_get(&dynfunc_sites, (unsigned long)dynfunc);

	/* As in the breakpoint handler, or the target may be the free one by now: see above. */
	raw_local_irq_save(flags);
	addr = READ_ONCE(target_now(site)->addr);
	raw_local_irq_restore(flags);
	return (void *)addr;
}
EXPORT_SYMBOL_GPL(__dynfunc_target);

/*
 * A record as the build has made it: its state is a reference to the default, relative to
 * the field. Until it gets its targets, the state is how far that is from the site, as
 * sorting moves records. Early at boot a site may have been changed already.
 */
static int dynfunc_take(struct text_site_table *table)
{
	struct text_site *site;

	for_each_text_site(site, table) {
		const unsigned long addr = text_site_addr(site);
		const unsigned long func = (unsigned long)&site->state + (s32)site->state;
		const unsigned long now = arch_text_site_get(&dynfunc_sites, addr);

		if ((table->mod ? now != func : !now) || !stays_for(table, func)) {
			pr_err("%s: %pS is no jump to its default %pS\n", module_name(table->mod),
			       (void *)addr, (void *)func);
			return -EINVAL;
		}
		site->state = func - addr;
	}
	return 0;
}

static int targets_alloc(struct text_site *site)
{
	const unsigned long addr = text_site_addr(site);
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
			.owner	= (void *)(addr + (s32)site->state),
			.next	= id + !i,
		};
	}
	text_target(&dynfunc_sites, id)->addr = arch_text_site_get(&dynfunc_sites, addr);
	site->state = id;
	return 0;
}

static void targets_free(struct text_site *sites, unsigned int nr)
{
	while (nr--)
		ida_free(&target_pairs, text_site_target_id(&sites[nr]) / 2);
}

static int dynfunc_coming(struct text_site_table *table)
{
	int ret;

	if (!table->mod)
		dynfunc_ready = true;
	for (unsigned int i = 0; i < table->nr; i++) {
		ret = targets_alloc(&table->sites[i]);
		if (ret) {
			targets_free(table->sites, i);
			pr_err("%s: no targets for %u jump functions (%d)\n",
			       module_name(table->mod), table->nr, ret);
			return ret;
		}
	}
	return 0;
}

/*
 * Point the sites that jump into a module at their defaults, and all of the module's own: nobody
 * would reset those when the module that they jump into goes. Returns how many are changed. A
 * site whose text is not what it should be is marked dead, and the others are changed.
 */
static unsigned int prepare_defaults(struct module *mod)
{
	struct text_site_table *table;
	struct text_site *site;
	unsigned int nr = 0;

	for_each_text_site_table_of(&dynfunc_sites, table) {
		for_each_text_site(site, table) {
			struct text_target *now = target_now(site);
			const unsigned long owner = (unsigned long)now->owner;

			if (site->state & TEXT_SITE_DEAD || now->addr == owner ||
			    (table->mod != mod && !within_module(now->addr, mod)))
				continue;
			if (arch_text_site_verify(table, site)) {
				WRITE_ONCE(site->state, site->state | TEXT_SITE_DEAD);
				continue;
			}
			if (table->mod != mod)
				pr_info("%pS goes with %s: %pS is %pS again\n", (void *)now->addr,
					module_name(mod), (void *)text_site_addr(site), now->owner);
			site_prepare(table, site, owner);
			nr++;
		}
	}
	return nr;
}

static void dynfunc_going(struct module *mod, struct text_site_table *table)
{
	unsigned int nr;

	scoped_guard(mutex, &dynfunc_mutex) {
		nr = prepare_defaults(mod);
		if (nr && text_site_commit(&dynfunc_sites))
			pr_err("%s is still jumped into\n", module_name(mod));
		if (table) {
			text_site_table_remove(table);
			targets_free(table->sites, table->nr);
		}
	}
	if (nr)
		dynfunc_synchronize();
}

static struct text_site_kind dynfunc_sites = {
	.name		= "jump function",
	.insn		= &text_insn_jump,
	.section	= TEXT_SECTION_JUMPS,
	.reserved	= true,
	.lock		= &dynfunc_mutex,
	.take		= dynfunc_take,
	.coming		= dynfunc_coming,
	.going		= dynfunc_going,
};

/* Other CPUs come up after this, and text becomes read-only. */
static int __init dynfunc_init(void)
{
	int ret = text_site_kind_init(&dynfunc_sites, __start___dynfunc_sites,
				      __stop___dynfunc_sites, NULL);

	/* Also if the table was refused: updates then find no jump function. */
	guard(mutex)(&dynfunc_mutex);
	dynfunc_ready = true;
	return ret;
}
early_initcall(dynfunc_init);
