// SPDX-License-Identifier: GPL-2.0
/*
 * The function profiler where function returns are traced: how long functions took.
 */
#include <linux/irq_work.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "ops.h"
#include "profile.h"
#include "../trace_output.h"

const bool profile_has_times = true;

/* Memory for histograms is allocated for so many functions of a CPU at once. */
#define CHUNK		512u

/* A CPU has as many entries. */
static unsigned int nr_entries(void)
{
	return 1u << profile_table_bits;
}

/**
 * struct latency_pool - a CPU's histograms
 * @used: how many are taken
 * @nr: how many there are; no more are allocated when there is one for each entry
 * @chunk: where they are
 */
struct latency_pool {
	unsigned int		used;
	unsigned int		nr;
	struct profile_latency	**chunk;
};

static DEFINE_PER_CPU(struct latency_pool, latency_pools);

/* Memory was asked for: functions that are traced on the way do not ask again. */
static bool growing;

/* There was none: until all is cleared, asking is in vain. Under profile_mutex. */
static bool no_memory;

/* Allocate until one chunk more is there than is used. Returns 0 or -ENOMEM. */
static int pool_grow(struct latency_pool *pool)
{
	struct profile_latency *chunk;

	/* Without __GFP_RETRY_MAYFAIL, tasks would be killed for it. */
	while (pool->nr < nr_entries() && pool->nr < READ_ONCE(pool->used) + CHUNK) {
		chunk = kvcalloc(CHUNK, sizeof(*chunk),
				 GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
		if (!chunk)
			return -ENOMEM;
		pool->chunk[pool->nr / CHUNK] = chunk;
		/* Pairs with take_latency(): the chunk is there, and zero. */
		smp_store_release(&pool->nr, pool->nr + CHUNK);
	}
	return 0;
}

static void grow(struct work_struct *work)
{
	int cpu;

	guard(mutex)(&profile_mutex);
	/* Who has asked leaves growing set. */
	if (no_memory)
		return;
	/* First: a CPU that runs out from now on asks again. */
	WRITE_ONCE(growing, false);
	for_each_possible_cpu(cpu) {
		if (!pool_grow(per_cpu_ptr(&latency_pools, cpu)))
			continue;
		pr_warn("no memory for the latency of more functions\n");
		no_memory = true;
		return;
	}
}

static DECLARE_WORK(grow_work, grow);

static void grow_soon(struct irq_work *work)
{
	schedule_work(&grow_work);
}

static DEFINE_IRQ_WORK(grow_irq_work, grow_soon);

/* A histogram for a function, zero; NULL until there is memory for it. Interrupts are off. */
static struct profile_latency *take_latency(void)
{
	struct latency_pool *pool = this_cpu_ptr(&latency_pools);
	/* Pairs with pool_grow(). */
	const unsigned int nr = smp_load_acquire(&pool->nr);
	unsigned int i = this_cpu_read(latency_pools.used);

	/* Work that is queued on a CPU that goes offline may never run. */
	if (i + CHUNK / 2 >= nr && nr < nr_entries() && !READ_ONCE(growing) &&
	    cpu_online(smp_processor_id())) {
		WRITE_ONCE(growing, true);
		irq_work_queue(&grow_irq_work);
	}
	/* An NMI may take one in between. */
	do {
		if (i >= nr)
			return NULL;
	} while (!this_cpu_try_cmpxchg(latency_pools.used, &i, i + 1));
	return &pool->chunk[i / CHUNK][i % CHUNK];
}

/**
 * profile_times_init - forget what functions took
 *
 * Context: process context, sleeps, under profile_mutex. No call is being counted.
 * Return: 0, -ENOMEM.
 */
int profile_times_init(void)
{
	const unsigned int nr_chunks = DIV_ROUND_UP(nr_entries(), CHUNK);
	struct latency_pool *pool;
	int cpu;

	no_memory = false;
	WRITE_ONCE(growing, false);
	for_each_possible_cpu(cpu) {
		cond_resched();
		pool = per_cpu_ptr(&latency_pools, cpu);
		pool->chunk = pool->chunk ?: kvcalloc(nr_chunks, sizeof(*pool->chunk), GFP_KERNEL);
		if (!pool->chunk)
			return -ENOMEM;
		for (unsigned int i = 0; i < pool->nr; i += CHUNK)
			memset(pool->chunk[i / CHUNK], 0, CHUNK * sizeof(**pool->chunk));
		pool->used = 0;
		if (pool_grow(pool))
			return -ENOMEM;
	}
	return 0;
}

/* The time of a function is with that of those it calls. */
static bool graph_time = true;

/**
 * ftrace_graph_graph_time_control - trace option graph-time
 * @enable: count the time of called functions
 */
void ftrace_graph_graph_time_control(bool enable)
{
	graph_time = enable;
}

/*
 * A task's variable has the time of the profiled functions that the innermost one which it
 * is in has called so far; the frame of that one keeps what was there before. Frames of other
 * users may lie between. Each exchange is one instruction, so that an interrupt adds the time of
 * what it calls to one of two functions; if it comes between the clock and the exchange,
 * that is the wrong one.
 */
static int on_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
		    struct ftrace_regs *fregs)
{
	struct ftrace_ret_stack *frame;

