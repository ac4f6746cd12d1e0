// SPDX-License-Identifier: GPL-2.0
/*
 * long_name: a function the name of which has 576 characters, more than KSYM_NAME_LEN.
 */
#include <linux/module.h>

#define JOIN_(a, b)	a##b
#define JOIN(a, b)	JOIN_(a, b)
#define LONG_32		JOIN(long_name_long_name_, long_name_12)
#define LONG_64		JOIN(LONG_32, LONG_32)
#define LONG_128	JOIN(LONG_64, LONG_64)
#define LONG_256	JOIN(LONG_128, LONG_128)
#define LONG_512	JOIN(LONG_256, LONG_256)

int JOIN(LONG_512, LONG_64)(int n);

noinline int JOIN(LONG_512, LONG_64)(int n)
{
	return n + 1;
}

MODULE_DESCRIPTION("A function with a long name");
MODULE_LICENSE("GPL");
