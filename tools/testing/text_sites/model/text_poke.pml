/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changing the instruction of a text site while CPUs execute it: kernel/text_site/batch.c,
 * arch/x86/kernel/text_site/patch.c, run.h and int3.c, asm/text_site_entry.h; and what is
 * freed then: kernel/trace/fentry/set.c, kernel/text_site/table.c.
 *
 * There is one site, which is a NOP or calls a trampoline. Two CPUs execute it again and
 * again while the patcher makes batches, one right after the other. An instruction is a
 * head, the first byte, and a tail of two parts, as tails may tear.
 *
 * A CPU executes bytes that it has fetched at any time before, each at another time,
 * until it serialises. It does so when the IPI of a sync comes, which it takes when
 * interrupts are on, and by the IRET at the end of a breakpoint. It may meet a stale
 * breakpoint even after that, as in an emulator that keeps translated code.
 *
 * Modelled: one order in which all CPUs see writes to data. x86 keeps the order of one
 * CPU's writes, and that of its reads, and the code relies on no other. Not modelled:
 * values, kinds, breakpoints of others, and NMIs. A CPU stands for the task on it: one
 * that is preempted in a trampoline is a CPU that stays there.
 */

#define CPUS		2
#define BATCHES		3

/* The target that a site holds is the NOP, or a set, which has a trampoline. */
#define NOP		0
#define SETS		3

/* First bytes; the parts of the tail are the target. */
#define NOPL		0
#define CALL		1
#define INT3		2
#define HEAD(id)	((id) == NOP -> NOPL : CALL)

typedef insn_t {
	byte head, tail[2]
};

insn_t text;			/* what memory has */
insn_t fetched[CPUS];		/* what CPUs have fetched of it */

/* The state of the site, TEXT_SITE_TARGET and TEXT_SITE_PENDING; text_changes */
byte target;
bit pending, in_flight;

/* Where CPUs are; in_handler: with interrupts off */
bit in_handler[CPUS];
byte in_trampoline[CPUS];	/* NOP: in none */

/* struct ops_set */
#define FREE		0
#define USED		1
#define RETIRED		2
byte set[SETS];

/* The table of a module, which handlers come across on the way to the site's. */
bit table_known = 1, table_freed;

/*
 * What the site did when the batch began, and what is wanted. All CPUs change over at one
 * moment: none does what was after any has done what is wanted.
 */
byte was, wanted;
bit switched;

inline does(id)
{
	assert(id == wanted || (id == was && !switched));
	switched = switched || (id == wanted && id != was)
}

/* What was fetched is dropped; by some emulators not a breakpoint. */
inline serialise(cpu)
{
	fetched[cpu].tail[0] = text.tail[0];
	fetched[cpu].tail[1] = text.tail[1];
	if
	:: fetched[cpu].head = text.head
	:: fetched[cpu].head == INT3
	fi
}

/* TEXT_SITE_INT3: leaves to C what it does not deal with. */
inline front_end()
{
	if
	:: !in_flight -> goto in_c
	:: else
	fi;
	atomic {
		if
		:: !pending -> goto in_c
		:: else ->
			id = target;
			does(id)
		fi
	}
	goto emulated
}

/* text_int3(), text_site_emulate() */
inline handler()
{
	if
	:: text.head != INT3
	:: else -> assert(in_flight)		/* it is somebody else's: there are none */
	fi;

	/* text_site_find() */
	looks = table_known;
	atomic {
		assert(!looks || !table_freed);
		looks = 0
	}
#ifdef BROKEN_TEXT_FIRST
	stands = (text.head == INT3);
#endif
	atomic {
		marked = pending;
		id = target;
		does(id)
	}
	if
	:: atomic { marked -> marked = 0 }
	:: else ->
#ifndef BROKEN_TEXT_FIRST
		stands = (text.head == INT3);
#endif
		if
		:: atomic {
			stands ->
			stands = 0;
#ifndef BROKEN_NO_REREAD
			assert(pending);
#else
			assert(false);
#endif
			id = target;
			does(id)
		   }
		:: else
		fi
	fi
}

