// SPDX-License-Identifier: GPL-2.0
/*
 * jump_watch: calls a function of a module that has gone, before its memory is freed. The
 * parameter `result` is what that returned, -1 before that.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/jump_function.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/tracepoint.h>

#include "jump_watch.h"

static int result = -1;
module_param(result, int, 0400);

static bool waiting;
module_param(waiting, bool, 0400);

static struct module *watched;
static DECLARE_COMPLETION(freed);
static struct tracepoint *module_free_point;

noinline int jump_watch_target(void)
{
	return 2;
}
EXPORT_SYMBOL_GPL(jump_watch_target);

DEFINE_DYNFUNC(jump_watch_late, jump_watch_target);
EXPORT_DYNFUNC_GPL(jump_watch_late);

/*
 * Waits until @mod goes, and calls @call, of @mod. The caller is one of @mod's parameters, for
 * which sysfs waits before the memory is freed.
 */
int jump_watch(struct module *mod, int (*call)(void))
{
	WRITE_ONCE(watched, mod);
	waiting = true;
	if (!wait_for_completion_timeout(&freed, 60 * HZ))
		return -ETIMEDOUT;
	result = call();
	return 0;
}
EXPORT_SYMBOL_GPL(jump_watch);

/* The first that free_module() does. A probe must not sleep. */
static void module_freed(void *data, struct module *mod)
{
	if (mod == READ_ONCE(watched))
		complete_all(&freed);
}

static void find_module_free(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "module_free"))
		module_free_point = tp;
}

static int __init jump_watch_init(void)
{
	for_each_kernel_tracepoint(find_module_free, NULL);
	if (!module_free_point)
		return -ENOENT;
	return tracepoint_probe_register(module_free_point, module_freed, NULL);
}
module_init(jump_watch_init);

static void __exit jump_watch_exit(void)
{
	tracepoint_probe_unregister(module_free_point, module_freed, NULL);
	tracepoint_synchronize_unregister();
}
module_exit(jump_watch_exit);

MODULE_DESCRIPTION("Calls a function of a module that has gone");
MODULE_LICENSE("GPL");
