/* SPDX-License-Identifier: GPL-2.0 */
/* A folder in debugfs with a file for each thing that a module counts the cost of */
#ifndef _COSTS_H
#define _COSTS_H

#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>

#include "cycles.h"

/**
 * struct cost - something that costs
 * @name: of its file
 * @func: says how many cycles; one at a time is called
 */
struct cost {
	const char	*name;
	cycles_t	(*func)(void);
};

static DEFINE_MUTEX(cost_mutex);

static int cost_show(struct seq_file *m, void *v)
{
	const struct cost *cost = m->private;

	mutex_lock(&cost_mutex);
	seq_printf(m, "%llu\n", cost->func());
	mutex_unlock(&cost_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cost);

/* The folder, which the caller removes */
static struct dentry *costs_create(const char *dir, const struct cost *costs, unsigned int nr)
{
	struct dentry *dentry = debugfs_create_dir(dir, NULL);

	for (; nr; nr--, costs++)
		debugfs_create_file(costs->name, 0400, dentry, (void *)costs, &cost_fops);
	return dentry;
}

#endif /* _COSTS_H */
