/* SPDX-License-Identifier: GPL-2.0 */
/* The function profiler: what it knows about each function that was called */
#ifndef _FENTRY_PROFILE_H
#define _FENTRY_PROFILE_H

#include <linux/hash.h>
#include <linux/mutex.h>
#include <linux/percpu.h>

#include "../trace_stat.h"

/**
 * struct profile_entry - what a CPU knows about a function
 * @ip: the function's site, 0: the entry is free
 * @hits: how often it was called
 * @time: how long it took, in all, in ns
 * @time_squared: sum of the squares of that
 * @latency: what its calls took, NULL: there was no memory for it yet
 */
struct profile_entry {
	unsigned long		ip;
	unsigned long		hits;
	u64			time;
	u64			time_squared;
	struct profile_latency	*latency;
};

/* A bucket has times of one power of two in ns; the first all below, the last all above. */
#define PROFILE_BUCKETS		32
#define PROFILE_FIRST_BUCKET	64u

/**
 * struct profile_times - a histogram; zero when there are no times
 * @sum: of all times, in ns
 * @not_min: ~ the shortest
 * @max: the longest
 * @bucket: how many there are of each size
 */
struct profile_times {
	u64		sum;
	u64		not_min;
	u64		max;
	unsigned long	bucket[PROFILE_BUCKETS];
};

/**
 * struct profile_latency - what the calls of a function took on a CPU
 * @total: from its entry to its return
 * @self: the same without the traced functions that it has called
 */
struct profile_latency {
	struct profile_times	total;
	struct profile_times	self;
};

/**
 * struct profile_table - the functions that a CPU has called
 * @entries: 1 << profile_table_bits of them, and a last one with hits, where a search ends
 * @stat: its file in trace_stat
 */
struct profile_table {
	struct profile_entry	*entries;
	struct tracer_stat	stat;
};

DECLARE_PER_CPU(struct profile_table, profile_tables);
extern unsigned int profile_table_bits;
extern bool profiling;

/* How many entries to look at: the table may fill up with those of freed text. */
#define PROFILE_PROBES	64

/* This CPU's entry for a function, with interrupts off; NULL without room */
static inline struct profile_entry *profile_find(unsigned long ip, bool claim)
{
	const struct profile_table *table = this_cpu_ptr(&profile_tables);
	unsigned int mask = (1u << profile_table_bits) - 1, i, n;

	/* Pairs with profile_clear(). */
	if (!smp_load_acquire(&profiling))
		return NULL;

	i = hash_long(ip, profile_table_bits);
	for (n = 0; n < PROFILE_PROBES; n++) {
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

/* Switching the profiler, and reading what it has counted */
extern struct mutex profile_mutex;

void profile_count_call(unsigned long ip);
struct profile_entry *profile_entry_from(struct profile_entry *entry);
int profile_clear(void);

/* One of profile_time.c and profile_calls.c */
extern const bool profile_has_times;
int profile_times_init(void);
int profile_attach(void);
void profile_detach(void);
void profile_show_times(struct seq_file *m, const struct profile_entry *entry, u64 average);
void profile_latency_files(struct dentry *dir);

#endif /* _FENTRY_PROFILE_H */
