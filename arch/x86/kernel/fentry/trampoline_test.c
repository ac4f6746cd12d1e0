// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of trampolines: what unwinders are told of each of their instructions, and find;
 * and what they have against attacks on speculation
 */
#include <kunit/test.h>

#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/lcm.h>
#include <linux/math.h>
#include <linux/objtool.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include <asm/asm.h>
#include <asm/cpufeature.h>
#include <asm/fentry.h>
#include <asm/ibt.h>
#include <asm/insn.h>
#include <asm/linkage.h>
#include <asm/nospec-branch.h>
#include <asm/orc_types.h>
#include <asm/text-patching.h>
#include <asm/text_site.h>
#include <asm/unwind.h>

#include "step.h"

#define WORD	((long)sizeof(long))

struct shape {
	const char	*name;
	unsigned int	flags;
	unsigned int	nr;
	bool		goes_on, moves;	/* a callback moves regs->ip */
	bool		catches;	/* the first callback catches the return */
};

static const struct shape shapes[] = {
	{ "one",		0,				1 },
	{ "two",		0,				2 },
	{ "bare",		TRAMPOLINE_BARE,		1 },
	{ "bare, two",		TRAMPOLINE_BARE,		2 },
	{ "regs",		TRAMPOLINE_REGS,		1 },
	{ "regs, two",		TRAMPOLINE_REGS,		2 },
	{ "set_ip",		TRAMPOLINE_SET_IP,		1 },
	{ "set_ip, two",	TRAMPOLINE_SET_IP,		2 },
	{ "goes on",		0,				1, true },
	{ "two, goes on",	0,				2, true },
	{ "bare, goes on",	TRAMPOLINE_BARE,		1, true },
	{ "bare, two, goes on",	TRAMPOLINE_BARE,		2, true },
	{ "regs, goes on",	TRAMPOLINE_REGS,		1, true },
	{ "regs, two, goes on",	TRAMPOLINE_REGS,		2, true },
	{ "set_ip, goes on",	TRAMPOLINE_SET_IP,		1, true },
	{ "set_ip, two, goes on", TRAMPOLINE_SET_IP,		2, true },
	{ "set_ip, moves",	TRAMPOLINE_SET_IP,		1, false, true },
	{ "set_ip, two, moves",	TRAMPOLINE_SET_IP,		2, false, true },
	{ "set_ip, goes on, moves", TRAMPOLINE_SET_IP,		1, true, true },
	{ "set_ip, two, goes on, moves", TRAMPOLINE_SET_IP,	2, true, true },
	{ "shared",		TRAMPOLINE_SHARED,		1 },
	{ "shared, goes on",	TRAMPOLINE_SHARED,		1, true },
	{ "shared, moves",	TRAMPOLINE_SHARED,		1, false, true },
	{ "shared, goes on, moves", TRAMPOLINE_SHARED,		1, true, true },
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	{ "catches",		0,				1, .catches = true },
	{ "two, catches",	0,				2, .catches = true },
	{ "bare, catches",	TRAMPOLINE_BARE,		1, .catches = true },
	{ "bare, two, catches",	TRAMPOLINE_BARE,		2, .catches = true },
	{ "regs, catches",	TRAMPOLINE_REGS,		1, .catches = true },
	{ "regs, two, catches",	TRAMPOLINE_REGS,		2, .catches = true },
	{ "set_ip, catches",	TRAMPOLINE_SET_IP,		1, .catches = true },
	{ "set_ip, two, catches", TRAMPOLINE_SET_IP,		2, .catches = true },
	{ "set_ip, two, moves, catches", TRAMPOLINE_SET_IP,	2, false, true, true },
	{ "goes on, catches",	0,				1, true, .catches = true },
	{ "two, goes on, catches", 0,				2, true, .catches = true },
	{ "bare, goes on, catches", TRAMPOLINE_BARE,		1, true, .catches = true },
	{ "bare, two, goes on, catches", TRAMPOLINE_BARE,	2, true, .catches = true },
	{ "regs, goes on, catches", TRAMPOLINE_REGS,		1, true, .catches = true },
	{ "regs, two, goes on, catches", TRAMPOLINE_REGS,	2, true, .catches = true },
	{ "set_ip, goes on, catches", TRAMPOLINE_SET_IP,	1, true, .catches = true },
	{ "set_ip, two, goes on, catches", TRAMPOLINE_SET_IP,	2, true, .catches = true },
	{ "set_ip, two, goes on, moves, catches", TRAMPOLINE_SET_IP, 2, true, true, true },
	{ "shared, catches",	TRAMPOLINE_SHARED,		1, .catches = true },
#endif
};

