// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of filters, ops sets, and of what callbacks get */
#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/ftrace_direct.h>
#include <linux/glob.h>
#include <linux/kthread.h>
#include <linux/stacktrace.h>
#include <asm/cpufeature.h>

#include "fentry_test.h"
#include "filter.h"
#include "names.h"
#include "ops.h"
#include "set.h"

/* Sets cannot be made any more, as without memory, so that one is shared; or they can again. */
void fentry_test_share_sets(bool share)
{
	guard(mutex)(&ftrace_lock);
	fentry_sets_max = share ? 0 : TEXT_TARGET_MAX / 2;
}

/* What an assertion has ended may have left sets shared. */
void fentry_test_exit(struct kunit *test)
{
	fentry_test_share_sets(false);
}

/* A test has ended, perhaps by an assertion, and its ops is freed. */
static void ops_goes(void *data)
{
	struct ftrace_ops *ops = data;

	if (ops->flags & FTRACE_OPS_FL_ENABLED) {
		if (ops->flags & FTRACE_OPS_FL_DIRECT)
			unregister_ftrace_direct(ops, 0, true);
		else
			unregister_ftrace_function(ops);
	}
	ftrace_free_filter(ops);
}

/* @ops of the test, allocated for it, is to be called at the entry at @addr when registered. */
void fentry_test_ops_at(struct kunit *test, struct ftrace_ops *ops, ftrace_func_t func,
			unsigned long addr)
{
	ops->func = func;
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, ops_goes, ops), 0);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(ops, addr, 0, 1), 0);
}

static struct fentry_filter *filter_of(struct kunit *test, const unsigned long *ip,
				       unsigned int nr)
{
	struct fentry_filter *filter = fentry_filter_new(ip, nr);

	KUNIT_ASSERT_NOT_NULL(test, filter);
	return filter;
}

#define FILTER(_test, ...)						\
	filter_of(_test, (const unsigned long[]){ __VA_ARGS__ },	\
		  ARRAY_SIZE(((const unsigned long[]){ __VA_ARGS__ })))

#define EXPECT_FILTER(_test, _filter, ...)				\
	do {								\
		const unsigned long ip_[] = { __VA_ARGS__ };		\
									\
		KUNIT_EXPECT_EQ(_test, (_filter)->hash.count, ARRAY_SIZE(ip_)); \
		KUNIT_EXPECT_EQ(_test, memcmp((_filter)->ip, ip_, sizeof(ip_)), 0); \
	} while (0)

static void test_filter_new(struct kunit *test)
{
	struct fentry_filter *filter = FILTER(test, 30, 10, 20, 10, 30);

	EXPECT_FILTER(test, filter, 10, 20, 30);
	KUNIT_EXPECT_NOT_NULL(test, ftrace_lookup_ip(&filter->hash, 10));
	KUNIT_EXPECT_EQ(test, ftrace_lookup_ip(&filter->hash, 30)->ip, 30);
	KUNIT_EXPECT_NULL(test, ftrace_lookup_ip(&filter->hash, 15));
	KUNIT_EXPECT_NULL(test, ftrace_lookup_ip(&filter->hash, 0));
	KUNIT_EXPECT_NULL(test, ftrace_lookup_ip(NULL, 10));
	kvfree(filter);
}

static void test_filter_union(struct kunit *test)
{
	struct fentry_filter *a = FILTER(test, 10, 20, 40), *b = FILTER(test, 5, 20, 30, 50);
	struct fentry_filter *both = fentry_filter_union(a, b);
	struct fentry_filter *same = fentry_filter_union(a, NULL);
	struct fentry_filter *other = fentry_filter_union(NULL, b);
	struct fentry_filter *none = fentry_filter_union(NULL, NULL);

	EXPECT_FILTER(test, both, 5, 10, 20, 30, 40, 50);
	EXPECT_FILTER(test, same, 10, 20, 40);
	EXPECT_FILTER(test, other, 5, 20, 30, 50);
	KUNIT_EXPECT_TRUE(test, ftrace_hash_empty(&none->hash));
	kvfree(a);
	kvfree(b);
	kvfree(both);
	kvfree(same);
	kvfree(other);
	kvfree(none);
}

