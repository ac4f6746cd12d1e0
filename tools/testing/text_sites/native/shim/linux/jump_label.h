/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_JUMP_LABEL_H
#define _SHIM_LINUX_JUMP_LABEL_H

#include <linux/types.h>

#define DECLARE_STATIC_KEY_FALSE(_name)	extern bool _name

#endif /* _SHIM_LINUX_JUMP_LABEL_H */
