// SPDX-License-Identifier: GPL-2.0
/*
 * jump_provider: points the sample's jump functions at functions of its own, and
 * goes without pointing them back.
 */
#include <linux/jump_function.h>
#include <linux/module.h>

/* As in samples/jump_function/jump_function_sample.h */
DECLARE_DYNFUNC(jump_sample_none, int (void));
DECLARE_DYNFUNC(jump_sample_two, int (int a, int b));

static noinline int provided_none(void)
{
	return 9000;
}

static noinline int provided_two(int a, int b)
{
	return 9000 + 10 * a + b;
}

static int __init jump_provider_init(void)
{
	const struct dynfunc_change changes[] = {
		DYNFUNC_CHANGE(jump_sample_none, provided_none),
		DYNFUNC_CHANGE(jump_sample_two, provided_two),
	};
	int ret = dynfunc_update_batch(changes, ARRAY_SIZE(changes));

	if (ret)
		return ret;
	if (dynfunc_target(jump_sample_two) != provided_two)
		return -EIO;
	return 0;
}
module_init(jump_provider_init);

static void __exit jump_provider_exit(void)
{
}
module_exit(jump_provider_exit);

MODULE_DESCRIPTION("Targets of jump functions of another module");
MODULE_LICENSE("GPL");
