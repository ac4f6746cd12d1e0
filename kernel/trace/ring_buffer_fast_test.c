// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of writing events the short way: whatever interrupts the writer, between any
 * two of its steps, what is in the buffer is what the ordinary functions make of it.
 * ring_buffer.c includes this.
 *
 * A scenario runs in a buffer that is written to the short way, and again in one that is
 * written to by the ordinary functions. These cannot be interrupted between their steps,
 * so there what interrupts is run before the event is reserved, between that and the
 * commit, or after it; and the time stamps are set to what they are between two steps.
 */
#include <kunit/test.h>

#include <linux/random.h>

#define FAST_TEST_PAGES	2
#define FAST_TEST_DATA	24	/* of an event */
#define FAST_TEST_MAX	120	/* more than is in the header */
#define FAST_TEST_SIZE	(FAST_TEST_DATA + RB_EVNT_HDR_SIZE)

/* What interrupts */
enum fast_what {
	FAST_WRITE,
	FAST_CROSS,		/* until that is on another page */
	FAST_DISCARD,		/* what was written last */
	FAST_SWAP,
	FAST_OFF,
	FAST_JUMP,		/* of time, and back */
	FAST_BACK,
	FAST_FLOOD,		/* as much as there is room for, and more */
	FAST_NEST,		/* a write inside of what may nest */
	FAST_CPU_OFF,
	FAST_ABSOLUTE,		/* full time stamps from now on */
	FAST_WHATS
};

/* Where it does that, in the ordinary functions */
enum fast_place {
	PLACE_BEFORE,		/* before the event is reserved */
	PLACE_CHECKED,		/* the same, after recording was found to be on */
	PLACE_PINNED,		/* the same, and it must not commit */
	PLACE_STAMPED,		/* the same, after before_stamp was set */
	PLACE_CLOCK,		/* before the clock is read */
	PLACE_TIME,		/* after the clock was read */
	PLACE_KEPT,		/* after before_stamp was set, and the event follows */
	PLACE_WINDOW,		/* when reserved, before write_stamp is set */
	PLACE_INSIDE,		/* when reserved */
	PLACE_COMMITTED,	/* when committed, before others are woken */
	PLACE_AFTER,		/* when all is done */
	FAST_PLACES
};

/* One that writes must come out as if it did so here. */
static const enum fast_place write_place[RB_FAST_STEPS] = {
	[RB_FAST_CHECKED]	= PLACE_CHECKED,
	[RB_FAST_CONTEXT]	= PLACE_CHECKED,
	[RB_FAST_PINNED]	= PLACE_PINNED,
	[RB_FAST_TAIL]		= PLACE_PINNED,
	[RB_FAST_BEFORE]	= PLACE_PINNED,
	[RB_FAST_AFTER]		= PLACE_PINNED,
	[RB_FAST_TIME]		= PLACE_PINNED,
	[RB_FAST_STAMPED]	= PLACE_STAMPED,
	[RB_FAST_RESERVED]	= PLACE_WINDOW,
	[RB_FAST_WRITTEN]	= PLACE_INSIDE,
	[RB_FAST_FILLED]	= PLACE_INSIDE,
	[RB_FAST_COMMIT]	= PLACE_INSIDE,
	[RB_FAST_COUNTED]	= PLACE_INSIDE,
	[RB_FAST_COMMITTED]	= PLACE_INSIDE,
	[RB_FAST_UNPINNED]	= PLACE_COMMITTED,
	[RB_FAST_DONE]		= PLACE_COMMITTED,
};

/* A step that the short way leaves out, and what has to interrupt it for that to show */
enum fast_sabotage { SOUND, NO_STAMP, NO_CMPXCHG, NO_WRITE_STAMP, NO_REST, FAST_SABOTAGES };

static const struct {
	enum rb_fast_step	step, interrupt;
} sabotages[FAST_SABOTAGES] = {
	[NO_STAMP]		= { RB_FAST_STAMPED, RB_FAST_RESERVED },
	[NO_CMPXCHG]		= { RB_FAST_STAMPED, RB_FAST_STAMPED },
	[NO_WRITE_STAMP]	= { RB_FAST_WRITTEN, RB_FAST_FILLED },
	[NO_REST]		= { RB_FAST_UNPINNED, RB_FAST_COMMITTED },
};

/* What there is when the event is written */
enum fast_setup {
	SETUP_SOME,		/* some events on the page */
	SETUP_ONE_FITS,		/* room for no more than this one */
	SETUP_ONE_AND_8,	/* ... and the smallest */
	SETUP_TWO_FIT,		/* ... and another, and 4 bytes */
	SETUP_NONE_FITS,
	SETUP_EMPTY,
	SETUP_READ,		/* the reader has the page, and waits */
	SETUP_WRAPPED,		/* the oldest is overwritten next; a reader waits for a part */
	SETUP_FULL,		/* the next one but this is dropped */
	FAST_SETUPS
};

struct fast_injection {
	unsigned int	at;	/* enum rb_fast_step, or enum fast_place */
	enum fast_what	what;
	bool		fired;
};

struct fast_scenario {
	enum fast_setup		setup;
	unsigned int		nr;
	struct fast_injection	injection[2];
	bool			deep;	/* the second interrupts the first */
	int			context; /* what preempt_count() has of the writer's */
	bool			direct;	/* as the function tracers write events */
	bool			carry;	/* the upper word of the time changes meanwhile */
	enum fast_sabotage	sabotage;
};

struct fast_pair {
	struct trace_buffer	*buffer, *spare;
};

static struct {
	struct fast_pair		pair[2];	/* for overwrite and not */
	struct fast_pair		*now;
	struct fast_scenario		scenario;
	bool				fast;
	bool				impossible;	/* the short way does not do that */
	/* As soon as it is reserved */
	bool				off, absolute;
	int				cpu_off;
	u64				time;
	int				clock_place;	/* what the clock runs, or -1 */
	unsigned int			depth, id, len;
	long				commits, write;	/* before an interruption */
	u64				after, event_time;
	unsigned int			overruns;	/* of the page that is committed to */
	unsigned int			checked;	/* that were interrupted as wanted */
	u8				*got, *want;
	size_t				size;
} ft;

