// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of what a CPU does at a breakpoint, in the entry code and in C */
#include <kunit/test.h>

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kdebug.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/objtool.h>
#include <linux/ptrace.h>
#include <linux/smp.h>
#include <linux/stringify.h>
#include <linux/text_site.h>

#include <asm/apic.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/ibt.h>
#include <asm/linkage.h>
#include <asm/local.h>
#include <asm/nmi.h>
#include <asm/nops.h>
#include <asm/segment.h>
#include <asm/text-patching.h>
#include <asm/text_site_entry.h>

#include "text_site.h"

#define ALL_REGS	31	/* what int3_test_call() returns if no register was changed */
#define OUTER_HIT	1
#define INNER_HIT	16

extern unsigned int int3_test_hits;	/* the assembly below counts in it */
unsigned int int3_test_hits;

asmlinkage unsigned long int3_test_call(void);
asmlinkage unsigned long int3_test_call_shifted(void);
asmlinkage void int3_test_target(void);
asmlinkage void int3_test_inner_target(void);
asmlinkage void int3_test_foreign(void);
extern const u8 int3_test_site[], int3_test_inner_site[], int3_test_foreign_end[];

/* With kCFI, sealing an ENDBR also writes to the padding before the function. */
#define FUNCTION(name, body)						\
	ASM_FUNC_ALIGN "\n"						\
"	.type	" name ", @function\n"					\
name ":\n"								\
	ASM_ENDBR							\
	body								\
	ASM_RET								\
"	.size	" name ", . - " name "\n"

/* In 32-bit code, %esi and %edi are the caller's. */
#define CALL_WITH_REGS							\
	__ASM_SIZE(push) " %" __ASM_REG(si) "\n"			\
	__ASM_SIZE(push) " %" __ASM_REG(di) "\n"			\
"	movl	$1, %eax\n"						\
"	movl	$2, %ecx\n"						\
"	movl	$4, %edx\n"						\
"	movl	$8, %esi\n"						\
"	movl	$16, %edi\n"						\
"	call	int3_test_function\n"					\
"	addl	%ecx, %eax\n"						\
"	addl	%edx, %eax\n"						\
"	addl	%esi, %eax\n"						\
"	addl	%edi, %eax\n"						\
	__ASM_SIZE(pop) " %" __ASM_REG(di) "\n"			\
	__ASM_SIZE(pop) " %" __ASM_REG(si) "\n"

#define SITE(name)	ANNOTATE_NOENDBR name ":	.byte " __stringify(BYTES_NOP5) "\n"

/* What the outer site calls goes to a function with a site of its own. */
asm("	.pushsection .text, \"ax\", @progbits\n"
FUNCTION("int3_test_function", SITE("int3_test_site"))
FUNCTION("int3_test_inner", SITE("int3_test_inner_site"))
FUNCTION("int3_test_target", FRAME_BEGIN
"	addl	$1, int3_test_hits\n"
"	call	int3_test_inner\n" FRAME_END)
FUNCTION("int3_test_inner_target", "	addl	$16, int3_test_hits\n")
FUNCTION("int3_test_call", FRAME_BEGIN CALL_WITH_REGS FRAME_END)
/* One of the two has a stack that is aligned to 16 bytes. */
FUNCTION("int3_test_call_shifted", FRAME_BEGIN
	__ASM_SIZE(sub) " $8, %" __ASM_REG(sp) "\n" CALL_WITH_REGS
	__ASM_SIZE(add) " $8, %" __ASM_REG(sp) "\n" FRAME_END)
/* The compiler refers to both ends of the breakpoint. */
FUNCTION("int3_test_foreign", ANNOTATE_NOENDBR
"	int3\n" ANNOTATE_NOENDBR
"int3_test_foreign_end:\n")
"	.popsection\n");

static DEFINE_MUTEX(test_lock);
static struct text_insn insn;
static struct text_site sites[2];

/* 0 and 1 are what the outer site holds, 2 and 3 the inner one. */
static struct text_target targets[TEXT_TARGET_PAGE] = {
	{ .next = 1 },
	{ .next = 0, .addr = (unsigned long)int3_test_target },
	{ .next = 3 },
	{ .next = 2, .addr = (unsigned long)int3_test_inner_target },
};

static struct text_site_kind kind = {
	.name = "int3", .insn = &insn, .lock = &test_lock,
	.kernel = { .kind = &kind, .sites = sites }, .pages = { targets },
};

/* The same sites, as if they were a module's */
static struct text_site_table mapped = { .kind = &kind, .sites = sites };

/* Breakpoints that nobody has dealt with */
static unsigned int nr_missed, nr_foreign;

static int missed(struct notifier_block *nb, unsigned long event, void *args)
{
	struct pt_regs *regs = ((struct die_args *)args)->regs;

	if (event != DIE_INT3)
		return NOTIFY_DONE;
	if (regs->ip == (unsigned long)int3_test_foreign_end) {
		nr_foreign++;
		return NOTIFY_STOP;
	}
	if (regs->ip - 1 != text_site_addr(&sites[0]) && regs->ip - 1 != text_site_addr(&sites[1]))
		return NOTIFY_DONE;
	nr_missed++;
	regs->ip += TEXT_SITE_SIZE - INT3_INSN_SIZE;
	return NOTIFY_STOP;
}

