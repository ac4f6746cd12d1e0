// SPDX-License-Identifier: GPL-2.0
/*
 * function_graph with a filter in graph_keep: calls and returns are kept until the root of their
 * tree returns, and written if that matches. The root is the outermost function that is traced
 * in a task, or in an interrupt of a task that is in none.
 *
 * This does it whatever there is to be taken care of; inside of a tree, trace_fast_keep.h does
 * nearly all of it.
 */
#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include <trace/events/sched.h>

#include "graph_call.h"
#include "graph_keep.h"
#include "trace.h"

static_assert(GRAPH_KEEP_LOST < PAGE_SIZE);

/* Count a call that is missing, if there are bits for it. What interrupts may do so, too. */
static void lost_call(unsigned long *word)
{
	if (*word >> GRAPH_KEEP_COUNT_SHIFT < ULONG_MAX >> GRAPH_KEEP_COUNT_SHIFT)
		local_add(BIT(GRAPH_KEEP_COUNT_SHIFT), (local_t *)word);
}

/* For the word of a task that begins a tree without memory: its topmost frame is the root's. */
static unsigned long lost_here(void)
{
	return GRAPH_KEEP_LOST | (unsigned long)current->curr_ret_stack << GRAPH_KEEP_FRAME_SHIFT;
}

/* How many records a call takes with an instance's options */
static unsigned int units_of_call(const struct trace_array *tr)
{
	return 1 + DIV_ROUND_UP(graph_call_size(tr->fgraph_more) - graph_call_size(0),
				sizeof(struct graph_keep_record));
}

/*
 * Where a kernel thread begins: in a function of the architecture, which calls kthread(), which
 * calls the thread's own function. A user worker has no kthread().
 */
static const char *const thread_begin_names[] = {
	"ret_from_fork",		/* x86, arm, arm64, riscv */
	"__ret_from_fork",		/* s390 */
	"ret_from_kernel_thread",	/* mips, loongarch, parisc, sh, csky, microblaze */
	"ret_from_kernel_user_thread",	/* powerpc, of a user worker */
};

/* A size of 0: the symbol was not found. */
static struct thread_text {
	unsigned long start, size;
} thread_begin[ARRAY_SIZE(thread_begin_names)] __read_mostly, thread_kthread __read_mostly;

static void find_thread_text(const char *name, struct thread_text *text)
{
	text->start = kallsyms_lookup_name(name);
	if (!kallsyms_lookup_size_offset(text->start, &text->size, NULL))
		text->size = 0;
}

static bool is_in(unsigned long addr, const struct thread_text *text)
{
	return addr - text->start < text->size;
}

static bool is_at(unsigned long func, unsigned long entry)
{
	/* The site may be behind an instruction for indirect branches to land on. */
	return entry && func - entry < 16;
}

/* Is a thread of the kernel, or one of those that serve a process, in this for as long? */
static bool is_thread(unsigned long func, unsigned long ret)
{
	if (!(current->flags & (PF_KTHREAD | PF_USER_WORKER)))
		return false;
	for (int i = 0; i < ARRAY_SIZE(thread_begin); i++) {
		if (is_in(func, &thread_begin[i]) || is_in(ret, &thread_begin[i]))
			return true;
	}
	return is_in(func, &thread_kthread) || is_in(ret, &thread_kthread);
}

/* Does the idle task of a CPU not return from this? Nor from anything that it goes away in. */
static bool is_idle(unsigned long func)
{
	return is_idle_task(current) && (is_at(func, (unsigned long)cpu_startup_entry) ||
					 cpu_is_offline(raw_smp_processor_id()));
}

/*
 * May this function be a root? Not while nothing is recorded, and not where it will not return:
 * if a task consists of it, or has exited.
 */
static bool may_begin(struct trace_array *tr, unsigned long func, unsigned long ret)
{
	if (!tracer_tracing_is_on(tr))
		return false;
	return !in_task() || (!is_thread(func, ret) && !current->exit_state && !is_idle(func));
}

static void fill_call(struct graph_keep_record *record, const struct trace_array *tr,
		      unsigned long func, struct ftrace_regs *fregs)
{
	const struct ftrace_ret_stack *frame = ftrace_graph_get_ret_stack(current, 0);

	record->word = func;
	record->time = frame->calltime;
	graph_call_words(record + 1, tr->fgraph_more, graph_call_retaddr(frame->ret), fregs);
}

/*
 * A call outside of any tree; the function_graph tracer wants it. Its frame gets data, which
 * nobody reads: the word on top tells a root from all other functions.
 */
