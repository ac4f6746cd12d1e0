// SPDX-License-Identifier: GPL-2.0
/*
 * Functions with floating point numbers, for args_test.c: compiled for the FPU, and with all of
 * their arguments, though their callers are here.
 */
#include <linux/compiler.h>

#include "args_test.h"

void args_test_float(long before, float number, double other, long after);
double args_test_return_float(float number, long after);

noinline __noclone void args_test_float(long before, float number, double other, long after)
{
	barrier();
}

noinline __noclone double args_test_return_float(float number, long after)
{
	barrier();
	return number;
}

void args_test_call_float(void)
{
	args_test_float(1, 2.5f, 3.5, 4);
	/* So that this is not a tail call */
	barrier();
}

void args_test_call_return_float(void)
{
	args_test_return_float(1.5f, 2);
	barrier();
}
