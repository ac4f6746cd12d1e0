/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inline sites: text sites within functions, that hold what a value in memory says.
 *
 * A branch is a NOP of five bytes while its value is 0, and a jump otherwise; what
 * depends on it is out of line. A load moves its value, an immediate operand, to a
 * register. Any number of places may depend on one value: inlined, unrolled or copied,
 * each is a site of its own.
 *
 * This is what markers and immediate values are made of: <linux/marker.h> and
 * <linux/immediate.h>. See Documentation/trace/text-sites.rst.
 */
#ifndef _LINUX_INLINE_SITE_H
#define _LINUX_INLINE_SITE_H

#include <linux/bits.h>
#include <linux/types.h>

struct module;

/*
 * What a site says of its value, in the low bits of the reference to it: values are
 * aligned to eight bytes.
 */
#define INLINE_VALUE_ALIGN	8
#define INLINE_VALUE_LOG	GENMASK(1, 0)	/* it has 1 << this bytes */
#define INLINE_VALUE_MARKER	BIT(2)		/* it is in a struct marker_place */
#define INLINE_VALUE_FLAGS	(INLINE_VALUE_LOG | INLINE_VALUE_MARKER)

#ifdef CONFIG_TEXT_SITES

#include <asm/inline_site.h>

int inline_sites_commit(void);
int inline_sites_set(void *value, unsigned int size, u64 to);
void inline_sites_assign(void *value, unsigned int size, u64 to);
void inline_sites_for_each(const struct module *mod, unsigned int flags,
			   void (*func)(void *value));
void inline_sites_free_text(const struct module *mod, unsigned long start, unsigned long end);
bool inline_sites_reserved(const void *start, const void *end);

#else /* !CONFIG_TEXT_SITES */

static inline bool inline_sites_reserved(const void *start, const void *end)
{
	return false;
}

#endif /* CONFIG_TEXT_SITES */

#endif /* _LINUX_INLINE_SITE_H */
