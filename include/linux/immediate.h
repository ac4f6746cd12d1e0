/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Immediate values: variables that are read often and seldom change. Where one is read,
 * the instruction has the value in it; setting it changes the instructions. See
 * Documentation/trace/immediate-values.rst.
 *
 *	DECLARE_IMV(unsigned int, net_limit);		in a header
 *	DEFINE_IMV(unsigned int, net_limit, 64);
 *
 *	if (len > imv_read(net_limit))
 *		...
 *	if (imv_cond(net_limit))			while it is not 0
 *		...
 *	imv_set(net_limit, 128);
 *
 * Without CONFIG_IMMEDIATE_VALUES they are variables.
 */
#ifndef _LINUX_IMMEDIATE_H
#define _LINUX_IMMEDIATE_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/value_site.h>
#include <linux/log2.h>
#include <linux/types.h>

/**
 * DECLARE_IMV - declare an immediate value
 * @type: any scalar type of 1, 2, 4 or 8 bytes
 * @name: of its own name space
 */
#define DECLARE_IMV(type, name)	\
	extern __typeof__(type) imv_##name __aligned(VALUE_SITE_ALIGN)

/**
 * DEFINE_IMV - define an immediate value; may be static
 * @type: any scalar type of 1, 2, 4 or 8 bytes
 * @name: of its own name space
 * @value: what it is at first, a constant
 */
#define DEFINE_IMV(type, name, value)	\
	__typeof__(type) imv_##name __aligned(VALUE_SITE_ALIGN) = (value)

#define EXPORT_IMV_SYMBOL(name)		EXPORT_SYMBOL(imv_##name)
#define EXPORT_IMV_SYMBOL_GPL(name)	EXPORT_SYMBOL_GPL(imv_##name)

#ifdef CONFIG_IMMEDIATE_VALUES

#define __imv_log(name)	ilog2(sizeof(imv_##name))

#define __imv_check(name)						\
	BUILD_BUG_ON_MSG(!is_power_of_2(sizeof(imv_##name)) || sizeof(imv_##name) > 8, \
			 "an immediate value has 1, 2, 4 or 8 bytes")

/* The bits of a value of the variable's type */
#define __imv_bits(name, to) ({						\
	union { u64 bits; __typeof__(imv_##name) value; } __imv = { .bits = 0 }; \
									\
	__imv_check(name);						\
	__imv.value = (to);						\
	__imv.bits;							\
})

/**
 * imv_read - read an immediate value
 * @name: which
 *
 * One instruction that reads no memory, but for early boot: until the early initcalls,
 * or until the module that this is in is there, it reads the variable. On 32 bits, a value
 * of eight bytes is always read from memory, in two halves.
 *
 * Context: any but noinstr code, and functions that are copied to elsewhere.
 *
 * Return: the value. While it is being set, the old one or the new one; of eight bytes on
 * 32 bits, maybe one half of each.
 */
#define imv_read(name) ({						\
	union { u64 bits; __typeof__(imv_##name) value; } __imv;	\
									\
	__imv_check(name);						\
	__imv.bits = arch_value_load(&imv_##name, __imv_log(name));	\
	__imv.value;							\
})

/**
 * imv_cond - whether an immediate value is not 0
 * @name: which
 *
 * For the condition of an ``if``: a NOP while it is 0, and what follows is out of line.
 * Before the early initcalls, or until the module that this is in is there, it is false.
 *
 * Context: any but noinstr code, and functions that are copied to elsewhere.
 */
#define imv_cond(name) ({							\
	__imv_check(name);							\
	unlikely_notrace(arch_value_branch(&imv_##name, __imv_log(name)));	\
})

/**
 * imv_set - change an immediate value
 * @name: which
 * @value: to what; converted to the type that it was declared with
 *
 * Changes every place that reads it, with three synchronisations of all CPUs for some
 * thousands of them. When this returns, all CPUs read the new value.
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading and text_mutex.
 *
 * Return: 0, or -EINVAL with a message if the text of a place that reads it is not what it
 * should be; then the value is as before, and that place is given up: it stays as it is.
 */
#define imv_set(name, value)	\
	__imv_set(&imv_##name, sizeof(imv_##name), __imv_bits(name, value))

/**
 * imv_assign - change an immediate value, with others
 * @name: which
 * @value: to what
 *
 * Takes effect with the next imv_commit() or imv_set(), of anybody.
 *
 * Context: process context, sleeps.
 */
#define imv_assign(name, value)	\
	__imv_assign(&imv_##name, sizeof(imv_##name), __imv_bits(name, value))

/**
 * imv_commit - have all values take effect that have been assigned
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading and text_mutex.
 *
 * Return: as imv_set(), for any place that reads a value which has been assigned; but the
 * values stay assigned. Also -EINVAL, without a message, if an imv_set() of another value
 * has given up a place since the last imv_commit().
 */
int imv_commit(void);

int __imv_set(void *value, unsigned int size, u64 to);
void __imv_assign(void *value, unsigned int size, u64 to);

/**
 * imv_set_early - change an immediate value before the early initcalls
 * @name: which
 * @value: to what
 *
 * imv_read() reads it at once, imv_cond() when the early initcalls have begun.
 *
 * Context: boot with one CPU, as in early parameters.
 */
#define imv_set_early(name, value)	WRITE_ONCE(imv_##name, value)

#else /* !CONFIG_IMMEDIATE_VALUES */

#define imv_read(name)			READ_ONCE(imv_##name)
#define imv_cond(name)			unlikely_notrace(READ_ONCE(imv_##name))
#define imv_assign(name, value)		WRITE_ONCE(imv_##name, value)
#define imv_set_early(name, value)	WRITE_ONCE(imv_##name, value)

#define imv_set(name, value) ({						\
	WRITE_ONCE(imv_##name, value);					\
	0;								\
})

static inline int imv_commit(void)
{
	return 0;
}

#endif /* CONFIG_IMMEDIATE_VALUES */

#endif /* _LINUX_IMMEDIATE_H */
