/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MUTEX_H
#define _SHIM_LINUX_MUTEX_H

#include <linux/cleanup.h>
#include <linux/types.h>

struct mutex { };

#define DEFINE_MUTEX(_name)	struct mutex _name

static inline void guard_mutex(struct mutex *lock)
{
}

static inline void mutex_lock(struct mutex *lock) { }
static inline void mutex_unlock(struct mutex *lock) { }

#endif /* _SHIM_LINUX_MUTEX_H */
