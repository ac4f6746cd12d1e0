// SPDX-License-Identifier: GPL-2.0
/*
 * function_graph's events of calls with more than a function and its depth: how they are
 * written where trace_fast_graph.h does not, and how calls and returns are printed then.
 *
 * The form is that of later kernels: what does not fit in C is in a comment at the end of the
 * line. A return's value has the type that BTF has for it there, and an error its name.
 */
#include <linux/ftrace.h>
#include <linux/trace_seq.h>

#include "graph_call.h"
#include "trace_output.h"

/**
 * graph_call_write - write the event of a call, with what the instance's options ask for
 * @tr: the instance
 * @trace: the call, whose frame is the topmost one of the current task
 * @fregs: the registers, where arguments are asked for
 * @trace_ctx: the context
 *
 * Context: any, preemption is off.
 * Return: 1: it was written; 0: not
 */
int graph_call_write(struct trace_array *tr, const struct ftrace_graph_ent *trace,
		     struct ftrace_regs *fregs, unsigned int trace_ctx)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	const struct ftrace_ret_stack *frame = ftrace_graph_get_ret_stack(current, 0);
	/* It may be set while this runs: see graph_trace_register_again(). */
	const u32 more = READ_ONCE(tr->fgraph_more);
	struct ftrace_graph_ent_entry *entry;
	struct ring_buffer_event *event;

	event = trace_buffer_lock_reserve(buffer, graph_call_type(more), graph_call_size(more),
					  trace_ctx);
	if (!event)
		return 0;
	entry = ring_buffer_event_data(event);
	entry->graph_ent = *trace;
	graph_call_fill(entry, more, frame ? graph_call_retaddr(frame->ret) : 0, fregs);
	trace_buffer_unlock_commit_nostack(buffer, event);
	return 1;
}

/**
 * graph_call_read - copy an event of a call, to be printed when it is no longer in the buffer
 * @call: where to
 * @iter: where the event is the current one
 *
 * Context: any.
 */
void graph_call_read(struct graph_call *call, const struct trace_iterator *iter)
{
	const struct ftrace_graph_ent_entry *entry = (void *)iter->ent;
	const bool has_retaddr = iter->ent->type == TRACE_GRAPH_RETADDR_ENT;
	const void *args = entry->args;

	call->ent = entry->ent;
	call->graph_ent = entry->graph_ent;
	call->retaddr = 0;
	if (has_retaddr) {
		memcpy(&call->retaddr, args, sizeof(call->retaddr));
		args += sizeof(call->retaddr);
	}
	call->has_args = (const void *)entry + iter->ent_size >= args + sizeof(call->args);
	if (call->has_args)
		memcpy(call->args, args, sizeof(call->args));
}

/**
 * graph_call_print - print a call
 * @s: where to
 * @call: the call
 * @func: its function, where this kernel has it
 * @flags: the tracer's options
 *
 * Context: see func_args_print().
 */
void graph_call_print(struct trace_seq *s, const struct graph_call *call, unsigned long func,
		      u32 flags)
{
	trace_seq_printf(s, "%ps", (void *)func);
	if ((flags & TRACE_GRAPH_PRINT_ARGS) && call->has_args)
		func_args_print(s, func, call->args);
	else
		trace_seq_puts(s, "()");
}

/**
 * graph_call_print_end - end a line: with a comment, if there is anything to say
 * @s: where to
 * @iter: which instance it is of
 * @func: the function, if it is to be named; 0: the line does that
 * @call: the call, if the line has one; NULL
 * @ret: the return, if the line has one; NULL
 * @flags: the tracer's options
 *
 * Context: see func_args_print().
 */
void graph_call_print_end(struct trace_seq *s, const struct trace_iterator *iter,
			  unsigned long func, const struct graph_call *call,
			  const struct ftrace_graph_ret *ret, u32 flags)
{
	const long delta = iter->tr->text_delta;
	const char *comment = " /*";

	if (func) {
		trace_seq_printf(s, "%s %ps", comment, (void *)func);
		comment = "";
	}
	if (call && call->retaddr && (flags & TRACE_GRAPH_PRINT_RETADDR)) {
		trace_seq_printf(s, "%s <-", comment);
		seq_print_ip_sym(s, call->retaddr + delta,
				 iter->tr->trace_flags | TRACE_ITER_SYM_OFFSET);
		comment = "";
	}
	if (ret && (flags & TRACE_GRAPH_PRINT_RETVAL) && !func_is_void(ret->func + delta)) {
		trace_seq_printf(s, "%s ret=", comment);
		if (flags & TRACE_GRAPH_PRINT_RETVAL_HEX)
			trace_seq_printf(s, "0x%lx", graph_ret_value(ret));
		else
			func_value_print(s, ret->func + delta, graph_ret_value(ret));
		comment = "";
	}
	trace_seq_puts(s, *comment ? "\n" : " */\n");
}
