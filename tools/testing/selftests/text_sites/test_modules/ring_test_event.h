/* SPDX-License-Identifier: GPL-2.0 */
/* The event of ring_test.c */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ring_test

#if !defined(_RING_TEST_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RING_TEST_EVENT_H

#include <linux/tracepoint.h>

TRACE_EVENT(ring_test_pass,
	TP_PROTO(int context, u64 number, u64 time),
	TP_ARGS(context, number, time),
	TP_STRUCT__entry(
		__field(int, context)
		__field(u64, number)
		__field(u64, time)
	),
	TP_fast_assign(
		__entry->context = context;
		__entry->number = number;
		__entry->time = time;
	),
	TP_printk("%d %llu %llu", __entry->context, __entry->number, __entry->time)
);

#endif /* _RING_TEST_EVENT_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE ring_test_event
#include <trace/define_trace.h>
