// SPDX-License-Identifier: GPL-2.0
/*
 * direct_many: has many functions call a trampoline each directly; files in debugfs under
 * direct_many/:
 *
 *   sites     write, at once: addresses of function entries, one a line; before that it is
 *             the module that has the functions
 *   do        write: COMMAND FIRST NR SHIFT, for NR sites from the FIRST on. What is meant
 *             for the i'th site is trampoline i + SHIFT.
 *   cycles    read: cycles of the time stamp counter that the last command took
 *   calls     read: which trampolines run when the functions of the module are called, as
 *             "FIRST-LAST SHIFT" with "none" for those that have none, on one line
 *
 * COMMAND is add, mod or del; the same with something wrong in what is asked for, so that
 * it is refused: add, mod or del followed by -twice (the last function is there twice),
 * -nowhere (another one has no site) or -data (the last is to call something that is not
 * text); or other-add and other-del, by another ops. ipmodify and not-ipmodify have a third
 * ops that changes where functions go on at site FIRST.
 */
#include <linux/debugfs.h>
#include <linux/ftrace_direct.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/stringify.h>
#include <linux/timex.h>

#include <asm/ibt.h>
#include <asm/linkage.h>

#include "sites.h"
#include "width.h"

#define NR_TRAMPOLINES	10000
#define NR_OWN		1000

/* Which trampoline ran last, and how many did */
unsigned int direct_many_last, direct_many_hits;

extern const u8 direct_many_t0[], direct_many_end[];

/* Each has a name of its own, and says its number. All have the same size. */
asm("	.pushsection .text, \"ax\", @progbits\n"
"	.altmacro\n"
"	.macro	direct_many_trampoline nr\n"
"	.type	direct_many_t\\nr, @function\n"
"direct_many_t\\nr:\n"
	ASM_ENDBR
"	lock incl " MEMORY("direct_many_hits") "\n"
"	movl	$\\nr, " MEMORY("direct_many_last") "\n"
	ASM_RET
"	.size	direct_many_t\\nr, . - direct_many_t\\nr\n"
	ASM_FUNC_ALIGN "\n"
"	.endm\n"
	ASM_FUNC_ALIGN "\n"
"	.set	direct_many_nr, 0\n"
"	.rept	" __stringify(NR_TRAMPOLINES) "\n"
"	direct_many_trampoline %direct_many_nr\n"
"	.set	direct_many_nr, direct_many_nr + 1\n"
"	.endr\n"
"direct_many_end:\n"
"	int3\n"	/* Keeps this name off the function that comes next. */
"	.noaltmacro\n"
"	.popsection\n");

/* The functions of the module */
#define TEN(_, a, b)							\
	_(a, b, 0) _(a, b, 1) _(a, b, 2) _(a, b, 3) _(a, b, 4)		\
	_(a, b, 5) _(a, b, 6) _(a, b, 7) _(a, b, 8) _(a, b, 9)
#define HUNDRED(_, a)							\
	TEN(_, a, 0) TEN(_, a, 1) TEN(_, a, 2) TEN(_, a, 3) TEN(_, a, 4)	\
	TEN(_, a, 5) TEN(_, a, 6) TEN(_, a, 7) TEN(_, a, 8) TEN(_, a, 9)
#define THOUSAND(_)							\
	HUNDRED(_, 0) HUNDRED(_, 1) HUNDRED(_, 2) HUNDRED(_, 3) HUNDRED(_, 4)	\
	HUNDRED(_, 5) HUNDRED(_, 6) HUNDRED(_, 7) HUNDRED(_, 8) HUNDRED(_, 9)

#define FUNCTION(a, b, c)						\
static noinline __noclone void direct_many_##a##b##c(void)		\
{									\
	barrier();							\
}
THOUSAND(FUNCTION)

#define ENTRY(a, b, c)	direct_many_##a##b##c,
static void (*const own[NR_OWN])(void) = { THOUSAND(ENTRY) };

static struct ftrace_ops direct, other;

static void notrace nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
}

static struct ftrace_ops ipmodify = { .func = nothing, .flags = FTRACE_OPS_FL_IPMODIFY };

static unsigned long trampoline(unsigned int nr)
{
	const size_t size = (direct_many_end - direct_many_t0) / NR_TRAMPOLINES;

	return (unsigned long)direct_many_t0 + nr % NR_TRAMPOLINES * size;
}

static int hash_fill(struct ftrace_hash *hash, const char *wrong, unsigned int first,
		     unsigned int nr, unsigned int shift)
{
	const unsigned long data = (unsigned long)&direct_many_last;
	unsigned long addr;

	for (unsigned int i = first; i < first + nr; i++) {
		addr = trampoline(i + shift);
		if (i == first + nr - 1 && !strcmp(wrong, "-data"))
			addr = data;
		if (!add_ftrace_hash_entry_direct(hash, sites[i], addr))
			return -ENOMEM;
	}
	if (!strcmp(wrong, "-twice") &&
	    !add_ftrace_hash_entry_direct(hash, sites[first + nr - 1], trampoline(0)))
		return -ENOMEM;
	if (!strcmp(wrong, "-nowhere") &&
	    !add_ftrace_hash_entry_direct(hash, trampoline(0), trampoline(0)))
		return -ENOMEM;
	return 0;
}

