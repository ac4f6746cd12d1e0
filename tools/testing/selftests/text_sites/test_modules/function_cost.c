// SPDX-License-Identifier: GPL-2.0
/*
 * What function tracing costs, for benchmarks: files in debugfs under
 * function_cost/, which give cycles of the time stamp counter.
 *
 *   calls     read: of CALLS calls of function_cost_callee(), the least of some
 *             rounds
 *   sites     write, at once: addresses of function entries, one a line
 *   switch    read: to attach an ops to those; to all, if none were written
 *   find      read: to find each of those by its address, the least of some rounds
 *   ninth     read: to attach a ninth ops to one function while eight are attached
 *             to all
 *   crowd     write: as many ops come and stay, each for direct calls of one of the
 *             sites
 *   tracers   write: as many ops come and stay, each attached to all
 *   users     write: as many ops come and stay, each attached to one of the sites
 *   unwind    read: to unwind the stack of a callback, through the trampoline that has
 *             called it
 *   trap      read: of CALLS calls of a function of the kernel whose site has a
 *             breakpoint, and is a NOP, or a call; without what these take without it
 *   trap_module  the same of function_cost_callee()
 *   probe     read: of CALLS hits of a kprobe that is a breakpoint within
 *             function_cost_callee()
 *
 * The parameter `location` is where ftrace_location() is, which is not for modules.
 *
 * What it takes to detach them is not given: that waits for tasks to leave what is
 * in a module.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>

#include <asm/ibt.h>
#include <asm/linkage.h>

#include "cycles.h"
#include "sites.h"

#define OTHERS	8

static unsigned long location;
module_param(location, ulong, 0400);

asmlinkage void function_cost_callee(void);

asmlinkage noinline __noclone void function_cost_callee(void)
{
	/* Not to be left out for having no effect */
	barrier();
}

static void notrace nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
}

static int calls_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%llu\n", CYCLES(i, function_cost_callee()));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(calls);

/* Cycles to register an ops that has its filter; it is unregistered again. */
static int cost_of_switch(struct ftrace_ops *ops, cycles_t *cost)
{
	cycles_t start = get_cycles();
	int ret;

	ret = register_ftrace_function(ops);
	*cost = get_cycles() - start;
	return ret ?: unregister_ftrace_function(ops);
}

static int switch_show(struct seq_file *m, void *v)
{
	static struct ftrace_ops ops;
	cycles_t cost;
	int ret = 0;

	mutex_lock(&sites_mutex);
	/* Not as it was left: that has a filter that is freed. */
	ops = (struct ftrace_ops) { .func = nothing };
	if (nr_sites)
		ret = ftrace_set_filter_ips(&ops, sites, nr_sites, 0, 1);
	if (!ret)
		ret = cost_of_switch(&ops, &cost);
	if (!ret)
		seq_printf(m, "%llu\n", cost);
	ftrace_free_filter(&ops);
	mutex_unlock(&sites_mutex);
	return ret;
}
DEFINE_SHOW_ATTRIBUTE(switch);

/* How many of the sites are found by their addresses */
static unsigned int find_all(void)
{
	unsigned long (*find)(unsigned long ip) = (void *)location;
	unsigned int found = 0;

	for (unsigned int i = 0; i < nr_sites; i++)
		found += find(sites[i]) == sites[i];
	return found;
}

static int find_show(struct seq_file *m, void *v)
{
	unsigned int found = 0;

	guard(mutex)(&sites_mutex);
	if (!location)
		return -ENOENT;
	seq_printf(m, "%llu\n", LEAST_CYCLES(found += find_all()));
	return found == nr_sites * ROUNDS ? 0 : -ENOENT;
}
DEFINE_SHOW_ATTRIBUTE(find);

static int ninth_show(struct seq_file *m, void *v)
{
	static struct ftrace_ops others[OTHERS], ninth;
	cycles_t cost, least = ~0ULL;
	unsigned int nr = 0, i;
	int ret = 0;

	mutex_lock(&sites_mutex);
	ninth = (struct ftrace_ops) { .func = nothing };
	while (!ret && nr < OTHERS) {
		others[nr].func = nothing;
		ret = register_ftrace_function(&others[nr]);
		nr += !ret;
	}
	if (!ret)
		ret = ftrace_set_filter_ip(&ninth, (unsigned long)function_cost_callee, 0, 1);
	/*
	 * Take the least of some: the emulator runs one CPU at a time, so how long this one
	 * waits for the other varies.
	 */
	for (i = 0; !ret && i < ROUNDS; i++) {
		/* Trampolines of before are freed a while after the last switch. */
		ssleep(5);
		ret = cost_of_switch(&ninth, &cost);
		least = min(least, cost);
	}
	if (!ret)
		seq_printf(m, "%llu\n", least);
	while (nr)
		unregister_ftrace_function(&others[--nr]);
	ftrace_free_filter(&ninth);
	mutex_unlock(&sites_mutex);
	return ret;
}
DEFINE_SHOW_ATTRIBUTE(ninth);

