/* SPDX-License-Identifier: GPL-2.0 */
/* Trampolines in 32-bit code: what trampoline.c takes of the calling convention */
#ifndef _FENTRY_ASSEMBLER_32_H
#define _FENTRY_ASSEMBLER_32_H

/* Registers that are saved: the first ones always, the others if asked for */
static const struct saved_reg saved_regs[] = {
	/* What C code may change and the traced function still needs: its arguments */
	SAVED(AX, ax), SAVED(CX, cx), SAVED(DX, dx),
	SAVED(BP, bp),
	SAVED(BX, bx), SAVED(SI, si), SAVED(DI, di),
};

/* How many of them; %eax, which has a result, is always among them. */
enum { ARGUMENTS = 3, AND_FRAME, AND_RESULT = AND_FRAME, ALL_REGS = ARRAY_SIZE(saved_regs) };

/* The first two arguments of a callback */
enum { ARG_SITE = AX, ARG_PARENT = DX };

/* Where the stack has the struct pt_regs, from its top on: behind the fourth argument */
#define REGS		4

/* Do callbacks that do not ask for all registers get none? */
#define NO_PARTIAL_REGS	true

/* So who sets where the function continues has to get all. */
static bool needs_all_regs(unsigned int flags)
{
	return flags & (TRAMPOLINE_REGS | TRAMPOLINE_SHARED | TRAMPOLINE_SET_IP);
}

/* All registers are meant as a whole. */
static void emit_wide(struct assembler *as, u8 reg)
{
}

/* mov %ds,ds(%esp) and the others, which are not restored */
static void emit_segments(struct assembler *as)
{
	static const struct saved_reg segments[] = {
		SAVED(3, ds), SAVED(0, es), SAVED(4, fs), SAVED(5, gs),
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(segments); i++) {
		EMIT(as, 0x8c);
		emit_rsp_disp(as, segments[i].reg, REGS + segments[i].at);
	}
}

/*
 * The third and the fourth argument of a callback: mov $imm,%ecx, and what is on the stack,
 * which the one before may have changed. function_graph's callback does not look at the
 * registers, but where on the stack they are. Callbacks that look at arguments alone do not
 * look at the fourth argument here, as no arguments are saved for them: it is not set.
 */
static void emit_last_arguments(struct assembler *as, const struct fentry_callback *call,
				bool regs, bool arguments_only)
{
	if (regs || (IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER) &&
		     call->func == ftrace_graph_func)) {
		emit_stack(as, LEA, CX, REGS);
		emit_stack(as, STORE, CX, 0);
	} else if (!arguments_only) {
		emit_store_imm(as, 0, 0);
	}
	EMIT(as, 0xb8 | CX);
	emit32(as, (unsigned long)call->arg);
}

#endif /* _FENTRY_ASSEMBLER_32_H */
