// SPDX-License-Identifier: GPL-2.0
/*
 * held_ops: ops for the function of held_function, in which a task is held. Files in debugfs
 * under held_ops/:
 *
 *   hold     1: hold the next task; it is 2 while one is held; 0: let it go on
 *   do       write: a command
 *
 * The commands:
 *
 *   attach SHAPE    register ops: one; many (four, the second of which holds the task); regs
 *                   (with all registers); direct; both (a callback holds the task, on its way
 *                   to a direct call); entry and return (of function_graph)
 *   detach          unregister and free them
 *   other           register one more, so that the function gets another trampoline
 *   not-other       unregister that
 *   redirect        have the direct call go elsewhere
 *
 * What is freed is overwritten first. The two functions of function_graph are for nobody but
 * the kernel: the parameters are their addresses in /proc/kallsyms.
 */
#include <linux/debugfs.h>
#include <linux/ftrace.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/poison.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/ibt.h>
#include <asm/linkage.h>

#include "width.h"

static unsigned long register_graph, unregister_graph;
module_param(register_graph, ulong, 0);
module_param(unregister_graph, ulong, 0);

/* What a task that comes is to do, and what one does */
enum { PASS, HOLD, HELD };
static u32 hold;

/* It must not sleep: then it would be known to have left. */
asmlinkage void held_ops_hold(void);

asmlinkage notrace void held_ops_hold(void)
{
	if (cmpxchg(&hold, HOLD, HELD) != HOLD)
		return;
	while (READ_ONCE(hold) == HELD)
		cpu_relax();
}

static void notrace callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			     struct ftrace_regs *fregs)
{
	if (ops->private)
		held_ops_hold();
}

/* Entered and left as if the function were called: all arguments are as they were. */
#define TRAMPOLINE(name)						\
asmlinkage void name(void);						\
asm("	.pushsection .text, \"ax\", @progbits\n"			\
	ASM_FUNC_ALIGN "\n"						\
"	.type	" #name ", @function\n"					\
#name ":\n"								\
	ASM_ENDBR							\
	SAVE_ARGUMENTS							\
"	call	held_ops_hold\n"					\
	RESTORE_ARGUMENTS						\
	ASM_RET								\
"	.size	" #name ", . - " #name "\n"				\
"	.popsection\n")

TRAMPOLINE(held_ops_one);
TRAMPOLINE(held_ops_two);

static int graph_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
		       struct ftrace_regs *fregs)
{
	if (gops->private)
		held_ops_hold();
	return 1;
}

static void graph_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	if (!gops->private)
		held_ops_hold();
}

#define NR_OPS	4

static struct ftrace_ops *attached[NR_OPS], *direct, *other;
static struct fgraph_ops *graph;
static unsigned long called;

static int on_function(struct ftrace_ops *ops)
{
	static const char name[] = "held_function";
	unsigned char buf[sizeof(name)];

	memcpy(buf, name, sizeof(name));
	return ftrace_set_filter(ops, buf, sizeof(name) - 1, 1);
}

static void ops_free(struct ftrace_ops *ops)
{
	ftrace_free_filter(ops);
	memset(ops, POISON_FREE, sizeof(*ops));
	kfree(ops);
}

/* One that holds, or not; @flags: FTRACE_OPS_FL_* */
static int ops_attach(struct ftrace_ops **where, bool holds, unsigned long flags)
{
	struct ftrace_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	int ret;

	if (!ops)
		return -ENOMEM;
	ops->func = callback;
	ops->flags = flags;
	ops->private = holds ? ops : NULL;
	ret = on_function(ops) ?: register_ftrace_function(ops);
	if (ret)
		ops_free(ops);
	else
		*where = ops;
	return ret;
}

static void ops_detach(struct ftrace_ops **where)
{
	if (!*where)
		return;
	unregister_ftrace_function(*where);
	ops_free(*where);
	*where = NULL;
}

static int direct_attach(void)
{
	struct ftrace_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	int ret;

	if (!ops)
		return -ENOMEM;
	called = (unsigned long)held_ops_one;
	ret = on_function(ops) ?: register_ftrace_direct(ops, called);
	if (ret)
		ops_free(ops);
	else
		direct = ops;
	return ret;
}

