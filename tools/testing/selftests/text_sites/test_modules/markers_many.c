// SPDX-License-Identifier: GPL-2.0
/*
 * markers_many: a thousand markers, many:e000 to many:e999. Writing to its parameter
 * `pass` passes all of them.
 */
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#define ONE(a, b, c)	trace_mark(many, e##a##b##c, "%d %s", 100 * a + 10 * b + c, text);
#define TEN(a, b)							\
	ONE(a, b, 0) ONE(a, b, 1) ONE(a, b, 2) ONE(a, b, 3) ONE(a, b, 4)	\
	ONE(a, b, 5) ONE(a, b, 6) ONE(a, b, 7) ONE(a, b, 8) ONE(a, b, 9)
#define HUNDRED(a)							\
	TEN(a, 0) TEN(a, 1) TEN(a, 2) TEN(a, 3) TEN(a, 4)		\
	TEN(a, 5) TEN(a, 6) TEN(a, 7) TEN(a, 8) TEN(a, 9)

static int pass(const char *text, const struct kernel_param *kp)
{
	HUNDRED(0) HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4)
	HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9)
	return 0;
}

static const struct kernel_param_ops pass_ops = { .set = pass };

module_param_cb(pass, &pass_ops, NULL, 0200);

MODULE_DESCRIPTION("A thousand markers");
MODULE_LICENSE("GPL");
