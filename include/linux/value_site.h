/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Value sites: text sites within functions that hold what a value in memory says.
 *
 * A branch is a NOP while its value is 0, and a jump otherwise; what depends on it is out
 * of line. A load moves its value, an immediate operand, to a register. Any number of
 * sites may depend on one value: code that is inlined, unrolled or copied has a site for
 * each copy.
 *
 * Markers and immediate values are made of these, each a kind of its own:
 * <linux/marker.h> and <linux/immediate.h>.
 */
#ifndef _LINUX_VALUE_SITE_H
#define _LINUX_VALUE_SITE_H

#include <linux/bits.h>
#include <linux/text_site.h>
#include <linux/types.h>

/* Values are aligned to this; what is left of a reference says how large they are. */
#define VALUE_SITE_ALIGN	8
#define VALUE_REF_LOG		GENMASK(1, 0)	/* the value has 1 << this bytes */
#define VALUE_REF_FLAGS		(VALUE_SITE_ALIGN - 1ul)

#ifdef CONFIG_TEXT_SITES

#include <asm/value_site.h>

/* The state of a value site, in the place of target and owner */
#define VALUE_SITE_DISTANCE	GENMASK(27, 0)	/* a branch: from behind it to its label, signed */
#define VALUE_SITE_REG		GENMASK(2, 0)	/* a load: number of the register */
#define VALUE_SITE_LOG		GENMASK(4, 3)	/* a load: the value has 1 << this bytes */
#define VALUE_SITE_LOAD		BIT(28)		/* it is a load */
#define VALUE_SITE_ON		BIT(29)		/* it jumps, or has the value in it */

/* Where a site's reference is, which is relative to its own place */
static __always_inline unsigned long value_site_ref(const struct text_site_table *table,
						    const struct text_site *site)
{
	const s32 *ref = &table->refs[site - table->sites];

	return (unsigned long)ref + *ref;
}

/* What a site depends on */
static __always_inline void *value_site_value(const struct text_site_table *table,
					      const struct text_site *site)
{
	return (void *)(value_site_ref(table, site) & ~VALUE_REF_FLAGS);
}

static __always_inline unsigned int value_site_log(const struct text_site_table *table,
						   const struct text_site *site)
{
	return value_site_ref(table, site) & VALUE_REF_LOG;
}

/* A value of 1 << @log bytes */
static __always_inline u64 value_get(const void *value, unsigned int log)
{
	switch (log) {
	case 0:
		return READ_ONCE(*(const u8 *)value);
	case 1:
		return READ_ONCE(*(const u16 *)value);
	case 2:
		return READ_ONCE(*(const u32 *)value);
	default:
		return READ_ONCE(*(const u64 *)value);
	}
}

/* kernel/text_site/value.c */
int value_sites_take(struct text_site_table *table);
int value_sites_coming(struct text_site_table *table);
int value_sites_commit(struct text_site_kind *kind,
		       bool (*concerns)(const void *value, const void *who), const void *who);

/* Provided by the architecture: arch/.../kernel/text_site/value.c */
int arch_value_site_take(const struct text_site_table *table, struct text_site *site);
bool arch_value_site_holds(const struct text_site_table *table, const struct text_site *site);
void arch_value_site_set_early(const struct text_site_table *table, struct text_site *site);

#endif /* CONFIG_TEXT_SITES */

#endif /* _LINUX_VALUE_SITE_H */
