// SPDX-License-Identifier: GPL-2.0
/*
 * What calls through something that can be changed cost, for benchmarks: files in
 * debugfs under jump_cost/. Reading one gives cycles of the time stamp counter, the
 * least of some rounds.
 *
 *   direct, jump, static, pointer
 *		of CALLS calls of a function with three arguments: directly, by a jump
 *		function, by a static call, by a pointer
 *   event0, event1, event2
 *		of passing a tracepoint CALLS times that has so many probes
 *   update_jump, update_static
 *		of CALLS changes of a jump function, of a static call
 */
#include <linux/jump_function.h>
#include <linux/module.h>
#include <linux/static_call.h>
#include <linux/tracepoint.h>

#include "costs.h"

static noinline __noclone notrace long callee(long a, long b, long c)
{
	barrier();
	return a;
}

static noinline __noclone notrace long another(long a, long b, long c)
{
	barrier();
	return b;
}

DEFINE_DYNFUNC(jump_cost, callee);
DEFINE_STATIC_CALL(jump_cost, callee);
static long (*pointer)(long, long, long) = callee;

DECLARE_TRACE(jump_cost, TP_PROTO(long a, long b, long c), TP_ARGS(a, b, c));
DEFINE_TRACE(jump_cost, TP_PROTO(long a, long b, long c), TP_ARGS(a, b, c));

static notrace void probe(void *data, long a, long b, long c)
{
	barrier();
}

static notrace void probe_too(void *data, long a, long b, long c)
{
	barrier();
}

static notrace cycles_t cost_direct(void)
{
	return CYCLES(i, callee(i, 2, 3));
}

static notrace cycles_t cost_jump(void)
{
	return CYCLES(i, dynfunc_jump_cost(i, 2, 3));
}

static notrace cycles_t cost_static(void)
{
	return CYCLES(i, static_call(jump_cost)(i, 2, 3));
}

static notrace cycles_t cost_pointer(void)
{
	return CYCLES(i, READ_ONCE(pointer)(i, 2, 3));
}

static notrace cycles_t cost_event(void)
{
	return CYCLES(i, trace_jump_cost(i, 2, 3));
}

static cycles_t cost_event1(void)
{
	cycles_t cycles;

	/* Where probes went just before, the new one would be called by way of the loop. */
	tracepoint_synchronize_unregister();
	if (register_trace_jump_cost(probe, &pointer))
		return 0;
	cycles = cost_event();
	unregister_trace_jump_cost(probe, &pointer);
	tracepoint_synchronize_unregister();
	return cycles;
}

static cycles_t cost_event2(void)
{
	cycles_t cycles = 0;

	if (register_trace_jump_cost(probe_too, &pointer))
		return 0;
	if (!register_trace_jump_cost(probe, &pointer)) {
		cycles = cost_event();
		unregister_trace_jump_cost(probe, &pointer);
	}
	unregister_trace_jump_cost(probe_too, &pointer);
	tracepoint_synchronize_unregister();
	return cycles;
}

/* That needs interrupts; what comes in between is not much, for that many. */
#define CYCLES_TO_UPDATE(update) ({					\
	cycles_t __start = get_cycles();				\
									\
	for (int __i = 0; __i < CALLS / 2; __i++) {			\
		update(jump_cost, another);				\
		update(jump_cost, callee);				\
	}								\
	get_cycles() - __start;						\
})

static cycles_t cost_update_jump(void)
{
	return CYCLES_TO_UPDATE(dynfunc_update);
}

static cycles_t cost_update_static(void)
{
	return CYCLES_TO_UPDATE(static_call_update);
}

static const struct cost costs[] = {
	{ "direct",		cost_direct },
	{ "jump",		cost_jump },
	{ "static",		cost_static },
	{ "pointer",		cost_pointer },
	{ "event0",		cost_event },
	{ "event1",		cost_event1 },
	{ "event2",		cost_event2 },
	{ "update_jump",	cost_update_jump },
	{ "update_static",	cost_update_static },
};

static struct dentry *dir;

static int __init jump_cost_init(void)
{
	dir = costs_create("jump_cost", costs, ARRAY_SIZE(costs));
	return 0;
}
module_init(jump_cost_init);

static void __exit jump_cost_exit(void)
{
	debugfs_remove(dir);
}
module_exit(jump_cost_exit);

MODULE_DESCRIPTION("What changeable calls cost");
MODULE_LICENSE("GPL");