active [CPUS] proctype cpu()
{
	byte id;
	bit marked, stands, looks;

end:	do	/* fetches a byte */
	:: fetched[_pid].head != text.head -> fetched[_pid].head = text.head
	:: fetched[_pid].tail[0] != text.tail[0] -> fetched[_pid].tail[0] = text.tail[0]
	:: fetched[_pid].tail[1] != text.tail[1] -> fetched[_pid].tail[1] = text.tail[1]

		/* executes the instruction: it is no mixture */
	:: atomic {
		fetched[_pid].head != INT3 ->
		id = fetched[_pid].tail[0];
		assert(id == fetched[_pid].tail[1] && fetched[_pid].head == HEAD(id));
		does(id);
		goto call
	   }

		/* meets the breakpoint; the handler runs any time later */
	:: atomic {
		fetched[_pid].head == INT3 ->
#ifndef BROKEN_IRQS_ON
		in_handler[_pid] = 1
#endif
	   }
	   if
	   :: front_end()
	   :: goto in_c
	   fi;
in_c:	   handler();
emulated:  assert(id == NOP || set[id] != FREE);	/* target_addr() */
	   atomic {
		in_handler[_pid] = 0;		/* IRET */
		serialise(_pid);
call:		assert(id == NOP || set[id] != FREE);
		in_trampoline[_pid] = id
	   }
	   atomic {
		assert(id == NOP || set[id] != FREE);
		in_trampoline[_pid] = NOP;
		id = NOP
	   }
	od
}

/* arch_text_site_sync() */
inline sync()
{
	atomic { !in_handler[0] -> serialise(0) }
	atomic { !in_handler[1] -> serialise(1) }
}

/* fentry_set_put_unused(): the target that the batch has replaced */
inline retire()
{
	if
	:: was != NOP -> set[was] = RETIRED
	:: else
	fi
}

/* text_site_mark(), text_site_commit(), arch_text_site_pass() */
inline batch()
{
	atomic {
		if
		:: target != NOP -> wanted = NOP
		:: set[1] == FREE -> wanted = 1
		:: set[2] == FREE -> wanted = 2
		fi;
		set[wanted] = USED;
		switched = 0
	}
	pending = 1;
#ifdef BROKEN_RETIRE_EARLY
	retire();
#endif
#ifndef BROKEN_FLIGHT_LATE
	in_flight = 1;
#endif
	text.head = INT3;			/* TEXT_PASS_BREAK */
#ifdef BROKEN_FLIGHT_LATE
	in_flight = 1;
#endif
#ifdef BROKEN_STATE_IN_BREAK
	target = wanted;
#endif
#ifndef BROKEN_NO_SYNC_AFTER_BREAK
	sync();
#endif
#ifdef BROKEN_HEAD_FIRST
	text.head = HEAD(wanted);
	sync();
#endif
#if !defined(BROKEN_STATE_IN_BREAK) && !defined(BROKEN_STATE_IN_HEAD)
	target = wanted;			/* TEXT_PASS_TAIL */
#endif
	text.tail[0] = wanted;
	text.tail[1] = wanted;
#ifndef BROKEN_NO_SYNC_AFTER_TAIL
	sync();
#endif
#ifdef BROKEN_PENDING_FIRST
	pending = 0;
#endif
#ifndef BROKEN_HEAD_FIRST
	text.head = HEAD(wanted);		/* TEXT_PASS_HEAD */
#endif
#ifdef BROKEN_STATE_IN_HEAD
	target = wanted;
#endif
	pending = 0;
#ifdef BROKEN_FLIGHT_EARLY
	in_flight = 0;
#endif
#ifndef BROKEN_NO_SYNC_AFTER_HEAD
	sync();
#endif
	in_flight = 0;
	atomic {
#ifndef BROKEN_RETIRE_EARLY
		retire();
#endif
		was = wanted
	}
}

/* text_site_table_remove(); nobody executes the module's text any more */
inline remove_table()
{
	table_known = 0;
#ifndef BROKEN_NO_TABLE_SYNC
	sync();
#endif
	table_freed = 1
}

active proctype patcher()
{
	byte nr;

	do
	:: nr < BATCHES ->
		batch();
		nr++
	:: table_known -> remove_table()
	:: nr == BATCHES && !table_known -> break
	od
}

/* fentry_sets_sync(): every task has been out of every trampoline, when it scheduled. */
inline grace_period()
{
	!in_handler[0] && in_trampoline[0] == NOP;
	!in_handler[1] && in_trampoline[1] == NOP
}

/* retire_work_func() */
active proctype retirer()
{
	byte id;

end:	do
	:: atomic {
		if
		:: set[1] == RETIRED -> id = 1
		:: set[2] == RETIRED -> id = 2
		fi
	   }
#ifndef BROKEN_NO_GRACE
	   grace_period();
#endif
	   atomic {
		assert(in_trampoline[0] != id && in_trampoline[1] != id);
		set[id] = FREE;
		id = 0
	   }
	od
}
