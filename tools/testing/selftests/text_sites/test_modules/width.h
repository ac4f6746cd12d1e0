/* SPDX-License-Identifier: GPL-2.0 */
/* What code that is written in assembler has of the width of the kernel's */
#ifndef _WIDTH_H
#define _WIDTH_H

#ifdef CONFIG_X86_32
/* A variable */
# define MEMORY(name)		name
/* A frame, and the registers in it that a function has its arguments in */
# define SAVE_ARGUMENTS							\
"	pushl	%ebp\n"							\
"	movl	%esp, %ebp\n"						\
"	pushl	%eax\n"							\
"	pushl	%edx\n"							\
"	pushl	%ecx\n"
# define RESTORE_ARGUMENTS						\
"	popl	%ecx\n"							\
"	popl	%edx\n"							\
"	popl	%eax\n"							\
"	popl	%ebp\n"
#else
# define MEMORY(name)		name "(%rip)"
# define SAVE_ARGUMENTS							\
"	pushq	%rbp\n"							\
"	movq	%rsp, %rbp\n"						\
"	pushq	%rdi\n"							\
"	pushq	%rsi\n"							\
"	pushq	%rdx\n"							\
"	pushq	%rcx\n"							\
"	pushq	%r8\n"							\
"	pushq	%r9\n"							\
"	subq	$8, %rsp\n"
# define RESTORE_ARGUMENTS						\
"	addq	$8, %rsp\n"						\
"	popq	%r9\n"							\
"	popq	%r8\n"							\
"	popq	%rcx\n"							\
"	popq	%rdx\n"							\
"	popq	%rsi\n"							\
"	popq	%rdi\n"							\
"	popq	%rbp\n"
#endif

#endif /* _WIDTH_H */
