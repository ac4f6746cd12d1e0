/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SEQLOCK_TYPES_H
#define _SHIM_LINUX_SEQLOCK_TYPES_H

#include <linux/types.h>

typedef struct { struct { u32 sequence; } seqcount; } seqcount_latch_t;

#endif /* _SHIM_LINUX_SEQLOCK_TYPES_H */
