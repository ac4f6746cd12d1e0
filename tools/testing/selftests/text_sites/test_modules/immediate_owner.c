// SPDX-License-Identifier: GPL-2.0
/*
 * immediate_owner: an immediate value for other modules. Its parameters:
 *
 *   limit	sets it, and reads it
 *   both	sets it and another, `twice`, to twice as much, in one run of the patcher
 *   sum	reads it and adds the other
 */
#include <linux/immediate.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "immediate_owner.h"

DEFINE_IMV(long, test_limit, 64);
EXPORT_IMV_SYMBOL_GPL(test_limit);
DEFINE_IMV(u16, test_twice, 128);
EXPORT_IMV_SYMBOL_GPL(test_twice);

static int limit_set(const char *text, const struct kernel_param *kp)
{
	long limit;
	int ret = kstrtol(text, 0, &limit);

	return ret ?: imv_set(test_limit, limit);
}

static int limit_get(char *text, const struct kernel_param *kp)
{
	return sprintf(text, "%ld\n", imv_read(test_limit));
}

static const struct kernel_param_ops limit_ops = { .set = limit_set, .get = limit_get };

module_param_cb(limit, &limit_ops, NULL, 0600);

static int both_set(const char *text, const struct kernel_param *kp)
{
	u8 limit;
	int ret = kstrtou8(text, 0, &limit);

	if (ret)
		return ret;
	imv_assign(test_limit, limit);
	imv_assign(test_twice, 2 * limit);
	return imv_commit();
}

static int both_get(char *text, const struct kernel_param *kp)
{
	return sprintf(text, "%ld %u\n", imv_read(test_limit), imv_read(test_twice));
}

static const struct kernel_param_ops both_ops = { .set = both_set, .get = both_get };

module_param_cb(both, &both_ops, NULL, 0600);

MODULE_DESCRIPTION("An immediate value for other modules");
MODULE_LICENSE("GPL");
