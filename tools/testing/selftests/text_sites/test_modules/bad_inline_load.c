// SPDX-License-Identifier: GPL-2.0
/* bad_inline_load: a module whose inline site is no load */
#include "bad_inline.h"

BAD_INLINE("bad_inline_nop", "0", "bad_inline_value - .");

MODULE_DESCRIPTION("An inline site that cannot be trusted");
MODULE_LICENSE("GPL");
