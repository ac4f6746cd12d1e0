// SPDX-License-Identifier: GPL-2.0
/*
 * This module registers a probe for the marker sample:line of marker_sample.ko. The
 * probe counts lines and characters, and /sys/kernel/debug/marker_probe_sample shows
 * the sums. The two modules may be loaded in any order.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/marker_probe.h>
#include <linux/module.h>
#include <linux/seq_file.h>

static const char name[] = "sample:line";

struct sums {
	atomic_t	lines;
	atomic64_t	characters;
};

static struct sums sums;

/* The compiler compares the types with the format. Do not keep the string. */
MARKER_PROBE(sample_probe, "%d \"%s\" of %zu", int, number, const char *, text, size_t, length)
{
	struct sums *to = private;

	atomic_inc(&to->lines);
	atomic64_add(length, &to->characters);
}

static int sums_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d lines, %lld characters\n", atomic_read(&sums.lines),
		   atomic64_read(&sums.characters));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sums);

static struct dentry *file;

static int __init probe_sample_init(void)
{
	int ret = marker_connect(name, &sample_probe, &sums);

	if (ret)
		return ret;
	file = debugfs_create_file("marker_probe_sample", 0400, NULL, NULL, &sums_fops);
	return 0;
}
module_init(probe_sample_init);

static void __exit probe_sample_exit(void)
{
	debugfs_remove(file);
	marker_disconnect(name, &sample_probe, &sums);
	marker_synchronize();
}
module_exit(probe_sample_exit);

MODULE_DESCRIPTION("A probe for a marker of another module");
MODULE_LICENSE("GPL");
