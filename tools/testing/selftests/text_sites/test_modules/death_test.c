// SPDX-License-Identifier: GPL-2.0
/*
 * death_test: the thread that changes text dies with breakpoints in the text.
 *
 *   at      where: an address that a kprobe may be at
 *   nth     when it gets there for the how many-th time
 *   how     exit: it just ends; oops; or panic, with which the machine ends
 */
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/sched.h>
#include <linux/string.h>

static int nth;
module_param(nth, int, 0);

static char *how = "exit";
module_param(how, charp, 0);

static unsigned long at;
module_param(at, ulong, 0);

/* The thread goes on here. */
static void __noreturn die(void)
{
	if (!strcmp(how, "panic"))
		panic("death_test");
	if (!strcmp(how, "oops")) {
		/* The harness skips an oops that follows this line. */
		pr_info("death_test: the next oops is intended\n");
		WRITE_ONCE(*(int *)NULL, 0);
	}
	kthread_complete_and_exit(NULL, 0);
}

static int there(struct kprobe *probe, struct pt_regs *regs)
{
	if (strcmp(current->comm, "text_site") || !nth || --nth)
		return 0;
	regs->ip = (unsigned long)die;
	return 1;
}
NOKPROBE_SYMBOL(there);

/* With one, the probe is not optimized: then it could not say where to go on. */
static void behind(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}
NOKPROBE_SYMBOL(behind);

static struct kprobe probe = { .pre_handler = there, .post_handler = behind };

static int __init death_test_init(void)
{
	probe.addr = (kprobe_opcode_t *)at;
	return register_kprobe(&probe);
}
module_init(death_test_init);

static void __exit death_test_exit(void)
{
	unregister_kprobe(&probe);
}
module_exit(death_test_exit);

MODULE_DESCRIPTION("The death of the thread that changes text");
MODULE_LICENSE("GPL");
