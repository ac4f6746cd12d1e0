/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_INIT_H
#define _SHIM_LINUX_INIT_H

#include <linux/compiler.h>

#define __init
#define __initdata
#define __ro_after_init
/* Nobody reads a command line here. */
#define early_param(_name, _func)					\
	static int (*early_param_##_func)(char *name) __maybe_unused = _func

#endif /* _SHIM_LINUX_INIT_H */
