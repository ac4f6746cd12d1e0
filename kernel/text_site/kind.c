// SPDX-License-Identifier: GPL-2.0
/*
 * Text site kinds: the tables of all of them come and go with the kernel's text and
 * with modules.
 *
 *   text_site_kind_init         boot: the kernel's own table
 *   text_sites_module_coming    relocated, text still writable: check, then take over
 *   text_sites_module_enable    text has its final protection
 *   text_sites_free_text        init text goes
 *   text_sites_module_going     all of it goes; also when loading fails anywhere
 *
 * Kinds are added at boot, with one CPU, and stay.
 */
#define pr_fmt(fmt) "text_site: " fmt

#include <linux/cleanup.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/static_call_types.h>
#include <linux/text_site.h>

struct text_site_kind *text_site_kinds;

/* A table that was found right is taken over by its owner. */
static int table_come(struct text_site_table *table)
{
	int ret;

	guard(mutex)(table->kind->lock);

	ret = table->kind->coming(table);
	if (!ret)
		text_site_table_add(table);
	return ret;
}

/**
 * text_site_kind_init - make a kind known
 * @kind: filled in
 * @start: the kernel's own records
 * @stop: the end of them
 * @refs: what these depend on, if sites of this kind do
 *
 * Context: boot, with one CPU and the kernel's text writable.
 *
 * Return: 0; or an error with a message, and the kernel's own sites are as they were
 * compiled. The kind is known all the same, for modules.
 */
int __init text_site_kind_init(struct text_site_kind *kind, struct text_site *start,
			       struct text_site *stop, s32 *refs)
{
	struct text_site_kind **p = &text_site_kinds;

	while (*p)
		p = &(*p)->next;
	/* Pairs with the address dependency of who reads the kind: it is filled in. */
	smp_store_release(p, kind);

	kind->kernel = (struct text_site_table) {
		.kind = kind, .sites = start, .nr = stop - start, .refs = refs,
	};
	return text_site_table_init(&kind->kernel) ?: table_come(&kind->kernel);
}

static struct text_site_table *table_of(struct text_site_kind *kind, struct module *mod)
{
#ifdef CONFIG_MODULES
	if (mod)
		return mod->text_sites[kind->section].table;
#endif
	return &kind->kernel;
}

/**
 * text_sites_free_text - text goes that is not needed after initialisation
 * @mod: the module it is of, NULL for the kernel
 * @start: its first byte
 * @end: the first byte after it
 *
 * Context: process context, sleeps. Takes the locks of the kinds, and those that their owners
 * take to change sites. Nobody runs that text any more.
 */
void text_sites_free_text(struct module *mod, void *start, void *end)
{
	const unsigned long first = (unsigned long)start, behind = (unsigned long)end;
	struct text_site_table *table;
	struct text_site_kind *kind;

	for_each_text_site_kind(kind) {
		/* Nobody takes it away meanwhile: its module is being loaded. */
		table = table_of(kind, mod);
		if (!table || !table->known || first >= behind)
			continue;
		if (kind->free_text)
			kind->free_text(table, first, behind);
		guard(mutex)(kind->lock);
		if (!kind->free_text)
			text_site_table_kill(table, first, behind);
		/* Another module's text may be there soon. */
		text_areas_forget(table, first, behind);
	}
}

#ifdef CONFIG_MODULES
/**
 * text_site_in_used - is something wholly in a part of a module that another depends on?
 * @mod: the other one, which keeps those that it depends on from going away
 * @type: the part, enum mod_mem_type
 * @start: its first byte
 * @size: in bytes
 *
 * Context: while @mod is being loaded: what it depends on is known, and does not change.
 *
 * Return: whether it is.
 */
bool text_site_in_used(const struct module *mod, unsigned int type, const void *start,
		       unsigned int size)
{
#ifdef CONFIG_MODULE_UNLOAD
	const struct module_use *use;

	list_for_each_entry(use, &mod->target_list, target_list) {
		if (text_site_in_memory(use->target, type, start, size))
			return true;
	}
	return false;
#else
	/* No module goes away. */
	const struct module *used;

	guard(preempt)();
	used = __module_address((unsigned long)start);
	return used && text_site_in_memory(used, type, start, size);
#endif
}

/* Check what a module has of a kind, and make a table of it. */
static int module_table_new(struct module *mod, struct text_site_kind *kind)
{
	struct text_section *section = &mod->text_sites[kind->section];
	struct text_section *refs = kind->refs ? &mod->text_sites[kind->refs] : NULL;
	struct text_site_table *table;
	int ret;

	section->table = NULL;
	if (refs && section->size / sizeof(struct text_site) != refs->size / sizeof(s32)) {
		pr_err("%s: %u bytes of %s and %u bytes of %s do not match\n", mod->name,
		       section->size, text_section_names[kind->section], refs->size,
		       text_section_names[kind->refs]);
		return -EINVAL;
	}
	if (!section->size)
		return 0;
	ret = text_section_check(mod, kind->section, sizeof(struct text_site), sizeof(s32));
	if (!ret && refs)
		ret = text_section_check(mod, kind->refs, sizeof(s32), sizeof(s32));
	if (ret)
		return ret;

	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	table->kind = kind;
	table->mod = mod;
	table->sites = section->start;
	table->nr = section->size / sizeof(struct text_site);
	table->refs = refs ? refs->start : NULL;
	section->table = table;
	return text_site_table_init(table);
}

