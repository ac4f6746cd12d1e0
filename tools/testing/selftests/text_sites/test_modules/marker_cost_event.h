/* SPDX-License-Identifier: GPL-2.0 */
/* What marker_cost.c compares markers with */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM marker_cost

#if !defined(_MARKER_COST_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _MARKER_COST_EVENT_H

#include <linux/tracepoint.h>

TRACE_EVENT(marker_cost_four,
	TP_PROTO(unsigned long a, unsigned long b, unsigned long c, const char *d),
	TP_ARGS(a, b, c, d),
	TP_STRUCT__entry(
		__field(unsigned long, a)
		__field(unsigned long, b)
		__field(unsigned long, c)
		__string(d, d)
	),
	TP_fast_assign(
		__entry->a = a;
		__entry->b = b;
		__entry->c = c;
		__assign_str(d);
	),
	TP_printk("%lu %lu %lu %s", __entry->a, __entry->b, __entry->c, __get_str(d))
);

TRACE_EVENT(marker_cost_two,
	TP_PROTO(unsigned long a, unsigned long b),
	TP_ARGS(a, b),
	TP_STRUCT__entry(
		__field(unsigned long, a)
		__field(unsigned long, b)
	),
	TP_fast_assign(
		__entry->a = a;
		__entry->b = b;
	),
	TP_printk("%lu %lu", __entry->a, __entry->b)
);

#endif /* _MARKER_COST_EVENT_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE marker_cost_event
#include <trace/define_trace.h>