static void test_filter_subtract(struct kunit *test)
{
	struct fentry_filter *a = FILTER(test, 10, 20, 30, 40), *b = FILTER(test, 5, 20, 40, 50);
	struct fentry_filter *rest = fentry_filter_subtract(a, b);
	struct fentry_filter *same = fentry_filter_subtract(a, NULL), *none;

	EXPECT_FILTER(test, rest, 10, 30);
	EXPECT_FILTER(test, same, 10, 20, 30, 40);
	none = fentry_filter_subtract(rest, a);
	KUNIT_EXPECT_EQ(test, none->hash.count, 0);
	KUNIT_EXPECT_TRUE(test, ftrace_hash_empty(&none->hash));
	kvfree(a);
	kvfree(b);
	kvfree(rest);
	kvfree(same);
	kvfree(none);
}

/* A result has the flags of the first filter. */
/* Pairs of a site and what it calls */
static struct fentry_filter *calls_of(const unsigned long *pairs, unsigned int nr)
{
	struct ftrace_hash *hash = alloc_ftrace_hash(FTRACE_HASH_DEFAULT_BITS);
	struct fentry_filter *filter;

	for (unsigned int i = 0; hash && i < nr; i += 2) {
		if (!add_ftrace_hash_entry_direct(hash, pairs[i], pairs[i + 1]))
			break;
	}
	filter = hash ? fentry_filter_new_direct(hash) : ERR_PTR(-ENOMEM);
	free_ftrace_hash(hash);
	return filter;
}

#define CALLS(...)							\
	calls_of((const unsigned long[]){ __VA_ARGS__ },		\
		 ARRAY_SIZE(((const unsigned long[]){ __VA_ARGS__ })))

static void expect_calls(struct kunit *test, struct fentry_filter *filter,
			 const unsigned long *pairs, unsigned int nr)
{
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(filter));
	KUNIT_ASSERT_EQ(test, filter->hash.count, nr / 2);
	for (unsigned int i = 0; i < nr / 2; i++) {
		KUNIT_EXPECT_EQ(test, filter->ip[i], pairs[2 * i]);
		KUNIT_EXPECT_EQ(test, filter->direct[i], pairs[2 * i + 1]);
	}
	kvfree(filter);
}

#define EXPECT_CALLS(_test, _filter, ...)				\
	expect_calls(_test, _filter, (const unsigned long[]){ __VA_ARGS__ },	\
		     ARRAY_SIZE(((const unsigned long[]){ __VA_ARGS__ })))

static void test_filter_direct(struct kunit *test)
{
	struct fentry_filter *a = CALLS(20, 2, 10, 1, 40, 4), *b = CALLS(20, 7, 30, 3);
	struct fentry_filter *plain = FILTER(test, 20, 50);

	KUNIT_EXPECT_EQ(test, fentry_filter_direct(&a->hash, 20), 2);
	KUNIT_EXPECT_EQ(test, fentry_filter_direct(&a->hash, 30), 0);
	KUNIT_EXPECT_EQ(test, fentry_filter_direct(&plain->hash, 20), 0);
	KUNIT_EXPECT_EQ(test, fentry_filter_direct(NULL, 20), 0);

	EXPECT_CALLS(test, fentry_filter_union(a, b), 10, 1, 20, 7, 30, 3, 40, 4);
	EXPECT_CALLS(test, fentry_filter_union(b, a), 10, 1, 20, 2, 30, 3, 40, 4);
	EXPECT_CALLS(test, fentry_filter_union(a, plain), 10, 1, 20, 2, 40, 4, 50, 0);
	EXPECT_CALLS(test, fentry_filter_subtract(a, b), 10, 1, 40, 4);
	EXPECT_CALLS(test, fentry_filter_subtract(a, plain), 10, 1, 40, 4);
	EXPECT_CALLS(test, fentry_filter_copy(&a->hash), 10, 1, 20, 2, 40, 4);
	EXPECT_CALLS(test, fentry_filter_redirect(a, 9), 10, 9, 20, 9, 40, 9);
	EXPECT_CALLS(test, fentry_filter_redirect(plain, 9), 20, 9, 50, 9);
	KUNIT_EXPECT_EQ(test, PTR_ERR(CALLS(20, 1, 10, 1, 20, 1)), -EINVAL);
	kvfree(a);
	kvfree(b);
	kvfree(plain);
}

