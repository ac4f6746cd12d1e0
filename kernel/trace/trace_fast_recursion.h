/* SPDX-License-Identifier: GPL-2.0 */
/* Who may write events without protection from recursion: trace_fast.h and fgraph_fast.c. */
#ifndef _TRACE_FAST_RECURSION_H
#define _TRACE_FAST_RECURSION_H

#include <linux/sched.h>
#include <linux/trace_recursion.h>

/*
 * Does nobody in this task protect from recursion? Whoever is called inside of that has to
 * be protected, too. TRACE_IRQ_BIT does not belong to it, and stays set. What is to be found
 * while RCU is not watching is found by the protection.
 */
static __always_inline bool trace_fast_allowed(void)
{
	return !IS_ENABLED(CONFIG_FTRACE_VALIDATE_RCU_IS_WATCHING) &&
	       !(current->trace_recursion & ~BIT(TRACE_IRQ_BIT));
}

#endif /* _TRACE_FAST_RECURSION_H */
