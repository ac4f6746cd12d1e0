/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Markers where no text is patched: a variable is loaded and tested, and the arguments are
 * put into an array for marker_call().
 *
 * The build leaves a pointer to each marker in a section, which is how the kernel knows it.
 */
#ifndef _ASM_GENERIC_MARKER_H
#define _ASM_GENERIC_MARKER_H

#include <linux/args.h>
#include <linux/compiler.h>
#include <linux/types.h>

/* Whether the marker has probes. It is but a hint: marker_call() looks for them. */
#define ARCH_MARKER_ON(which) ({					\
	static struct marker_site *__marker_ref __used			\
		__section("__marker_refs") = (which);			\
									\
	READ_ONCE((which)->on);						\
})

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

#define ARCH_MARKER_CALL(which, args...)				\
do {									\
	const u64 __marker_values[] = {					\
		CONCATENATE(__MARKER_VALUES_, COUNT_ARGS(args))(args)	\
	};								\
									\
	marker_call(which, __marker_values);				\
} while (0)

#endif /* _ASM_GENERIC_MARKER_H */
