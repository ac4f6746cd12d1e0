// SPDX-License-Identifier: GPL-2.0
/* bad_value_site: a module whose value site is in its data */
#include "bad_value.h"

BAD_VALUE("bad_value_data", "bad_value_label - .", "bad_value_data - .");

MODULE_DESCRIPTION("A value site that cannot be trusted");
MODULE_LICENSE("GPL");
