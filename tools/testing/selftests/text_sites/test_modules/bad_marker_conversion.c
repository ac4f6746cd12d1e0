// SPDX-License-Identifier: GPL-2.0
/* bad_marker_conversion: a module with a marker that has a conversion that none can have */
#include <linux/marker.h>
#include <linux/module.h>

static int __init bad_marker_init(void)
{
	int n;

	trace_mark(bad, conversion, "%d %n", 1, &n);
	return 0;
}

static void __exit bad_marker_exit(void)
{
}

module_init(bad_marker_init);
module_exit(bad_marker_exit);
MODULE_DESCRIPTION("A marker that is refused");
MODULE_LICENSE("GPL");
