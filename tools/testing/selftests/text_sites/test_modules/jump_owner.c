// SPDX-License-Identifier: GPL-2.0
/*
 * jump_owner: a jump function that jumps into jump_watch, which is asked to look where it
 * jumps to when this module has gone: to its default, which returns 1. The exit function may
 * point it at functions of this module, still; but one of jump_watch's must not be. None may be
 * pointed at text that is freed when the module has been initialised.
 */
#include <linux/jump_function.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "jump_watch.h"

static noinline int jump_owner_default(void)
{
	return 1;
}

DEFINE_DYNFUNC(jump_owner, jump_owner_default);

static int jump_owner_call(void)
{
	return dynfunc_jump_owner();
}

static int exit_result;

static int jump_owner_late(void)
{
	int ret = dynfunc_update(jump_watch_late, jump_owner_default);

	return ret == -EINVAL ? exit_result ?: jump_owner_call() : ret;
}

static int late(const char *text, const struct kernel_param *kp)
{
	return jump_watch(THIS_MODULE, jump_owner_late);
}

static const struct kernel_param_ops late_ops = { .set = late };

module_param_cb(late, &late_ops, NULL, 0200);

static noinline int __init jump_owner_early(void)
{
	return 3;
}

static int __init jump_owner_init(void)
{
	int ret;

	if (jump_owner_call() != 1)
		return -EIO;
	if (dynfunc_update(jump_owner, jump_owner_early) != -EINVAL || jump_owner_call() != 1 ||
	    dynfunc_update(jump_watch_late, jump_owner_early) != -EINVAL)
		return -EINVAL;
	ret = dynfunc_update(jump_owner, jump_watch_target);
	if (ret)
		return ret;
	if (jump_owner_call() != 2)
		return -EIO;
	ret = dynfunc_update(jump_watch_late, jump_owner_default) ?:
	      dynfunc_update(jump_watch_late, jump_watch_target);
	return ret;
}
module_init(jump_owner_init);

static void __exit jump_owner_exit(void)
{
	exit_result = dynfunc_update(jump_owner, jump_owner_default);
	if (!exit_result && jump_owner_call() != 1)
		exit_result = -EIO;
	dynfunc_update(jump_owner, jump_watch_target);
}
module_exit(jump_owner_exit);

MODULE_DESCRIPTION("A jump function that is called when its module has gone");
MODULE_LICENSE("GPL");
