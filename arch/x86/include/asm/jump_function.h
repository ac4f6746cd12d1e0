/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jump functions on x86:
 *
 *	name:	e9 d0 d1 d2 d3		jmp func
 *		cc			int3: stops speculation past the jump
 *
 * It is called directly and jumps directly, so there is no ENDBR at @name, no
 * return, and nothing for retpolines or return thunks to do. It is aligned and
 * padded as all functions are: call depth tracking puts its count before it.
 *
 * Where kprobes cannot be, because a breakpoint of theirs would be in the way. The
 * opcode is spelled out as the assembler would make a short jump of a near one.
 *
 * The record is a struct text_site; until it is taken into use, its state is a
 * reference to the default, relative like the other. There is nothing in it that
 * moving the kernel would change.
 */
#ifndef _ASM_X86_JUMP_FUNCTION_H
#define _ASM_X86_JUMP_FUNCTION_H

#include <linux/linkage.h>
#include <linux/objtool.h>

#define ARCH_DEFINE_DYNFUNC(name, func)			\
	asm(".pushsection .kprobes.text, \"ax\"\n"	\
	    ASM_FUNC_ALIGN "\n"				\
	    ".globl " #name "\n"			\
	    ".type " #name ", @function\n"		\
	    #name ":\n"					\
	    ANNOTATE_NOENDBR				\
	    ".byte 0xe9\n"				\
	    ".long " #func " - (. + 4)\n"		\
	    "int3\n"					\
	    ".size " #name ", . - " #name "\n"		\
	    ".popsection\n"				\
	    ".pushsection __dynfunc_sites, \"aw\"\n"	\
	    ".balign 4\n"				\
	    ".long " #name " - .\n"			\
	    ".long " #func " - .\n"			\
	    ".popsection\n")

#endif /* _ASM_X86_JUMP_FUNCTION_H */
