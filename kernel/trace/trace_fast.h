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

/*
 * Does nobody in this task protect from recursion? Whoever is called inside of that has to
 * be protected, too. TRACE_IRQ_BIT does not belong to it, and stays set. What is to be found
 * while RCU is not watching is found by the protection.
 */
static __always_inline bool trace_fast_allowed(void)
{
	if (IS_ENABLED(CONFIG_FTRACE_VALIDATE_RCU_IS_WATCHING))
		return false;
	/* An interrupt clears the bits that it has set before it returns. */
	return !data_race(current->trace_recursion & ~BIT(TRACE_IRQ_BIT));
}

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

/*
 * preempt_count(), with its highest bit set if the task is to be preempted. On x86, one word has
 * both, with that bit inverted; gcc takes more instructions to combine the two functions.
 */
#if defined(CONFIG_X86) && !defined(CONFIG_UML)
#define trace_fast_depth()	(raw_cpu_read_4(pcpu_hot.preempt_count) ^ PREEMPT_NEED_RESCHED)
#else
#define trace_fast_depth()	(preempt_count() | (u32)test_preempt_need_resched() << 31)
#endif

/* Is this anything but a task that may run on? */
static __always_inline bool trace_fast_unusual(unsigned int depth)
{
	return unlikely(depth > 0xf) ||
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
	const unsigned int depth = trace_fast_depth();

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
	const unsigned int depth = trace_fast_depth();
	unsigned long irqs_on;

	BUILD_BUG_ON(offsetof(struct trace_entry, flags) != 2 ||
		     offsetof(struct trace_entry, preempt_count) != 3 ||
		     TRACE_FLAG_IRQS_OFF != 1);
	if (unlikely(trace_fast_unusual(depth))) {
		tracing_generic_entry_update(entry, type,
					     rb_fast_call(trace_fast_unusual_context, own, dec));
		return;
	}
	/* With all that is constant in one number. A long, as that is what flags are tested in */
	irqs_on = irqs_disabled() ? 0 : 1ul << TRACE_FAST_FLAGS;
	*(u32 *)entry = (depth << TRACE_FAST_COUNT) - irqs_on +
			((u32)type << TRACE_FAST_TYPE) + (1u << TRACE_FAST_FLAGS) -
			((own + dec) << TRACE_FAST_COUNT);
	entry->pid = current->pid;
}

#ifdef CONFIG_FUNCTION_TRACER
/*
 * Reserve an event of a fixed size, the data of which begins with struct trace_entry. What
 * switches the function tracers of an instance off on a CPU (struct trace_array_cpu) has
 * recording off, too, or is what the ordinary way does while it writes an event. It is not
 * looked at here.
 */
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

/* @nr: that many words of the registers are recorded as well, by @save; a constant */
static __always_inline bool
trace_fast_function(struct trace_array *tr, unsigned long ip, unsigned long parent_ip,
		    unsigned int nr, struct ftrace_regs *fregs,
		    void (*save)(unsigned long *words, struct ftrace_regs *fregs))
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ring_buffer_per_cpu *cpu_buffer = rb_fast_cpu(buffer);
	struct ftrace_entry *entry;
	struct rb_fast fast __uninitialized;

	if (unlikely(!trace_fast_reserve(&fast, buffer, cpu_buffer, TRACE_FN,
					 sizeof(*entry) + nr * sizeof(long), 0,
					 IS_ENABLED(CONFIG_PREEMPTION))))
		return false;
	entry = (struct ftrace_entry *)fast.event->array;
	entry->ip = ip;
	entry->parent_ip = parent_ip;
	if (nr)
		save((unsigned long *)(entry + 1), fregs);
	trace_fast_commit(&fast, cpu_buffer);
	return true;
}

/* A callback of the function tracer; @nr and @save: see above */
static __always_inline void
trace_fast_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		unsigned int nr, struct ftrace_regs *fregs,
		void (*save)(unsigned long *words, struct ftrace_regs *fregs))
{
	struct trace_array *tr = op->private;
	bool done;

	/* Enabled, and not disabled: both are 0 or 1. */
	if (unlikely(tr->function_enabled <= tr->buffer_disabled))
		return;
	if (RB_FAST && likely(trace_fast_allowed()) &&
	    !static_branch_unlikely(&trace_function_exports_enabled)) {
		preempt_disable_notrace();
		done = trace_fast_function(tr, ip, parent_ip, nr, fregs, save);
		preempt_enable_notrace();
		if (likely(done))
			return;
	}
	function_trace_call_slow(ip, parent_ip, op, fregs);
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
	trace_fast_call(ip, parent_ip, op, 0, NULL, NULL);
}
#endif
