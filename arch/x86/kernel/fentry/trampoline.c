// SPDX-License-Identifier: GPL-2.0
/*
 * Trampolines: generated code that a site calls, which calls some functions and
 * returns to the site.
 *
 *   entry:  lea    -frame(%rsp),%rsp
 *   body:   pushf; pop                          all registers only
 *           mov    %rcx,cx(%rsp) ...            into a struct pt_regs, less of it
 *                                               if nobody looks at that
 *           call   func                         once for each callback, with
 *           ...                                 %rdi: the site
 *                                               %rsi: its caller
 *                                               %rdx: the callback's argument
 *                                               %rcx: the registers
 *           mov    cx(%rsp),%rcx ...
 *           push; popf                          all registers only
 *           lea    frame(%rsp),%rsp
 *   tail:   ret                                 or jmp, if it is to go on elsewhere
 *
 * A shared trampoline goes on to where its callback has said, in orig_ax. That is
 * known at run time only, and no register is free to jump through:
 *
 *           call   1f; int3                     the predictor of returns gets an
 *   1:      lea    8(%rsp),%rsp                 entry for the additional one
 *           mov    orig_ax(%rsp),%rax
 *           mov    %rax,frame-8(%rsp)
 *           ...                                 as above
 *           lea    frame-8(%rsp),%rsp
 *   tail:   ret                                 to orig_ax, with the return address
 *                                               into the traced function on top
 *
 * The stack of a trampoline, upwards from %rsp:
 *
 *   0              struct pt_regs, all of it, or the argument registers, %rbp, %rsp
 *                  and %rip with %cs being 0, or the argument registers alone
 *   PARENT         return address of the traced function as it was on entry,
 *                  if there are several callbacks: any may change the original
 *   frame - LINKS  where frames are chained by frame pointers, the two links that
 *                  the traced function and its caller are to be found by
 *   frame          return address into the traced function
 *   frame + 8      return address of the traced function
 *
 * Only lea moves the stack pointer, by one amount at one place, so that a table
 * of four lines tells the unwinder all there is to know (fentry_trampoline_orc).
 */
#include <linux/cpu.h>
#include <linux/execmem.h>
#include <linux/ftrace.h>
#include <linux/genalloc.h>
#include <linux/memory.h>
#include <linux/rbtree_latch.h>
#include <linux/set_memory.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <asm/alternative.h>
#include <asm/fentry.h>
#include <asm/nospec-branch.h>
#include <asm/orc_types.h>
#include <asm/segment.h>
#include <asm/text-patching.h>
#include <asm/text_site.h>

#define FRAME		FENTRY_FRAME
#define PARENT		sizeof(struct pt_regs)
#define LINKS		(FRAME - (int)PARENT - 16)

/* Register numbers as instructions encode them */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

#define SAVED(_reg, _field)	{ _reg, offsetof(struct pt_regs, _field) }

/* Registers that are saved, and where: the first ones always, the others if asked for */
static const struct saved_reg {
	u8	reg;
	u8	at;
} saved_regs[] = {
	/* What C code may change and the traced function still needs: not %rax */
	SAVED(RCX, cx), SAVED(RDX, dx), SAVED(RSI, si),
	SAVED(RDI, di), SAVED(R8, r8), SAVED(R9, r9),
	SAVED(RBP, bp),
	/* Where what returns instead of the traced function may say with what */
	SAVED(RAX, ax),
	SAVED(RBX, bx), SAVED(R10, r10), SAVED(R11, r11), SAVED(R12, r12),
	SAVED(R13, r13), SAVED(R14, r14), SAVED(R15, r15),
};

/* How many of them */
enum { ARGUMENTS = 6, AND_FRAME, AND_RESULT, ALL_REGS = ARRAY_SIZE(saved_regs) };

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

/* The instructions with a register and a place on the stack, all 64 bits of them */
enum { STORE = 0x89, LOAD = 0x8b, LEA = 0x8d, STORE_IMM = 0xc7 };

