// SPDX-License-Identifier: GPL-2.0
/*
 * Trees of calls in memory: pages for them, claiming records, reading them. graph_keep.h says
 * what they look like, and why there are no locks.
 */
#include <linux/bitmap.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "graph_keep.h"

#define UNIT	sizeof(struct graph_keep_record)

/* A record never crosses the end of a page, and there is room for some. */
static_assert(sizeof(struct graph_keep_tree) % UNIT == 0);
static_assert(sizeof(struct graph_keep_chunk) % UNIT == 0);
static_assert(sizeof(struct graph_keep_tree) <= PAGE_SIZE * 7 / 8);

/* Trees may be large: not done where tasks exit, with preemption off. */
static void give_back_exited(struct work_struct *work)
{
	struct graph_keep_pool *pool = container_of(work, struct graph_keep_pool, give_back);
	struct graph_keep_tree *tree, *next;

	llist_for_each_entry_safe(tree, next, llist_del_all(&pool->exited), exited) {
		graph_keep_give_back(pool, tree);
		cond_resched();
	}
}

/**
 * graph_keep_pool_alloc - allocate memory for trees
 * @nr: how many pages
 * @bound: how many of them a tree may have
 *
 * Context: may sleep.
 * Return: the pool, or NULL if there is not so much memory
 */
struct graph_keep_pool *graph_keep_pool_alloc(unsigned int nr, unsigned int bound)
{
	struct graph_keep_pool *pool;
	unsigned int *hint, cpu, i = 0;

	pool = kvzalloc(struct_size(pool, used, BITS_TO_LONGS(nr)), GFP_KERNEL);
	if (!pool)
		return NULL;
	pool->nr = nr;
	pool->bound = bound;
	pool->idx = -1;
	init_llist_head(&pool->exited);
	INIT_WORK(&pool->give_back, give_back_exited);
	pool->pages = __vmalloc(array_size(nr, PAGE_SIZE),
				GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	pool->hint = alloc_percpu(unsigned int);
	if (!pool->pages || !pool->hint) {
		graph_keep_pool_free(pool);
		return NULL;
	}
	/* CPUs begin in different places, so that they find different ones. */
	for_each_possible_cpu(cpu) {
		hint = per_cpu_ptr(pool->hint, cpu);
		*hint = mult_frac(nr, i++, num_possible_cpus());
	}
	return pool;
}

/**
 * graph_keep_pool_free - free such memory
 * @pool: the memory, which nobody uses; NULL: does nothing
 *
 * Context: may sleep.
 */
void graph_keep_pool_free(struct graph_keep_pool *pool)
{
	if (!pool)
		return;
	flush_work(&pool->give_back);
	free_percpu(pool->hint);
	vfree(pool->pages);
	kvfree(pool);
}

/* How many pages are in use */
unsigned int graph_keep_pool_used(const struct graph_keep_pool *pool)
{
	return bitmap_weight(pool->used, pool->nr);
}

/* Claim a free page of [from, to). The acquire pairs with give(). */
static void *take_of(struct graph_keep_pool *pool, unsigned int from, unsigned int to)
{
	unsigned int nr;

	for (nr = from; nr < to; nr++) {
		nr = find_next_zero_bit(pool->used, to, nr);
		if (nr < to && !test_and_set_bit_lock(nr, pool->used))
			return pool->pages + ((size_t)nr << PAGE_SHIFT);
	}
	return NULL;
}

static void *take(struct graph_keep_pool *pool)
{
	/* Any will do, also that of a CPU that the task has just left. */
	unsigned int hint = raw_cpu_read(*pool->hint);

	return take_of(pool, hint, pool->nr) ?: take_of(pool, 0, hint);
}

static void give(struct graph_keep_pool *pool, void *page)
{
	unsigned int nr = (page - pool->pages) >> PAGE_SHIFT;

	clear_bit_unlock(nr, pool->used);
	raw_cpu_write(*pool->hint, nr);
}

/**
 * graph_keep_begin - begin a tree
 * @pool: where its memory comes from
 * @depth: how deep the root was called
 *
 * Context: any.
 * Return: the tree, or NULL if there is no memory
 */
struct graph_keep_tree *graph_keep_begin(struct graph_keep_pool *pool, int depth)
{
	struct graph_keep_tree *tree = take(pool);

