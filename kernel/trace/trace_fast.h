/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tracers do for each event, the short way. ring_buffer.c includes this: from the
 * callback or probe on there is no call.
 *
 * The function tracers have no protection from recursion but that of the ring buffer, as
 * nothing that can be traced runs here, except for wake-ups. Those are rare and have that
 * of function tracing; as long as it is held, and in whatever else the base protects,
 * these tracers' events are written the ordinary way.
 *
 * Preemption is switched on again without protection, too. If another task is to run then,
 * what the scheduler calls is traced; the ordinary way still has its protection there, and
 * leaves these functions out.
 */
#include <linux/ftrace.h>

#include "fgraph_fast.h"
#include "trace_fast_recursion.h"

/* Somebody wants events, not only through tracefs. */
DECLARE_STATIC_KEY_FALSE(trace_function_exports_enabled);
DECLARE_STATIC_KEY_FALSE(trace_event_exports_enabled);
/* This task is in a trace: at its next switch, its name is noted. */
DECLARE_PER_CPU(bool, trace_taskinfo_save);

#ifdef CONFIG_SMP
static __always_inline bool trace_fast_migration_disabled(void)
{
	return current->migration_disabled;
}
#else
static __always_inline bool trace_fast_migration_disabled(void)
{
	return false;
}
#endif

/* Is this anything but a task that may run on? */
static __always_inline bool trace_fast_unusual(unsigned int depth)
{
	return unlikely(depth > 0xf) || unlikely(test_preempt_need_resched()) ||
	       /* Racy: another CPU may set it, just before or after. */
	       unlikely(data_race(current_thread_info()->flags) & _TIF_NEED_RESCHED) ||
	       unlikely(trace_fast_migration_disabled()) ||
	       unlikely(IS_ENABLED(CONFIG_PREEMPT_RT) && softirq_count());
}

static rb_fast_rare unsigned int trace_fast_unusual_context(unsigned int own, unsigned int dec)
{
	return (tracing_gen_ctx() & ~0xfU) +
	       min_t(unsigned int, (preempt_count() & PREEMPT_MASK) - own, 0xf) - dec;
}

/*
 * As tracing_gen_ctx(), which is asked only if it has anything to add.
 * @own: how often preemption is off that the ordinary way would not have switched it off
 * @dec: how often it is off that the event does not tell. There is no more than 15 to
 *	 subtract it from.
 */
static __always_inline unsigned int trace_fast_context(unsigned int own, unsigned int dec)
{
	const unsigned int depth = preempt_count();

	if (trace_fast_unusual(depth))
		return rb_fast_call(trace_fast_unusual_context, own, dec);
	return depth - own - dec + (irqs_disabled() ? TRACE_FLAG_IRQS_OFF << 16 : 0);
}

/* The first word of an event has the type, the flags and the preemption count, in this order. */
#ifdef CONFIG_CPU_BIG_ENDIAN
#define TRACE_FAST_TYPE		16
#define TRACE_FAST_FLAGS	8
#define TRACE_FAST_COUNT	0
#else
#define TRACE_FAST_TYPE		0
#define TRACE_FAST_FLAGS	16
#define TRACE_FAST_COUNT	24
#endif

/* As tracing_generic_entry_update() with the context, which most tasks have in a word */
static __always_inline void trace_fast_fill(struct trace_entry *entry, unsigned short type,
					    unsigned int own, unsigned int dec)
{
	const unsigned int depth = preempt_count();

	BUILD_BUG_ON(offsetof(struct trace_entry, flags) != 2 ||
		     offsetof(struct trace_entry, preempt_count) != 3 ||
		     TRACE_FLAG_IRQS_OFF != 1);
	if (unlikely(trace_fast_unusual(depth))) {
		tracing_generic_entry_update(entry, type,
					     rb_fast_call(trace_fast_unusual_context, own, dec));
		return;
	}
	/* With all that is constant in one number */
	*(u32 *)entry = (depth << TRACE_FAST_COUNT) - (!irqs_disabled() << TRACE_FAST_FLAGS) +
			((u32)type << TRACE_FAST_TYPE) + (1u << TRACE_FAST_FLAGS) -
			((own + dec) << TRACE_FAST_COUNT);
	entry->pid = current->pid;
}

