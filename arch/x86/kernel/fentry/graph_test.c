// SPDX-License-Identifier: GPL-2.0
/* KUnit test of returns: what an unwinder finds where a function returns whose return is traced */
#include <kunit/test.h>

#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kdebug.h>
#include <linux/math.h>
#include <linux/string.h>

#include <asm/irqflags.h>
#include <asm/unwind.h>

/*
 * The function that returns has been popped from the stack, and its frame is not there: nobody
 * can unwind from the first instruction. Nor from the one that has been returned to after the
 * event, as who returns is not in the shadow stack any more.
 */
#define WRONG_AT_MOST	2

/* A task that returns step by step */
static struct {
	struct task_struct	*task;
	unsigned long		size;		/* of return_to_handler() */
	unsigned long		caller;		/* that is to be found */
	unsigned int		steps, wrong;
	unsigned long		wrong_at;	/* the last such instruction */
} stepped;

static bool unwinds(struct pt_regs *regs)
{
	struct unwind_state state;

	for (unwind_start(&state, current, regs, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		if (unwind_get_return_address(&state) == stepped.caller)
			return true;
	}
	return false;
}

/* An NMI of a kind: says what it has found in @stepped. */
static int at_step(struct notifier_block *block, unsigned long event, void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	const unsigned long at = regs->ip - (unsigned long)return_to_handler;

	if (event != DIE_DEBUG || current != stepped.task)
		return NOTIFY_DONE;
	if (at >= stepped.size)
		return NOTIFY_STOP;
	stepped.steps++;
	if (!unwinds(regs)) {
		stepped.wrong++;
		stepped.wrong_at = at;
	}
	return NOTIFY_STOP;
}

/* A debug exception after each instruction from the next one on, or no more */
static __always_inline void set_trap_flag(bool on)
{
	const unsigned long flags = native_save_fl() & ~X86_EFLAGS_TF;

	asm volatile("push %0; popf" : : "r" (flags | (on ? X86_EFLAGS_TF : 0)) : "memory", "cc");
}

static noinline void step_through_return(void)
{
	stepped.caller = _RET_IP_;
	set_trap_flag(true);
	int_pow(2, 3);
	set_trap_flag(false);
}

static int entered(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
{
	return 1;
}

static void returned(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
}

static void test_unwind(struct kunit *test)
{
	struct notifier_block block = { .notifier_call = at_step, .priority = INT_MAX };
	static struct fgraph_ops gops;
	unsigned long offset;

	memset(&stepped, 0, sizeof(stepped));
	stepped.task = current;
	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset((unsigned long)return_to_handler,
							    &stepped.size, &offset));

	gops = (struct fgraph_ops){ .entryfunc = entered, .retfunc = returned };
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&gops.ops, (unsigned long)int_pow, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&gops), 0);
	KUNIT_EXPECT_EQ(test, register_die_notifier(&block), 0);
	step_through_return();
	unregister_die_notifier(&block);
	unregister_ftrace_graph(&gops);
	ftrace_free_filter(&gops.ops);

	KUNIT_EXPECT_GE(test, stepped.steps, 12);
	KUNIT_EXPECT_LE_MSG(test, stepped.wrong, WRONG_AT_MOST, "the last of them at %lu",
			    stepped.wrong_at);
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
