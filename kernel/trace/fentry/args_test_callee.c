// SPDX-License-Identifier: GPL-2.0
/* Functions with arguments and values of all sorts, for args_test.c */
#include <linux/compiler.h>

#include "args_test.h"

noinline void args_test_numbers(const signed char small, unsigned short word, int number,
				const char *text)
{
	barrier();
}

noinline void args_test_kinds(bool yes, bool no, enum args_test_signed sign,
			      enum args_test_long wide)
{
	barrier();
}

noinline void args_test_pairs(long a, struct args_test_pair pair, struct args_test_small small,
			      union args_test_union any, long z)
{
	barrier();
}

noinline void args_test_wide(__int128 wide, long after)
{
	barrier();
}

noinline void args_test_no_room(long a, long b, long c, long d, long e, struct args_test_pair pair,
				long last, long more)
{
	barrier();
}

noinline void args_test_stack(long before, struct args_test_large large, long after)
{
	barrier();
}

noinline void args_test_variable(long number, ...)
{
	barrier();
}

noinline struct args_test_large args_test_return_large(long number)
{
	return (struct args_test_large){ { number, number + 1, number + 2 } };
}

noinline struct args_test_pair args_test_return_pair(long number)
{
	return (struct args_test_pair){ number, number + 1, number + 2 };
}

noinline bool args_test_return_bool(void)
{
	barrier();
	return true;
}

noinline signed char args_test_return_char(void)
{
	barrier();
	return -1;
}

noinline unsigned int args_test_return_unsigned(void)
{
	barrier();
	return -1;
}

noinline enum args_test_signed args_test_return_enum(void)
{
	barrier();
	return ARGS_TEST_MINUS;
}
