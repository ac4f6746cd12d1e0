/* SPDX-License-Identifier: GPL-2.0 */
/* Trampolines in 64-bit code: what trampoline.c takes of the calling convention */
#ifndef _FENTRY_ASSEMBLER_64_H
#define _FENTRY_ASSEMBLER_64_H

/* Registers that are saved: the first ones always, the others if asked for */
static const struct saved_reg saved_regs[] = {
	/* What C code may change and the traced function still needs: not %rax */
	SAVED(CX, cx), SAVED(DX, dx), SAVED(SI, si),
	SAVED(DI, di), SAVED(R8, r8), SAVED(R9, r9),
	SAVED(BP, bp),
	/* Where what returns instead of the traced function may say with what */
	SAVED(AX, ax),
	SAVED(BX, bx), SAVED(R10, r10), SAVED(R11, r11), SAVED(R12, r12),
	SAVED(R13, r13), SAVED(R14, r14), SAVED(R15, r15),
};

/* How many of them */
enum { ARGUMENTS = 6, AND_FRAME, AND_RESULT, ALL_REGS = ARRAY_SIZE(saved_regs) };

/* The first two arguments of a callback */
enum { ARG_SITE = DI, ARG_PARENT = SI };

/* Where the stack has the struct pt_regs, from its top on */
#define REGS		0

/* Do callbacks that do not ask for all registers get none? */
#define NO_PARTIAL_REGS	false

static bool needs_all_regs(unsigned int flags)
{
	return flags & (TRAMPOLINE_REGS | TRAMPOLINE_SHARED);
}

/* What says that all 64 bits of a register are meant */
static void emit_wide(struct assembler *as, u8 reg)
{
	EMIT(as, reg >= R8 ? 0x4c : 0x48);
}

/* No segment registers are saved. */
static void emit_segments(struct assembler *as)
{
}

/* mov $imm,%rdx, in the shorter form if sign extension gives all of it */
static void emit_load_arg(struct assembler *as, unsigned long imm)
{
	if ((s32)imm == (long)imm) {
		EMIT(as, 0x48, 0xc7, 0xc2);
		emit32(as, imm);
	} else {
		EMIT(as, 0x48, 0xba);
		emit(as, &imm, sizeof(imm));
	}
}

/* The third and the fourth argument of a callback */
static void emit_last_arguments(struct assembler *as, const struct fentry_callback *call,
				bool regs, bool arguments_only)
{
	emit_load_arg(as, (unsigned long)call->arg);
	EMIT(as, 0x48, 0x89, 0xe1);		/* mov %rsp,%rcx */
}

#endif /* _FENTRY_ASSEMBLER_64_H */
