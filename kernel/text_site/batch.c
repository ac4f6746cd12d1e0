// SPDX-License-Identifier: GPL-2.0
/*
 * Text site batches: change any number of sites in one run of the patcher.
 *
 * A batch is no list of its own. It is the sites that are marked pending, and
 * for each target a pending site may hold, the target it is to get (next); value
 * sites become what their values say. So preparing one needs no memory, unless sites
 * with the same target are to get different ones. Nothing can fail once patching has
 * begun.
 *
 * The run goes over the sites in rounds, each with three synchronisations of all CPUs.
 * One round is the least work; with several, fewer functions trap at any moment.
 *
 * A task that is preempted between two passes leaves breakpoints where they are until it
 * runs again. So a kernel thread makes the passes, with the lowest real-time priority:
 * only real-time tasks can preempt it, and the scheduler then moves it to another CPU.
 *
 * Waking the thread up and waiting for it takes longer than changing a site. So a caller
 * with few sites changes them itself, with preemption off, and looks after each pass whether
 * another task wants its processor. If one does, it offers the remaining passes to the thread
 * and is preempted at once. Nobody waits longer than a pass over a few sites and a
 * synchronisation take, which cannot be preempted anyway. The thread may wake up on a processor
 * where preemption is off for long. A caller that runs again before the thread has started
 * takes the passes back and continues in the same way.
 *
 * The caller holds text_mutex all the time. If the thread dies, a caller that waits for it
 * makes the remaining passes, and from then on every caller makes its own.
 */
#define pr_fmt(fmt) "text_site: " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/memory.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/text_site.h>

/*
 * text_site.round: how many sites change in a round at most, 0: all of them. What is at
 * one place in the text is called together: with one round of all, an interrupt of the timer
 * meets breakpoints in nearly all that it calls, and takes some 10,000 instructions. With
 * 3072 it is 6,000, as with fewer; and the sites of a round are in few enough pages to be
 * mapped once, so that switching all takes a fifth less than in one round.
 */
static unsigned int round_sites = 3072;
#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "text_site."
module_param_named(round, round_sites, uint, 0644);

/* How many records a batch spans that who asks for it can change itself */
#define FEW_SITES	8U

/* How often who waits for the thread looks whether it is there still */
#define PATCHER_CHECK	HZ

/* Makes one batch at a time, for who waits with text_mutex; under that. NULL if it is not there */
static struct kthread_worker *patcher __read_mostly;

/**
 * struct patch_work - a run of the patcher
 * @work: queued with the thread; may stay queued after the caller took the passes back
 * @done: the thread has made it
 * @offered: the remaining passes are to be had: whoever clears it makes them
 * @kind: what is pending
 * @pass: the next one of this round
 * @more: this round is not the last one
 */
struct patch_work {
	struct kthread_work	work;
	struct completion	done;
	atomic_t		offered;
	struct text_site_kind	*kind;
	enum text_pass		pass;
	bool			more;
};

static void table_reset(struct text_site_table *table)
{
	table->first = table->nr;
	table->last = 0;
	/* Most batches have none, and there may be hundreds of tables. */
	if (table->own_next) {
		kvfree(table->own_next);
		table->own_next = NULL;
	}
}

/**
 * text_site_set_next - say of one site which target it is to get
 * @table: the table it is in
 * @site: a pending site
 * @id: the target's. Other sites with the same target get what is @next of that, still.
 *
 * Context: may sleep, under the lock of the kind's owner, who calls text_site_commit() or
 * text_site_abort() after that.
 *
 * Return: 0, or -ENOMEM.
 */
int text_site_set_next(struct text_site_table *table, const struct text_site *site, u32 id)
{
	if (!table->own_next) {
		table->own_next = kvmalloc_array(table->nr, sizeof(*table->own_next), GFP_KERNEL);
		if (!table->own_next)
			return -ENOMEM;
		memset16(table->own_next, TEXT_TARGET_NONE, table->nr);
	}
	table->own_next[site - table->sites] = id;
	return 0;
}

/**
 * text_site_abort - forget the batch being prepared
 * @kind: of which kind
 *
 * No text has been touched, and none will be.
 *
 * Context: under the lock of the kind's owner.
 */
void text_site_abort(struct text_site_kind *kind)
{
	struct text_site_table *table;
	unsigned int i;

	for_each_text_site_table_of(kind, table) {
		for (i = table->first; i < table->last; i++) {
			struct text_site *site = &table->sites[i];

			WRITE_ONCE(site->state, site->state & ~TEXT_SITE_PENDING);
		}
		table_reset(table);
	}
}

