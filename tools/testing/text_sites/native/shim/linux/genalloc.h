/* SPDX-License-Identifier: GPL-2.0 */
/* One chunk at a time, of which nothing is given back */
#ifndef _SHIM_LINUX_GENALLOC_H
#define _SHIM_LINUX_GENALLOC_H

#include <linux/types.h>

#define NUMA_NO_NODE		(-1)

struct gen_pool {
	unsigned long	next, end;
	int		order;
};

static inline struct gen_pool *gen_pool_create(int order, int node)
{
	static struct gen_pool pool;

	pool.order = order;
	return &pool;
}

static inline int gen_pool_add(struct gen_pool *pool, unsigned long addr, size_t size, int node)
{
	pool->next = addr;
	pool->end = addr + size;
	return 0;
}

static inline unsigned long gen_pool_alloc(struct gen_pool *pool, size_t size)
{
	const unsigned long granule = 1UL << pool->order;
	const unsigned long addr = pool->next;

	size = (size + granule - 1) & -granule;
	if (pool->end - addr < size)
		return 0;
	pool->next += size;
	return addr;
}

void gen_pool_free(struct gen_pool *pool, unsigned long addr, size_t size);

#endif /* _SHIM_LINUX_GENALLOC_H */
