// SPDX-License-Identifier: GPL-2.0
/*
 * How the arguments of a traced function are printed: by their names and types, if BTF
 * has those of this very function, else the words as they were in registers.
 */
#include "func_args.h"

/**
 * func_args_print - print the arguments of a traced function
 * @s: where to
 * @ip: the function's site
 * @args: FUNC_ARGS words, as they were in registers
 *
 * Context: any. Where it must not sleep, as when the kernel dies, it does not look for types.
 */
void func_args_print(struct trace_seq *s, unsigned long ip, const unsigned long *args)
{
	trace_seq_putc(s, '(');
	if (in_interrupt() || irqs_disabled() || !func_args_print_typed(s, ip, args)) {
		for (int i = 0; i < FUNC_ARGS; i++)
			trace_seq_printf(s, "%s0x%lx", i ? ", " : "", args[i]);
	}
	trace_seq_putc(s, ')');
}
