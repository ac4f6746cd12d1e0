// SPDX-License-Identifier: GPL-2.0
/* bad_value_load: a module whose value site is no load */
#include "bad_value.h"

BAD_VALUE("bad_value_nop", "0", "bad_value_data - .");

MODULE_DESCRIPTION("A value site that cannot be trusted");
MODULE_LICENSE("GPL");
