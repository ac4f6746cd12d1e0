/* SPDX-License-Identifier: GPL-2.0 */
/* Nobody looks for a trampoline by an address here. */
#ifndef _SHIM_LINUX_RBTREE_LATCH_H
#define _SHIM_LINUX_RBTREE_LATCH_H

#include <linux/compiler.h>
#include <linux/types.h>

struct latch_tree_node { };
struct latch_tree_root { };

struct latch_tree_ops {
	bool	(*less)(struct latch_tree_node *a, struct latch_tree_node *b);
	int	(*comp)(void *key, struct latch_tree_node *node);
};

static inline void latch_tree_insert(struct latch_tree_node *node, struct latch_tree_root *root,
				     const struct latch_tree_ops *ops)
{
}

void latch_tree_erase(struct latch_tree_node *node, struct latch_tree_root *root,
		      const struct latch_tree_ops *ops);
struct latch_tree_node *latch_tree_find(void *key, struct latch_tree_root *root,
					const struct latch_tree_ops *ops);

#endif /* _SHIM_LINUX_RBTREE_LATCH_H */