static void test_filter_flags(struct kunit *test)
{
	struct fentry_filter *a = FILTER(test, 10), *b = FILTER(test, 20), *copy, *both;

	a->hash.flags = FTRACE_HASH_FL_MOD;
	copy = fentry_filter_copy(&a->hash);
	both = fentry_filter_union(b, a);
	EXPECT_FILTER(test, copy, 10);
	KUNIT_EXPECT_EQ(test, copy->hash.flags, FTRACE_HASH_FL_MOD);
	KUNIT_EXPECT_EQ(test, both->hash.flags, 0);
	kvfree(a);
	kvfree(b);
	kvfree(copy);
	kvfree(both);
}

static void test_filter_change(struct kunit *test)
{
	struct fentry_filter *filter = FILTER(test, 10, 30);

	KUNIT_EXPECT_EQ(test, fentry_filter_change(&filter, (unsigned long[]){ 40, 20, 40 }, 3,
						   false), 0);
	EXPECT_FILTER(test, filter, 10, 20, 30, 40);
	KUNIT_EXPECT_EQ(test, fentry_filter_change(&filter, (unsigned long[]){ 30, 15 }, 2,
						   true), 0);
	EXPECT_FILTER(test, filter, 10, 20, 40);
	kvfree(filter);
}

static void test_filters_overlap(struct kunit *test)
{
	struct fentry_filter *a = FILTER(test, 10, 20, 30), *b = FILTER(test, 30);
	struct fentry_filter *c = FILTER(test, 5, 15, 25, 35);

	KUNIT_EXPECT_TRUE(test, fentry_filters_overlap(&a->hash, &b->hash));
	KUNIT_EXPECT_TRUE(test, fentry_filters_overlap(&b->hash, &a->hash));
	KUNIT_EXPECT_FALSE(test, fentry_filters_overlap(&a->hash, &c->hash));
	KUNIT_EXPECT_FALSE(test, fentry_filters_overlap(&a->hash, NULL));
	KUNIT_EXPECT_FALSE(test, fentry_filters_overlap(NULL, &a->hash));
	kvfree(a);
	kvfree(b);
	kvfree(c);
}

/* How many sites match, or an error */
static int match(const char *pattern, const char *module)
{
	struct fentry_filter *filter __free(kvfree) = fentry_filter_copy(NULL);
	int ret;

	guard(mutex)(&ftrace_lock);
	ret = filter ? fentry_match(&filter, pattern, module) : -ENOMEM;
	return ret ?: filter->hash.count;
}

static void test_match(struct kunit *test)
{
	int all = match("*", NULL), in_modules;

	KUNIT_EXPECT_GT(test, all, 1000);
	KUNIT_EXPECT_EQ(test, match("vfs_read", NULL), 1);
	KUNIT_EXPECT_EQ(test, match("vfs_read*", NULL), match("vfs_rea[d]*", NULL));
	KUNIT_EXPECT_EQ(test, match("*vfs_read", NULL), match("*vfs_?ead", NULL));
	KUNIT_EXPECT_EQ(test, match("!vfs_read", NULL), 0);
	KUNIT_EXPECT_EQ(test, match("vfs_rea", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, match("", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, match("1", NULL), 1);
	KUNIT_EXPECT_EQ(test, match("0", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, match("1x", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, match("99999999", NULL), -EINVAL);

	/* Modules: any, none, all but one */
	KUNIT_EXPECT_EQ(test, match("vfs_read", "*"), -EINVAL);
	KUNIT_EXPECT_EQ(test, match("vfs_read", "!*"), 1);
	KUNIT_EXPECT_EQ(test, match("vfs_read", "!"), 1);
	KUNIT_EXPECT_EQ(test, match("vfs_read", "!no_such"), 1);
	KUNIT_EXPECT_EQ(test, match("", "!no_such"), all);
	in_modules = match("", "");
	KUNIT_EXPECT_EQ(test, max(in_modules, 0) + match("", "!"), all);
	KUNIT_EXPECT_EQ(test, match("*", "no_such"), -EINVAL);
}

/* What a callback sees */
struct seen {
	struct ftrace_ops	ops;
	unsigned int		calls, turn;
	unsigned long		ip, parent_ip, arg[6];
	unsigned long		at_sp;
	bool			has_regs, has_args, found_caller;
	struct pt_regs		regs;
};

static unsigned int turns;

static void see(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		struct ftrace_regs *fregs)
{
	struct seen *seen = container_of(ops, struct seen, ops);
	unsigned long stack[16];
	unsigned int i, nr;

	seen->calls++;
	seen->turn = ++turns;
	seen->ip = ip;
	seen->parent_ip = parent_ip;
	seen->has_regs = ftrace_get_regs(fregs);
	seen->has_args = IS_ENABLED(CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS) || seen->has_regs;
	for (i = 0; i < 6 && seen->has_args; i++)
		seen->arg[i] = ftrace_regs_get_argument(fregs, i);
	if (seen->has_regs) {
		seen->regs = *ftrace_get_regs(fregs);
		seen->at_sp = *(unsigned long *)seen->regs.sp;
	}

	nr = stack_trace_save(stack, ARRAY_SIZE(stack), 0);
	for (i = 0; i < nr; i++)
		seen->found_caller |= stack[i] == parent_ip;
}

/* Reckoning with the address of a function looks like a forged pointer. */
static unsigned long address(void *func)
{
	OPTIMIZER_HIDE_VAR(func);
	return (unsigned long)func;
}

static void expect_seen(struct kunit *test, const struct seen *seen, unsigned int calls)
{
	unsigned long caller = address(fentry_test_caller);
	int i;

	KUNIT_EXPECT_EQ(test, seen->calls, calls);
	KUNIT_EXPECT_EQ(test, seen->ip, ftrace_location((unsigned long)fentry_test_callee));
	KUNIT_EXPECT_GT(test, seen->parent_ip, caller);
	KUNIT_EXPECT_LT(test, seen->parent_ip, caller + 200);
	KUNIT_EXPECT_TRUE(test, seen->has_args || !IS_ENABLED(CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS));
	for (i = 0; i < 6 && seen->has_args; i++)
		KUNIT_EXPECT_EQ(test, seen->arg[i], i + 1);
	KUNIT_EXPECT_TRUE_MSG(test, seen->found_caller, "the stack trace ends at the trampoline");
}

static void attach(struct kunit *test, struct seen *seen)
{
	fentry_test_ops_at(test, &seen->ops, see, (unsigned long)fentry_test_callee);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&seen->ops), 0);
}

static void detach(struct kunit *test, struct seen *seen)
{
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&seen->ops), 0);
	kunit_release_action(test, ops_goes, &seen->ops);
}

