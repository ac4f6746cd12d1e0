/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changing the instruction of text sites while CPUs execute it: kernel/text_site/batch.c,
 * arch/x86/kernel/text_site/patch.c, run.h and int3.c, asm/text_site_entry.h; and what is
 * freed then: kernel/trace/fentry/set.c, kernel/text_site/table.c.
 *
 * There is one site, which is a NOP or calls a trampoline, one of two. Two CPUs execute it
 * again and again while the patcher makes batches, one right after the other. An instruction
 * is a head, the first byte, and a tail of two parts, as tails may tear.
 *
 * With ALSO_ROUNDS there are two sites, and a batch changes one of them or both, in one round
 * or in two. The thread that patches may die, once, wherever its interrupts are on in
 * arch_text_site_pass(). The caller then repeats the pass. Each CPU executes one of the sites:
 * one that executes both only serialises more often. To keep the states few, tails do not tear,
 * no table is removed, and both CPUs are online there.
 *
 * A table is removed between two batches, or, with ALSO_REMOVER, at any time: only sites of
 * one kind have the same lock.
 *
 * One of the CPUs comes up some time. It executes the site before it gets IPIs and before it
 * can take a breakpoint.
 *
 * A CPU executes bytes that it has fetched at any time before, each at another time,
 * until it serialises. It does so when the IPI of a sync comes, which it takes when
 * interrupts are on, and by the IRET at the end of a breakpoint. It may meet a stale
 * breakpoint even after that, as in an emulator that keeps translated code.
 *
 * The handler reads the state of the site, the address of its target, and does what that
 * says: three steps, between which the patcher and the other CPU go on.
 *
 * Modelled: one order in which all CPUs see writes to data. x86 keeps the order of one
 * CPU's writes, and that of its reads, and the code relies on no other. A CPU stands for the
 * task on it: one that is preempted in a trampoline is a CPU that stays there.
 *
 * Not modelled:
 *
 * - Values, kinds, and NMIs.
 * - A CPU that goes down. The lock is the same as for one that comes up.
 * - text_site_set_next(): sites of a batch that hold the same get the same.
 * - Breakpoints of others, and stale ones where there is no site: emulate_text() reads the
 *   instruction from memory, and relies on the order in which text_poke_bp() writes.
 * - What the emulation does to registers and to the stack: nobody else has these.
 * - The window and its page table: nobody but the patcher has it.
 * - Who makes the passes. take_rest() hands the remaining ones over as a whole.
 * - A thread that dies elsewhere. With interrupts off in a pass, it is not known what has
 *   been written; in next_round(), sites of the batch may be left out. The code does not
 *   recover from either.
 */

#define CPUS		2
#ifdef BROKEN_FLIGHT_ONCE
#define ALSO_ROUNDS
#endif
#ifdef BROKEN_RETIRE_ROUND
#define ALSO_ROUNDS
#endif
#ifdef BROKEN_GO_ON_LATE
#define ALSO_ROUNDS
#endif
#ifdef BROKEN_PASS_FIRST
#define ALSO_ROUNDS
#endif
#ifdef BROKEN_ANEW
#define ALSO_ROUNDS
#endif
#ifdef BROKEN_NO_REPEAT
#define ALSO_ROUNDS
#endif
#ifdef ALSO_ROUNDS
#define SITES		2
#define PARTS		1
#define BATCHES		2
#else
#define SITES		1
#define PARTS		2
#define BATCHES		3
#endif
#define LAST_SITE	(SITES - 1)
#define LAST_PART	(PARTS - 1)

/* The target that a site holds is the NOP, or a set, which has a trampoline. */
#define NOP		0
#define SETS		3

/* First bytes; the parts of the tail are the target. */
#define NOPL		0
#define CALL		1
#define INT3		2
#define HEAD(id)	((id) == NOP -> NOPL : CALL)

typedef insn_t {
	byte head, tail[PARTS]
};

