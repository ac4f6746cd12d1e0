// SPDX-License-Identifier: GPL-2.0
/*
 * The function profiler: how often each function was called, and, where function
 * returns are traced, how long it took.
 *
 * Each CPU counts in a table of its own, with open addressing. An entry is claimed
 * for a function by cmpxchg(), as an NMI may want one in the middle of that.
 */
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "ops.h"
#include "../trace_output.h"
#include "../trace_stat.h"

#define HAS_TIMES	IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER)

/* How many entries to look at: the table may fill up with those of freed text. */
#define PROBES	64

/**
 * struct profile_entry - what a CPU knows about a function
 * @ip: the function's site, 0: the entry is free
 * @hits: how often it was called
 * @time: how long it took, in all, in ns
 * @time_squared: sum of the squares of that
 */
struct profile_entry {
	unsigned long	ip;
	unsigned long	hits;
	u64		time;
	u64		time_squared;
};

/**
 * struct profile_table - the functions that a CPU has called
 * @entries: 1 << table_bits of them, and a last one with hits, where a search ends
 * @stat: its file in trace_stat
 */
struct profile_table {
	struct profile_entry	*entries;
	struct tracer_stat	stat;
};

static DEFINE_PER_CPU(struct profile_table, profile_tables);
static unsigned int table_bits __read_mostly;

/* Switching the profiler, and reading what it has counted */
static DEFINE_MUTEX(profile_mutex);

static bool profiling __read_mostly;

/* This CPU's entry for a function, with interrupts off; NULL without room */
static struct profile_entry *find_entry(unsigned long ip, bool claim)
{
	const struct profile_table *table = this_cpu_ptr(&profile_tables);
	unsigned int mask = (1u << table_bits) - 1, i, n;

	if (!READ_ONCE(profiling))
		return NULL;

	i = hash_long(ip, table_bits);
	for (n = 0; n < PROBES; n++) {
		struct profile_entry *entry = &table->entries[(i + n) & mask];
		unsigned long is = READ_ONCE(entry->ip);

		if (!is && !claim)
			return NULL;
		if (!is)
			is = cmpxchg_local(&entry->ip, 0, ip) ?: ip;
		if (is == ip)
			return entry;
	}
	return NULL;
}

static void count_call(unsigned long ip)
{
	struct profile_entry *entry;

	guard(irqsave)();
	entry = find_entry(ip, true);
	if (entry)
		entry->hits++;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
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

	count_call(trace->func);

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

	/* It was called before there was a clock for it. */
	if (!trace->calltime)
		return;

	guard(irqsave)();
	if (!graph_time)
		time = own_time(time);
	entry = find_entry(trace->func, false);
	if (entry) {
		entry->time += time;
		entry->time_squared += time * time;
	}
}

static struct fgraph_ops profile_ops = {
	.entryfunc	= on_entry,
	.retfunc	= on_return,
};

static int profile_attach(void)
{
	ftrace_ops_set_global_filter(&profile_ops.ops);
	return register_ftrace_graph(&profile_ops);
}

static void profile_detach(void)
{
	unregister_ftrace_graph(&profile_ops);
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

static void show_times(struct seq_file *m, const struct profile_entry *entry, u64 average)
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
#else /* CONFIG_FUNCTION_GRAPH_TRACER */
static void on_entry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	count_call(ip);
}

static struct ftrace_ops profile_ops = {
	.func	= on_entry,
};

static int profile_attach(void)
{
	ftrace_ops_set_global_filter(&profile_ops);
	return register_ftrace_function(&profile_ops);
}

static void profile_detach(void)
{
	unregister_ftrace_function(&profile_ops);
}

static void show_times(struct seq_file *m, const struct profile_entry *entry, u64 average) { }

#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

/* The first entry from this one on that counts; NULL at the table's last one */
static void *entry_from(struct profile_entry *entry)
{
	while (entry && !entry->hits)
		entry++;
	return entry && entry->ip ? entry : NULL;
}

