// SPDX-License-Identifier: GPL-2.0
/*
 * Which NOP an unattached site holds.
 *
 * It must be one instruction: a task can be preempted between two short ones
 * and would return into the middle of the call that is there by then.
 */
#define pr_fmt(fmt) "text_site: " fmt

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/text_site.h>

#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "text_site.h"

enum { NOP_NOPL, NOP_PREFIX, NOP_JMP0, NOP_JMP3, NOP_LEA, NR_NOPS };

static const struct site_nop nops[NR_NOPS] = {
	/* nopl 0(%rax,%rax,1) */
	[NOP_NOPL]	= { "nopl",	{ 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	/* xchg %ax,%ax with three more operand size prefixes */
	[NOP_PREFIX]	= { "prefix",	{ 0x66, 0x66, 0x66, 0x66, 0x90 } },
	/* jmp .+5, and jmp .+5 in two bytes with three never reached */
	[NOP_JMP0]	= { "jmp0",	{ 0xe9, 0x00, 0x00, 0x00, 0x00 } },
	[NOP_JMP3]	= { "jmp3",	{ 0xeb, 0x03, 0x00, 0x00, 0x00 } },
	[NOP_LEA]	= { "lea",	{ NOP_LEA_BYTES } },
};

/*
 * The long NOP is in the documented set of every 64-bit CPU, but slower than
 * prefixes on the first of them: AMD's K8 (family 15), and Intel's Core 2 from
 * Merom (family 6, model 15) up to Sandy Bridge (42, 45) and Westmere-EX (47).
 * The Atoms in between (28, 38, 39) stall on prefixes.
 */
static bool likes_prefixes(const struct cpuinfo_x86 *cpu)
{
	const u8 model = cpu->x86_model;

	switch (cpu->x86_vendor) {
	case X86_VENDOR_AMD:
		return cpu->x86 == 15;
	case X86_VENDOR_INTEL:
		return cpu->x86 == 6 && model >= 15 && model < 48 &&
		       model != 28 && model != 38 && model != 39;
	default:
		return false;
	}
}

/* The fastest known. Every x86 CPU executes all of them but the long one. */
const struct site_nop *site_nop_choose(const struct cpuinfo_x86 *cpu)
{
	if (likes_prefixes(cpu))
		return &nops[NOP_PREFIX];

	return &nops[test_cpu_cap(cpu, X86_FEATURE_NOPL) ? NOP_NOPL : NOP_ANY];
}

/* Why it is this one */
static const char *site_nop_reason(const struct cpuinfo_x86 *cpu)
{
	if (likes_prefixes(cpu))
		return "faster than the long one on this processor";
	if (test_cpu_cap(cpu, X86_FEATURE_NOPL))
		return "documented for this processor";
	return "this processor is not known to have a long one";
}

/* As in text_nop=; NULL if there is none of this name */
const struct site_nop *site_nop_by_name(const char *name)
{
	int i;

	for (i = 0; i < NR_NOPS; i++) {
		if (!strcmp(nops[i].name, name))
			return &nops[i];
	}
	return NULL;
}

const struct site_nop *site_nop __ro_after_init = &nops[NOP_ANY];

static char nop_name[16] __initdata;

static int __init text_nop_setup(char *name)
{
	if (name)
		strscpy(nop_name, name);
	return 0;
}
early_param("text_nop", text_nop_setup);

/**
 * arch_text_site_init - choose the NOP
 *
 * Context: once at boot, after the boot CPU has been identified and early
 * parameters were parsed, before the first conversion.
 */
void __init arch_text_site_init(void)
{
	const struct site_nop *asked = NULL;

	if (nop_name[0]) {
		asked = site_nop_by_name(nop_name);
		if (!asked)
			pr_warn("text_nop=%s is not known, the CPU's own is used\n", nop_name);
	}
	site_nop = asked ?: site_nop_choose(&boot_cpu_data);
	pr_info("nop %s: %s\n", site_nop->name,
		asked ? "asked for by text_nop=" : site_nop_reason(&boot_cpu_data));
}

/**
 * arch_text_site_nop_name - for messages
 *
 * Return: the chosen NOP's name and bytes.
 */
const char *arch_text_site_nop_name(void)
{
	static char text[32];

	snprintf(text, sizeof(text), "%s (%*ph)", site_nop->name, TEXT_SITE_SIZE,
		 site_nop->bytes);
	return text;
}