static int update_mod(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	return update_ftrace_direct_mod(ops, hash, true);
}

static const struct {
	const char		*name;
	struct ftrace_ops	*ops;
	int			(*update)(struct ftrace_ops *ops, struct ftrace_hash *hash);
} commands[] = {
	{ "add",	&direct,	update_ftrace_direct_add },
	{ "mod",	&direct,	update_mod },
	{ "del",	&direct,	update_ftrace_direct_del },
	{ "other-add",	&other,		update_ftrace_direct_add },
	{ "other-del",	&other,		update_ftrace_direct_del },
};

static cycles_t cycles;

/* -ENOTTY: it was no command. None of those gives this error. */
static int update(const char *command, unsigned int first, unsigned int nr, unsigned int shift)
{
	struct ftrace_hash *hash;
	const char *wrong;
	cycles_t start;
	int i, ret;

	for (i = ARRAY_SIZE(commands) - 1; i >= 0; i--) {
		if (strstarts(command, commands[i].name))
			break;
	}
	if (i < 0)
		return -ENOTTY;
	wrong = command + strlen(commands[i].name);

	hash = alloc_ftrace_hash(FTRACE_HASH_DEFAULT_BITS);
	if (!hash)
		return -ENOMEM;
	ret = hash_fill(hash, wrong, first, nr, shift);
	if (!ret) {
		start = get_cycles();
		ret = commands[i].update(commands[i].ops, hash);
		cycles = get_cycles() - start;
	}
	free_ftrace_hash(hash);
	return ret;
}

static ssize_t do_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	unsigned int first, nr = 1, shift = 0;
	char text[64], command[16];
	ssize_t ret;

	ret = simple_write_to_buffer(text, sizeof(text) - 1, ppos, ubuf, cnt);
	if (ret < 0)
		return ret;
	text[ret] = 0;
	if (sscanf(text, "%15s %u %u %u", command, &first, &nr, &shift) < 2)
		return -ENOTTY;

	guard(mutex)(&sites_mutex);
	if (first > nr_sites || nr > nr_sites - first)
		return -ERANGE;
	if (!strcmp(command, "ipmodify"))
		ret = ftrace_set_filter_ip(&ipmodify, sites[first], 0, 1) ?:
		      register_ftrace_function(&ipmodify);
	else if (!strcmp(command, "not-ipmodify"))
		ret = unregister_ftrace_function(&ipmodify);
	else
		ret = update(command, first, nr, shift);
	return ret ?: cnt;
}

static const struct file_operations do_fops = {
	.open	= simple_open,
	.write	= do_write,
};

static int cycles_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%llu\n", cycles);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cycles);

/* By how much the number of the one trampoline that ran is above that of the function */
static int called_shift(unsigned int i)
{
	direct_many_hits = 0;
	own[i]();
	if (READ_ONCE(direct_many_hits) > 1)
		return -EINVAL;
	return READ_ONCE(direct_many_hits) ?
	       (READ_ONCE(direct_many_last) + NR_TRAMPOLINES - i) % NR_TRAMPOLINES : -ENOENT;
}

static int calls_show(struct seq_file *m, void *v)
{
	int shift, next = called_shift(0);
	unsigned int first = 0;

	for (unsigned int i = 0; i < NR_OWN; i++) {
		shift = next;
		next = i + 1 < NR_OWN ? called_shift(i + 1) : INT_MAX;
		if (shift == next)
			continue;
		seq_printf(m, "%s%u-%u ", first ? " " : "", first, i);
		if (shift >= 0)
			seq_printf(m, "%d", shift);
		else
			seq_puts(m, shift == -ENOENT ? "none" : "several");
		first = i + 1;
	}
	seq_putc(m, '\n');
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(calls);

static struct dentry *dir;

static int __init direct_many_init(void)
{
	sites = kvmalloc_array(NR_OWN, sizeof(*sites), GFP_KERNEL);
	if (!sites)
		return -ENOMEM;
	for (nr_sites = 0; nr_sites < NR_OWN; nr_sites++)
		sites[nr_sites] = (unsigned long)own[nr_sites];

	dir = debugfs_create_dir("direct_many", NULL);
	debugfs_create_file("sites", 0200, dir, NULL, &sites_fops);
	debugfs_create_file("do", 0200, dir, NULL, &do_fops);
	debugfs_create_file("cycles", 0400, dir, NULL, &cycles_fops);
	debugfs_create_file("calls", 0400, dir, NULL, &calls_fops);
	return 0;
}
module_init(direct_many_init);

static void __exit direct_many_exit(void)
{
	debugfs_remove(dir);
	if (direct.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_direct(&direct, 0, true);
	if (other.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_direct(&other, 0, true);
	if (ipmodify.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&ipmodify);
	ftrace_free_filter(&ipmodify);
	/* Tasks may be in a trampoline that is called no more. */
	synchronize_rcu_tasks();
	kvfree(sites);
}
module_exit(direct_many_exit);

MODULE_DESCRIPTION("Many functions with a direct call each");
MODULE_LICENSE("GPL");
