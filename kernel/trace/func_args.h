/* SPDX-License-Identifier: GPL-2.0 */
/* The arguments of functions, and what they return, in events of the function tracers */
#ifndef _TRACE_FUNC_ARGS_H
#define _TRACE_FUNC_ARGS_H

#include <linux/ftrace.h>
#include <linux/trace_seq.h>

/* So many words are recorded: what functions get in registers. */
#define FUNC_ARGS	6

#ifdef CONFIG_FUNCTION_TRACE_ARGS
/* Unrolled: with a constant number, each word is one load. */
static __always_inline void func_args_save(unsigned long *args, struct ftrace_regs *fregs)
{
	args[0] = ftrace_regs_get_argument(fregs, 0);
	args[1] = ftrace_regs_get_argument(fregs, 1);
	args[2] = ftrace_regs_get_argument(fregs, 2);
	args[3] = ftrace_regs_get_argument(fregs, 3);
	args[4] = ftrace_regs_get_argument(fregs, 4);
	args[5] = ftrace_regs_get_argument(fregs, 5);
}
#else
static inline void func_args_save(unsigned long *args, struct ftrace_regs *fregs) { }
#endif

#ifdef CONFIG_FUNCTION_TRACER
void func_args_print(struct trace_seq *s, unsigned long ip, const unsigned long *args);
#else
static inline void func_args_print(struct trace_seq *s, unsigned long ip,
				   const unsigned long *args) { }
#endif
void func_value_print(struct trace_seq *s, unsigned long ip, unsigned long value);
bool func_is_void(unsigned long ip);

#ifdef CONFIG_PROBE_EVENTS_BTF_ARGS
bool func_args_print_typed(struct trace_seq *s, unsigned long ip, const unsigned long *args);
bool func_value_print_typed(struct trace_seq *s, unsigned long ip, unsigned long value);
bool func_is_void_typed(unsigned long ip);
#else
static inline bool func_args_print_typed(struct trace_seq *s, unsigned long ip,
					 const unsigned long *args)
{
	return false;
}

static inline bool func_value_print_typed(struct trace_seq *s, unsigned long ip,
					  unsigned long value)
{
	return false;
}

static inline bool func_is_void_typed(unsigned long ip)
{
	return false;
}
#endif

#endif /* _TRACE_FUNC_ARGS_H */
