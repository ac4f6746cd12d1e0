// SPDX-License-Identifier: GPL-2.0
/*
 * killed_late: a function that a parameter calls seconds after the module has begun to go. After
 * ftrace_kill() its entry stays a call.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sysfs.h>

/* The function to be traced */
asmlinkage int killed_late_f(void);

asmlinkage noinline __noclone int killed_late_f(void)
{
	asm volatile("");
	return 1;
}

/* For longer than it takes until an unused trampoline is freed */
static int get_late(char *buffer, const struct kernel_param *kp)
{
	msleep(8000);
	return sysfs_emit(buffer, "%d\n", killed_late_f());
}

static const struct kernel_param_ops late_ops = { .get = get_late };

module_param_cb(late, &late_ops, NULL, 0444);

MODULE_DESCRIPTION("A function that is called late");
MODULE_LICENSE("GPL");
