/* SPDX-License-Identifier: GPL-2.0 */
/* What immediate_owner has for other modules */
#ifndef _IMMEDIATE_OWNER_H
#define _IMMEDIATE_OWNER_H

#include <linux/immediate.h>

DECLARE_IMV(long, test_limit);
DECLARE_IMV(u16, test_twice);

#endif /* _IMMEDIATE_OWNER_H */
