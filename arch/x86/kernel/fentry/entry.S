/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that have no C counterpart: what the compiler calls at a
 * function's entry until boot has made that a NOP, and callbacks that do
 * nothing.
 */
#include <linux/cfi_types.h>
#include <linux/export.h>
#include <linux/linkage.h>

#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

	.section .text, "ax"

SYM_FUNC_START(__fentry__)
	CALL_DEPTH_ACCOUNT
	RET
SYM_FUNC_END(__fentry__)
EXPORT_SYMBOL(__fentry__)

/* What is called directly by a site and has nothing to do */
SYM_FUNC_START(ftrace_stub_direct_tramp)
	CALL_DEPTH_ACCOUNT
	RET
SYM_FUNC_END(ftrace_stub_direct_tramp)

/* An ftrace_ops' function while it has none of its own */
SYM_TYPED_FUNC_START(ftrace_stub)
	CALL_DEPTH_ACCOUNT
	RET
SYM_FUNC_END(ftrace_stub)
