// SPDX-License-Identifier: GPL-2.0
/*
 * killed_ops: functions whose sites get breakpoints that are not the engine's, by
 * text_poke_kgdb(). The parameters are
 *
 * poke        the address of text_poke_kgdb() in /proc/kallsyms
 * breakpoint  an address that is written to it gets a breakpoint
 * kill        write: unregister the ops at killed_ops_g(). The test has set a breakpoint there,
 *             so its site cannot be switched, and the engine calls ftrace_kill(). After that,
 *             unregister the ops at killed_ops_f()
 * unregister  write: unregister the ops at killed_late_f()
 * calls       how often that ops has been called
 *
 * The first two ops are overwritten when they have been unregistered, as if they had been freed.
 */
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/poison.h>
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

static struct ftrace_ops ops_f = { .func = never };
static struct ftrace_ops ops_g = { .func = never };

static int register_at(struct ftrace_ops *ops, char *function)
{
	return ftrace_set_filter(ops, function, strlen(function), 1) ?:
	       register_ftrace_function(ops);
}

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
	ret = unregister_ftrace_function(&ops_g);
	if (ret)
		pr_warn("killed_ops: WARNING: %d for an ops that is called no more\n", ret);
	memset(&ops_g, POISON_FREE, sizeof(ops_g));
	if (unregister_ftrace_function(&ops_f) != -ENODEV)
		pr_warn("killed_ops: WARNING: unregistered after ftrace_kill()\n");
	memset(&ops_f, POISON_FREE, sizeof(ops_f));
	return 0;
}

static const struct kernel_param_ops kill_ops = { .set = kill_engine };

module_param_cb(kill, &kill_ops, NULL, 0200);

static int killed_ops_init(void)
{
	char f[] = "killed_ops_f", g[] = "killed_ops_g", late[] = "killed_late_f";
	int ret;

	if (!poke)
		return -EINVAL;
	ret = register_at(&ops_f, f);
	if (ret)
		return ret;
	ret = register_at(&ops_g, g);
	if (ret)
		goto no_g;
	ret = register_at(&late_ops, late);
	if (ret)
		goto no_late;
	return 0;

no_late:
	unregister_ftrace_function(&ops_g);
no_g:
	unregister_ftrace_function(&ops_f);
	return ret;
}
module_init(killed_ops_init);

MODULE_DESCRIPTION("An ops that is gone after ftrace_kill()");
MODULE_LICENSE("GPL");