/* Each of FAST_TEST_PAGES and the reader's page three times, and what belongs to it */
#define FAST_SNAPSHOT_SIZE	(4 * (FAST_TEST_PAGES + 2) * 2 * PAGE_SIZE)

static void fast_test_step(enum rb_fast_step step);
static void fast_run_place(unsigned int place);

static u64 fast_test_clock(void)
{
	u64 time;

	if (ft.clock_place < 0)
		return ft.time;
	ft.clock_place = -1;
	fast_run_place(PLACE_CLOCK);
	time = ft.time;
	fast_run_place(PLACE_TIME);
	return time;
}

static void fast_no_step(enum rb_fast_step step) { }

static const struct rb_fast_test fast_hooks = {
	.clock	= fast_test_clock,
	.step	= fast_test_step,
};

static const struct rb_fast_test fast_quiet = {
	.clock	= fast_test_clock,
	.step	= fast_no_step,
};

/* What the function tracers write has no time that can be asked for. */
static void fast_fill_in(struct ring_buffer_event *event, bool outer)
{
	memset(rb_event_data(event), outer ? 0xff : ft.id++ & 0x7f,
	       ring_buffer_event_length(event));
	if (outer && !ft.scenario.direct)
		ft.event_time = ring_buffer_event_time_stamp(ft.now->buffer, event);
}

/* As in production: by the short way if it does it */
static noinline struct ring_buffer_event *fast_reserve(unsigned int len, bool outer)
{
	struct trace_buffer *buffer = ft.now->buffer;
	struct ring_buffer_event *event = NULL;

	if (ft.fast)
		event = outer ? rb_fast_lock_reserve(buffer, len, &fast_hooks) :
				rb_fast_lock_reserve(buffer, len, &fast_quiet);
	event = event ?: rb_lock_reserve(buffer, len);
	if (event)
		fast_fill_in(event, outer);
	return event;
}

static noinline void fast_commit(bool outer)
{
	struct trace_buffer *buffer = ft.now->buffer;

	if (!ft.fast || !(outer ? rb_fast_unlock_commit(buffer, &fast_hooks) :
				  rb_fast_unlock_commit(buffer, &fast_quiet)))
		rb_unlock_commit(buffer);
}

static bool fast_write(unsigned int len)
{
	if (!fast_reserve(len, false))
		return false;
	fast_commit(false);
	return true;
}

static struct ring_buffer_per_cpu *fast_cpu_buffer(void)
{
	return ft.now->buffer->buffers[smp_processor_id()];
}

static void fast_inject(struct fast_injection *injection);

/* The second of two interrupts the first where it has reserved its event. */
static void fast_inject_deep(const struct fast_injection *injection)
{
	if (ft.scenario.deep && injection == &ft.scenario.injection[0])
		fast_inject(&ft.scenario.injection[1]);
}

static void fast_inject_write(const struct fast_injection *injection, bool discard)
{
	struct ring_buffer_event *event = fast_reserve(FAST_TEST_DATA, false);

	ft.time += 10;
	fast_inject_deep(injection);
	if (event && discard)
		ring_buffer_discard_commit(ft.now->buffer, event);
	else if (event)
		fast_commit(false);
}

static void fast_inject_cross(const struct fast_injection *injection)
{
	struct buffer_page *page = fast_cpu_buffer()->tail_page;
	unsigned int i;

	for (i = 0; i < PAGE_SIZE / 64 && page == fast_cpu_buffer()->tail_page; i++) {
		struct ring_buffer_event *event = fast_reserve(100, false);

		if (!i)
			fast_inject_deep(injection);
		if (!event)
			break;
		fast_commit(false);
	}
}

/* The tail comes to where the interrupted writer is, and goes no further. */
static void fast_inject_flood(void)
{
	const unsigned int nr = fast_cpu_buffer()->nr_pages * PAGE_SIZE / 64;
	unsigned int i;

	for (i = 0; i < nr && fast_write(100); i++)
		;
	ft.overruns += local_read(&fast_cpu_buffer()->commit_overrun);
}

static int fast_swap(void)
{
#ifdef CONFIG_RING_BUFFER_ALLOW_SWAP
	return ring_buffer_swap_cpu(ft.now->buffer, ft.now->spare, smp_processor_id());
#else
	return -EBUSY;
#endif
}

static void fast_inject(struct fast_injection *injection)
{
	const bool nmi = ft.depth++ || ft.scenario.context >= HARDIRQ_OFFSET;
	const int context = nmi ? NMI_OFFSET : HARDIRQ_OFFSET;

	injection->fired = true;
	__preempt_count_add(context);
	ft.time += 10;
	switch (injection->what) {
	case FAST_WRITE:
	case FAST_DISCARD:
		fast_inject_write(injection, injection->what == FAST_DISCARD);
		break;
	case FAST_CROSS:
		fast_inject_cross(injection);
		break;
	case FAST_SWAP:
		fast_swap();
		break;
	case FAST_OFF:
		ring_buffer_record_off(ft.now->buffer);
		break;
	case FAST_FLOOD:
		fast_inject_flood();
		break;
	case FAST_NEST:
		ring_buffer_nest_start(ft.now->buffer);
		fast_inject_write(injection, false);
		ring_buffer_nest_end(ft.now->buffer);
		break;
	case FAST_CPU_OFF:
		atomic_inc(&fast_cpu_buffer()->record_disabled);
		break;
	case FAST_ABSOLUTE:
		ft.now->buffer->time_stamp_abs = true;
		break;
	case FAST_JUMP:
		/* With @carry, the lower word of the difference is small. */
		ft.time += ft.scenario.carry ? BIT_ULL(32) - 40 : BIT_ULL(TS_SHIFT + 1);
		break;
	case FAST_BACK:
		/* Where times are checked, the first such clock ends that on this processor. */
		if (!IS_ENABLED(CONFIG_RING_BUFFER_VALIDATE_TIME_DELTAS))
			ft.time -= 40;
		break;
	default:
		break;
	}
	ft.time += 10;
	__preempt_count_sub(context);
	ft.depth--;
}

