/* SPDX-License-Identifier: GPL-2.0 */
/* The function tracer's events with arguments, the short way: see trace_fast.h */
#include "func_args.h"

#ifdef CONFIG_FUNCTION_TRACE_ARGS
/**
 * function_args_trace_call - record that a function was called, with its arguments
 * @ip: the site
 * @parent_ip: the function's return address
 * @op: its private data is the instance
 * @fregs: the registers that have arguments
 *
 * Context: any.
 */
void function_args_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			      struct ftrace_regs *fregs)
{
	trace_fast_call(ip, parent_ip, op, FUNC_ARGS, fregs, func_args_save);
}
#endif
