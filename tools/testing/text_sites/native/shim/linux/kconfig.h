/* SPDX-License-Identifier: GPL-2.0 */
/* The options that the programs here depend on; each source gets this first. */
#ifndef _SHIM_LINUX_KCONFIG_H
#define _SHIM_LINUX_KCONFIG_H

#define CONFIG_64BIT				1
#define CONFIG_X86				1
#define CONFIG_X86_64				1
#define CONFIG_CC_IS_GCC			1
#define CONFIG_PREEMPTION			1
#define CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG	1

/* 1 if @option is defined as 1, else 0: 1 makes of the last step two arguments, not one */
#define KCONFIG_COMMA_1			0,
#define KCONFIG_SECOND(_a, _b, ...)	_b
#define KCONFIG_PICK(_one_or_junk)	KCONFIG_SECOND(_one_or_junk 1, 0)
#define KCONFIG_JOIN(_value)		KCONFIG_PICK(KCONFIG_COMMA_##_value)
#define IS_ENABLED(_option)		KCONFIG_JOIN(_option)

#endif /* _SHIM_LINUX_KCONFIG_H */
