// SPDX-License-Identifier: GPL-2.0
/* Profiling where function returns are not traced: calls are counted. */
#include "fentry.h"
#include "profile.h"

const bool fentry_profile_times;

static void count_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	struct profile_entry *entry;
	unsigned long flags;

	local_irq_save(flags);
	entry = fentry_profile_entry(ip, true);
	if (entry)
		entry->hits++;
	local_irq_restore(flags);
}

static struct ftrace_ops profile_ops = {
	.func	= count_call,
};

/**
 * fentry_profile_attach - begin to count, for functions in set_ftrace_filter
 *
 * Return: 0, or an error of register_ftrace_function().
 */
int fentry_profile_attach(void)
{
	ftrace_ops_set_global_filter(&profile_ops);
	return register_ftrace_function(&profile_ops);
}

/**
 * fentry_profile_detach - stop counting
 */
void fentry_profile_detach(void)
{
	unregister_ftrace_function(&profile_ops);
}

/**
 * fentry_profile_show - the columns of times
 * @m: the file
 * @entry: of a function
 * @average: 0
 *
 * There are none.
 */
void fentry_profile_show(struct seq_file *m, const struct profile_entry *entry, u64 average)
{
}
