// SPDX-License-Identifier: GPL-2.0
/*
 * ops_test: what other kernel code can ask of function tracing, from a shell.
 *
 *   echo 'COMMAND OPS ARGUMENT' > /sys/module/ops_test/parameters/do
 *
 * does it, and ends with its error. OPS is a, b or c; what ARGUMENT is depends on
 * the command, see below.
 *
 *   cat /sys/module/ops_test/parameters/calls
 *
 * calls the functions f and g once each. For each OPS and each trampoline follows
 * how often that made it run for f, and for g.
 */
#include <linux/ftrace.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/string.h>

#include "width.h"

/* The functions to be traced: not what the compiler would do without */
asmlinkage int ops_test_f(void);
asmlinkage int ops_test_g(void);

asmlinkage noinline __noclone int ops_test_f(void)
{
	asm volatile("");
	return 1;
}

asmlinkage noinline __noclone int ops_test_g(void)
{
	asm volatile("");
	return 2;
}

/* In text, but not to be traced */
static notrace noinline int no_site(void)
{
	asm volatile("");
	return 3;
}

/* Which of them is being called: 0 or 1 */
unsigned int ops_test_called;

static struct counted_ops {
	struct ftrace_ops	ops;
	unsigned int		calls[2];
	unsigned long		direct;	/* the trampoline that is called instead */
} counted[3];

/* Is @ip the site of @func, which is within its first bytes? */
static __always_inline bool is_site_of(unsigned long ip, const void *func)
{
	return ip - (unsigned long)func < 16;
}

/* An ops without a filter is called by all other functions, too. */
static void notrace count(unsigned long ip, unsigned long parent_ip,
			  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct counted_ops *op = container_of(ops, struct counted_ops, ops);

	if (is_site_of(ip, ops_test_f))
		op->calls[0]++;
	else if (is_site_of(ip, ops_test_g))
		op->calls[1]++;
}

/* How often trampolines ran for either */
unsigned int ops_test_hits[2][2];

/*
 * A trampoline does nothing but count. It has the function's arguments in their
 * registers and returns into it; flags are nobody's at a function's entry.
 */