static void test_callbacks(struct kunit *test)
{
	struct seen *seen = kunit_kcalloc(test, 4, sizeof(*seen), GFP_KERNEL);
	int i, n;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_EXPECT_EQ(test, fentry_test_caller(), 654321);

	for (n = 1; n <= 4; n++) {
		attach(test, &seen[n - 1]);
		KUNIT_EXPECT_EQ(test, fentry_test_caller(), 654321);
		for (i = 0; i < n; i++) {
			expect_seen(test, &seen[i], n - i);
			KUNIT_EXPECT_FALSE(test, seen[i].has_regs);
		}
		/* The latest is called first. */
		for (i = 1; i < n; i++)
			KUNIT_EXPECT_LT(test, seen[i].turn, seen[i - 1].turn);
	}
	/* Not in the order in which they came */
	for (i = 0; i < 4; i++)
		detach(test, &seen[i ^ 1]);

	KUNIT_EXPECT_EQ(test, fentry_test_caller(), 654321);
	KUNIT_EXPECT_EQ(test, seen[0].calls, 4);
}

static void test_all_registers(struct kunit *test)
{
	struct seen *seen = kunit_kcalloc(test, 2, sizeof(*seen), GFP_KERNEL);
	const struct pt_regs *regs = &seen->regs;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	seen[0].ops.flags = FTRACE_OPS_FL_SAVE_REGS;
	attach(test, &seen[0]);
	attach(test, &seen[1]);
	KUNIT_EXPECT_EQ(test, fentry_test_caller(), 654321);

	expect_seen(test, &seen[0], 1);
	expect_seen(test, &seen[1], 1);
	KUNIT_EXPECT_TRUE(test, seen[0].has_regs);
	KUNIT_EXPECT_EQ(test, regs->cs, __KERNEL_CS);
	KUNIT_EXPECT_EQ(test, regs->ss, __KERNEL_DS);
	KUNIT_EXPECT_EQ(test, regs->ip, seen->ip + 5);
	KUNIT_EXPECT_EQ(test, seen->at_sp, seen->parent_ip);
	KUNIT_EXPECT_TRUE(test, regs->flags & X86_EFLAGS_FIXED);
	KUNIT_EXPECT_TRUE(test, regs->flags & X86_EFLAGS_IF);
	detach(test, &seen[0]);
	detach(test, &seen[1]);
}

