/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trees of calls that function_graph keeps until the outermost function returns, and writes if
 * that matches the filter in graph_keep.
 *
 * A tree consists of chunks of a page. The first one begins with struct graph_keep_tree, the
 * others with struct graph_keep_chunk; from there to the end of the page are records::
 *
 *	tree                         chunk
 *	+----------------+           +----------------+
 *	| chunk.link     |---------->| link           |---> ...
 *	| next           |-------.   | record         |
 *	| ...            |       |   | record         |
 *	| record         |       '-->|                |
 *	| record         |           |                |
 *	+----------------+           +----------------+
 *
 * A task has one word for each instance, its variable of fgraph: the flags that function_graph
 * has there, and the address of the tree that the task is in.
 *
 * Only the task itself and what interrupts it use its word and its tree, so there are no locks:
 *
 * - What interrupts has finished when the interrupted code goes on. The address in the word is
 *   then what it was: an interrupt that finds one adds to that tree, which ends later, and one
 *   that finds none starts a tree of its own, which has ended. So the word can be read, changed
 *   and written in any number of instructions, but for the number of calls with GRAPH_KEEP_LOST.
 *   A tree has its root's call before the word has the tree. If a root's return was lost, only
 *   the task itself takes its tree out of the word, while its interrupts are on: what interrupts
 *   adds to that.
 * - @next changes by local_try_cmpxchg(), which nothing interrupts. An address that it has had
 *   does not come back in the same tree, so who finds it as it was before has not lost
 *   anything. What was claimed belongs to who has claimed it, and is read when the root
 *   returns, which is after everything else has finished.
 * - The root takes the tree out of the word before it looks at it. Interrupts start trees of
 *   their own from then on.
 *
 * Pages are claimed from the instance's pool by setting their bit in a bitmap, which is
 * possible in any context, on any CPU.
 */
#ifndef _TRACE_GRAPH_KEEP_H
#define _TRACE_GRAPH_KEEP_H

#include <linux/bits.h>
#include <linux/llist.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <asm/local.h>

#include "fgraph_fast.h"
#include "trace.h"

struct event_filter;

/**
 * struct graph_keep_record - a call or a return
 * @word: of a call, its function; of a return, the value; 0: the rest of the chunk is empty
 * @time: of a call, when it was; of a return, what it took, with GRAPH_KEEP_RETURN
 *
 * The words that options want of a call are in records of their own behind it.
 */
struct graph_keep_record {
	u64	word;
	u64	time;
};

#define GRAPH_KEEP_RETURN	BIT_ULL(63)

/* No task has more frames at a time. */
#define GRAPH_KEEP_DEPTH	(FGRAPH_FAST_MAX / (FGRAPH_FAST_TOP + 1) + 1)

/**
 * struct graph_keep_chunk - what each page of a tree begins with
 * @link: the next one
 */
struct graph_keep_chunk {
	struct graph_keep_chunk	*link;
} __aligned(sizeof(struct graph_keep_record));

/**
 * struct graph_keep_tree - what the first page of a tree begins with
 * @chunk: its beginning
 * @next: where the next record goes; the end of a page: to another chunk; 0: the tree has been
 *	  cut, as it must not be larger or there is no memory
 * @chunks: how many it has
 * @missing: calls since it was cut. They are not traced.
 * @nr_rest: how many of @rest are used
 * @depth: how deep the root was called, for events
 * @frame: where the root's frame ends in the task's shadow stack
 * @exited: in the pool's list, when the task has exited
 * @rest: returns since it was cut, of functions that were called before
 * @open: for who reads the tree: functions that have not returned there
 */
struct graph_keep_tree {
	struct graph_keep_chunk	chunk;
	local_t			next;
	local_t			chunks;
	local_t			missing;
	local_t			nr_rest;
	int			depth;
	int			frame;
	struct llist_node	exited;
	struct graph_keep_record rest[GRAPH_KEEP_DEPTH];
	const struct graph_keep_record *open[GRAPH_KEEP_DEPTH];
} __aligned(sizeof(struct graph_keep_record));

/**
 * struct graph_keep_pool - memory for the trees of an instance
 * @pages: where it begins
 * @nr: how many pages it has
 * @bound: how many of them a tree may have
 * @idx: which variable of the tasks points to trees; -1: there was no tree yet
 * @hint: for each CPU, a page that may be free
 * @exited: trees of tasks that have exited
 * @give_back: gives their memory back
 * @used: a bit for each page
 */
struct graph_keep_pool {
	void			*pages;
	unsigned int		nr;
	unsigned int		bound;
	int			idx;
	unsigned int __percpu	*hint;
	struct llist_head	exited;
	struct work_struct	give_back;
	unsigned long		used[];
};

/**
 * struct graph_keep - which trees an instance writes
 * @text: the filter, as it was written
 * @filter: the filter
 * @pool: memory, while the tracer is in use
 */
struct graph_keep {
	char			*text;
	struct event_filter	*filter;
	struct graph_keep_pool	*pool;
};

