// SPDX-License-Identifier: GPL-2.0
/* When fgraph.c, which includes this, takes the short way; see fgraph_fast.h. */
#include <linux/fgraph_fast.h>

#include "fgraph_fast.h"
#include "trace_fast_recursion.h"

const struct fgraph_fast fgraph_fast = {
	.gops	= &fgraph_direct_gops,
	.top	= FGRAPH_FRAME_OFFSET,
	.max	= SHADOW_STACK_MAX_OFFSET,
	.vars	= SHADOW_STACK_OFFSET - FGRAPH_ARRAY_SIZE,
	.shift	= FGRAPH_INDEX_SHIFT,
	.word	= (BIT(0) << FGRAPH_INDEX_SHIFT) |
		  (FGRAPH_TYPE_BITMAP << FGRAPH_TYPE_SHIFT) | FGRAPH_FRAME_OFFSET,
};

#ifdef HAVE_FUNCTION_GRAPH_FP_TEST
/* A frame has the frame pointer then, to be checked. */
#define FGRAPH_FAST	false
#else
#define FGRAPH_FAST	true
#endif

/**
 * function_graph_enter_fast - record that a function was called, and catch its return
 * @ret: where it returns to
 * @func: the function
 * @retp: where on the stack that is
 *
 * Context: any.
 *
 * Return: true if the function is to return to return_to_handler; false if
 * function_graph_enter() is to be called, as nothing was done.
 */
bool function_graph_enter_fast(unsigned long ret, unsigned long func, unsigned long *retp)
{
	/* A look that is cheap for others that use returns */
	return FGRAPH_FAST && static_call_query(fgraph_func) == trace_graph_entry &&
	       trace_fast_allowed() && trace_fast_graph_enter(ret, func, retp, 0);
}

/*
 * For function_graph_enter(), where a caller protects from recursion and so has switched
 * preemption off. With the text sites engine, the caller has tried before.
 */
static __always_inline bool fgraph_fast_enter_locked(unsigned long ret, unsigned long func,
						     unsigned long *retp)
{
	return FGRAPH_FAST && !IS_ENABLED(CONFIG_FTRACE_ENGINE_TEXT_SITES) &&
	       static_call_query(fgraph_func) == trace_graph_entry &&
	       trace_fast_graph_enter(ret, func, retp, IS_ENABLED(CONFIG_PREEMPT_COUNT));
}

/* Returns where to return to, or 0 if that is left to the ordinary function. */
static __always_inline unsigned long fgraph_fast_return(struct ftrace_regs *fregs)
{
	return FGRAPH_FAST && static_call_query(fgraph_retfunc) == trace_graph_return ?
	       trace_fast_graph_leave(fregs) : 0;
}
