/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing an event the short way, kernel/trace/ring_buffer_fast.h, while interrupts reserve
 * theirs the ordinary way, kernel/trace/ring_buffer.c, and commit them in either, and a reader
 * on another CPU reads.
 *
 * Each access to what is shared is a step. On the writers' CPU an interrupt comes between
 * any two steps, and ends before what it has interrupted goes on. There are two, one after
 * the other or one in the other. The reader's steps come between any others. After all
 * that, one more event is written.
 *
 * A page has CAP slots. An event takes one or LONG, and one more with a time stamp. Each
 * reading of the clock is later than the one before.
 *
 * Modelled: memory in program order, which is what the barriers are there for. Not
 * modelled: recording that is switched off, buffers that are swapped, resized or reset,
 * clocks that go back, full time stamps on request, and what is left of a page that is too
 * small for any event.
 *
 * What the ordinary functions do among themselves is not examined. The following are
 * single steps here, though not there, and not all of that is without consequence there:
 *
 * - The outermost writer's reserving, if it is not done the short way.
 * - The head page's move, by a writer or by the reader. The flags in the pointers of the
 *   list make it one.
 * - The tail page's move, which interrupts may have done meanwhile.
 */

#define CAP		4
#define LONG		3
#define PAGES		3	/* one is the reader's */
#define MASK		15	/* RB_WRITE_MASK */
#define INTCNT		16	/* RB_WRITE_INTCNT */
#define DELTA_MAX	7	/* what time_delta can hold */
#define TOO_LONG(a, b)	((a) < (b) || (a) - (b) > DELTA_MAX)	/* test_time_stamp(a - b) */

/* On 32 bits, the short way reads and writes the words of a time stamp, here of two bits. */
#ifdef BROKEN_ANY_HIGH
#define ALSO_WORDS
#endif
#ifdef BROKEN_ONE_TEST
#define ALSO_WORDS
#endif
#ifdef ALSO_WORDS
#define LOW(stamp)		((stamp) & 3)
#define HIGH(stamp)		((stamp) >> 2)
#define WITH_LOW(stamp, time)	(((stamp) & ~3) | LOW(time))
#else
#define LOW(stamp)		(stamp)
#define WITH_LOW(stamp, time)	(time)
#endif

/* What a slot has; NOTHING: it is reserved and not yet written */
#define NOTHING		0
#define PADDING		1
#define EXTEND		2	/* RINGBUF_TYPE_TIME_EXTEND */
#define STAMP		3	/* RINGBUF_TYPE_TIME_STAMP */
#define DATA		4

typedef slot_t {
	byte type, slots, delta;
	byte id;	/* which event; its time, and whether it must be exactly that */
	byte time;
	bit exact
};

typedef page_t {
	byte write, entries, commit, stamp, next;
	bit head	/* RB_PAGE_HEAD, in the pointer to the next one */
};

slot_t slot[PAGES * CAP];
page_t page[PAGES];
#define SLOT(p, i)	slot[(p) * CAP + (i)]

/* struct ring_buffer_per_cpu */
byte tail_page, commit_page, reader_page;
byte committing, commits, entries, overrun, current_context;
byte before_stamp, write_stamp;
bit overwrite;

byte clock, latest;

/* What has become of the events */
#define OLD		0	/* any that was there before; there are nr_old unread */
#define OUTER		1
#define INNER		2
#define INNERMOST	3
#define LAST		4

#define FREE		0
#define RESERVED	1
#define FILLED		2
#define DISCARDED	3
#define DROPPED		4
#define LOST		5	/* overwritten */
#define SEEN		6
byte fate[5], nr_old, nr_read;

/* Who runs on the writers' CPU, and how many interrupts there have been */
byte running, interrupts;
bit ended, finished;
#define RUNS(who)	(running == who)

#define OUTER_BIT	4	/* RB_CTX_NORMAL: interrupts have lower ones */

#define WRITER_LOCALS							\
	byte me, size, p, w, tail, wr, before, after, ts, delta;	\
	byte n, x, i, start, was, stamp;				\
	byte fcommits, end;						\
	bit force, extend, slow, drop, moves, leaves, discards, fast

