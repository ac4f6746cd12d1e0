// SPDX-License-Identifier: GPL-2.0
/*
 * This module defines four jump functions, which take from no to three arguments, and
 * creates a file for each of them in /sys/kernel/debug/jump_function/. Reading a file
 * calls the jump function. Writing 0, 1 or 2 to the file selects one of three targets,
 * each of which returns its own number as the thousands of the result.
 *
 *	# cd /sys/kernel/debug/jump_function
 *	# cat two
 *	two(1, 2) = 12
 *	# echo 2 > two
 *	# cat two
 *	two(1, 2) = 2012
 *
 * Writing to the file `all` updates all four jump functions in one batch. The module
 * exports them, so another module can redirect them to functions of its own.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "jump_function_sample.h"

#define TARGETS(name, n, proto, value)					\
static noinline int name##_##n proto					\
{									\
	return (n) * 1000 + (value);					\
}

TARGETS(none, 0, (void), 0)
TARGETS(none, 1, (void), 0)
TARGETS(none, 2, (void), 0)

TARGETS(one, 0, (int a), a)
TARGETS(one, 1, (int a), a)
TARGETS(one, 2, (int a), a)

TARGETS(two, 0, (int a, int b), 10 * a + b)
TARGETS(two, 1, (int a, int b), 10 * a + b)
TARGETS(two, 2, (int a, int b), 10 * a + b)

TARGETS(three, 0, (int a, int b, int c), 100 * a + 10 * b + c)
TARGETS(three, 1, (int a, int b, int c), 100 * a + 10 * b + c)
TARGETS(three, 2, (int a, int b, int c), 100 * a + 10 * b + c)

DEFINE_DYNFUNC(jump_sample_none, none_0);
DEFINE_DYNFUNC(jump_sample_one, one_0);
DEFINE_DYNFUNC(jump_sample_two, two_0);
DEFINE_DYNFUNC(jump_sample_three, three_0);
EXPORT_DYNFUNC_GPL(jump_sample_none);
EXPORT_DYNFUNC_GPL(jump_sample_one);
EXPORT_DYNFUNC_GPL(jump_sample_two);
EXPORT_DYNFUNC_GPL(jump_sample_three);

/* The changes that writing 0, 1 or 2 makes */
static const struct dynfunc_change changes[][4] = {
	{
		DYNFUNC_CHANGE(jump_sample_none, none_0),
		DYNFUNC_CHANGE(jump_sample_one, one_0),
		DYNFUNC_CHANGE(jump_sample_two, two_0),
		DYNFUNC_CHANGE(jump_sample_three, three_0),
	}, {
		DYNFUNC_CHANGE(jump_sample_none, none_1),
		DYNFUNC_CHANGE(jump_sample_one, one_1),
		DYNFUNC_CHANGE(jump_sample_two, two_1),
		DYNFUNC_CHANGE(jump_sample_three, three_1),
	}, {
		DYNFUNC_CHANGE(jump_sample_none, none_2),
		DYNFUNC_CHANGE(jump_sample_one, one_2),
		DYNFUNC_CHANGE(jump_sample_two, two_2),
		DYNFUNC_CHANGE(jump_sample_three, three_2),
	},
};

/* The files, in the order of the changes. The last one stands for all of them. */
static const char *const names[] = { "none", "one", "two", "three", "all" };

static int sample_show(struct seq_file *m, void *v)
{
	const unsigned long file = (unsigned long)m->private;
	const bool all = file == ARRAY_SIZE(names) - 1;

	if (all || file == 0)
		seq_printf(m, "none() = %d\n", dynfunc_jump_sample_none());
	if (all || file == 1)
		seq_printf(m, "one(1) = %d\n", dynfunc_jump_sample_one(1));
	if (all || file == 2)
		seq_printf(m, "two(1, 2) = %d\n", dynfunc_jump_sample_two(1, 2));
	if (all || file == 3)
		seq_printf(m, "three(1, 2, 3) = %d\n", dynfunc_jump_sample_three(1, 2, 3));
	return 0;
}

static int sample_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, sample_show, inode->i_private);
}

static ssize_t sample_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	const unsigned long file = (unsigned long)file_inode(filp)->i_private;
	unsigned int n;
	int ret;

	ret = kstrtouint_from_user(ubuf, cnt, 0, &n);
	if (ret)
		return ret;
	if (n >= ARRAY_SIZE(changes))
		return -EINVAL;

	if (file == ARRAY_SIZE(names) - 1)
		ret = dynfunc_update_batch(changes[n], ARRAY_SIZE(changes[n]));
	else
		ret = dynfunc_update_batch(&changes[n][file], 1);
	return ret ?: cnt;
}

static const struct file_operations sample_fops = {
	.owner		= THIS_MODULE,
	.open		= sample_open,
	.read		= seq_read,
	.write		= sample_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static struct dentry *dir;

static int __init sample_init(void)
{
	unsigned long i;

	dir = debugfs_create_dir("jump_function", NULL);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		debugfs_create_file(names[i], 0600, dir, (void *)i, &sample_fops);
	return 0;
}
module_init(sample_init);

static void __exit sample_exit(void)
{
	debugfs_remove(dir);
}
module_exit(sample_exit);

MODULE_DESCRIPTION("Jump functions with no to three arguments");
MODULE_LICENSE("GPL");
