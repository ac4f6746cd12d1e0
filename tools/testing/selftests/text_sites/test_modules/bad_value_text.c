// SPDX-License-Identifier: GPL-2.0
/* bad_value_text: a module whose value site holds another instruction */
#include "bad_value.h"

BAD_VALUE("bad_value_other", "bad_value_label - .", "bad_value_data - .");

MODULE_DESCRIPTION("A value site that cannot be trusted");
MODULE_LICENSE("GPL");