inline read_clock()
{
	clock++;
	ts = clock
}

/* The slots that were just reserved have nothing yet. */
inline reserved(from, to)
{
	i = from;
	assert(from >= page[p].commit);
	do
	:: i < to && i < CAP ->
		SLOT(p, i).type = NOTHING;
		i++
	:: else -> break
	od;
	i = 0
}

/*
 * Readers may read up to @to from now on: each event is complete, its time is what the
 * page says, and it is later than what was committed before. It stays so until the page is
 * reset: see reserved().
 */
inline set_commit(in, to)
{
	d_step {
		assert(to <= (page[in].write & MASK) && page[in].commit <= to);
		i = 0;
		stamp = page[in].stamp;
		do
		:: i < to ->
			assert(SLOT(in, i).type != NOTHING);
			stamp = (SLOT(in, i).type == STAMP -> 0 : stamp) + SLOT(in, i).delta;
			if
			:: SLOT(in, i).type == DATA && i >= page[in].commit ->
				assert(fate[SLOT(in, i).id] == FILLED);
				assert(stamp == SLOT(in, i).time || !SLOT(in, i).exact);
				assert(stamp >= latest && stamp <= SLOT(in, i).time);
				latest = stamp
			:: else
			fi;
			i = i + SLOT(in, i).slots
		:: else -> break
		od;
		assert(i == to);
		i = 0;
		stamp = 0;
		page[in].commit = to
	}
}

/* rb_start_commit() */
inline start_commit()
{
	committing++;
	commits++
}

/* rb_set_commit_to_write(): both of its loops */
inline set_commit_to_write()
{
	do
	:: atomic {
		leaves = (commit_page != tail_page);
		if
		:: leaves || page[commit_page].commit != (page[commit_page].write & MASK) ->
			x = page[commit_page].write & MASK
		:: else -> break
		fi
	   }
	   atomic {
		set_commit(commit_page, x);
		x = 0
	   }
	   if
	   :: atomic { leaves -> commit_page = page[commit_page].next }
	   :: else
	   fi
	od
}

/* rb_end_commit(). Interrupts leave @committing as it was. */
inline end_commit()
{
	do
	:: was = commits;
	   if
	   :: committing == 1 ->
		set_commit_to_write();
		committing--
	   :: atomic { else -> committing-- }
	   fi;
	   atomic {
		if
		:: commits != was && committing == 0 -> committing++
		:: else ->
			was = 0;
			break
		fi
	   }
	od
}

/* __rb_reserve_next() up to C */
inline reserve_to_C()
{
	p = tail_page;
	w = page[p].write & MASK;			/* A */
	before = before_stamp;
	after = write_stamp;
	d_step {
		read_clock();
		force = (w != 0 && before != after);
		extend = (w != 0 && before == after && TOO_LONG(ts, after));
		size = size + force + extend;
		before = 0
	}
	before_stamp = ts;				/* B */
	d_step {					/* C */
		page[p].write = page[p].write + size;
		wr = page[p].write & MASK;
		tail = wr - size;
		reserved(tail, wr)
	}
}

/* The events of a page that was committed are gone, to the reader or for good. */
inline gone(in, how)
{
	i = 0;
	do
	:: i < page[in].commit ->
		if
		:: SLOT(in, i).type == DATA && SLOT(in, i).id == OLD -> nr_old--
		:: SLOT(in, i).type == DATA && SLOT(in, i).id != OLD ->
			assert(fate[SLOT(in, i).id] == FILLED);
			fate[SLOT(in, i).id] = how
		:: else
		fi;
		i = i + SLOT(in, i).slots
	:: else -> break
	od;
	i = 0
}

/* rb_handle_head_page(), when recording overwrites: see above */
inline move_head()
{
	d_step {
		if
		:: page[p].head && page[p].next == n ->
			overrun = overrun + page[n].entries;
			gone(n, LOST);
			page[p].head = 0;
			page[n].head = 1
		:: else -> n = p	/* an interrupt, or the reader, has moved it: out_again */
		fi
	}
}

