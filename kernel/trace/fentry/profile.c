// SPDX-License-Identifier: GPL-2.0
/*
 * The function profiler: how often each function was called, and, where function
 * returns are traced, how long it took (profile_times.c, else profile_hits.c).
 *
 * Each CPU counts in a table of its own, with open addressing. An entry is claimed
 * for a function by cmpxchg(), as an NMI may want one in the middle of that.
 */
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "fentry.h"
#include "profile.h"
#include "../trace_stat.h"

/* How many entries to look at: the table may fill up with those of freed text. */
#define PROBES	64

struct profile_table {
	struct profile_entry	*entries;
	unsigned int		bits;
	struct tracer_stat	stat;
};

static DEFINE_PER_CPU(struct profile_table, profile_tables);

/* Switching the profiler, and reading what it has counted */
static DEFINE_MUTEX(profile_mutex);

static bool profiling __read_mostly;

/**
 * fentry_profile_entry - this CPU's entry for a function
 * @ip: the function's site
 * @claim: make one if there is none
 *
 * Context: any, interrupts off.
 *
 * Return: the entry, or NULL if there is none, or no room, or nothing to do.
 */
struct profile_entry *fentry_profile_entry(unsigned long ip, bool claim)
{
	const struct profile_table *table = this_cpu_ptr(&profile_tables);
	unsigned int mask = (1u << table->bits) - 1, i, n;

	if (!READ_ONCE(profiling))
		return NULL;

	i = hash_long(ip, table->bits);
	for (n = 0; n < PROBES; n++, i = (i + 1) & mask) {
		struct profile_entry *entry = &table->entries[i];
		unsigned long is = READ_ONCE(entry->ip);

		if (!is) {
			if (!claim)
				return NULL;
			is = cmpxchg_local(&entry->ip, 0, ip) ?: ip;
		}
		if (is == ip)
			return entry;
	}
	return NULL;
}

/* The first entry that counts at @i or after it */
static void *entry_from(const struct profile_table *table, unsigned int i)
{
	for (; table->entries && i < 1u << table->bits; i++) {
		if (table->entries[i].hits)
			return &table->entries[i];
	}
	return NULL;
}

/* The statistics' interface passes on neither the table nor the file. */
static const struct profile_table *table_of(const struct profile_entry *entry)
{
	const struct profile_table *table;
	int cpu;

	for_each_possible_cpu(cpu) {
		table = per_cpu_ptr(&profile_tables, cpu);
		if (entry >= table->entries && entry < table->entries + (1u << table->bits))
			return table;
	}
	return NULL;
}

static void *stat_start(struct tracer_stat *trace)
{
	return entry_from(container_of(trace, struct profile_table, stat), 0);
}

static void *stat_next(void *prev, int idx)
{
	const struct profile_table *table = table_of(prev);

	return table ? entry_from(table, (struct profile_entry *)prev - table->entries + 1) :
		       NULL;
}

static int stat_cmp(const void *a, const void *b)
{
	const struct profile_entry *x = a, *y = b;

	if (fentry_profile_times)
		return x->time < y->time ? -1 : x->time > y->time;
	return x->hits < y->hits ? -1 : x->hits > y->hits;
}

static int stat_headers(struct seq_file *m)
{
	static const char *const lines[2][2] = {
		{ "Hit", "---" },
		{ "Hit    Time            Avg             s^2",
		  "---    ----            ---             ---" },
	};

	seq_printf(m, "  %-38s %s\n", "Function", lines[fentry_profile_times][0]);
	seq_printf(m, "  %-38s %s\n", "--------", lines[fentry_profile_times][1]);
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
	if (fentry_profile_times && tracing_thresh && average < tracing_thresh)
		return 0;

	kallsyms_lookup(entry->ip, NULL, NULL, NULL, name);
	seq_printf(m, "  %-30.30s  %10lu", name, entry->hits);
	if (fentry_profile_times)
		fentry_profile_show(m, entry, average);
	seq_putc(m, '\n');
	return 0;
}

/* Entries for at least twice as many functions as there are, all zero */
static int tables_init(void)
{
	unsigned int bits = ilog2(roundup_pow_of_two(ftrace_update_tot_cnt)) + 1;
	struct profile_table *table;
	int cpu;

	for_each_possible_cpu(cpu) {
		table = per_cpu_ptr(&profile_tables, cpu);
		if (table->entries) {
			memset(table->entries, 0, sizeof(*table->entries) << table->bits);
			continue;
		}
		table->entries = kvcalloc(1u << bits, sizeof(*table->entries), GFP_KERNEL);
		if (!table->entries)
			return -ENOMEM;
		table->bits = bits;
	}
	return 0;
}

static int profile_switch(bool on)
{
	int ret = 0;

	guard(mutex)(&profile_mutex);

	if (profiling == on)
		return 0;
	if (!on) {
		WRITE_ONCE(profiling, false);
		fentry_profile_detach();
		return 0;
	}

	ret = tables_init();
	if (!ret)
		ret = fentry_profile_attach();
	if (!ret)
		WRITE_ONCE(profiling, true);
	return ret;
}

static ssize_t profile_write(struct file *filp, const char __user *ubuf, size_t cnt,
			     loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &val) ?: profile_switch(val);
	if (ret)
		return ret;
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
