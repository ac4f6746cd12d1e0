// SPDX-License-Identifier: GPL-2.0
/* bad_value_good: a module whose value site is right, to know that the others are refused for what they have */
#include "bad_value.h"

BAD_VALUE("bad_value_nop", "bad_value_label - .", "bad_value_data - .");

MODULE_DESCRIPTION("A value site that cannot be trusted");
MODULE_LICENSE("GPL");
