/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Markers where no text is patched: a variable is loaded and tested, and the arguments are
 * put into an array for marker_call().
 *
 * The build leaves a pointer to each marker in a section, which is how the kernel knows it.
 */
#ifndef _ASM_GENERIC_MARKER_H
#define _ASM_GENERIC_MARKER_H

#include <linux/compiler.h>
#include <linux/marker_values.h>

/* Whether the marker has probes. It is but a hint: marker_call() looks for them. */
#define ARCH_MARKER_ON(which) ({					\
	static struct marker_site *__marker_ref __used			\
		__section("__marker_refs") = (which);			\
									\
	READ_ONCE((which)->on);						\
})

#define ARCH_MARKER_CALL(which, args...)				\
do {									\
	const u64 __marker_values[] = { MARKER_VALUES(args) };		\
									\
	marker_call(which, __marker_values);				\
} while (0)

#endif /* _ASM_GENERIC_MARKER_H */