insn_t text[SITES];		/* what memory has */
byte site_of[CPUS];		/* which site CPUs execute */
insn_t fetched[CPUS];		/* what they have fetched of it */

/* The state of a site, TEXT_SITE_TARGET and TEXT_SITE_PENDING; text_changes */
byte target[SITES];
bit pending[SITES], in_flight;

#define PASS_BREAK	0
#define PASS_TAIL	1
#define PASS_HEAD	2
#define NONE		SITES		/* no site */

/* The second CPU executes the site, and gets IPIs; batches hold cpu_hotplug_lock. */
#ifdef ALSO_ROUNDS
bit runs = 1, online = 1, locked;
#else
bit runs, online, locked;
#endif
#define ONLINE(cpu)	((cpu) == 0 || online)

/* Where CPUs are; in_handler: with interrupts off */
bit in_handler[CPUS];
byte in_trampoline[CPUS];	/* NOP: in none */

/* struct ops_set */
#define FREE		0
#define USED		1
#define RETIRED		2
byte set[SETS];

/* A CPU may have fetched, before, what was where the trampoline of the set is now. */
bit unseen[CPUS * SETS];
#define UNSEEN(cpu, id)	unseen[(cpu) * SETS + (id)]

/* The table of a module, which handlers come across on the way to the site's. */
#ifdef ALSO_ROUNDS
bit table_known, table_freed;
#else
bit table_known = 1, table_freed;
#endif

/*
 * What a site did when the batch began, and what is wanted. All CPUs change over at one
 * moment: none decides for what was after any has decided for what is wanted.
 */
byte was[SITES], wanted[SITES];
bit switched[SITES];

#define SITE		site_of[me]

inline does(id)
{
	assert(id == wanted[SITE] || (id == was[SITE] && !switched[SITE]));
	switched[SITE] = switched[SITE] || (id == wanted[SITE] && id != was[SITE])
}

/* A CPU may do later what it has decided for, but not after the batch. */
inline enter(id)
{
	assert(id == wanted[SITE] || id == was[SITE]);
	assert(id == NOP || set[id] != FREE);
	assert(!UNSEEN(me, id));
	in_trampoline[me] = id
}

inline leave(id)
{
	assert(id == NOP || set[id] != FREE);
	in_trampoline[me] = NOP;
	id = NOP
}

/* What was fetched is dropped; by some emulators not a breakpoint. */
inline serialise(cpu)
{
	UNSEEN(cpu, 1) = 0;
	UNSEEN(cpu, 2) = 0;
	fetched[cpu].tail[0] = text[site_of[cpu]].tail[0];
	fetched[cpu].tail[LAST_PART] = text[site_of[cpu]].tail[LAST_PART];
	if
	:: fetched[cpu].head = text[site_of[cpu]].head
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

	/* TEXT_SITE_FIND: where the map and a leaf lead; the area, its index and its sites */
	looks = table_known;
	atomic {
		assert(!looks || !table_freed);
		looks = 0
	}
	atomic {
		if
		:: !pending[SITE] -> goto in_c
		:: else ->
			id = target[SITE];
			does(id)
		fi
	}
	goto emulated
}

/* text_int3(), text_site_emulate() */
inline handler()
{
	if
	:: text[SITE].head != INT3
	:: else -> assert(in_flight)	/* else it is somebody else's: there are none */
	fi;

	/* text_site_find() */
	looks = table_known;
	atomic {
		assert(!looks || !table_freed);
		looks = 0
	}
#ifdef BROKEN_TEXT_FIRST
	stands = (text[SITE].head == INT3);
#endif
	atomic {
		marked = pending[SITE];
		id = target[SITE];
		does(id)
	}
	if
	:: atomic { marked -> marked = 0 }
	:: else ->
#ifndef BROKEN_TEXT_FIRST
		stands = (text[SITE].head == INT3);
#endif
		if
		:: atomic {
			stands ->
			stands = 0;
#ifndef BROKEN_NO_REREAD
			marked = pending[SITE];
			id = target[SITE];
			does(id);
#endif
			assert(marked);		/* the same */
			marked = 0
		   }
		:: else
		fi
	fi
}

