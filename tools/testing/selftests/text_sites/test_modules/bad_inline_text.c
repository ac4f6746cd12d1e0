// SPDX-License-Identifier: GPL-2.0
/* bad_inline_text: a module whose inline site holds another instruction */
#include "bad_inline.h"

BAD_INLINE("bad_inline_other", "bad_inline_label - .", "bad_inline_value - .");

MODULE_DESCRIPTION("An inline site that cannot be trusted");
MODULE_LICENSE("GPL");
