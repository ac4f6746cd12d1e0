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
 * That is the 64-bit code; assembler_32.h has what differs in 32-bit code, where the first
 * three arguments are in %eax, %edx and %ecx and the registers are the fourth, on the stack.
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
 * The stack of a trampoline, upwards from %rsp, in 32-bit code from %esp + 4:
 *
 *   0              struct pt_regs, all of it, or the argument registers, %rbp, %rsp
 *                  and %rip with %cs being 0, or the argument registers alone
 *   PARENT         return address of the traced function as it was on entry,
 *                  if there are several callbacks: any may change the original
 *   frame - LINKS  where frames are chained by frame pointers, the two links that
 *                  the traced function and its caller are to be found by
 *   frame          return address into the traced function
 *   frame + word   return address of the traced function
 *
 * One lea moves the stack pointer down by a frame and another one moves it up. Where pushf, push
 * or call have moved it by a word as well, more_at[] of the trampoline says so. A table of four
 * lines tells the unwinder the rest (fentry_trampoline_orc).
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

#include "assembler.h"

#define WORD		((int)sizeof(long))
#define FRAME		(REGS + FENTRY_FRAME)
#define PARENT		(REGS + (int)sizeof(struct pt_regs))
#define LINKS		(FRAME - PARENT - 2 * WORD)
/* The two links: see emit_links() */
#define CALLER_LINK	(FRAME - 3 * WORD)
#define FUNCTION_LINK	(FRAME - 5 * WORD)

/* Where a field of the struct pt_regs is on the stack */
#define AT(_field)	(REGS + (int)offsetof(struct pt_regs, _field))

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
		/* Leave room for such a jump: see fentry_trampoline_mitigate(). */
		EMIT(as, RET_INSN_OPCODE, INT3_INSN_OPCODE, INT3_INSN_OPCODE,
		     INT3_INSN_OPCODE, INT3_INSN_OPCODE);

	/* Nothing runs past it, not speculatively either */
	EMIT(as, INT3_INSN_OPCODE);
}

static void emit_regs(struct assembler *as, u8 opcode, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		emit_stack(as, opcode, saved_regs[i].reg, REGS + saved_regs[i].at);
}

/* popf and pushf work at the top of the stack, so the slot is a word off. */
static void emit_save_flags(struct assembler *as, struct fentry_trampoline *tramp)
{
	EMIT(as, 0x9c);				/* pushf */
	tramp->more_at[0] = as->len;
	EMIT(as, 0x8f);				/* pop flags(%rsp) */
	emit_rsp_disp(as, 0, AT(flags));
}

static void emit_restore_flags(struct assembler *as, struct fentry_trampoline *tramp)
{
	EMIT(as, 0xff);				/* push flags(%rsp) */
	emit_rsp_disp(as, 6, AT(flags));
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
	emit_stack(as, LEA, SP, WORD);
	emit_stack(as, LOAD, AX, AT(orig_ax));
	emit_stack(as, STORE, AX, FRAME - WORD);
	emit_stack(as, LOAD, AX, AT(ax));
}

/*
 * The traced function has not made its frame yet, so that an unwinder that
 * follows frames would miss its caller. The trampoline makes both. The first two
 * arguments are the return addresses. In words:
 *
 *   frame - 5   the next link               <- %rbp
 *   frame - 4   return address into the traced function
 *   frame - 3   its caller's %rbp
 *   frame - 2   return address of the traced function
 *   frame - 1   its caller's %rbp: with that, and what follows in the frame, the
 *               unwinder knows where entry code has called (is_last_ftrace_frame)
 */
static void emit_links(struct assembler *as)
{
	emit_stack(as, STORE, BP, CALLER_LINK);
	emit_stack(as, STORE, ARG_PARENT, CALLER_LINK + WORD);
	emit_stack(as, STORE, BP, CALLER_LINK + 2 * WORD);
	emit_stack(as, LEA, BP, CALLER_LINK);
	emit_stack(as, STORE, BP, FUNCTION_LINK);
	emit_stack(as, STORE, ARG_SITE, FUNCTION_LINK + WORD);
	emit_stack(as, LEA, BP, FUNCTION_LINK);
}

