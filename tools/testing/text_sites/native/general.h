/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ring_buffer_fast.h finds in kernel/trace/ring_buffer.c: the buffer, as far as a writer
 * sees it, and the general path, which takes every event that the short one does not. This
 * is not the base's source, which needs a kernel around it, but does the same to memory in
 * the same order: it is ready for interrupts that write between any two of its steps, for
 * pages that end, for long pauses and for a clock that goes back. It overwrites the oldest
 * page when all are full. There are no readers, so that it neither has to take the oldest
 * page out of a reader's hands nor to wake one; a page in some 200 events would cost more.
 */
#ifndef _NATIVE_GENERAL_H
#define _NATIVE_GENERAL_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/set_memory.h>
#include <linux/types.h>

#include <asm/local.h>

#include "native.h"

#define DEBUG_SHIFT			0
#define RB_FORCE_8BYTE_ALIGNMENT	0
#define RB_ALIGNMENT			4u
#define RB_MAX_SMALL_DATA		112u	/* whose length is in the header */
#define RB_LEN_TIME_EXTEND		8u
#define RB_EVNT_HDR_SIZE		4u
#define RB_FULL_STAMP			8u	/* bytes before an event that needs one */
#define RB_WRITE_MASK			0xfffffl
#define RB_WRITE_INTCNT			0x100000l	/* of who is about to reset it */
#define RB_PAGES			64

enum { RB_TYPE_PADDING = 29, RB_TYPE_TIME_EXTEND, RB_TYPE_TIME_STAMP };
enum { RB_CTX_TRANSITION, RB_CTX_NMI, RB_CTX_IRQ, RB_CTX_SOFTIRQ, RB_CTX_NORMAL };

struct ring_buffer_event {
	u32	type_len : 5, time_delta : 27;
	u32	array[];
};

/* What readers get */
struct buffer_data_page {
	u64		time_stamp;
	local_t		commit;
	u8		data[PAGE_SIZE - 16];
};

#define BUF_PAGE_HDR_SIZE	offsetof(struct buffer_data_page, data)

struct buffer_page {
	struct buffer_page	*next;
	local_t			write, entries;
	unsigned long		real_end;
	struct buffer_data_page	*page;
};

struct rb_waiters {
	union {
		struct {
			bool	waiters_pending, full_waiters_pending;
		};
		u16		any_pending;
	};
};

struct ring_buffer_per_cpu {
	union {
		struct {
			atomic_t	record_disabled;
			unsigned int	current_context;
		};
		u64		in_use;
	};
	unsigned long		nest;
	struct trace_buffer	*buffer;
	struct buffer_page	*head_page, *tail_page, *commit_page, *reader_page;
	local_t			committing, commits;
	u64			write_stamp, before_stamp;
	u64			event_stamp[5];
	local_t			entries, entries_bytes, overrun, pages_touched;
	long			last_pages_touch;
	struct rb_waiters	irq_work;
};

struct trace_buffer {
	union {
		struct {
			atomic_t	record_disabled;
			unsigned int	unusual;
		};
		u64			not_fast;
	};
	unsigned long			cpus;
	u64				(*clock)(void);
	bool				time_stamp_abs;
	unsigned int			max_data_size;
	struct rb_waiters		irq_work;
	struct ring_buffer_per_cpu	**buffers;
};

/* An event that is on its way into the buffer */
struct rb_event_info {
	u64			ts, delta, before, after;
	unsigned long		length;
	struct buffer_page	*tail_page;
	enum { STAMP_NONE, STAMP_EXTEND, STAMP_FULL } stamp;
};

u64 trace_clock_local(void);

static __always_inline void rb_time_read(const u64 *time, u64 *value)
{
	*value = READ_ONCE(*time);
}

static __always_inline void rb_time_set(u64 *time, u64 value)
{
	WRITE_ONCE(*time, value);
}

/* Is this more than the header of an event has bits for? */
static __always_inline bool test_time_stamp(u64 delta)
{
	return delta >> 27;
}

static __always_inline unsigned long rb_page_capacity(struct buffer_page *page)
{
	return sizeof(page->page->data);
}

static __always_inline unsigned long rb_page_write(struct buffer_page *page)
{
	return local_read(&page->write) & RB_WRITE_MASK;
}

static __always_inline void *__rb_page_index(struct buffer_page *page, unsigned long index)
{
	return &page->page->data[index];
}

