// SPDX-License-Identifier: GPL-2.0
/*
 * Function returns: has a traced function return to return_to_handler, which is
 * in graph_entry.S.
 */
#include <linux/fgraph_fast.h>
#include <linux/ftrace.h>
#include <linux/sched.h>

#include <asm/ftrace.h>

/**
 * ftrace_graph_func - the function graph tracer's callback: catches the return
 * @ip: the site
 * @parent_ip: the function's return address
 * @op: not used
 * @fregs: the registers, %rsp is right below the return address
 */
void ftrace_graph_func(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	unsigned long *parent = (unsigned long *)ftrace_regs_get_stack_pointer(fregs);
	unsigned long to = *parent;
	int bit;

	/*
	 * Coming back from suspend to RAM, functions run before there are virtual
	 * addresses, and so none of what is needed here.
	 */
	if (unlikely((long)__builtin_frame_address(0) >= 0))
		return;
	if (unlikely(ftrace_graph_is_dead() || atomic_read(&current->tracing_graph_pause)))
		return;

	if (likely(function_graph_enter_fast(to, ip, parent))) {
		*parent = (unsigned long)return_to_handler;
		return;
	}

	bit = ftrace_test_recursion_trylock(ip, to);
	if (bit < 0)
		return;
	if (!function_graph_enter(to, ip, 0, parent))
		*parent = (unsigned long)return_to_handler;
	ftrace_test_recursion_unlock(bit);
}
