// SPDX-License-Identifier: GPL-2.0
/*
 * What it takes to write an event: by kernel/trace/ring_buffer_fast.h as it is, and by the
 * general path (general.h). First, both write the same events with a clock that this sets,
 * and what is in their buffers then must be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "general.h"

#include <kernel/trace/ring_buffer_fast.h>

#define CALLS		20000
#define CHECKED		100000	/* events, which go around the buffer several times */
#define DATA		16	/* bytes of an event */

/* How the clock is read: ns = cycles * mul >> 63 + offset */
struct sched_clock_scale sched_clock_scale = { .mul = 1 };

noinline u64 sched_clock(void)
{
	u64 now;

	preempt_disable_notrace();
	now = sched_clock_from_cycles(rdtsc(), sched_clock_scale.mul);
	preempt_enable_notrace();
	return now;
}

noinline u64 trace_clock_local(void)
{
	u64 now;

	preempt_disable_notrace();
	now = sched_clock();
	preempt_enable_notrace();
	return now;
}

struct data {
	u64	ip, parent;
} __packed __aligned(4);

static noinline void *event_data(struct ring_buffer_event *event)
{
	return (void *)event->array + (event->type_len >= RB_TYPE_TIME_EXTEND ? RB_FULL_STAMP : 0);
}

static __always_inline void fill(struct data *data, u64 value)
{
	data->ip = value;
	data->parent = ~value;
}

static noinline void write_general(struct trace_buffer *buffer, u64 value)
{
	struct ring_buffer_event *event = rb_lock_reserve(buffer, DATA);

	if (unlikely(!event))
		return;
	fill(event_data(event), value);
	rb_unlock_commit(buffer);
}

/* As whoever wants to write events does */
static noinline void write_short(struct trace_buffer *buffer, u64 value)
{
	struct ring_buffer_event *event = ring_buffer_lock_reserve(buffer, DATA);

	if (unlikely(!event))
		return;
	fill(event_data(event), value);
	ring_buffer_unlock_commit(buffer);
}

/* As the function tracers do, see kernel/trace/trace_fast.h */
static noinline void write_inline(struct trace_buffer *buffer, u64 value)
{
	struct ring_buffer_per_cpu *cpu_buffer;
	struct rb_fast fast;

	preempt_disable_notrace();
	cpu_buffer = buffer->buffers[raw_smp_processor_id()];
	if (likely(rb_fast_reserve(&fast, buffer, cpu_buffer, RB_EVNT_HDR_SIZE + DATA, NULL))) {
		fill((void *)fast.event->array, value);
		rb_fast_finish(&fast, cpu_buffer, rb_fast_wake, NULL);
		preempt_enable_notrace();
		return;
	}
	preempt_enable_notrace();
	write_general(buffer, value);
}

enum { GENERAL, SHORT, INLINE, WAYS };

static struct way {
	const char		*name;
	void			(*write)(struct trace_buffer *buffer, u64 value);
	struct trace_buffer	*buffer;
} ways[WAYS] = {
	[GENERAL]	= { "general path", write_general },
	[SHORT]		= { "short path, by its two functions", write_short },
	[INLINE]	= { "short path, as the function tracers have it", write_inline },
};

static void *zeroed(size_t size)
{
	void *mem = aligned_alloc(64, (size + 63) & -64ul);

	if (!mem)
		wrong("no memory");
	return memset(mem, 0, size);
}

static struct trace_buffer *make_buffer(void)
{
	struct trace_buffer *buffer = zeroed(sizeof(*buffer));
	struct ring_buffer_per_cpu *cpu_buffer = zeroed(sizeof(*cpu_buffer));
	u8 *data = zeroed((RB_PAGES + 1) * PAGE_SIZE);
	struct buffer_page *page = NULL, *first = NULL;

	data += -(unsigned long)data % PAGE_SIZE;
	for (unsigned int i = 0; i < RB_PAGES; i++, data += PAGE_SIZE) {
		struct buffer_page *last = page;

		page = zeroed(sizeof(*page));
		page->page = (void *)data;
		if (last)
			last->next = page;
		else
			first = page;
	}
	page->next = first;

	cpu_buffer->buffer = buffer;
	cpu_buffer->head_page = first;
	cpu_buffer->tail_page = first;
	cpu_buffer->commit_page = first;
	cpu_buffer->reader_page = zeroed(sizeof(*page));
	buffer->buffers = zeroed(sizeof(*buffer->buffers));
	buffer->buffers[0] = cpu_buffer;
	buffer->cpus = 1;
	buffer->clock = trace_clock_local;
	rb_fast_update(buffer);
	buffer->max_data_size = PAGE_SIZE / 2;
	return buffer;
}

/* Has the clock that all of them read stand still. */
static void set_time(u64 ns)
{
	/* What the counter adds is less than a nanosecond in centuries. */
	sched_clock_scale = (struct sched_clock_scale){ .mul = 1, .offset = ns };
}

static void start_clock(void)
{
	u32 shift, mul = tsc_scale(&shift);

	sched_clock_scale.mul = (u64)mul << (SCHED_CLOCK_SHIFT - shift);
}