static void fast_run_place(unsigned int place)
{
	struct fast_scenario *scenario = &ft.scenario;
	unsigned int i;

	for (i = 0; i < (scenario->deep ? 1 : scenario->nr); i++) {
		if (scenario->injection[i].at == place && !scenario->injection[i].fired)
			fast_inject(&scenario->injection[i]);
	}
}

/* Undo a step that is to be left out. */
static void fast_sabotage(enum fast_sabotage sabotage)
{
	struct ring_buffer_per_cpu *cpu_buffer = fast_cpu_buffer();

	switch (sabotage) {
	case NO_STAMP:
		rb_time_set(&cpu_buffer->before_stamp, ft.after);
		break;
	case NO_CMPXCHG:
		local_set(&cpu_buffer->tail_page->write, ft.write);
		break;
	case NO_WRITE_STAMP:
		rb_time_set(&cpu_buffer->write_stamp, ft.after);
		break;
	case NO_REST:
		local_set(&cpu_buffer->commits, ft.commits);
		break;
	default:
		break;
	}
}

static void fast_test_step(enum rb_fast_step step)
{
	struct ring_buffer_per_cpu *cpu_buffer = fast_cpu_buffer();

	if (step == RB_FAST_TAIL) {
		ft.commits = local_read(&cpu_buffer->commits);
		ft.write = local_read(&cpu_buffer->tail_page->write);
		rb_time_read(&cpu_buffer->write_stamp, &ft.after);
	}
	fast_run_place(step);
	if (ft.scenario.sabotage && step == sabotages[ft.scenario.sabotage].step)
		fast_sabotage(ft.scenario.sabotage);
}

static bool fast_has_place(unsigned int place)
{
	return ft.scenario.injection[0].at == place ||
	       (ft.scenario.nr == 2 && !ft.scenario.deep &&
		ft.scenario.injection[1].at == place);
}

/*
 * What the short way has done when it is interrupted there: it has found recording on, it
 * has set time stamps. When the event is reserved, its time is @time, and that of the
 * event before it @after.
 */
static void fast_ordinary_before(u64 *time, u64 *after)
{
	struct ring_buffer_per_cpu *cpu_buffer;
	struct buffer_page *page;
	u64 before;
	long write;

	fast_run_place(PLACE_BEFORE);
	fast_run_place(PLACE_CHECKED);
	cpu_buffer = fast_cpu_buffer();
	cpu_buffer->current_context = 1 << RB_CTX_NORMAL;
	rb_start_commit(cpu_buffer);
	fast_run_place(PLACE_PINNED);
	if (fast_has_place(PLACE_STAMPED))
		rb_time_set(&cpu_buffer->before_stamp, ft.time);
	fast_run_place(PLACE_STAMPED);
	rb_time_read(&cpu_buffer->before_stamp, &before);
	rb_time_read(&cpu_buffer->write_stamp, after);
	page = cpu_buffer->tail_page;
	write = local_read(&page->write);
	if (fast_has_place(PLACE_KEPT)) {
		fast_run_place(PLACE_CLOCK);
		*time = ft.time;
		fast_run_place(PLACE_TIME);
		rb_time_set(&cpu_buffer->before_stamp, *time);
		fast_run_place(PLACE_KEPT);
		/* @after must be the time of what the event follows. */
		ft.impossible = before != *after || page != cpu_buffer->tail_page ||
				write != local_read(&page->write);
		if (!ft.impossible) {
			rb_time_set(&cpu_buffer->before_stamp, *after);
			rb_time_set(&cpu_buffer->write_stamp, *after);
		}
	} else if (fast_has_place(PLACE_CLOCK) || fast_has_place(PLACE_TIME)) {
		ft.clock_place = 1;
	}
	rb_end_commit(cpu_buffer);
	cpu_buffer->current_context = 0;
	if (fast_has_place(PLACE_CHECKED) || fast_has_place(PLACE_KEPT)) {
		ft.off = !ring_buffer_record_is_on(ft.now->buffer);
		ring_buffer_record_on(ft.now->buffer);
		ft.cpu_off = atomic_xchg(&cpu_buffer->record_disabled, 0);
		ft.absolute = ft.now->buffer->time_stamp_abs;
		ft.now->buffer->time_stamp_abs = false;
	}
}

static void fast_ordinary_inside(u64 after)
{
	struct ring_buffer_per_cpu *cpu_buffer = fast_cpu_buffer();
	u64 ts;

	if (ft.off)
		ring_buffer_record_off(ft.now->buffer);
	atomic_add(ft.cpu_off, &cpu_buffer->record_disabled);
	ft.now->buffer->time_stamp_abs |= ft.absolute;
	if (fast_has_place(PLACE_KEPT))
		rb_time_set(&cpu_buffer->before_stamp, 0);
	if (fast_has_place(PLACE_WINDOW)) {
		rb_time_read(&cpu_buffer->write_stamp, &ts);
		rb_time_set(&cpu_buffer->write_stamp, after);
		fast_run_place(PLACE_WINDOW);
		rb_time_set(&cpu_buffer->write_stamp, ts);
	}
	fast_run_place(PLACE_INSIDE);
}

/* As rb_unlock_commit() */
static void fast_ordinary_commit(void)
{
	struct ring_buffer_per_cpu *cpu_buffer = fast_cpu_buffer();

	rb_commit(cpu_buffer);
	fast_run_place(PLACE_COMMITTED);
	rb_wakeups(ft.now->buffer, cpu_buffer);
	trace_recursive_unlock(cpu_buffer);
	preempt_enable_notrace();
}

/* What the function tracers do, which keep what they know of the event until they commit it */
static noinline bool fast_direct(void)
{
	struct trace_buffer *buffer = ft.now->buffer;
	struct ring_buffer_per_cpu *cpu_buffer;
	struct rb_fast fast;
	bool reserved;

	preempt_disable_notrace();
	cpu_buffer = buffer->buffers[smp_processor_id()];
	reserved = rb_fast_reserve(&fast, buffer, cpu_buffer, rb_calculate_event_length(ft.len),
				   &fast_hooks);
	if (reserved) {
		fast_fill_in(fast.event, true);
		rb_fast_finish(&fast, cpu_buffer, rb_fast_wake, &fast_hooks);
	}
	preempt_enable_notrace();
	return reserved;
}

