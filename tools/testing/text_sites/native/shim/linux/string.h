/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_STRING_H
#define _SHIM_LINUX_STRING_H

#include <linux/kernel.h>

#include <string.h>

#define strscpy(_to, _from)	snprintf(_to, sizeof(_to), "%s", _from)

#endif /* _SHIM_LINUX_STRING_H */