#ifdef CONFIG_EVENT_TRACING
/* An event with one of these may be wanted elsewhere first, or not be wanted. */
#define TRACE_FAST_NOT							\
	(EVENT_FILE_FL_PID_FILTER | EVENT_FILE_FL_FILTERED | EVENT_FILE_FL_SOFT_DISABLED |	\
	 EVENT_FILE_FL_TRIGGER_COND)

/**
 * trace_event_buffer_reserve - reserve an event of an instance
 * @fbuffer: is filled in
 * @file: the event
 * @len: of its data
 *
 * Context: a probe. Preemption stays off until trace_event_buffer_commit().
 *
 * Return: the event's data, or NULL if it is not to be recorded
 */
void *trace_event_buffer_reserve(struct trace_event_buffer *fbuffer,
				 struct trace_event_file *file, unsigned long len)
{
	struct trace_buffer *buffer = file->tr->array_buffer.buffer;
	struct ring_buffer_event *event;
	unsigned int context;

	if (unlikely(file->flags & TRACE_FAST_NOT))
		return trace_event_buffer_reserve_slow(fbuffer, file, len);
	event = rb_fast_lock_reserve(buffer, len, NULL);
	if (unlikely(!event))
		return trace_event_buffer_reserve_slow(fbuffer, file, len);

	/* The tracepoint has switched preemption off, too. */
	context = trace_fast_context(IS_ENABLED(CONFIG_PREEMPT_COUNT),
				     IS_ENABLED(CONFIG_PREEMPTION));
	tracing_generic_entry_update((struct trace_entry *)event->array,
				     file->event_call->event.type, context);
	fbuffer->buffer = buffer;
	fbuffer->event = event;
	fbuffer->trace_file = file;
	fbuffer->entry = event->array;
	fbuffer->trace_ctx = context;
	fbuffer->regs = NULL;
	return event->array;
}
EXPORT_SYMBOL_GPL(trace_event_buffer_reserve);

#ifndef trace_event_buffer_commit_slow
/**
 * trace_event_buffer_commit - commit, filter or discard an event, and run its triggers
 * @fbuffer: what trace_event_buffer_reserve() has filled in
 *
 * The event may have been reserved in the ordinary way, even outside of the buffer. Stack
 * traces leave out a fixed number of callers: the ordinary way is called last, by a jump.
 *
 * Context: a probe.
 */
void trace_event_buffer_commit(struct trace_event_buffer *fbuffer)
{
	const struct trace_event_file *file = fbuffer->trace_file;

	if (unlikely((file->flags & TRACE_FAST_NOT) | tracepoint_printk |
		     (file->tr->trace_flags & (TRACE_ITER_STACKTRACE |
					       TRACE_ITER_USERSTACKTRACE))) ||
	    static_branch_unlikely(&trace_event_exports_enabled) ||
	    unlikely(this_cpu_read(trace_buffered_event) == fbuffer->event)) {
		trace_event_buffer_commit_slow(fbuffer);
		return;
	}
	__this_cpu_write(trace_taskinfo_save, true);
	if (unlikely(!rb_fast_unlock_commit(fbuffer->buffer, NULL)))
		trace_event_buffer_commit_slow(fbuffer);
}
#endif
EXPORT_SYMBOL_GPL(trace_event_buffer_commit);
#endif

#ifdef CONFIG_FUNCTION_TRACER
/*
 * This CPU's buffer of an instance, if an event may be written to it the short way.
 * Preemption is off.
 */
