/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The short way to write an event: reserve, fill in and commit with nothing in between
 * that is not needed while no other writer is active on this CPU, the event fits on the
 * page that the last one is on, and the clock is the usual one. ring_buffer.c includes
 * this. Everything unusual is left to its ordinary functions: they write the same bytes.
 *
 * Only an outermost writer gets here, so until F every writer that interrupts it takes the
 * ordinary functions. It finds @committing set, and so it moves neither commit_page nor
 * the index up to which this page is committed; and it increments @commits, which the pin
 * has set to 0: only an outermost writer compares that with what it was. It has finished
 * when the interrupted writer goes on. By where it lands:
 *
 * before the pin	It finishes completely. If it has swapped the per-CPU buffer,
 *			cpu_buffer->buffer is another one. After the pin nobody swaps:
 *			ring_buffer_swap_cpu() looks at current_context.
 * pin to A		It has not committed. If it has gone to another page, tail_page is
 *			not commit_page, and rb_end_commit() finishes its work. Else what it
 *			has written is committed together with this event.
 * A to check		If it has written anything, has discarded that or has gone to another page,
 *			@commits has changed. So far nothing of this event is in the page, and
 *			no time stamp is set: the ordinary functions start again.
 * check to C		If it has written anything or gone to another page, page->write has
 *			changed and C fails. If it has discarded what it has written,
 *			page->write is what it was, and so is the last event, whose time is
 *			@after. It has set before_stamp to 0: either B overwrites that, or the
 *			next event gets a full time stamp. If there was no room for an event
 *			behind what it has discarded, there may be events on the next page
 *			already. They are later than this one, which still comes last on this
 *			page: the next event must not take its time for that of the last one.
 *			So before_stamp becomes 0 if @commits has changed, and the commit goes
 *			on to the next page.
 * C to D		It finds that the time stamps differ and uses a full one. D makes them
 *			differ again, so that the next event has a full one too.
 * D to F		It adds to the page, or goes to another one, without committing.
 *			The commit sees that @commits has changed and does it.
 * after F		It commits everything, its own events and any that were left.
 *
 * C compares all bits of page->write, also those that count how often the page was
 * reused. A reader on another CPU does not reset page->write while the page is
 * commit_page. A writer that disables recording, to reset or to resize the buffer, waits
 * for an RCU grace period or runs on this CPU: preemption is off.
 *
 * On 32 bits, a time stamp is two words. The short path takes a time only if its upper word is
 * that of both time stamps, and writes the lower words alone. After the check, an interrupting
 * writer may change the upper words, so that B and D combine the words of two times.
 * Writers use a time stamp only if both are the same:
 *
 * C fails		D is not reached: write_stamp is one time.
 * C succeeds		@commits has changed, and before_stamp becomes 0 twice: before D, so that a
 *			writer that interrupts there finds the time stamps different; and behind
 *			D, as such a writer may have set before_stamp to a time whose words
 *			write_stamp happens to have after D.
 *
 * A wrong time is left only if a writer was held up for exactly a multiple of 2^32 ns.
 *
 * All of this assumes that each reading of the clock is later than the one before.
 */

/* As rb_reserve_next_event(): NMIs write too, and there is one layout of an event. */
#define RB_FAST								\
	(IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG) &&				\
	 !IS_ENABLED(CONFIG_GENERIC_ATOMIC64) && !RB_FORCE_8BYTE_ALIGNMENT && !DEBUG_SHIFT)

/*
 * What is called rarely saves every register that it uses. The compiler is not told that it
 * is a call: it would keep what it needs afterwards in registers that must be saved first,
 * for every event. @func has up to two arguments, and returns an integer or nothing.
 */
#if defined(CONFIG_X86) && defined(CONFIG_CC_IS_GCC) &&					\
	__has_attribute(__no_caller_saved_registers__)
