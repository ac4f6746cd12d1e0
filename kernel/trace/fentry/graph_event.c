// SPDX-License-Identifier: GPL-2.0
/*
 * The function graph tracer's callbacks: write an event when a function is called,
 * and another when it returns.
 *
 * Interrupts stay on: events of functions that they call are written between the
 * two steps of writing one, which the ring buffer can do.
 */
#include <linux/ftrace.h>
#include <linux/rcupdate.h>

#include "event.h"

/* Where it begins to follow calls; see ftrace_graph_addr() */
static __always_inline bool graph_follows(unsigned long *task_var,
					  struct ftrace_graph_ent *trace)
{
	if (trace->depth < 0 || (fgraph_max_depth && trace->depth >= fgraph_max_depth))
		return false;

	/* No filter: that needs no look at it. */
	return (*task_var & TRACE_GRAPH_FL) || !rcu_access_pointer(ftrace_graph_hash) ||
	       ftrace_graph_addr(task_var, trace);
}

static __always_inline bool graph_stops(unsigned long addr)
{
	return rcu_access_pointer(ftrace_graph_notrace_hash) && ftrace_graph_notrace_addr(addr);
}

static __always_inline bool graph_skips_irq(void)
{
	return ftrace_graph_skip_irqs && !trace_recursion_test(TRACE_IRQ_BIT) && in_hardirq();
}

/**
 * trace_graph_entry - record that a function was called
 * @trace: which
 * @gops: its private data is the instance
 *
 * Context: any, with preemption off.
 *
 * Return: 1 if trace_graph_return() is to be called when it returns, 0 if not.
 */
int trace_graph_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
{
	unsigned long *task_var = fgraph_get_task_var(gops);
	struct trace_array *tr = gops->private;
	struct ftrace_graph_ent_entry *entry;
	struct trace_buffer *buffer;

	if (*task_var & TRACE_GRAPH_NOTRACE)
		return 0;
	if (unlikely(graph_stops(trace->func))) {
		/* Nor what it calls: its return ends that. */
		*task_var |= TRACE_GRAPH_NOTRACE;
		return 1;
	}
	if (!ftrace_trace_task(tr) || !graph_follows(task_var, trace) || graph_skips_irq())
		return 0;
	/* Only calls that take that long are written, once that is known. */
	if (tracing_thresh)
		return 1;
	if (!event_enabled(tr))
		return 0;

	buffer = tr->array_buffer.buffer;
	if (!event_begin(buffer, TRACE_GRAPH_ENT, sizeof(*entry), event_context(),
			 (void **)&entry))
		return 0;
	entry->graph_ent = *trace;
	event_end(buffer);
	return 1;
}

/**
 * trace_graph_return - record that a function returns
 * @trace: which
 * @gops: its private data is the instance
 *
 * Removing the instance waits for an RCU grace period: preemption is off for as long
 * as it is in use here.
 *
 * Context: any.
 */
void trace_graph_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	unsigned long *task_var = fgraph_get_task_var(gops);
	struct trace_array *tr = gops->private;
	struct ftrace_graph_ret_entry *entry;
	struct trace_buffer *buffer;

	guard(preempt_notrace)();

	if (unlikely(*task_var)) {
		/* Back from where it began to follow calls, or stopped */
		ftrace_graph_addr_finish(gops, trace);
		if (*task_var & TRACE_GRAPH_NOTRACE) {
			*task_var &= ~TRACE_GRAPH_NOTRACE;
			return;
		}
	}
	if (!event_enabled(tr))
		return;

	buffer = tr->array_buffer.buffer;
	if (!event_begin(buffer, TRACE_GRAPH_RET, sizeof(*entry), event_context_dec(),
			 (void **)&entry))
		return;
	entry->ret = *trace;
	event_end(buffer);
}