static __always_inline struct ring_buffer_per_cpu *
trace_fast_buffer(const struct trace_array *tr, const struct trace_buffer *buffer)
{
	if (unlikely(raw_cpu_read(tr->array_buffer.data->disabled.counter)))
		return NULL;
	return buffer->buffers[raw_smp_processor_id()];
}

/* Reserve an event of a fixed size, the data of which begins with struct trace_entry. */
static __always_inline bool
trace_fast_reserve(struct rb_fast *fast, struct trace_buffer *buffer,
		   struct ring_buffer_per_cpu *cpu_buffer, unsigned short type,
		   unsigned int size, unsigned int own, unsigned int dec)
{
	const unsigned int length = RB_EVNT_HDR_SIZE + ALIGN(size, RB_ALIGNMENT);

	BUILD_BUG_ON(size > RB_MAX_SMALL_DATA || size <= RB_LEN_TIME_EXTEND);
	if (unlikely(!rb_fast_reserve(fast, buffer, cpu_buffer, length, NULL)))
		return false;
	trace_fast_fill((struct trace_entry *)fast->event->array, type, own, dec);
	return true;
}

static rb_fast_rare void trace_fast_wake(struct trace_buffer *buffer,
					 struct ring_buffer_per_cpu *cpu_buffer)
{
	int bit = ftrace_test_recursion_trylock(_THIS_IP_, _RET_IP_);

	rb_wakeups(buffer, cpu_buffer);
	if (bit >= 0)
		ftrace_test_recursion_unlock(bit);
}

static __always_inline void trace_fast_commit(const struct rb_fast *fast,
					      struct ring_buffer_per_cpu *cpu_buffer)
{
	__this_cpu_write(trace_taskinfo_save, true);
	rb_fast_finish(fast, cpu_buffer, trace_fast_wake, NULL);
}

static __always_inline bool trace_fast_function(struct trace_array *tr, unsigned long ip,
						unsigned long parent_ip)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_per_cpu *cpu_buffer = trace_fast_buffer(tr, buffer);
	struct ftrace_entry *entry;
	struct rb_fast fast __uninitialized;

	if (unlikely(!cpu_buffer || !trace_fast_reserve(&fast, buffer, cpu_buffer, TRACE_FN,
							sizeof(*entry), 0,
							IS_ENABLED(CONFIG_PREEMPTION))))
		return false;
	entry = (struct ftrace_entry *)fast.event->array;
	entry->ip = ip;
	entry->parent_ip = parent_ip;
	trace_fast_commit(&fast, cpu_buffer);
	return true;
}

/**
 * function_trace_call - record that a function was called
 * @ip: the site
 * @parent_ip: the function's return address
 * @op: its private data is the instance
 * @fregs: not used
 *
 * Context: any.
 */
void function_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			 struct ftrace_regs *fregs)
{
	struct trace_array *tr = op->private;
	bool done;

	/* Enabled, and not disabled: both are 0 or 1. */
	if (unlikely(tr->function_enabled <= tr->buffer_disabled))
		return;
	if (RB_FAST && likely(trace_fast_allowed()) &&
	    !static_branch_unlikely(&trace_function_exports_enabled)) {
		preempt_disable_notrace();
		done = trace_fast_function(tr, ip, parent_ip);
		preempt_enable_notrace();
		if (likely(done))
			return;
	}
	function_trace_call_slow(ip, parent_ip, op, NULL);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* set_graph_function and set_graph_notrace; preemption is off. */
#ifdef CONFIG_DYNAMIC_FTRACE
static __always_inline bool graph_fast_filtered(void)
{
	return !ftrace_hash_empty(rcu_dereference_protected(ftrace_graph_hash, true)) ||
	       !ftrace_hash_empty(rcu_dereference_protected(ftrace_graph_notrace_hash, true));
}
#else
static __always_inline bool graph_fast_filtered(void)
{
	return false;
}
#endif

/* Is there something that function_graph looks at for each function? */
static __always_inline bool graph_fast_restricted(struct trace_array *tr)
{
	return graph_fast_filtered() ||
	       (tracing_thresh | fgraph_max_depth | ftrace_graph_skip_irqs) ||
	       !ftrace_trace_task(tr);
}

/* Write the event of a call. @own: as trace_fast_context() */
static __always_inline bool trace_fast_graph_entry(struct trace_array *tr, unsigned long func,
						   int depth, unsigned int own, u64 *time)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_per_cpu *cpu_buffer = trace_fast_buffer(tr, buffer);
	struct ftrace_graph_ent_entry *entry;
	struct rb_fast fast __uninitialized;

	if (unlikely(!cpu_buffer || graph_fast_restricted(tr) || depth < 0 ||
		     !trace_fast_reserve(&fast, buffer, cpu_buffer, TRACE_GRAPH_ENT,
					 sizeof(*entry), own, 0)))
		return false;
	entry = (struct ftrace_graph_ent_entry *)fast.event->array;
	entry->graph_ent.func = func;
	entry->graph_ent.depth = depth;
	*time = fast.ts;
	trace_fast_commit(&fast, cpu_buffer);
	return true;
}

