/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The short way into and out of a function, if the function_graph tracer of one instance
 * is all that wants to know of returns and nothing restricts what it follows. fgraph.c
 * includes this. trace_fast.h writes the events, which have the time that the shadow stack
 * gets, too: the clock is read once an event.
 *
 * Everything else is left to the ordinary functions, which have the same effect.
 */

#include <linux/fgraph_fast.h>

#include "trace_fast_recursion.h"

/* The top word of a frame that only @gops wants */
static __always_inline unsigned long fgraph_fast_word(const struct fgraph_ops *gops)
{
	return ((BIT(gops->idx) | BIT(0)) << FGRAPH_INDEX_SHIFT) |
	       (FGRAPH_TYPE_BITMAP << FGRAPH_TYPE_SHIFT) | FGRAPH_FRAME_OFFSET;
}

/*
 * As ftrace_push_return_trace(), in its order: whoever interrupts and unwinds finds the
 * frame's offset in the top word, before curr_ret_stack covers that. It may write a frame
 * of its own here until then, so everything is written afterwards.
 */
static __always_inline void fgraph_fast_push(struct task_struct *task, unsigned long ret,
					     unsigned long func, u64 time,
					     unsigned long *retp, unsigned long word)
{
	const int offset = READ_ONCE(task->curr_ret_stack);
	struct ftrace_ret_stack *ret_stack = RET_STACK(task, offset);

	task->ret_stack[offset + FGRAPH_FRAME_OFFSET] = word;
	ret_stack->ret = ret;
	barrier();
	WRITE_ONCE(task->curr_ret_stack, offset + FGRAPH_FRAME_OFFSET + 1);
	barrier();
	task->ret_stack[offset + FGRAPH_FRAME_OFFSET] = word;
	ret_stack->ret = ret;
	ret_stack->func = func;
	ret_stack->calltime = time;
	ret_stack->retp = retp;
}

/*
 * Write the event and push the frame. Preemption is off, and @own more often than on the
 * ordinary way. Returns false if nothing was done.
 */
static __always_inline bool fgraph_fast_enter(unsigned long ret, unsigned long func,
					      unsigned long *retp, unsigned int own)
{
	const struct fgraph_ops *gops = READ_ONCE(fgraph_direct_gops);
	struct task_struct *task = current;
	unsigned long *ret_stack = task->ret_stack;
	u64 time;

#ifdef HAVE_FUNCTION_GRAPH_FP_TEST
	return false;
#endif
	/* Again, with preemption off */
	if (unlikely(gops->entryfunc != trace_graph_entry || !ret_stack))
		return false;
	/* As in ftrace_push_return_trace(), the rest is read after ret_stack. */
	smp_rmb();
	if (unlikely(task->curr_ret_stack + FGRAPH_FRAME_OFFSET + 1 >= SHADOW_STACK_MAX_OFFSET ||
		     SHADOW_STACK_TASK_VARS(ret_stack)[gops->idx]))
		return false;

	/* What interrupts is one deeper. */
	task->curr_ret_depth++;
	barrier();
	if (unlikely(!trace_fast_graph_entry(gops->private, func, task->curr_ret_depth, own,
					     &time))) {
		task->curr_ret_depth--;
		return false;
	}
	fgraph_fast_push(task, ret, func, time, retp, fgraph_fast_word(gops));
	return true;
}

/* The events of function_graph_enter() tell that its caller has done this, too. */
static noinline bool fgraph_fast_enter_unlocked(unsigned long ret, unsigned long func,
						unsigned long *retp)
{
	bool entered;

	preempt_disable_notrace();
	entered = fgraph_fast_enter(ret, func, retp, 0);
	preempt_enable_notrace();
	return entered;
}

/**
 * function_graph_enter_fast - record that a function was called, and catch its return
 * @ret: where it returns to
 * @func: the function
 * @retp: where on the stack that is
 *
 * Nothing that can be traced is called with the frame half made, so this needs no
 * protection from recursion.
 *
 * Context: any.
 *
 * Return: true if the function is to return to return_to_handler; false if
 * function_graph_enter() is to be called, as nothing was done.
 */
bool function_graph_enter_fast(unsigned long ret, unsigned long func, unsigned long *retp)
{
	/* A look that is cheap for others that use returns */
	return static_call_query(fgraph_func) == trace_graph_entry && trace_fast_allowed() &&
	       fgraph_fast_enter_unlocked(ret, func, retp);
}

/*
 * For function_graph_enter(), where a caller protects from recursion. With the text sites
 * engine, the caller has tried before.
 */
static __always_inline bool fgraph_fast_enter_locked(unsigned long ret, unsigned long func,
						     unsigned long *retp)
{
	bool entered;

	if (IS_ENABLED(CONFIG_FTRACE_ENGINE_TEXT_SITES) ||
	    static_call_query(fgraph_func) != trace_graph_entry)
		return false;
	preempt_disable_notrace();
	entered = fgraph_fast_enter(ret, func, retp, IS_ENABLED(CONFIG_PREEMPT_COUNT));
	preempt_enable_notrace();
	return entered;
}

/* Write the event. Returns as the next function, and preemption is off. */
static __always_inline unsigned long fgraph_fast_leave(struct ftrace_regs *fregs,
						       struct task_struct *task, int top)
{
	const struct fgraph_ops *gops = READ_ONCE(fgraph_direct_gops);
	const struct ftrace_ret_stack *ret_stack;
	unsigned long retval = 0;

#ifdef HAVE_FUNCTION_GRAPH_FP_TEST
	return 0;
#endif
	if (unlikely(gops->retfunc != trace_graph_return || top < (int)FGRAPH_FRAME_OFFSET ||
		     task->ret_stack[top] != fgraph_fast_word(gops) ||
		     SHADOW_STACK_TASK_VARS(task->ret_stack)[gops->idx]))
		return 0;
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	retval = ftrace_regs_get_return_value(fregs);
#endif
	ret_stack = RET_STACK(task, top - FGRAPH_FRAME_OFFSET);
	if (unlikely(!trace_fast_graph_return(gops->private, ret_stack, retval,
					      task->curr_ret_depth)))
		return 0;
	return ret_stack->ret;
}

/*
 * Write the event and pop the frame. Returns where to return to, or 0 if nothing was done
 * and that is left to the ordinary function. An instance is freed after an RCU grace
 * period, so preemption is off for as long as it is in use.
 */
static __always_inline unsigned long fgraph_fast_return(struct ftrace_regs *fregs)
{
	struct task_struct *task = current;
	const int top = task->curr_ret_stack - 1;
	unsigned long ret;

	if (static_call_query(fgraph_retfunc) != trace_graph_return)
		return 0;
	preempt_disable_notrace();
	ret = fgraph_fast_leave(fregs, task, top);
	preempt_enable_notrace();
	if (unlikely(!ret))
		return 0;

	/*
	 * Only now, as another task may have run: whoever unwinds this one's stack finds
	 * return_to_handler on it, and needs the frame. What interrupts from here on may
	 * write to the frame.
	 */
	barrier();
	WRITE_ONCE(task->curr_ret_stack, top - FGRAPH_FRAME_OFFSET);
	task->curr_ret_depth--;
	return ret;
}
