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
#include "trace_fast_layout.h"

/*
 * Does nobody in this task protect from recursion? Whoever is called inside of that has to
 * be protected, too. TRACE_IRQ_BIT does not belong to it, and stays set. What is to be found
 * while RCU is not watching is found by the protection.
 */
static __always_inline bool trace_fast_allowed(void)
{
	return !IS_ENABLED(CONFIG_FTRACE_VALIDATE_RCU_IS_WATCHING) &&
	       !(current->trace_recursion & ~BIT(TRACE_IRQ_BIT));
}

/* Somebody wants events, not only through tracefs. */
DECLARE_STATIC_KEY_FALSE(trace_function_exports_enabled);
DECLARE_STATIC_KEY_FALSE(trace_event_exports_enabled);
DECLARE_STATIC_KEY_FALSE(tracepoint_printk_key);
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
/* One of an instance with these is followed by another event. */
#define TRACE_FAST_STACKS	(TRACE_ITER_STACKTRACE | TRACE_ITER_USERSTACKTRACE)

/* Do events go to the kernel's log, or to whoever has asked for them, too? */
static __always_inline bool trace_fast_elsewhere(void)
{
	return static_branch_unlikely(&tracepoint_printk_key) ||
	       static_branch_unlikely(&trace_event_exports_enabled);
}

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

	if (unlikely(file->flags & TRACE_FAST_NOT) ||
	    unlikely(file->tr->trace_flags & TRACE_FAST_STACKS) || trace_fast_elsewhere() ||
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

/**
 * trace_fast_length - what an entry takes in the ring buffer
 * @size: of the entry in bytes, with its head
 *
 * Return: its length, for struct trace_fast_layout
 */
u16 trace_fast_length(unsigned int size)
{
	/* A larger one has its length elsewhere, one of 12 bytes becomes larger. */
	return RB_FAST && size > RB_LEN_TIME_EXTEND && size <= RB_MAX_SMALL_DATA ?
	       RB_EVNT_HDR_SIZE + ALIGN(size, RB_ALIGNMENT) : 0;
}

/**
 * trace_fast_probe - a probe that writes an event of numbers to the buffer of an instance
 * @private: the event, a struct trace_event_file
 * @values: of its fields; what is more than a field holds is cut off
 *
 * Context: any, with preemption off once.
 */
void trace_fast_probe(void *private, const u64 *values)
{
	struct trace_event_file *file = private;
	const struct trace_fast_layout *layout = file->event_call->data;
	const struct trace_array *tr = file->tr;
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_per_cpu *cpu_buffer = rb_fast_cpu(buffer);
	struct rb_fast fast __uninitialized;
	const struct trace_fast_field *field;
	void *entry;

	if (unlikely(file->flags & (TRACE_FAST_NOT | EVENT_FILE_FL_TRIGGER_MODE)) ||
	    unlikely(tr->trace_flags & TRACE_FAST_STACKS) || trace_fast_elsewhere() ||
	    unlikely(!rb_fast_reserve(&fast, buffer, cpu_buffer, layout->length, NULL))) {
		layout->slow(file, values);
		return;
	}
	entry = fast.event->array;
	trace_fast_fill(entry, layout->type, 0, IS_ENABLED(CONFIG_PREEMPTION));
	for (field = layout->field; ; field++, values++) {
		for (; field->size == 8; field++, values++)
			*(u64 *)(entry + field->at) = *values;
		if (!field->size)
			break;
		if (field->size == 4)
			*(u32 *)(entry + field->at) = *values;
		else if (field->size == 2)
			*(u16 *)(entry + field->at) = *values;
		else
			*(u8 *)(entry + field->at) = *values;
	}
	__this_cpu_write(trace_taskinfo_save, true);
	rb_fast_finish(&fast, cpu_buffer, rb_fast_wake, NULL);
}
#endif

#ifdef CONFIG_FUNCTION_TRACER
/* The function tracers are not to write to an instance on this CPU. Preemption is off. */
static __always_inline bool trace_fast_disabled(const struct trace_array *tr)
{
	return unlikely(raw_cpu_read(tr->array_buffer.data->disabled.counter));
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
	struct ring_buffer_per_cpu *cpu_buffer = rb_fast_cpu(buffer);
	struct ftrace_entry *entry;
	struct rb_fast fast __uninitialized;

	if (unlikely(trace_fast_disabled(tr) ||
		     !trace_fast_reserve(&fast, buffer, cpu_buffer, TRACE_FN, sizeof(*entry), 0,
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
#ifdef HAVE_FUNCTION_GRAPH_FP_TEST
/* A frame has the frame pointer then, to be checked. */
#define FGRAPH_FAST	false
#else
#define FGRAPH_FAST	RB_FAST
#endif

/* set_graph_function and set_graph_notrace; preemption is off. */
#if defined(CONFIG_FTRACE_ENGINE_TEXT_SITES)
static __always_inline unsigned long graph_fast_filtered(void)
{
	/* Racy: whoever sets one waits until preemption was on everywhere. None is empty. */
	return data_race((unsigned long)ftrace_graph_hash |
			 (unsigned long)ftrace_graph_notrace_hash);
}
#elif defined(CONFIG_DYNAMIC_FTRACE)
static __always_inline unsigned long graph_fast_filtered(void)
{
	return !ftrace_hash_empty(rcu_dereference_protected(ftrace_graph_hash, true)) ||
	       !ftrace_hash_empty(rcu_dereference_protected(ftrace_graph_notrace_hash, true));
}
#else
static __always_inline unsigned long graph_fast_filtered(void)
{
	return 0;
}
#endif

/* Is there something that function_graph looks at for each function? */
static __always_inline bool graph_fast_restricted(struct trace_array *tr)
{
	return (graph_fast_filtered() | tracing_thresh | fgraph_max_depth |
		ftrace_graph_skip_irqs) || !ftrace_trace_task(tr);
}

/*
 * Write the event of a call. Preemption is off once more than where the function is called:
 * the ordinary way counts that, too, as its protection from recursion does it.
 */
static __always_inline bool trace_fast_graph_entry(struct trace_array *tr, unsigned long func,
						   u64 *time)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_per_cpu *cpu_buffer = rb_fast_cpu(buffer);
	struct ftrace_graph_ent_entry *entry;
	struct rb_fast fast __uninitialized;

	if (unlikely(trace_fast_disabled(tr) || graph_fast_restricted(tr) ||
		     !trace_fast_reserve(&fast, buffer, cpu_buffer, TRACE_GRAPH_ENT,
					 sizeof(*entry), 0, 0)))
		return false;
	entry = (struct ftrace_graph_ent_entry *)fast.event->array;
	entry->graph_ent.func = func;
	entry->graph_ent.depth = current->curr_ret_depth;
	*time = fast.ts;
	trace_fast_commit(&fast, cpu_buffer);
	return true;
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

	if (unlikely(trace_fast_disabled(tr) ||
		     !trace_fast_reserve(&fast, buffer, cpu_buffer, TRACE_GRAPH_RET,
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

/* The top word of a frame that only @gops wants */
static __always_inline unsigned long graph_fast_word(const struct fgraph_ops *gops)
{
	return FGRAPH_FAST_WORD | (BIT(FGRAPH_FAST_SHIFT) << gops->idx);
}

/* Has @gops something to remember for this task, a filter above all? */
static __always_inline bool graph_fast_remembers(const unsigned long *stack,
						 const struct fgraph_ops *gops)
{
	return stack[FGRAPH_FAST_VARS + (long)gops->idx];
}

/*
 * As ftrace_push_return_trace(), in its order: whoever interrupts and unwinds finds the
 * frame's offset in the top word, before curr_ret_stack covers that. It may write a frame
 * of its own here until then, so everything is written afterwards.
 */
static __always_inline void graph_fast_push(struct task_struct *task, unsigned long ret,
					    unsigned long func, u64 time,
					    unsigned long *retp, unsigned long word)
{
	const long offset = READ_ONCE(task->curr_ret_stack);
	unsigned long *start = &task->ret_stack[offset], *top = start + FGRAPH_FAST_TOP;
	struct ftrace_ret_stack *frame = (struct ftrace_ret_stack *)start;

	WRITE_ONCE(*top, word);
	WRITE_ONCE(frame->ret, ret);
	barrier();
	WRITE_ONCE(task->curr_ret_stack, offset + FGRAPH_FAST_TOP + 1);
	barrier();
	WRITE_ONCE(*top, word);
	WRITE_ONCE(frame->ret, ret);
	frame->func = func;
	frame->calltime = time;
	frame->retp = retp;
}

/*
 * Write the event of a call, and push the frame. Nothing that can be traced is called with
 * the frame half made, so this needs no protection from recursion. Preemption is off. What
 * is in memory is read again rather than kept in a register that had to be saved.
 */
static __always_inline bool graph_fast_enter(const unsigned long *ret, unsigned long func,
					     unsigned long *retp)
{
	/* It is freed an RCU grace period after it went. */
	const struct fgraph_ops *gops = READ_ONCE(fgraph_direct_gops);
	struct task_struct *task = current;
	unsigned long *stack = READ_ONCE(task->ret_stack);
	int depth;
	u64 time;

	if (unlikely(gops->entryfunc != trace_graph_entry || !stack))
		return false;
	/* As in ftrace_push_return_trace(), the rest is read after ret_stack. */
	smp_rmb();
	depth = task->curr_ret_depth + 1;
	if (unlikely(task->curr_ret_stack + FGRAPH_FAST_TOP + 1 >= FGRAPH_FAST_MAX ||
		     depth < 0 || graph_fast_remembers(stack, gops)))
		return false;

	/* What interrupts is one deeper. */
	WRITE_ONCE(task->curr_ret_depth, depth);
	barrier();
	if (unlikely(!trace_fast_graph_entry(gops->private, func, &time))) {
		task->curr_ret_depth--;
		return false;
	}
	graph_fast_push(task, *ret, func, time, retp, graph_fast_word(gops));
	return true;
}

/* A look that costs other users of returns little: nothing is to be saved for it. */
static __always_inline bool graph_fast_wanted(void)
{
	return static_call_query(fgraph_func) == trace_graph_entry;
}

#ifdef CONFIG_FTRACE_ENGINE_TEXT_SITES
#include <asm/fgraph_fast.h>

/**
 * ftrace_graph_func - record that a function was called, and catch its return
 * @ip: the site
 * @parent_ip: not used
 * @op: not used
 * @fregs: the registers
 *
 * Context: any.
 */
void ftrace_graph_func(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	unsigned long *slot = fgraph_return_slot(fregs);
	bool done;

	if (FGRAPH_FAST && graph_fast_wanted() &&
	    likely(!fgraph_too_early(fregs)) && likely(trace_fast_allowed()) &&
	    likely(!atomic_read(&current->tracing_graph_pause)) && !ftrace_graph_is_dead()) {
		preempt_disable_notrace();
		/* Another callback may have changed where it returns to. */
		done = graph_fast_enter(slot, ip, slot);
		if (likely(done))
			*slot = (unsigned long)return_to_handler;
		preempt_enable_notrace();
		if (likely(done))
			return;
	}
	ftrace_graph_func_slow(ip, fregs);
}

#define GRAPH_FAST_LOCKED	false	/* That was tried before. */
#else
#define GRAPH_FAST_LOCKED	FGRAPH_FAST
#endif

/**
 * function_graph_enter - record that a function was called, and note where it returns to
 * @ret: where that is
 * @func: the function
 * @frame_pointer: its frame pointer, where the architecture has that checked
 * @retp: where on the stack it has the address to return to
 *
 * Context: any; the caller protects from recursion, and has preemption off.
 *
 * Return: 0: it is to return to return_to_handler; -EBUSY: nobody wants to know of it, or
 * there is no room
 */
int function_graph_enter(unsigned long ret, unsigned long func,
			 unsigned long frame_pointer, unsigned long *retp)
{
	if (GRAPH_FAST_LOCKED && graph_fast_wanted() && likely(graph_fast_enter(&ret, func, retp)))
		return 0;
	return function_graph_enter_slow(ret, func, frame_pointer, retp);
}

#ifdef CONFIG_HAVE_FUNCTION_GRAPH_FREGS
/* Write the event of a return. Returns false if that is to be done the ordinary way. */
static __always_inline bool graph_fast_leave(struct ftrace_regs *fregs, struct task_struct *task,
					     unsigned long *ret)
{
	const struct fgraph_ops *gops = READ_ONCE(fgraph_direct_gops);
	const long top = (long)task->curr_ret_stack - 1;
	unsigned long *stack = task->ret_stack;
	const struct ftrace_ret_stack *frame;

	if (unlikely(gops->retfunc != trace_graph_return || top < FGRAPH_FAST_TOP ||
		     stack[top] != graph_fast_word(gops) || graph_fast_remembers(stack, gops)))
		return false;
	frame = (struct ftrace_ret_stack *)&stack[top - FGRAPH_FAST_TOP];
	if (unlikely(!trace_fast_graph_return(gops->private, frame, fregs)))
		return false;
	*ret = frame->ret;
	return true;
}

/**
 * ftrace_return_to_handler - write function_graph's event of a return, and pop its frame
 * @fregs: with the function's value
 *
 * An instance is freed after an RCU grace period, so preemption is off for as long as it
 * is in use.
 *
 * Context: any.
 *
 * Return: where the function would have returned to
 */
unsigned long ftrace_return_to_handler(struct ftrace_regs *fregs)
{
	struct task_struct *task = current;
	unsigned long ret;
	bool done;

	if (!FGRAPH_FAST || !graph_fast_wanted())
		return ftrace_return_to_handler_slow(fregs);
	preempt_disable_notrace();
	done = graph_fast_leave(fregs, task, &ret);
	preempt_enable_notrace();
	if (unlikely(!done))
		return ftrace_return_to_handler_slow(fregs);

	/*
	 * Only now, as another task may have run: whoever unwinds this one's stack finds
	 * return_to_handler on it, and needs the frame. What interrupts from here on may
	 * write to the frame.
	 */
	barrier();
	WRITE_ONCE(task->curr_ret_stack, task->curr_ret_stack - (FGRAPH_FAST_TOP + 1));
	task->curr_ret_depth--;
	return ret;
}
#endif
#endif
#endif