#define rb_fast_rare	noinline __used __no_caller_saved_registers
#ifdef CONFIG_X86_64
#define RB_FAST_RETURN(ret)		"=a" (ret)
#define RB_FAST_REGS(first, second)	"D" (first), "S" (second)
#else
#define RB_FAST_RETURN(ret)		"=A" (ret)	/* %edx:%eax */
#define RB_FAST_REGS(first, second)	"a" (first), "d" (second)
#endif
#define rb_fast_call(func, first, second)						\
({											\
	u64 ret_;									\
	asm volatile("call %c[target]" : RB_FAST_RETURN(ret_), ASM_CALL_CONSTRAINT :	\
		     [target] "i" (func), RB_FAST_REGS(first, second) : "memory", "cc");	\
	ret_;										\
})
#else
#define rb_fast_rare	noinline
#define rb_fast_call(func, first, second)	(func)(first, second)
#endif

/*
 * Is it @value now? What was read before does not count, but other than after READ_ONCE() the
 * compiler may compare with memory. @counter may be a local_t, or another struct with nothing
 * but a number.
 */
#define rb_fast_is(counter, value)							\
({											\
	BUILD_BUG_ON(sizeof(counter) != sizeof(value));					\
	barrier();									\
	/* Whoever changes it meanwhile interrupts. */					\
	data_race(*(const typeof(value) *)&(counter)) == (value);			\
})

/* The lower word of a time stamp; on 64 bits, all of it */
#define RB_FAST_LOW							\
	(IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ? sizeof(u64) - sizeof(long) : 0)
#define rb_fast_low(stamp)	(*(unsigned long *)((void *)&(stamp) + RB_FAST_LOW))

/* Its upper 32 bits; 64-bit kernels do not look at them. */
#define rb_fast_high(stamp)							\
({										\
	barrier();								\
	/* Whoever changes it meanwhile interrupts. */				\
	(u32)(data_race(*(const u64 *)&(stamp)) >> 32);				\
})

/* Is there anything in @word? */
static __always_inline unsigned long rb_fast_any(u64 word)
{
	return BITS_PER_LONG == 64 ? word : (u32)word | (u32)(word >> 32);
}

/* trace_clock_local(); preemption is off. User-mode Linux has no clock of the processor. */
#if defined(CONFIG_X86) && !defined(CONFIG_UML)
#include <asm/sched_clock_inline.h>

static rb_fast_rare u64 rb_fast_sched_clock(long unused, long unused_too)
{
	return sched_clock();
}

static __always_inline u64 rb_fast_clock(void)
{
	const unsigned long mul = sched_clock_mul();

	return likely(mul) ? sched_clock_from_cycles(rdtsc(), mul) :
			     rb_fast_call(rb_fast_sched_clock, 0l, 0l);
}
#else
#define rb_fast_clock()	trace_clock_local()
#endif

/* Whenever the clock or the kind of time stamps was set */
static void rb_fast_update(struct trace_buffer *buffer)
{
	WRITE_ONCE(buffer->unusual, buffer->time_stamp_abs || buffer->clock != trace_clock_local);
}

/* What may be interrupted: the test does it in each of these places. */
enum rb_fast_step {
	RB_FAST_CHECKED,	/* nothing unusual was found */
	RB_FAST_CONTEXT,	/* half pinned */
	RB_FAST_PINNED,
	RB_FAST_TAIL,		/* A: knows where the page ends */
	RB_FAST_AFTER,
	RB_FAST_BEFORE,
	RB_FAST_TIME,
	RB_FAST_STAMPED,	/* B: before_stamp is the new time */
	RB_FAST_RESERVED,	/* C: owns a part of the page */
	RB_FAST_WRITTEN,	/* D: so is write_stamp */
	RB_FAST_FILLED,
	RB_FAST_COMMIT,
	RB_FAST_COUNTED,
	RB_FAST_COMMITTED,	/* E: readers may read */
	RB_FAST_UNPINNED,	/* F */
	RB_FAST_DONE,
	RB_FAST_STEPS
};