/* rb_tail_page_update(). An interrupt in it that does the same leaves nothing to be done. */
inline tail_page_update()
{
	d_step {
		if
		:: tail_page == p ->
			page[n].write = (page[n].write + INTCNT) & ~MASK;
			page[n].entries = 0;
			page[n].commit = 0;
			tail_page = n
		:: else
		fi
	}
}

/* rb_reset_tail() */
inline reset_tail()
{
	if
	:: atomic {
		tail < CAP ->
		SLOT(p, tail).type = PADDING;
		SLOT(p, tail).slots = CAP - tail;
		SLOT(p, tail).delta = 0
	   }
	   page[p].write = page[p].write - (tail + size - CAP)
	:: atomic { else -> page[p].write = page[p].write - size }
	fi
}

/* rb_move_tail(): try again, or there is no room */
inline move_tail()
{
	atomic {
		n = page[p].next;
		moves = (n != commit_page && page[p].head && commit_page != reader_page);
		drop = (n == commit_page || (moves && !overwrite) ||
			(page[p].head && commit_page == reader_page &&
			 commit_page != tail_page))
	}
	if
	:: atomic {
		moves && !drop ->
		moves = 0;
		move_head()
	   }
	:: atomic { else -> moves = 0 }
	fi;
	if
	:: !drop && n != p -> tail_page_update()
	:: else
	fi;
	reset_tail();
	if
	:: drop
	:: else ->
		end_commit();
		atomic {
			committing++;
			size = size - force - extend
		}
	fi
}

/* __rb_reserve_next() from C on */
inline reserve_from_C()
{
	if
	:: atomic {
		tail == w ->
		write_stamp = ts;			/* D */
		slow = 0;
		delta = (force -> ts : ts - after)
	   }
	:: atomic {
		else ->
		before = before_stamp
	   }
	   atomic { read_clock() }
	   before_stamp = ts;
	   after = write_stamp;				/* E */
	   atomic {					/* F */
		if
		:: wr == (page[p].write & MASK) && after == before && after < ts ->
			slow = 0;
			delta = ts - after
		:: else ->
			slow = (tail != 0);
			delta = 0
		fi;
		extend = extend | force;
		force = 0
	   }
	fi;
	/* rb_update_event(), rb_add_timestamp() */
	d_step {
		start = tail;
		delta = (tail == 0 && !force -> 0 : delta);
		if
		:: force || extend ->
			SLOT(p, tail).type = (force -> STAMP : EXTEND);
			SLOT(p, tail).slots = 1;
			SLOT(p, tail).delta = delta;
			delta = 0;
			tail++
		:: else
		fi;
		SLOT(p, tail).type = DATA;
		SLOT(p, tail).slots = size - (tail - start);
		SLOT(p, tail).delta = delta;
		SLOT(p, tail).id = me;
		SLOT(p, tail).time = ts;
		SLOT(p, tail).exact = !slow;
		fate[me] = RESERVED
	}
	page[p].entries++;
	if
	:: atomic { start == 0 -> page[p].stamp = ts }
	:: else
	fi
}

/* rb_reserve_next_event(); where there is no room, rb_end_commit() follows */
inline reserve()
{
	start_commit();
	do
	:: reserve_to_C();
	   if
	   :: wr <= CAP ->
		reserve_from_C();
		break
	   :: else ->
		move_tail();
		if
		:: atomic {
			drop ->
			fate[me] = DROPPED;
			break
		   }
		:: else
		fi
	   fi
	od
}

/* Who has reserved an event fills it in. */
inline fill()
{
	fate[me] = FILLED
}

/* ring_buffer_discard_commit() up to rb_end_commit() */
inline discard()
{
	d_step {	/* rb_event_discard(); the stamp before it stays */
		SLOT(p, tail).type = PADDING;
		fate[me] = DISCARDED
	}
	page[p].entries--;	/* rb_decrement_entry() */
	/* rb_try_to_discard() */
	if
	:: tail_page == p ->
		if
		:: atomic {
			(page[p].write & MASK) == start + size ->
			x = page[p].write
		   }
		   before_stamp = 0;
		   atomic {
			page[p].write = (page[p].write == x -> x - size : page[p].write);
			x = 0
		   }
		:: else
		fi
	:: else
	fi
}

