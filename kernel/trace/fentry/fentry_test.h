/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests share: functions with an entry to attach to, their sets, and one to share sets */
#ifndef _FENTRY_TEST_H
#define _FENTRY_TEST_H

#include <linux/ftrace.h>
#include <linux/types.h>

#include "set.h"

struct kunit;

long fentry_test_callee(long a, long b, long c, long d, long e, long f);
long fentry_test_other(long a, long b, long c, long d, long e, long f);
long fentry_test_caller(void);
unsigned long fentry_test_flags(void);

extern int fentry_test_direct_hits[2];
extern const u8 fentry_test_direct_a[], fentry_test_direct_b[];

void fentry_test_share_sets(bool share);
void fentry_test_exit(struct kunit *test);
void fentry_test_ops_at(struct kunit *test, struct ftrace_ops *ops, ftrace_func_t func,
			unsigned long addr);

static inline struct text_site *fentry_test_site_at(unsigned long func)
{
	const unsigned long ip = ftrace_location(func);

	return text_site_find(&fentry_sites, ip, ip, NULL);
}

static inline struct ops_set *fentry_test_set_at(unsigned long func)
{
	return fentry_site_set(fentry_test_site_at(func));
}

#endif /* _FENTRY_TEST_H */
