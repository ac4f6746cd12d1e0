// SPDX-License-Identifier: GPL-2.0
/*
 * markers_late: markers that are passed while the module goes: by work which the exit function
 * leaves behind, and by its parameter, which is the last of it that runs. That also tries to
 * connect a probe, as the init function does with one that will not stay, and both say what the
 * answer is.
 */
#include <linux/async.h>
#include <linux/delay.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sysfs.h>

static void pass(void *data, async_cookie_t cookie)
{
	msleep(300);
	trace_mark(late, work, "%s", "still there");
}

/* It has no other value than its own name. */
static int get_param(char *buffer, const struct kernel_param *kp)
{
	trace_mark(late, get, "%s", kp->name);
	return sysfs_emit(buffer, "%s\n", kp->name);
}

static void probe(void *private, const u64 *args)
{
}

static void free_param(void *arg)
{
	trace_mark(late, free, "%s", "still there");
	pr_info("late probe: %d\n", marker_probe_register("late:probe", "%s", probe, NULL));
}

static const struct kernel_param_ops param_ops = { .get = get_param, .free = free_param };

module_param_cb(param, &param_ops, NULL, 0444);

static void __init init_probe(void *private, const u64 *args)
{
}

static int __init markers_late_init(void)
{
	pr_info("init probe: %d\n", marker_probe_register("late:work", "%s", init_probe, NULL));
	return 0;
}

static void __exit markers_late_exit(void)
{
	async_schedule(pass, NULL);
}

module_init(markers_late_init);
module_exit(markers_late_exit);
MODULE_DESCRIPTION("A marker that is passed late");
MODULE_LICENSE("GPL");
