/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_ASM_NOSPEC_BRANCH_H
#define _SHIM_ASM_NOSPEC_BRANCH_H

#include <asm/cpufeature.h>

void x86_return_thunk(void);

#endif /* _SHIM_ASM_NOSPEC_BRANCH_H */
