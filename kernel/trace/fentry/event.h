/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events that are written often, for each call of a function: what any event needs,
 * with nothing called that is not needed.
 */
#ifndef _FENTRY_EVENT_H
#define _FENTRY_EVENT_H

#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/trace_events.h>

#include "../trace.h"

/* Of the base: there are users that want all events, not only through tracefs. */
DECLARE_STATIC_KEY_FALSE(trace_function_exports_enabled);
/* Of the base: a task is in a trace. */
DECLARE_PER_CPU(bool, trace_taskinfo_save);
/* Of the base: the function graph tracer leaves out interrupts. */
extern int ftrace_graph_skip_irqs;

#ifdef CONFIG_SMP
static __always_inline bool event_migration_disabled(void)
{
	return current->migration_disabled;
}
#else
static __always_inline bool event_migration_disabled(void)
{
	return false;
}
#endif

/* What preempt_count() does not tell where softirqs are tasks */
static __always_inline bool event_softirq(void)
{
	return IS_ENABLED(CONFIG_PREEMPT_RT) && softirq_count();
}

/*
 * What runs here: as tracing_gen_ctx(), which is asked if it is anything but a
 * task that nobody is waiting for.
 */
static __always_inline unsigned int event_context(void)
{
	const unsigned int depth = preempt_count();

	if (unlikely(depth > 0xf || tif_need_resched() || test_preempt_need_resched() ||
		     event_migration_disabled() || event_softirq()))
		return tracing_gen_ctx();

	return irqs_disabled() ? depth | TRACE_FLAG_IRQS_OFF << 16 : depth;
}

/* The same, of where it was before the caller has switched preemption off */
static __always_inline unsigned int event_context_dec(void)
{
	return event_context() - IS_ENABLED(CONFIG_PREEMPTION);
}

/* Is what happens on this CPU to be recorded in an instance? */
static __always_inline bool event_enabled(const struct trace_array *tr)
{
	/* To look at another CPU's, after migration, does no harm. */
	return !atomic_read(&raw_cpu_ptr(tr->array_buffer.data)->disabled);
}

/**
 * event_begin - begin to write an event
 * @buffer: where
 * @type: TRACE_*
 * @size: of the event, with its struct trace_entry, in bytes
 * @context: what event_context() said
 * @entry: gets where the rest of the event goes
 *
 * Return: false if there is no room or one is being written.
 */
static __always_inline bool event_begin(struct trace_buffer *buffer, unsigned short type,
					unsigned int size, unsigned int context, void **entry)
{
	struct ring_buffer_event *event = ring_buffer_lock_reserve(buffer, size);

	if (!event)
		return false;

	/* Mostly the length is in type_len, and there is nothing in front of the data. */
	*entry = event->array;
	if (unlikely(event->type_len - 1u >= RINGBUF_TYPE_DATA_TYPE_LEN_MAX))
		*entry = ring_buffer_event_data(event);

	tracing_generic_entry_update(*entry, type, context);
	return true;
}

static __always_inline void event_end(struct trace_buffer *buffer)
{
	/* At its next switch, this task is remembered by name. */
	__this_cpu_write(trace_taskinfo_save, true);
	ring_buffer_unlock_commit(buffer);
}

#endif /* _FENTRY_EVENT_H */
