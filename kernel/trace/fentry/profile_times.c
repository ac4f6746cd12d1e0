// SPDX-License-Identifier: GPL-2.0
/* Profiling where function returns are traced: calls and their time. */
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "fentry.h"
#include "profile.h"
#include "../trace_output.h"

const bool fentry_profile_times = true;

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

static int on_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
{
	struct ftrace_ret_stack *frame;
	struct profile_entry *entry;
	unsigned long flags;

	local_irq_save(flags);
	entry = fentry_profile_entry(trace->func, true);
	if (entry)
		entry->hits++;
	local_irq_restore(flags);

	/* It goes when function returns are not traced any more. */
	if (!current->ret_stack)
		return 0;
	frame = ftrace_graph_get_ret_stack(current, 0);
	if (frame)
		frame->subtime = 0;
	return 1;
}

/* The time of this call that was not spent in traced functions it has called */
static u64 own_time(u64 time)
{
	struct ftrace_ret_stack *caller = ftrace_graph_get_ret_stack(current, 1);
	struct ftrace_ret_stack *frame = ftrace_graph_get_ret_stack(current, 0);

	if (caller)
		caller->subtime += time;
	return frame && frame->subtime < time ? time - frame->subtime : 0;
}

static void on_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	u64 time = trace->rettime - trace->calltime;
	struct profile_entry *entry;
	unsigned long flags;

	/* It was called before there was a clock for it. */
	if (!trace->calltime)
		return;

	local_irq_save(flags);
	if (!graph_time)
		time = own_time(time);
	entry = fentry_profile_entry(trace->func, false);
	if (entry) {
		entry->time += time;
		entry->time_squared += time * time;
	}
	local_irq_restore(flags);
}

/*
 * s^2 = (n * sum(x^2) - sum(x)^2) / (n * (n - 1)), of times in ns, in 1/1000 us^2:
 * printing divides by 1000 once more.
 */
static u64 variance(const struct profile_entry *entry)
{
	u64 denominator = entry->hits * (entry->hits - 1) * 1000;

	if (!denominator)
		return 0;
	return div64_u64(entry->hits * entry->time_squared - entry->time * entry->time,
			 denominator);
}

/**
 * fentry_profile_show - the columns of times
 * @m: the file
 * @entry: of a function
 * @average: its time, in ns, for each call
 *
 * Context: under the profiler's lock.
 */
void fentry_profile_show(struct seq_file *m, const struct profile_entry *entry, u64 average)
{
	const u64 columns[] = { entry->time, average, variance(entry) };
	static struct trace_seq s;	/* under the profiler's lock */
	int i;

	trace_seq_init(&s);
	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		trace_seq_puts(&s, "    ");
		trace_print_graph_duration(columns[i], &s);
	}
	trace_print_seq(m, &s);
}

static struct fgraph_ops profile_ops = {
	.entryfunc	= on_entry,
	.retfunc	= on_return,
};

/**
 * fentry_profile_attach - begin to count, for functions in set_ftrace_filter
 *
 * Return: 0, or an error of register_ftrace_graph().
 */
int fentry_profile_attach(void)
{
	ftrace_ops_set_global_filter(&profile_ops.ops);
	return register_ftrace_graph(&profile_ops);
}

/**
 * fentry_profile_detach - stop counting
 */
void fentry_profile_detach(void)
{
	unregister_ftrace_graph(&profile_ops);
}
