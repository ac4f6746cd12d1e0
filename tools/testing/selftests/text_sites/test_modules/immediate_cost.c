// SPDX-License-Identifier: GPL-2.0
/*
 * What immediate values cost, for benchmarks: files in debugfs under immediate_cost/.
 * Reading one gives cycles of the time stamp counter for passing a loop CALLS times,
 * the least of some rounds.
 *
 *   none	a loop with nothing in it but what all have
 *   variable	... a read of a __read_mostly variable
 *   immediate	... imv_read()
 *   cond	... if (imv_cond()) of a value that is 0
 *   key	... if (static_branch_unlikely()) of a key that is off
 *
 *
 * And memory: how many of a hundred imv_read() see what is written to memory, without
 * imv_set()
 */
#include <linux/cache.h>
#include <linux/immediate.h>
#include <linux/jump_label.h>
#include <linux/module.h>

#include "costs.h"

static int variable __read_mostly = 5;
static DEFINE_IMV(int, immediate, 5);
static DEFINE_IMV(int, cond, 0);
static DEFINE_STATIC_KEY_FALSE(key);

#define COST(way, something)						\
static noinline notrace cycles_t cost_##way(void)			\
{									\
	int sum = 0;							\
									\
	return CYCLES(i, ({ something; OPTIMIZER_HIDE_VAR(sum); }));	\
}

COST(none, (void)0)
COST(variable, sum = READ_ONCE(variable))
COST(immediate, sum = imv_read(immediate))
COST(cond, sum = imv_cond(cond) ? 3 : sum)
COST(key, sum = static_branch_unlikely(&key) ? 3 : sum)

static const struct cost costs[] = {
	{ "none",	cost_none },
	{ "variable",	cost_variable },
	{ "immediate",	cost_immediate },
	{ "cond",	cost_cond },
	{ "key",	cost_key },
};

static int memory_show(struct seq_file *m, void *v)
{
	int seen = 0;

	mutex_lock(&cost_mutex);
	for (int i = 0; i < 100; i++) {
		WRITE_ONCE(imv_immediate, 1000 + i);
		seen += imv_read(immediate) == 1000 + i;
	}
	WRITE_ONCE(imv_immediate, 5);
	seq_printf(m, "%d\n", seen);
	mutex_unlock(&cost_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(memory);

static struct dentry *dir;

static int __init immediate_cost_init(void)
{
	dir = costs_create("immediate_cost", costs, ARRAY_SIZE(costs));
	debugfs_create_file("memory", 0400, dir, NULL, &memory_fops);
	return 0;
}
module_init(immediate_cost_init);

static void __exit immediate_cost_exit(void)
{
	debugfs_remove(dir);
}
module_exit(immediate_cost_exit);

MODULE_DESCRIPTION("What immediate values cost");
MODULE_LICENSE("GPL");