/* A test has a clock of its own, and step() interrupts the writer. */
struct rb_fast_test {
	u64	(*clock)(void);
	void	(*step)(enum rb_fast_step step);
};

/* @test is known when this is compiled: without it, there is no code. */
static __always_inline void rb_fast_step(const struct rb_fast_test *test,
					 enum rb_fast_step step)
{
	if (test)
		test->step(step);
}

/* An event that is being written */
struct rb_fast {
	struct buffer_data_page		*page;
	struct ring_buffer_event	*event;
	unsigned long			end;	/* of the event, in the page */
	u64				ts;
	long				commits;	/* more: there were other writers */
};

/* Would the event be on the page, and not the first there? That one gives the page its time. */
static __always_inline bool rb_fast_fits(struct buffer_page *page, unsigned long index,
					 unsigned long length)
{
	const unsigned long least = PAGE_SIZE - BUF_PAGE_HDR_SIZE;

	/* No page is smaller. One test if the length is constant, else the sum is needed anyway. */
	if (__builtin_constant_p(length) ? likely(index - 1 < least - length) :
	    likely(index + length <= least) && likely(index))
		return true;
	return index && index + length <= rb_page_capacity(page);
}

/* Gives up what was pinned, and commits what was written meanwhile. */
static rb_fast_rare void rb_fast_unpin(struct ring_buffer_per_cpu *cpu_buffer, long unused)
{
	rb_end_commit(cpu_buffer);
	WRITE_ONCE(cpu_buffer->current_context, 0);
}

/* Are the words of the time stamps that are not written those of this time? */
static __always_inline bool rb_fast_same_high(struct ring_buffer_per_cpu *cpu_buffer, u64 ts)
{
	const u32 high = ts >> 32;

	return BITS_PER_LONG == 64 || (likely(rb_fast_high(cpu_buffer->write_stamp) == high) &&
				       likely(rb_fast_high(cpu_buffer->before_stamp) == high));
}

static noinline void rb_fast_check_time(struct ring_buffer_per_cpu *cpu_buffer,
					struct buffer_page *page, unsigned long index,
					u64 ts, u64 after)
{
	struct rb_event_info info = {
		.ts = ts, .delta = ts - after, .before = after, .after = after,
		.tail_page = page,
	};

	check_buffer(cpu_buffer, &info, index);
}

/*
 * This CPU's buffer. It is there before the CPU is: see CPUHP_TRACE_RB_PREPARE. One that was
 * there before the buffer has it before anybody knows the buffer.
 */
static __always_inline struct ring_buffer_per_cpu *rb_fast_cpu(const struct trace_buffer *buffer)
{
	return buffer->buffers[raw_smp_processor_id()];
}

/* Recording of this kind of buffer is not disabled, and nobody writes to it on this CPU. */
static __always_inline bool rb_fast_may(struct trace_buffer *buffer,
					struct ring_buffer_per_cpu *cpu_buffer,
					const struct rb_fast_test *test)
{
	unsigned long not;

	barrier();
	/* Racy: whoever sets one of these waits until writers have seen it, see above. */
	not = rb_fast_any(data_race(cpu_buffer->in_use));
	if (test)
		return !(not | atomic_read(&buffer->record_disabled) |
			 buffer->time_stamp_abs | (buffer->clock != test->clock));
	/* Racy: the same */
	return !(not | rb_fast_any(data_race(buffer->not_fast)));
}

/*
 * Reserve @length bytes, with the event's header. Returns false if that takes the ordinary
 * functions. Preemption is off, until rb_fast_commit().
 *
 * A nested writer, which ring_buffer_nest_start() has announced, is an outermost one here
 * if it writes to another buffer. It does not shift its bit, and clears it without looking.
 * Those who interrupt it shift theirs, and do not clear what is below.
 */
