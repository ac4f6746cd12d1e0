// SPDX-License-Identifier: GPL-2.0
/*
 * markers_named: markers whose formats name their fields, or do not. Writing to its parameter
 * `pass` passes all of them.
 */
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

/* No function of the kernel has arguments of these types. */
static noinline void own_types(char a, short b, const char *text, long long c)
{
	asm volatile("" : : "r" (a), "r" (b), "r" (text), "r" ((long)c));
}

/* The kernel has a function of this name, which has other arguments. */
static int devkmsg_write(const char *text, const struct kernel_param *kp)
{
	const unsigned int len = strlen(text);

	own_types(*text, len, text, len);
	trace_mark(named, equals, "dev=%s len=%u", text, len);
	trace_mark(named, colon, "state: %d, next : %d", 1, 2);
	trace_mark(named, quoted, "file=\"%s\" at=0x%lx in=[%d] of=(%u)", text, 16ul, 3, len);
	trace_mark(named, after_percent, "100%% size=%zu", sizeof(int));
	trace_mark(named, same, "a=%d b=%d a=%d", 1, 2, 3);
	trace_mark(named, taken, "common_pid=%d arg1=%d arg7=%d argument=%d", 1, 2, 3, 4);
	trace_mark(named, no_identifier, "%d %d:%d 9=%d -=%d a->b =%d = %d", 1, 2, 3, 4, 5, 6, 7);
	trace_mark(named, keywords, "int=%d if=%d sizeof=%d REC=%d", 1, 2, 3, 4);
	return 0;
}

static const struct kernel_param_ops pass_ops = { .set = devkmsg_write };

module_param_cb(pass, &pass_ops, NULL, 0200);

MODULE_DESCRIPTION("Markers with names of fields");
MODULE_LICENSE("GPL");