static int begin(struct trace_array *tr, struct fgraph_ops *gops, unsigned long *word,
		 const struct ftrace_graph_ent *call, struct ftrace_regs *fregs)
{
	const struct graph_keep *keep = READ_ONCE(tr->graph_keep);
	struct graph_keep_pool *pool;
	struct graph_keep_tree *tree;

	/* The entry may have read the gops of an instance that has just stopped: no filter. */
	if (unlikely(!keep))
		return 0;
	pool = keep->pool;
	if (!may_begin(tr, call->func, ftrace_graph_get_ret_stack(current, 0)->ret) ||
	    !fgraph_reserve_data(gops->idx, sizeof(long)))
		return 0;
	/* Before there is a tree that graph_keep_exit() might find. */
	WRITE_ONCE(pool->idx, gops->idx);
	tree = graph_keep_begin(pool, call->depth);
	if (tree) {
		tree->frame = current->curr_ret_stack;
		/* There is room: nobody else knows it yet. */
		fill_call(graph_keep_claim(pool, tree, units_of_call(tr)), tr, call->func, fregs);
	}
	/* What interrupts from now on adds to what is complete. */
	barrier();
	WRITE_ONCE(*word, *word | (tree ? (unsigned long)tree | GRAPH_KEEP_TREE : lost_here()));
	return 1;
}

/*
 * The same for a call that finds the word stale, as the return of the root was lost.
 * graph_keep_ignore_func() took it for a call in that tree and did not look it up in
 * set_graph_function.
 */
static int begin_again(struct trace_array *tr, struct fgraph_ops *gops, unsigned long *word,
		       struct ftrace_graph_ent *call, struct ftrace_regs *fregs)
{
	unsigned long unused = 0;

	return ftrace_graph_addr(&unused, call) ? begin(tr, gops, word, call, fregs) : 0;
}

/*
 * Is it the task itself that calls? in_task() is also true in irq_enter_rcu(), before the
 * interrupt is counted as one, and at the end of irq_exit_rcu(). Interrupts are off there. If
 * they are off in the task, its stale tree waits for a later call.
 */
static bool task_calls(void)
{
	return in_task() && !irqs_disabled();
}

/* Where the frames of the current task end below the topmost one */
static int frames_below(void)
{
	return (unsigned long *)ftrace_graph_get_ret_stack(current, 0) - current->ret_stack;
}

/**
 * graph_keep_call - keep a call, if it is in a tree or begins one
 * @trace: the call, whose frame is the topmost one of the current task
 * @gops: function_graph's, of an instance
 * @fregs: the registers, where arguments are asked for
 *
 * Context: any.
 * Return: 1: its return is wanted; 0: not
 */
int graph_keep_call(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
		    struct ftrace_regs *fregs)
{
	unsigned long *word = fgraph_get_task_var(gops);
	struct trace_array *tr = gops->private;
	struct graph_keep_record *record;
	struct graph_keep_tree *tree;
	struct graph_keep_pool *pool;

	if (*word & GRAPH_KEEP_LOST) {
		if (!task_calls() || frames_below() >= graph_keep_lost_frame(*word)) {
			lost_call(word);
			return 0;
		}
		WRITE_ONCE(*word, 0);
		return begin_again(tr, gops, word, trace, fregs);
	}
	if (!(*word & GRAPH_KEEP_TREE))
		return begin(tr, gops, word, trace, fregs);

	pool = READ_ONCE(tr->graph_keep)->pool;
	tree = graph_keep_tree(*word);
	if (task_calls() && graph_keep_is_stale(tree, frames_below())) {
		WRITE_ONCE(*word, 0);
		barrier();
		graph_keep_give_back(pool, tree);
		return begin_again(tr, gops, word, trace, fregs);
	}
	record = graph_keep_claim(pool, tree, units_of_call(tr));
	if (!record) {
		local_inc(&tree->missing);
		return 0;
	}
	fill_call(record, tr, trace->func, fregs);
	return 1;
}

static void write_call(struct trace_array *tr, const struct graph_keep_event *event,
		       unsigned int trace_ctx)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	const unsigned int size = graph_call_size(tr->fgraph_more);
	struct ftrace_graph_ent_entry *entry;
	struct ring_buffer_event *rbe;

	rbe = trace_buffer_lock_reserve(buffer, graph_call_type(tr->fgraph_more), size, trace_ctx);
	if (!rbe)
		return;
	entry = ring_buffer_event_data(rbe);
	entry->graph_ent.func = event->func;
	entry->graph_ent.depth = event->depth;
	memcpy(entry->args, event->more, size - graph_call_size(0));
	trace_buffer_unlock_commit_nostack(buffer, rbe);
}

