/* SPDX-License-Identifier: GPL-2.0 */
/* A file in debugfs that takes addresses of function entries, one a line, in one write */
#ifndef _SITES_H
#define _SITES_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static DEFINE_MUTEX(sites_mutex);
static unsigned long *sites;
static unsigned int nr_sites;

static ssize_t sites_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char *text, *rest, *line;
	unsigned long *new;
	int ret = 0;

	if (*ppos)
		return -EINVAL;

	/* At least two characters for each */
	new = kvmalloc_array(cnt / 2 + 1, sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	text = memdup_user_nul(ubuf, cnt);
	if (IS_ERR(text)) {
		kvfree(new);
		return PTR_ERR(text);
	}

	mutex_lock(&sites_mutex);
	kvfree(sites);
	sites = new;
	nr_sites = 0;
	rest = text;
	while (!ret && (line = strsep(&rest, "\n")) && *line)
		ret = kstrtoul(line, 16, &sites[nr_sites++]);
	if (ret)
		nr_sites = 0;
	mutex_unlock(&sites_mutex);
	kfree(text);
	*ppos += ret ? 0 : cnt;
	return ret ?: cnt;
}

static const struct file_operations sites_fops = {
	.open	= simple_open,
	.write	= sites_write,
};

#endif /* _SITES_H */
