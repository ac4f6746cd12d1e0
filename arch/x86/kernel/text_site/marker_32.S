/* SPDX-License-Identifier: GPL-2.0 */
/* What an enabled marker calls: see asm/marker_32.h */
#include <linux/linkage.h>

#include <asm/frame.h>
#include <asm/nospec-branch.h>

	.text

/* %eax: marker site, %edx: arguments. Saves what C does not: the caller keeps all registers. */
SYM_FUNC_START(__marker_call)
	FRAME_BEGIN
	pushl	%eax
	pushl	%ecx
	pushl	%edx
	pushl	%edx
	pushl	%eax
	call	marker_call
	addl	$8, %esp
	popl	%edx
	popl	%ecx
	popl	%eax
	FRAME_END
	RET
SYM_FUNC_END(__marker_call)
