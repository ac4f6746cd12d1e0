// SPDX-License-Identifier: GPL-2.0
/* markers_late: a marker that is passed by work which the exit function leaves behind */
#include <linux/async.h>
#include <linux/delay.h>
#include <linux/marker.h>
#include <linux/module.h>

static void pass(void *data, async_cookie_t cookie)
{
	msleep(300);
	trace_mark(late, work, "%s", "still there");
}

static int __init markers_late_init(void)
{
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