static void fast_run_direct(void)
{
	if (fast_direct())
		return;
	ft.fast = false;
	if (fast_reserve(ft.len, true))
		fast_commit(true);
	ft.fast = true;
}

/* The event, and what interrupts it */
static void fast_run_event(void)
{
	struct ring_buffer_event *event;
	u64 after, time;

	if (ft.fast && ft.scenario.direct) {
		fast_run_direct();
		return;
	}
	if (ft.fast) {
		if (fast_reserve(ft.len, true))
			fast_commit(true);
		return;
	}
	fast_ordinary_before(&time, &after);
	if (ft.impossible)
		return;
	if (fast_has_place(PLACE_KEPT))
		swap(ft.time, time);
	event = fast_reserve(ft.len, true);
	if (fast_has_place(PLACE_KEPT))
		swap(ft.time, time);
	fast_ordinary_inside(after);
	if (event)
		fast_ordinary_commit();
	fast_run_place(PLACE_AFTER);
}

/* Leave so many bytes on the page. */
static void fast_fill(unsigned int room)
{
	for (;;) {
		struct buffer_page *page = fast_cpu_buffer()->tail_page;
		unsigned int rest = rb_page_capacity(page) - rb_page_write(page) - room;

		ft.time += 10;
		if (rest <= RB_MAX_SMALL_DATA + RB_EVNT_HDR_SIZE) {
			fast_write(rest - RB_EVNT_HDR_SIZE);
			return;
		}
		fast_write(FAST_TEST_DATA);
	}
}

static void fast_fill_pages(unsigned int nr)
{
	while (nr--) {
		fast_fill(0);
		fast_write(FAST_TEST_DATA);
	}
}

static void fast_wait(struct rb_irq_work *work)
{
	work->waiters_pending = true;
	work->full_waiters_pending = true;
}

static void fast_set_up(void)
{
	struct ring_buffer_per_cpu *cpu_buffer = fast_cpu_buffer();
	int i;

	if (ft.scenario.setup != SETUP_EMPTY) {
		for (i = 0; i < 3; i++, ft.time += 10)
			fast_write(FAST_TEST_DATA);
	}
	switch (ft.scenario.setup) {
	case SETUP_ONE_FITS:
		fast_fill(FAST_TEST_SIZE);
		break;
	case SETUP_ONE_AND_8:
		fast_fill(FAST_TEST_SIZE + 8);
		break;
	case SETUP_TWO_FIT:
		fast_fill(2 * FAST_TEST_SIZE + 4);
		break;
	case SETUP_NONE_FITS:
		fast_fill(FAST_TEST_SIZE - 4);
		break;
	case SETUP_READ:
		ring_buffer_consume(ft.now->buffer, smp_processor_id(), NULL, NULL);
		fast_wait(&cpu_buffer->irq_work);
		ft.now->buffer->irq_work.waiters_pending = true;
		break;
	case SETUP_WRAPPED:
	case SETUP_FULL:
		fast_fill_pages(cpu_buffer->nr_pages - (ft.scenario.setup == SETUP_FULL));
		fast_fill(FAST_TEST_SIZE);
		cpu_buffer->irq_work.full_waiters_pending = true;
		cpu_buffer->shortest_full = 1;
		break;
	default:
		break;
	}
	ft.time += 10;
}

static void fast_save(const void *from, size_t size)
{
	if (ft.size + size <= FAST_SNAPSHOT_SIZE)
		memcpy(ft.got + ft.size, from, size);
	ft.size += size;
}

#define fast_save_value(value)	({ const u64 __value = (u64)(value);		\
				   fast_save(&__value, sizeof(__value)); })

/* What padding covers is not defined. */
static void fast_save_page(struct ring_buffer_per_cpu *cpu_buffer, struct buffer_page *page)
{
	unsigned int at = 0, end = rb_page_size(page);

	fast_save_value(page == cpu_buffer->tail_page);
	fast_save_value(page == cpu_buffer->commit_page);
	fast_save_value(rb_page_write(page));
	fast_save_value(rb_page_entries(page));
	fast_save_value(local_read(&page->page->commit));
	fast_save_value(page->real_end);
	fast_save_value(page->read);
	if (!end)
		return;
	fast_save_value(page->page->time_stamp);
	while (at < end) {
		struct ring_buffer_event *event = __rb_page_index(page, at);

		fast_save(event, sizeof(*event));
		if (rb_null_event(event))
			break;
		if (event->type_len == RINGBUF_TYPE_PADDING)
			fast_save_value(event->array[0]);
		else
			fast_save(event->array, rb_event_length(event) - RB_EVNT_HDR_SIZE);
		at += rb_event_length(event);
	}
}

static void fast_save_work(struct rb_irq_work *work)
{
	fast_save_value(work->waiters_pending);
	fast_save_value(work->full_waiters_pending);
	fast_save_value(work->wakeup_full);
	fast_save_value(irq_work_is_pending(&work->work));
}

static void fast_save_buffer(struct trace_buffer *buffer)
{
	struct ring_buffer_per_cpu *cpu_buffer = buffer->buffers[smp_processor_id()];
	struct buffer_page *head = rb_set_head_page(cpu_buffer), *page = head;
	u64 stamp;

	rb_time_read(&cpu_buffer->write_stamp, &stamp);
	/* On 32 bits, its words may be of two times then. The next events do not use it. */
	if (!ft.scenario.carry)
		fast_save_value(stamp);
	fast_save_value(cpu_buffer->lost_events);
	fast_save_value(cpu_buffer->last_overrun);
	fast_save_value(cpu_buffer->nest);
	fast_save_value(local_read(&cpu_buffer->entries_bytes));
	fast_save_value(local_read(&cpu_buffer->entries));
	fast_save_value(local_read(&cpu_buffer->overrun));
	fast_save_value(local_read(&cpu_buffer->commit_overrun));
	fast_save_value(local_read(&cpu_buffer->dropped_events));
	fast_save_value(local_read(&cpu_buffer->committing));
	fast_save_value(local_read(&cpu_buffer->pages_touched));
	fast_save_value(local_read(&cpu_buffer->pages_lost));
	fast_save_value(local_read(&cpu_buffer->pages_read));
	fast_save_value(cpu_buffer->current_context);
	fast_save_value(cpu_buffer->last_pages_touch);
	fast_save_value(cpu_buffer->shortest_full);
	fast_save_value(atomic_read(&cpu_buffer->record_disabled));
	fast_save_work(&cpu_buffer->irq_work);
	fast_save_work(&buffer->irq_work);
	fast_save_page(cpu_buffer, cpu_buffer->reader_page);
	do {
		fast_save_page(cpu_buffer, page);
		rb_inc_page(&page);
	} while (page != head);
}

