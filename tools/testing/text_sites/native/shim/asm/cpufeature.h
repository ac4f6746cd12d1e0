/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_ASM_CPUFEATURE_H
#define _SHIM_ASM_CPUFEATURE_H

#include <linux/types.h>

/* A trampoline ends with a return, as on a processor that is safe with it. */
#define X86_FEATURE_RETHUNK		0
#define X86_FEATURE_NOPL		1
#define X86_FEATURE_CALL_DEPTH		2
#define cpu_feature_enabled(_feature)	((_feature) != X86_FEATURE_RETHUNK)

#endif /* _SHIM_ASM_CPUFEATURE_H */