/* Write the event of a return. @frame: the function's, in the shadow stack */
static __always_inline bool trace_fast_graph_return(struct trace_array *tr,
						    const struct ftrace_ret_stack *frame,
						    unsigned long retval, int depth)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_per_cpu *cpu_buffer = trace_fast_buffer(tr, buffer);
	struct ftrace_graph_ret_entry *entry;
	struct rb_fast fast __uninitialized;

	if (unlikely(!cpu_buffer ||
		     !trace_fast_reserve(&fast, buffer, cpu_buffer, TRACE_GRAPH_RET,
					 sizeof(*entry), IS_ENABLED(CONFIG_PREEMPT_COUNT), 0)))
		return false;
	entry = (struct ftrace_graph_ret_entry *)fast.event->array;
	entry->ret.func = frame->func;
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	entry->ret.retval = retval;
#endif
	entry->ret.depth = depth;
	entry->ret.overrun = atomic_read(&current->trace_overrun);
	entry->ret.calltime = frame->calltime;
	entry->ret.rettime = fast.ts;
	/* The fields that nobody sets */
	entry->calltime = 0;
	entry->rettime = 0;
	trace_fast_commit(&fast, cpu_buffer);
	return true;
}

/* The frame at an offset of a shadow stack */
static __always_inline struct ftrace_ret_stack *graph_fast_frame(unsigned long *stack, int offset)
{
	return (struct ftrace_ret_stack *)&stack[offset];
}

/* The top word of a frame that only @gops wants */
static __always_inline unsigned long graph_fast_word(const struct fgraph_ops *gops)
{
	return fgraph_fast.word | BIT(gops->idx + fgraph_fast.shift);
}

/*
 * As ftrace_push_return_trace(), in its order: whoever interrupts and unwinds finds the
 * frame's offset in the top word, before curr_ret_stack covers that. It may write a frame
 * of its own here until then, so everything is written afterwards.
 */
static __always_inline void graph_fast_push(struct task_struct *task, unsigned long *stack,
					    unsigned long ret, unsigned long func, u64 time,
					    unsigned long *retp, unsigned long word)
{
	const int offset = READ_ONCE(task->curr_ret_stack), top = offset + fgraph_fast.top;
	struct ftrace_ret_stack *frame = graph_fast_frame(stack, offset);

	WRITE_ONCE(stack[top], word);
	WRITE_ONCE(frame->ret, ret);
	barrier();
	WRITE_ONCE(task->curr_ret_stack, top + 1);
	barrier();
	WRITE_ONCE(stack[top], word);
	WRITE_ONCE(frame->ret, ret);
	frame->func = func;
	frame->calltime = time;
	frame->retp = retp;
}

