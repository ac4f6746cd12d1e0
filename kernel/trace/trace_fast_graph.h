/* SPDX-License-Identifier: GPL-2.0 */
/* What function_graph does for each call and each return, the short way: see trace_fast.h. */
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
#include "fgraph_fast.h"
#include "graph_call.h"
#include "graph_keep.h"

#ifdef HAVE_FUNCTION_GRAPH_FP_TEST
/* A frame has the frame pointer then, to be checked. */
#define FGRAPH_FAST	false
#else
#define FGRAPH_FAST	RB_FAST
#endif

/*
 * The instance whose function_graph is the only user of returns: for returns in any case,
 * for calls if no filter, list of pids or depth restricts it. 0 if there is no such one.
 *
 * GRAPH_FAST_OTHER instead of its address: for returns if it keeps trees, see trace_fast_keep.h;
 * for calls also if their events are to say more than which function it is. Then
 * graph_fast_other has the instance, or below FGRAPH_FAST_MAX_VAR, the variable of one that
 * keeps trees.
 */
static unsigned long graph_fast_entry __read_mostly;
static unsigned long graph_fast_other __read_mostly;
static unsigned long graph_fast_return __read_mostly;

#define GRAPH_FAST_OTHER	1ul
#define FGRAPH_FAST_MAX_VAR	(PAGE_SIZE / sizeof(long))

static DEFINE_MUTEX(graph_fast_mutex);
static void graph_keep_fast_update(const struct trace_array *tr);

/*
 * By lists of pids, set_graph_function, set_graph_notrace, max_graph_depth, or funcgraph-irqs.
 * Inside of a tree that is kept, set_graph_function does not matter, but events are of one kind
 * only.
 */
static bool graph_fast_restricted(const struct trace_array *tr)
{
	const bool keep = tr->fgraph_more & GRAPH_CALL_KEEP;

#ifdef CONFIG_DYNAMIC_FTRACE
	if (rcu_access_pointer(tr->function_pids) || rcu_access_pointer(tr->function_no_pids))
		return true;
	if (!keep && !ftrace_hash_empty(rcu_access_pointer(ftrace_graph_hash)))
		return true;
	if (!ftrace_hash_empty(rcu_access_pointer(ftrace_graph_notrace_hash)))
		return true;
#endif
	return fgraph_max_depth || ftrace_graph_skip_irqs ||
	       (keep && (tr->fgraph_more & GRAPH_CALL_MORE));
}

/**
 * fgraph_fast_update - decide whether functions may be entered and left the short way
 *
 * To be called after anything that decides it has changed, and before an instance that has
 * gone is freed, a grace period of RCU later: who uses an instance here has preemption off.
 * When several things change at a time, the last caller sees all of them. An instance that
 * is registered again has the words of its new index; a frame that is just being pushed
 * with the old ones gets its event, and is popped the ordinary way.
 *
 * Context: may sleep.
 */
void fgraph_fast_update(void)
{
	unsigned long entry, other = 0;
	struct trace_array *tr = NULL;
	struct fgraph_ops *gops;
	bool keep = false;

	guard(mutex)(&graph_fast_mutex);
	gops = READ_ONCE(fgraph_direct_gops);
	/* With a list of pids, entryfunc may be another. */
	if (FGRAPH_FAST && (gops->retfunc == graph_keep_return ||
			    (gops->saved_func == trace_graph_entry &&
			     gops->retfunc == trace_graph_return))) {
		tr = gops->private;
		tr->fgraph_word = fgraph_fast_word(gops->idx);
		tr->fgraph_var = FGRAPH_FAST_VARS + gops->idx;
		keep = tr->fgraph_more & GRAPH_CALL_KEEP;
	}
	entry = tr && graph_fast_restricted(tr) ? 0 : (unsigned long)tr;
	if (entry && tr->fgraph_more) {
		entry = GRAPH_FAST_OTHER;
		other = keep ? tr->fgraph_var : (unsigned long)tr;
	}
	if (keep)
		graph_keep_fast_update(tr);
	if (other)
		/* Pairs with smp_load_acquire(): who finds it finds @tr's words. */
		smp_store_release(&graph_fast_other, other);
	/*
	 * Pairs with smp_load_acquire(), or READ_ONCE() and what depends on that: who finds
	 * @tr finds its words, and who finds GRAPH_FAST_OTHER finds @other.
	 */
	smp_store_release(&graph_fast_entry, entry);
	/* So does this. */
	smp_store_release(&graph_fast_return, keep ? GRAPH_FAST_OTHER : (unsigned long)tr);
}

