// SPDX-License-Identifier: GPL-2.0
/*
 * Function returns: has a traced function return to return_to_handler, which is
 * in graph_entry_32.S and graph_entry_64.S.
 */
#include <linux/ftrace.h>
#include <linux/sched.h>

#include <asm/fgraph_fast.h>

/**
 * ftrace_graph_func_slow - as ftrace_graph_func(), whatever there is to be taken care of
 * @ip: the site
 * @fregs: the registers
 *
 * Context: any.
 */
void ftrace_graph_func_slow(unsigned long ip, struct ftrace_regs *fregs)
{
	unsigned long *slot = fgraph_return_slot(fregs);
	unsigned long to;
	int bit;

	if (unlikely(fgraph_too_early(fregs)))
		return;
	if (unlikely(ftrace_graph_is_dead() || atomic_read(&current->tracing_graph_pause)))
		return;

	/* Another callback may have changed it. */
	to = *slot;
	bit = ftrace_test_recursion_trylock(ip, to);
	if (bit < 0)
		return;
	if (!function_graph_enter_regs(to, ip, 0, slot, fregs))
		*slot = (unsigned long)return_to_handler;
	ftrace_test_recursion_unlock(bit);
}
