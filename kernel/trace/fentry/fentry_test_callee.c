// SPDX-License-Identifier: GPL-2.0
/* Functions with an entry to attach to, for fentry_test.c */
#include <linux/compiler.h>

#include "fentry_test.h"

noinline long fentry_test_callee(long a, long b, long c, long d, long e, long f)
{
	return a + 10 * (b + 10 * (c + 10 * (d + 10 * (e + 10 * f))));
}

/* To be got to by changing where fentry_test_callee() goes on */
noinline notrace long fentry_test_other(long a, long b, long c, long d, long e, long f)
{
	return f + a + 10 * (b + 10 * (c + 10 * (d + 10 * (e + 10 * f))));
}

noinline long fentry_test_caller(void)
{
	long ret = fentry_test_callee(1, 2, 3, 4, 5, 6);

	/* So that this is not a tail call */
	barrier();
	return ret;
}

/* The flags that it was entered with, as nothing changes them before */
noinline unsigned long fentry_test_flags(void)
{
	unsigned long flags;

	asm volatile("pushf; pop %0" : "=r" (flags));
	return flags;
}
