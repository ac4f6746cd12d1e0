/* SPDX-License-Identifier: GPL-2.0 */
/* Locks are not needed: there is one thread. */
#ifndef _SHIM_LINUX_CLEANUP_H
#define _SHIM_LINUX_CLEANUP_H

#define guard(_lock)		guard_##_lock
#define scoped_guard(_lock, ...)					\
	for (bool once = (guard_##_lock(__VA_ARGS__), true); once; once = false)
#define __free(_how)		__attribute__((cleanup(cleanup_##_how)))

#endif /* _SHIM_LINUX_CLEANUP_H */
