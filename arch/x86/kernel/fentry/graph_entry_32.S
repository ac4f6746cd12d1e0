/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a function returns to whose return is traced, instead of to its caller.
 */
#include <linux/cfi_types.h>
#include <linux/linkage.h>

#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>

	.section .text, "ax"

/* What a user of function returns has for one it does not want to know of */
SYM_TYPED_FUNC_START(ftrace_stub_graph)
	RET
SYM_FUNC_END(ftrace_stub_graph)

/*
 * %eax and %edx have what the function returns. The unwinder knows this address, and asks who
 * the caller is (ftrace_graph_ret_addr). It looks for the address in the slot that the return
 * has popped, which an interrupt may have overwritten.
 */
SYM_CODE_START(return_to_handler)
	pushl	$return_to_handler
	subl	$PTREGS_SIZE, %esp
	movl	%edx, PT_EDX(%esp)
	movl	%eax, PT_EAX(%esp)
	leal	PTREGS_SIZE+4(%esp), %ecx
	movl	%ecx, PT_OLDESP(%esp)
	movl	%ebp, PT_EBP(%esp)

	movl	%esp, %eax
	call	ftrace_return_to_handler
	movl	%eax, %ecx

	movl	PT_EAX(%esp), %eax
	movl	PT_EDX(%esp), %edx
	addl	$PTREGS_SIZE+4, %esp
	JMP_NOSPEC ecx
SYM_CODE_END(return_to_handler)