/*
 * Bits of a task's word, besides function_graph's own:
 *
 * GRAPH_KEEP_TREE: the task is in a tree, and the word has its address.
 * GRAPH_KEEP_LOST: there was no memory for the tree that the task is in. The word has where the
 *		    root's frame ends in the task's shadow stack (0: the root does not return),
 *		    and the number of calls in it.
 */
#define GRAPH_KEEP_TREE		BIT(TRACE_GRAPH_NOTRACE_BIT + 1)
#define GRAPH_KEEP_LOST		BIT(TRACE_GRAPH_NOTRACE_BIT + 2)
#define GRAPH_KEEP_FRAME_SHIFT	(TRACE_GRAPH_NOTRACE_BIT + 3)
#define GRAPH_KEEP_FRAME_BITS	(PAGE_SHIFT - ilog2(sizeof(long)))
#define GRAPH_KEEP_COUNT_SHIFT	(GRAPH_KEEP_FRAME_SHIFT + GRAPH_KEEP_FRAME_BITS)

static inline int graph_keep_lost_frame(unsigned long word)
{
	return word >> GRAPH_KEEP_FRAME_SHIFT & (BIT(GRAPH_KEEP_FRAME_BITS) - 1);
}

static inline struct graph_keep_tree *graph_keep_tree(unsigned long word)
{
	return (void *)(word & PAGE_MASK);
}

/*
 * Is the frame of a tree's root gone? Its return was lost while other users of fgraph came or
 * went, and nobody reads the tree any more. The tree is one of the current task. @top is the end
 * of the task's frames without that of the function that it is entering. As an interrupt may
 * find the same, only the task does anything about it.
 */
static __always_inline bool graph_keep_is_stale(const struct graph_keep_tree *tree, int top)
{
	return top < tree->frame;
}

/* Claim a record of a tree, if that takes nothing else. NULL: graph_keep_claim() may do it. */
static __always_inline struct graph_keep_record *
graph_keep_claim_fast(struct graph_keep_tree *tree)
{
	long next = local_read(&tree->next);

	if (unlikely(!(next & ~PAGE_MASK)) ||
	    unlikely(!local_try_cmpxchg(&tree->next, &next,
					next + sizeof(struct graph_keep_record))))
		return NULL;
	return (void *)next;
}

enum graph_keep_kind {
	GRAPH_KEEP_CALL,
	GRAPH_KEEP_RET,
	GRAPH_KEEP_CUT,
};

/**
 * struct graph_keep_event - what is read of a tree
 * @kind: a call, a return, or where calls are missing
 * @depth: how deep the function was called
 * @func: the function
 * @calltime: when it was called
 * @duration: of a return, what it took in ns
 * @value: of a return, the value
 * @missing: calls that are missing
 * @more: of a call, the words that options want
 */
struct graph_keep_event {
	enum graph_keep_kind	kind;
	int			depth;
	unsigned long		func;
	u64			calltime;
	u64			duration;
	unsigned long		value;
	unsigned long		missing;
	const unsigned long	*more;
};

/**
 * struct graph_keep_iter - where it is read
 * @tree: the tree
 * @at: the next record
 * @units: how many records a call takes
 * @open: how many functions have not returned
 * @rest: how many returns of @tree's rest have been read; -1: not yet
 */
struct graph_keep_iter {
	struct graph_keep_tree	*tree;
	const struct graph_keep_record *at;
	unsigned int		units;
	unsigned int		open;
	int			rest;
};

struct graph_keep_pool *graph_keep_pool_alloc(unsigned int nr, unsigned int bound);
void graph_keep_pool_free(struct graph_keep_pool *pool);
unsigned int graph_keep_pool_used(const struct graph_keep_pool *pool);

struct graph_keep_tree *graph_keep_begin(struct graph_keep_pool *pool, int depth);
struct graph_keep_record *graph_keep_claim(struct graph_keep_pool *pool,
					   struct graph_keep_tree *tree, unsigned int units);
void graph_keep_claim_return(struct graph_keep_pool *pool, struct graph_keep_tree *tree,
			     u64 value, u64 duration);
void graph_keep_give_back(struct graph_keep_pool *pool, struct graph_keep_tree *tree);
void graph_keep_give_back_later(struct graph_keep_pool *pool, struct graph_keep_tree *tree);
void graph_keep_read(struct graph_keep_iter *iter, struct graph_keep_tree *tree,
		     unsigned int units);
bool graph_keep_next(struct graph_keep_iter *iter, struct graph_keep_event *event);

int graph_keep_start(struct trace_array *tr, struct graph_keep *keep);
void graph_keep_ignore_exits(struct graph_keep *keep);
void graph_keep_stop(struct graph_keep *keep);
void graph_keep_replace(struct trace_array *tr, struct graph_keep *keep);
int graph_keep_call(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
		    struct ftrace_regs *fregs);
void graph_keep_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops);

long graph_keep_units(const char *text, char *to, unsigned int size);
bool graph_keep_matches(const struct graph_keep *keep, const struct ftrace_graph_ret *trace,
			unsigned int trace_ctx);
void graph_keep_free(struct graph_keep *keep);
int graph_keep_set(struct trace_array *tr, struct graph_keep *keep);

#endif /* _TRACE_GRAPH_KEEP_H */