	if (!tree)
		return NULL;
	tree->chunk.link = NULL;
	local_set(&tree->next, (long)(tree + 1));
	local_set(&tree->chunks, 1);
	local_set(&tree->missing, 0);
	local_set(&tree->nr_rest, 0);
	tree->depth = depth;
	return tree;
}

/**
 * graph_keep_give_back - give a tree's memory back
 * @pool: where it came from
 * @tree: the tree, which no task's word has any more
 *
 * Context: any.
 */
void graph_keep_give_back(struct graph_keep_pool *pool, struct graph_keep_tree *tree)
{
	struct graph_keep_chunk *chunk, *link;

	for (chunk = &tree->chunk; chunk; chunk = link) {
		link = chunk->link;
		give(pool, chunk);
	}
}

/**
 * graph_keep_give_back_later - have a work give a tree's memory back
 * @pool: where it came from
 * @tree: the tree, which no task's word has any more
 *
 * Context: any in which a work may be scheduled.
 */
void graph_keep_give_back_later(struct graph_keep_pool *pool, struct graph_keep_tree *tree)
{
	if (llist_add(&tree->exited, &pool->exited))
		schedule_work(&pool->give_back);
}

/* The chunk that ends at @end is full: add another one, or cut the tree. */
static void grow(struct graph_keep_pool *pool, struct graph_keep_tree *tree, long end)
{
	struct graph_keep_chunk *full = (void *)(end - PAGE_SIZE), *chunk = NULL;
	long next = end;

	if (local_read(&tree->chunks) < pool->bound)
		chunk = take(pool);
	if (!chunk) {
		local_try_cmpxchg(&tree->next, &next, 0);
		return;
	}
	chunk->link = NULL;
	/* If something has interrupted that has added one, use that. */
	if (!local_try_cmpxchg(&tree->next, &next, (long)(chunk + 1))) {
		give(pool, chunk);
		return;
	}
	/* What interrupts now adds to @chunk, and does not need the link. */
	full->link = chunk;
	local_inc(&tree->chunks);
}

/**
 * graph_keep_claim - claim records of a tree, one behind the other
 * @pool: where its memory comes from
 * @tree: the tree
 * @units: how many
 *
 * Context: the task that the tree belongs to, or what interrupts it.
 * Return: the first one; NULL if the tree has been cut
 */
struct graph_keep_record *graph_keep_claim(struct graph_keep_pool *pool,
					   struct graph_keep_tree *tree, unsigned int units)
{
	const long size = units * UNIT;
	struct graph_keep_record *record;
	long next, left;