static __always_inline bool graph_fast_enter(unsigned long ret, unsigned long func,
					     unsigned long *retp, unsigned int own)
{
	/* Again, with preemption off: it is freed an RCU grace period after it went. */
	const struct fgraph_ops *gops = READ_ONCE(*fgraph_fast.gops);
	struct task_struct *task = current;
	unsigned long *stack = READ_ONCE(task->ret_stack);
	u64 time;

	if (unlikely(gops->entryfunc != trace_graph_entry || !stack))
		return false;
	/* As in ftrace_push_return_trace(), the rest is read after ret_stack. */
	smp_rmb();
	if (unlikely(task->curr_ret_stack + fgraph_fast.top + 1 >= fgraph_fast.max ||
		     stack[fgraph_fast.vars + gops->idx]))
		return false;

	/* What interrupts is one deeper. */
	task->curr_ret_depth++;
	barrier();
	if (unlikely(!trace_fast_graph_entry(gops->private, func, task->curr_ret_depth, own,
					     &time))) {
		task->curr_ret_depth--;
		return false;
	}
	graph_fast_push(task, stack, ret, func, time, retp, graph_fast_word(gops));
	return true;
}

/**
 * trace_fast_graph_enter - write function_graph's event of a call, and push its frame
 * @ret: where the function returns to
 * @func: the function
 * @retp: where on the stack that is
 * @own: how often preemption is off here that the ordinary way would not have switched it off
 *
 * Nothing that can be traced is called with the frame half made, so this needs no
 * protection from recursion.
 *
 * Context: any.
 *
 * Return: false: nothing was done, take the ordinary way
 */
bool trace_fast_graph_enter(unsigned long ret, unsigned long func, unsigned long *retp,
			    unsigned int own)
{
	bool entered;

	preempt_disable_notrace();
	entered = RB_FAST && graph_fast_enter(ret, func, retp, own);
	preempt_enable_notrace();
	return entered;
}

/* Write the event. Returns as the next function, and preemption is off. */
static __always_inline unsigned long graph_fast_leave(struct ftrace_regs *fregs,
						      struct task_struct *task, int top)
{
	const struct fgraph_ops *gops = READ_ONCE(*fgraph_fast.gops);
	unsigned long *stack = task->ret_stack;
	const struct ftrace_ret_stack *frame;
	unsigned long retval = 0;

	if (unlikely(gops->retfunc != trace_graph_return || top < fgraph_fast.top ||
		     stack[top] != graph_fast_word(gops) || stack[fgraph_fast.vars + gops->idx]))
		return 0;
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	retval = ftrace_regs_get_return_value(fregs);
#endif
	frame = graph_fast_frame(stack, top - fgraph_fast.top);
	if (unlikely(!trace_fast_graph_return(gops->private, frame, retval,
					      task->curr_ret_depth)))
		return 0;
	return frame->ret;
}

/**
 * trace_fast_graph_leave - write function_graph's event of a return, and pop its frame
 * @fregs: with the function's value
 *
 * An instance is freed after an RCU grace period, so preemption is off for as long as it
 * is in use.
 *
 * Context: any.
 *
 * Return: where to return to; 0: nothing was done, take the ordinary way
 */
unsigned long trace_fast_graph_leave(struct ftrace_regs *fregs)
{
	struct task_struct *task = current;
	const int top = task->curr_ret_stack - 1;
	unsigned long ret;

	preempt_disable_notrace();
	ret = RB_FAST ? graph_fast_leave(fregs, task, top) : 0;
	preempt_enable_notrace();
	if (unlikely(!ret))
		return 0;

	/*
	 * Only now, as another task may have run: whoever unwinds this one's stack finds
	 * return_to_handler on it, and needs the frame. What interrupts from here on may
	 * write to the frame.
	 */
	barrier();
	WRITE_ONCE(task->curr_ret_stack, top - fgraph_fast.top);
	task->curr_ret_depth--;
	return ret;
}
#endif
#endif