static __always_inline bool
rb_fast_reserve(struct rb_fast *fast, struct trace_buffer *buffer,
		struct ring_buffer_per_cpu *cpu_buffer, unsigned long length,
		const struct rb_fast_test *test)
{
	unsigned long index, now, after;
	struct buffer_page *page;
	long write;
	u64 ts;

	if (unlikely(!rb_fast_may(buffer, cpu_buffer, test)))
		return false;
	rb_fast_step(test, RB_FAST_CHECKED);

	/*
	 * The pin. The bit of any context would do that no interrupting writer has: this one
	 * is the last to be cleared by trace_recursive_unlock(). In an interrupt, that leaves
	 * its own bit to whoever recurses there, who may do so once more before it is refused
	 * than if the ordinary functions had written this event. @committing was 0, as
	 * current_context was.
	 */
	WRITE_ONCE(cpu_buffer->current_context, 1 << RB_CTX_NORMAL);
	rb_fast_step(test, RB_FAST_CONTEXT);
	local_set(&cpu_buffer->committing, 1);
	rb_fast_step(test, RB_FAST_PINNED);
	if (unlikely(!rb_fast_is(cpu_buffer->buffer, buffer)))
		goto unpin;

	/* A writer that comes from now on increments it. */
	local_set(&cpu_buffer->commits, 0);
	fast->commits = 0;
	page = READ_ONCE(cpu_buffer->tail_page);
	write = local_read(&page->write);				/* A */
	index = write & RB_WRITE_MASK;
	rb_fast_step(test, RB_FAST_TAIL);
	if (unlikely(!rb_fast_is(cpu_buffer->commit_page, page) ||
		     !rb_fast_fits(page, index, length)))
		goto unpin;

	after = READ_ONCE(rb_fast_low(cpu_buffer->write_stamp));
	rb_fast_step(test, RB_FAST_AFTER);
	if (unlikely(!rb_fast_is(rb_fast_low(cpu_buffer->before_stamp), after)))
		goto unpin;
	rb_fast_step(test, RB_FAST_BEFORE);
	ts = test ? test->clock() : rb_fast_clock();
	rb_fast_step(test, RB_FAST_TIME);
	now = ts;
	if (unlikely(!rb_fast_same_high(cpu_buffer, ts)))
		goto unpin;
	/* Time that goes back is a large difference, too, in 64 bits. */
	if (BITS_PER_LONG == 32 && unlikely(now < after))
		goto unpin;
	if (unlikely(test_time_stamp(now - after)))
		goto unpin;
	/* The check. What comes after it is later than @ts. */
	if (unlikely(!rb_fast_is(cpu_buffer->commits, 0l)))
		goto unpin;

	WRITE_ONCE(rb_fast_low(cpu_buffer->before_stamp), now);		/* B */
	rb_fast_step(test, RB_FAST_STAMPED);
	if (unlikely(!local_try_cmpxchg(&page->write, &write, write + length)))	/* C */
		goto unpin;
	rb_fast_step(test, RB_FAST_RESERVED);
	/* Later events may be on the next page: see "check to C" above. */
	if (unlikely(!rb_fast_is(cpu_buffer->commits, 0l)))
		rb_time_set(&cpu_buffer->before_stamp, 0);
	WRITE_ONCE(rb_fast_low(cpu_buffer->write_stamp), now);		/* D */
	/* The time stamps may be the same without being a time: see "C succeeds" above. */
	if (BITS_PER_LONG == 32 && unlikely(!rb_fast_is(cpu_buffer->commits, 0l)))
		rb_time_set(&cpu_buffer->before_stamp, 0);
	rb_fast_step(test, RB_FAST_WRITTEN);
	if (IS_ENABLED(CONFIG_RING_BUFFER_VALIDATE_TIME_DELTAS))
		rb_fast_check_time(cpu_buffer, page, index, ts, ts - (now - after));

	fast->page = page->page;
	fast->event = __rb_page_index(page, index);
	fast->end = index + length;
	fast->ts = ts;
	/* The header has no bits for more. */
	if (length > RB_EVNT_HDR_SIZE + RB_MAX_SMALL_DATA)
		__builtin_unreachable();
	*fast->event = (struct ring_buffer_event) {
		.type_len = (length - RB_EVNT_HDR_SIZE) / RB_ALIGNMENT,
		.time_delta = now - after,
	};
	local_inc(&page->entries);
	local_add(length, &cpu_buffer->entries_bytes);
	rb_fast_step(test, RB_FAST_FILLED);
	return true;

unpin:
	rb_fast_call(rb_fast_unpin, cpu_buffer, 0l);
	return false;
}

