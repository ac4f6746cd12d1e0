/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For architectures that can do without function_graph_enter() and without a recursion
 * lock if nothing is unusual; see kernel/trace/fgraph_fast.c.
 */
#ifndef _LINUX_FGRAPH_FAST_H
#define _LINUX_FGRAPH_FAST_H

#include <linux/types.h>

bool function_graph_enter_fast(unsigned long ret, unsigned long func, unsigned long *retp);

#endif /* _LINUX_FGRAPH_FAST_H */
