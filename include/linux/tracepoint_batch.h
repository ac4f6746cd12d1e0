/* SPDX-License-Identifier: GPL-2.0 */
/* Batches: many tracepoints, and their static keys, switched with few changes of text */
#ifndef _LINUX_TRACEPOINT_BATCH_H
#define _LINUX_TRACEPOINT_BATCH_H

#include <linux/types.h>

#ifdef CONFIG_TRACEPOINT_BATCH

void tracepoint_batch_begin(bool enable);
void tracepoint_batch_end(void);

/* For those: kernel/jump_label.c */
void static_key_batch_begin(bool enable);
void static_key_batch_flush(void);
void static_key_batch_end(void);

#else

static inline void tracepoint_batch_begin(bool enable) { }
static inline void tracepoint_batch_end(void) { }

#endif /* CONFIG_TRACEPOINT_BATCH */

#endif /* _LINUX_TRACEPOINT_BATCH_H */
