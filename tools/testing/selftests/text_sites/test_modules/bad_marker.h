/* SPDX-License-Identifier: GPL-2.0 */
/* Markers that are written by hand */
#ifndef _BAD_MARKER_H
#define _BAD_MARKER_H

#include <linux/marker.h>
#include <linux/module.h>

/* As struct marker_site, which ends in an array without size */
struct marker_head {
	u32			magic;
	u16			size;
	u8			nr_args;
	unsigned int		line;
	bool			on __aligned(VALUE_SITE_ALIGN);
	struct marker		*marker;
	struct list_head	list;
};

static_assert(sizeof(struct marker_head) == offsetof(struct marker_site, text));
static_assert(offsetof(struct marker_head, on) == 16);

/* Where a marker's site and the label it jumps to are, and where it says whether it is on */
#define MARKER_RECORD(site, label, on)					\
	"	.pushsection __marker_sites, \"aw\"\n"			\
	"	.balign	4\n"						\
	"	.long	" site " - ., " label " - .\n"			\
	"	.popsection\n"						\
	"	.pushsection __marker_refs, \"aw\"\n"			\
	"	.balign	4\n"						\
	"	.long	" on " - .\n"					\
	"	.popsection\n"

#endif /* _BAD_MARKER_H */