/* A wake-up of the run before. In a real-time kernel, irq_work_sync() takes a grace period. */
static void fast_wait_for(struct irq_work *work)
{
	if (irq_work_is_busy(work))
		irq_work_sync(work);
}

static void fast_reset(struct trace_buffer *buffer)
{
	struct ring_buffer_per_cpu *cpu_buffer = buffer->buffers[smp_processor_id()];
	struct buffer_page *page;
	int i;

	rb_reset_cpu(cpu_buffer);
	cpu_buffer->reader_page->real_end = 0;
	for (page = cpu_buffer->head_page, i = 0; i < cpu_buffer->nr_pages; i++) {
		page->real_end = 0;
		rb_inc_page(&page);
	}
	buffer->time_stamp_abs = false;
	atomic_set(&cpu_buffer->record_disabled, 0);
	cpu_buffer->irq_work.waiters_pending = false;
	cpu_buffer->irq_work.full_waiters_pending = false;
	cpu_buffer->irq_work.wakeup_full = false;
	buffer->irq_work.waiters_pending = false;
	ring_buffer_record_on(buffer);
	local_irq_enable();
	fast_wait_for(&cpu_buffer->irq_work.work);
	fast_wait_for(&buffer->irq_work.work);
	local_irq_disable();
}

/* Run the scenario, and save what comes of it. */
static void fast_run(bool fast)
{
	unsigned int i;

	ft.now = &ft.pair[ft.scenario.setup == SETUP_FULL];
	ft.fast = fast;
	ft.impossible = false;
	ft.off = false;
	ft.absolute = false;
	ft.cpu_off = 0;
	ft.time = ft.scenario.carry ? BIT_ULL(32) - 100000 : 1000;
	ft.clock_place = -1;
	ft.id = 0;
	ft.event_time = 0;
	ft.size = 0;
	for (i = 0; i < ARRAY_SIZE(ft.scenario.injection); i++)
		ft.scenario.injection[i].fired = false;

	local_irq_disable();
	fast_reset(ft.now->buffer);
	fast_reset(ft.now->spare);
	fast_set_up();
	if (ft.scenario.carry)
		ft.time = BIT_ULL(32) - 5;
	__preempt_count_add(ft.scenario.context);
	fast_run_event();
	__preempt_count_sub(ft.scenario.context);
	ft.clock_place = -1;
	fast_save_buffer(ft.now->buffer);
	/* The next ones tell whether the time stamps are right. */
	for (i = 0; i < 2; i++) {
		ft.time += 100;
		fast_write(FAST_TEST_DATA);
	}
	fast_save_value(ft.event_time);
	fast_save_value(ft.id);
	fast_save_value(ft.time);
	fast_save_buffer(ft.now->buffer);
	fast_save_buffer(ft.now->spare);
	local_irq_enable();
}

/* Run it the ordinary way with what interrupts in these places: is it the same? */
static bool fast_same(unsigned int first, unsigned int second)
{
	const size_t size = ft.size;
	bool same;

	ft.scenario.injection[0].at = first;
	ft.scenario.injection[1].at = second;
	swap(ft.got, ft.want);
	fast_run(false);
	same = !ft.impossible && ft.size == size && !memcmp(ft.got, ft.want, size);
	swap(ft.got, ft.want);
	ft.size = size;
	return same;
}

static void fast_fail(struct kunit *test, const struct fast_scenario *scenario)
{
	KUNIT_FAIL(test, "setup %u%s%s: %u at step %u, %u at step %u%s", scenario->setup,
		   ft.scenario.direct ? ", direct" : "", scenario->carry ? ", carry" : "",
		   scenario->injection[0].what, scenario->injection[0].at,
		   scenario->nr > 1 ? scenario->injection[1].what : 0,
		   scenario->nr > 1 ? scenario->injection[1].at : 0,
		   scenario->deep ? " in it" : "");
}

/* The short way is one, as the event fits and there are others on the page. */
static bool fast_fits(const struct fast_scenario *scenario)
{
	return scenario->setup != SETUP_NONE_FITS && scenario->setup != SETUP_EMPTY;
}

/* Is there such a step, and does nothing keep the short way from getting there? */
static bool fast_must_fire(const struct fast_scenario *scenario, unsigned int i)
{
	const struct fast_injection *injection = scenario->injection;

	if (!fast_fits(scenario) || (ft.scenario.direct && injection[0].at == RB_FAST_COMMIT))
		return false;
	if (!i || scenario->deep)
		return true;
	return ft.scenario.direct && injection[0].at >= RB_FAST_RESERVED &&
	       injection[1].at != RB_FAST_COMMIT;
}

static bool fast_writes(enum fast_what what)
{
	return what <= FAST_CROSS || what == FAST_FLOOD || what == FAST_NEST;
}

static bool fast_fired(struct kunit *test, const struct fast_scenario *scenario)
{
	unsigned int i;

	for (i = 0; i < scenario->nr; i++) {
		if (ft.scenario.injection[i].fired)
			continue;
		if (fast_must_fire(scenario, i))
			KUNIT_FAIL(test, "setup %u%s: step %u was not interrupted",
				   scenario->setup, ft.scenario.direct ? ", direct" : "",
				   scenario->injection[i].at);
		return false;
	}
	ft.checked++;
	return true;
}

/* Before the event is reserved, while it is written, or when it is committed */
static unsigned int fast_phase(enum fast_place place)
{
	return (place >= PLACE_WINDOW) + (place >= PLACE_COMMITTED);
}

