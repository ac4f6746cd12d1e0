/* SPDX-License-Identifier: GPL-2.0 */
/* Functions with arguments and values of all sorts, for args_test.c */
#ifndef _FENTRY_ARGS_TEST_H
#define _FENTRY_ARGS_TEST_H

#include <linux/types.h>

/* In two words, of which the second is not full */
struct args_test_pair {
	u32	a, b, c;
};

/* In one word that is not full */
struct args_test_small {
	u8	a, b, c;
};

/* Too large for registers */
struct args_test_large {
	long	word[3];
};

union args_test_union {
	long	number;
	char	*text;
};

enum args_test_signed { ARGS_TEST_MINUS = -2, ARGS_TEST_PLUS = 2 };
enum args_test_long { ARGS_TEST_LONG = 1ul << 40 };

void args_test_numbers(const signed char small, unsigned short word, int number, const char *text);
void args_test_kinds(bool yes, bool no, enum args_test_signed sign, enum args_test_long wide);
void args_test_pairs(long a, struct args_test_pair pair, struct args_test_small small,
		     union args_test_union any, long z);
void args_test_wide(__int128 wide, long after);
void args_test_no_room(long a, long b, long c, long d, long e, struct args_test_pair pair,
		       long last, long more);
void args_test_stack(long before, struct args_test_large large, long after);
void args_test_variable(long number, ...);

struct args_test_large args_test_return_large(long number);
struct args_test_pair args_test_return_pair(long number);
bool args_test_return_bool(void);
signed char args_test_return_char(void);
unsigned int args_test_return_unsigned(void);
enum args_test_signed args_test_return_enum(void);

/* These have floating point numbers: only in the FPU's sections */
void args_test_call_float(void);
void args_test_call_return_float(void);

#endif /* _FENTRY_ARGS_TEST_H */
