/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_EXECMEM_H
#define _SHIM_LINUX_EXECMEM_H

#include <linux/types.h>

#include <sys/mman.h>

#define EXECMEM_FTRACE		0

/* Within reach of a call from the program, which is linked to a low address */
static inline void *execmem_alloc(int type, size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

/* The program ends if there is no memory for code. */
static inline void execmem_free(void *mem) { }

#endif /* _SHIM_LINUX_EXECMEM_H */