/* Between two events: mostly little, sometimes nothing, much, or backwards */
static u64 pause_after(unsigned int event)
{
	if (event % 997 == 0)
		return -500ull;
	if (event % 499 == 0)
		return (1ull << 27) + random() % 1000;
	if (event % 251 == 0)
		return 1ull << 40;
	return event % 5 ? random() % 1000 : 0;
}

/* The first byte of a page that another has not, or its size */
static unsigned long differ(const void *a, const void *b, size_t size)
{
	const u8 *x = a, *y = b;
	unsigned long i = 0;

	while (i < size && x[i] == y[i])
		i++;
	return i;
}

static void same(const char *name, const char *what, long want, long got)
{
	if (want != got)
		wrong("%s: %s: %ld instead of %ld", name, what, got, want);
}

/* How many pages it is from the oldest one */
static long age(const struct ring_buffer_per_cpu *cpu_buffer, const struct buffer_page *page)
{
	const struct buffer_page *from = cpu_buffer->head_page;
	long pages = 0;

	for (; from != page; from = from->next)
		pages++;
	return pages;
}

/* All that readers and later writers see, but how often the general path was taken */
static void compare(const struct way *way)
{
	struct ring_buffer_per_cpu *want = ways[GENERAL].buffer->buffers[0];
	struct ring_buffer_per_cpu *got = way->buffer->buffers[0];
	struct buffer_page *a = want->head_page, *b = got->head_page;
	const char *name = way->name;

	for (unsigned int i = 0; i < RB_PAGES; i++, a = a->next, b = b->next) {
		const unsigned long at = differ(a->page, b->page, PAGE_SIZE);

		if (at < PAGE_SIZE)
			wrong("%s: byte %lu of page %u differs", name, at, i);
		same(name, "index in a page", local_read(&a->write), local_read(&b->write));
		same(name, "events on a page", local_read(&a->entries), local_read(&b->entries));
		same(name, "end of a page", a->real_end, b->real_end);
	}
	same(name, "tail", age(want, want->tail_page), age(got, got->tail_page));
	same(name, "commit", age(want, want->commit_page), age(got, got->commit_page));
	same(name, "events", local_read(&want->entries), local_read(&got->entries));
	same(name, "bytes", local_read(&want->entries_bytes), local_read(&got->entries_bytes));
	same(name, "overwritten", local_read(&want->overrun), local_read(&got->overrun));
	same(name, "pages", local_read(&want->pages_touched), local_read(&got->pages_touched));
	same(name, "time", want->write_stamp, got->write_stamp);
	same(name, "time before", want->before_stamp, got->before_stamp);
	/* Nobody asks for the time of what the function tracers write. */
	if (way != &ways[INLINE])
		same(name, "time of the event", want->event_stamp[0], got->event_stamp[0]);
	same(name, "commits going on", 0, local_read(&got->committing));
	same(name, "contexts", 0, got->current_context);
	same(name, "preemption", PREEMPT_NEED_RESCHED, this_cpu_read(__preempt_count));
}

static void check(void)
{
	const unsigned int per_page = PAGE_SIZE / (RB_EVNT_HDR_SIZE + DATA);
	u64 time = 1ull << 41;
	unsigned int general[WAYS] = {};
	unsigned int i, way;

	for (i = 0; i < CHECKED; i++) {
		time += pause_after(i);
		set_time(time);
		for (way = 0; way < WAYS; way++) {
			ways[way].write(ways[way].buffer, i);
			/* The short path sets it to 0, and the general path increments it. */
			general[way] += !!local_read(&ways[way].buffer->buffers[0]->commits);
		}
		/* Before any page is overwritten, and in the middle of one */
		if (i % (RB_PAGES * per_page / 2) == per_page / 2) {
			for (way = SHORT; way < WAYS; way++)
				compare(&ways[way]);
		}
	}

	printf("\n%u events, %lu of them overwritten, are the same in all pages and counters, by\n",
	       CHECKED, local_read(&ways[GENERAL].buffer->buffers[0]->overrun));
	for (way = SHORT; way < WAYS; way++) {
		compare(&ways[way]);
		printf("  %s, which left %u to the general path\n", ways[way].name, general[way]);
		if (general[way] > CHECKED / 20)
			wrong("the short path was not taken");
		/* It does not write the first event of a page. */
		if (!general[way])
			wrong("the short path was always taken");
	}
}

static void run_write(const struct row *row, unsigned long nr)
{
	const struct way *way = &ways[row->arg];

	for (; nr; nr--)
		way->write(way->buffer, nr);
}

static void run_clock(const struct row *row, unsigned long nr)
{
	for (; nr; nr--) {
		const u64 now = row->arg ? rb_fast_clock() : trace_clock_local();

		asm volatile("" : : "r" (now));
	}
}

void measure_ring_buffer(void)
{
	static struct row rows[2 + WAYS] = {
		{ "only the clock: trace_clock_local()", NULL, run_clock, 0 },
		{ "only the clock: rb_fast_clock()", NULL, run_clock, 1 },
	};
	unsigned int way;

	for (way = 0; way < WAYS; way++) {
		ways[way].buffer = make_buffer();
		snprintf(rows[2 + way].name, sizeof(rows->name), "%s", ways[way].name);
		rows[2 + way].run = run_write;
		rows[2 + way].arg = way;
	}
	check();
	start_clock();
	measure("cycles per event of 16 bytes and its header", rows, ARRAY_SIZE(rows), CALLS);
}