	profile_count_call(trace->func);

	/* It goes when function returns are not traced any more. */
	if (!current->ret_stack)
		return 0;
	frame = ftrace_graph_get_ret_stack(current, 0);
	if (!frame)
		return 0;
	frame->subtime = xchg(fgraph_get_task_var(gops), 0);
	return 1;
}

/*
 * The time of this call that was not spent in profiled functions it has called. A task's
 * variable is a long: where that has 32 bits, functions that took 4 s or more are taken
 * to have taken all of it.
 */
static u64 own_time(struct fgraph_ops *gops, u64 time)
{
	const struct ftrace_ret_stack *frame = ftrace_graph_get_ret_stack(current, 0);
	unsigned long called;

	if (!frame)
		return 0;
	called = xchg(fgraph_get_task_var(gops), min_t(u64, frame->subtime + time, ULONG_MAX));
	return called < min_t(u64, time, ULONG_MAX) ? time - called : 0;
}

static void times_add(struct profile_times *times, u64 time)
{
	unsigned int bucket = fls64(time / PROFILE_FIRST_BUCKET);

	times->sum += time;
	/* Seldom, after the first few */
	if (~time > times->not_min)
		times->not_min = ~time;
	if (time > times->max)
		times->max = time;
	times->bucket[min(bucket, PROFILE_BUCKETS - 1)]++;
}

/* With interrupts off */
static void count_times(unsigned long func, u64 total, u64 self)
{
	struct profile_entry *entry = profile_find(func, false);
	const u64 time = graph_time ? total : self;

	if (!entry)
		return;
	entry->time += time;
	entry->time_squared += time * time;

	/* If an NMI takes one in between, one of the two is unused until all is cleared. */
	entry->latency = entry->latency ?: take_latency();
	if (entry->latency) {
		times_add(&entry->latency->total, total);
		times_add(&entry->latency->self, self);
	}
}

static void on_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	const s64 took = trace->rettime - trace->calltime;
	/* Clocks of two CPUs may differ. */
	const u64 total = trace->calltime ? max(took, 0) : 0;
	const u64 self = own_time(gops, total);
	unsigned long flags;

	/* The time of its call was not recorded. */
	if (!trace->calltime)
		return;

	raw_local_irq_save(flags);
	count_times(trace->func, total, self);
	raw_local_irq_restore(flags);
}

static struct fgraph_ops profile_ops = {
	.entryfunc	= on_entry,
	.retfunc	= on_return,
};

int profile_attach(void)
{
	ftrace_ops_set_global_filter(&profile_ops.ops);
	return register_ftrace_graph(&profile_ops);
}

/* The next user of the index may keep pointers in the variables of tasks: leave no times there. */
void profile_detach(void)
{
	unregister_ftrace_graph_sync(&profile_ops);
}

/*
 * s^2 = (n * sum(x^2) - sum(x)^2) / (n * (n - 1)), of times in ns, in 1/1000 us^2:
 * printing divides by 1000 once more.
 */
static u64 variance(const struct profile_entry *entry)
{
	const u64 nr = entry->hits, denominator = nr * (nr - 1) * 1000;

	if (!denominator)
		return 0;
	return div64_u64(nr * entry->time_squared - entry->time * entry->time, denominator);
}

void profile_show_times(struct seq_file *m, const struct profile_entry *entry, u64 average)
{
	const u64 columns[] = { entry->time, average, variance(entry) };
	static struct trace_seq s;	/* under profile_mutex */
	int i;

	trace_seq_init(&s);
	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		trace_seq_puts(&s, "    ");
		trace_print_graph_duration(columns[i], &s);
	}
	trace_print_seq(m, &s);
}
