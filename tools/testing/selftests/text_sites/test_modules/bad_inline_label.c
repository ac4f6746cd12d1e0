// SPDX-License-Identifier: GPL-2.0
/* bad_inline_label: a module whose inline site jumps to its data */
#include "bad_inline.h"

BAD_INLINE("bad_inline_nop", "bad_inline_value - .", "bad_inline_value - .");

MODULE_DESCRIPTION("An inline site that cannot be trusted");
MODULE_LICENSE("GPL");
