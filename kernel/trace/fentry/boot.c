// SPDX-License-Identifier: GPL-2.0
/*
 * Boot: the kernel's own sites, and the filters on its command line.
 */
#include <linux/init.h>
#include <linux/string.h>
#include <linux/timex.h>

#include <asm/setup.h>

#include "module.h"
#include "ops.h"
#include "set.h"

static char filter_param[COMMAND_LINE_SIZE] __initdata;
static char notrace_param[COMMAND_LINE_SIZE] __initdata;

/* Do not run self tests over what the user has asked for. */
bool ftrace_filter_param __initdata;

static int __init ftrace_filter_setup(char *str)
{
	strscpy(filter_param, str);
	ftrace_filter_param = true;
	return 1;
}
__setup("ftrace_filter=", ftrace_filter_setup);

static int __init ftrace_notrace_setup(char *str)
{
	strscpy(notrace_param, str);
	ftrace_filter_param = true;
	return 1;
}
__setup("ftrace_notrace=", ftrace_notrace_setup);

/**
 * ftrace_set_early_filter - what an ops traces, by a boot parameter
 * @ops: not registered yet
 * @buf: globs with commas in between; written to
 * @enable: 1: what to trace, 0: what not
 */
void __init ftrace_set_early_filter(struct ftrace_ops *ops, char *buf, int enable)
{
	char *glob;

	while ((glob = strsep(&buf, ","))) {
		int ret = enable ? ftrace_set_filter(ops, glob, strlen(glob), 0) :
				   ftrace_set_notrace(ops, glob, strlen(glob), 0);

		if (ret)
			pr_warn("no function matches '%s' (%d)\n", glob, ret);
	}
}

/**
 * ftrace_init - turn the kernel's function entries into NOPs
 *
 * Context: early boot, one CPU, interrupts off, memory allocation works.
 */
void __init ftrace_init(void)
{
	const cycles_t start = get_cycles();	/* there is no clock yet */
	const struct text_site_table *kernel = &fentry_sites.kernel;

	arch_text_site_init();

	if (fentry_tables_init() || !kernel->nr) {
		pr_warn("no function entries, function tracing is off\n");
		fentry_dead = true;
		return;
	}
	pr_info("%lu sites, nop %s, %llu cycles, %lu left alone\n",
		ftrace_update_tot_cnt, arch_text_site_nop_name(),
		(unsigned long long)(get_cycles() - start),
		kernel->nr - ftrace_update_tot_cnt);

	ftrace_enabled = 1;

	if (filter_param[0])
		ftrace_set_early_filter(&global_ops, filter_param, 1);
	if (notrace_param[0])
		ftrace_set_early_filter(&global_ops, notrace_param, 0);
}