inline target_addr(id)
{
	assert(id == NOP || set[id] != FREE)
}

/* cpu_up(), which holds cpu_hotplug_lock from here on until the CPU is online */
inline come_up()
{
	atomic {
		!locked ->
		runs = 1;
		UNSEEN(me, 1) = 0;
		UNSEEN(me, 2) = 0;
		fetched[me].head = text[SITE].head;
		fetched[me].tail[0] = text[SITE].tail[0];
		fetched[me].tail[LAST_PART] = text[SITE].tail[LAST_PART]
	}
}

proctype cpu(byte me)
{
	byte id;
	bit marked, stands, looks;

#ifndef ALSO_ROUNDS
	if
	:: me == 0
	:: me == 1 -> come_up()
	fi;
#endif
end:	do
#ifndef ALSO_ROUNDS
	:: !ONLINE(me) -> online = 1
#endif
		/* fetches a byte */
	:: fetched[me].head != text[SITE].head ->
		fetched[me].head = text[SITE].head
	:: fetched[me].tail[0] != text[SITE].tail[0] ->
		fetched[me].tail[0] = text[SITE].tail[0]
	:: fetched[me].tail[LAST_PART] != text[SITE].tail[LAST_PART] ->
		fetched[me].tail[LAST_PART] = text[SITE].tail[LAST_PART]

		/* executes the instruction: it is no mixture */
	:: atomic {
		fetched[me].head != INT3 ->
		id = fetched[me].tail[0];
		assert(id == fetched[me].tail[LAST_PART] && fetched[me].head == HEAD(id));
		does(id);
		goto call
	   }

		/* meets the breakpoint; the handler runs any time later */
	:: atomic {
		fetched[me].head == INT3 ->
		assert(ONLINE(me));
#ifndef BROKEN_IRQS_ON
		in_handler[me] = 1
#endif
	   }
	   if
	   :: front_end()
	   :: goto in_c
	   fi;
in_c:	   handler();
emulated:  target_addr(id);
	   atomic {
		in_handler[me] = 0;		/* IRET */
		serialise(me);
call:		enter(id)
	   }
	   atomic { leave(id) }
	od
}

/* arch_text_site_sync() */
inline sync()
{
	atomic { !in_handler[0] -> serialise(0) }
	if :: !online :: atomic { online && !in_handler[1] -> serialise(1) } fi
}

/* fentry_set_put_unused(): a set that no site holds after the batch */
#define IS_WANTED(id)	(wanted[0] == id || wanted[LAST_SITE] == id)
inline retire()
{
	d_step {
		set[1] = (set[1] == USED && !IS_WANTED(1) -> RETIRED : set[1]);
		set[2] = (set[2] == USED && !IS_WANTED(2) -> RETIRED : set[2])
	}
}

/*
 * @next of a target: what the sites of the batch get that hold it, a NOP or any other set but
 * one that is retired. So sites can come to share a set, and go back to one that is in use.
 * Sets that are free are alike: the first one will do.
 */
byte next_of[SETS];
#define NEXT(id)	next_of[id]
#define MAY_GET(id)	((id) != target[i] && set[id] != RETIRED)

inline give(i, id)
{
	UNSEEN(0, id) = UNSEEN(0, id) || set[id] == FREE;
	UNSEEN(1, id) = UNSEEN(1, id) || set[id] == FREE;
	set[id] = USED;
	NEXT(target[i]) = id
}

inline choose_next(i)
{
	if
	:: MAY_GET(1) -> give(i, 1)
	:: MAY_GET(2) && set[1] != FREE -> give(i, 2)
	:: target[i] != NOP -> NEXT(target[i]) = NOP
	fi
}

