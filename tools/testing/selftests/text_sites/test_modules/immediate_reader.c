// SPDX-License-Identifier: GPL-2.0
/*
 * immediate_reader: reads what immediate_owner has. Its parameters:
 *
 *   at_init	what they were when this module was loaded, by init text, which is gone
 *   now	what they are, by a function that may be traced
 */
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "immediate_owner.h"

static long at_init[3];
module_param_array(at_init, long, NULL, 0400);

static noinline int immediate_reader_now(char *text)
{
	if (imv_cond(test_limit))
		return sprintf(text, "%ld %u\n", imv_read(test_limit), imv_read(test_twice));
	return sprintf(text, "nothing\n");
}

static int now_get(char *text, const struct kernel_param *kp)
{
	return immediate_reader_now(text);
}

static const struct kernel_param_ops now_ops = { .get = now_get };

module_param_cb(now, &now_ops, NULL, 0400);

static int __init immediate_reader_init(void)
{
	at_init[0] = imv_read(test_limit);
	at_init[1] = imv_read(test_twice);
	if (imv_cond(test_limit))
		at_init[2] = 1;
	return 0;
}
module_init(immediate_reader_init);

static void __exit immediate_reader_exit(void)
{
}
module_exit(immediate_reader_exit);

MODULE_DESCRIPTION("Reads an immediate value of another module");
MODULE_LICENSE("GPL");
