// SPDX-License-Identifier: GPL-2.0
/* bad_marker_overlap: a module with two markers, of which one begins in the other's strings */
#include <linux/stringify.h>

#include <asm/nops.h>

#include "bad_marker.h"

/* The last string of the first ends with the higher byte of the second's size. */
struct {
	struct marker_head	first;
	char			first_text[8];
	struct marker_head	second;
	char			second_text[8];
} bad_markers = {
	.first		= { .magic = MARKER_SITE_MAGIC, .size = 14 },
	.first_text	= "bad\0a\0\0",
	.second		= { .magic = MARKER_SITE_MAGIC, .size = 8 },
	.second_text	= "bad\0b\0\0",
};

/* Where the second begins */
#define SECOND	24 + 4 * __SIZEOF_POINTER__

static_assert(offsetof(typeof(bad_markers), second) == SECOND);

#ifdef CONFIG_TEXT_SITES
asm("	.pushsection .text\n"
	"bad_marker_first:	.byte " __stringify(BYTES_NOP5) "\n"
	"bad_marker_second:	.byte " __stringify(BYTES_NOP5) "\n"
	"bad_marker_label:	nop\n"
	"	.popsection\n"
	MARKER_RECORD("bad_marker_first", "bad_marker_label", "bad_markers + 16")
	MARKER_RECORD("bad_marker_second", "bad_marker_label",
		      "bad_markers + " __stringify(SECOND) " + 16"));
#else
static void *bad_marker_refs[] __used __section("__marker_refs") = {
	&bad_markers.first, &bad_markers.second,
};
#endif

MODULE_DESCRIPTION("Markers that overlap");
MODULE_LICENSE("GPL");
