// SPDX-License-Identifier: GPL-2.0
/*
 * copies_000: a small module with text sites of each kind, of which tests make many: its
 * name is in the names of all that it has, so that a module with another name of the same
 * length takes no more than to put that in its place, wherever the file has it.
 *
 * Reading its parameter `check` says whether they all work: "right" or "wrong".
 */
#include <linux/immediate.h>
#include <linux/jump_function.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

/* Each adds something else: of the same ones the compiler makes one. */
#define ONE(a, b)							\
static noinline __noclone int copies_000_f##a##b(int n)			\
{									\
	barrier();							\
	return n + 1##a##b;						\
}

#define TEN(a)								\
	ONE(a, 0) ONE(a, 1) ONE(a, 2) ONE(a, 3) ONE(a, 4)		\
	ONE(a, 5) ONE(a, 6) ONE(a, 7) ONE(a, 8) ONE(a, 9)

#define CALL(a, b)	copies_000_f##a##b(0)
#define CALL_TEN(a)							\
	(CALL(a, 0) + CALL(a, 1) + CALL(a, 2) + CALL(a, 3) + CALL(a, 4) + \
	 CALL(a, 5) + CALL(a, 6) + CALL(a, 7) + CALL(a, 8) + CALL(a, 9))

TEN(0)
TEN(1)
TEN(2)

DEFINE_DYNFUNC(copies_000_jump, copies_000_f00);
static DEFINE_IMV(int, copies_000_value, 5);
static unsigned int hits;

static int copies_000_two(int n)
{
	return n + 1000;
}

static void copies_000_probe(void *private, const u64 *args)
{
	hits += args[0];
}

static noinline int copies_000_pass(int n)
{
	trace_mark(copies_000, pass, "%d", n);
	return dynfunc_copies_000_jump(n) + imv_read(copies_000_value);
}

static noinline bool copies_000_works(void)
{
	bool right = copies_000_pass(1) == 106;

	right &= CALL_TEN(0) + CALL_TEN(1) + CALL_TEN(2) == 30 * 100 + 435;
	hits = 0;
	right &= !marker_probe_register("copies_000:pass", "%d", copies_000_probe, NULL);
	right &= !dynfunc_update(copies_000_jump, copies_000_two) && !imv_set(copies_000_value, 7);
	right &= copies_000_pass(3) == 1010 && hits == 3;
	right &= !dynfunc_update(copies_000_jump, copies_000_f00) && !imv_set(copies_000_value, 5);
	right &= !marker_probe_unregister("copies_000:pass", copies_000_probe, NULL);
	return right && copies_000_pass(1) == 106 && hits == 3;
}

static int copies_000_check(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%s\n", copies_000_works() ? "right" : "wrong");
}

static const struct kernel_param_ops check_ops = { .get = copies_000_check };

module_param_cb(check, &check_ops, NULL, 0400);
MODULE_DESCRIPTION("Text sites of each kind, to be copied");
MODULE_LICENSE("GPL");
