// SPDX-License-Identifier: GPL-2.0
/* bad_value_data: a module whose value site depends on what is no value */
#include "bad_value.h"

BAD_VALUE("bad_value_nop", "bad_value_label - .", "0x40000000");

MODULE_DESCRIPTION("A value site that cannot be trusted");
MODULE_LICENSE("GPL");