static void set_carry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		      struct ftrace_regs *fregs)
{
	ftrace_get_regs(fregs)->flags |= X86_EFLAGS_CF;
}

static void clear_carry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	ftrace_get_regs(fregs)->flags &= ~X86_EFLAGS_CF;
}

static void test_changed_flags(struct kunit *test)
{
	ftrace_func_t funcs[] = { set_carry, clear_carry };

	/* The trampoline restores the flags before it jumps to the return thunk. */
	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH))
		kunit_skip(test, "the return thunk counts returns, which changes flags");
	for (int i = 0; i < ARRAY_SIZE(funcs); i++) {
		struct ftrace_ops *ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, ops);
		ops->flags = FTRACE_OPS_FL_SAVE_REGS;
		fentry_test_ops_at(test, ops, funcs[i], (unsigned long)fentry_test_flags);
		KUNIT_ASSERT_EQ(test, register_ftrace_function(ops), 0);
		KUNIT_EXPECT_EQ(test, fentry_test_flags() & X86_EFLAGS_CF,
				funcs[i] == set_carry ? X86_EFLAGS_CF : 0);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
	}
}

/* Two ops with the same filters are switched together. */
static void test_shared_filter(struct kunit *test)
{
	struct seen *seen = kunit_kcalloc(test, 2, sizeof(*seen), GFP_KERNEL);
	struct ftrace_ops *ops;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	ops = &seen[0].ops;
	/* As an instance's */
	ops->flags = FTRACE_OPS_FL_PID;
	attach(test, &seen[0]);
	seen[1].ops.func = see;
	seen[1].ops.func_hash = ops->func_hash;
	INIT_LIST_HEAD(&seen[1].ops.subop_list);
	seen[1].ops.flags = FTRACE_OPS_FL_INITIALIZED;
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&seen[1].ops), 0);
	KUNIT_EXPECT_EQ(test, fentry_test_caller(), 654321);
	KUNIT_EXPECT_EQ(test, seen[0].calls, 1);
	KUNIT_EXPECT_EQ(test, seen[1].calls, 1);

	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(ops, address(fentry_test_caller), 0, 1), 0);
	KUNIT_EXPECT_EQ(test, fentry_test_callee(1, 2, 3, 4, 5, 6), 654321);
	KUNIT_EXPECT_EQ(test, seen[0].calls, 1);
	KUNIT_EXPECT_EQ(test, seen[1].calls, 1);
	KUNIT_EXPECT_EQ(test, fentry_test_caller(), 654321);
	KUNIT_EXPECT_EQ(test, seen[0].calls, 2);
	KUNIT_EXPECT_EQ(test, seen[1].calls, 2);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&seen[1].ops), 0);
	detach(test, &seen[0]);
}

static void test_unfiltered_ipmodify(struct kunit *test)
{
	struct seen *seen = kunit_kcalloc(test, 1, sizeof(*seen), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, seen);
	seen->ops.func = see;
	seen->ops.flags = FTRACE_OPS_FL_IPMODIFY;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&seen->ops), -EINVAL);
	KUNIT_EXPECT_FALSE(test, seen->ops.flags & FTRACE_OPS_FL_ENABLED);
}

static void test_bad_addresses(struct kunit *test)
{
	struct seen *seen = kunit_kcalloc(test, 1, sizeof(*seen), GFP_KERNEL);
	unsigned long callee = address(fentry_test_callee);

	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&seen->ops, 0, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&seen->ops, (unsigned long)see, 0, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&seen->ops, (unsigned long)seen, 0, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&seen->ops, callee + 64, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&seen->ops, callee, 1, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&seen->ops, "no_such_function", 16, 0), -EINVAL);
	KUNIT_EXPECT_TRUE(test, !rcu_access_pointer(seen->ops.func_hash->filter_hash));

	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&seen->ops, callee, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&seen->ops, NULL, 1, 0, 0), 0);
	mutex_lock(&ftrace_lock);
	KUNIT_EXPECT_EQ(test, fentry_ops_hash(&seen->ops, false)->count, 1);
	mutex_unlock(&ftrace_lock);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&seen->ops, callee, 1, 0), 0);
	ftrace_free_filter(&seen->ops);
}

