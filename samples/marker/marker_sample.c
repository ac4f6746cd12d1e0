// SPDX-License-Identifier: GPL-2.0
/*
 * This module contains markers and creates the file /sys/kernel/debug/marker_sample. A
 * write to the file passes the marker sample:line once for each line of the text, and
 * then sample:lines with the number of lines.
 *
 *	# cd /sys/kernel/tracing
 *	# echo 1 > events/sample/enable
 *	# printf 'one\nfour\n' > /sys/kernel/debug/marker_sample
 *	# cat trace
 *	  ...	line: 1 "one" of 3
 *	  ...	line: 2 "four" of 4
 *	  ...	lines: 2
 *
 * Filters work as for any event: echo 'arg3 > 3' > events/sample/line/filter
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

/* The compiler makes a site for each copy of a marker in an inline function. */
static inline void pass_line(int n, const char *line)
{
	trace_mark(sample, line, "%d \"%s\" of %zu", n, line, strlen(line));
}

static ssize_t sample_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char *text, *rest, *line;
	int n = 0;

	text = memdup_user_nul(ubuf, min_t(size_t, cnt, PAGE_SIZE));
	if (IS_ERR(text))
		return PTR_ERR(text);

	rest = strim(text);
	while ((line = strsep(&rest, "\n")))
		pass_line(++n, line);
	trace_mark(sample, lines, "%d", n);

	kfree(text);
	return min_t(size_t, cnt, PAGE_SIZE);
}

static const struct file_operations sample_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= sample_write,
};

static struct dentry *file;

static int __init sample_init(void)
{
	trace_mark(sample, init, "starting");
	file = debugfs_create_file("marker_sample", 0200, NULL, NULL, &sample_fops);
	return 0;
}
module_init(sample_init);

static void __exit sample_exit(void)
{
	debugfs_remove(file);
}
module_exit(sample_exit);

MODULE_DESCRIPTION("Markers");
MODULE_LICENSE("GPL");
