// SPDX-License-Identifier: GPL-2.0
/* bad_inline_value: a module whose inline site depends on what is no data */
#include "bad_inline.h"

BAD_INLINE("bad_inline_nop", "bad_inline_label - .", "0x40000000");

MODULE_DESCRIPTION("An inline site that cannot be trusted");
MODULE_LICENSE("GPL");
