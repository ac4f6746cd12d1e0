// SPDX-License-Identifier: GPL-2.0
/*
 * The function tracer's callback: writes an event for each call.
 */
#include <linux/ftrace.h>
#include <linux/trace_recursion.h>

#include "event.h"

static __always_inline void write_event(struct trace_array *tr, unsigned long ip,
					unsigned long parent_ip, unsigned int context)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ftrace_entry *entry;

	if (!event_begin(buffer, TRACE_FN, sizeof(*entry), context, (void **)&entry))
		return;
	entry->ip = ip;
	entry->parent_ip = parent_ip;
	event_end(buffer);
}

/*
 * Each instance has a ring buffer of its own. With only those to stop it, recursion
 * would try them all at each of its levels.
 */
static noinline void write_guarded(struct trace_array *tr, unsigned long ip,
				   unsigned long parent_ip)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);
	unsigned int context;

	if (bit < 0)
		return;

	/* That has switched preemption off. */
	context = tracing_gen_ctx_dec();
	if (static_branch_unlikely(&trace_function_exports_enabled))
		trace_function(tr, ip, parent_ip, context);
	else
		write_event(tr, ip, parent_ip, context);
	ftrace_test_recursion_unlock(bit);
}

/**
 * function_trace_call - record that a function was called
 * @ip: the site
 * @parent_ip: the function's return address
 * @op: its private data is the instance
 * @fregs: not used
 *
 * In the top instance there is no protection from recursion but that of the ring
 * buffer: nothing that can be traced runs before it. A traced function that it calls
 * itself gets here again and finds that an event is being written.
 *
 * Context: any.
 */
void function_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			 struct ftrace_regs *fregs)
{
	struct trace_array *tr = op->private;

	if (unlikely(tr->buffer_disabled || !tr->function_enabled || !event_enabled(tr)))
		return;

	if (!(tr->flags & TRACE_ARRAY_FL_GLOBAL) ||
	    static_branch_unlikely(&trace_function_exports_enabled))
		write_guarded(tr, ip, parent_ip);
	else
		write_event(tr, ip, parent_ip, event_context());
}
