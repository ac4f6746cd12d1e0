// SPDX-License-Identifier: GPL-2.0
/*
 * trace_stat/function_latency*: how long functions took, of each CPU and of all.
 */
#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "ops.h"
#include "profile.h"

struct sort_key;

/* Each open file has its own, sorted by what was the key when it was opened. */
struct latency_list {
	const struct sort_key	*key;
	bool			ascending;
	unsigned int		nr;
	struct latency {
		unsigned long		ip;
		u64			key;
		struct profile_latency	times;
	} latency[];
};

static u64 nr_of(const struct profile_times *times)
{
	u64 nr = 0;

	for (int i = 0; i < PROFILE_BUCKETS; i++)
		nr += times->bucket[i];
	return nr;
}

static u64 average(const struct profile_times *times)
{
	return div64_u64(times->sum, max(nr_of(times), 1ull));
}

static u64 key_hitcount(const struct latency *l) { return nr_of(&l->times.total); }
static u64 key_total(const struct latency *l) { return l->times.total.sum; }
static u64 key_self(const struct latency *l) { return l->times.self.sum; }
static u64 key_avg(const struct latency *l) { return average(&l->times.total); }
static u64 key_min(const struct latency *l) { return ~l->times.total.not_min; }
static u64 key_max(const struct latency *l) { return l->times.total.max; }

/* What can be sorted by */
static const struct sort_key {
	const char	*name;
	u64		(*of)(const struct latency *latency);
} sort_keys[] = {
	{ "total",	key_total },
	{ "self",	key_self },
	{ "avg",	key_avg },
	{ "min",	key_min },
	{ "max",	key_max },
	{ "hitcount",	key_hitcount },
};

/* How all of the files are sorted, under profile_mutex */
static const struct sort_key *sort_key = &sort_keys[0];
static bool ascending;

static int compare_entries(const void *a, const void *b)
{
	const struct profile_entry *const *x = a, *const *y = b;

	/* sort() does not, and there may be millions of entries. */
	cond_resched();
	return (*x)->ip < (*y)->ip ? -1 : (*x)->ip > (*y)->ip;
}

static int compare_latency(const void *a, const void *b)
{
	const struct latency *x = a, *y = b;
	int ret = x->key < y->key ? -1 : x->key > y->key;

	cond_resched();
	return ascending ? ret : -ret;
}

static void times_merge(struct profile_times *to, const struct profile_times *from)
{
	/*
	 * Its CPU may be counting: then a call is in some of these numbers only. On 32 bits, a
	 * number may also be torn.
	 */
	const struct profile_times now = data_race(*from);

	to->sum += now.sum;
	to->not_min = max(to->not_min, now.not_min);
	to->max = max(to->max, now.max);
	for (int i = 0; i < PROFILE_BUCKETS; i++)
		to->bucket[i] += now.bucket[i];
}

/* Some CPUs' entries with times; to @found if it is not NULL, up to @max. Returns how many. */
static unsigned int find_entries(const struct cpumask *cpus, const struct profile_entry **found,
				 unsigned int max)
{
	struct profile_entry *entry;
	unsigned int nr = 0;
	int cpu;

	for_each_cpu(cpu, cpus) {
		cond_resched();
		entry = per_cpu(profile_tables, cpu).entries;
		for (; nr < max && (entry = profile_entry_from(entry)); entry++) {
			if (!READ_ONCE(entry->latency))
				continue;
			if (found)
				found[nr] = entry;
			nr++;
		}
	}
	return nr;
}

/* What CPUs have counted so far, NULL without memory; to be freed with kvfree() */
static struct latency_list *list_of(const struct cpumask *cpus)
{
	const struct profile_entry **found __free(kvfree) = NULL;
	struct latency_list *list;
	unsigned int nr, nr_functions = 0, i;

	guard(mutex)(&profile_mutex);

	nr = find_entries(cpus, NULL, UINT_MAX);
	found = kvcalloc(nr + 1, sizeof(*found), GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL);
	if (!found)
		return NULL;
	/* There may be more by now. */
	nr = find_entries(cpus, found, nr);
	sort(found, nr, sizeof(*found), compare_entries, NULL);

	for (i = 0; i < nr; i++)
		nr_functions += !i || found[i]->ip != found[i - 1]->ip;

	list = kvzalloc(struct_size(list, latency, nr_functions),
			GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL);
	if (!list)
		return NULL;
	list->key = sort_key;
	list->ascending = ascending;
	for (i = 0; i < nr; i++) {
		struct latency *latency = &list->latency[list->nr];

		cond_resched();
		latency->ip = found[i]->ip;
		times_merge(&latency->times.total, &found[i]->latency->total);
		times_merge(&latency->times.self, &found[i]->latency->self);
		/* The next may be the same function on another CPU. */
		if (i + 1 < nr && found[i + 1]->ip == latency->ip)
			continue;
		latency->key = sort_key->of(latency);
		/* The first call of a function may not be counted yet, or not wholly. */
		if (key_hitcount(latency) && nr_of(&latency->times.self))
			list->nr++;
		else
			latency->times = (struct profile_latency) { };
	}
	sort(list->latency, list->nr, sizeof(*list->latency), compare_latency, NULL);
	return list;
}