/* Of all choices, the first are made first: the order is one in which variants fail early. */
inline choose()
{
	atomic {
		if
#ifdef ALSO_ROUNDS
		:: in_batch[0] = 1; in_batch[1] = 1
		:: in_batch[1] = 1
#endif
		:: in_batch[0] = 1
		fi;
		if
		:: in_batch[0] -> choose_next(0)
		:: else
		fi;
#ifdef ALSO_ROUNDS
		if
		:: in_batch[1] && !(in_batch[0] && target[0] == target[1]) -> choose_next(1)
		:: else
		fi;
#endif
		wanted[0] = (in_batch[0] -> NEXT(target[0]) : wanted[0]);
		wanted[LAST_SITE] = (in_batch[LAST_SITE] -> NEXT(target[LAST_SITE]) :
				     wanted[LAST_SITE]);
		switched[0] = 0;
		switched[LAST_SITE] = 0
	}
}

/* text_site_mark() */
inline mark()
{
	pending[0] = in_batch[0];
	pending[LAST_SITE] = in_batch[LAST_SITE];
	d_step {
		in_batch[0] = 0;
		in_batch[LAST_SITE] = 0
	}
}

/* The thread dies: who has waited for it goes on with the pass, and does not die. */
#if defined(BROKEN_NO_REPEAT)
#define MAY_DIE		if :: !died -> died = 1; pass++; goto go_on :: skip fi
#elif defined(ALSO_ROUNDS)
#define MAY_DIE		if :: !died -> died = 1; goto go_on :: skip fi
#else
#define MAY_DIE		skip
#endif

/* The next pending site of the round */
#define PENDING_FROM(i)	((i) == 0 && 0 < last && pending[0] -> 0 :	\
			((i) <= 1 && 1 < last && pending[LAST_SITE] -> 1 : NONE))

/* A round has all sites that are left, or one. */
inline next_round()
{
	atomic {
		first = last;
		if
#ifdef ALSO_ROUNDS
		:: first == 0 && pending[0] && pending[1] -> last = 1
#endif
		:: last = SITES
		fi;
		pass = PASS_BREAK
	}
}

/* A pass over one site, see patch_round(). Interrupts are off until run_go_on(). */
#ifdef BROKEN_STATE_IN_HEAD
#define HOLDS(i)	wanted[i]
#else
#define HOLDS(i)	target[i]
#endif
inline write_site()
{
	if
	:: pass == PASS_BREAK ->
#ifdef BROKEN_SAME_HEAD
		text[site].head = (HEAD(NEXT(target[site])) == text[site].head ->
				   text[site].head : INT3);
#else
		text[site].head = INT3;
#endif
#ifdef BROKEN_FLIGHT_LATE
		in_flight = 1;
#endif
#ifdef BROKEN_STATE_IN_BREAK
		target[site] = NEXT(target[site])
#endif
	:: pass == PASS_TAIL ->
#ifdef BROKEN_HEAD_FIRST
		text[site].head = HEAD(wanted[site]);
		sync();
#endif
#if !defined(BROKEN_STATE_IN_BREAK) && !defined(BROKEN_STATE_IN_HEAD)
		target[site] = NEXT(target[site]);
#endif
		text[site].tail[0] = HOLDS(site);
		text[site].tail[LAST_PART] = HOLDS(site)
	:: pass == PASS_HEAD ->
#ifdef BROKEN_PENDING_FIRST
		pending[site] = 0;
#endif
#ifndef BROKEN_HEAD_FIRST
		text[site].head = HEAD(HOLDS(site));
#endif
#ifdef BROKEN_STATE_IN_HEAD
		target[site] = NEXT(target[site]);
#endif
		pending[site] = 0
	fi;
#ifdef BROKEN_GO_ON_LATE
	MAY_DIE;
#endif
	site = PENDING_FROM(site + 1)
}

/* A thread that has died has begun this pass. */
#ifdef BROKEN_ANEW
#define BEGUN		false
#else
#define BEGUN		(run_pass == pass)
#endif

