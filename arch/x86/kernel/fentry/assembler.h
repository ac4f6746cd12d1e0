/* SPDX-License-Identifier: GPL-2.0 */
/* For trampoline.c: how instructions are encoded */
#ifndef _FENTRY_ASSEMBLER_H
#define _FENTRY_ASSEMBLER_H

#include <linux/ftrace.h>
#include <linux/string.h>
#include <linux/types.h>

#include <asm/fentry.h>

/* Register numbers as instructions encode them */
enum { AX, CX, DX, BX, SP, BP, SI, DI, R8, R9, R10, R11, R12, R13, R14, R15 };

/**
 * struct saved_reg - a register that is saved
 * @reg: its number
 * @at: where: offset in struct pt_regs
 */
struct saved_reg {
	u8	reg;
	u8	at;
};

#define SAVED(_reg, _field)	{ _reg, offsetof(struct pt_regs, _field) }

/*
 * The code being generated. It is written at @buf to be run at @addr; with
 * @buf NULL it is only measured.
 */
struct assembler {
	u8		*buf;
	unsigned long	addr;
	unsigned int	len;
};

static void emit(struct assembler *as, const void *bytes, unsigned int len)
{
	if (as->buf)
		memcpy(as->buf + as->len, bytes, len);
	as->len += len;
}

#define EMIT(as, ...)							\
	do {								\
		const u8 bytes_[] = { __VA_ARGS__ };			\
		emit(as, bytes_, sizeof(bytes_));			\
	} while (0)

static void emit32(struct assembler *as, s32 val)
{
	emit(as, &val, sizeof(val));
}

/* ModRM and what follows for @disp(%rsp), with @reg the other operand */
static void emit_rsp_disp(struct assembler *as, u8 reg, s32 disp)
{
	const u8 sib = 0x24;	/* base %rsp, no index */

	reg = (reg & 7) << 3;
	if (disp >= -128 && disp < 128) {
		EMIT(as, 0x44 | reg, sib, disp);
	} else {
		EMIT(as, 0x84 | reg, sib);
		emit32(as, disp);
	}
}

/* The instructions with a register and a place on the stack, all bits of them */
enum { STORE = 0x89, LOAD = 0x8b, LEA = 0x8d, STORE_IMM = 0xc7 };

static void emit_wide(struct assembler *as, u8 reg);

static void emit_stack(struct assembler *as, u8 opcode, u8 reg, s32 disp)
{
	emit_wide(as, reg);
	EMIT(as, opcode);
	emit_rsp_disp(as, reg, disp);
}

static void emit_store_imm(struct assembler *as, s32 imm, s32 disp)
{
	emit_stack(as, STORE_IMM, 0, disp);
	emit32(as, imm);
}

#ifdef CONFIG_X86_32
# include "assembler_32.h"
#else
# include "assembler_64.h"
#endif

#endif /* _FENTRY_ASSEMBLER_H */
