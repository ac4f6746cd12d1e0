// SPDX-License-Identifier: GPL-2.0
/*
 * What markers cost, for benchmarks: files in debugfs under marker_cost/. Reading one
 * gives cycles of the time stamp counter for passing a loop CALLS times, the least of
 * some rounds.
 *
 *   none	a loop with nothing in it but what all have
 *   marker	... a marker with four arguments
 *   event	... a TRACE_EVENT with four arguments
 *   debug	... a pr_debug() with four arguments
 *   marker2	... a marker with two integers
 *   event2	... a TRACE_EVENT with two integers
 */
#define CREATE_TRACE_POINTS
#include "marker_cost_event.h"

#include <linux/marker.h>
#include <linux/module.h>
#include <linux/printk.h>

#include "costs.h"

/* A loop with something in it; a clone would leave out the sum, which nobody looks at */
#define LOOP(way, something)						\
static noinline __noclone notrace unsigned long loop_##way(unsigned long n, const char *name) \
{									\
	unsigned long sum = 0, i;					\
									\
	for (i = 0; i < n; i++) {					\
		sum ^= i + (sum << 1);					\
		something;						\
	}								\
	return sum;							\
}									\
									\
static cycles_t cost_##way(void)					\
{									\
	return LEAST_CYCLES(loop_##way(CALLS, "name"));			\
}

LOOP(none, barrier())
LOOP(marker, trace_mark(cost, four, "%lu %lu %lu %s", i, sum, n, name); barrier())
LOOP(event, trace_marker_cost_four(i, sum, n, name); barrier())
LOOP(debug, pr_debug("%lu %lu %lu %s", i, sum, n, name); barrier())
LOOP(marker2, trace_mark(cost, two, "%lu %lu", i, sum); barrier())
LOOP(event2, trace_marker_cost_two(i, sum); barrier())

static const struct cost costs[] = {
	{ "none",	cost_none },
	{ "marker",	cost_marker },
	{ "event",	cost_event },
	{ "debug",	cost_debug },
	{ "marker2",	cost_marker2 },
	{ "event2",	cost_event2 },
};

static struct dentry *dir;

static int __init marker_cost_init(void)
{
	dir = costs_create("marker_cost", costs, ARRAY_SIZE(costs));
	return 0;
}
module_init(marker_cost_init);

static void __exit marker_cost_exit(void)
{
	debugfs_remove(dir);
}
module_exit(marker_cost_exit);

MODULE_DESCRIPTION("What markers cost");
MODULE_LICENSE("GPL");
