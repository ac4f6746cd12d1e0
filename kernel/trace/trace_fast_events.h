/* SPDX-License-Identifier: GPL-2.0 */
/* What is done for each tracing event, the short way: see trace_fast.h. */
#include "trace_fast_layout.h"

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
	/* Events of up to 12 bytes, or with a word for the length, take the ordinary functions. */
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
