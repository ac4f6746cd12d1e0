// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of trampolines: what unwinders are told of each of their instructions, and find */
#include <kunit/test.h>

#include <linux/ftrace.h>
#include <linux/objtool.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include <asm/asm.h>
#include <asm/fentry.h>
#include <asm/insn.h>
#include <asm/orc_types.h>
#include <asm/text-patching.h>
#include <asm/unwind.h>

#include "step.h"

#define WORD	((long)sizeof(long))

struct shape {
	const char	*name;
	unsigned int	flags;
	unsigned int	nr;
	bool		goes_on, moves;	/* the callback moves regs->ip */
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
	{ "shared",		TRAMPOLINE_SHARED,		1 },
};

static void shape_desc(const struct shape *shape, char *desc)
{
	strscpy(desc, shape->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(shape, shapes, shape_desc);

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
	struct fentry_callback calls[2] = { { ftrace_stub }, { ftrace_stub } };
	const struct shape *shape = test->param_value;
	const unsigned long onward = shape->goes_on ? (unsigned long)ftrace_stub : 0;
	struct fentry_trampoline tramp = {};
	unsigned long at, end;
	struct insn insn;
	long taken = WORD;

	KUNIT_ASSERT_EQ(test, fentry_trampoline_create(&tramp, shape->flags, calls, shape->nr,
						       onward), 0);
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

/*
 * A function whose first instruction calls a shared trampoline, as a site does. The
 * trampoline goes on to another function, that returns to this one.
 */
int trampoline_test_site(int a, int b, int c);
int trampoline_test_onward(void);
int trampoline_test_instead(void);
DEFINE_STATIC_CALL(trampoline_test, trampoline_test_onward);

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

static void test_shared(struct kunit *test)
{
	struct fentry_callback call = { .func = shared_callback };
	int (*site_func)(int a, int b, int c) = trampoline_test_site;
	struct fentry_trampoline tramp = {};
	unsigned long site;

	/* Reckoning with the address of a function looks like a forged pointer. */
	OPTIMIZER_HIDE_VAR(site_func);
	site = (unsigned long)site_func;

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

/* The callers that the unwinder is to find, from the site on */
static unsigned long callers[3];

/* The task that steps through a trampoline, before each instruction */
static struct steps steps;

/* A callback replaces the first of them by trampoline_test_instead(). */
static bool moves;

static void moving_callback(unsigned long site, unsigned long parent, void *arg,
			    struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)trampoline_test_instead);
}

static bool is_caller(unsigned long addr, unsigned int nr)
{
	return addr == callers[nr] ||
	       (moves && !nr && addr == (unsigned long)trampoline_test_instead);
}

/*
 * Does the unwinder find all callers in their order, nothing else before them, and the end of the
 * stack? By frame pointers, those are not found whose frames are not there yet, or not any more,
 * but the last one is. The unwinder looks up the byte before a return address. If that address is
 * the first byte of trampoline_test_instead(), the byte is another function's, and the unwinder
 * may report an error.
 */
static bool unwinds(struct pt_regs *regs)
{
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
		while (IS_ENABLED(CONFIG_UNWINDER_FRAME_POINTER) && nr < last && !is_caller(addr, nr))
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
	struct fentry_callback calls[2] = { { ftrace_stub }, { ftrace_stub } };
	const struct shape *shape = test->param_value;
	const unsigned long onward = shape->goes_on ? (unsigned long)ftrace_stub : 0;
	struct fentry_trampoline tramp = {};

	moves = shape->moves;
	if (moves)
		calls[0].func = moving_callback;
	KUNIT_ASSERT_EQ(test, fentry_trampoline_create(&tramp, shape->flags, calls, shape->nr,
						       onward), 0);
	static_call_update(trampoline_test, (void *)tramp.addr);

	steps = (struct steps){
		.block = { .notifier_call = step_notify, .priority = INT_MAX },
		.task = current, .start = tramp.addr, .size = tramp.size, .unwinds = unwinds,
	};
	KUNIT_EXPECT_EQ(test, register_die_notifier(&steps.block), 0);
	KUNIT_EXPECT_EQ(test, step_through_site(), moves ? 77 : 17);
	unregister_die_notifier(&steps.block);

	/* With a store and a load for each register of the arguments, and what is around them */
	KUNIT_EXPECT_GE(test, steps.nr, 16);
	KUNIT_EXPECT_EQ_MSG(test, steps.wrong, 0, "the first of them at %lu", steps.wrong_at);

	static_call_update(trampoline_test, trampoline_test_onward);
	synchronize_rcu_tasks();
	fentry_trampoline_free(&tramp);
	synchronize_rcu();
}

static struct kunit_case trampoline_cases[] = {
	KUNIT_CASE_PARAM(test_orc, shape_gen_params),
	KUNIT_CASE_PARAM(test_unwind, shape_gen_params),
	KUNIT_CASE(test_shared),
	{}
};

static struct kunit_suite trampoline_suite = {
	.name		= "fentry_trampoline",
	.test_cases	= trampoline_cases,
};

kunit_test_suite(trampoline_suite);
