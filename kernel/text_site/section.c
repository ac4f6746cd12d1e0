// SPDX-License-Identifier: GPL-2.0
/* The sections of a module that text sites, or markers without them, come in. */
#define pr_fmt(fmt) "text_site: " fmt

#include <linux/align.h>
#include <linux/cleanup.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/text_site.h>

#include <asm/sections.h>

const char *const text_section_names[NR_TEXT_SECTIONS] = {
	[TEXT_SECTION_ENTRIES]		= "__mcount_loc",
	[TEXT_SECTION_JUMPS]		= "__dynfunc_sites",
	[TEXT_SECTION_VALUES]		= "__value_sites",
	[TEXT_SECTION_VALUE_REFS]	= "__value_refs",
	[TEXT_SECTION_MARKERS]		= "__marker_sites",
	[TEXT_SECTION_MARKER_REFS]	= "__marker_refs",
};

/**
 * text_site_in_memory - is something wholly in a part of a module's memory?
 * @mod: the module
 * @type: the part, enum mod_mem_type
 * @start: its first byte
 * @size: in bytes
 *
 * Return: whether it is.
 */
bool text_site_in_memory(const struct module *mod, unsigned int type, const void *start,
			 unsigned int size)
{
	const struct module_memory *mem = &mod->mem[type];
	const unsigned long offset = start - mem->base;

	return offset < mem->size && size <= mem->size - offset;
}

/**
 * text_site_in_data - is something wholly in a module's data, but in no table of sites?
 * @mod: the module
 * @start: its first byte
 * @size: in bytes
 *
 * Return: whether it is.
 */
bool text_site_in_data(const struct module *mod, const void *start, unsigned int size)
{
	for (unsigned int i = 0; i < NR_TEXT_SECTIONS; i++) {
		const struct text_section *section = &mod->text_sites[i];

		if (start < section->start + section->size && start + size > section->start)
			return false;
	}
	return text_site_in_memory(mod, MOD_DATA, start, size);
}

/**
 * text_sites_may_call_module - may something be pointed at a function of a module?
 * @func: the function
 *
 * A module's parameters can be written until the module is freed. Nothing undoes a reference to
 * the module's text that is made after text_sites_module_going(). Before it calls that, the loader
 * sets MODULE_STATE_GOING; if loading fails early, the module is still MODULE_STATE_UNFORMED, and
 * is not found. So a caller that holds the mutex which text_sites_module_going() takes either gets
 * false, or its reference is undone.
 *
 * Context: any, see above for the mutex.
 *
 * Return: true if it is in a module that is not being unloaded, and not in its init text.
 */
bool text_sites_may_call_module(const void *func)
{
	const unsigned long addr = (unsigned long)dereference_function_descriptor((void *)func);
	const struct module *mod;

	guard(preempt)();
	/* __module_text_address() does not find a module that is unformed or being freed. */
	mod = __module_text_address(addr);
	return mod && READ_ONCE(mod->state) != MODULE_STATE_GOING && !within_module_init(addr, mod);
}

/**
 * text_section_check - can a section of a module be used in place, as whole records?
 * @mod: the module
 * @id: which section
 * @record: the size of a record in bytes
 * @align: what records are aligned to
 *
 * Return: 0, or -EINVAL with a message.
 */
int text_section_check(const struct module *mod, enum text_section_id id, unsigned int record,
		       unsigned int align)
{
	const struct text_section *section = &mod->text_sites[id];

	if (section->size % record || !IS_ALIGNED((unsigned long)section->start, align) ||
	    !text_site_in_memory(mod, MOD_DATA, section->start, section->size)) {
		pr_err("%s: %s has %u bytes that are not aligned records in writable data\n",
		       mod->name, text_section_names[id], section->size);
		return -EINVAL;
	}
	return 0;
}