static struct notifier_block die_notifier = { .notifier_call = missed, .priority = INT_MAX };

/* What call_both() counts, in NMIs, too: calls, and those that changed registers or flags */
static local_t nr_calls, nr_wrong;

static void call_both(void)
{
	const bool irqs_off = irqs_disabled();

	local_add(int3_test_call() != ALL_REGS, &nr_wrong);
	local_add(int3_test_call_shifted() != ALL_REGS, &nr_wrong);
	local_add(irqs_disabled() != irqs_off, &nr_wrong);
	local_add(2, &nr_calls);
}

static bool nmi_wanted;
static unsigned int nmi_cpu, nr_nmis;

static int call_in_nmi(unsigned int cmd, struct pt_regs *regs)
{
	if (!READ_ONCE(nmi_wanted) || raw_smp_processor_id() != nmi_cpu)
		return NMI_DONE;
	call_both();
	WRITE_ONCE(nr_nmis, READ_ONCE(nr_nmis) + 1);
	return NMI_HANDLED;
}

#ifdef CONFIG_X86_LOCAL_APIC
static bool trigger_nmi(void)
{
	if (!boot_cpu_has(X86_FEATURE_APIC))
		return false;
	__apic_send_IPI_mask(cpumask_of(nmi_cpu), NMI_VECTOR);
	return true;
}
#else
static bool trigger_nmi(void)
{
	return false;
}
#endif

/* Returns false if none can be sent: a 486 has no local APIC. */
static bool send_nmi(void)
{
	const unsigned int before = READ_ONCE(nr_nmis);

	if (!trigger_nmi())
		return false;
	for (int i = 0; i < 100000 && READ_ONCE(nr_nmis) == before; i++)
		udelay(1);
	return true;
}

static void send_nmis(void *nr)
{
	for (long i = 0; i < (long)nr; i++)
		send_nmi();
	WRITE_ONCE(nmi_wanted, false);
}

/* Wherever the function is called from, it is called. Each call is to add @hits. */
static void expect_hits(struct kunit *test, unsigned int hits)
{
	unsigned long flags;
	unsigned int other;

	int3_test_hits = 0;
	local_set(&nr_calls, 0);
	local_set(&nr_wrong, 0);
	WRITE_ONCE(nr_nmis, 0);

	call_both();
	local_irq_save(flags);
	call_both();
	local_irq_restore(flags);

	/* In an NMI; then NMIs anywhere, as in the entry code of the breakpoint */
	nmi_cpu = get_cpu();
	WRITE_ONCE(nmi_wanted, true);
	if (send_nmi())
		KUNIT_EXPECT_EQ(test, READ_ONCE(nr_nmis), 1);
	other = cpumask_any_but(cpu_online_mask, nmi_cpu);
	if (other < nr_cpu_ids)
		smp_call_function_single(other, send_nmis, (void *)20, false);
	else
		WRITE_ONCE(nmi_wanted, false);
	while (READ_ONCE(nmi_wanted))
		call_both();
	put_cpu();

	KUNIT_EXPECT_EQ(test, local_read(&nr_wrong), 0);
	KUNIT_EXPECT_EQ(test, int3_test_hits, local_read(&nr_calls) * hits);
}

/* Through all passes on the way to the next targets */
static void expect_switch(struct kunit *test, struct text_site_table *table,
			  unsigned int before, unsigned int after)
{
	enum text_pass pass;

	text_site_mark(table, &sites[0]);
	text_site_mark(table, &sites[1]);
	scoped_guard(mutex, &text_mutex) {
		for (pass = TEXT_PASS_BREAK; pass <= TEXT_PASS_HEAD; pass++) {
			arch_text_site_pass(&kind, pass, false);
			/* As if a CPU was late */
			WRITE_ONCE(text_changes, TEXT_CHANGES_SITES);
			expect_hits(test, pass == TEXT_PASS_BREAK ? before : after);
			nr_foreign = 0;
			int3_test_foreign();
			KUNIT_EXPECT_EQ(test, nr_foreign, 1);
		}
		WRITE_ONCE(text_changes, 0);
	}
	/* What text_site_commit() does then */
	table->first = table->nr;
	table->last = 0;
	expect_hits(test, after);
}

/* Where the entry code is led that looks for a site */
static const struct text_area *leads_to(const struct text_site *site)
{
	const unsigned long page = text_site_addr(site) >> PAGE_SHIFT;

	return kind.map[(page >> TEXT_LEAF_SHIFT) % TEXT_MAP_SIZE][page % BIT(TEXT_LEAF_SHIFT)];
}

