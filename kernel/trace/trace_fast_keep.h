/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What function_graph does for each call and each return inside of a tree that is kept, the
 * short way: see graph_keep.h. trace_fast_graph.h includes this.
 *
 * The order is that of the ordinary way, but that the record of a call is claimed before its
 * frame is pushed, as nothing can fail afterwards. What interrupts in between comes behind the
 * call, inside of it.
 */

/*
 * graph_keep_var is the index of the instance's variable in a task's shadow stack. The last word
 * of the instance's frames depends on that index alone, so an entry of graph_keep_tops never
 * changes once it is set. A CPU that has read graph_keep_var with preemption off therefore uses
 * the words and the trees of one instance, even if another one has been registered since.
 * graph_keep_stop() waits for such CPUs before it frees the trees.
 */
static unsigned long graph_keep_var __read_mostly;
static unsigned long graph_keep_tops[FGRAPH_FAST_NR] __read_mostly;

#define graph_keep_top(var)	(graph_keep_tops[(var) - FGRAPH_FAST_VARS])

static void graph_keep_fast_update(const struct trace_array *tr)
{
	graph_keep_top(tr->fgraph_var) = tr->fgraph_word;
	/* Pairs with the address dependency of graph_keep_leave(). */
	smp_store_release(&graph_keep_var, tr->fgraph_var);
}

#ifdef CONFIG_FTRACE_ENGINE_TEXT_SITES
#include <asm/fgraph_fast.h>

/*
 * Enter a function that is called in a tree. Preemption is off, and is switched on again.
 *
 * This is not used while set_graph_notrace has anything, but the task may be in a function that
 * it had.
 *
 * What is read twice would take a register that had to be saved.
 */
static noinline void graph_keep_enter(unsigned long ip, struct ftrace_regs *fregs,
				      unsigned long var)
{
	struct task_struct *task = current;
	struct graph_keep_record *record;
	unsigned long word, *stack, *slot;
	struct ftrace_ret_stack *frame;
	struct graph_keep_tree *tree;
	u64 time;

	if (unlikely(!trace_fast_allowed()) ||
	    unlikely(!rb_fast_is(task->tracing_graph_pause, 0)) || ftrace_graph_is_dead())
		goto slow;
	stack = READ_ONCE(task->ret_stack);
	if (unlikely(!stack))
		goto slow;
	/* As in graph_fast_enter() */
	smp_rmb();
	word = stack[var];
	if (unlikely((word & (GRAPH_KEEP_TREE | TRACE_GRAPH_NOTRACE)) != GRAPH_KEEP_TREE) ||
	    unlikely(task->curr_ret_stack >= FGRAPH_FAST_MAX - FGRAPH_FAST_TOP - 1))
		goto slow;
	tree = graph_keep_tree(word);
	/* graph_keep_call() gives it back. */
	if (unlikely(graph_keep_is_stale(tree, task->curr_ret_stack)))
		goto slow;
	record = graph_keep_claim_fast(tree);
	if (unlikely(!record))
		goto slow;

	time = rb_fast_clock();
	record->word = ip;
	record->time = time;
	task->curr_ret_depth++;
	OPTIMIZER_HIDE_VAR(fregs);
	slot = fgraph_return_slot(fregs);
	frame = graph_fast_push(task, READ_ONCE(task->ret_stack),
				READ_ONCE(task->curr_ret_stack) + FGRAPH_FAST_TOP + 1,
				graph_keep_top(var), *slot, ip, slot);
	frame->calltime = time;
	*slot = (unsigned long)return_to_handler;
	preempt_enable_notrace();
	return;

slow:
	preempt_enable_notrace();
	ftrace_graph_func_slow(ip, fregs);
}
#endif

#ifdef CONFIG_HAVE_FUNCTION_GRAPH_FREGS
/*
 * Leave such a function. A root has other data on top of its frame. Who is in a tree has a frame
 * at least. Preemption is off, and is switched on again.
 */
static noinline unsigned long graph_keep_leave(struct ftrace_regs *fregs)
{
	struct task_struct *task = current;
	unsigned long *stack = task->ret_stack;
	const struct ftrace_ret_stack *frame;
	struct graph_keep_record *record;
	unsigned long var, word, *top, ret;

	/* Pairs with smp_store_release() of what has led here. */
	smp_rmb();
	var = READ_ONCE(graph_keep_var);
	word = stack[var];
	if (unlikely((word & (GRAPH_KEEP_TREE | TRACE_GRAPH_NOTRACE)) != GRAPH_KEEP_TREE))
		goto slow;
	top = &stack[task->curr_ret_stack];
	if (unlikely(top[-1] != graph_keep_top(var)))
		goto slow;
	record = graph_keep_claim_fast(graph_keep_tree(word));
	if (unlikely(!record))
		goto slow;

	frame = (struct ftrace_ret_stack *)(top - FGRAPH_FAST_TOP - 1);
	record->word = graph_fast_value(fregs);
	record->time = (rb_fast_clock() - frame->calltime) | GRAPH_KEEP_RETURN;
	ret = frame->ret;
	preempt_enable_notrace();
	/* As in graph_fast_leave() */
	graph_fast_pop(task);
	return ret;

slow:
	preempt_enable_notrace();
	return ftrace_return_to_handler_slow(fregs);
}
#endif