/*
 * Write the event of a call, with what @more asks for of @ret and @fregs. Preemption is off once
 * more than where the function is called, and the event says so, as on the ordinary way, where
 * the guard against recursion does it.
 */
static __always_inline bool trace_fast_graph_entry(struct trace_array *tr, unsigned long func,
						   u64 *time, u32 more, unsigned long ret,
						   struct ftrace_regs *fregs)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_per_cpu *cpu_buffer = rb_fast_cpu(buffer);
	struct ftrace_graph_ent_entry *entry;
	struct rb_fast fast __uninitialized;

	if (unlikely(!trace_fast_reserve(&fast, buffer, cpu_buffer, graph_call_type(more),
					 graph_call_size(more), 0, 0)))
		return false;
	entry = (struct ftrace_graph_ent_entry *)fast.event->array;
	entry->graph_ent.func = func;
	entry->graph_ent.depth = current->curr_ret_depth;
	graph_call_fill(entry, more, ret, fregs);
	*time = fast.ts;
	trace_fast_commit(&fast, cpu_buffer);
	return true;
}

static __always_inline unsigned long graph_fast_value(struct ftrace_regs *fregs)
{
	return IS_ENABLED(CONFIG_FUNCTION_GRAPH_RETVAL) ? ftrace_regs_get_return_value(fregs) : 0;
}

/* Write the event of a return. @frame: the function's, in the shadow stack */
static __always_inline bool trace_fast_graph_return(struct trace_array *tr,
						    const struct ftrace_ret_stack *frame,
						    struct ftrace_regs *fregs)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_per_cpu *cpu_buffer = rb_fast_cpu(buffer);
	struct ftrace_graph_ret_entry *entry;
	struct rb_fast fast __uninitialized;

	if (unlikely(!trace_fast_reserve(&fast, buffer, cpu_buffer, TRACE_GRAPH_RET,
					 sizeof(*entry), IS_ENABLED(CONFIG_PREEMPT_COUNT), 0)))
		return false;
	entry = (struct ftrace_graph_ret_entry *)fast.event->array;
	entry->ret.func = frame->func;
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	entry->ret.retval = ftrace_regs_get_return_value(fregs);
#endif
	entry->ret.depth = current->curr_ret_depth;
	entry->ret.overrun = atomic_read(&current->trace_overrun);
	entry->ret.calltime = frame->calltime;
	entry->ret.rettime = fast.ts;
	/* The fields that nobody sets */
	entry->calltime = 0;
	entry->rettime = 0;
	trace_fast_commit(&fast, cpu_buffer);
	return true;
}

/* What it remembers for a task: that it is in a function of one of the two filters */
#define GRAPH_FAST_VAR	(TRACE_GRAPH_FL | TRACE_GRAPH_NOTRACE)

/*
 * Push a frame for one user, in the order of ftrace_push_return_trace(): an interrupt that
 * unwinds finds the frame's size in the top word before curr_ret_stack, which becomes @end,
 * covers that. Until then an interrupt may push frames of its own here, so everything is
 * written again, or only, afterwards.
 */
static __always_inline struct ftrace_ret_stack *
graph_fast_push(struct task_struct *task, unsigned long *stack, int end, unsigned long word,
		unsigned long ret, unsigned long func, unsigned long *retp)
{
	struct ftrace_ret_stack *frame = (void *)&stack[end - FGRAPH_FAST_TOP - 1];
	unsigned long *top = (unsigned long *)(frame + 1);

	WRITE_ONCE(*top, word);
	WRITE_ONCE(frame->ret, ret);
	barrier();
	WRITE_ONCE(task->curr_ret_stack, end);
	barrier();
	WRITE_ONCE(*top, word);
	WRITE_ONCE(frame->ret, ret);
	frame->func = func;
	frame->retp = retp;
	return frame;
}