/* Is any site pending? Breakpoints will be met in the tables where some are. */
static bool batch_prepare(const struct text_site_kind *kind)
{
	struct text_site_table *table;
	bool pending = false;

	for_each_text_site_table_of(kind, table) {
		if (!text_site_pending(table))
			continue;
		text_areas_index(table);
		pending = true;
	}
	return pending;
}

/* Is the text of every pending site what its state says? */
static int batch_verify(struct text_site_kind *kind)
{
	struct text_site_table *table;
	int nr;

	for_each_text_site_table_of(kind, table) {
		nr = kind->insn->verify(table);
		if (nr < 0)
			return nr;
		table->nr_pending = nr;
	}
	return 0;
}

/*
 * Has the next round change the sites behind those of the last one, of which there can be
 * @left. Returns how many are left for other tables.
 */
static unsigned int table_next_round(struct text_site_table *table, unsigned int left)
{
	unsigned int take = min(table->nr_pending, left), i = table->last;

	table->first = i;
	table->nr_pending -= take;
	left -= take;
	/* All that are left: there is no need to look where they are. */
	if (!table->nr_pending)
		i = table->marked;
	for (; take && i < table->marked; i++)
		take -= !!(table->sites[i].state & TEXT_SITE_PENDING);
	table->last = i;
	return left;
}

/* Chooses what is changed next. Returns whether there is anything. */
static bool next_round(struct patch_work *patch)
{
	unsigned int left = READ_ONCE(round_sites) ?: UINT_MAX;
	struct text_site_table *table;

	if (!patch->more)
		return false;
	patch->more = false;
	for_each_text_site_table_of(patch->kind, table) {
		left = table_next_round(table, left);
		patch->more |= table->nr_pending > 0;
	}
	patch->pass = TEXT_PASS_BREAK;
	return true;
}

static void first_round(struct patch_work *patch)
{
	struct text_site_table *table;

	for_each_text_site_table_of(patch->kind, table) {
		table->marked = table->last;
		table->last = table->first;
	}
	patch->more = true;
	next_round(patch);
}

/* All passes that are left */
static void patch_rest(struct patch_work *patch)
{
	for (;;) {
		for (; patch->pass <= TEXT_PASS_HEAD; patch->pass++)
			arch_text_site_pass(patch->kind, patch->pass, false);
		if (!next_round(patch))
			break;
		/* No function traps now: tasks of the same priority may run, if there are any. */
		if (patcher)
			yield();
	}
}

/*
 * Claims the remaining passes. The thread and the caller race for them, and one wins. Pairs
 * with the atomic_set_release() of offer_rest(): the winner sees how far the caller got.
 */
static bool take_rest(struct patch_work *patch)
{
	return atomic_xchg(&patch->offered, 0);
}

static void patch_work_func(struct kthread_work *work)
{
	struct patch_work *patch = container_of(work, struct patch_work, work);

	if (take_rest(patch)) {
		patch_rest(patch);
		complete(&patch->done);
	}
}

/*
 * The only one, under text_mutex. It is not on the caller's stack, as the work may stay queued
 * after the caller took the passes back. The thread then finds nothing offered, or a later
 * batch, and makes that.
 */
static struct patch_work patch_work = {
	.work = KTHREAD_WORK_INIT(patch_work.work, patch_work_func),
	.done = COMPLETION_INITIALIZER(patch_work.done),
};

/* Has the thread make the remaining passes, unless the caller takes them back. */
static void offer_rest(struct patch_work *patch)
{
	reinit_completion(&patch->done);
	atomic_set_release(&patch->offered, 1);
	/* It may be queued from an earlier batch. Unless the thread has died, it runs it. */
	kthread_queue_work(patcher, &patch->work);
}

/*
 * Waits until it has. A thread that has died, in an oops say, leaves breakpoints, which do
 * what they stand for, until the caller goes on. It repeats a pass that the thread has not
 * ended.
 */
static void wait_for_rest(struct patch_work *patch)
{
	struct kthread_worker *worker = patcher;

	while (!wait_for_completion_timeout(&patch->done, PATCHER_CHECK)) {
		if (!(READ_ONCE(worker->task->flags) & PF_EXITING))
			continue;
		pr_err("the thread that patches has died: callers patch by themselves\n");
		patcher = NULL;
		/* How far the thread has come is seen here after a grace period at the latest. */
		synchronize_rcu();
		patch_rest(patch);
		break;
	}
}

static void patch_by_thread(struct patch_work *patch)
{
	offer_rest(patch);
	wait_for_rest(patch);
}