/* What a site of the crowd calls */
asmlinkage void function_cost_direct(void);
asm("	.pushsection .text, \"ax\", @progbits\n"
	ASM_FUNC_ALIGN "\n"
"	.type	function_cost_direct, @function\n"
"function_cost_direct:\n"
	ASM_ENDBR
	ASM_RET
"	.size	function_cost_direct, . - function_cost_direct\n"
"	.popsection\n");

/* What the ops of a crowd are for */
enum crowd { TRACERS, USERS, DIRECT };

static int crowd_one(struct ftrace_ops *ops, unsigned int i, enum crowd crowd)
{
	int ret = crowd == TRACERS ? 0 : ftrace_set_filter_ip(ops, sites[i], 0, 1);

	if (ret)
		return ret;
	if (crowd == DIRECT)
		return register_ftrace_direct(ops, (unsigned long)function_cost_direct);
	ops->func = nothing;
	return register_ftrace_function(ops);
}

/* Registers ops that stay until the machine ends, as does the module then. */
static int crowd_come(unsigned int nr, enum crowd crowd)
{
	struct ftrace_ops *ops = kvcalloc(nr, sizeof(*ops), GFP_KERNEL);
	int ret = ops ? 0 : -ENOMEM;

	__module_get(THIS_MODULE);
	for (unsigned int i = 0; i < nr && !ret; i++) {
		ret = crowd_one(&ops[i], i, crowd);
		cond_resched();
	}
	return ret;
}

static ssize_t crowd_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	const enum crowd crowd = (unsigned long)file_inode(filp)->i_private;
	unsigned int nr;
	int ret;

	ret = kstrtouint_from_user(ubuf, cnt, 0, &nr);
	if (ret)
		return ret;
	guard(mutex)(&sites_mutex);
	if (crowd != TRACERS && nr > nr_sites)
		return -EINVAL;
	return crowd_come(nr, crowd) ?: cnt;
}

static const struct file_operations crowd_fops = {
	.open	= simple_open,
	.write	= crowd_write,
};

/* Of a callback of function_cost_callee() */
static struct {
	unsigned long	stack[16];
	unsigned int	nr;
	cycles_t	cycles;
} unwound;

static void notrace unwind(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
	unwound.cycles = LEAST_CYCLES(unwound.nr = stack_trace_save(unwound.stack,
								    ARRAY_SIZE(unwound.stack), 0));
}

/* Does the stack go on to the function whose entry has called the trampoline? */
static bool unwound_callee(void)
{
	const unsigned long callee = (unsigned long)function_cost_callee;

	for (unsigned int i = 0; i < unwound.nr; i++) {
		if (unwound.stack[i] - callee < ENDBR_INSN_SIZE + MCOUNT_INSN_SIZE + 1)
			return true;
	}
	return false;
}

