// SPDX-License-Identifier: GPL-2.0
/*
 * The function profiler where function returns are not traced: calls are counted.
 */
#include "ops.h"
#include "profile.h"

const bool profile_has_times;

static void on_entry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	profile_count_call(ip);
}

static struct ftrace_ops profile_ops = {
	.func	= on_entry,
};

int profile_times_init(void)
{
	return 0;
}

int profile_attach(void)
{
	ftrace_ops_set_global_filter(&profile_ops);
	return register_ftrace_function(&profile_ops);
}

void profile_detach(void)
{
	unregister_ftrace_function(&profile_ops);
}

void profile_show_times(struct seq_file *m, const struct profile_entry *entry, u64 average)
{
}

void profile_latency_files(struct dentry *dir)
{
}