static void *list_start(struct seq_file *m, loff_t *pos)
{
	const struct latency_list *list = m->private;

	if (!*pos)
		return SEQ_START_TOKEN;
	return *pos <= list->nr ? (void *)&list->latency[*pos - 1] : NULL;
}

static void *list_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return list_start(m, pos);
}

static void list_stop(struct seq_file *m, void *v) { }

static void show_sum(struct seq_file *m, const char *name, const struct profile_times *times)
{
	seq_printf(m, " %s: sum %llu min %llu avg %llu max %llu\n", name, times->sum,
		   ~times->not_min, average(times), times->max);
}

static int list_show(struct seq_file *m, void *v)
{
	const struct latency_list *list = m->private;
	const struct latency *latency = v;
	const unsigned long *total = latency->times.total.bucket;
	const unsigned long *self = latency->times.self.bucket;

	if (v == SEQ_START_TOKEN) {
		seq_printf(m, "# sort=%s.%s, times in ns\n", list->key->name,
			   list->ascending ? "ascending" : "descending");
		return 0;
	}

	seq_printf(m, "\n%ps hitcount %llu\n", (void *)latency->ip, key_hitcount(latency));
	show_sum(m, "total", &latency->times.total);
	show_sum(m, " self", &latency->times.self);
	seq_printf(m, "%14s %10s %10s\n", "from", "total", "self");
	for (int i = 0; i < PROFILE_BUCKETS; i++) {
		if (total[i] || self[i])
			seq_printf(m, "%14llu %10lu %10lu\n",
				   i ? (u64)PROFILE_FIRST_BUCKET << (i - 1) : 0, total[i], self[i]);
	}
	return 0;
}

static const struct seq_operations list_ops = {
	.start	= list_start,
	.next	= list_next,
	.stop	= list_stop,
	.show	= list_show,
};

/* i_private is the number of a CPU, plus one; 0: of all CPUs */
static int latency_open(struct inode *inode, struct file *filp)
{
	const long cpu = (long)inode->i_private - 1;
	int ret = tracing_open_generic(inode, filp);
	struct latency_list *list;

	if (ret || !(filp->f_mode & FMODE_READ))
		return ret;

	list = list_of(cpu < 0 ? cpu_possible_mask : cpumask_of(cpu));
	if (!list)
		return -ENOMEM;
	/* seq_open() wants to set it, and latency_write() does not need it. */
	filp->private_data = NULL;
	ret = seq_open(filp, &list_ops);
	if (ret)
		kvfree(list);
	else
		((struct seq_file *)filp->private_data)->private = list;
	return ret;
}

static int latency_release(struct inode *inode, struct file *filp)
{
	struct seq_file *m = filp->private_data;

	if (!(filp->f_mode & FMODE_READ))
		return 0;
	kvfree(m->private);
	return seq_release(inode, filp);
}

/* Returns 0, or -EINVAL: it is no key and no order. */
static int set_sort(char *key)
{
	const char *order = strchr(key, '.');

	if (order && strcmp(order, ".ascending") && strcmp(order, ".descending"))
		return -EINVAL;
	for (int i = 0; i < ARRAY_SIZE(sort_keys); i++) {
		size_t len = str_has_prefix(key, sort_keys[i].name);

		if (!len || (key[len] && key + len != order))
			continue;
		sort_key = &sort_keys[i];
		ascending = order && order[1] == 'a';
		return 0;
	}
	return -EINVAL;
}

static int command(char *word)
{
	guard(mutex)(&profile_mutex);
	if (!strcmp(word, "clear"))
		return profile_table_bits ? profile_clear() : 0;
	if (strstarts(word, "sort="))
		return set_sort(word + strlen("sort="));
	return -EINVAL;
}

static ssize_t latency_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	/* It is kept, for error_log. */
	static const char *error = "Neither clear nor sort=KEY, .ascending or not";
	char word[32];
	size_t len = min(cnt, sizeof(word) - 1);
	int ret;

	if (copy_from_user(word, ubuf, len))
		return -EFAULT;
	word[len] = '\0';
	ret = len < cnt ? -EINVAL : command(strim(word));
	if (ret == -EINVAL)
		tracing_log_err(NULL, "function_latency", word, &error, 0, 0);
	return ret ?: cnt;
}

static const struct file_operations latency_fops = {
	.open		= latency_open,
	.read		= seq_read,
	.write		= latency_write,
	.llseek		= tracing_lseek,
	.release	= latency_release,
};

/**
 * profile_latency_files - make the files with the times of functions
 * @dir: where
 *
 * Context: process context, sleeps. Without memory there are none, with a message.
 */
void profile_latency_files(struct dentry *dir)
{
	char name[sizeof("function_latency") + 20];
	long cpu;

	trace_create_file("function_latency", TRACE_MODE_WRITE, dir, NULL, &latency_fops);
	for_each_possible_cpu(cpu) {
		snprintf(name, sizeof(name), "function_latency%ld", cpu);
		trace_create_file(name, TRACE_MODE_WRITE, dir, (void *)(cpu + 1), &latency_fops);
	}
}