/* Locals that are the same in the end make fewer states. */
inline forget()
{
	d_step {
		p = 0; n = 0; x = 0; was = 0; w = 0; wr = 0; tail = 0; start = 0; size = 0;
		before = 0; after = 0; ts = 0; delta = 0; force = 0; extend = 0; slow = 0;
		end = 0; fcommits = 0; fast = 0; discards = 0; drop = 0
	}
}

/* rb_fast_reserve() */
inline fast_reserve()
{
	if
	:: current_context != 0 -> goto ordinary
	:: else
	fi;
#ifndef BROKEN_NO_CONTEXT
	current_context = OUTER_BIT;
#endif
#ifndef BROKEN_LATE_PIN
	committing = 1;
#endif
	atomic { commits = 0; fcommits = 0 }
	p = tail_page;
	w = page[p].write;				/* A */
	if
#ifndef BROKEN_ANY_PAGE
	:: p != commit_page -> goto unpin
#endif
#ifndef BROKEN_FIRST_EVENT
	:: (w & MASK) == 0 -> goto unpin
#endif
#ifndef BROKEN_NO_ROOM
	:: (w & MASK) + size > CAP -> goto unpin
#endif
	:: else
	fi;
	after = LOW(write_stamp);
	atomic {
		before = LOW(before_stamp);
#ifndef BROKEN_STAMPS_DIFFER
		if
		:: before != after -> goto unpin
		:: else -> before = 0
		fi
#endif
	}
	atomic { read_clock() }
#if defined(ALSO_WORDS) && !defined(BROKEN_ANY_HIGH)
	if
	:: HIGH(write_stamp) != HIGH(ts) -> goto unpin
	:: else
	fi;
	if
	:: HIGH(before_stamp) != HIGH(ts) -> goto unpin
	:: else
	fi;
#endif
#ifndef BROKEN_LONG_DELTA
	if
	:: TOO_LONG(LOW(ts), after) -> goto unpin
	:: else
	fi;
#endif
#ifndef BROKEN_NO_CHECK
	if						/* the check */
	:: commits != 0 -> goto unpin
	:: else
	fi;
#endif
#ifdef BROKEN_EARLY_WRITE_STAMP
	write_stamp = WITH_LOW(write_stamp, ts);
#endif
#ifndef BROKEN_NO_BEFORE_STAMP
	before_stamp = WITH_LOW(before_stamp, ts);	/* B */
#endif
	atomic {					/* C */
#ifdef BROKEN_PLAIN_ADD
		page[p].write = page[p].write + size;
#else
		if
		:: page[p].write == w -> page[p].write = w + size
		:: else -> goto unpin
		fi;
#endif
		tail = w & MASK;
		start = tail;
		end = tail + size;
		assert(end <= CAP);
		reserved(tail, end)
	}
#ifdef BROKEN_LATE_PIN
	committing = 1;
#endif
#ifdef BROKEN_LATE_COMMITS
	commits = 0;
#endif
#ifndef BROKEN_SAME_STAMPS
	if			/* there may be later events, on the next page */
	:: commits != 0 -> before_stamp = 0
	:: else
	fi;
#endif
	write_stamp = WITH_LOW(write_stamp, ts);	/* D */
#if defined(ALSO_WORDS) && !defined(BROKEN_ONE_TEST)
	if
	:: commits != 0 -> before_stamp = 0
	:: else
	fi;
#endif
#ifdef BROKEN_COMMIT_BEFORE_FILL
	set_commit(p, end);
#endif
	d_step {
		SLOT(p, tail).type = DATA;
		SLOT(p, tail).slots = size;
		SLOT(p, tail).delta = (LOW(ts) - after) & DELTA_MAX;
		SLOT(p, tail).id = me;
		SLOT(p, tail).time = ts;
		SLOT(p, tail).exact = 1;
		fate[me] = RESERVED
	}
	page[p].entries++;
	goto reserved_fast;

unpin:	/* rb_fast_unpin() */
#ifndef BROKEN_LATE_PIN
	end_commit();
#endif
	current_context = 0
}

