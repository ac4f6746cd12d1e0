/* SPDX-License-Identifier: GPL-2.0 */
/* The arguments of a marker as an array of 64-bit words: how marker_call() gets them */
#ifndef _LINUX_MARKER_VALUES_H
#define _LINUX_MARKER_VALUES_H

#include <linux/args.h>
#include <linux/types.h>

/* What to convert an argument to first, so that it is extended as its own type says */
#define __MARKER_TYPE(x)						\
	__typeof__(_Generic(1 ? (x) : (x), int: 0l, long: 0l, long long: 0ll, \
			    unsigned long long: 0ull, default: 0ul))
#define __MARKER_VALUE(x)	((u64)(__MARKER_TYPE(x))(x))

#define __MARKER_VALUES_0()
#define __MARKER_VALUES_1(a)	__MARKER_VALUE(a)
#define __MARKER_VALUES_2(a, more...)					\
	__MARKER_VALUE(a), __MARKER_VALUES_1(more)
#define __MARKER_VALUES_3(a, more...)					\
	__MARKER_VALUE(a), __MARKER_VALUES_2(more)
#define __MARKER_VALUES_4(a, more...)					\
	__MARKER_VALUE(a), __MARKER_VALUES_3(more)
#define __MARKER_VALUES_5(a, more...)					\
	__MARKER_VALUE(a), __MARKER_VALUES_4(more)
#define __MARKER_VALUES_6(a, more...)					\
	__MARKER_VALUE(a), __MARKER_VALUES_5(more)
#define __MARKER_VALUES_7(a, more...)					\
	__MARKER_VALUE(a), __MARKER_VALUES_6(more)
#define __MARKER_VALUES_8(a, more...)					\
	__MARKER_VALUE(a), __MARKER_VALUES_7(more)

/**
 * MARKER_VALUES - the initialiser of such an array
 * @args: up to eight integers and pointers
 */
#define MARKER_VALUES(args...)	CONCATENATE(__MARKER_VALUES_, COUNT_ARGS(args))(args)

#endif /* _LINUX_MARKER_VALUES_H */
