// SPDX-License-Identifier: GPL-2.0
/*
 * killed_ops: functions whose sites have breakpoints of somebody else's. The parameter `poke`
 * is the address of text_poke_kgdb() in /proc/kallsyms, and each site whose address is written
 * to `breakpoint` gets one. When `kill` is written, an ops is unregistered that cannot be
 * switched off, as killed_ops_g() has one by then, so that ftrace_kill() is called. A second
 * ops is freed by its owner after that although it is still registered. A third one, of
 * killed_late_f(), is unregistered when `unregister` is written, and `calls` says how often it
 * has been called.
 *
 * The memory is overwritten and kept, so that who looks at it finds no other ops there.
 */
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/poison.h>
#include <linux/slab.h>
#include <linux/string.h>

static unsigned long poke;
module_param(poke, ulong, 0);

/* The functions to be traced; nobody calls them. */
asmlinkage int killed_ops_f(void);
asmlinkage int killed_ops_g(void);
asmlinkage int killed_ops_h(void);

asmlinkage noinline __noclone int killed_ops_f(void)
{
	asm volatile("");
	return 1;
}

asmlinkage noinline __noclone int killed_ops_g(void)
{
	asm volatile("");
	return 2;
}

asmlinkage noinline __noclone int killed_ops_h(void)
{
	asm volatile("");
	return 3;
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

static struct ftrace_ops *ops_at(int (*function)(void))
{
	struct ftrace_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);

	if (!ops)
		return NULL;
	ops->func = never;
	if (!ftrace_set_filter_ip(ops, (unsigned long)function, 0, 1) &&
	    !register_ftrace_function(ops))
		return ops;
	ftrace_free_filter(ops);
	kfree(ops);
	return NULL;
}

static void ops_free(struct ftrace_ops *ops)
{
	unregister_ftrace_function(ops);
	ftrace_free_filter(ops);
	kfree(ops);
}

static struct ftrace_ops *ops_f, *ops_g;

static int set_breakpoint(const char *text, const struct kernel_param *kp)
{
	void (*text_poke_kgdb)(void *at, const void *text, size_t len) = (void *)poke;
	unsigned long site;
	int ret;

	ret = kstrtoul(text, 16, &site);
	if (!ret)
		text_poke_kgdb((void *)site, "\xcc", 1);
	return ret;
}

static const struct kernel_param_ops breakpoint_ops = { .set = set_breakpoint };

module_param_cb(breakpoint, &breakpoint_ops, NULL, 0200);

static int kill_engine(const char *text, const struct kernel_param *kp)
{
	int ret;

	/* This is called no more, which is all that its owner needs. */
	ret = unregister_ftrace_function(ops_g);
	if (ret)
		pr_warn("killed_ops: WARNING: %d for an ops that is called no more\n", ret);
	memset(ops_g, POISON_FREE, sizeof(*ops_g));
	if (unregister_ftrace_function(ops_f) != -ENODEV)
		pr_warn("killed_ops: WARNING: unregistered after ftrace_kill()\n");
	memset(ops_f, POISON_FREE, sizeof(*ops_f));
	return 0;
}

static const struct kernel_param_ops kill_ops = { .set = kill_engine };

module_param_cb(kill, &kill_ops, NULL, 0200);

static int killed_ops_init(void)
{
	int ret = -ENOMEM;

	if (!poke)
		return -EINVAL;
	ops_f = ops_at(killed_ops_f);
	ops_g = ops_f ? ops_at(killed_ops_g) : NULL;
	if (ops_g)
		ret = register_late();
	if (ret) {
		if (ops_g)
			ops_free(ops_g);
		if (ops_f)
			ops_free(ops_f);
		return ret;
	}
	return 0;
}
module_init(killed_ops_init);

MODULE_DESCRIPTION("An ops that is gone after ftrace_kill()");
MODULE_LICENSE("GPL");