static void *stat_start(struct tracer_stat *trace)
{
	return entry_from(container_of(trace, struct profile_table, stat)->entries);
}

static void *stat_next(void *prev, int idx)
{
	return entry_from((struct profile_entry *)prev + 1);
}

static int stat_cmp(const void *a, const void *b)
{
	const struct profile_entry *x = a, *y = b;

	/* Without times they are all 0. */
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->hits < y->hits ? -1 : x->hits > y->hits;
}

static int stat_headers(struct seq_file *m)
{
	seq_printf(m, "  %-38s %s\n", "Function",
		   HAS_TIMES ? "Hit    Time            Avg             s^2" : "Hit");
	seq_printf(m, "  %-38s %s\n", "--------",
		   HAS_TIMES ? "---    ----            ---             ---" : "---");
	return 0;
}

static int stat_show(struct seq_file *m, void *v)
{
	struct profile_entry *entry = v;
	char name[KSYM_SYMBOL_LEN];
	u64 average;

	guard(mutex)(&profile_mutex);

	/* Counting may have begun anew since the entries were looked for. */
	if (!entry->hits)
		return -EBUSY;

	average = div64_ul(entry->time, entry->hits);
	if (HAS_TIMES && tracing_thresh && average < tracing_thresh)
		return 0;

	kallsyms_lookup(entry->ip, NULL, NULL, NULL, name);
	seq_printf(m, "  %-30.30s  %10lu", name, entry->hits);
	show_times(m, entry, average);
	seq_putc(m, '\n');
	return 0;
}

/* Entries for at least twice as many functions as there were at first, zero but the last */
static int tables_init(void)
{
	int cpu;

	if (!table_bits)
		table_bits = ilog2(roundup_pow_of_two(ftrace_update_tot_cnt)) + 1;

	for_each_possible_cpu(cpu) {
		struct profile_entry **entries = &per_cpu_ptr(&profile_tables, cpu)->entries;
		const size_t nr = 1ul << table_bits;

		*entries = *entries ?: kvcalloc(nr + 1, sizeof(**entries), GFP_KERNEL);
		if (!*entries)
			return -ENOMEM;
		memset(*entries, 0, nr * sizeof(**entries));
		(*entries)[nr].hits = 1;
	}
	return 0;
}

static ssize_t profile_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	unsigned long on;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &on);
	if (ret)
		return ret;

	guard(mutex)(&profile_mutex);
	if (on && !profiling) {
		ret = tables_init() ?: profile_attach();
		if (ret)
			return ret;
		WRITE_ONCE(profiling, true);
	} else if (!on && profiling) {
		WRITE_ONCE(profiling, false);
		profile_detach();
	}
	*ppos += cnt;
	return cnt;
}

static ssize_t profile_read(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return simple_read_from_buffer(ubuf, cnt, ppos, profiling ? "1\n" : "0\n", 2);
}

static const struct file_operations profile_fops = {
	.open	= tracing_open_generic,
	.read	= profile_read,
	.write	= profile_write,
	.llseek	= default_llseek,
};

static int __init profile_files(void)
{
	int cpu, ret = tracing_init_dentry();

	if (ret)
		return ret;

	for_each_possible_cpu(cpu) {
		struct profile_table *table = per_cpu_ptr(&profile_tables, cpu);

		table->stat = (struct tracer_stat) {
			.name		= kasprintf(GFP_KERNEL, "function%d", cpu),
			.stat_start	= stat_start,
			.stat_next	= stat_next,
			.stat_cmp	= stat_cmp,
			.stat_headers	= stat_headers,
			.stat_show	= stat_show,
		};
		if (!table->stat.name || register_stat_tracer(&table->stat)) {
			pr_warn("no profile of CPU %d\n", cpu);
			kfree(table->stat.name);
		}
	}
	trace_create_file("function_profile_enabled", TRACE_MODE_WRITE, NULL, NULL,
			  &profile_fops);
	return 0;
}
fs_initcall(profile_files);