/* Names of the kernel's sites from @site on, each @step, if a name has to match a glob */
static unsigned int check_names(struct kunit *test, struct fentry_names *names,
				const struct text_site *site, int step, const char *glob)
{
	const struct text_site_table *kernel = &fentry_sites.kernel;
	char *expected = kunit_kzalloc(test, KSYM_SYMBOL_LEN, GFP_KERNEL);
	unsigned int left_out = 0;
	const char *name;

	for (; site >= kernel->sites && site < kernel->sites + kernel->nr; site += step) {
		const unsigned long ip = text_site_addr(site);

		if (site->state & TEXT_SITE_DEAD)
			continue;
		name = fentry_name(names, ip);
		kallsyms_lookup(ip, NULL, NULL, NULL, expected);
		if (name) {
			KUNIT_ASSERT_STREQ(test, name, expected);
			KUNIT_ASSERT_EQ(test, names->len, strlen(expected));
		} else {
			KUNIT_ASSERT_FALSE_MSG(test, glob_match(glob, expected), "%s", expected);
			left_out++;
		}
	}
	return left_out;
}

static void test_names(struct kunit *test)
{
	const struct text_site_table *kernel = &fentry_sites.kernel;
	struct fentry_names *names = kunit_kzalloc(test, sizeof(*names), GFP_KERNEL);
	const char *const globs[] = { "*read*", "vfs_?e[a-e]d", "?yn*\\_c*" };
	int i;

	KUNIT_EXPECT_EQ(test, check_names(test, names, kernel->sites, 1, ""), 0);
	KUNIT_EXPECT_EQ(test, check_names(test, names, kernel->sites + kernel->nr - 1, -997, ""),
			0);
	KUNIT_EXPECT_STREQ(test, fentry_name(names, (unsigned long)vfs_read), "vfs_read");
	for (i = 0; i < ARRAY_SIZE(globs); i++) {
		*names = (struct fentry_names){};
		fentry_names_match(names, globs[i]);
		KUNIT_EXPECT_GT(test, check_names(test, names, kernel->sites, 3, globs[i]),
				kernel->nr / 3 / 4);
	}
}

static bool staying;

/* Preempted, maybe, but never asleep */
static int stay(void *data)
{
	complete(data);
	while (READ_ONCE(staying))
		cond_resched();
	return 0;
}

struct left {
	struct rcu_head		head;
	struct completion	done;
};

static void left_func(struct rcu_head *head)
{
	complete(&container_of(head, struct left, head)->done);
}

/* A task that has not slept since may be on its way. */
static void test_after_tasks(struct kunit *test)
{
	struct left *left = kunit_kzalloc(test, sizeof(*left), GFP_KERNEL);
	DECLARE_COMPLETION_ONSTACK(stays);
	struct task_struct *task;

	if (!IS_ENABLED(CONFIG_TASKS_RCU))
		kunit_skip(test, "no task is preempted");
	KUNIT_ASSERT_NOT_NULL(test, left);
	init_completion(&left->done);
	WRITE_ONCE(staying, true);
	task = kthread_run(stay, &stays, "fentry_test");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	get_task_struct(task);
	wait_for_completion(&stays);

	ftrace_after_tasks(&left->head, left_func);
	msleep(1000);
	KUNIT_EXPECT_FALSE(test, completion_done(&left->done));
	WRITE_ONCE(staying, false);
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&left->done, 60 * HZ));
	kthread_stop_put(task);
}

static struct kunit_case filter_cases[] = {
	KUNIT_CASE(test_filter_new),
	KUNIT_CASE(test_filter_union),
	KUNIT_CASE(test_filter_subtract),
	KUNIT_CASE(test_filter_direct),
	KUNIT_CASE(test_filter_flags),
	KUNIT_CASE(test_filter_change),
	KUNIT_CASE(test_filters_overlap),
	KUNIT_CASE(test_match),
	KUNIT_CASE(test_names),
	{}
};

static struct kunit_suite filter_suite = {
	.name		= "fentry_filter",
	.test_cases	= filter_cases,
};

static struct kunit_case ops_cases[] = {
	KUNIT_CASE(test_callbacks),
	KUNIT_CASE(test_all_registers),
	KUNIT_CASE(test_changed_flags),
	KUNIT_CASE(test_shared_filter),
	KUNIT_CASE(test_unfiltered_ipmodify),
	KUNIT_CASE(test_bad_addresses),
	KUNIT_CASE_SLOW(test_after_tasks),
	{}
};

static struct kunit_suite ops_suite = {
	.name		= "fentry_ops",
	.test_cases	= ops_cases,
};

kunit_test_suites(&filter_suite, &ops_suite);
