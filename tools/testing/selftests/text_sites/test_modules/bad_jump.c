// SPDX-License-Identifier: GPL-2.0
/*
 * bad_jump: a module whose jump function has a default that is freed before it: text for
 * initialisation
 */
#include <linux/init.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/objtool.h>

static __used int __init bad_jump_default(void)
{
	return 0;
}

/* As ARCH_DEFINE_DYNFUNC(), but in a section that may refer to text for initialisation */
asm("	.pushsection .ref.text, \"ax\"\n"
	ASM_FUNC_ALIGN "\n"
	"	.type	bad_jump, @function\n"
	"bad_jump:\n"
	ANNOTATE_NOENDBR
	"	.byte	0xe9\n"
	"	.long	bad_jump_default - (. + 4)\n"
	"	int3\n"
	"	.size	bad_jump, . - bad_jump\n"
	"	.popsection\n"
	"	.pushsection __dynfunc_sites, \"aw\"\n"
	"	.balign	4\n"
	"	.long	bad_jump - .\n"
	"	.long	bad_jump_default - .\n"
	"	.popsection\n");

MODULE_DESCRIPTION("A jump function that cannot be trusted");
MODULE_LICENSE("GPL");
