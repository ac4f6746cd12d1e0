// SPDX-License-Identifier: GPL-2.0
/*
 * The function tracer's callback: writes an event for each call.
 */
#include <linux/ftrace.h>

#include "event.h"

/**
 * function_trace_call - record that a function was called
 * @ip: the site
 * @parent_ip: the function's return address
 * @op: its private data is the instance
 * @fregs: not used
 *
 * There is no protection from recursion here but that of the ring buffer: nothing
 * that can be traced runs before it. A traced function that it calls itself gets
 * here again and finds that an event is being written.
 *
 * Context: any.
 */
void function_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			 struct ftrace_regs *fregs)
{
	struct trace_array *tr = op->private;
	struct trace_buffer *buffer;
	struct ftrace_entry *entry;
	unsigned int context;

	if (unlikely(tr->buffer_disabled || !tr->function_enabled || !event_enabled(tr)))
		return;

	context = event_context();
	if (static_branch_unlikely(&trace_function_exports_enabled)) {
		trace_function(tr, ip, parent_ip, context);
		return;
	}

	buffer = tr->array_buffer.buffer;
	if (!event_begin(buffer, TRACE_FN, sizeof(*entry), context, (void **)&entry))
		return;
	entry->ip = ip;
	entry->parent_ip = parent_ip;
	event_end(buffer);
}