#define TRAMPOLINE(name, hits)						\
asmlinkage void name(void);						\
asm("	.pushsection .text, \"ax\", @progbits\n"		\
	ASM_FUNC_ALIGN "\n"						\
	"	.type	" #name ", @function\n"				\
	#name ":\n"							\
	ASM_ENDBR							\
	"	cmpl	$0, " MEMORY("ops_test_called") "\n"			\
	"	jne	1f\n"						\
	"	incl	" MEMORY("ops_test_hits + " #hits) "\n"		\
	ASM_RET								\
	"1:	incl	" MEMORY("ops_test_hits + " #hits " + 4") "\n"		\
	ASM_RET								\
	"	.size	" #name ", . - " #name "\n"			\
	"	.popsection\n")

TRAMPOLINE(ops_test_one, 0);
TRAMPOLINE(ops_test_two, 8);

static unsigned long address(const char *name)
{
	static const struct {
		const char	*name;
		const void	*addr;
	} known[] = {
		{ "f",		ops_test_f },
		{ "g",		ops_test_g },
		{ "one",	ops_test_one },
		{ "two",	ops_test_two },
		{ "text",	no_site },
		{ "data",	&ops_test_called },
		{ "user",	(void *)PAGE_SIZE },
		{ "last",	(void *)-1 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (!strcmp(known[i].name, name))
			return (unsigned long)known[i].addr;
	}
	return 0;
}

/* As if nothing had been done with it. ARGUMENT: a flag, or what it is to be */
static int do_new(struct ftrace_ops *ops, const char *arg)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return -EBUSY;
	ftrace_free_filter(ops);
	memset(ops, 0, sizeof(*ops));
	if (!strcmp(arg, "direct"))
		return 0;

	ops->func = count;
	if (!strcmp(arg, "ipmodify"))
		ops->flags = FTRACE_OPS_FL_IPMODIFY;
	else if (!strcmp(arg, "permanent"))
		ops->flags = FTRACE_OPS_FL_PERMANENT;
	else if (!strcmp(arg, "deleted"))
		ops->flags = FTRACE_OPS_FL_DELETED;
	else if (*arg)
		return -ENOTTY;
	return 0;
}

/* ARGUMENT: an address by name */
static int do_ip(struct ftrace_ops *ops, const char *arg)
{
	return ftrace_set_filter_ip(ops, address(arg), 0, 0);
}

static int do_only_ip(struct ftrace_ops *ops, const char *arg)
{
	return ftrace_set_filter_ip(ops, address(arg), 0, 1);
}

static int do_not_ip(struct ftrace_ops *ops, const char *arg)
{
	return ftrace_set_filter_ip(ops, address(arg), 1, 0);
}

/* f and another at once */
static int set_two_ips(struct ftrace_ops *ops, const char *arg, int remove)
{
	unsigned long ips[] = { address("f"), address(arg) };

	return ftrace_set_filter_ips(ops, ips, ARRAY_SIZE(ips), remove, 0);
}

static int do_ips(struct ftrace_ops *ops, const char *arg)
{
	return set_two_ips(ops, arg, 0);
}

static int do_not_ips(struct ftrace_ops *ops, const char *arg)
{
	return set_two_ips(ops, arg, 1);
}

/* ARGUMENT: a pattern of names. It may be written to. */
static int do_filter(struct ftrace_ops *ops, const char *arg)
{
	return ftrace_set_filter(ops, (unsigned char *)arg, strlen(arg), 0);
}

static int do_only_filter(struct ftrace_ops *ops, const char *arg)
{
	return ftrace_set_filter(ops, (unsigned char *)arg, strlen(arg), 1);
}

static int do_no_filter(struct ftrace_ops *ops, const char *arg)
{
	return ftrace_set_filter(ops, NULL, 0, 1);
}

static int do_notrace(struct ftrace_ops *ops, const char *arg)
{
	return ftrace_set_notrace(ops, (unsigned char *)arg, strlen(arg), 0);
}

static int do_free(struct ftrace_ops *ops, const char *arg)
{
	ftrace_free_filter(ops);
	return 0;
}

static int do_register(struct ftrace_ops *ops, const char *arg)
{
	return register_ftrace_function(ops);
}

static int do_unregister(struct ftrace_ops *ops, const char *arg)
{
	return unregister_ftrace_function(ops);
}

static int note_direct(struct ftrace_ops *ops, unsigned long addr, int err)
{
	if (!err)
		container_of(ops, struct counted_ops, ops)->direct = addr;
	return err;
}

/* ARGUMENT: a trampoline by name */
static int do_direct(struct ftrace_ops *ops, const char *arg)
{
	return note_direct(ops, address(arg), register_ftrace_direct(ops, address(arg)));
}

static int do_not_direct(struct ftrace_ops *ops, const char *arg)
{
	return unregister_ftrace_direct(ops, address(arg), false);
}

static int do_modify_direct(struct ftrace_ops *ops, const char *arg)
{
	return note_direct(ops, address(arg), modify_ftrace_direct(ops, address(arg)));
}

static const struct {
	const char	*name;
	int		(*func)(struct ftrace_ops *ops, const char *arg);
} commands[] = {
	{ "new",		do_new },
	{ "ip",			do_ip },
	{ "only-ip",		do_only_ip },
	{ "not-ip",		do_not_ip },
	{ "ips",		do_ips },
	{ "not-ips",		do_not_ips },
	{ "filter",		do_filter },
	{ "only-filter",	do_only_filter },
	{ "no-filter",		do_no_filter },
	{ "notrace",		do_notrace },
	{ "free",		do_free },
	{ "register",		do_register },
	{ "unregister",		do_unregister },
	{ "direct",		do_direct },
	{ "not-direct",		do_not_direct },
	{ "modify-direct",	do_modify_direct },
};

/* -ENOTTY: it was no command. None of those gives this error. */
static int set_do(const char *val, const struct kernel_param *kp)
{
	char command[16] = "", ops = 0, arg[64] = "";
	int i;

	if (sscanf(val, "%15s %c %63s", command, &ops, arg) < 2 || ops < 'a' || ops > 'c')
		return -ENOTTY;
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i].name, command))
			return commands[i].func(&counted[ops - 'a'].ops, arg);
	}
	return -ENOTTY;
}

static int get_calls(char *buffer, const struct kernel_param *kp)
{
	int i, len = 0;

	for (i = 0; i < ARRAY_SIZE(counted); i++)
		memset(counted[i].calls, 0, sizeof(counted[i].calls));
	memset(ops_test_hits, 0, sizeof(ops_test_hits));

	WRITE_ONCE(ops_test_called, 0);
	if (ops_test_f() != 1)
		return -EIO;
	WRITE_ONCE(ops_test_called, 1);
	if (ops_test_g() != 2)
		return -EIO;

	for (i = 0; i < ARRAY_SIZE(counted); i++)
		len += sprintf(buffer + len, "%c %u %u ", 'a' + i, counted[i].calls[0],
			       counted[i].calls[1]);
	return len + sprintf(buffer + len, "one %u %u two %u %u\n", ops_test_hits[0][0],
			     ops_test_hits[0][1], ops_test_hits[1][0], ops_test_hits[1][1]);
}

static const struct kernel_param_ops do_ops = { .set = set_do };
static const struct kernel_param_ops calls_ops = { .get = get_calls };

module_param_cb(do, &do_ops, NULL, 0200);
module_param_cb(calls, &calls_ops, NULL, 0400);

static int __init ops_test_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(counted); i++)
		counted[i].ops.func = count;
	return 0;
}

static void __exit ops_test_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(counted); i++) {
		struct ftrace_ops *ops = &counted[i].ops;

		if (ops->flags & FTRACE_OPS_FL_DIRECT)
			unregister_ftrace_direct(ops, counted[i].direct, false);
		else if (ops->flags & FTRACE_OPS_FL_ENABLED)
			unregister_ftrace_function(ops);
		ftrace_free_filter(ops);
	}
}

module_init(ops_test_init);
module_exit(ops_test_exit);
MODULE_DESCRIPTION("Calls into function tracing, from a shell");
MODULE_LICENSE("GPL");