static void direct_detach(void)
{
	if (!direct)
		return;
	unregister_ftrace_direct(direct, called, false);
	ops_free(direct);
	direct = NULL;
}

static int graph_attach(bool entry)
{
	int (*attach)(struct fgraph_ops *gops) = (void *)register_graph;
	struct fgraph_ops *gops;
	int ret;

	if (!register_graph || !unregister_graph)
		return -EOPNOTSUPP;
	gops = kzalloc(sizeof(*gops), GFP_KERNEL);
	if (!gops)
		return -ENOMEM;
	gops->entryfunc = graph_entry;
	gops->retfunc = graph_return;
	gops->private = entry ? gops : NULL;
	ret = on_function(&gops->ops) ?: attach(gops);
	if (ret)
		kfree(gops);
	else
		graph = gops;
	return ret;
}

static void graph_detach(void)
{
	void (*detach)(struct fgraph_ops *gops) = (void *)unregister_graph;

	if (!graph)
		return;
	detach(graph);
	/* Who frees them waits: all others are part of the kernel, or of an instance. */
	synchronize_rcu_tasks();
	ftrace_free_filter(&graph->ops);
	memset(graph, POISON_FREE, sizeof(*graph));
	kfree(graph);
	graph = NULL;
}

static int do_attach(const char *shape)
{
	int ret = 0;

	if (!strcmp(shape, "one"))
		return ops_attach(&attached[0], true, 0);
	if (!strcmp(shape, "regs"))
		return ops_attach(&attached[0], true, FTRACE_OPS_FL_SAVE_REGS);
	if (!strcmp(shape, "many")) {
		/* The latest is called first. */
		for (int i = 0; i < NR_OPS && !ret; i++)
			ret = ops_attach(&attached[i], i == NR_OPS - 2, 0);
		return ret;
	}
	if (!strcmp(shape, "direct"))
		return direct_attach();
	if (!strcmp(shape, "both"))
		return direct_attach() ?: ops_attach(&attached[0], true, 0);
	if (!strcmp(shape, "entry") || !strcmp(shape, "return"))
		return graph_attach(*shape == 'e');
	return -ENOTTY;
}

static void detach_all(void)
{
	/* What is called directly first: a task that another ops holds is on its way there. */
	direct_detach();
	for (int i = 0; i < NR_OPS; i++)
		ops_detach(&attached[i]);
	graph_detach();
	ops_detach(&other);
}

static int do_redirect(void)
{
	if (!direct)
		return -EINVAL;
	called = (unsigned long)held_ops_two;
	return modify_ftrace_direct(direct, called);
}

static ssize_t do_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char text[32], command[16], shape[16] = "";
	ssize_t ret;

	ret = simple_write_to_buffer(text, sizeof(text) - 1, ppos, ubuf, cnt);
	if (ret < 0)
		return ret;
	text[ret] = 0;
	if (sscanf(text, "%15s %15s", command, shape) < 1)
		return -ENOTTY;

	ret = 0;
	if (!strcmp(command, "attach"))
		ret = do_attach(shape);
	else if (!strcmp(command, "detach"))
		detach_all();
	else if (!strcmp(command, "other"))
		ret = ops_attach(&other, false, 0);
	else if (!strcmp(command, "not-other"))
		ops_detach(&other);
	else if (!strcmp(command, "redirect"))
		ret = do_redirect();
	else
		ret = -ENOTTY;
	return ret ?: cnt;
}

static const struct file_operations do_fops = {
	.open	= simple_open,
	.write	= do_write,
};

static struct dentry *dir;

static int __init held_ops_init(void)
{
	dir = debugfs_create_dir("held_ops", NULL);
	debugfs_create_u32("hold", 0600, dir, &hold);
	debugfs_create_file("do", 0200, dir, NULL, &do_fops);
	return 0;
}
module_init(held_ops_init);

static void __exit held_ops_exit(void)
{
	/* The task may be let go on meanwhile. */
	detach_all();
	debugfs_remove(dir);
}
module_exit(held_ops_exit);

MODULE_DESCRIPTION("Ops that hold a task");
MODULE_LICENSE("GPL");
