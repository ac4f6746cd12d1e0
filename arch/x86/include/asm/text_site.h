/* SPDX-License-Identifier: GPL-2.0 */
/* Text sites on x86 */
#ifndef _ASM_X86_TEXT_SITE_H
#define _ASM_X86_TEXT_SITE_H

#define TEXT_SITE_SIZE	5	/* bytes of a site that calls, jumps or does nothing */
#define TEXT_SITE_MAX	10	/* bytes of the longest instruction at a site */

#define TEXT_GRANULE_SHIFT	9	/* bytes of text for each entry of an index, as log */

/* The map of areas: pages of text for each leaf of it, as log, and leaves */
#define TEXT_LEAF_SHIFT		10
#define TEXT_MAP_SIZE		512

/* In text_changes: breakpoints are at text sites; at what text_poke_bp() changes */
#define TEXT_CHANGES_SITES	1
#define TEXT_CHANGES_POKES	2

#if defined(CONFIG_TEXT_SITES) && !defined(__ASSEMBLY__)
#include <linux/types.h>

extern u8 text_changes;		/* written under text_mutex */

void text_poke_gather(void *addr, const void *src, size_t len);
void text_poke_gathered(void);
void text_write(void *addr, const void *src, size_t len);
#endif

#endif /* _ASM_X86_TEXT_SITE_H */