/* Who unwinds finds the frame until curr_ret_stack is lower; an interrupt may reuse it then. */
static __always_inline void graph_fast_pop(struct task_struct *task)
{
	barrier();
	task->curr_ret_stack -= FGRAPH_FAST_TOP + 1;
	task->curr_ret_depth--;
}

/*
 * Push the frame and write the event of a call, in the order of the ordinary way: what
 * interrupts is one deeper. Nothing that can be traced is called with the frame half made,
 * so this needs no protection from recursion. Preemption is off: @tr is freed an RCU grace
 * period after it has gone from graph_fast_entry.
 */
static __always_inline struct ftrace_ret_stack *
graph_fast_enter(struct trace_array *tr, unsigned long ret, unsigned long func,
		 unsigned long *retp, u32 more, struct ftrace_regs *fregs)
{
	struct task_struct *task = current;
	unsigned long *stack = READ_ONCE(task->ret_stack);
	struct ftrace_ret_stack *frame;
	int end;
	u64 time;

	if (unlikely(!stack || tracing_thresh))
		return NULL;
	/* As in ftrace_push_return_trace(), the rest is read after ret_stack. */
	smp_rmb();
	/* What interrupts leaves it as it was. */
	end = task->curr_ret_stack + FGRAPH_FAST_TOP + 1;
	if (unlikely(end >= FGRAPH_FAST_MAX || (stack[tr->fgraph_var] & GRAPH_FAST_VAR)))
		return NULL;

	task->curr_ret_depth++;
	frame = graph_fast_push(task, stack, end, tr->fgraph_word, ret, func, retp);
	if (more & TRACE_GRAPH_PRINT_RETADDR)
		ret = graph_call_retaddr(ret);
	if (unlikely(!trace_fast_graph_entry(tr, func, &time, more, ret, fregs))) {
		graph_fast_pop(task);
		return NULL;
	}
	frame->calltime = time;
	return frame;
}

#include "trace_fast_keep.h"

#ifdef CONFIG_FTRACE_ENGINE_TEXT_SITES
#include <asm/fgraph_fast.h>

/* Preemption is off, and is switched on again. */
static __always_inline void graph_fast_call_with(unsigned long ip, struct ftrace_regs *fregs,
						 struct trace_array *tr, u32 more)
{
	const struct ftrace_ret_stack *frame = NULL;
	unsigned long *slot;

	if (likely(trace_fast_allowed()) && likely(rb_fast_is(current->tracing_graph_pause, 0)) &&
	    !ftrace_graph_is_dead()) {
		/* Another callback may have changed where it returns to. */
		slot = fgraph_return_slot(fregs);
		frame = graph_fast_enter(tr, *slot, ip, slot, more, fregs);
		if (likely(frame))
			*frame->retp = (unsigned long)return_to_handler;
	}
	preempt_enable_notrace();
	if (unlikely(!frame))
		ftrace_graph_func_slow(ip, fregs);
}

static noinline void graph_fast_call(unsigned long ip, struct ftrace_regs *fregs,
				     struct trace_array *tr)
{
	graph_fast_call_with(ip, fregs, tr, 0);
}

static noinline void graph_fast_call_more(unsigned long ip, struct ftrace_regs *fregs,
					  struct trace_array *tr)
{
	const u32 more = READ_ONCE(tr->fgraph_more);

	/* Each has a size of its own, which is a constant. */
	if (more == TRACE_GRAPH_PRINT_ARGS) {
		graph_fast_call_with(ip, fregs, tr, TRACE_GRAPH_PRINT_ARGS);
	} else if (more == GRAPH_CALL_MORE) {
		graph_fast_call_with(ip, fregs, tr, GRAPH_CALL_MORE);
	} else if (likely(more == TRACE_GRAPH_PRINT_RETADDR)) {
		graph_fast_call_with(ip, fregs, tr, TRACE_GRAPH_PRINT_RETADDR);
	} else {
		/* They have changed since the caller looked: none is set, or trees are kept. */
		preempt_enable_notrace();
		ftrace_graph_func_slow(ip, fregs);
	}
}

/**
 * ftrace_graph_func - record that a function was called, and catch its return
 * @ip: the site
 * @parent_ip: not used
 * @op: not used
 * @fregs: those registers that have arguments
 *
 * It is in two parts so that users of returns that do not go the short way need not save
 * registers for it.
 *
 * Context: any.
 */
