/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fgraph.c lets trace_fast.h know, for a short way into and out of a function: if the
 * function_graph tracer of one instance is all that wants to know of returns and nothing
 * restricts what it follows, the event is written and the frame pushed or popped in one
 * piece. The event has the time that the shadow stack gets, too: the clock is read once.
 *
 * Everything else is left to fgraph.c, which has the same effect.
 */
#ifndef _FGRAPH_FAST_H
#define _FGRAPH_FAST_H

#include <linux/ftrace.h>

/**
 * struct fgraph_fast - the layout of shadow stacks, all of it in words
 * @gops: the user of returns, if there is one
 * @top: of a frame, its last word
 * @max: no frame reaches this
 * @vars: what users have for a task
 * @word: the last word of a frame that no user wants
 * @shift: where the bits of users are in it
 */
struct fgraph_fast {
	struct fgraph_ops	**gops;
	int			top;
	int			max;
	int			vars;
	unsigned int		shift;
	unsigned long		word;
};

extern const struct fgraph_fast fgraph_fast;

bool trace_fast_graph_enter(unsigned long ret, unsigned long func, unsigned long *retp,
			    unsigned int own);
unsigned long trace_fast_graph_leave(struct ftrace_regs *fregs);

#endif /* _FGRAPH_FAST_H */
