// SPDX-License-Identifier: GPL-2.0
/* functions_many: a thousand functions with a site each, functions_many_000 to _999 */
#include <linux/args.h>
#include <linux/module.h>

#ifndef NAME
#define NAME	functions_many
#endif

#define FUNCTION(name)							\
void name(void);							\
void name(void)								\
{									\
	barrier();							\
}
#define ONE(a, b, c)	FUNCTION(CONCATENATE(NAME, _##a##b##c))

#define TEN(a, b)							\
	ONE(a, b, 0) ONE(a, b, 1) ONE(a, b, 2) ONE(a, b, 3) ONE(a, b, 4)	\
	ONE(a, b, 5) ONE(a, b, 6) ONE(a, b, 7) ONE(a, b, 8) ONE(a, b, 9)
#define HUNDRED(a)							\
	TEN(a, 0) TEN(a, 1) TEN(a, 2) TEN(a, 3) TEN(a, 4)		\
	TEN(a, 5) TEN(a, 6) TEN(a, 7) TEN(a, 8) TEN(a, 9)

HUNDRED(0) HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4)
HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9)

MODULE_DESCRIPTION("A thousand functions");
MODULE_LICENSE("GPL");
