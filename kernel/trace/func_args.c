// SPDX-License-Identifier: GPL-2.0
/*
 * How the arguments of a traced function are printed, and what it returns: by names and types,
 * if BTF has those of this very function, else the words as they were in registers.
 */
#include <linux/err.h>

#include "func_args.h"

/* To look for types may sleep, which is not possible when the kernel dies, for example. */
static bool may_look(void)
{
	return !in_interrupt() && !irqs_disabled();
}

/**
 * func_args_print - print the arguments of a traced function
 * @s: where to
 * @ip: the function's site
 * @args: FUNC_ARGS words, as they were in registers
 *
 * Context: any. Where it must not sleep, it does not look for types.
 */
void func_args_print(struct trace_seq *s, unsigned long ip, const unsigned long *args)
{
	trace_seq_putc(s, '(');
	if (!may_look() || !func_args_print_typed(s, ip, args)) {
		for (int i = 0; i < FUNC_ARGS; i++)
			trace_seq_printf(s, "%s0x%lx", i ? ", " : "", args[i]);
	}
	trace_seq_putc(s, ')');
}

/**
 * func_value_print - print what a traced function has returned
 * @s: where to
 * @ip: the function's site
 * @value: the word, as it was in a register
 *
 * Context: any. Where it must not sleep, it does not look for types.
 */
void func_value_print(struct trace_seq *s, unsigned long ip, unsigned long value)
{
	if (may_look() && func_value_print_typed(s, ip, value))
		return;
	/* An int leaves the upper half of the register as it is, which is mostly 0. */
	if (IS_ERR_VALUE((long)(s32)value) && value <= U32_MAX)
		value = (s32)value;
	trace_seq_printf(s, IS_ERR_VALUE(value) ? "%ld" : "0x%lx", value);
}

/**
 * func_is_void - does a traced function return no value, as far as is known?
 * @ip: the function's site
 *
 * Context: any. Where it must not sleep, it does not look for types.
 * Return: true: it returns nothing; false: it does, or nothing is known about it
 */
bool func_is_void(unsigned long ip)
{
	return may_look() && func_is_void_typed(ip);
}