static void shape_desc(const struct shape *shape, char *desc)
{
	strscpy(desc, shape->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(shape, shapes, shape_desc);

/*
 * A function whose first instruction calls a trampoline, as a site does. The trampoline may go
 * on to another function, that returns to this one.
 */
int trampoline_test_site(int a, int b, int c);
int trampoline_test_onward(void);
int trampoline_test_instead(void);
DEFINE_STATIC_CALL(trampoline_test, trampoline_test_onward);

/* Moves regs->ip, or says where a shared trampoline goes on to, as the shape has it. */
static void moving_callback(unsigned long site, unsigned long parent, void *arg,
			    struct ftrace_regs *fregs)
{
	const struct shape *shape = arg;

	if (shape->goes_on && shape->flags & TRAMPOLINE_SHARED)
		arch_ftrace_set_direct_caller(fregs, (unsigned long)trampoline_test_onward);
	/* ftrace_regs_set_instruction_pointer() does nothing on 32 bits. */
	if (shape->moves)
		arch_ftrace_regs(fregs)->regs.ip = (unsigned long)trampoline_test_instead;
}

/* What the site returns if it calls a trampoline of this shape */
static int returned_by(const struct shape *shape)
{
	if (shape->moves)
		return 77;
	return shape->goes_on && shape->flags & TRAMPOLINE_SHARED ? 117 : 17;
}

/* Make a trampoline of a shape; @last replaces the last callback if it is not NULL. */
static int create(struct fentry_trampoline *tramp, const struct shape *shape,
		  struct fentry_callback calls[2], void *last)
{
	const bool shared = shape->flags & TRAMPOLINE_SHARED;
	unsigned int n = 0;

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (shape->catches)
		calls[n++] = (struct fentry_callback){ ftrace_graph_func };
#endif
	if (shape->moves || (shape->goes_on && shared))
		calls[n++] = (struct fentry_callback){ moving_callback, (void *)shape };
	while (n < shape->nr)
		calls[n++] = (struct fentry_callback){ ftrace_stub };
	if (last)
		calls[shape->nr - 1] = (struct fentry_callback){ last };
	return fentry_trampoline_create(tramp, shape->flags, calls, shape->nr,
					shape->goes_on && !shared ?
					(unsigned long)ftrace_stub : 0);
}

/* What an instruction does to the stack, in bytes that it takes */
static long taken_by(const struct insn *insn)
{
	switch (insn->opcode.bytes[0]) {
	case 0x8d:	/* lea, of %rsp or of another */
		return X86_MODRM_REG(insn->modrm.bytes[0]) == 4 && !X86_REX_R(insn->rex_prefix.bytes[0]) ?
		       -(long)insn->displacement.value : 0;
	case 0x9c:	/* pushf */
		return WORD;
	case 0x9d:	/* popf */
	case 0x8f:	/* pop */
		return -WORD;
	case 0xff:	/* push */
		return X86_MODRM_REG(insn->modrm.bytes[0]) == 6 ? WORD : 0;
	case CALL_INSN_OPCODE:	/* over the next byte, without return */
		return insn->immediate.value == 1 ? WORD : 0;
	default:
		return 0;
	}
}

static void test_orc(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct fentry_trampoline tramp = {};
	struct fentry_callback calls[2];
	unsigned long at, end;
	struct insn insn;
	long taken = WORD;

	KUNIT_ASSERT_EQ(test, create(&tramp, shape, calls, NULL), 0);
	end = tramp.addr + tramp.size;
	KUNIT_EXPECT_PTR_EQ(test, fentry_trampoline_find(tramp.addr), &tramp);
	KUNIT_EXPECT_PTR_EQ(test, fentry_trampoline_find(end - 1), &tramp);
	KUNIT_EXPECT_PTR_NE(test, fentry_trampoline_find(end), &tramp);
	KUNIT_EXPECT_PTR_NE(test, fentry_trampoline_find(tramp.addr - 1), &tramp);

	for (at = tramp.addr; at <= tramp.addr + tramp.tail; at += insn.length) {
		const struct orc_entry *orc = fentry_trampoline_orc(at);

		KUNIT_EXPECT_EQ_MSG(test, orc->sp_offset, taken, "at %lu", at - tramp.addr);
		if (insn_decode_kernel(&insn, (void *)at)) {
			KUNIT_FAIL(test, "no instruction at %lu", at - tramp.addr);
			break;
		}
		taken += taken_by(&insn);
		if (insn.opcode.bytes[0] == CALL_INSN_OPCODE && insn.immediate.value == 1)
			at++;
	}
	KUNIT_EXPECT_EQ(test, taken, shape->flags & TRAMPOLINE_SHARED ? 2 * WORD : WORD);

	fentry_trampoline_free(&tramp);
	KUNIT_EXPECT_NULL(test, fentry_trampoline_find(tramp.addr));
	/* It is on this stack, and unwinders may be looking at it. */
	synchronize_rcu();
}

/* Is it the accounting of a call, which is an instruction of its own? */
static bool counts_call(const struct insn *insn, unsigned long at)
{
#ifdef CONFIG_MITIGATION_CALL_DEPTH_TRACKING
	/* sarq $5,call_depth of this CPU: a place relative to the next instruction */
	return insn->opcode.bytes[0] == 0xc1 && insn->modrm.bytes[0] == 0x3d &&
	       insn->immediate.value == 5 &&
	       insn->prefixes.bytes[0] == (IS_ENABLED(CONFIG_SMP) ? 0x65 : 0) &&
	       at + insn->length + insn->displacement.value ==
	       (__force unsigned long)&pcpu_hot.call_depth;
#else
	return false;
#endif
}

static void expect_branch(struct kunit *test, const struct insn *insn, unsigned long at,
			  u8 opcode, unsigned long target)
{
	KUNIT_EXPECT_EQ(test, insn->opcode.bytes[0], opcode);
	KUNIT_EXPECT_EQ(test, at + insn->length + insn->immediate.value, target);
}

static void expect_return(struct kunit *test, const struct insn *insn, unsigned long at)
{
	if (cpu_feature_enabled(X86_FEATURE_RETHUNK))
		expect_branch(test, insn, at, JMP32_INSN_OPCODE, (unsigned long)x86_return_thunk);
	else
		KUNIT_EXPECT_EQ(test, insn->opcode.bytes[0], RET_INSN_OPCODE);
}

/*
 * Where CPUs need it, a trampoline returns by the thunk, and counts its calls: what it calls
 * does not, and nor does the traced function for the site's call, unless there is a callee that
 * takes that over.
 */
static void test_speculation(struct kunit *test)
{
	const bool counts = cpu_feature_enabled(X86_FEATURE_CALL_DEPTH);
	unsigned int counted = 0, nr_calls = 0, must_count;
	const struct shape *shape = test->param_value;
	struct fentry_trampoline tramp = {};
	struct fentry_callback calls[2];
	unsigned long at, next;
	struct insn insn;

	KUNIT_ASSERT_EQ(test, create(&tramp, shape, calls, NULL), 0);
	for (at = tramp.addr; (next = step_next(&insn, at)); at = next) {
		counted += counts_call(&insn, at);
		if (insn.opcode.bytes[0] != CALL_INSN_OPCODE || insn.immediate.value == 1)
			continue;
		if (nr_calls < shape->nr)
			expect_branch(test, &insn, at, CALL_INSN_OPCODE,
				      (unsigned long)calls[nr_calls].func);
		must_count = counts + (counts && !nr_calls && !tramp.onward);
		KUNIT_EXPECT_EQ_MSG(test, counted, must_count, "at %lu", at - tramp.addr);
		counted = 0;
		nr_calls++;
	}
	KUNIT_EXPECT_EQ(test, nr_calls, shape->nr);
	KUNIT_EXPECT_EQ(test, counted, 0);

	/* There is no return but at the end. */
	KUNIT_EXPECT_EQ(test, at, tramp.addr + tramp.tail);
	next = at + insn.length;
	if (tramp.onward)
		expect_branch(test, &insn, at, JMP32_INSN_OPCODE, tramp.onward);
	else
		expect_return(test, &insn, at);
	if (!tramp.onward)
		KUNIT_EXPECT_EQ(test, tramp.size, tramp.tail + JMP32_INSN_SIZE + 1);
	for (; next < tramp.addr + tramp.size; next++)
		KUNIT_EXPECT_EQ(test, *(u8 *)next, INT3_INSN_OPCODE);
	KUNIT_EXPECT_EQ(test, next, tramp.addr + tramp.size);

	fentry_trampoline_free(&tramp);
	synchronize_rcu();
}

static void expect_mitigated(struct kunit *test, const struct fentry_trampoline *tramp)
{
	const unsigned long at = tramp->addr + tramp->tail;
	struct insn insn;

	KUNIT_ASSERT_EQ(test, insn_decode_kernel(&insn, (void *)at), 0);
	expect_return(test, &insn, at);
}

/*
 * A trampoline that is older than the choice of mitigations returns as they want it, too: one
 * that looks like that; and with ftrace=function one that is.
 */
static void test_older(struct kunit *test)
{
	static const u8 older[JMP32_INSN_SIZE] = {
		RET_INSN_OPCODE, INT3_INSN_OPCODE, INT3_INSN_OPCODE, INT3_INSN_OPCODE,
		INT3_INSN_OPCODE
	};
	const unsigned long site = ftrace_location((unsigned long)lcm);
	struct fentry_callback call = { .func = ftrace_stub };
	const struct fentry_trampoline *boot = NULL;
	struct fentry_trampoline tramp = {};

	KUNIT_ASSERT_EQ(test, fentry_trampoline_create(&tramp, 0, &call, 1, 0), 0);
	text_write((void *)tramp.addr + tramp.tail, older, sizeof(older));
	fentry_redirect_begin();
	fentry_trampoline_mitigate(&tramp);
	fentry_redirect_end();
	expect_mitigated(test, &tramp);
	fentry_trampoline_free(&tramp);
	synchronize_rcu();

	KUNIT_ASSERT_NE(test, site, 0);
	if (*(u8 *)site == CALL_INSN_OPCODE)
		boot = fentry_trampoline_find(site + CALL_INSN_SIZE + *(s32 *)(site + 1));
	if (strstr(saved_command_line, "ftrace=function") &&
	    !strstr(saved_command_line, "ftrace_filter="))
		KUNIT_ASSERT_NOT_NULL(test, boot);
	if (boot && !boot->onward)
		expect_mitigated(test, boot);
}

asm(".pushsection .text\n"
    ".type trampoline_test_site, @function\n"
    "trampoline_test_site:\n"
    ANNOTATE_NOENDBR
    "	call " STATIC_CALL_TRAMP_STR(trampoline_test) "\n"
    "	leal (%" _ASM_ARG1 ",%" _ASM_ARG2 ",2), %eax\n"
    "	leal (%" _ASM_AX ",%" _ASM_ARG3 ",4), %eax\n"
    "	" ASM_RET
    ".size trampoline_test_site, . - trampoline_test_site\n"
    ".type trampoline_test_onward, @function\n"
    "trampoline_test_onward:\n"
    ANNOTATE_NOENDBR
    "	add $100, %" _ASM_ARG1 "\n"
    "	" ASM_RET
    ".size trampoline_test_onward, . - trampoline_test_onward\n"
    ".type trampoline_test_instead, @function\n"
    "trampoline_test_instead:\n"
    ANNOTATE_NOENDBR
    "	movl $77, %eax\n"
    "	" ASM_RET
    ".size trampoline_test_instead, . - trampoline_test_instead\n"
    ".popsection\n");
STACK_FRAME_NON_STANDARD_FP(trampoline_test_site);

static struct {
	unsigned long	site, parent, at_sp, ip, go_on;
	struct pt_regs	regs;
} seen;

static void shared_callback(unsigned long site, unsigned long parent, void *arg,
			    struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	seen.site = site;
	seen.parent = parent;
	if (!regs)
		return;
	seen.regs = *regs;
	seen.at_sp = *(unsigned long *)regs->sp;
	if (seen.go_on)
		arch_ftrace_set_direct_caller(fregs, seen.go_on);
	if (seen.ip)
		regs->ip = seen.ip;
}

/* Reckoning with the address of a function looks like a forged pointer. */
static unsigned long site_address(void)
{
	int (*site_func)(int a, int b, int c) = trampoline_test_site;

	OPTIMIZER_HIDE_VAR(site_func);
	return (unsigned long)site_func;
}

static void test_shared(struct kunit *test)
{
	struct fentry_callback call = { .func = shared_callback };
	const unsigned long site = site_address();
	struct fentry_trampoline tramp = {};

	KUNIT_ASSERT_EQ(test, fentry_trampoline_create(&tramp, TRAMPOLINE_SHARED, &call, 1, 0),
			0);
	static_call_update(trampoline_test, (void *)tramp.addr);

	/* Nowhere else, then through another function, then that and not back */
	KUNIT_EXPECT_EQ(test, trampoline_test_site(1, 2, 3), 17);
	KUNIT_EXPECT_EQ(test, seen.site, site);
	KUNIT_EXPECT_EQ(test, seen.regs.ip, site + CALL_INSN_SIZE);
	KUNIT_EXPECT_EQ(test, regs_get_kernel_argument(&seen.regs, 0), 1);
	KUNIT_EXPECT_EQ(test, seen.regs.orig_ax, (unsigned long)ftrace_stub_direct_tramp);
	KUNIT_EXPECT_EQ(test, seen.at_sp, seen.parent);
	seen.go_on = (unsigned long)trampoline_test_onward;
	KUNIT_EXPECT_EQ(test, trampoline_test_site(1, 2, 3), 117);
	seen.ip = (unsigned long)trampoline_test_instead;
	KUNIT_EXPECT_EQ(test, trampoline_test_site(1, 2, 3), 77);

	memset(&seen, 0, sizeof(seen));
	static_call_update(trampoline_test, trampoline_test_onward);
	synchronize_rcu_tasks();
	fentry_trampoline_free(&tramp);
	synchronize_rcu();
}

/* Returns that were caught */
static unsigned int nr_caught;

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static int entered(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
		   struct ftrace_regs *fregs)
{
	return 1;
}

static void returned(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	nr_caught++;
}

/*
 * What ftrace_graph_func() calls from these trampolines. It is attached to a function that
 * nobody calls meanwhile.
 */
static struct fgraph_ops catcher;

static int catch_returns(struct kunit_suite *suite)
{
	int ret;

	catcher = (struct fgraph_ops){ .entryfunc = entered, .retfunc = returned };
	ret = ftrace_set_filter_ip(&catcher.ops, (unsigned long)int_pow, 0, 1);
	if (!ret)
		ret = register_ftrace_graph(&catcher);
	if (ret)
		ftrace_free_filter(&catcher.ops);
	return ret;
}

static void catch_no_more(struct kunit_suite *suite)
{
	unregister_ftrace_graph(&catcher);
	ftrace_free_filter(&catcher.ops);
}
#endif

/* The callers that the unwinder is to find, from the site on */
static unsigned long callers[3];

/* The task that steps through a trampoline, before each instruction */
static struct steps steps;

/* A callback replaces the first of them by trampoline_test_instead(). */
static bool moves;

/*
 * What of the trampoline has links to all callers, if frames are chained by frame pointers:
 * from the first call until the last one is back
 */
static unsigned long links_from, links_to;

static bool is_caller(unsigned long addr, unsigned int nr)
{
	return addr == callers[nr] ||
	       (moves && !nr && addr == (unsigned long)trampoline_test_instead);
}

/*
 * Does the unwinder find all callers in their order, nothing else before them, and the end of the
 * stack? By frame pointers, those are not found whose frames are not there yet, or not any more,
 * but the last one is, and all are as long as callbacks run. The unwinder looks up the byte
 * before a return address. If that address is the first byte of trampoline_test_instead(), the
 * byte is another function's, and the unwinder may report an error.
 */
static bool unwinds(struct pt_regs *regs)
{
	const bool all = !IS_ENABLED(CONFIG_UNWINDER_FRAME_POINTER) ||
			 (regs->ip >= links_from && regs->ip <= links_to);
	const unsigned int last = ARRAY_SIZE(callers) - 1;
	struct unwind_state state;
	unsigned int nr = 0;
	bool moved = false;

	if (regs->ip == steps.start)
		memcpy(callers, (void *)regs->sp, 2 * sizeof(long));
	for (unwind_start(&state, current, regs, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		const unsigned long addr = unwind_get_return_address(&state);

		if (nr > last)
			continue;
		while (!all && nr < last && !is_caller(addr, nr))
			nr++;
		if (!is_caller(addr, nr))
			return false;
		moved |= addr != callers[nr++];
	}
	return unwind_error(&state) ? moved : nr > last;
}

static noinline int step_through_site(void)
{
	int ret;

	callers[2] = _RET_IP_;
	step_begin();
	ret = trampoline_test_site(1, 2, 3);
	step_end();
	return ret;
}

static void test_unwind(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct fentry_trampoline tramp = {};
	struct fentry_callback calls[2];

	moves = shape->moves;
	nr_caught = 0;
	KUNIT_ASSERT_EQ(test, create(&tramp, shape, calls, NULL), 0);
	links_from = tramp.addr + calls[0].at;
	links_to = tramp.addr + calls[shape->nr - 1].at + CALL_INSN_SIZE;
	static_call_update(trampoline_test, (void *)tramp.addr);

	steps = (struct steps){
		.block = { .notifier_call = step_notify, .priority = INT_MAX },
		.task = current, .start = tramp.addr, .size = tramp.size, .unwinds = unwinds,
	};
	KUNIT_EXPECT_EQ(test, register_die_notifier(&steps.block), 0);
	KUNIT_EXPECT_EQ(test, step_through_site(), returned_by(shape));
	unregister_die_notifier(&steps.block);

	KUNIT_EXPECT_EQ(test, nr_caught, shape->catches);
	step_expect_all(test, &steps);
	KUNIT_EXPECT_EQ_MSG(test, steps.wrong, 0, "the first of them at %lu", steps.wrong_at);

	static_call_update(trampoline_test, trampoline_test_onward);
	synchronize_rcu_tasks();
	fentry_trampoline_free(&tramp);
	synchronize_rcu();
}

#ifdef CONFIG_HAVE_RELIABLE_STACKTRACE
static struct sleeper sleeper;
static unsigned long trace[SLEEPER_STACK];

static noinline void call_site(struct sleeper *sleeper)
{
	sleeper_called(sleeper);
	trampoline_test_site(1, 2, 3);
	/* So that this is not a tail call */
	barrier();
}

static void sleeping_callback(unsigned long site, unsigned long parent, void *arg,
			      struct ftrace_regs *fregs)
{
	callers[1] = parent;
	sleeper_sleep(&sleeper);
}

/* A task sleeps in a callback: its stack is reliable, and nothing is missing. */
static void test_sleeping(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct fentry_trampoline tramp = {};
	struct fentry_callback calls[2];
	unsigned long expected[3];
	int len;

	KUNIT_ASSERT_EQ(test, create(&tramp, shape, calls, sleeping_callback), 0);
	static_call_update(trampoline_test, (void *)tramp.addr);
	len = sleeper_trace(&sleeper, call_site, trace);
	static_call_update(trampoline_test, trampoline_test_onward);

	expected[0] = tramp.addr + calls[shape->nr - 1].at + CALL_INSN_SIZE;
	expected[1] = site_address() + CALL_INSN_SIZE;
	expected[2] = callers[1];
	KUNIT_EXPECT_GT(test, len, 0);
	KUNIT_EXPECT_GT(test, sleeper_find(&sleeper, trace, len, expected, 3), 0);

	fentry_trampoline_free(&tramp);
	synchronize_rcu();
}

static bool stop;

static noinline void call_site_often(struct sleeper *sleeper)
{
	sleeper_called(sleeper);
	while (!READ_ONCE(stop))
		trampoline_test_site(1, 2, 3);
}

static void noting_callback(unsigned long site, unsigned long parent, void *arg,
			    struct ftrace_regs *fregs)
{
	if (callers[1])
		return;
	callers[1] = parent;
	complete(&sleeper.asleep);
}

/*
 * Is what is said of the stack of a task that was preempted true? It is that it is not
 * reliable, or it is all of the task's callers. Is the task in the trampoline?
 */
static bool preempted_right(const struct fentry_trampoline *tramp, bool *inside)
{
	const unsigned long expected[2] = { site_address() + CALL_INSN_SIZE, callers[1] };
	int len, at;

	*inside = false;
	len = stack_trace_save_tsk(sleeper.task, trace, SLEEPER_STACK, 0);
	for (int i = 0; i < len; i++)
		*inside |= trace[i] - tramp->addr < tramp->size;

	len = stack_trace_save_tsk_reliable(sleeper.task, trace, SLEEPER_STACK);
	if (len < 0)
		return true;
	if (*inside) {
		at = sleeper_find(&sleeper, trace, len, expected, 2);
		return at > 0 && trace[at - 1] - tramp->addr < tramp->size;
	}
	/* Some instruction of who calls the site, or of what that calls */
	return sleeper_find(&sleeper, trace, len, expected, 0) > 0;
}

/*
 * A task that has a CPU together with this one, which preempts it, is looked at until it was
 * in the trampoline often enough.
 */
static void expect_preempted_right(struct kunit *test, const struct fentry_trampoline *tramp)
{
	const unsigned long end = jiffies + 30 * HZ;
	unsigned int nr_inside = 0, nr_wrong = 0;
	bool inside;
	int ret;

	WRITE_ONCE(stop, false);
	callers[1] = 0;
	migrate_disable();
	ret = sleeper_start(&sleeper, call_site_often, smp_processor_id());
	KUNIT_EXPECT_EQ(test, ret, 0);
	while (!ret && nr_inside < 20 && time_before(jiffies, end)) {
		usleep_range(200, 300);
		nr_wrong += !preempted_right(tramp, &inside);
		nr_inside += inside;
	}
	WRITE_ONCE(stop, true);
	sleeper_stop(&sleeper);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, nr_inside, 20);
	KUNIT_EXPECT_EQ(test, nr_wrong, 0);
}

static void test_preempted(struct kunit *test)
{
	static const struct shape preempted_shapes[] = {
		{ .flags = 0, .nr = 2 }, { .flags = TRAMPOLINE_REGS, .nr = 2 },
	};
	struct fentry_trampoline tramp = {};
	struct fentry_callback calls[2];

	if (!preempt_model_preemptible())
		kunit_skip(test, "nothing is preempted in the kernel");
	sched_set_fifo_low(current);
	for (int i = 0; i < ARRAY_SIZE(preempted_shapes); i++) {
		KUNIT_ASSERT_EQ(test, create(&tramp, &preempted_shapes[i], calls,
					     noting_callback), 0);
		static_call_update(trampoline_test, (void *)tramp.addr);
		expect_preempted_right(test, &tramp);
		static_call_update(trampoline_test, trampoline_test_onward);
		fentry_trampoline_free(&tramp);
		synchronize_rcu();
	}
	sched_set_normal(current, 0);
}

/*
 * What a function's site calls directly: sleeps, with the function's return address and that of
 * its caller on the stack. Neither has a frame of its own yet, so where frames are chained by
 * frame pointers both are made here.
 */
void trampoline_test_direct(void);
extern const u8 trampoline_test_direct_end[];
void trampoline_test_direct_sleep(const unsigned long *returns);

#ifdef CONFIG_FRAME_POINTER
# define DIRECT_LINKS						\
	"	pushq 8(%rsp)\n"				\
	"	pushq %rbp\n"					\
	"	movq %rsp, %rbp\n"				\
	"	pushq 16(%rsp)\n"				\
	"	pushq %rbp\n"					\
	"	movq %rsp, %rbp\n"
# define DIRECT_UNLINK						\
	"	movq 16(%rsp), %rbp\n"				\
	"	addq $32, %rsp\n"
# define DIRECT_RETURNS	"32 + 16(%rsp)"
#else
# define DIRECT_LINKS
# define DIRECT_UNLINK
# define DIRECT_RETURNS	"16(%rsp)"
#endif

asm(".pushsection .text, \"ax\", @progbits\n"
    ASM_FUNC_ALIGN "\n"
    ".type trampoline_test_direct, @function\n"
    "trampoline_test_direct:\n"
    ASM_ENDBR
    CALL_DEPTH_ACCOUNT
    DIRECT_LINKS
    "	pushq %rdi\n"
    "	pushq %rsi\n"
    "	leaq " DIRECT_RETURNS ", %rdi\n"
    "	call trampoline_test_direct_sleep\n"
    "	popq %rsi\n"
    "	popq %rdi\n"
    DIRECT_UNLINK
    "	" ASM_RET
    "trampoline_test_direct_end:\n"
    ".size trampoline_test_direct, . - trampoline_test_direct\n"
    ".popsection\n");
STACK_FRAME_NON_STANDARD_FP(trampoline_test_direct);

void trampoline_test_direct_sleep(const unsigned long *returns)
{
	if (current != sleeper.task)
		return;
	/* If it is not known yet: if the function's return is caught, it is not here. */
	if (!callers[1])
		callers[1] = returns[1];
	sleeper_sleep(&sleeper);
}

static unsigned long multiple;

static noinline void call_lcm(struct sleeper *sleeper)
{
	sleeper_called(sleeper);
	WRITE_ONCE(multiple, lcm(6, 4));
}

static void expect_sleeping_direct(struct kunit *test)
{
	const int len = sleeper_trace(&sleeper, call_lcm, trace);
	int at;

	KUNIT_EXPECT_GT(test, len, 0);
	callers[0] = ftrace_location((unsigned long)lcm) + CALL_INSN_SIZE;
	at = sleeper_find(&sleeper, trace, len, callers, 2);
	KUNIT_EXPECT_EQ(test, multiple, 12);
	KUNIT_EXPECT_GT(test, at, 0);
	if (at <= 0)
		return;
	KUNIT_EXPECT_GT(test, trace[at - 1], (unsigned long)trampoline_test_direct);
	KUNIT_EXPECT_LT(test, trace[at - 1], (unsigned long)trampoline_test_direct_end);
}

/* A task sleeps in what a site calls directly. */
static void test_sleeping_direct(struct kunit *test)
{
	const unsigned long direct = (unsigned long)trampoline_test_direct;
	static struct ftrace_ops ops;

	ops = (struct ftrace_ops){};
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&ops, (unsigned long)lcm, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&ops, direct), 0);
	callers[1] = 0;
	expect_sleeping_direct(test);
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	/*
	 * The same if, besides, the function's return is caught. The unwinder does not know the
	 * copy of the return address in a frame that was made here.
	 */
	if (!IS_ENABLED(CONFIG_FRAME_POINTER)) {
		nr_caught = 0;
		KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&catcher.ops, (unsigned long)lcm, 0, 0),
				0);
		expect_sleeping_direct(test);
		KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&catcher.ops, (unsigned long)lcm, 1, 0),
				0);
		KUNIT_EXPECT_EQ(test, nr_caught, 1);
	}
#endif
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&ops, direct, true), 0);
}
#endif /* CONFIG_HAVE_RELIABLE_STACKTRACE */

static struct kunit_case trampoline_cases[] = {
	KUNIT_CASE_PARAM(test_orc, shape_gen_params),
	KUNIT_CASE_PARAM(test_unwind, shape_gen_params),
	KUNIT_CASE_PARAM(test_speculation, shape_gen_params),
	KUNIT_CASE(test_older),
	KUNIT_CASE(test_shared),
#ifdef CONFIG_HAVE_RELIABLE_STACKTRACE
	KUNIT_CASE_PARAM(test_sleeping, shape_gen_params),
	KUNIT_CASE(test_preempted),
	KUNIT_CASE(test_sleeping_direct),
#endif
	{}
};

static struct kunit_suite trampoline_suite = {
	.name		= "fentry_trampoline",
	.test_cases	= trampoline_cases,
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	.suite_init	= catch_returns,
	.suite_exit	= catch_no_more,
#endif
};

kunit_test_suite(trampoline_suite);
