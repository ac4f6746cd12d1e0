/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What trace_fast_graph.h knows of fgraph.c, for a short way into and out of a function: if the
 * function_graph tracer of one instance is all that wants to know of returns and nothing
 * restricts what it follows, the event is written and the frame pushed or popped in one
 * piece. The event has the time that the shadow stack gets, too: the clock is read once.
 *
 * Everything else is left to fgraph.c, which has the same effect.
 */
#ifndef _FGRAPH_FAST_H
#define _FGRAPH_FAST_H

#include <linux/bits.h>
#include <linux/ftrace.h>

#include <asm/page.h>

/*
 * The layout of shadow stacks in words; fgraph.c describes it, and compares.
 *
 * FGRAPH_FAST_TOP:	of a frame, its last word
 * FGRAPH_FAST_NR:	how many users there may be
 * FGRAPH_FAST_VARS:	what they have for a task
 * FGRAPH_FAST_MAX:	no frame reaches this
 * FGRAPH_FAST_SHIFT:	where the bits of users are in the last word
 * FGRAPH_FAST_WORD:	the last word of a frame that no user wants
 */
#define FGRAPH_FAST_TOP		((int)(sizeof(struct ftrace_ret_stack) / sizeof(long)))
#define FGRAPH_FAST_NR		16
#define FGRAPH_FAST_VARS	((int)(PAGE_SIZE / sizeof(long)) - FGRAPH_FAST_NR)
#define FGRAPH_FAST_MAX		(FGRAPH_FAST_VARS - FGRAPH_FAST_TOP - 1)
#define FGRAPH_FAST_SHIFT	12
#define FGRAPH_FAST_WORD	(BIT(10) | FGRAPH_FAST_TOP)

/* The only user of returns; with several, one that wants none. */
extern struct fgraph_ops *fgraph_direct_gops;

/* The last word of a frame that only the user with this index wants */
static inline unsigned long fgraph_fast_word(int idx)
{
	return FGRAPH_FAST_WORD | (BIT(FGRAPH_FAST_SHIFT) << idx);
}

/* The word that the user with this index has in a task's shadow stack */
static inline unsigned long *fgraph_fast_var(unsigned long *stack, int idx)
{
	return &stack[FGRAPH_FAST_VARS + idx];
}

void fgraph_fast_update(void);
int function_graph_enter_slow(unsigned long ret, unsigned long func,
			      unsigned long frame_pointer, unsigned long *retp,
			      struct ftrace_regs *fregs);
unsigned long ftrace_return_to_handler_slow(struct ftrace_regs *fregs);

#endif /* _FGRAPH_FAST_H */
