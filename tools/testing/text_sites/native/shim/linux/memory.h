/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MEMORY_H
#define _SHIM_LINUX_MEMORY_H

#include <linux/mutex.h>

extern struct mutex text_mutex;

#endif /* _SHIM_LINUX_MEMORY_H */