static void generate(struct assembler *as, struct fentry_trampoline *tramp, unsigned int flags)
{
	const bool shared = flags & TRAMPOLINE_SHARED;
	const bool regs = needs_all_regs(flags);
	const bool result = regs || flags & TRAMPOLINE_SET_IP;
	const bool bare = !result && (NO_PARTIAL_REGS || flags & TRAMPOLINE_BARE);
	unsigned int i;

	tramp->left = shared ? WORD : 0;
	memset(tramp->more_at, 0, sizeof(tramp->more_at));

	emit_stack(as, LEA, SP, -FRAME);
	tramp->body = as->len;
	if (regs)
		emit_save_flags(as, tramp);

	emit_regs(as, STORE, regs ? ALL_REGS : result ? AND_RESULT :
				bare ? ARGUMENTS : AND_FRAME);
	if (regs) {
		emit_segments(as);
		emit_store_imm(as, __KERNEL_DS, AT(ss));
		emit_store_imm(as, shared ? (unsigned long)ftrace_stub_direct_tramp : 0,
			       AT(orig_ax));
	}
	if (!bare) {
		/* ftrace_get_regs() knows a full set by its code segment. */
		emit_store_imm(as, regs ? __KERNEL_CS : 0, AT(cs));
		emit_stack(as, LEA, CX, FRAME + WORD);
		emit_stack(as, STORE, CX, AT(sp));
	}
	emit_stack(as, LOAD, ARG_PARENT, FRAME + WORD);
	if (tramp->nr > 1)
		emit_stack(as, STORE, ARG_PARENT, PARENT);
	emit_stack(as, LOAD, ARG_SITE, FRAME);
	if (!bare)
		emit_stack(as, STORE, ARG_SITE, AT(ip));
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
			emit_stack(as, LOAD, ARG_SITE, FRAME);
			emit_stack(as, LOAD, ARG_PARENT, PARENT);
		}
		/* lea -5(%reg),%reg */
		emit_wide(as, ARG_SITE);
		EMIT(as, LEA, 0x40 | ARG_SITE << 3 | ARG_SITE, -CALL_INSN_SIZE);
		emit_last_arguments(as, &tramp->call[i], regs, flags & TRAMPOLINE_BARE);
		emit_call_depth(as);
		tramp->call[i].at = as->len;
		emit_branch(as, CALL_INSN_OPCODE, tramp->call[i].func);
	}

	if (result) {
		emit_stack(as, LOAD, AX, AT(ip));
		emit_stack(as, STORE, AX, FRAME);
	}
	emit_regs(as, LOAD, regs ? ALL_REGS : result ? AND_RESULT : ARGUMENTS);
	if (LINKS && !result)
		emit_stack(as, LOAD, BP, CALLER_LINK);
	if (shared)
		emit_slot(as, tramp);
	if (regs)
		emit_restore_flags(as, tramp);

	emit_stack(as, LEA, SP, FRAME - tramp->left);
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
/* perf's record of a trampoline contains its text, and has a size of 16 bits. */
#define TRAMPOLINE_MAX	(CHUNK_SIZE / 2)

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
	if (as.len > TRAMPOLINE_MAX)
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
 * Return: 0, -ENOMEM, or -E2BIG if it were larger than 32 KiB.
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

/**
 * fentry_redirect_begin - start changing branches of live trampolines
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading and text_mutex, which
 * fentry_redirect_end() gives back.
 */
void fentry_redirect_begin(void)
{
	cpus_read_lock();
	mutex_lock(&text_mutex);
}

/**
 * fentry_redirect_end - make the changes since fentry_redirect_begin()
 *
 * Three synchronisations of all CPUs for each TP_VEC_MAX branches; none if none changes and no
 * static key or call is waiting for its own. They run at the caller's priority. Until the last
 * one, a CPU that reaches such a branch traps.
 */
void fentry_redirect_end(void)
{
	text_poke_finish();
	mutex_unlock(&text_mutex);
	cpus_read_unlock();
}

/* Have a live trampoline's branch at @at go to @target. */
static void redirect(void *at, u8 opcode, void *target)
{
	u8 insn[CALL_INSN_SIZE];

	__text_gen_insn(insn, opcode, at, target, CALL_INSN_SIZE);
	text_poke_queue(at, insn, CALL_INSN_SIZE, NULL);
}

/**
 * fentry_trampoline_retarget - make a trampoline call another function
 * @tramp: any
 * @arg: of the callback that is to be another; there may be none
 * @func: what to call instead, with the same argument
 *
 * Takes effect in fentry_redirect_end() at the latest. Tasks may be in the former function
 * for a while yet.
 *
 * Context: between fentry_redirect_begin() and fentry_redirect_end(). The trampoline may run
 * meanwhile.
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
 * fentry_trampoline_mitigate - have a trampoline return as the CPU's mitigations want it
 * @tramp: any; it may be older than their choice, with ftrace= on the command line
 *
 * Call depth tracking does not count what such a trampoline calls. The count is too low then,
 * and the kernel fills the return predictor too early: that is slow, but safe.
 *
 * Context: as fentry_trampoline_retarget().
 */
void fentry_trampoline_mitigate(struct fentry_trampoline *tramp)
{
	if (tramp->nr && !tramp->onward && cpu_feature_enabled(X86_FEATURE_RETHUNK))
		redirect((void *)tramp->addr + tramp->tail, JMP32_INSN_OPCODE, x86_return_thunk);
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
	[ORC_EMPTY]	= ORC_CALL(WORD),
	[ORC_SLOT]	= ORC_CALL(2 * WORD),
	[ORC_FRAME]	= ORC_CALL(FRAME + WORD),
	[ORC_MORE]	= ORC_CALL(FRAME + 2 * WORD),
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