static void write_return(struct trace_array *tr, const struct graph_keep_event *event,
			 unsigned int trace_ctx)
{
	struct ftrace_graph_ret trace = {
		.func = event->func,
		.depth = event->depth,
		.overrun = atomic_read(&current->trace_overrun),
		.calltime = event->calltime,
		.rettime = event->calltime + event->duration,
	};

	graph_ret_set_value(&trace, event->value);
	__trace_graph_return(tr, &trace, trace_ctx);
}

/* As in trace_graph_return() */
static int begin_writing(unsigned long func)
{
	return ftrace_test_recursion_trylock(func, func);
}

static void end_writing(int bit)
{
	if (bit >= 0)
		ftrace_test_recursion_unlock(bit);
}

/* Say that there would be more. */
static void write_missing(struct trace_array *tr, unsigned long func, unsigned long missing,
			  const char *why)
{
	char text[128];
	int len;

	if (!missing)
		return;
	len = scnprintf(text, sizeof(text), "graph_keep: %lu calls in %ps are missing: %s\n",
			missing, (void *)func, why);
	__trace_array_puts(tr, func, text, len);
}

/* So many events are written with preemption off. */
#define WRITE_BATCH	64

static void write_tree(struct trace_array *tr, struct graph_keep_tree *tree, unsigned int bound,
		       struct ftrace_graph_ret *root, unsigned int trace_ctx, int *bit)
{
	struct graph_keep_event event;
	struct graph_keep_iter iter;
	unsigned int nr = 0;

	graph_keep_read(&iter, tree, units_of_call(tr));
	while (graph_keep_next(&iter, &event)) {
		if (++nr % WRITE_BATCH == 0) {
			end_writing(*bit);
			*bit = begin_writing(root->func);
		}
		switch (event.kind) {
		case GRAPH_KEEP_CALL:
			write_call(tr, &event, trace_ctx);
			break;
		case GRAPH_KEEP_RET:
			write_return(tr, &event, trace_ctx);
			break;
		case GRAPH_KEEP_CUT:
			write_missing(tr, root->func, event.missing,
				      local_read(&tree->chunks) < bound ?
				      "no memory" : "too many");
		}
	}
	__trace_graph_return(tr, root, trace_ctx);
}

/* The root of a tree has returned that had no memory. */
static void write_lost(struct trace_array *tr, unsigned long word, struct ftrace_graph_ret *root,
		       unsigned int trace_ctx)
{
	struct ftrace_graph_ent call = { .func = root->func, .depth = root->depth };

	__trace_graph_entry(tr, &call, trace_ctx);
	write_missing(tr, root->func, word >> GRAPH_KEEP_COUNT_SHIFT, "no memory");
	__trace_graph_return(tr, root, trace_ctx);
}

/* The root has returned, and @word is what the task had. */
static void end(struct trace_array *tr, unsigned long word, struct ftrace_graph_ret *root)
{
	const struct graph_keep *keep = READ_ONCE(tr->graph_keep);
	unsigned int trace_ctx = tracing_gen_ctx();
	int bit = begin_writing(root->func);

	/*
	 * Functions that the filter calls may be traced, and each is a tree. The lock lets the
	 * filter be called once more, for such a tree. Trees in that call do not get the lock and
	 * are dropped: this ends.
	 */
	if (bit >= 0 && graph_keep_matches(keep, root, trace_ctx)) {
		if (word & GRAPH_KEEP_LOST)
			write_lost(tr, word, root, trace_ctx);
		else
			write_tree(tr, graph_keep_tree(word), keep->pool->bound, root, trace_ctx,
				   &bit);
	}
	end_writing(bit);
	if (word & GRAPH_KEEP_TREE)
		graph_keep_give_back(keep->pool, graph_keep_tree(word));
}

/**
 * graph_keep_return - keep a return, or write or drop a tree
 * @trace: the return
 * @gops: function_graph's, of an instance
 *
 * Context: any.
 */
void graph_keep_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	unsigned long *var = fgraph_get_task_var(gops), word;
	struct trace_array *tr = gops->private;

	ftrace_graph_addr_finish(gops, trace);
	word = *var;
	if (word & TRACE_GRAPH_NOTRACE) {
		*var &= ~TRACE_GRAPH_NOTRACE;
		return;
	}
	/* Whose call was before the filter */
	if (!(word & (GRAPH_KEEP_TREE | GRAPH_KEEP_LOST)))
		return;
	if (fgraph_retrieve_data(gops->idx, NULL)) {
		/* Before the tree is read: an interrupt begins one of its own from now on. */
		WRITE_ONCE(*var, 0);
		barrier();
		end(tr, word, trace);
	} else if (word & GRAPH_KEEP_TREE) {
		graph_keep_claim_return(READ_ONCE(tr->graph_keep)->pool, graph_keep_tree(word),
					graph_ret_value(trace), trace->rettime - trace->calltime);
	}
}

