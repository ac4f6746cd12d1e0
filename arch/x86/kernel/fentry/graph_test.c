// SPDX-License-Identifier: GPL-2.0
/* KUnit test: unwinding from return_to_handler() */
#include <kunit/test.h>

#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/math.h>

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

static bool unwinds(struct pt_regs *regs)
{
	struct unwind_state state;

	/*
	 * Overwrite the slot that the function's return has popped, as an interrupt would.
	 * With Xen PV, the frame of this exception is there.
	 */
	if (regs->ip == (unsigned long)return_to_handler &&
	    !cpu_feature_enabled(X86_FEATURE_XENPV))
		((unsigned long *)regs->sp)[-1] = 0;

	for (unwind_start(&state, current, regs, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		if (unwind_get_return_address(&state) == caller)
			return true;
	}
	return false;
}

static noinline void step_through_return(void)
{
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

	KUNIT_EXPECT_GE(test, steps.nr, 12);
	KUNIT_EXPECT_LE_MSG(test, steps.wrong, MAY_FAIL, "one of them at %lu", steps.wrong_at);
}

static struct kunit_case graph_cases[] = {
	KUNIT_CASE(test_unwind),
	{}
};

static struct kunit_suite graph_suite = {
	.name		= "fentry_return",
	.test_cases	= graph_cases,
};

kunit_test_suite(graph_suite);