void ftrace_graph_func(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	unsigned long to;

	if (FGRAPH_FAST && likely(!fgraph_too_early(fregs))) {
		preempt_disable_notrace();
		/* Pairs with fgraph_fast_update(). */
		to = smp_load_acquire(&graph_fast_entry);
		if (likely(to > GRAPH_FAST_OTHER)) {
			graph_fast_call(ip, fregs, (struct trace_array *)to);
			return;
		}
		if (to == GRAPH_FAST_OTHER) {
			/* So does this. */
			to = smp_load_acquire(&graph_fast_other);
			if (to >= FGRAPH_FAST_MAX_VAR)
				graph_fast_call_more(ip, fregs, (struct trace_array *)to);
			else
				graph_keep_enter(ip, fregs, to);
			return;
		}
		preempt_enable_notrace();
	}
	ftrace_graph_func_slow(ip, fregs);
}

#define GRAPH_FAST_LOCKED	false	/* That was tried before. */
#else
/* Of those that call function_graph_enter(), these have preemption off and check for recursion. */
#define GRAPH_FAST_LOCKED	(FGRAPH_FAST && (IS_ENABLED(CONFIG_X86) || IS_ENABLED(CONFIG_PPC)))
#endif

/**
 * function_graph_enter_regs - record that a function was called, and note where it returns to
 * @ret: where that is
 * @func: the function
 * @frame_pointer: its frame pointer, where the architecture has that checked
 * @retp: where on the stack it has the address to return to
 * @fregs: registers, those at least that have arguments; NULL if there are none
 *
 * Context: any; the caller protects from recursion, and has preemption off.
 *
 * Return: 0: it is to return to return_to_handler; -EBUSY: nobody wants to know of it, or
 * there is no room
 */
int function_graph_enter_regs(unsigned long ret, unsigned long func,
			      unsigned long frame_pointer, unsigned long *retp,
			      struct ftrace_regs *fregs)
{
	unsigned long to = GRAPH_FAST_LOCKED ? READ_ONCE(graph_fast_entry) : 0;

	if (to > GRAPH_FAST_OTHER &&
	    likely(graph_fast_enter((struct trace_array *)to, ret, func, retp, 0, NULL)))
		return 0;
	return function_graph_enter_slow(ret, func, frame_pointer, retp, fregs);
}

#ifdef CONFIG_HAVE_FUNCTION_GRAPH_FREGS
/* Preemption is off, and is switched on again. */
static noinline unsigned long graph_fast_leave(struct ftrace_regs *fregs, struct trace_array *tr)
{
	struct task_struct *task = current;
	const long top = (long)task->curr_ret_stack - 1;
	unsigned long *stack = task->ret_stack;
	const struct ftrace_ret_stack *frame;
	unsigned long ret = 0;

	if (likely(top >= FGRAPH_FAST_TOP) && likely(stack[top] == tr->fgraph_word) &&
	    likely(!(stack[tr->fgraph_var] & GRAPH_FAST_VAR))) {
		frame = (struct ftrace_ret_stack *)&stack[top - FGRAPH_FAST_TOP];
		if (likely(trace_fast_graph_return(tr, frame, fregs)))
			ret = frame->ret;
	}
	preempt_enable_notrace();
	if (unlikely(!ret))
		return ftrace_return_to_handler_slow(fregs);

	/*
	 * Only now, as another task may have run: whoever unwinds this one's stack finds
	 * return_to_handler on it, and needs the frame.
	 */
	graph_fast_pop(task);
	return ret;
}

/**
 * ftrace_return_to_handler - write function_graph's event of a return, and pop its frame
 * @fregs: with the function's value
 *
 * Context: any.
 *
 * Return: where the function would have returned to
 */
unsigned long ftrace_return_to_handler(struct ftrace_regs *fregs)
{
	unsigned long to;

	if (FGRAPH_FAST) {
		preempt_disable_notrace();
		to = READ_ONCE(graph_fast_return);
		if (likely(to > GRAPH_FAST_OTHER))
			return graph_fast_leave(fregs, (struct trace_array *)to);
		if (to == GRAPH_FAST_OTHER)
			return graph_keep_leave(fregs);
		preempt_enable_notrace();
	}
	return ftrace_return_to_handler_slow(fregs);
}
#endif
#endif
