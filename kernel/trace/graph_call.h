/* SPDX-License-Identifier: GPL-2.0 */
/* What function_graph's event of a call says: options funcgraph-args and funcgraph-retaddr */
#ifndef _TRACE_GRAPH_CALL_H
#define _TRACE_GRAPH_CALL_H

#include "func_args.h"
#include "trace.h"

/* The options whose value an event of a call has, behind what each has */
#define GRAPH_CALL_MORE		(TRACE_GRAPH_PRINT_RETADDR | TRACE_GRAPH_PRINT_ARGS)

/* Besides them in fgraph_more: calls are kept until the outermost function returns. */
#define GRAPH_CALL_KEEP		BIT(31)

/**
 * struct graph_call - an event of a call, whichever of the two kinds it is
 * @ent: what each event begins with
 * @graph_ent: the function, and how deep it was called
 * @retaddr: where the function returns to, 0: was not recorded
 * @has_args: @args were recorded
 * @args: as they were in registers
 */
struct graph_call {
	struct trace_entry	ent;
	struct ftrace_graph_ent	graph_ent;
	unsigned long		retaddr;
	bool			has_args;
	unsigned long		args[FUNC_ARGS];
};

/* The size of an event with these options, in bytes */
static __always_inline unsigned int graph_call_size(u32 more)
{
	return sizeof(struct ftrace_graph_ent_entry) +
	       (more & TRACE_GRAPH_PRINT_RETADDR ? sizeof(long) : 0) +
	       (more & TRACE_GRAPH_PRINT_ARGS ? FUNC_ARGS * sizeof(long) : 0);
}

static __always_inline enum trace_type graph_call_type(u32 more)
{
	return more & TRACE_GRAPH_PRINT_RETADDR ? TRACE_GRAPH_RETADDR_ENT : TRACE_GRAPH_ENT;
}

/*
 * Where the function returns to whose frame is the topmost one. @ret is what the frame has:
 * that of a function that was jumped to from a traced one has return_to_handler, and the
 * next one knows more.
 */
static __always_inline unsigned long graph_call_retaddr(unsigned long ret)
{
	const void *handler = dereference_kernel_function_descriptor(return_to_handler);
	struct ftrace_ret_stack *frame;

	for (int i = 1; unlikely(ret == (unsigned long)handler); i++) {
		frame = ftrace_graph_get_ret_stack(current, i);
		if (!frame)
			break;
		ret = frame->ret;
	}
	return ret;
}

/* The words that @more asks for. @to need not be aligned to words. */
static __always_inline void graph_call_words(void *to, u32 more, unsigned long retaddr,
					     struct ftrace_regs *fregs)
{
	unsigned long args[FUNC_ARGS];

	if (more & TRACE_GRAPH_PRINT_RETADDR) {
		memcpy(to, &retaddr, sizeof(retaddr));
		to += sizeof(retaddr);
	}
	if (more & TRACE_GRAPH_PRINT_ARGS) {
		func_args_save(args, fregs);
		memcpy(to, args, sizeof(args));
	}
}

static __always_inline void graph_call_fill(struct ftrace_graph_ent_entry *entry, u32 more,
					    unsigned long retaddr, struct ftrace_regs *fregs)
{
	graph_call_words(entry->args, more, retaddr, fregs);
}

#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
static inline unsigned long graph_ret_value(const struct ftrace_graph_ret *ret)
{
	return ret->retval;
}

static inline void graph_ret_set_value(struct ftrace_graph_ret *ret, unsigned long value)
{
	ret->retval = value;
}
#else
static inline unsigned long graph_ret_value(const struct ftrace_graph_ret *ret)
{
	return 0;
}

static inline void graph_ret_set_value(struct ftrace_graph_ret *ret, unsigned long value)
{
}
#endif

int graph_call_write(struct trace_array *tr, const struct ftrace_graph_ent *trace,
		     struct ftrace_regs *fregs, unsigned int trace_ctx);
void graph_call_read(struct graph_call *call, const struct trace_iterator *iter);
void graph_call_print(struct trace_seq *s, const struct graph_call *call, unsigned long func,
		      u32 flags);
void graph_call_print_end(struct trace_seq *s, const struct trace_iterator *iter,
			  unsigned long func, const struct graph_call *call,
			  const struct ftrace_graph_ret *ret, u32 flags);

#endif /* _TRACE_GRAPH_CALL_H */
