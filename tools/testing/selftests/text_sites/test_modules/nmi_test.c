// SPDX-License-Identifier: GPL-2.0
/*
 * nmi_test: a handler for NMIs that nobody else knows the reason of, as the monitor of an
 * emulator sends them. Each goes through text sites of this module, whatever is being
 * done to them.
 *
 * Parameters, to be read:
 *
 *   nmis	how many have come
 *   trapped	... of them while a breakpoint was at the first of the functions
 *   wrong	... in which something did not do what it did before, or what it is to do
 *   chains	... that interrupted the kernel: the handler unwinds its stack
 *   broken	for each of the last hundred chains that end in an error of the unwinder:
 *		the function that was interrupted, and the last return address found
 *   flip	read: point the jump function and the immediate value at something else,
 *		"right" if that worked
 */
#include <linux/atomic.h>
#include <linux/array_size.h>
#include <linux/immediate.h>
#include <linux/jump_function.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>

#include <asm/ftrace.h>
#include <asm/ibt.h>
#include <asm/nmi.h>
#include <asm/ptrace.h>
#include <asm/unwind.h>

static atomic_t nmis, trapped, wrong, chains, broken;
static struct {
	unsigned long ip;
	unsigned long last;
} broken_at[100];

/* Each adds something else: of the same ones the compiler makes one. */
#define ONE(a)								\
static noinline __noclone int nmi_test_##a(int n)			\
{									\
	barrier();							\
	return n + a;							\
}

ONE(0) ONE(1) ONE(2) ONE(3) ONE(4) ONE(5) ONE(6) ONE(7) ONE(8) ONE(9)

static noinline int nmi_test_up(int n)
{
	return n + 10;
}

static noinline int nmi_test_down(int n)
{
	return n - 10;
}

DEFINE_DYNFUNC(nmi_test_jump, nmi_test_up);
static DEFINE_IMV(int, nmi_test_value, 3);

static bool has_breakpoint(unsigned long function)
{
	return *(u8 *)(function + (is_endbr(*(u32 *)function) ? ENDBR_INSN_SIZE : 0)) == 0xcc;
}

/*
 * Does the unwinder get to the end of the stack, as perf needs it to? It cannot begin while the
 * stack pointer is still the program's, or already that of the next task. @last gets the last
 * return address found.
 */
static bool chain_ends(struct pt_regs *regs, unsigned long *last)
{
	struct unwind_state state;
	bool begins = false;

	for (unwind_start(&state, current, regs, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		begins = true;
		*last = unwind_get_return_address(&state);
	}
	return !begins || !unwind_error(&state);
}

static int at_nmi(unsigned int type, struct pt_regs *regs)
{
	unsigned long last = 0;
	int n, jump, value;

	atomic_inc(&nmis);
	if (!user_mode(regs)) {
		atomic_inc(&chains);
		if (!chain_ends(regs, &last)) {
			n = (atomic_inc_return(&broken) - 1) % ARRAY_SIZE(broken_at);
			WRITE_ONCE(broken_at[n].ip, regs->ip);
			WRITE_ONCE(broken_at[n].last, last);
		}
	}
	if (has_breakpoint((unsigned long)nmi_test_0))
		atomic_inc(&trapped);
	n = nmi_test_0(0) + nmi_test_1(0) + nmi_test_2(0) + nmi_test_3(0) + nmi_test_4(0) +
	    nmi_test_5(0) + nmi_test_6(0) + nmi_test_7(0) + nmi_test_8(0) + nmi_test_9(0);
	jump = dynfunc_nmi_test_jump(0);
	value = imv_read(nmi_test_value);
	if (n != 45 || (jump != 10 && jump != -10) || (value != 3 && value != 4))
		atomic_inc(&wrong);
	return NMI_HANDLED;
}

static int count_get(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%d\n", atomic_read((atomic_t *)kp->arg));
}

static const struct kernel_param_ops count_ops = { .get = count_get };

static int broken_get(char *buffer, const struct kernel_param *kp)
{
	const unsigned int nr = min_t(unsigned int, atomic_read(&broken), ARRAY_SIZE(broken_at));
	int len = 0;

	for (unsigned int i = 0; i < nr; i++)
		len += scnprintf(buffer + len, PAGE_SIZE - len, "%ps %ps\n",
				 (void *)READ_ONCE(broken_at[i].ip),
				 (void *)READ_ONCE(broken_at[i].last));
	return len;
}

static const struct kernel_param_ops broken_ops = { .get = broken_get };

static int flip_get(char *buffer, const struct kernel_param *kp)
{
	static bool down;
	bool right;

	down = !down;
	right = !(down ? dynfunc_update(nmi_test_jump, nmi_test_down) :
			 dynfunc_update(nmi_test_jump, nmi_test_up));
	right &= !imv_set(nmi_test_value, down ? 4 : 3);
	right &= dynfunc_nmi_test_jump(0) == (down ? -10 : 10);
	right &= imv_read(nmi_test_value) == (down ? 4 : 3);
	return sprintf(buffer, "%s\n", right ? "right" : "wrong");
}

static const struct kernel_param_ops flip_ops = { .get = flip_get };

module_param_cb(nmis, &count_ops, &nmis, 0400);
module_param_cb(trapped, &count_ops, &trapped, 0400);
module_param_cb(wrong, &count_ops, &wrong, 0400);
module_param_cb(chains, &count_ops, &chains, 0400);
module_param_cb(broken, &broken_ops, NULL, 0400);
module_param_cb(flip, &flip_ops, NULL, 0400);

static int __init nmi_test_init(void)
{
	return register_nmi_handler(NMI_UNKNOWN, at_nmi, 0, "nmi_test");
}
module_init(nmi_test_init);

static void __exit nmi_test_exit(void)
{
	unregister_nmi_handler(NMI_UNKNOWN, "nmi_test");
}
module_exit(nmi_test_exit);

MODULE_DESCRIPTION("NMIs that go through text sites");
MODULE_LICENSE("GPL");
