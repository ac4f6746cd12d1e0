// SPDX-License-Identifier: GPL-2.0
/*
 * killed_ops: an ops that its owner frees after ftrace_kill() although it is still
 * registered. The parameter is the address of that function in /proc/kallsyms.
 *
 * The memory is overwritten and kept, so that who looks at it finds no other ops there.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/poison.h>
#include <linux/slab.h>
#include <linux/string.h>

static unsigned long kill;
module_param(kill, ulong, 0);

/* The function to be traced; nobody calls it. */
asmlinkage int killed_ops_f(void);

asmlinkage noinline __noclone int killed_ops_f(void)
{
	asm volatile("");
	return 1;
}

static void notrace never(unsigned long ip, unsigned long parent_ip,
			  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

static int killed_ops_init(void)
{
	struct ftrace_ops *ops;
	int ret;

	if (!kill)
		return -EINVAL;
	ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	if (!ops)
		return -ENOMEM;

	ops->func = never;
	ret = ftrace_set_filter_ip(ops, (unsigned long)killed_ops_f, 0, 1) ?:
	      register_ftrace_function(ops);
	if (ret) {
		ftrace_free_filter(ops);
		kfree(ops);
		return ret;
	}

	((void (*)(void))kill)();
	if (unregister_ftrace_function(ops) != -ENODEV)
		pr_warn("killed_ops: WARNING: unregistered after ftrace_kill()\n");
	memset(ops, POISON_FREE, sizeof(*ops));
	return 0;
}
module_init(killed_ops_init);

MODULE_DESCRIPTION("An ops that is gone after ftrace_kill()");
MODULE_LICENSE("GPL");