/* With the header. There are none of 12 bytes, as not all of that could be padding. */
static unsigned int rb_calculate_event_length(unsigned int data)
{
	unsigned int length = RB_EVNT_HDR_SIZE + (data ?: 1);

	if (data > RB_MAX_SMALL_DATA)
		length += sizeof(u32);
	length = (length + RB_ALIGNMENT - 1) & -RB_ALIGNMENT;
	return length == 12 ? 16 : length;
}

static void check_buffer(struct ring_buffer_per_cpu *cpu_buffer, struct rb_event_info *info,
			 unsigned long index)
{
}

/* In task context 0, and one more in whatever interrupts that */
static __always_inline unsigned int rb_context_level(void)
{
	const u32 count = this_cpu_read(__preempt_count);

	return !!(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) +
	       !!(count & (NMI_MASK | HARDIRQ_MASK)) + !!(count & NMI_MASK);
}

/* Takes this context's bit; once more is allowed, as the count may lag behind. */
static __always_inline bool trace_recursive_lock(struct ring_buffer_per_cpu *cpu_buffer)
{
	const unsigned int held = cpu_buffer->current_context;
	unsigned int bit = 1u << (RB_CTX_NORMAL - rb_context_level() + cpu_buffer->nest);

	if (unlikely(held & bit)) {
		bit = 1u << (RB_CTX_TRANSITION + cpu_buffer->nest);
		if (held & bit)
			return true;
	}
	WRITE_ONCE(cpu_buffer->current_context, held | bit);
	return false;
}

/* Gives back the lowest bit: whoever interrupted has given back its own. */
static __always_inline void trace_recursive_unlock(struct ring_buffer_per_cpu *cpu_buffer)
{
	const unsigned int held = cpu_buffer->current_context;

	WRITE_ONCE(cpu_buffer->current_context, held & (held - (1u << cpu_buffer->nest)));
}

static __always_inline void rb_start_commit(struct ring_buffer_per_cpu *cpu_buffer)
{
	local_inc(&cpu_buffer->committing);
	local_inc(&cpu_buffer->commits);
}

/* Readers may have all that was written. Only the outermost writer does this. */
static __always_inline void rb_commit_written(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct buffer_page *page;

	do {
		page = cpu_buffer->commit_page;
		while (page != READ_ONCE(cpu_buffer->tail_page)) {
			local_set(&page->page->commit, rb_page_write(page));
			page = page->next;
			WRITE_ONCE(cpu_buffer->commit_page, page);
			barrier();
		}
		while ((unsigned long)local_read(&page->page->commit) != rb_page_write(page)) {
			/* The events before the index, for a reader */
			smp_wmb();
			local_set(&page->page->commit, rb_page_write(page));
			if (unlikely(local_read(&page->page->commit) & ~RB_WRITE_MASK))
				wrong("a commit beyond of a page");
			barrier();
		}
		barrier();
	} while (unlikely(page != READ_ONCE(cpu_buffer->tail_page)));
}

static __always_inline void rb_end_commit(struct ring_buffer_per_cpu *cpu_buffer)
{
	long commits;

	if (unlikely(!local_read(&cpu_buffer->committing)))
		wrong("a commit of what was not reserved");
	for (;;) {
		commits = local_read(&cpu_buffer->commits);
		barrier();
		if (local_read(&cpu_buffer->committing) == 1)
			rb_commit_written(cpu_buffer);
		local_dec(&cpu_buffer->committing);
		barrier();
		/* Who has come in between has left it to this one, or to one farther out. */
		if (likely(local_read(&cpu_buffer->commits) == commits) ||
		    local_read(&cpu_buffer->committing))
			return;
		local_inc(&cpu_buffer->committing);
	}
}

/* Nobody can wait here. */
static __always_inline void rb_wakeups(struct trace_buffer *buffer,
				       struct ring_buffer_per_cpu *cpu_buffer)
{
	if (buffer->irq_work.waiters_pending || cpu_buffer->irq_work.waiters_pending)
		wrong("somebody is waiting");
	if (cpu_buffer->last_pages_touch == local_read(&cpu_buffer->pages_touched) ||
	    cpu_buffer->reader_page == cpu_buffer->commit_page)
		return;
	if (cpu_buffer->irq_work.full_waiters_pending)
		wrong("somebody is waiting for a part of the buffer");
}