/* Sites are in flight from this pass on. */
#if defined(BROKEN_FLIGHT_LATE)
#define TAKES_OFF	false
#elif defined(BROKEN_FLIGHT_ONCE)
#define TAKES_OFF	(pass == PASS_BREAK && first == 0)
#else
#define TAKES_OFF	(pass == PASS_BREAK)
#endif

#if defined(BROKEN_NO_SYNC_AFTER_BREAK)
#define SYNC		if :: pass != PASS_BREAK -> sync() :: else fi
#elif defined(BROKEN_NO_SYNC_AFTER_TAIL)
#define SYNC		if :: pass != PASS_TAIL -> sync() :: else fi
#elif defined(BROKEN_NO_SYNC_AFTER_HEAD)
#define SYNC		if :: pass != PASS_HEAD -> sync() :: else fi
#else
#define SYNC		sync()
#endif

/* arch_text_site_pass() */
inline make_pass()
{
	in_flight = (TAKES_OFF -> 1 : in_flight);
	MAY_DIE;
	if
	:: BEGUN
	:: !BEGUN ->
#ifdef BROKEN_PASS_FIRST
		run_pass = pass;
		MAY_DIE;
#endif
		site = PENDING_FROM(first);
		MAY_DIE;
		run_pass = pass
	fi;
	do
	:: site != NONE ->
		MAY_DIE;
		write_site()
	:: site == NONE -> break
	od;
	MAY_DIE;
#ifdef BROKEN_FLIGHT_EARLY
	in_flight = (pass == PASS_HEAD -> 0 : in_flight);
#endif
	SYNC;
	MAY_DIE;
	in_flight = (pass == PASS_HEAD -> 0 : in_flight);
	MAY_DIE
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

#ifdef ALSO_REMOVER
proctype remover()
{
	remove_table()
}
#endif

proctype patcher()
{
	/* struct patch_work and struct text_site_table: the round is from first to before last */
	byte nr, first, last, pass = PASS_HEAD + 1;
	/* struct patch_run: the pass that was begun last, and what it has not written yet */
	byte run_pass = PASS_HEAD, site = NONE;
	bit in_batch[SITES], died;

	do
	:: nr < BATCHES ->
		choose();
		mark();
#ifdef BROKEN_RETIRE_EARLY
		retire();
#endif
#ifndef BROKEN_NO_CPUS_LOCK
		atomic { !runs || online -> locked = 1 };	/* cpus_read_lock() */
#endif
		last = 0;
go_on:		do			/* patch_rest() */
		:: pass <= PASS_HEAD ->
			make_pass();
			pass++
		:: pass > PASS_HEAD && last < SITES ->
#ifdef BROKEN_RETIRE_ROUND
			retire();
#endif
			next_round()
		:: pass > PASS_HEAD && last == SITES -> break
		od;
		locked = 0;
		retire();
		d_step {
			was[0] = wanted[0];
			was[LAST_SITE] = wanted[LAST_SITE];
			next_of[NOP] = NOP;
			next_of[1] = NOP;
			next_of[2] = NOP
		}
		nr++
#if !defined(ALSO_ROUNDS) && !defined(ALSO_REMOVER)
	:: table_known -> remove_table()
#endif
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
proctype retirer()
{
	byte id;

end:	do
	:: atomic {
		set[1] == RETIRED || set[2] == RETIRED ->
		id = (set[1] == RETIRED -> 1 : 2)
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

init
{
	atomic {
#ifdef ALSO_ROUNDS
		if
		:: site_of[0] = 0; site_of[1] = 1
		:: site_of[0] = 0; site_of[1] = 0
		:: site_of[0] = 1; site_of[1] = 1
		fi;
#endif
		run cpu(0);
		run cpu(1);
		run patcher();
#ifdef ALSO_REMOVER
		run remover();
#endif
		run retirer()
	}
}
