/* SPDX-License-Identifier: GPL-2.0 */
/* The function tracing engine on x86: trampolines, for the engine and the unwinder. */
#ifndef _ASM_X86_FENTRY_H
#define _ASM_X86_FENTRY_H

#include <linux/bits.h>
#include <linux/rbtree_latch.h>
#include <linux/types.h>

struct orc_entry;

/**
 * struct fentry_callback - a call that a trampoline makes
 * @func: called as func(site, parent, arg, regs)
 * @arg: its third argument
 * @at: offset of the call in the code, if this is of a trampoline that there is
 */
struct fentry_callback {
	void		*func;
	void		*arg;
	unsigned int	at;
};

/* What a trampoline does beyond handing over the argument registers, or leaves out */
#define TRAMPOLINE_REGS		BIT(0)	/* all registers, and back */
#define TRAMPOLINE_SET_IP	BIT(1)	/* returns to where regs->ip says */
#define TRAMPOLINE_SHARED	BIT(2)	/* both, and goes on to where regs->orig_ax says */
#define TRAMPOLINE_BARE		BIT(3)	/* no callback looks at registers: none are laid out */

/*
 * Bytes from the struct pt_regs that a callback gets up to the return address into the
 * traced function. The two links of a chain of frame pointers take five words of them.
 */
#define FENTRY_FRAME							\
	((int)(sizeof(struct pt_regs) +					\
	       (IS_ENABLED(CONFIG_FRAME_POINTER) ? 7 : 2) * sizeof(long)))

/**
 * struct fentry_trampoline - generated code that sites call
 * @addr: its first byte
 * @size: in bytes
 * @nr: number of callbacks; 0: there is no trampoline
 * @body: offset of the first instruction with the frame in place
 * @tail: offset of the first instruction with the frame gone again: the return,
 *	or the jump to @onward
 * @more_at: offsets of the instructions inside of the frame before which the stack
 *	holds a word more; 0: none
 * @left: bytes of stack that are left below the return address at @tail
 * @onward: where it goes on to instead of returning to the site, which to what is
 *	there looks as if the site had called it; 0: it returns
 * @call: the calls, owned by the caller of fentry_trampoline_create()
 * @node: in the tree of all trampolines
 */
struct fentry_trampoline {
	unsigned long		addr;
	unsigned int		size;
	unsigned int		nr;
	u16			body;
	u16			tail;
	u16			more_at[3];
	u16			left;
	unsigned long		onward;
	struct fentry_callback	*call;
	struct latch_tree_node	node;
};

int fentry_trampoline_create(struct fentry_trampoline *tramp, unsigned int flags,
			     struct fentry_callback *calls, unsigned int nr,
			     unsigned long onward);
void fentry_trampoline_free(struct fentry_trampoline *tramp);
void fentry_redirect_begin(void);
void fentry_redirect_end(void);
void fentry_trampoline_retarget(struct fentry_trampoline *tramp, const void *arg, void *func);
void fentry_trampoline_go_on_to(struct fentry_trampoline *tramp, unsigned long onward);
void fentry_trampoline_mitigate(struct fentry_trampoline *tramp);
struct fentry_trampoline *fentry_trampoline_find(unsigned long addr);
struct orc_entry *fentry_trampoline_orc(unsigned long addr);

#endif /* _ASM_X86_FENTRY_H */
