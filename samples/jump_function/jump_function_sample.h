/* SPDX-License-Identifier: GPL-2.0 */
/* For modules that redirect the jump functions of the sample to functions of their own */
#ifndef _JUMP_FUNCTION_SAMPLE_H
#define _JUMP_FUNCTION_SAMPLE_H

#include <linux/jump_function.h>

DECLARE_DYNFUNC(jump_sample_none, int (void));
DECLARE_DYNFUNC(jump_sample_one, int (int a));
DECLARE_DYNFUNC(jump_sample_two, int (int a, int b));
DECLARE_DYNFUNC(jump_sample_three, int (int a, int b, int c));

#endif /* _JUMP_FUNCTION_SAMPLE_H */