/*
 * A task exits, and what it is in does not return: give the memory back. It stays in a tree
 * that never ends, as the functions that it still calls are no roots. A tree may be as large as a
 * third of a CPU's buffer, and tracepoints call probes with preemption off: leave it to a work.
 */
static void graph_keep_exit(void *data, struct task_struct *task)
{
	struct graph_keep_pool *pool = data;
	unsigned long *stack = task->ret_stack;
	int idx = READ_ONCE(pool->idx);
	unsigned long *var, word;

	if (idx < 0 || !stack)
		return;
	var = fgraph_fast_var(stack, idx);
	word = *var;
	if (!(word & GRAPH_KEEP_TREE))
		return;
	WRITE_ONCE(*var, GRAPH_KEEP_LOST);
	barrier();
	graph_keep_give_back_later(pool, graph_keep_tree(word));
}

/* As much memory as the instance's ring buffer; a third of it for a CPU holds what fits there. */
static struct graph_keep_pool *pool_for(struct trace_array *tr)
{
	unsigned long size, least = ULONG_MAX, all = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		size = DIV_ROUND_UP(ring_buffer_size(tr->array_buffer.buffer, cpu), PAGE_SIZE);
		least = min(least, size);
		all += size;
	}
	return graph_keep_pool_alloc(clamp(all, 1ul, INT_MAX), max(least / 3, 1ul));
}

/**
 * graph_keep_start - prepare for function_graph to be registered with a filter
 * @tr: for which instance
 * @keep: the filter; NULL: does nothing
 *
 * Context: may sleep. trace_types_lock is held.
 * Return: 0, -ENOMEM, or -EINVAL if a tracepoint's text is not what it should be
 */
int graph_keep_start(struct trace_array *tr, struct graph_keep *keep)
{
	int ret;

	if (!keep)
		return 0;
	for (int i = 0; i < ARRAY_SIZE(thread_begin); i++)
		find_thread_text(thread_begin_names[i], &thread_begin[i]);
	find_thread_text("kthread", &thread_kthread);
	keep->pool = pool_for(tr);
	if (!keep->pool) {
		pr_warn("graph_keep: no memory for trees of calls\n");
		return -ENOMEM;
	}
	ret = register_trace_sched_process_exit(graph_keep_exit, keep->pool);
	if (ret) {
		graph_keep_pool_free(keep->pool);
		keep->pool = NULL;
	}
	return ret;
}

/**
 * graph_keep_ignore_exits - leave tasks that exit alone from now on
 * @keep: the filter; NULL: does nothing
 *
 * To be called while function_graph is still registered with it: afterwards, another user of
 * fgraph may have its index, and what tasks have there is no tree. What tasks that exit meanwhile
 * do not give back is freed with all the rest.
 *
 * Context: may sleep. trace_types_lock is held.
 */
void graph_keep_ignore_exits(struct graph_keep *keep)
{
	if (!keep || !keep->pool)
		return;
	unregister_trace_sched_process_exit(graph_keep_exit, keep->pool);
	tracepoint_synchronize_unregister();
}

/* Who writes a tree may have been preempted; idle tasks and interrupts cannot be. */
static void wait_for_trees(void)
{
	synchronize_rcu_tasks();
	synchronize_rcu_tasks_rude();
}

/**
 * graph_keep_stop - free what graph_keep_start() has prepared
 * @keep: the filter; NULL: does nothing
 *
 * Context: may sleep. trace_types_lock is held. function_graph is not registered with it: if it
 * was, unregister_ftrace_graph_sync() has cleared the words of all tasks.
 * graph_keep_ignore_exits() was called.
 */
void graph_keep_stop(struct graph_keep *keep)
{
	if (!keep || !keep->pool)
		return;
	wait_for_trees();
	graph_keep_pool_free(keep->pool);
	keep->pool = NULL;
}

/**
 * graph_keep_replace - use another filter, also for the trees that there are
 * @tr: an instance whose function_graph is registered with a filter
 * @keep: the new one
 *
 * When this returns, nobody uses the old one. It cannot fail.
 *
 * Context: may sleep. trace_types_lock is held.
 */
void graph_keep_replace(struct trace_array *tr, struct graph_keep *keep)
{
	keep->pool = tr->graph_keep->pool;
	/* Who finds it finds what it has: these are dependent reads. */
	smp_store_release(&tr->graph_keep, keep);
	wait_for_trees();
}
