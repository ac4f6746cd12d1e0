/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_CPU_H
#define _SHIM_LINUX_CPU_H

static inline void cpus_read_lock(void) { }
static inline void cpus_read_unlock(void) { }

#endif /* _SHIM_LINUX_CPU_H */