/* The event did not fit: what it has reserved is made padding, up to the end of the page. */
static void rb_pad(struct ring_buffer_per_cpu *cpu_buffer, struct rb_event_info *info,
		   unsigned long tail)
{
	struct buffer_page *page = info->tail_page;
	const unsigned long capacity = rb_page_capacity(page);
	struct ring_buffer_event *event = __rb_page_index(page, tail);
	long excess = info->length;

	if (tail < capacity) {
		page->real_end = tail;
		event->type_len = RB_TYPE_PADDING;
		event->time_delta = 0;
		/* As much as an event takes is one that was discarded. */
		if (tail + 8 <= capacity) {
			event->time_delta = 1;
			event->array[0] = capacity - tail - RB_EVNT_HDR_SIZE;
			local_add(capacity - tail, &cpu_buffer->entries_bytes);
			excess -= capacity - tail;
		}
		/* The padding before the index, for a reader */
		smp_wmb();
	} else if (tail == capacity) {
		page->real_end = 0;
	}
	local_add(-excess, &page->write);
}

/* Goes to the next page. The caller tries again there. */
static noinline void rb_move_tail(struct ring_buffer_per_cpu *cpu_buffer, unsigned long tail,
				  struct rb_event_info *info)
{
	struct buffer_page *page = info->tail_page, *next = page->next;
	long write, entries;

	if (next == READ_ONCE(cpu_buffer->commit_page))
		wrong("the buffer is full of what is not committed");
	if (next == cpu_buffer->head_page) {
		local_add(local_read(&next->entries) & RB_WRITE_MASK, &cpu_buffer->overrun);
		local_add(-local_read(&next->page->commit), &cpu_buffer->entries_bytes);
		cpu_buffer->head_page = next->next;
	}

	/* Whoever interrupts here and writes to the next page has made it the tail. */
	write = local_add_return(RB_WRITE_INTCNT, &next->write);
	entries = local_add_return(RB_WRITE_INTCNT, &next->entries);
	if (page == READ_ONCE(cpu_buffer->tail_page)) {
		local_try_cmpxchg(&next->write, &write, write & ~RB_WRITE_MASK);
		local_try_cmpxchg(&next->entries, &entries, entries & ~RB_WRITE_MASK);
		local_set(&next->page->commit, 0);
		if (__sync_bool_compare_and_swap(&cpu_buffer->tail_page, page, next))
			local_inc(&cpu_buffer->pages_touched);
	}
	rb_pad(cpu_buffer, info, tail);
	rb_end_commit(cpu_buffer);
	local_inc(&cpu_buffer->committing);
}

/* The time of an event that has more than fits into its header, before it */
static noinline struct ring_buffer_event *rb_add_stamp(struct ring_buffer_event *event,
						       struct rb_event_info *info,
						       unsigned long tail)
{
	const bool full = info->stamp == STAMP_FULL;

	/* Time went back. */
	if (!full && info->delta > 1ull << 59)
		info->delta = 0;
	event->type_len = full ? RB_TYPE_TIME_STAMP : RB_TYPE_TIME_EXTEND;
	event->time_delta = full || tail ? info->delta : 0;
	event->array[0] = full || tail ? info->delta >> 27 : 0;
	info->length -= RB_FULL_STAMP;
	info->delta = 0;
	return (void *)event + RB_FULL_STAMP;
}

static __always_inline u64 rb_time_stamp(struct trace_buffer *buffer)
{
	return likely(buffer->clock == trace_clock_local) ? trace_clock_local() :
							    buffer->clock();
}

/* What is the time since the last event, if others have come after its time was read? */
static noinline void rb_reserve_interrupted(struct ring_buffer_per_cpu *cpu_buffer,
					    struct rb_event_info *info, unsigned long write)
{
	rb_time_read(&cpu_buffer->before_stamp, &info->before);
	info->ts = rb_time_stamp(cpu_buffer->buffer);
	rb_time_set(&cpu_buffer->before_stamp, info->ts);
	barrier();
	rb_time_read(&cpu_buffer->write_stamp, &info->after);
	barrier();
	info->delta = write == rb_page_write(info->tail_page) && info->after == info->before &&
		      info->after < info->ts ? info->ts - info->after : 0;
	if (info->stamp == STAMP_FULL)
		info->stamp = STAMP_EXTEND;
}

/* Returns NULL if the page has ended. A to D are those of ring_buffer_fast.h. */
static struct ring_buffer_event *rb_reserve_on_page(struct ring_buffer_per_cpu *cpu_buffer,
						    struct rb_event_info *info)
{
	struct buffer_page *page = READ_ONCE(cpu_buffer->tail_page);
	struct ring_buffer_event *event;
	unsigned long before, write, tail, nest;