/* rb_fast_commit() up to rb_end_commit() of rb_fast_commit_rest() */
inline fast_commit()
{
#ifndef BROKEN_NO_COUNT
	entries++;
#endif
	set_commit(p, end);				/* E */
	committing = 0;					/* F */
#ifndef BROKEN_NO_REST
	if
	:: commits != fcommits ->
		start_commit();
		goto rest
	:: else
	fi
#endif
}

/* rb_fast_unlock_commit(), of an event that was reserved in either way */
inline fast_unlock_commit()
{
	fcommits = commits;
	p = commit_page;
	if
#ifdef BROKEN_ANY_WRITER
	:: p == tail_page -> end = page[p].write & MASK
#else
	:: committing == 1 && p == tail_page -> end = page[p].write & MASK
#endif
	:: else ->
		entries++;	/* rb_commit() */
		goto rest
	fi
}

/* trace_recursive_unlock() */
inline recursive_unlock()
{
	current_context = current_context & (current_context - 1)
}

/* Who is outermost leaves nothing uncommitted, whatever has interrupted it. */
inline check_committed()
{
	assert(committing == 0);
	assert(commit_page == tail_page);
	assert(page[commit_page].commit == (page[commit_page].write & MASK))
}

/*
 * How things are when it begins: how many events are on the page, and where that is. All
 * events have been written at time 1.
 */
inline put_old(in, nr)
{
	i = 0;
	do
	:: i < nr ->
		SLOT(in, i).type = DATA;
		SLOT(in, i).slots = 1;
		SLOT(in, i).id = OLD;
		SLOT(in, i).time = 1;
		SLOT(in, i).exact = 1;
		i++
	:: else -> break
	od;
	i = 0;
	page[in].write = nr;
	page[in].commit = nr;
	page[in].entries = nr;
	page[in].stamp = 1;
	entries = entries + nr;
	nr_old = nr_old + nr
}

inline set_up()
{
	page[0].next = 1;
	page[1].next = 0;
	page[2].next = 0;
	page[1].head = 1;
	reader_page = 2;
	clock = 1;
	latest = 1;
	write_stamp = 1;
	before_stamp = 1;
	if	/* it is the first one, with these many events */
	:: skip
	:: put_old(0, 1); clock = 1 + DELTA_MAX	/* nothing has been written for long */
	:: put_old(0, CAP - 1)
	:: put_old(0, 1)
	:: put_old(0, 2)
		/* ... and what was written last was discarded */
	:: put_old(0, 1); before_stamp = 0
		/* the reader has the page */
	:: tail_page = 2; put_old(2, 1)
	:: tail_page = 2; put_old(2, CAP - 1)
		/* the page behind it is full, and is to be kept or overwritten */
	:: put_old(1, CAP); put_old(0, CAP - 1); page[0].head = 1; page[1].head = 0
	:: put_old(1, CAP); put_old(0, CAP - 1); page[0].head = 1; page[1].head = 0;
	   overwrite = 1
	fi;
	commit_page = tail_page
}

/* The outermost writer */
proctype outer() provided (RUNS(0))
{
	WRITER_LOCALS;

	d_step {
		me = OUTER;
		size = 1
	}
	fast_reserve();

ordinary:
	atomic {
		current_context = OUTER_BIT;
		reserve();
		if
		:: drop -> goto rest
		:: else
		fi
	}
	fill();
	goto unlock_commit;

reserved_fast:
	fill();
	if
	:: goto commit_fast	/* as the function tracers do: rb_fast_finish() */
	:: goto unlock_commit
	:: discard();
	   goto rest
	fi;

unlock_commit:	/* ring_buffer_unlock_commit() */
	fast_unlock_commit();
commit_fast:
	fast_commit();
	goto unlock;
rest:
	end_commit();
unlock:
	recursive_unlock();
	atomic {
		check_committed();
		forget();
		ended = 1
	}
}

