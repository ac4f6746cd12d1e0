// SPDX-License-Identifier: GPL-2.0
/* bad_table: a module whose table of sites refers to its data */
#include <linux/module.h>

int bad_table_data = 0x12345678;
module_param_named(data, bad_table_data, int, 0400);

static int __init bad_table_init(void)
{
	return 0;
}

static void __exit bad_table_exit(void)
{
}

/* One good entry, and one that is not */
asm("	.pushsection __mcount_loc, \"aw\", @progbits\n"
	"	.long	init_module - ., 0\n"
	"	.long	bad_table_data - ., 0\n"
	"	.popsection\n");

module_init(bad_table_init);
module_exit(bad_table_exit);
MODULE_DESCRIPTION("A table of sites that cannot be trusted");
MODULE_LICENSE("GPL");
