/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_ASM_TEXT_PATCHING_H
#define _SHIM_ASM_TEXT_PATCHING_H

#include <linux/set_memory.h>
#include <linux/types.h>

#include <err.h>
#include <string.h>

#define CALL_INSN_OPCODE	0xe8
#define CALL_INSN_SIZE		5
#define JMP32_INSN_OPCODE	0xe9
#define RET_INSN_OPCODE		0xc3
#define INT3_INSN_OPCODE	0xcc

/* It stays executable meanwhile: the caller may be on the same page. */
static inline void text_write(void *addr, const void *code, size_t len)
{
	const unsigned long start = (unsigned long)addr & -PAGE_SIZE;
	const size_t size = (unsigned long)addr + len - start;

	if (mprotect((void *)start, size, PROT_READ | PROT_WRITE | PROT_EXEC))
		err(1, "no code may be changed here");
	memcpy(addr, code, len);
	if (mprotect((void *)start, size, PROT_READ | PROT_EXEC))
		err(1, "changed code cannot be protected");
}

void *text_poke_set(void *addr, int byte, size_t len);
void text_poke_queue(void *addr, const void *insn, size_t len, const void *emulate);
void text_poke_finish(void);
void __text_gen_insn(void *buf, u8 opcode, const void *addr, const void *target, int size);

#endif /* _SHIM_ASM_TEXT_PATCHING_H */
