/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Direct calls of many functions: each has a trampoline of its own, and all that is asked
 * for at once changes at once. The form is the one that later kernels have.
 */
#ifndef _LINUX_FTRACE_DIRECT_H
#define _LINUX_FTRACE_DIRECT_H

#include <linux/ftrace.h>

struct ftrace_hash;

#ifdef CONFIG_FTRACE_ENGINE_TEXT_SITES
/* For who frees what functions call directly; without it unregistering waits. */
void ftrace_after_tasks(struct rcu_head *head, rcu_callback_t func);
#endif

#if defined(CONFIG_FTRACE_ENGINE_TEXT_SITES) && defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)

#define FTRACE_HASH_DEFAULT_BITS	10

struct ftrace_hash *alloc_ftrace_hash(int size_bits);
void free_ftrace_hash(struct ftrace_hash *hash);
struct ftrace_func_entry *add_ftrace_hash_entry_direct(struct ftrace_hash *hash,
						       unsigned long ip, unsigned long direct);

int update_ftrace_direct_add(struct ftrace_ops *ops, struct ftrace_hash *hash);
int update_ftrace_direct_del(struct ftrace_ops *ops, struct ftrace_hash *hash);
int update_ftrace_direct_mod(struct ftrace_ops *ops, struct ftrace_hash *hash,
			     bool do_direct_lock);

#endif

#endif /* _LINUX_FTRACE_DIRECT_H */