/* @type: what C is to take sites for. @indexed: can the entry code find them? */
static void expect_all(struct kunit *test, struct text_site_table *table, unsigned int type,
		       bool indexed)
{
	guard(mutex)(&test_lock);

	insn = text_insn_call;
	insn.type = type;
	sites[0].offset = (unsigned long)int3_test_site - (unsigned long)&sites[0].offset;
	sites[0].state = 0;
	sites[1].offset = (unsigned long)int3_test_inner_site - (unsigned long)&sites[1].offset;
	sites[1].state = 2;
	table->nr = ARRAY_SIZE(sites);
	KUNIT_ASSERT_EQ(test, text_site_table_init(table), 0);
	text_site_table_add(table);
	KUNIT_EXPECT_EQ(test, table->areas[0].indexed, 0);
	if (indexed) {
		text_areas_index(table);
		KUNIT_EXPECT_NE(test, table->areas[0].indexed, 0);
	}
	KUNIT_EXPECT_EQ(test, leads_to(&sites[0]) == table->areas, table == &mapped);
	KUNIT_EXPECT_EQ(test, leads_to(&sites[1]) == table->areas, table == &mapped);

	nr_missed = 0;
	expect_switch(test, table, 0, OUTER_HIT + INNER_HIT);
	expect_switch(test, table, OUTER_HIT + INNER_HIT, 0);
	KUNIT_EXPECT_EQ(test, nr_missed, 0);
	text_site_table_remove(table);
	KUNIT_EXPECT_PTR_NE(test, leads_to(&sites[0]), &table->areas[0]);
	KUNIT_EXPECT_PTR_NE(test, leads_to(&sites[1]), &table->areas[0]);
}

static void need_entry_code(struct kunit *test)
{
	if (cpu_feature_enabled(X86_FEATURE_FRED) || cpu_feature_enabled(X86_FEATURE_XENPV))
		kunit_skip(test, "the breakpoint has other entry code");
}

/* The entry code does it alone: C does not know the type, and declines. */
static void test_entry_code(struct kunit *test)
{
	need_entry_code(test);
	expect_all(test, &kind.kernel, U8_MAX, true);
}

/* So it does in a module, to which the map leads it. */
static void test_entry_code_in_module(struct kunit *test)
{
	need_entry_code(test);
	expect_all(test, &mapped, U8_MAX, true);
}

static void test_c(struct kunit *test)
{
	expect_all(test, &kind.kernel, TEXT_INSN_CALL, false);
}

/* Met long after: memory has what the site holds. */
static void test_stale(struct kunit *test)
{
	struct pt_regs regs = { .cs = __KERNEL_CS };
	const struct text_target *target;
	struct text_site_kind *each;
	unsigned int checked = 0;
	struct text_site *site;

	for_each_text_site_kind(each) {
		if (each->insn->type == TEXT_INSN_VALUE)
			continue;
		for_each_text_site(site, &each->kernel) {
			target = text_target(each, text_site_target_id(site));
			if (site->state & TEXT_SITE_DEAD ||
			    (target->addr && each->insn->type == TEXT_INSN_CALL))
				continue;
			regs.ip = text_site_addr(site) + INT3_INSN_SIZE;
			KUNIT_ASSERT_TRUE(test, text_int3(&regs));
			KUNIT_ASSERT_EQ(test, regs.ip,
					target->addr ?: text_site_addr(site) + TEXT_SITE_SIZE);
			checked++;
		}
	}
	if (!checked)
		kunit_skip(test, "no sites");
}

/* Not ours, and nothing is being changed; or not the kernel's */
static void test_declined(struct kunit *test)
{
	struct pt_regs regs = { .cs = __KERNEL_CS };

	regs.ip = (unsigned long)int3_test_foreign_end;
	KUNIT_EXPECT_FALSE(test, text_int3(&regs));
	KUNIT_EXPECT_EQ(test, regs.ip, (unsigned long)int3_test_foreign_end);
	regs.ip = (unsigned long)int3_test_site + INT3_INSN_SIZE;
	regs.cs = __USER_CS;
	KUNIT_EXPECT_FALSE(test, text_int3(&regs));
}

static int int3_init(struct kunit_suite *suite)
{
	register_die_notifier(&die_notifier);
	return register_nmi_handler(NMI_LOCAL, call_in_nmi, 0, "int3_test");
}

static void int3_exit(struct kunit_suite *suite)
{
	unregister_nmi_handler(NMI_LOCAL, "int3_test");
	unregister_die_notifier(&die_notifier);
}

static struct kunit_case int3_cases[] = {
	KUNIT_CASE(test_entry_code),
	KUNIT_CASE(test_entry_code_in_module),
	KUNIT_CASE(test_c),
	KUNIT_CASE(test_stale),
	KUNIT_CASE(test_declined),
	{}
};

static struct kunit_suite int3_suite = {
	.name		= "text_site_int3",
	.suite_init	= int3_init,
	.suite_exit	= int3_exit,
	.test_cases	= int3_cases,
};

kunit_test_suite(int3_suite);
