/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_VMALLOC_H
#define _SHIM_LINUX_VMALLOC_H

static inline void set_vm_flush_reset_perms(void *addr)
{
}

#endif /* _SHIM_LINUX_VMALLOC_H */
