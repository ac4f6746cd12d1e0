// SPDX-License-Identifier: GPL-2.0
/* bad_marker_format: a module with a marker that marker_sample has with another format */
#include <linux/marker.h>
#include <linux/module.h>

static int __init bad_marker_init(void)
{
	trace_mark(sample, lines, "%u lines", 1u);
	return 0;
}

static void __exit bad_marker_exit(void)
{
}

module_init(bad_marker_init);
module_exit(bad_marker_exit);
MODULE_DESCRIPTION("A marker that is refused");
MODULE_LICENSE("GPL");
