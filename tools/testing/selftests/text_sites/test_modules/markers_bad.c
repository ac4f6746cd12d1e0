// SPDX-License-Identifier: GPL-2.0
/*
 * markers_bad: markers whose strings are none or have no end, and one whose event cannot be.
 * Writing to its parameter `pass` passes them.
 */
#include <linux/compiler.h>
#include <linux/marker.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

/*
 * Nothing is ever at @wild: no address of the kernel, or the last page of all. @low is what is
 * read through a pointer that is NULL.
 */
static char *null, *good = "good";
static char *wild = (char *)(long)(IS_ENABLED(CONFIG_64BIT) ? 0xdead000000000000ull : 0xfffff000);
static char *low = (char *)16;

/* No string has an end: behind the second one there is nothing. */
static int pass_endless(void)
{
	char *page = vmalloc(PAGE_SIZE);

	if (!page)
		return -ENOMEM;
	memset(page, 'x', PAGE_SIZE);
	memcpy(page + PAGE_SIZE - 8, "the last", 8);
	trace_mark(bad, endless, "head=%.16s tail=%.8s none=%.0s name=%s", page,
		   page + PAGE_SIZE - 8, page, READ_ONCE(good));
	trace_mark(bad, fault, "%s|%s", page + PAGE_SIZE - 4, READ_ONCE(good));
	trace_mark(bad, many, "%s%s%s%s%s%s%s%s", page, page, page, page, page, page, page, page);
	vfree(page);
	return 0;
}

static int pass(const char *text, const struct kernel_param *kp)
{
	trace_mark(bad, strings, "%s|%s|%s|%s|%s|%.2s", READ_ONCE(null), READ_ONCE(wild),
		   READ_ONCE(low), (char *)current->mm->arg_start, READ_ONCE(good),
		   READ_ONCE(good));
	trace_mark(bad, text, "%s\n", text);
	/* A tracepoint's event has this name. */
	trace_mark(sched, sched_switch, "%d", 1);
	trace_mark(bad, types, "%hhd %hu %d %ld %c %% \"%ps\"\n", (signed char)-1,
		   (unsigned short)65535, -2, -3L, 'x', pass);
	return pass_endless();
}

static const struct kernel_param_ops pass_ops = { .set = pass };

module_param_cb(pass, &pass_ops, NULL, 0200);

MODULE_DESCRIPTION("Markers that are no good");
MODULE_LICENSE("GPL");