/* Is text no site of a module's, but of kinds before @until? */
static int check_no_site(const struct module *mod, enum text_section_id until,
			 unsigned long start, unsigned int size, const char *why)
{
	for (unsigned int i = 0; i < until; i++) {
		const struct text_site_table *table = mod->text_sites[i].table;

		if (table && text_site_table_overlaps(table, start, start + size, why))
			return -EINVAL;
	}
	return 0;
}

/* Is nothing changed by two? */
static int module_check_overlaps(const struct module *mod)
{
	int ret = 0;

	for (unsigned int i = 0; i < NR_TEXT_SECTIONS; i++) {
		const struct text_site_table *table = mod->text_sites[i].table;
		struct text_site *site;

		if (!table)
			continue;
		for_each_text_site(site, table)
			ret = ret ?: check_no_site(mod, i, text_site_addr(site),
						   text_site_size(table->kind, site),
						   "where one of another table does");
	}

#ifdef CONFIG_JUMP_LABEL
	/* Some have two bytes. What begins behind these in a longer one is not looked at. */
	for (unsigned int i = 0; i < mod->num_jump_entries; i++)
		ret = ret ?: check_no_site(mod, NR_TEXT_SECTIONS,
					   jump_entry_code(&mod->jump_entries[i]), 2,
					   "which a static key changes");
#endif
#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
	for (unsigned int i = 0; i < mod->num_static_call_sites; i++) {
		const s32 *addr = &mod->static_call_sites[i].addr;

		ret = ret ?: check_no_site(mod, NR_TEXT_SECTIONS, (unsigned long)addr + *addr,
					   TEXT_SITE_SIZE, "which a static call changes");
	}
#endif
	return ret;
}

/**
 * text_sites_module_coming - a module's text is in place, relocated, and still writable
 * @mod: the module, whose state is MODULE_STATE_UNFORMED: nobody else sees it
 *
 * All tables are checked before any text is touched.
 *
 * Context: process context, sleeps, takes the locks of the kinds, and event_mutex and
 * trace_types_lock for markers.
 *
 * Return: 0; or with a message and nothing to be undone -EINVAL if a table is not
 * right, -ENOMEM, or what a kind's @coming returns.
 */
int text_sites_module_coming(struct module *mod)
{
	struct text_site_kind *kind;
	int ret = 0;

	/* Not what is in the file */
	for (unsigned int i = 0; i < NR_TEXT_SECTIONS; i++)
		mod->text_sites[i].table = NULL;

	for_each_text_site_kind(kind)
		ret = ret ?: module_table_new(mod, kind);
	ret = ret ?: module_check_overlaps(mod);

	for_each_text_site_kind(kind) {
		if (!ret && mod->text_sites[kind->section].table)
			ret = table_come(mod->text_sites[kind->section].table);
	}
	if (ret) {
		pr_err("%s: not loaded (%d)\n", mod->name, ret);
		text_sites_module_going(mod);
	}
	return ret;
}

/**
 * text_sites_module_enable - a module's text has its final protection
 * @mod: the module, which does not run yet
 *
 * Context: process context, sleeps, takes the locks of the kinds and what text_site_commit()
 * takes, and trace_types_lock for filters that wait for the module.
 *
 * Return: 0, or with a message what a kind's @enable returns. The loader calls
 * text_sites_module_going() then.
 */
int text_sites_module_enable(struct module *mod)
{
	struct text_site_kind *kind;
	int ret = 0;

	for_each_text_site_kind(kind) {
		if (!ret && kind->enable)
			ret = kind->enable(mod, mod->text_sites[kind->section].table);
	}
	return ret;
}

/**
 * text_sites_module_going - a module goes, or does not come
 * @mod: the module. Of its functions, those of its parameters (struct kernel_param_ops) and
 *	work that it has begun may still run; all others do not.
 *
 * Undoes what there is to be undone, wherever loading has failed; a second call finds
 * nothing left.
 *
 * Context: process context, sleeps, takes the locks of the kinds and what text_site_commit()
 * takes, and event_mutex and trace_types_lock for markers and filters.
 */
void text_sites_module_going(struct module *mod)
{
	struct text_site_kind *kind;

	for_each_text_site_kind(kind) {
		struct text_site_table **table = &mod->text_sites[kind->section].table;

		if (kind->going)
			kind->going(mod, *table && (*table)->known ? *table : NULL);
		if (*table && (*table)->known) {
			guard(mutex)(kind->lock);
			text_site_table_remove(*table);
		}
		kfree(*table);
		*table = NULL;
	}
}
#endif /* CONFIG_MODULES */
