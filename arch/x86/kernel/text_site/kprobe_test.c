// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of kprobes next to the targets of branches: text sites' and static keys' */
#include <kunit/test.h>

#include <linux/immediate.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <asm/ibt.h>

static DEFINE_IMV(bool, test_skip, false);
static DEFINE_STATIC_KEY_FALSE(skip_key);

/* xorl %eax, %eax, which is skipped while the branch is on; NOPs, where the branch leads */
#define SKIPPED		0x31, 0xc0
#define BEHIND		0x90, 0x90, 0x90, 0x90, 0x90

static noinline void skip_by_value(void)
{
	if (!imv_cond(test_skip))
		asm volatile(".byte " __stringify(SKIPPED) : : : "eax");
	asm volatile(".byte " __stringify(BEHIND));
}

static noinline void skip_by_key(void)
{
	if (!static_branch_unlikely(&skip_key))
		asm volatile(".byte " __stringify(SKIPPED) : : : "eax");
	asm volatile(".byte " __stringify(BEHIND));
}

/*
 * Returns the skipped instruction of a function, and the NOPs behind it in @nops; NULL if the
 * compiler has put them elsewhere. With IBT, Clang emits an ENDBR where a branch leads. No kprobe
 * at an ENDBR is optimised, so @nops is behind it.
 */
static u8 *skipped(void (*function)(void), u8 **nops)
{
	static const u8 text[] = { SKIPPED }, behind[] = { BEHIND };
	u8 *at = (u8 *)function;

	for (int i = 0; i < 64; i++, at++) {
		*nops = at + sizeof(text);
		if (is_endbr(get_unaligned((u32 *)*nops)))
			*nops += ENDBR_INSN_SIZE;
		if (!memcmp(at, text, sizeof(text)) && !memcmp(*nops, behind, sizeof(behind)))
			return at;
	}
	return NULL;
}

static unsigned int hits;

static int count(struct kprobe *probe, struct pt_regs *regs)
{
	hits++;
	return 0;
}

/* Does a kprobe jump, instead of trapping? */
static bool is_optimised(const struct kprobe *probe)
{
	struct kprobe *at;

	wait_for_kprobe_optimizer();
	guard(preempt)();
	at = get_kprobe(probe->addr);
	return at && (at->flags & KPROBE_FLAG_OPTIMIZED);
}

/* How often a kprobe is hit when a function is called */
static unsigned int hits_in(void (*function)(void))
{
	hits = 0;
	function();
	return hits;
}

static void set_value(bool on)
{
	imv_set(test_skip, on);
}

static void set_key(bool on)
{
	if (on)
		static_branch_enable(&skip_key);
	else
		static_branch_disable(&skip_key);
}

/*
 * A kprobe is optimised where a branch leads, but not at the instruction before it: when
 * switched on, the branch would jump into the middle of the probe's jump.
 */
static void expect_optimised(struct kunit *test, void (*function)(void), void (*set)(bool on))
{
	struct kprobe behind = { .pre_handler = count }, before = { .pre_handler = count };
	u8 *nops, *at = skipped(function, &nops);

	KUNIT_ASSERT_NOT_NULL(test, at);

	behind.addr = nops;
	KUNIT_ASSERT_EQ(test, register_kprobe(&behind), 0);
	KUNIT_EXPECT_TRUE(test, is_optimised(&behind));
	KUNIT_EXPECT_EQ(test, hits_in(function), 1);
	set(true);
	KUNIT_EXPECT_EQ(test, hits_in(function), 1);
	set(false);
	unregister_kprobe(&behind);
	wait_for_kprobe_optimizer();

	before.addr = at;
	KUNIT_ASSERT_EQ(test, register_kprobe(&before), 0);
	KUNIT_EXPECT_EQ(test, hits_in(function), 1);
	if (is_optimised(&before)) {
		KUNIT_FAIL(test, "optimised over the target of a branch");
	} else {
		set(true);
		KUNIT_EXPECT_EQ(test, hits_in(function), 0);
		set(false);
	}
	unregister_kprobe(&before);
}

static void test_value(struct kunit *test)
{
	expect_optimised(test, skip_by_value, set_value);
}

static void test_static_key(struct kunit *test)
{
	expect_optimised(test, skip_by_key, set_key);
}

static struct kunit_case kprobe_cases[] = {
	KUNIT_CASE(test_value),
	KUNIT_CASE(test_static_key),
	{}
};

static struct kunit_suite kprobe_suite = {
	.name		= "text_site_kprobe",
	.test_cases	= kprobe_cases,
};

kunit_test_suite(kprobe_suite);
