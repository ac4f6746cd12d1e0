/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SLAB_H
#define _SHIM_LINUX_SLAB_H

#include <stdlib.h>
#include <string.h>

#include <linux/err.h>

#define GFP_KERNEL	0
#define kfree(_ptr)	free(_ptr)

static inline void *kmalloc(size_t size, int flags)
{
	return malloc(size);
}

static inline void *kcalloc(size_t nr, size_t size, int flags)
{
	return calloc(nr, size);
}

static inline void *kmemdup_array(const void *from, size_t nr, size_t size, int flags)
{
	void *to = malloc(nr * size);

	return to ? memcpy(to, from, nr * size) : NULL;
}

static inline void cleanup_kfree(void *ptr)
{
	free(*(void **)ptr);
}

#endif /* _SHIM_LINUX_SLAB_H */