static unsigned int fast_step_phase(const struct fast_scenario *scenario, unsigned int i)
{
	const unsigned int at = scenario->injection[i].at;

	return (at >= RB_FAST_RESERVED) + (at >= RB_FAST_UNPINNED);
}

/* Run it the short way; what comes of it must be what comes of some order of events. */
static void fast_check_way(struct kunit *test, const struct fast_scenario *scenario, bool direct)
{
	unsigned int first, second;

	/* All runs write to one processor's buffer. */
	guard(migrate)();
	ft.scenario = *scenario;
	ft.scenario.direct = direct;
	fast_run(true);
	KUNIT_EXPECT_LE(test, ft.size, FAST_SNAPSHOT_SIZE);
	/* If it does not get that far, there is nothing to see. */
	if (!fast_fired(test, scenario))
		return;
	if (scenario->nr == 1 && fast_writes(scenario->injection[0].what)) {
		if (!fast_same(write_place[scenario->injection[0].at], 0))
			fast_fail(test, scenario);
		return;
	}
	/* The most likely order first */
	if (scenario->nr == 2 && fast_same(write_place[scenario->injection[0].at],
					   write_place[scenario->injection[1].at]))
		return;
	for (first = 0; first < FAST_PLACES; first++) {
		if (scenario->nr && fast_phase(first) != fast_step_phase(scenario, 0))
			continue;
		for (second = first; second < FAST_PLACES; second++) {
			if (fast_same(first, second))
				return;
			if (scenario->nr < 2 || scenario->deep)
				break;
		}
		if (!scenario->nr)
			break;
	}
	fast_fail(test, scenario);
}

static void fast_check(struct kunit *test, const struct fast_scenario *scenario)
{
	fast_check_way(test, scenario, false);
	if (ft.len <= RB_MAX_SMALL_DATA)
		fast_check_way(test, scenario, true);
}

/* Nothing interrupts, and it is the short way that does it where it can. */
static void fast_test_alone(struct kunit *test)
{
	struct fast_scenario scenario = { };

	for (; scenario.setup < FAST_SETUPS; scenario.setup++) {
		for (ft.len = 0; ft.len <= FAST_TEST_MAX; ft.len++)
			fast_check(test, &scenario);
	}
	ft.len = FAST_TEST_DATA;
}

static void fast_test_taken(struct kunit *test)
{
	struct fast_scenario scenario = { .nr = 1, .injection = { { RB_FAST_FILLED, FAST_JUMP } } };

	for (; scenario.setup < FAST_SETUPS; scenario.setup++) {
		guard(migrate)();
		ft.scenario = scenario;
		fast_run(true);
		KUNIT_EXPECT_EQ_MSG(test, ft.scenario.injection[0].fired, fast_fits(&scenario),
				    "setup %u", scenario.setup);
	}
}

/* The comparison would notice if one of the steps were missing. */
static void fast_sabotage_way(struct kunit *test, bool direct)
{
	struct fast_scenario scenario = { .nr = 1, .setup = SETUP_SOME, .direct = direct };

	guard(migrate)();
	for (scenario.sabotage = SOUND + 1; scenario.sabotage < FAST_SABOTAGES;
	     scenario.sabotage++) {
		scenario.injection[0].at = sabotages[scenario.sabotage].interrupt;
		ft.scenario = scenario;
		fast_run(true);
		KUNIT_EXPECT_TRUE(test, ft.scenario.injection[0].fired);
		KUNIT_EXPECT_FALSE_MSG(test,
				       fast_same(write_place[scenario.injection[0].at], 0),
				       "sabotage %u%s", scenario.sabotage,
				       direct ? ", direct" : "");
	}
}

static void fast_test_sabotage(struct kunit *test)
{
	fast_sabotage_way(test, false);
	fast_sabotage_way(test, true);
}

/*
 * The longest tests run once for each setup: KUnit waits uninterruptibly for a test, and the
 * kernel reports a task that does so for minutes. Setups count from 1, as NULL ends the list.
 */
static const void *fast_next_setup(const void *last, char *desc)
{
	const unsigned long nr = (unsigned long)last;

	if (nr == FAST_SETUPS)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "setup %lu", nr);
	return (void *)(nr + 1);
}

static unsigned int fast_setup(struct kunit *test)
{
	return (unsigned long)test->param_value - 1;
}

static void fast_test_one_in(struct kunit *test, int context, bool carry)
{
	struct fast_scenario scenario = {
		.nr = 1, .setup = fast_setup(test), .context = context, .carry = carry,
	};
	struct fast_injection *one = &scenario.injection[0];

	for (one->at = 0; one->at < RB_FAST_STEPS; one->at++) {
		for (one->what = 0; one->what < FAST_WHATS; one->what++)
			fast_check(test, &scenario);
		cond_resched();
	}
}

static void fast_test_one(struct kunit *test)
{
	static const int contexts[] = { 0, SOFTIRQ_OFFSET, HARDIRQ_OFFSET, NMI_OFFSET };
	const unsigned int setup = fast_setup(test);
	int i;

	if (!setup) {
		ft.checked = 0;
		ft.overruns = 0;
	}
	for (i = 0; i < ARRAY_SIZE(contexts); i++)
		fast_test_one_in(test, contexts[i], false);
	fast_test_one_in(test, 0, true);
	if (setup == FAST_SETUPS - 1) {
		KUNIT_EXPECT_GT(test, ft.overruns, 0);
		kunit_info(test, "%u scenarios", ft.checked);
	}
}

static void fast_test_deep_in(struct kunit *test, bool carry)
{
	struct fast_scenario scenario = {
		.nr = 2, .setup = fast_setup(test), .deep = true, .carry = carry,
	};
	struct fast_injection *one = &scenario.injection[0], *two = &scenario.injection[1];

	for (one->at = 0; one->at < RB_FAST_STEPS; one->at++) {
		for (one->what = 0; one->what <= FAST_DISCARD; one->what++) {
			for (two->what = 0; two->what < FAST_WHATS; two->what++)
				fast_check(test, &scenario);
		}
		cond_resched();
	}
}

static void fast_test_deep(struct kunit *test)
{
	fast_test_deep_in(test, false);
	fast_test_deep_in(test, true);
}