static void emit_stack(struct assembler *as, u8 opcode, u8 reg, s32 disp)
{
	EMIT(as, reg >= R8 ? 0x4c : 0x48, opcode);
	emit_rsp_disp(as, reg, disp);
}

static void emit_store_imm(struct assembler *as, s32 imm, s32 disp)
{
	emit_stack(as, STORE_IMM, 0, disp);
	emit32(as, imm);
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

static void emit_branch(struct assembler *as, u8 opcode, void *target)
{
	EMIT(as, opcode);
	emit32(as, (unsigned long)target - (as->addr + as->len + sizeof(s32)));
}

/* The accounting that a call needs on CPUs whose return predictor underflows */
static void emit_call_depth(struct assembler *as)
{
	u8 buf[64], *end = buf;

	if (!cpu_feature_enabled(X86_FEATURE_CALL_DEPTH))
		return;
	x86_call_depth_emit_accounting(&end, NULL, (void *)(as->addr + as->len));
	emit(as, buf, end - buf);
}

static void emit_return(struct assembler *as)
{
	if (cpu_feature_enabled(X86_FEATURE_RETHUNK))
		emit_branch(as, JMP32_INSN_OPCODE, x86_return_thunk);
	else
		EMIT(as, RET_INSN_OPCODE);

	/* Nothing runs past it, not speculatively either */
	EMIT(as, INT3_INSN_OPCODE);
}

static void emit_regs(struct assembler *as, u8 opcode, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		emit_stack(as, opcode, saved_regs[i].reg, saved_regs[i].at);
}

#define FLAGS	offsetof(struct pt_regs, flags)

/* popf and pushf work at the top of the stack, so the slot is 8 bytes off. */
static void emit_save_flags(struct assembler *as, struct fentry_trampoline *tramp)
{
	EMIT(as, 0x9c);				/* pushf */
	tramp->more_at[0] = as->len;
	EMIT(as, 0x8f);				/* pop FLAGS(%rsp) */
	emit_rsp_disp(as, 0, FLAGS);
}

static void emit_restore_flags(struct assembler *as, struct fentry_trampoline *tramp)
{
	EMIT(as, 0xff);				/* push FLAGS(%rsp) */
	emit_rsp_disp(as, 6, FLAGS);
	tramp->more_at[1] = as->len;
	EMIT(as, 0x9d);				/* popf */
}

/*
 * Where a shared trampoline goes on to. The slot is the last word of the frame, where
 * frames are chained that of the last link, which is not needed any more.
 */
static void emit_slot(struct assembler *as, struct fentry_trampoline *tramp)
{
	EMIT(as, CALL_INSN_OPCODE, 1, 0, 0, 0, INT3_INSN_OPCODE);
	tramp->more_at[2] = as->len;
	emit_stack(as, LEA, RSP, 8);
	emit_stack(as, LOAD, RAX, offsetof(struct pt_regs, orig_ax));
	emit_stack(as, STORE, RAX, FRAME - 8);
	emit_stack(as, LOAD, RAX, offsetof(struct pt_regs, ax));
}

/*
 * The traced function has not made its frame yet, so that an unwinder that
 * follows frames would miss its caller. The trampoline makes both. %rdi and %rsi
 * are the return addresses.
 *
 *   frame - 40  the next link               <- %rbp
 *   frame - 32  return address into the traced function
 *   frame - 24  its caller's %rbp
 *   frame - 16  return address of the traced function
 *   frame - 8   its caller's %rbp: with that, and what follows in the frame, the
 *               unwinder knows where entry code has called (is_last_ftrace_frame)
 */
static void emit_links(struct assembler *as)
{
	const unsigned int function = FRAME - 40, caller = FRAME - 24;

	emit_stack(as, STORE, RBP, caller);
	emit_stack(as, STORE, RSI, caller + 8);
	emit_stack(as, STORE, RBP, caller + 16);
	emit_stack(as, LEA, RBP, caller);
	emit_stack(as, STORE, RBP, function);
	emit_stack(as, STORE, RDI, function + 8);
	emit_stack(as, LEA, RBP, function);
}

static void generate(struct assembler *as, struct fentry_trampoline *tramp, unsigned int flags)
{
	const bool shared = flags & TRAMPOLINE_SHARED;
	const bool regs = flags & (TRAMPOLINE_REGS | TRAMPOLINE_SHARED);
	const bool result = regs || flags & TRAMPOLINE_SET_IP;
	const bool bare = !result && flags & TRAMPOLINE_BARE;
	const unsigned int kept = LINKS ? AND_FRAME : ARGUMENTS;
	unsigned int i;

	tramp->left = shared ? 8 : 0;
	memset(tramp->more_at, 0, sizeof(tramp->more_at));

	emit_stack(as, LEA, RSP, -FRAME);
	tramp->body = as->len;
	if (regs)
		emit_save_flags(as, tramp);

	emit_regs(as, STORE, regs ? ALL_REGS : result ? AND_RESULT : bare ? kept : AND_FRAME);
	if (regs) {
		emit_store_imm(as, __KERNEL_DS, offsetof(struct pt_regs, ss));
		emit_store_imm(as, shared ? (unsigned long)ftrace_stub_direct_tramp : 0,
			       offsetof(struct pt_regs, orig_ax));
	}
	if (!bare) {
		/* ftrace_get_regs() knows a full set by its code segment. */
		emit_store_imm(as, regs ? __KERNEL_CS : 0, offsetof(struct pt_regs, cs));
		emit_stack(as, LEA, RCX, FRAME + 8);
		emit_stack(as, STORE, RCX, offsetof(struct pt_regs, sp));
	}
	emit_stack(as, LOAD, RSI, FRAME + 8);
	if (tramp->nr > 1)
		emit_stack(as, STORE, RSI, PARENT);
	emit_stack(as, LOAD, RDI, FRAME);
	if (!bare)
		emit_stack(as, STORE, RDI, offsetof(struct pt_regs, ip));
	if (LINKS)
		emit_links(as);

	/*
	 * The site's own call: the compiler's are accounted for by the callee. So
	 * is this one if there is a callee that takes it over.
	 */
	if (!tramp->onward)
		emit_call_depth(as);

	for (i = 0; i < tramp->nr; i++) {
		if (i) {
			emit_stack(as, LOAD, RDI, FRAME);
			emit_stack(as, LOAD, RSI, PARENT);
		}
		EMIT(as, 0x48, 0x8d, 0x7f, -CALL_INSN_SIZE);	/* lea -5(%rdi),%rdi */
		emit_load_arg(as, (unsigned long)tramp->call[i].arg);
		EMIT(as, 0x48, 0x89, 0xe1);		/* mov %rsp,%rcx */
		emit_call_depth(as);
		tramp->call[i].at = as->len;
		emit_branch(as, CALL_INSN_OPCODE, tramp->call[i].func);
	}

	if (result) {
		emit_stack(as, LOAD, RAX, offsetof(struct pt_regs, ip));
		emit_stack(as, STORE, RAX, FRAME);
	}
	emit_regs(as, LOAD, regs ? ALL_REGS : result ? AND_RESULT : kept);
	if (shared)
		emit_slot(as, tramp);
	if (regs)
		emit_restore_flags(as, tramp);

	emit_stack(as, LEA, RSP, FRAME - tramp->left);
	tramp->tail = as->len;
	if (tramp->onward)
		emit_branch(as, JMP32_INSN_OPCODE, (void *)tramp->onward);
	else
		emit_return(as);
}

/*
 * The memory: chunks that are executable and read-only for good. Trampolines
 * come and go in them through a temporary mapping, so that neither needs page
 * attributes to change, which would be more broadcasts to all CPUs.
 */
#define CHUNK_SIZE	SZ_64K
#define GRANULE_ORDER	6	/* a cache line */

static struct gen_pool *pool;
static DEFINE_MUTEX(pool_mutex);

/* Changes under pool_mutex; unwinders read it at any moment, under RCU. */
static struct latch_tree_root trampolines;

static struct fentry_trampoline *tramp_of(struct latch_tree_node *node)
{
	return container_of(node, struct fentry_trampoline, node);
}

static __always_inline bool tramp_less(struct latch_tree_node *a, struct latch_tree_node *b)
{
	return tramp_of(a)->addr < tramp_of(b)->addr;
}

static __always_inline int tramp_comp(void *key, struct latch_tree_node *node)
{
	const struct fentry_trampoline *tramp = tramp_of(node);
	const unsigned long addr = (unsigned long)key;

	return addr < tramp->addr ? -1 : addr - tramp->addr >= tramp->size;
}

static const struct latch_tree_ops tramp_order = { .less = tramp_less, .comp = tramp_comp };

static int pool_grow(void)
{
	void *chunk;
	int ret;

	if (!pool) {
		pool = gen_pool_create(GRANULE_ORDER, NUMA_NO_NODE);
		if (!pool)
			return -ENOMEM;
	}

	chunk = execmem_alloc(EXECMEM_FTRACE, CHUNK_SIZE);
	if (!chunk)
		return -ENOMEM;

	memset(chunk, INT3_INSN_OPCODE, CHUNK_SIZE);
	set_vm_flush_reset_perms(chunk);
	ret = set_memory_rox((unsigned long)chunk, CHUNK_SIZE / PAGE_SIZE);
	if (!ret)
		ret = gen_pool_add(pool, (unsigned long)chunk, CHUNK_SIZE, NUMA_NO_NODE);
	if (ret)
		execmem_free(chunk);
	return ret;
}

static unsigned long pool_alloc(unsigned int size)
{
	unsigned long addr = pool ? gen_pool_alloc(pool, size) : 0;

	if (!addr && !pool_grow())
		addr = gen_pool_alloc(pool, size);
	return addr;
}

static int trampoline_write(struct fentry_trampoline *tramp, unsigned int flags)
{
	u8 *buf __free(kfree) = NULL;
	struct assembler as = {};

	generate(&as, tramp, flags);
	if (as.len > CHUNK_SIZE)
		return -E2BIG;
	tramp->size = as.len;
	buf = kmalloc(as.len, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;

	guard(mutex)(&pool_mutex);
	tramp->addr = pool_alloc(as.len);
	if (!tramp->addr)
		return -ENOMEM;

	as = (struct assembler){ .buf = buf, .addr = tramp->addr };
	generate(&as, tramp, flags);
	text_write((void *)tramp->addr, buf, as.len);
	latch_tree_insert(&tramp->node, &trampolines, &tramp_order);
	return 0;
}

/**
 * fentry_trampoline_create - generate a trampoline
 * @tramp: gets its description
 * @flags: TRAMPOLINE_*
 * @calls: what it calls, in this order; must stay until fentry_trampoline_free()
 * @nr: how many, at least one
 * @onward: where to go on to after them instead of returning to the site, or 0
 *
 * Its code is there for other CPUs once they have serialised, which the first
 * pass of any batch makes them do.
 *
 * Context: process context, sleeps, takes text_mutex.
 *
 * Return: 0, -ENOMEM, or -E2BIG if it were larger than a chunk of memory.
 */
int fentry_trampoline_create(struct fentry_trampoline *tramp, unsigned int flags,
			     struct fentry_callback *calls, unsigned int nr,
			     unsigned long onward)
{
	int ret;

	tramp->nr = nr;
	tramp->onward = onward;
	tramp->call = calls;
	ret = trampoline_write(tramp, flags);
	if (ret)
		tramp->nr = 0;
	return ret;
}

/**
 * fentry_trampoline_free - the counterpart of fentry_trampoline_create()
 * @tramp: nobody is in it, and nobody can get there any more. Its own memory
 *	may be freed after an RCU grace period: unwinders may still look at it.
 *
 * Context: process context, sleeps, takes text_mutex.
 */
void fentry_trampoline_free(struct fentry_trampoline *tramp)
{
	guard(mutex)(&pool_mutex);
	latch_tree_erase(&tramp->node, &trampolines, &tramp_order);
	text_poke_set((void *)tramp->addr, INT3_INSN_OPCODE, tramp->size);
	gen_pool_free(pool, tramp->addr, tramp->size);
}

/* Make a live trampoline's branch at @at go to @target. */
static void redirect(void *at, u8 opcode, void *target)
{
	u8 insn[CALL_INSN_SIZE];

	__text_gen_insn(insn, opcode, at, target, CALL_INSN_SIZE);

	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);
	text_poke_bp(at, insn, CALL_INSN_SIZE, NULL);
}

/**
 * fentry_trampoline_retarget - make a trampoline call another function
 * @tramp: any
 * @arg: of the callback that is to be another; there may be none
 * @func: what to call instead, with the same argument
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading and
 * text_mutex. The trampoline may run meanwhile; tasks in it may be in the former
 * function for a while yet.
 */
void fentry_trampoline_retarget(struct fentry_trampoline *tramp, const void *arg, void *func)
{
	for (unsigned int i = 0; i < tramp->nr; i++) {
		if (tramp->call[i].arg == arg)
			redirect((void *)tramp->addr + tramp->call[i].at, CALL_INSN_OPCODE, func);
	}
}

/**
 * fentry_trampoline_go_on_to - make a trampoline go on to another place
 * @tramp: one with an @onward
 * @onward: the place
 *
 * Context: as fentry_trampoline_retarget().
 */
void fentry_trampoline_go_on_to(struct fentry_trampoline *tramp, unsigned long onward)
{
	tramp->onward = onward;
	redirect((void *)tramp->addr + tramp->tail, JMP32_INSN_OPCODE, (void *)onward);
}

/**
 * fentry_trampoline_find - the trampoline that an address is in
 * @addr: any address
 *
 * Context: any, under RCU or with preemption off.
 *
 * Return: the trampoline, or NULL.
 */
struct fentry_trampoline *fentry_trampoline_find(unsigned long addr)
{
	struct latch_tree_node *node = latch_tree_find((void *)addr, &trampolines, &tramp_order);

	return node ? tramp_of(node) : NULL;
}

#define ORC_CALL(_sp_offset)						\
	{								\
		.type		= ORC_TYPE_CALL,			\
		.sp_reg		= ORC_REG_SP,				\
		.sp_offset	= (_sp_offset),				\
		.bp_reg		= ORC_REG_UNDEFINED,			\
	}

/* Where the caller's stack is, by how much the trampoline has on it */
enum { ORC_EMPTY, ORC_SLOT, ORC_FRAME, ORC_MORE };

static struct orc_entry orc_frames[] = {
	[ORC_EMPTY]	= ORC_CALL(8),
	[ORC_SLOT]	= ORC_CALL(16),
	[ORC_FRAME]	= ORC_CALL(FRAME + 8),
	[ORC_MORE]	= ORC_CALL(FRAME + 16),
};

/**
 * fentry_trampoline_orc - how to unwind from an address in a trampoline
 * @addr: any address
 *
 * Context: any, under RCU or with preemption off.
 *
 * Return: the entry, or NULL if there is no trampoline at @addr.
 */
struct orc_entry *fentry_trampoline_orc(unsigned long addr)
{
	const struct fentry_trampoline *tramp = fentry_trampoline_find(addr);
	unsigned int offset, i;

	if (!tramp)
		return NULL;

	offset = addr - tramp->addr;
	if (offset < tramp->body)
		return &orc_frames[ORC_EMPTY];
	if (offset >= tramp->tail)
		return &orc_frames[tramp->left ? ORC_SLOT : ORC_EMPTY];

	for (i = 0; i < ARRAY_SIZE(tramp->more_at); i++) {
		if (offset == tramp->more_at[i])
			return &orc_frames[ORC_MORE];
	}
	return &orc_frames[ORC_FRAME];
}
