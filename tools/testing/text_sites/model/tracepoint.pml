/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which probe a caller of a tracepoint gets to, and with which data, while probes come and
 * go and nobody waits: CONFIG_TRACEPOINTS_JUMP_FUNCTION in kernel/tracepoint.c.
 *
 * There is one tracepoint with up to two probes, at first one. Two callers read the data and
 * then take the jump, again and again: one in a read-side section of RCU, one in one of SRCU.
 * Another task adds and removes probes, alone or in a batch that others interrupt; the owner
 * of a probe that was removed waits for those in sections, and is gone then, or adds the probe
 * again before. The patcher may fail to change the jump each time.
 *
 * A caller that comes while the jump is being changed takes the old one or the new one. A
 * grace period is over as soon as those are out of their sections that were in one when it
 * began. Writes are seen in their order, as x86 has it.
 *
 * Not modelled: more than one tracepoint. The note of which grace periods are to end is one
 * for all of them, so others can only make a jump stay with the iterator for longer. Nor
 * static keys, which are only hints, nor tp_stub_func().
 */

#define CALLERS		2	/* RCU, SRCU */
#define STEPS		4

/* Probes are 1 and 2, and so is their data. */
#define NONE		0
#define ITER		0

/* struct tracepoint: funcs is read and written as one pointer. */
#define FUNCS(a, b)	((a) + 4 * (b))
#define FIRST(f)	((f) & 3)
#define SECOND(f)	((f) >> 2)
#define SINGLE(f)	((f) && !SECOND(f))
byte funcs = FUNCS(1, NONE), data = 1;

/* While they differ, the jump is being changed. */
byte jump = 1, jump_was = 1;

/* tracepoints_mutex */
bit mutex;

/* tracepoint_batch_begin(): is there one, is the jump to be changed at its end */
bit batch, waiting;

/* direct_work: pending, and executed */
bit queued, working;

bit in_section[CALLERS];

/* tp_transition_snapshot: those who have to leave their section */
bit awaited[CALLERS];

/* Owners of probes; who they wait for */
#define HERE		0
#define IN_BATCH	1
#define LEAVING		2
#define GONE		3
byte owner[3];
bit left_to[6];

bit failed, has_failed;
byte steps;

#define HAS(p)		(FIRST(funcs) == p || SECOND(funcs) == p)

inline tp_rcu_get_state()
{
	d_step {
		awaited[0] = awaited[0] || in_section[0];
		awaited[1] = awaited[1] || in_section[1]
	}
}

#if defined(BROKEN_NO_WAIT)
#define OVER		true
#elif defined(BROKEN_NO_SRCU)
#define OVER		(!awaited[0])
#elif defined(BROKEN_NO_RCU)
#define OVER		(!awaited[1])
#else
#define OVER		(!awaited[0] && !awaited[1])
#endif

/* tracepoint_change(), dynfunc_update_batch() */
inline update(new)
{
	d_step {
		failed = 0;
		to = ITER;
		if
		:: SINGLE(new) && OVER -> to = FIRST(new)
		:: SINGLE(new) && !OVER -> queued = 1
		:: else
		fi
	}
	if
	:: to == jump
	:: to != jump -> jump = to; jump_was = to
	:: to != jump -> failed = 1; has_failed = 1
	fi
}

/* tracepoint_can_wait(). Who asks has begun the batch or not. */
#ifdef BROKEN_CAN_WAIT
#define CAN_WAIT(new)	(batch && mine && (new == 0 || jump == ITER || funcs == 0))
#else
#define CAN_WAIT(new)	(batch && mine && (new == 0 || jump == ITER))
#endif

inline tracepoint_update_call(new)
{
	if
	:: CAN_WAIT(new) -> waiting = 1; failed = 0
	:: !CAN_WAIT(new) -> update(new)
	fi
}

inline tracepoint_set_funcs(new)
{
	funcs = new;
	data = FIRST(new)
}

inline tracepoint_add_func(p, in_front)
{
	d_step {	/* Who waits for the probe to go waits no more. */
		owner[p] = HERE;
		left_to[2 * p - 2] = 0;
		left_to[2 * p - 1] = 0
	}
	if
	:: funcs == 0 -> new = FUNCS(p, NONE)
	:: funcs != 0 && in_front -> new = FUNCS(p, FIRST(funcs))
	:: funcs != 0 && !in_front -> new = FUNCS(FIRST(funcs), p)
	fi;
	old = funcs;
#ifdef BROKEN_DATA_FIRST
	tracepoint_set_funcs(new);
	tracepoint_update_call(new);
#else
	tracepoint_update_call(new);
	if
	:: !failed -> tracepoint_set_funcs(new)
	:: failed -> goto done
	fi;
#endif
	if
	:: old != 0 && FIRST(new) != FIRST(old) ->
#ifndef BROKEN_NO_STATE_IN_FRONT
		tp_rcu_get_state()
#else
		skip
#endif
	:: else
	fi
}

inline synchronize_unregister(p)
{
	d_step {
		left_to[2 * p - 2] = in_section[0];
#ifndef BROKEN_GO_NO_SRCU
		left_to[2 * p - 1] = in_section[1];
#endif
		owner[p] = LEAVING
	}
}