static void fast_test_two(struct kunit *test)
{
	struct fast_scenario scenario = { .nr = 2, .setup = fast_setup(test) };
	struct fast_injection *one = &scenario.injection[0], *two = &scenario.injection[1];

	for (one->at = 0; one->at < RB_FAST_STEPS; one->at++) {
		for (two->at = one->at; two->at < RB_FAST_STEPS; two->at++) {
			for (one->what = 0; one->what <= FAST_DISCARD; one->what++) {
				for (two->what = 0; two->what <= FAST_DISCARD; two->what++)
					fast_check(test, &scenario);
			}
			cond_resched();
		}
	}
}

/* The clock that is read inline is the one that is called. */
static void fast_test_clocks(struct kunit *test)
{
	u64 before, now, after;
	int i;

#if defined(CONFIG_X86) && !defined(CONFIG_UML)
	kunit_info(test, "the counter is %sread inline",
		   raw_cpu_read(sched_clock_scale.mul) ? "" : "not ");
#endif
	for (i = 0; i < 1000; i++) {
		scoped_guard(irq) {
			before = trace_clock_local();
			now = rb_fast_clock();
			after = trace_clock_local();
		}
		KUNIT_EXPECT_LE(test, before, now);
		KUNIT_EXPECT_LE(test, now, after);
#if defined(CONFIG_X86) && !defined(CONFIG_UML)
		/* This may sleep, in a real-time kernel. */
		const u64 cycles = get_random_u64() >> (1 + i % 63);

		scoped_guard(irq) {
			const unsigned long mul = sched_clock_mul();

			before = native_sched_clock_from_tsc(cycles);
			now = mul ? sched_clock_from_cycles(cycles, mul) : before;
		}
		KUNIT_EXPECT_EQ(test, before, now);
#endif
	}
}

/*
 * An event that was written into another one has its time from that one, also if that one
 * is discarded then: readers of events, of the whole trace and of pages are told the same.
 */
static void fast_test_discarded(struct kunit *test)
{
	struct trace_buffer *buffer = ft.pair[0].buffer;
	const u64 times[] = { 1000, 1200, 1300 };
	struct ring_buffer_event *outer;
	struct ring_buffer_iter *iter;
	int cpu, i;
	u64 time;

	/* Stay on one CPU and its buffer: fast_reset() enables interrupts. */
	guard(migrate)();
	scoped_guard(irq) {
		cpu = smp_processor_id();
		ft.now = &ft.pair[0];
		ft.fast = false;
		fast_reset(buffer);
		ft.time = times[0];
		fast_write(FAST_TEST_DATA);
		ft.time = 1100;
		outer = ring_buffer_lock_reserve(buffer, FAST_TEST_DATA);
		/* Once, a writer may interrupt another one in what looks like the same context. */
		ft.time = times[1];
		fast_write(FAST_TEST_DATA);
		ring_buffer_discard_commit(buffer, outer);
		ft.time = times[2];
		fast_write(FAST_TEST_DATA);
	}

	iter = ring_buffer_read_start(buffer, cpu, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iter);
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		KUNIT_EXPECT_NOT_NULL(test, ring_buffer_iter_peek(iter, &time));
		KUNIT_EXPECT_EQ(test, time, times[i]);
		ring_buffer_iter_advance(iter);
	}
	ring_buffer_read_finish(iter);

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		KUNIT_EXPECT_NOT_NULL(test, ring_buffer_consume(buffer, cpu, &time, NULL));
		KUNIT_EXPECT_EQ(test, time, times[i]);
	}
}

/* Reads on to the end; returns the number of events, the first time and whether some are lost. */
static int fast_read_on(struct ring_buffer_iter *iter, u64 *first, bool *lost)
{
	u64 time;
	int nr;

	*first = 0;
	*lost = false;
	for (nr = 0; ring_buffer_iter_peek(iter, &time); nr++) {
		*first = *first ?: time;
		*lost |= ring_buffer_iter_dropped(iter);
		ring_buffer_iter_advance(iter);
	}
	ring_buffer_iter_go_on(iter);
	return nr;
}

/*
 * A page has its time from the first event on it, and again if that one is discarded. Who has
 * come to such a page when nothing was on it gets what is written there, and that only.
 */
static void fast_test_go_on(struct kunit *test)
{
	struct trace_buffer *buffer = ft.pair[0].buffer;
	struct ring_buffer_iter *iter;
	bool lost;
	u64 first;

	guard(migrate)();
	scoped_guard(irq) {
		ft.now = &ft.pair[0];
		ft.fast = false;
		fast_reset(buffer);
		ft.time = 1000;
		fast_fill(0);
		ft.time = 10000;
		ring_buffer_discard_commit(buffer,
					   ring_buffer_lock_reserve(buffer, FAST_TEST_DATA));
		KUNIT_EXPECT_EQ(test, rb_page_size(fast_cpu_buffer()->commit_page), 0);
	}

	iter = ring_buffer_read_start(buffer, smp_processor_id(), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iter);
	KUNIT_EXPECT_GT(test, fast_read_on(iter, &first, &lost), 1);
	KUNIT_EXPECT_FALSE(test, lost);
	KUNIT_EXPECT_EQ(test, fast_read_on(iter, &first, &lost), 0);

	scoped_guard(irq) {
		ft.time = 20000;
		fast_write(FAST_TEST_DATA);
	}
	KUNIT_EXPECT_EQ(test, fast_read_on(iter, &first, &lost), 1);
	KUNIT_EXPECT_EQ(test, first, 20000);
	KUNIT_EXPECT_FALSE(test, lost);

	/* Writers come round to the page, and leave as much there as it had. */
	scoped_guard(irq) {
		ft.time = 30000;
		fast_fill_pages(fast_cpu_buffer()->nr_pages);
	}
	KUNIT_EXPECT_GT(test, fast_read_on(iter, &first, &lost), 1);
	KUNIT_EXPECT_GT(test, first, 30000);
	KUNIT_EXPECT_TRUE(test, lost);
	ring_buffer_read_finish(iter);
}

