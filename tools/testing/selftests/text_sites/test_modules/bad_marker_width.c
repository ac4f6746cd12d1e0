// SPDX-License-Identifier: GPL-2.0
/* bad_marker_width: a module with a marker that has a width that is an argument */
#include <linux/marker.h>
#include <linux/module.h>

static int __init bad_marker_init(void)
{
	trace_mark(bad, width, "%*d", 1, 1);
	return 0;
}

static void __exit bad_marker_exit(void)
{
}

module_init(bad_marker_init);
module_exit(bad_marker_exit);
MODULE_DESCRIPTION("A marker that is refused");
MODULE_LICENSE("GPL");
