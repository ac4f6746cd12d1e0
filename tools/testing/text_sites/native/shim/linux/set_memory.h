/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SET_MEMORY_H
#define _SHIM_LINUX_SET_MEMORY_H

#include <sys/mman.h>

#define PAGE_SIZE		4096UL

static inline int set_memory_rox(unsigned long addr, int pages)
{
	return mprotect((void *)addr, pages * PAGE_SIZE, PROT_READ | PROT_EXEC);
}

#endif /* _SHIM_LINUX_SET_MEMORY_H */
