/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_PGTABLE_H
#define _SHIM_LINUX_PGTABLE_H

void arch_sync_kernel_mappings(unsigned long start, unsigned long end);

#endif /* _SHIM_LINUX_PGTABLE_H */
