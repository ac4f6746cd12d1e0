// SPDX-License-Identifier: GPL-2.0
/* bad_inline_good: a module whose inline site is right, to know that the others are refused for what they have */
#include "bad_inline.h"

BAD_INLINE("bad_inline_nop", "bad_inline_label - .", "bad_inline_value - .");

MODULE_DESCRIPTION("An inline site that cannot be trusted");
MODULE_LICENSE("GPL");