/* Few, and no more than one round changes */
static bool are_few(const struct text_site_kind *kind)
{
	const unsigned int max = min_not_zero(READ_ONCE(round_sites), FEW_SITES);
	struct text_site_table *table;
	unsigned int nr = 0;

	for_each_text_site_table_of(kind, table) {
		if (text_site_pending(table))
			nr += table->last - table->first;
		if (nr > max)
			return false;
	}
	return true;
}

/*
 * Makes passes over few sites until another task wants the processor. Preemption is off.
 * Returns whether there are passes left.
 */
static bool patch_part(struct patch_work *patch)
{
	for (;;) {
		arch_text_site_pass(patch->kind, patch->pass++, true);
		if (patch->pass > TEXT_PASS_HEAD && !next_round(patch))
			return false;
		if (need_resched())
			return true;
		/* It could be had here: latency tracers begin anew. */
		stop_critical_timings();
		start_critical_timings();
	}
}

/*
 * A caller with few sites changes them itself. From the first breakpoint to the last head it
 * is not preempted, unless a task of any priority wants the processor. Then the thread may go
 * on: it is woken up first, as this task may never run again.
 */
static void patch_few(struct patch_work *patch)
{
	bool rest;

	do {
		preempt_disable();
		rest = patch_part(patch);
		if (rest)
			offer_rest(patch);
		preempt_enable();
		if (!rest)
			return;
		/* Without CONFIG_PREEMPTION, preempt_enable() does not schedule. */
		cond_resched();
	} while (take_rest(patch));
	wait_for_rest(patch);
}

static int __init patcher_init(void)
{
	struct kthread_worker *worker = kthread_create_worker(0, "text_site");

	if (IS_ERR(worker)) {
		pr_warn("no thread (%pe): callers patch by themselves\n", worker);
		return PTR_ERR(worker);
	}
	get_task_struct(worker->task);	/* wait_for_rest() looks at it when it has died. */
	sched_set_fifo_low(worker->task);
	guard(mutex)(&text_mutex);
	patcher = worker;
	return 0;
}
core_initcall(patcher_init);

/* May a task run on each CPU that the thread may run on? Under cpus_read_lock(). */
static bool runs_anywhere(const struct task_struct *task)
{
	unsigned int cpu;

	for_each_cpu_and(cpu, patcher->task->cpus_ptr, cpu_online_mask) {
		if (!cpumask_test_cpu(cpu, task->cpus_ptr))
			return false;
	}
	return true;
}

/*
 * May a task make the passes of a large batch itself, in place of the thread? It needs a
 * real-time priority of its own: one that it inherits may end at any time, and a deadline task
 * may have to wait for its next period. So may any real-time task with RT_GROUP_SCHED, when
 * its cgroup's runtime is used up. And the scheduler must be able to move it to another CPU
 * if a task of a higher priority takes this one.
 */
static bool can_patch(const struct task_struct *task)
{
	return !IS_ENABLED(CONFIG_RT_GROUP_SCHED) &&
	       (task->policy == SCHED_FIFO || task->policy == SCHED_RR) && runs_anywhere(task);
}

static void batch_patch(struct text_site_kind *kind)
{
	struct patch_work *patch = &patch_work;
	const bool few = are_few(kind);

	patch->kind = kind;
	first_round(patch);
	if (!patcher)
		patch_rest(patch);
	else if (few)
		patch_few(patch);
	else if (can_patch(current))
		patch_rest(patch);
	else
		patch_by_thread(patch);
}

/**
 * text_site_commit - switch every pending site to its next target
 * @kind: the sites of which kind
 *
 * Three synchronisations of all CPUs for each round of text_site.round sites; none if no
 * site is pending. All sites are checked before the first is touched.
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading and
 * text_mutex. Under the lock of the kind's owner, who has made every target with
 * an address callable and has said what each pending site is to get: by @next of the
 * target it holds, or by text_site_set_next(). Value sites have no targets; their values
 * stay as they are meanwhile.
 *
 * Return: 0, or -EINVAL with a message if a site's text is not what it should
 * be; then no site has changed and none is pending.
 */
int text_site_commit(struct text_site_kind *kind)
{
	struct text_site_table *table;
	int ret;

	if (!batch_prepare(kind))
		return 0;

	/*
	 * A CPU that comes up runs traced functions before it can take a
	 * breakpoint, and before it gets IPIs.
	 */
	cpus_read_lock();
	scoped_guard(mutex, &text_mutex) {
		ret = batch_verify(kind);
		if (!ret)
			batch_patch(kind);
	}
	cpus_read_unlock();

	if (ret) {
		text_site_abort(kind);
		return ret;
	}

	for_each_text_site_table_of(kind, table)
		table_reset(table);
	return 0;
}