static int unwind_show(struct seq_file *m, void *v)
{
	struct ftrace_ops ops = { .func = unwind };
	int ret;

	guard(mutex)(&sites_mutex);
	ret = ftrace_set_filter_ip(&ops, (unsigned long)function_cost_callee, 0, 1) ?:
	      register_ftrace_function(&ops);
	if (!ret) {
		function_cost_callee();
		ret = unregister_ftrace_function(&ops);
	}
	ftrace_free_filter(&ops);
	if (ret)
		return ret;
	if (!unwound_callee())
		return -ENODATA;
	seq_printf(m, "%llu\n", unwound.cycles);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(unwind);

/* A tiny function of the kernel */
static asmlinkage void call_kernel(void)
{
	int_pow(0, 0);
}

/**
 * struct trap_case - calls of a function whose site is being switched
 * @function: which
 * @call: calls it
 * @nr: how often a breakpoint was found at its site
 * @cycles: what the calls took then
 */
struct trap_case {
	unsigned long	function;
	asmlinkage void	(*call)(void);
	unsigned int	nr;
	cycles_t	cycles[2];
};

static struct trap_case *trapping;
static struct trap_case trap_kernel = { (unsigned long)int_pow, call_kernel };
static struct trap_case trap_module = {
	(unsigned long)function_cost_callee, function_cost_callee,
};

static bool has_breakpoint(unsigned long function)
{
	return *(u8 *)(function + (is_endbr(*(u32 *)function) ? ENDBR_INSN_SIZE : 0)) == 0xcc;
}

/*
 * Processors are synchronised when the breakpoint is there, and when the bytes behind it
 * are the new ones: then the site still does what it did, and does what is to be. The
 * classic engine does the latter both times.
 */
static int at_sync(struct kprobe *probe, struct pt_regs *regs)
{
	struct trap_case *trap = trapping;

	if (trap->nr < ARRAY_SIZE(trap->cycles) && has_breakpoint(trap->function))
		trap->cycles[trap->nr++] = CYCLES(i, trap->call());
	return 0;
}

/* With one processor. On the way on @cycles[1] is the call, on the way off the NOP. */
static int trap_measure(struct seq_file *m, struct ftrace_ops *ops)
{
	struct trap_case *trap = m->private;
	cycles_t none = CYCLES(i, trap->call()), on;
	int ret;

	trap->nr = 0;
	ret = register_ftrace_function(ops);
	if (ret)
		return ret;
	on = trap->cycles[1] - CYCLES(i, trap->call());
	ret = trap->nr == 2 ? 0 : -ENODATA;
	trap->nr = 0;
	unregister_ftrace_function(ops);
	if (!ret)
		ret = trap->nr == 2 ? 0 : -ENODATA;
	if (!ret)
		seq_printf(m, "%llu %llu\n", trap->cycles[1] - none, on);
	return ret;
}

static int trap_show(struct seq_file *m, void *v)
{
	struct kprobe sync = { .symbol_name = "do_sync_core", .pre_handler = at_sync };
	struct ftrace_ops ops = { .func = nothing };
	int ret;

	guard(mutex)(&sites_mutex);
	trapping = m->private;
	ret = ftrace_set_filter_ip(&ops, trapping->function, 0, 1);
	if (!ret)
		ret = register_kprobe(&sync);
	if (!ret) {
		ret = trap_measure(m, &ops);
		unregister_kprobe(&sync);
	}
	ftrace_free_filter(&ops);
	return ret;
}
DEFINE_SHOW_ATTRIBUTE(trap);

static int at_probe(struct kprobe *probe, struct pt_regs *regs)
{
	return 0;
}

static int probe_show(struct seq_file *m, void *v)
{
	const unsigned long callee = (unsigned long)function_cost_callee;
	struct kprobe probe = { .pre_handler = at_probe };
	cycles_t none;
	int ret;

	guard(mutex)(&sites_mutex);
	none = CYCLES(i, function_cost_callee());
	/* Behind the site is the return: nothing that a jump could take the place of */
	probe.addr = (void *)callee + (is_endbr(*(u32 *)callee) ? ENDBR_INSN_SIZE : 0) +
		     MCOUNT_INSN_SIZE;
	ret = register_kprobe(&probe);
	if (ret)
		return ret;
	seq_printf(m, "%llu\n", CYCLES(i, function_cost_callee()) - none);
	unregister_kprobe(&probe);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(probe);

static struct dentry *dir;

static int __init function_cost_init(void)
{
	dir = debugfs_create_dir("function_cost", NULL);
	debugfs_create_file("calls", 0400, dir, NULL, &calls_fops);
	debugfs_create_file("sites", 0200, dir, NULL, &sites_fops);
	debugfs_create_file("switch", 0400, dir, NULL, &switch_fops);
	debugfs_create_file("find", 0400, dir, NULL, &find_fops);
	debugfs_create_file("ninth", 0400, dir, NULL, &ninth_fops);
	debugfs_create_file("crowd", 0200, dir, (void *)DIRECT, &crowd_fops);
	debugfs_create_file("tracers", 0200, dir, (void *)TRACERS, &crowd_fops);
	debugfs_create_file("users", 0200, dir, (void *)USERS, &crowd_fops);
	debugfs_create_file("unwind", 0400, dir, NULL, &unwind_fops);
	debugfs_create_file("trap", 0400, dir, &trap_kernel, &trap_fops);
	debugfs_create_file("trap_module", 0400, dir, &trap_module, &trap_fops);
	debugfs_create_file("probe", 0400, dir, NULL, &probe_fops);
	return 0;
}
module_init(function_cost_init);

static void __exit function_cost_exit(void)
{
	debugfs_remove(dir);
	kvfree(sites);
}
module_exit(function_cost_exit);

MODULE_DESCRIPTION("What function tracing costs");
MODULE_LICENSE("GPL");
