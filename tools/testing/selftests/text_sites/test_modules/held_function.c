// SPDX-License-Identifier: GPL-2.0
/*
 * held_function: a function for the ops of held_ops. To read
 *
 *   /sys/kernel/debug/held_function
 *
 * calls it and shows what it returns, which is 654321 if all arguments are there.
 */
#include <linux/debugfs.h>
#include <linux/linkage.h>
#include <linux/module.h>

asmlinkage long held_function(long a, long b, long c, long d, long e, long f);

asmlinkage noinline __noclone long held_function(long a, long b, long c, long d, long e, long f)
{
	asm volatile("");
	return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f;
}

static int held_get(void *data, u64 *val)
{
	*val = held_function(1, 2, 3, 4, 5, 6);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(held_fops, held_get, NULL, "%llu\n");

static struct dentry *file;

static int __init held_function_init(void)
{
	file = debugfs_create_file("held_function", 0400, NULL, NULL, &held_fops);
	return 0;
}
module_init(held_function_init);

static void __exit held_function_exit(void)
{
	debugfs_remove(file);
}
module_exit(held_function_exit);

MODULE_DESCRIPTION("A function in whose callbacks a task is held");
MODULE_LICENSE("GPL");
