/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_KERNEL_H
#define _SHIM_LINUX_KERNEL_H

#include <linux/compiler.h>
#include <linux/types.h>

#include <stdio.h>

#define ALIGN(_x, _to)		(((_x) + (_to) - 1) & -(typeof(_x))(_to))
#define ARRAY_SIZE(_array)	(sizeof(_array) / sizeof(*(_array)))
#define container_of(_ptr, _type, _member)				\
	((_type *)((char *)(_ptr) - offsetof(_type, _member)))
#define pr_warn(...)		fprintf(stderr, __VA_ARGS__)
#define pr_info(...)		((void)(0 && fprintf(stderr, __VA_ARGS__)))

#endif /* _SHIM_LINUX_KERNEL_H */
