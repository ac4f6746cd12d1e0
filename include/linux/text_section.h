/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sections that text sites come in, and what the module loader and the rest of the
 * kernel tell and ask text sites of all kinds. See <linux/text_site.h>.
 */
#ifndef _LINUX_TEXT_SECTION_H
#define _LINUX_TEXT_SECTION_H

#include <linux/types.h>

struct module;
struct text_site_table;

/* What the build leaves in a module, by the names in text_section_names[] */
enum text_section_id {
	TEXT_SECTION_ENTRIES,		/* function entries */
	TEXT_SECTION_JUMPS,		/* jump functions */
	TEXT_SECTION_VALUES,		/* immediate values, */
	TEXT_SECTION_VALUE_REFS,	/* and for each site which value it depends on */
	TEXT_SECTION_MARKERS,		/* markers, */
	TEXT_SECTION_MARKER_REFS,	/* and which of them each site is of; see below */
	NR_TEXT_SECTIONS
};

/**
 * struct text_section - where a module has one of them
 * @start: of the section, NULL: the module has none
 * @size: in bytes
 * @table: made of it, if the section has records
 */
struct text_section {
	void			*start;
	unsigned int		size;
	struct text_site_table	*table;
};

#ifdef CONFIG_TEXT_SITES

extern const char *const text_section_names[NR_TEXT_SECTIONS];

int text_sites_module_coming(struct module *mod);
int text_sites_module_enable(struct module *mod);
void text_sites_module_going(struct module *mod);
void text_sites_free_text(struct module *mod, void *start, void *end);
bool text_sites_reserved(const void *start, const void *end);
bool text_sites_lead_to(unsigned long start, unsigned long end);

#else /* !CONFIG_TEXT_SITES */

#ifdef CONFIG_MARKERS

/*
 * Markers are variables then: of these sections, modules have the last one, with pointers
 * to their markers, and kernel/marker_data.c is told of modules.
 */
extern const char *const text_section_names[NR_TEXT_SECTIONS];

int text_sites_module_coming(struct module *mod);
void text_sites_module_going(struct module *mod);

#else /* !CONFIG_MARKERS */

static inline int text_sites_module_coming(struct module *mod) { return 0; }
static inline void text_sites_module_going(struct module *mod) { }

#endif /* CONFIG_MARKERS */

static inline int text_sites_module_enable(struct module *mod) { return 0; }
static inline void text_sites_free_text(struct module *mod, void *start, void *end) { }

static inline bool text_sites_reserved(const void *start, const void *end)
{
	return false;
}

static inline bool text_sites_lead_to(unsigned long start, unsigned long end)
{
	return false;
}

#endif /* CONFIG_TEXT_SITES */

#endif /* _LINUX_TEXT_SECTION_H */
