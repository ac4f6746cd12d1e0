// SPDX-License-Identifier: GPL-2.0
/*
 * The function profiler: how often each function was called, and its files. How long
 * functions took is for profile_time.c, where function returns are traced.
 *
 * Each CPU counts in a table of its own, with open addressing. An entry is claimed
 * for a function by cmpxchg(), as an NMI may want one in the middle of that.
 */
#include <linux/cpu.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "ops.h"
#include "profile.h"

DEFINE_PER_CPU(struct profile_table, profile_tables);
unsigned int profile_table_bits __read_mostly;

/* See profile.h */
DEFINE_MUTEX(profile_mutex);

bool profiling __read_mostly;

void profile_count_call(unsigned long ip)
{
	struct profile_entry *entry;
	unsigned long flags;

	raw_local_irq_save(flags);
	entry = profile_find(ip, true);
	if (entry)
		entry->hits++;
	raw_local_irq_restore(flags);
}

/* The first entry from this one on that counts; NULL at the table's last one */
struct profile_entry *profile_entry_from(struct profile_entry *entry)
{
	while (entry && !entry->hits)
		entry++;
	return entry && entry->ip ? entry : NULL;
}

static void *stat_start(struct tracer_stat *trace)
{
	struct profile_table *table = container_of(trace, struct profile_table, stat);

	/* Pairs with tables_init(). */
	return profile_entry_from(smp_load_acquire(&table->entries));
}

static void *stat_next(void *prev, int idx)
{
	return profile_entry_from((struct profile_entry *)prev + 1);
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
		   profile_has_times ? "Hit    Time            Avg             s^2" : "Hit");
	seq_printf(m, "  %-38s %s\n", "--------",
		   profile_has_times ? "---    ----            ---             ---" : "---");
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
	if (profile_has_times && tracing_thresh && average < tracing_thresh)
		return 0;

	kallsyms_lookup(entry->ip, NULL, NULL, NULL, name);
	seq_printf(m, "  %-30.30s  %10lu", name, entry->hits);
	profile_show_times(m, entry, average);
	seq_putc(m, '\n');
	return 0;
}

/* Entries for at least twice as many functions as there were at first, zero but the last */
static int tables_init(void)
{
	int cpu;

	if (!profile_table_bits)
		profile_table_bits = ilog2(roundup_pow_of_two(ftrace_update_tot_cnt)) + 1;

	for_each_possible_cpu(cpu) {
		struct profile_table *table = per_cpu_ptr(&profile_tables, cpu);
		const size_t nr = 1ul << profile_table_bits;
		struct profile_entry *entries;

		cond_resched();
		if (table->entries) {
			memset(table->entries, 0, nr * sizeof(*entries));
			continue;
		}
		entries = kvcalloc(nr + 1, sizeof(*entries), GFP_KERNEL | __GFP_RETRY_MAYFAIL);
		if (!entries)
			return -ENOMEM;
		entries[nr].hits = 1;
		/* Pairs with stat_start(): it finds the end. */
		smp_store_release(&table->entries, entries);
	}
	return profile_times_init();
}

/*
 * Forget what was counted. Sleeps, under profile_mutex. Returns 0, or -ENOMEM, but only if
 * the profiler was never on.
 */
int profile_clear(void)
{
	const bool was_on = profiling;
	int ret;

	lockdep_assert_held(&profile_mutex);

	/*
	 * Calls are counted with interrupts off, also where RCU is not watching: behind an
	 * interrupt on each CPU, none of those that saw profiling go on. No CPU comes or goes.
	 */
	guard(cpus_read_lock)();
	WRITE_ONCE(profiling, false);
	kick_all_cpus_sync();
	ret = tables_init();
	/* Pairs with profile_find(): all is zero. */
	smp_store_release(&profiling, was_on);
	return ret;
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
		ret = profile_clear() ?: profile_attach();
		if (ret)
			return ret;
		/* As in profile_clear() */
		smp_store_release(&profiling, true);
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
	struct dentry *dir;
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
	dir = trace_stat_dir();
	if (dir)
		profile_latency_files(dir);
	trace_create_file("function_profile_enabled", TRACE_MODE_WRITE, NULL, NULL,
			  &profile_fops);
	return 0;
}
fs_initcall(profile_files);