inline tracepoint_remove_func(p)
{
	if
	:: FIRST(funcs) == p -> new = SECOND(funcs)
	:: SECOND(funcs) == p -> new = FIRST(funcs)
	fi;
	old = funcs;
	if
	:: new == 0 ->
		tracepoint_update_call(0);
#ifdef BROKEN_STATE_EARLY
		tp_rcu_get_state();
		tracepoint_set_funcs(0)
#else
		tracepoint_set_funcs(0);
#ifndef BROKEN_NO_STATE_AT_LAST
		tp_rcu_get_state()
#endif
#endif
	:: new != 0 ->
		tracepoint_set_funcs(new);
		if
		:: FIRST(new) != FIRST(old) ->
#ifndef BROKEN_NO_STATE_OF_FIRST
			tp_rcu_get_state()
#else
			skip
#endif
		:: else
		fi;
		tracepoint_update_call(new)
	fi;
	/* Who has begun a batch ends it before anything is freed. */
	if
	:: batch && mine -> owner[p] = IN_BATCH
#ifdef BROKEN_GO_AT_ONCE
	:: else -> owner[p] = LEAVING
#else
	:: else -> synchronize_unregister(p)
#endif
	fi
}

inline tracepoint_batch_end()
{
	if
	:: waiting ->
#ifdef BROKEN_BATCH_END
		to = (SINGLE(funcs) -> FIRST(funcs) : ITER);
		jump = to;
		jump_was = to;
#else
		update(funcs);
#endif
		waiting = 0
	:: !waiting
	fi;
	batch = 0;
	p = 1;
	do
	:: p <= 2 && owner[p] == IN_BATCH -> synchronize_unregister(p); p++
	:: p <= 2 && owner[p] != IN_BATCH -> p++
	:: p > 2 -> break
	od
}

active proctype changes()
{
	byte p, to, new, old;
	bit mine, in_front;

	do
	:: steps < STEPS ->
		atomic { !mutex -> mutex = 1 };
		steps++;
		if
		:: mine = 0
		:: batch -> mine = 1
		fi;
		if
		:: p = 1
		:: p = 2
		fi;
		if
		:: in_front = 0
		:: in_front = 1
		fi;
		if
		:: !HAS(p) -> tracepoint_add_func(p, in_front)
		:: HAS(p) -> tracepoint_remove_func(p)
		:: !batch -> batch = 1
		:: batch -> tracepoint_batch_end()
		fi;
done:		skip;
		d_step {
			p = 0; to = 0; new = 0; old = 0;
			mine = 0; in_front = 0; failed = 0;
			mutex = 0
		}
	:: steps == STEPS -> break
	od;

	/* In the end the jump leads to the one probe. */
	atomic {
		!queued && !working && !mutex ->
		assert(!SINGLE(funcs) || jump == FIRST(funcs) || has_failed || waiting)
	}
}

/* tracepoint_make_direct() */
active proctype work()
{
	byte to;
	bit over;

end:	do
	:: atomic { queued -> queued = 0; working = 1 };
#ifdef BROKEN_UNLOCKED
		over = OVER;
		atomic { !mutex -> mutex = 1 };
#else
		atomic { !mutex -> mutex = 1 };
		over = OVER;
#endif
		if
#ifdef BROKEN_UNLOCKED
		:: over && SINGLE(funcs) ->
			to = FIRST(funcs);
			jump = to;
			jump_was = to
#else
		:: over && SINGLE(funcs) -> update(funcs)
#endif
		:: over && !SINGLE(funcs)
#ifdef BROKEN_ONCE
		:: !over
#else
		:: !over -> queued = 1
#endif
		fi;
		d_step {
			over = 0; to = 0; failed = 0;
			mutex = 0; working = 0
		}
	od
}

/* Nobody gets to a probe whose owner is gone. */
inline call(p)
{
	assert(p == NONE || owner[p] != GONE)
}

proctype caller(byte me)
{
	byte my_data, to, my_funcs;

end:	do
	:: d_step { in_section[me] = 1; my_data = data };
		if
		:: my_data == NONE
		:: my_data != NONE ->
			if
			:: to = jump
			:: to = jump_was
			fi;
			if
			:: to != ITER ->
				/* The iterator finds the data of each by itself. */
				assert(to == my_data);
				call(to)
			:: to == ITER ->
				my_funcs = funcs;
				if
				:: my_funcs == 0
				:: my_funcs != 0 ->
					d_step { call(FIRST(my_funcs)); call(SECOND(my_funcs)) }
				fi
			fi
		fi;
		d_step {
			in_section[me] = 0;
			awaited[me] = 0;
			left_to[me] = 0;
			left_to[me + 2] = 0;
			my_data = 0;
			my_funcs = 0;
			to = 0
		}
	od
}

#define HAS_LEFT(p)	(owner[p] == LEAVING && !left_to[2 * p - 2] && !left_to[2 * p - 1])

inline go(p)
{
	owner[p] = GONE;
	jump = (jump == p -> ITER : jump);
	jump_was = jump
}

/* They go. A jump that still leads to what goes, as it was not changed: dynfunc_going() */
active proctype owners()
{
end:	do
	:: d_step { HAS_LEFT(1) && jump == jump_was -> go(1) }
	:: d_step { HAS_LEFT(2) && jump == jump_was -> go(2) }
	od
}

init
{
	atomic {
		run caller(0);
		run caller(1)
	}
}
