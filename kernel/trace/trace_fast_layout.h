/* SPDX-License-Identifier: GPL-2.0 */
/* Events that are made of numbers, for trace_fast_events.h to write them in one piece. */
#ifndef _TRACE_FAST_LAYOUT_H
#define _TRACE_FAST_LAYOUT_H

#include <linux/types.h>

#define TRACE_FAST_FIELDS	8

/**
 * struct trace_fast_layout - what such an event looks like; an event's call->data
 * @slow: the probe that writes it whatever there is to be taken care of
 * @length: in the ring buffer, in bytes; 0: it cannot be written in one piece
 * @type: the event's, once it has one
 * @field: where in the entry, and how large in bytes: 1, 2, 4 or 8; 0: there are no more
 */
struct trace_fast_layout {
	void			(*slow)(void *file, const u64 *values);
	u16			length;
	u16			type;
	struct trace_fast_field {
		u16		at;
		u16		size;
	} field[TRACE_FAST_FIELDS + 1];
};

u16 trace_fast_length(unsigned int size);
void trace_fast_probe(void *file, const u64 *values);

#endif /* _TRACE_FAST_LAYOUT_H */