/* Commits what was written by others when they could not. */
static rb_fast_rare void rb_fast_commit_rest(struct ring_buffer_per_cpu *cpu_buffer, long unused)
{
	rb_start_commit(cpu_buffer);
	rb_end_commit(cpu_buffer);
}

/*
 * Commit what an outermost writer has reserved. The buffer stays pinned by current_context.
 */
static __always_inline void rb_fast_commit(const struct rb_fast *fast,
					   struct ring_buffer_per_cpu *cpu_buffer,
					   const struct rb_fast_test *test)
{
	local_inc(&cpu_buffer->entries);
	rb_fast_step(test, RB_FAST_COUNTED);
	/* Readers see the event before the index; pairs with rb_get_reader_page(). */
	smp_wmb();
	local_set(&fast->page->commit, fast->end);			/* E */
	rb_fast_step(test, RB_FAST_COMMITTED);
	local_set(&cpu_buffer->committing, 0);				/* F */
	rb_fast_step(test, RB_FAST_UNPINNED);
	if (unlikely(!rb_fast_is(cpu_buffer->commits, fast->commits)))
		rb_fast_call(rb_fast_commit_rest, cpu_buffer, 0l);
	rb_fast_step(test, RB_FAST_DONE);
}

/* Would rb_wakeups() do anything? */
static __always_inline bool rb_fast_wakes(const struct trace_buffer *buffer,
					  const struct ring_buffer_per_cpu *cpu_buffer)
{
	unsigned int any;

	barrier();
	/* Racy: who begins to wait looks at the buffer again, and is woken by the next event. */
	any = data_race(buffer->irq_work.waiters_pending | cpu_buffer->irq_work.any_pending);
	if (likely(!any))
		return false;
	return (buffer->irq_work.waiters_pending | cpu_buffer->irq_work.waiters_pending) ||
	       (cpu_buffer->last_pages_touch != local_read(&cpu_buffer->pages_touched) &&
		cpu_buffer->reader_page != cpu_buffer->commit_page);
}

static rb_fast_rare void rb_fast_wake(struct trace_buffer *buffer,
				      struct ring_buffer_per_cpu *cpu_buffer)
{
	rb_wakeups(buffer, cpu_buffer);
}

/*
 * Commit the event, have readers woken by @wake, and let go of the buffer. For callers that
 * keep what rb_fast_reserve() has filled in.
 */
static __always_inline void
rb_fast_finish(const struct rb_fast *fast, struct ring_buffer_per_cpu *cpu_buffer,
	       void (*wake)(struct trace_buffer *buffer, struct ring_buffer_per_cpu *cpu_buffer),
	       const struct rb_fast_test *test)
{
	/* Pinned, it is the one that the event was reserved from. */
	struct trace_buffer *buffer = cpu_buffer->buffer;

	rb_fast_commit(fast, cpu_buffer, test);
	if (unlikely(rb_fast_wakes(buffer, cpu_buffer)))
		rb_fast_call(wake, buffer, cpu_buffer);
	/* Whoever has come in between has cleared its own bits. */
	WRITE_ONCE(cpu_buffer->current_context, 0);
}