	info->tail_page = page;
	before = rb_page_write(page);						/* A */
	barrier();
	rb_time_read(&cpu_buffer->before_stamp, &info->before);
	rb_time_read(&cpu_buffer->write_stamp, &info->after);
	barrier();
	info->ts = rb_time_stamp(cpu_buffer->buffer);

	/* The first event of a page has the page's time. */
	if (likely(before)) {
		info->delta = info->ts - info->after;
		if (unlikely(info->before != info->after))
			info->stamp = STAMP_FULL;
		else if (unlikely(test_time_stamp(info->delta)))
			info->stamp = STAMP_EXTEND;
		if (unlikely(info->stamp))
			info->length += RB_FULL_STAMP;
	}

	rb_time_set(&cpu_buffer->before_stamp, info->ts);			/* B */
	write = local_add_return(info->length, &page->write) & RB_WRITE_MASK;	/* C */
	tail = write - info->length;
	if (unlikely(write > rb_page_capacity(page))) {
		rb_move_tail(cpu_buffer, tail, info);
		return NULL;
	}

	if (likely(tail == before)) {
		rb_time_set(&cpu_buffer->write_stamp, info->ts);		/* D */
		info->delta = info->ts - (likely(info->stamp != STAMP_FULL) ? info->after : 0);
	} else {
		rb_reserve_interrupted(cpu_buffer, info, write);
	}
	if (unlikely(!tail && info->stamp != STAMP_FULL))
		info->delta = 0;

	event = __rb_page_index(page, tail);
	local_add(info->length, &cpu_buffer->entries_bytes);
	nest = local_read(&cpu_buffer->committing) - 1;
	if (likely(nest < ARRAY_SIZE(cpu_buffer->event_stamp)))
		cpu_buffer->event_stamp[nest] = info->ts;
	if (unlikely(info->stamp))
		event = rb_add_stamp(event, info, tail);

	event->time_delta = info->delta;
	info->length -= RB_EVNT_HDR_SIZE;
	if (info->length > RB_MAX_SMALL_DATA) {
		event->type_len = 0;
		event->array[0] = info->length;
	} else {
		event->type_len = (info->length + RB_ALIGNMENT - 1) / RB_ALIGNMENT;
	}
	local_inc(&page->entries);
	if (unlikely(!tail))
		page->page->time_stamp = info->ts;
	return event;
}

static noinline struct ring_buffer_event *rb_lock_reserve(struct trace_buffer *buffer,
							  unsigned long length)
{
	struct ring_buffer_per_cpu *cpu_buffer;
	struct ring_buffer_event *event;
	struct rb_event_info info;
	unsigned int tries, cpu;

	preempt_disable_notrace();
	cpu = raw_smp_processor_id();
	if (unlikely(atomic_read(&buffer->record_disabled) || !(buffer->cpus & BIT(cpu))))
		goto out;
	cpu_buffer = buffer->buffers[cpu];
	if (unlikely(atomic_read(&cpu_buffer->record_disabled) ||
		     length > buffer->max_data_size || trace_recursive_lock(cpu_buffer)))
		goto out;

	rb_start_commit(cpu_buffer);
	barrier();
	if (unlikely(READ_ONCE(cpu_buffer->buffer) != buffer || buffer->time_stamp_abs))
		wrong("a buffer of another kind");

	for (tries = 0; tries < 1000; tries++) {
		info.length = rb_calculate_event_length(length);
		info.delta = 0;
		info.stamp = STAMP_NONE;
		event = rb_reserve_on_page(cpu_buffer, &info);
		if (likely(event))
			return event;
	}
	wrong("no page has room for an event");
out:
	preempt_enable_notrace();
	return NULL;
}

static noinline int rb_unlock_commit(struct trace_buffer *buffer)
{
	struct ring_buffer_per_cpu *cpu_buffer = buffer->buffers[raw_smp_processor_id()];

	local_inc(&cpu_buffer->entries);
	rb_end_commit(cpu_buffer);
	rb_wakeups(buffer, cpu_buffer);
	trace_recursive_unlock(cpu_buffer);
	preempt_enable_notrace();
	return 0;
}

/* After the general path, which is to stay apart from it */
struct ring_buffer_event *ring_buffer_lock_reserve(struct trace_buffer *buffer,
						   unsigned long length);
int ring_buffer_unlock_commit(struct trace_buffer *buffer);

#endif /* _NATIVE_GENERAL_H */
