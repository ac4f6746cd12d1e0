/* SPDX-License-Identifier: GPL-2.0 */
/* All static keys are on, as NOPs and jumps patched in cost next to nothing. */
#ifndef _SHIM_LINUX_JUMP_LABEL_H
#define _SHIM_LINUX_JUMP_LABEL_H

#include <linux/types.h>

#define DECLARE_STATIC_KEY_FALSE(_name)	extern bool _name
#define static_branch_likely(_key)	((void)(_key), true)

#endif /* _SHIM_LINUX_JUMP_LABEL_H */