static __always_inline struct ring_buffer_event *
rb_fast_lock_reserve(struct trace_buffer *buffer, unsigned long length,
		     const struct rb_fast_test *test)
{
	struct ring_buffer_per_cpu *cpu_buffer;
	struct rb_fast fast __uninitialized;

	/* Events of up to 12 bytes, or with a word for the length, take the ordinary functions. */
	if (!RB_FAST || unlikely(length - (RB_LEN_TIME_EXTEND + 1) >
				 RB_MAX_SMALL_DATA - (RB_LEN_TIME_EXTEND + 1)))
		return NULL;

	preempt_disable_notrace();
	cpu_buffer = rb_fast_cpu(buffer);
	/* An event that is discarded takes the shift of the bit into account. */
	if (unlikely(cpu_buffer->nest ||
		     !rb_fast_reserve(&fast, buffer, cpu_buffer,
				      RB_EVNT_HDR_SIZE + ALIGN(length, RB_ALIGNMENT), test))) {
		preempt_enable_notrace();
		return NULL;
	}
	/* For ring_buffer_event_time_stamp() */
	cpu_buffer->event_stamp[0] = fast.ts;
	return fast.event;
}

/* Commits an event that was reserved in either way. */
static __always_inline bool rb_fast_unlock_commit(struct trace_buffer *buffer,
						  const struct rb_fast_test *test)
{
	struct ring_buffer_per_cpu *cpu_buffer = rb_fast_cpu(buffer);
	struct buffer_page *page = READ_ONCE(cpu_buffer->commit_page);
	struct rb_fast fast __uninitialized;

	fast.commits = local_read(&cpu_buffer->commits);
	rb_fast_step(test, RB_FAST_COMMIT);
	if (!RB_FAST || unlikely(!rb_fast_is(cpu_buffer->committing, 1l) ||
				 !rb_fast_is(cpu_buffer->tail_page, page)))
		return false;

	fast.page = page->page;
	fast.end = rb_page_write(page);
	rb_fast_commit(&fast, cpu_buffer, test);
	if (unlikely(rb_fast_wakes(buffer, cpu_buffer)))
		rb_fast_call(rb_fast_wake, buffer, cpu_buffer);
	/* This is what both make of it then. */
	if (rb_fast_is(cpu_buffer->current_context, 1u << RB_CTX_NORMAL))
		WRITE_ONCE(cpu_buffer->current_context, 0);
	else
		trace_recursive_unlock(cpu_buffer);
	preempt_enable_notrace();
	return true;
}

/**
 * ring_buffer_lock_reserve - reserve a part of the buffer
 * @buffer: the ring buffer to reserve from
 * @length: the length of the data to reserve (excluding event header)
 *
 * The caller fills in the event's data, which ring_buffer_event_data() returns, and then
 * calls ring_buffer_unlock_commit() or ring_buffer_discard_commit().
 *
 * Context: any. Preemption stays off until the event is committed or discarded.
 *
 * Return: the event, or NULL if there is no room, recording is disabled or this is a
 * recursion.
 */
struct ring_buffer_event *
ring_buffer_lock_reserve(struct trace_buffer *buffer, unsigned long length)
{
	return rb_fast_lock_reserve(buffer, length, NULL) ?: rb_lock_reserve(buffer, length);
}
EXPORT_SYMBOL_GPL(ring_buffer_lock_reserve);

/**
 * ring_buffer_unlock_commit - commit a reserved event
 * @buffer: the ring buffer it was reserved from
 *
 * Context: where ring_buffer_lock_reserve() was called.
 *
 * Return: 0
 */
int ring_buffer_unlock_commit(struct trace_buffer *buffer)
{
	return rb_fast_unlock_commit(buffer, NULL) ? 0 : rb_unlock_commit(buffer);
}
EXPORT_SYMBOL_GPL(ring_buffer_unlock_commit);
