// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of caught returns: unwinding from return_to_handler(), and from before */
#include <kunit/test.h>

#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/math.h>
#include <linux/string.h>

#include <asm/cpufeature.h>
#include <asm/unwind.h>

#include "step.h"

/*
 * The unwinder cannot find the caller from the first instruction, where the function's frame
 * is gone and that of return_to_handler() is not there yet, nor before the real return address
 * is on the stack, as the shadow stack has given it up.
 */
#define MAY_FAIL	2

/* Where step_through_return() returns to: on every stack */
static unsigned long caller;

/* Number of instructions from which it is not found, without the unwinder knowing */
static unsigned int nr_unaware;

static bool unwinds(struct pt_regs *regs)
{
	struct unwind_state state;
	unsigned long addr;
	bool aware = false;

	/*
	 * Overwrite what is below the stack pointer, as an interrupt would: the slot that the
	 * function's return has popped, and the frame of return_to_handler() that is gone. With
	 * Xen PV and on 32 bits, the frame of this exception is there.
	 */
	if (IS_ENABLED(CONFIG_X86_64) && !cpu_feature_enabled(X86_FEATURE_XENPV))
		memset((void *)(regs->sp - sizeof(*regs)), 0xff, sizeof(*regs));

	for (unwind_start(&state, current, regs, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		addr = unwind_get_return_address(&state);
		if (addr == caller)
			return true;
		/* What arch_stack_walk_reliable() gives up at */
		aware |= !addr;
	}
	nr_unaware += !aware && !unwind_error(&state);
	return false;
}

/* A function that is to be unwound by its %rbp, as how much stack it uses is not known before. */
static noinline void step_through_return(void)
{
	size_t size = 64;
	void *space;

	OPTIMIZER_HIDE_VAR(size);
	space = __builtin_alloca(size);
	barrier_data(space);
	caller = _RET_IP_;
	step_begin();
	int_pow(2, 3);
	step_end();
}

static int entered(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
		   struct ftrace_regs *fregs)
{
	return 1;
}

static void returned(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
}

static void test_unwind(struct kunit *test)
{
	static struct steps steps;
	static struct fgraph_ops gops;
	unsigned long offset;

	nr_unaware = 0;
	steps = (struct steps){
		.block = { .notifier_call = step_notify, .priority = INT_MAX },
		.task = current, .start = (unsigned long)return_to_handler,
		.unwinds = unwinds, .may_fail = MAY_FAIL,
	};
	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(steps.start, &steps.size, &offset));

	gops = (struct fgraph_ops){ .entryfunc = entered, .retfunc = returned };
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&gops.ops, (unsigned long)int_pow, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&gops), 0);
	KUNIT_EXPECT_EQ(test, register_die_notifier(&steps.block), 0);
	step_through_return();
	unregister_die_notifier(&steps.block);
	unregister_ftrace_graph(&gops);
	ftrace_free_filter(&gops.ops);

	step_expect_all(test, &steps);
	KUNIT_EXPECT_LE_MSG(test, steps.wrong, MAY_FAIL, "one of them at %lu", steps.wrong_at);
	/* By frame pointers, no stack of a task that was interrupted in the kernel is reliable. */
	if (IS_ENABLED(CONFIG_UNWINDER_ORC))
		KUNIT_EXPECT_EQ(test, nr_unaware, 0);
}

#ifdef CONFIG_HAVE_RELIABLE_STACKTRACE
static struct sleeper sleeper;

static unsigned int nr_entered;

static int sleeper_entered(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
			   struct ftrace_regs *fregs)
{
	nr_entered += current == sleeper.task;
	return 1;
}

static noinline void sleep_here(struct sleeper *sleeper)
{
	sleeper_called(sleeper);
	sleeper_sleep(sleeper);
	/* So that this is not a tail call */
	barrier();
}

/* A stack on which a return address was replaced is as reliable as before, and the same. */
static void test_sleeping(struct kunit *test)
{
	static unsigned long before[SLEEPER_STACK], trace[SLEEPER_STACK];
	int len = sleeper_trace(&sleeper, sleep_here, before), at;
	static struct fgraph_ops gops;
	unsigned long size, offset;

	/* wait_for_completion() and more, what sleeps here, and the callers of that */
	at = sleeper_find(&sleeper, before, len, NULL, 0);
	KUNIT_ASSERT_GT(test, len, 0);
	KUNIT_ASSERT_GT(test, at, 1);
	KUNIT_EXPECT_TRUE(test, kallsyms_lookup_size_offset(before[at - 1], &size, &offset));
	KUNIT_EXPECT_EQ(test, before[at - 1] - offset, (unsigned long)sleep_here);

	gops = (struct fgraph_ops){ .entryfunc = sleeper_entered, .retfunc = returned };
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&gops.ops, (unsigned long)wait_for_completion,
						   0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&gops), 0);
	nr_entered = 0;
	KUNIT_EXPECT_EQ(test, sleeper_trace(&sleeper, sleep_here, trace), len);
	KUNIT_EXPECT_EQ(test, nr_entered, 1);
	KUNIT_EXPECT_MEMEQ(test, trace, before, len * sizeof(*trace));
	unregister_ftrace_graph(&gops);
	ftrace_free_filter(&gops.ops);
}
#endif /* CONFIG_HAVE_RELIABLE_STACKTRACE */

static struct kunit_case graph_cases[] = {
	KUNIT_CASE(test_unwind),
#ifdef CONFIG_HAVE_RELIABLE_STACKTRACE
	KUNIT_CASE(test_sleeping),
#endif
	{}
};

static struct kunit_suite graph_suite = {
	.name		= "fentry_return",
	.test_cases	= graph_cases,
};

kunit_test_suite(graph_suite);
