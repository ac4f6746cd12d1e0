// SPDX-License-Identifier: GPL-2.0
/* bad_value_twice: a module whose value site is a marker's as well */
#include "bad_marker.h"
#include "bad_value.h"

struct {
	struct marker_head	head;
	char			text[12];
} bad_value_marker = {
	.head	= { .magic = MARKER_SITE_MAGIC, .size = 12 },
	.text	= "bad\0twice\0\0",
};

BAD_VALUE("bad_value_nop", "bad_value_label - .", "bad_value_data - .");
asm(MARKER_RECORD("bad_value_nop", "bad_value_label", "bad_value_marker + 16"));

MODULE_DESCRIPTION("A value site that cannot be trusted");
MODULE_LICENSE("GPL");
