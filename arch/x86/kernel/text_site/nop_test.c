// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the choice of a NOP */
#include <kunit/test.h>

#include <asm/insn.h>
#include <asm/processor.h>

#include "text_site.h"

#define NOP_ANY_NAME	(IS_ENABLED(CONFIG_X86_64) ? "prefix" : "lea")

struct choice {
	const char	*what;
	u8		vendor, family, model;
	bool		nopl;
	const char	*nop;
};

/* In 32-bit kernels no CPU is known to have the long NOP. */
static const struct choice choices[] = {
	{ "486",		X86_VENDOR_INTEL, 4, 8, false,	NOP_ANY_NAME },
	{ "Pentium",		X86_VENDOR_INTEL, 5, 4, false,	NOP_ANY_NAME },
	{ "Pentium II",		X86_VENDOR_INTEL, 6, 5, false,	NOP_ANY_NAME },
	{ "Pentium III",	X86_VENDOR_INTEL, 6, 7, false,	NOP_ANY_NAME },
	{ "Core Duo",		X86_VENDOR_INTEL, 6, 14, false,	NOP_ANY_NAME },
	{ "Atom N270",		X86_VENDOR_INTEL, 6, 28, false,	NOP_ANY_NAME },
	{ "Athlon",		X86_VENDOR_AMD, 6, 2, false,	NOP_ANY_NAME },
	{ "QEMU's 32-bit one",	X86_VENDOR_INTEL, 6, 6, false,	NOP_ANY_NAME },
	{ "K8 in 32 bits",	X86_VENDOR_AMD, 15, 5, false,	"prefix" },
	{ "Merom in 32 bits",	X86_VENDOR_INTEL, 6, 15, false,	"prefix" },
	{ "K8",			X86_VENDOR_AMD, 15, 5, true,	"prefix" },
	{ "Barcelona",		X86_VENDOR_AMD, 16, 2, true,	"nopl" },
	{ "Zen",		X86_VENDOR_AMD, 23, 1, true,	"nopl" },
	{ "Hygon",		X86_VENDOR_HYGON, 24, 0, true,	"nopl" },
	{ "Pentium M",		X86_VENDOR_INTEL, 6, 13, true,	"nopl" },
	{ "Merom",		X86_VENDOR_INTEL, 6, 15, true,	"prefix" },
	{ "Nehalem",		X86_VENDOR_INTEL, 6, 26, true,	"prefix" },
	{ "Bonnell",		X86_VENDOR_INTEL, 6, 28, true,	"nopl" },
	{ "Lincroft",		X86_VENDOR_INTEL, 6, 38, true,	"nopl" },
	{ "Penwell",		X86_VENDOR_INTEL, 6, 39, true,	"nopl" },
	{ "Westmere-EX",	X86_VENDOR_INTEL, 6, 47, true,	"prefix" },
	{ "Sandy Bridge",	X86_VENDOR_INTEL, 6, 42, true,	"prefix" },
	{ "Ivy Bridge",		X86_VENDOR_INTEL, 6, 58, true,	"nopl" },
	{ "Pentium 4",		X86_VENDOR_INTEL, 15, 4, true,	"nopl" },
	{ "Zhaoxin",		X86_VENDOR_ZHAOXIN, 7, 27, true,	"nopl" },
	{ "no long NOP",	X86_VENDOR_INTEL, 6, 58, false,	NOP_ANY_NAME },
};

static void choice_desc(const struct choice *choice, char *desc)
{
	strscpy(desc, choice->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(choice, choices, choice_desc);

static void test_choice(struct kunit *test)
{
	const struct choice *choice = test->param_value;
	struct cpuinfo_x86 cpu = {
		.x86_vendor = choice->vendor, .x86 = choice->family, .x86_model = choice->model,
	};

	if (choice->nopl)
		set_cpu_cap(&cpu, X86_FEATURE_NOPL);
	KUNIT_EXPECT_STREQ(test, site_nop_choose(&cpu)->name, choice->nop);
}

/* Each must be one instruction of the size of a call. */
static void test_one_instruction(struct kunit *test)
{
	static const char *const names[] = { "nopl", "prefix", "jmp0", "jmp3", "lea" };
	const struct site_nop *nop;
	struct insn insn;
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		nop = site_nop_by_name(names[i]);
		KUNIT_ASSERT_NOT_NULL(test, nop);
		KUNIT_EXPECT_EQ(test, insn_decode_kernel(&insn, nop->bytes), 0);
		/* The short jump is two bytes, and never runs those behind it. */
		if (insn.opcode.bytes[0] == 0xeb)
			KUNIT_EXPECT_EQ(test, insn.length + insn.immediate.value, TEXT_SITE_SIZE);
		else
			KUNIT_EXPECT_EQ(test, insn.length, TEXT_SITE_SIZE);
	}
}

static void test_unknown_name(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, site_nop_by_name("nop"));
	KUNIT_EXPECT_NULL(test, site_nop_by_name(""));
	KUNIT_EXPECT_NULL(test, site_nop_by_name("nopl5"));
}

static struct kunit_case nop_cases[] = {
	KUNIT_CASE_PARAM(test_choice, choice_gen_params),
	KUNIT_CASE(test_one_instruction),
	KUNIT_CASE(test_unknown_name),
	{}
};

static struct kunit_suite nop_suite = {
	.name		= "text_site_nop",
	.test_cases	= nop_cases,
};

kunit_test_suite(nop_suite);
