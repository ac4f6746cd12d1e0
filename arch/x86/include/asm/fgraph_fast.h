/* SPDX-License-Identifier: GPL-2.0 */
/* What function_graph's callback in kernel/trace/trace_fast_graph.h takes of the architecture. */
#ifndef _ASM_X86_FGRAPH_FAST_H
#define _ASM_X86_FGRAPH_FAST_H

#include <linux/ftrace.h>

#include <asm/fentry.h>

/*
 * Where on the stack the traced function has its return address. It is a constant away from
 * @fregs, which a trampoline has on its stack even if it fills in no stack pointer there.
 */
static __always_inline unsigned long *fgraph_return_slot(struct ftrace_regs *fregs)
{
	return (void *)fregs + FENTRY_FRAME + sizeof(long);
}

/*
 * Coming back from suspend to RAM, functions run before there are virtual addresses, and so
 * none of what is needed to trace them. The registers are on the stack.
 */
static __always_inline bool fgraph_too_early(const struct ftrace_regs *fregs)
{
	return IS_ENABLED(CONFIG_X86_64) ? (long)fregs >= 0 : (unsigned long)fregs < PAGE_OFFSET;
}

void ftrace_graph_func_slow(unsigned long ip, struct ftrace_regs *fregs);

#endif /* _ASM_X86_FGRAPH_FAST_H */