	for (;;) {
		next = local_read(&tree->next);
		if (!next)
			return NULL;
		record = (void *)next;
		left = -next & ~PAGE_MASK;
		if (!left) {
			grow(pool, tree, next);
		} else if (left >= size) {
			if (local_try_cmpxchg(&tree->next, &next, next + size))
				return record;
		} else if (local_try_cmpxchg(&tree->next, &next, next + left)) {
			*record = (struct graph_keep_record) { };
		}
	}
}

/**
 * graph_keep_claim_return - add a return to a tree
 * @pool: where its memory comes from
 * @tree: the tree, which has the call
 * @value: the value
 * @duration: what the function took, in ns
 *
 * If the tree has been cut since, there is room in the first page.
 *
 * Context: the task that the tree belongs to, or what interrupts it.
 */
void graph_keep_claim_return(struct graph_keep_pool *pool, struct graph_keep_tree *tree,
			     u64 value, u64 duration)
{
	struct graph_keep_record *record = graph_keep_claim(pool, tree, 1);
	long rest;

	if (!record) {
		rest = local_inc_return(&tree->nr_rest) - 1;
		/* There are no more frames. */
		if (WARN_ON_ONCE(rest >= GRAPH_KEEP_DEPTH))
			return;
		record = &tree->rest[rest];
	}
	record->word = value;
	record->time = duration | GRAPH_KEEP_RETURN;
}

/**
 * graph_keep_read - begin to read a tree
 * @iter: for graph_keep_next()
 * @tree: the tree, whose root has returned
 * @units: how many records each call has
 *
 * Context: any.
 */
void graph_keep_read(struct graph_keep_iter *iter, struct graph_keep_tree *tree,
		     unsigned int units)
{
	*iter = (struct graph_keep_iter) {
		.tree = tree, .at = (void *)(tree + 1), .units = units, .rest = -1,
	};
}

/* The next record of the chunks; NULL: there are no more */
static const struct graph_keep_record *next_record(struct graph_keep_iter *iter)
{
	const struct graph_keep_record *record = iter->at;
	const struct graph_keep_chunk *chunk;

	for (;;) {
		if ((long)record == local_read(&iter->tree->next))
			return NULL;
		if (!((long)record & ~PAGE_MASK)) {
			chunk = (void *)record - PAGE_SIZE;
			if (!chunk->link)
				return NULL;
			record = (void *)(chunk->link + 1);
		} else if (!record->word && !(record->time & GRAPH_KEEP_RETURN)) {
			record = (void *)PAGE_ALIGN((long)record);
		} else {
			return record;
		}
	}
}

static bool is_return(const struct graph_keep_record *record)
{
	return record->time & GRAPH_KEEP_RETURN;
}

/* @record returns from the function that was called last. */
static void read_return(struct graph_keep_iter *iter, const struct graph_keep_record *record,
			struct graph_keep_event *event)
{
	const struct graph_keep_record *call = iter->tree->open[--iter->open];

	*event = (struct graph_keep_event) {
		.kind = GRAPH_KEEP_RET,
		.depth = iter->tree->depth + iter->open,
		.func = call->word,
		.calltime = call->time,
		/* Less than 0 if clocks of CPUs differ */
		.duration = (s64)(record->time << 1) >> 1,
		.value = record->word,
	};
}

static void read_call(struct graph_keep_iter *iter, const struct graph_keep_record *record,
		      struct graph_keep_event *event)
{
	*event = (struct graph_keep_event) {
		.kind = GRAPH_KEEP_CALL,
		.depth = iter->tree->depth + iter->open,
		.func = record->word,
		.calltime = record->time,
		.more = (const void *)(record + 1),
	};
	iter->tree->open[iter->open++] = record;
}

/* What is behind the place where the tree was cut */
static bool next_of_rest(struct graph_keep_iter *iter, struct graph_keep_event *event)
{
	struct graph_keep_tree *tree = iter->tree;

	if (iter->rest < 0) {
		iter->rest = 0;
		if (local_read(&tree->missing)) {
			*event = (struct graph_keep_event) {
				.kind = GRAPH_KEEP_CUT,
				.missing = local_read(&tree->missing),
			};
			return true;
		}
	}
	if (iter->rest >= local_read(&tree->nr_rest) || !iter->open)
		return false;
	read_return(iter, &tree->rest[iter->rest++], event);
	return true;
}

/**
 * graph_keep_next - read what comes next in a tree
 * @iter: where it is read
 * @event: what was read
 *
 * The return of the root is not in the tree.
 *
 * Context: any.
 * Return: false if there is nothing more
 */
bool graph_keep_next(struct graph_keep_iter *iter, struct graph_keep_event *event)
{
	const struct graph_keep_record *record;

	while (iter->rest < 0 && (record = next_record(iter))) {
		iter->at = record + (is_return(record) ? 1 : iter->units);
		if (!is_return(record)) {
			if (WARN_ON_ONCE(iter->open >= GRAPH_KEEP_DEPTH))
				continue;
			read_call(iter, record, event);
			return true;
		}
		if (!WARN_ON_ONCE(!iter->open)) {
			read_return(iter, record, event);
			return true;
		}
	}
	return next_of_rest(iter, event);
}
