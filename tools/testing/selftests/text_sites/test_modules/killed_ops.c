// SPDX-License-Identifier: GPL-2.0
/*
 * killed_ops: an ops that its owner frees after ftrace_kill() although it is still
 * registered. The parameter `kill` is the address of that function in /proc/kallsyms. Another
 * ops, of killed_late_f(), is unregistered when the parameter `unregister` is written, and
 * `calls` says how often it has been called.
 *
 * The memory is overwritten and kept, so that who looks at it finds no other ops there.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
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

static int calls;
module_param(calls, int, 0400);

static void notrace count(unsigned long ip, unsigned long parent_ip,
			  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	WRITE_ONCE(calls, calls + 1);
}

static struct ftrace_ops late_ops = { .func = count };

static int unregister_late(const char *text, const struct kernel_param *kp)
{
	return unregister_ftrace_function(&late_ops) == -ENODEV ? 0 : -EINVAL;
}

static const struct kernel_param_ops unregister_ops = { .set = unregister_late };

module_param_cb(unregister, &unregister_ops, NULL, 0200);

static int register_late(void)
{
	char name[] = "killed_late_f";

	return ftrace_set_filter(&late_ops, name, strlen(name), 1) ?:
	       register_ftrace_function(&late_ops);
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
	if (!ret) {
		ret = register_late();
		if (ret)
			unregister_ftrace_function(ops);
	}
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
