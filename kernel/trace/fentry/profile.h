/* SPDX-License-Identifier: GPL-2.0 */
/* Between the files of the function profiler */
#ifndef _FENTRY_PROFILE_H
#define _FENTRY_PROFILE_H

#include <linux/types.h>

struct seq_file;

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

struct profile_entry *fentry_profile_entry(unsigned long ip, bool claim);

/* profile_times.c or profile_hits.c */
extern const bool fentry_profile_times;

int fentry_profile_attach(void);
void fentry_profile_detach(void);
void fentry_profile_show(struct seq_file *m, const struct profile_entry *entry, u64 average);

#endif /* _FENTRY_PROFILE_H */