/* A CPU that comes when recording on it is disabled has it disabled, and enabled once after. */
static void fast_test_left_out(struct kunit *test)
{
	const int cpu = nr_cpu_ids - 1;
	struct ring_buffer_per_cpu *cpu_buffer;
	struct trace_buffer *buffer;

	if (!cpu)
		kunit_skip(test, "there is one CPU only");
	buffer = ring_buffer_alloc(PAGE_SIZE, 0);
	KUNIT_ASSERT_NOT_NULL(test, buffer);

	scoped_guard(cpus_read_lock) {
		if (cpumask_test_and_clear_cpu(cpu, buffer->cpumask))
			rb_free_cpu_buffer(buffer->buffers[cpu]);
		buffer->buffers[cpu] = NULL;
		ring_buffer_record_disable_cpu(buffer, cpu);
		KUNIT_EXPECT_EQ(test, trace_rb_cpu_prepare(cpu, &buffer->node), 0);
	}
	cpu_buffer = buffer->buffers[cpu];
	if (cpu_buffer) {
		KUNIT_EXPECT_EQ(test, atomic_read(&cpu_buffer->record_disabled), 1);
		ring_buffer_record_enable_cpu(buffer, cpu);
		KUNIT_EXPECT_EQ(test, atomic_read(&cpu_buffer->record_disabled), 0);
	}
	ring_buffer_free(buffer);
}

/* What is counted in a CPU's buffer is taken back from the same one. */
static void fast_test_nested(struct kunit *test)
{
	struct ring_buffer_per_cpu *cpu_buffer;

	if (!IS_ENABLED(CONFIG_RING_BUFFER_ALLOW_SWAP))
		kunit_skip(test, "nothing swaps the buffers of a CPU");
	guard(irq)();
	ft.now = &ft.pair[0];
	cpu_buffer = fast_cpu_buffer();
	ring_buffer_nest_start(ft.now->buffer);
	KUNIT_EXPECT_EQ(test, fast_swap(), -EBUSY);
	ring_buffer_nest_end(ft.now->buffer);
	KUNIT_EXPECT_EQ(test, cpu_buffer->nest, 0);

	KUNIT_EXPECT_EQ(test, fast_swap(), 0);
	ring_buffer_nest_start(ft.now->spare);
	KUNIT_EXPECT_EQ(test, fast_swap(), -EBUSY);
	ring_buffer_nest_end(ft.now->spare);
	KUNIT_EXPECT_EQ(test, fast_swap(), 0);
}

/* Events with the times of another clock, or with whole times, take the ordinary functions. */
static void fast_test_unusual(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(PAGE_SIZE, 0);
	struct ring_buffer_per_cpu *cpu_buffer;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	cpu_buffer = buffer->buffers[cpumask_first(buffer->cpumask)];
	KUNIT_EXPECT_TRUE(test, rb_fast_may(buffer, cpu_buffer, NULL));
	ring_buffer_set_clock(buffer, trace_clock_global);
	KUNIT_EXPECT_FALSE(test, rb_fast_may(buffer, cpu_buffer, NULL));
	ring_buffer_set_time_stamp_abs(buffer, true);
	ring_buffer_set_clock(buffer, trace_clock_local);
	KUNIT_EXPECT_FALSE(test, rb_fast_may(buffer, cpu_buffer, NULL));
	ring_buffer_set_time_stamp_abs(buffer, false);
	KUNIT_EXPECT_TRUE(test, rb_fast_may(buffer, cpu_buffer, NULL));
	ring_buffer_free(buffer);
}

static void fast_test_exit(struct kunit_suite *suite)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(ft.pair); i++) {
		if (ft.pair[i].buffer)
			ring_buffer_free(ft.pair[i].buffer);
		if (ft.pair[i].spare)
			ring_buffer_free(ft.pair[i].spare);
	}
	kvfree(ft.got);
	kvfree(ft.want);
	memset(&ft, 0, sizeof(ft));
}

static int fast_test_init(struct kunit_suite *suite)
{
	int i;

	ft.len = FAST_TEST_DATA;
	ft.got = kvmalloc(FAST_SNAPSHOT_SIZE, GFP_KERNEL);
	ft.want = kvmalloc(FAST_SNAPSHOT_SIZE, GFP_KERNEL);
	for (i = 0; i < ARRAY_SIZE(ft.pair); i++) {
		const unsigned int flags = i ? 0 : RB_FL_OVERWRITE;

		ft.pair[i].buffer = ring_buffer_alloc(FAST_TEST_PAGES * PAGE_SIZE, flags);
		ft.pair[i].spare = ring_buffer_alloc(FAST_TEST_PAGES * PAGE_SIZE, flags);
		if (!ft.pair[i].buffer || !ft.pair[i].spare || !ft.got || !ft.want) {
			fast_test_exit(suite);
			return -ENOMEM;
		}
		ring_buffer_set_clock(ft.pair[i].buffer, fast_test_clock);
		ring_buffer_set_clock(ft.pair[i].spare, fast_test_clock);
	}
	return 0;
}

static struct kunit_case fast_cases[] = {
	KUNIT_CASE(fast_test_clocks),
	KUNIT_CASE(fast_test_alone),
	KUNIT_CASE(fast_test_taken),
	KUNIT_CASE(fast_test_sabotage),
	KUNIT_CASE(fast_test_discarded),
	KUNIT_CASE(fast_test_go_on),
	KUNIT_CASE(fast_test_left_out),
	KUNIT_CASE(fast_test_nested),
	KUNIT_CASE(fast_test_unusual),
	KUNIT_CASE_PARAM_ATTR(fast_test_one, fast_next_setup, { KUNIT_SPEED_SLOW }),
	KUNIT_CASE_PARAM_ATTR(fast_test_deep, fast_next_setup, { KUNIT_SPEED_SLOW }),
	KUNIT_CASE_PARAM_ATTR(fast_test_two, fast_next_setup, { KUNIT_SPEED_SLOW }),
	{ }
};

static struct kunit_suite fast_suite = {
	.name = "ring_buffer_fast",
	.suite_init = fast_test_init,
	.suite_exit = fast_test_exit,
	.test_cases = fast_cases,
};

kunit_test_suite(fast_suite);
