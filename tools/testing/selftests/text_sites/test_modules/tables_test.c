// SPDX-License-Identifier: GPL-2.0
/*
 * tables_test: a module with text sites of each kind. Reading its parameter `check` says
 * whether they all work: "right" or "wrong".
 */
#include <linux/immediate.h>
#include <linux/jump_function.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

static DEFINE_IMV(int, tables_test_value, 5);
static DEFINE_IMV(u64, tables_test_wide, 1ull << 40);
static unsigned int hits;

static noinline int first(int a)
{
	return a + 1;
}

static noinline int second(int a)
{
	return a + 2;
}

DEFINE_DYNFUNC(tables_test_one, first);
DEFINE_DYNFUNC(tables_test_other, second);

static void probe(void *private, const u64 *args)
{
	hits += args[0];
}

static noinline u64 pass(int a)
{
	trace_mark(tables_test, pass, "%d", a);
	trace_mark(tables_test, again, "%d %s", a, "text");
	if (imv_cond(tables_test_value))
		a += imv_read(tables_test_value);
	return a + imv_read(tables_test_wide);
}

static bool works(void)
{
	bool right = dynfunc_tables_test_one(1) == 2 && dynfunc_tables_test_other(1) == 3;

	hits = 0;
	right &= pass(1) == (1ull << 40) + 6;
	right &= !marker_probe_register("tables_test:pass", "%d", probe, NULL);
	right &= !dynfunc_update(tables_test_one, second);
	right &= !imv_set(tables_test_value, 0) && !imv_set(tables_test_wide, 7);
	right &= dynfunc_tables_test_one(1) == 3 && pass(2) == 9 && hits == 2;
	right &= !dynfunc_update(tables_test_one, first);
	right &= !imv_set(tables_test_value, 5) && !imv_set(tables_test_wide, 1ull << 40);
	right &= !marker_probe_unregister("tables_test:pass", probe, NULL);
	return right && pass(3) == (1ull << 40) + 8 && hits == 2;
}

static int check(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%s\n", works() ? "right" : "wrong");
}

static const struct kernel_param_ops check_ops = { .get = check };

module_param_cb(check, &check_ops, NULL, 0400);

static int __init tables_test_init(void)
{
	trace_mark(tables_test, pass, "%d", imv_read(tables_test_value));
	return 0;
}

static void __exit tables_test_exit(void)
{
	trace_mark(tables_test, pass, "%d", 0);
}

module_init(tables_test_init);
module_exit(tables_test_exit);
MODULE_DESCRIPTION("Text sites of each kind");
MODULE_LICENSE("GPL");