inline begin_interrupt(who)
{
	back = running;
	running = who;
	interrupts = who;
	me = OUTER + who;
	if
	:: size = 1
	:: size = 1; discards = 1
	:: size = LONG
	fi
}

/* An interrupt that may be interrupted */
proctype inner() provided (RUNS(1) || interrupts == 0)
{
	WRITER_LOCALS;
	byte back;

	atomic {
		begin_interrupt(1);
		current_context = current_context | 2
	}
	reserve();
	if
	:: drop
	:: else ->
		fill();
		if
		:: discards -> discard()
		:: else ->
			fast_unlock_commit();
			fast_commit();
			goto unlock
		fi
	fi;
rest:	end_commit();
unlock:	atomic {
		recursive_unlock();
		forget();
		running = back
	}
}

/*
 * Nobody interrupts this one, so it is one step: what the reader does in between, it also
 * does between the steps of the one above. If nothing is being written this is an
 * outermost writer, and takes the short way. There is one interrupt like that, and when
 * all is over, one more event, whose time depends on the stamps that were left.
 */
proctype innermost(bit later) provided (RUNS(2) || interrupts == 1 || ended)
{
	WRITER_LOCALS;
	byte back;

	atomic {
		if
		:: !later && interrupts == 1 -> begin_interrupt(2)
		:: later && ended && interrupts == 2 && RUNS(0) ->
			me = LAST;
			size = 1
		fi;
		fast_reserve();

ordinary:	reserve();
		if
		:: drop -> goto rest
		:: else ->
			fill();
			if
			:: discards -> discard()
			:: else ->
				fast_unlock_commit();
				fast_commit();
				goto done
			fi;
			goto rest
		fi;

reserved_fast:	fill();
		fast = 1;
		if
		:: discards -> discard()
		:: else ->
			fast_commit();
			goto done
		fi;
rest:		end_commit();
done:		current_context = (fast -> 0 : current_context);
		forget();
		if
		:: later ->
			check_committed();
			finished = 1
		:: else -> running = back
		fi
	}
}

/*
 * rb_get_reader_page(): takes the page at the head for the empty one. Events may be read
 * from when they are committed until then: that they are complete is checked there.
 */
proctype reader()
{
	byte i, before, head, size;

look:	do
#ifdef BROKEN_SIZE_FIRST
	:: size = page[reader_page].commit;
	   if
	   :: commit_page != reader_page
	   :: else -> goto look
	   fi;
#elif defined(BROKEN_READ_WRITTEN)
	:: size = page[reader_page].commit;
#else
	:: commit_page != reader_page;
	   size = page[reader_page].commit;
#endif
	   d_step {
		/* What is on the page was read: there is nothing behind that. */
		assert(size == page[reader_page].commit);
		nr_read = nr_read + page[reader_page].entries;
		gone(reader_page, SEEN);
		page[reader_page].write = 0;
		page[reader_page].entries = 0;
		page[reader_page].commit = 0;
		before = (page[0].head -> 0 : (page[1].head -> 1 : 2));
		head = page[before].next;	/* rb_head_page_replace() */
		page[reader_page].next = page[head].next;
		page[reader_page].head = 1;
		page[before].next = reader_page;
		page[before].head = 0;
		reader_page = head;
		size = 0;
		head = 0;
		before = 0
	   }
	:: d_step {
		finished && commit_page == reader_page ->
		nr_read = nr_read + page[reader_page].entries;
		gone(reader_page, SEEN);
		assert(entries == nr_read + overrun);
		assert(nr_old == 0);
		assert(fate[OUTER] >= DISCARDED && fate[INNER] >= DISCARDED);
		assert(fate[INNERMOST] >= DISCARDED && fate[LAST] >= DISCARDED)
	   }
	   break
	od
}

init
{
	byte i;

	atomic {
		set_up();
		run outer();
		run inner();
		run innermost(0);
		run innermost(1);
		run reader()
	}
}
