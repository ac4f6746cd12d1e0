// SPDX-License-Identifier: GPL-2.0
/*
 * What a site costs that nobody traces: each NOP that the kernel knows, and none at all. In a
 * loop there is nothing else to wait for; functions that do something show what is left of
 * that; and code that is as long as this and runs straight on has to be fetched and decoded.
 */
#include <stdio.h>

#include <linux/execmem.h>
#include <linux/set_memory.h>
#include <linux/sizes.h>

#include <asm/fentry.h>
#include <asm/text-patching.h>

/* The table itself, and the choice. It has nothing to say to others. */
#include <arch/x86/kernel/text_site/nop.c>

#include "hot.h"
#include "native.h"

#define LOOPS		10000000
#define BLOCK		16	/* bytes of straight code, with a NOP */
#define BLOCKS		(SZ_64K / BLOCK)
#define STRAIGHTS	50	/* times through all of it */
#define HOTS		300

#define NO_NOP		NR_NOPS
#define NR_ROWS		(NR_NOPS + 1)

typedef void (*loop_func)(unsigned long nr);
typedef void (*straight_func)(u64 *memory);

static loop_func loops[NR_ROWS];
static straight_func straights[NR_ROWS];
static unsigned long calls;

static const char *const lines[] = {
	"a site is an address in the text of the kernel whose instruction may be changed ",
	"while it runs and the patcher changes any number of them at a time with three passes ",
	"in the first it puts a breakpoint at each of them in the second it writes what ",
	"follows and in the third it puts the first byte of the new instruction where the ",
	"breakpoint was and a processor that meets the breakpoint does what the site is to ",
	"hold by its table",
};

static char text[512];

struct code {
	u8	*start;
	size_t	size;
};

static void put(struct code *code, const void *bytes, size_t size)
{
	memcpy(code->start + code->size, bytes, size);
	code->size += size;
}

#define PUT(_code, ...)							\
	do {								\
		const u8 bytes_[] = { __VA_ARGS__ };			\
		put(_code, bytes_, sizeof(bytes_));			\
	} while (0)

static void put_nop(struct code *code, unsigned int which)
{
	if (which != NO_NOP)
		put(code, nops[which].bytes, TEXT_SITE_SIZE);
}

static struct code make_code(void)
{
	const struct code code = { .start = execmem_alloc(EXECMEM_FTRACE, 2 * SZ_64K) };

	if (!code.start)
		wrong("no memory");
	return code;
}

static void *finish(const struct code *code)
{
	if (set_memory_rox((unsigned long)code->start, 2 * SZ_64K / PAGE_SIZE))
		wrong("no memory may be executed");
	return code->start;
}

static loop_func make_loop(unsigned int which)
{
	struct code code = make_code();

	/* All loops begin at the same place in a cache line. */
	put_nop(&code, which);
	PUT(&code, 0x48, 0xff, 0xcf);				/* dec %rdi */
	PUT(&code, 0x75, (u8)-(code.size + 2));			/* jne to the start */
	PUT(&code, RET_INSN_OPCODE);
	return finish(&code);
}

static straight_func make_straight(unsigned int which)
{
	struct code code = make_code();

	for (unsigned int i = 0; i < BLOCKS; i++) {
		put_nop(&code, which);
		PUT(&code, 0x48, 0x8b, 0x47, 0x08);		/* mov 8(%rdi), %rax */
		PUT(&code, 0x48, 0x01, 0xd0);			/* add %rdx, %rax */
		PUT(&code, 0x48, 0x89, 0x47, 0x10);		/* mov %rax, 16(%rdi) */
	}
	PUT(&code, RET_INSN_OPCODE);
	return finish(&code);
}

static void run_loop(const struct row *row, unsigned long nr)
{
	loops[row->arg](nr);
}

static void run_straight(const struct row *row, unsigned long nr)
{
	static u64 memory[8] __aligned(64);

	/* A row counts blocks. */
	for (nr = (nr + BLOCKS - 1) / BLOCKS; nr; nr--)
		straights[row->arg](memory);
}

/* Puts @insn to all sites of hot.c. One that calls has its target relative to itself. */
static void patch_sites(const u8 *insn, unsigned long to)
{
	const unsigned long *entry;

	for (entry = __start___mcount_loc; entry < __stop___mcount_loc; entry++) {
		u8 call[TEXT_SITE_SIZE] = { CALL_INSN_OPCODE };
		const s32 offset = to - (*entry + TEXT_SITE_SIZE);

		memcpy(call + 1, &offset, sizeof(offset));
		text_write((void *)*entry, to ? call : insn, TEXT_SITE_SIZE);
	}
}

static void prepare_hot(const struct row *row)
{
	if (row->arg != NO_NOP)
		patch_sites(nops[row->arg].bytes, 0);
}

static void run_hot(const struct row *row, unsigned long nr)
{
	/* A row counts calls. */
	for (nr = (nr + calls - 1) / calls; nr; nr--) {
		if (row->arg == NO_NOP)
			hot_plain(text);
		else
			hot_sites(text);
	}
}

static void count_call(unsigned long ip, unsigned long parent, void *arg, void *regs)
{
	++*(unsigned long *)arg;
}

/* How often a site is met in one run: a trampoline counts. */
static void count_calls(void)
{
	struct fentry_callback callback = { .func = count_call, .arg = &calls };
	struct fentry_trampoline tramp = {};

	if (fentry_trampoline_create(&tramp, 0, &callback, 1, 0))
		wrong("there is no trampoline");
	patch_sites(NULL, tramp.addr);
	if (hot_sites(text) != hot_plain(text))
		wrong("traced functions do something else");
	patch_sites(nops[NOP_NOPL].bytes, 0);
	if (!calls)
		wrong("there are no sites");
}

static void measure_in(const char *title, void (*prepare)(const struct row *row),
		       void (*run)(const struct row *row, unsigned long nr), unsigned long nr)
{
	struct row rows[NR_ROWS];

	for (unsigned int i = 0; i < NR_ROWS; i++) {
		rows[i] = (struct row){ "no NOP", prepare, run, i };
		if (i != NO_NOP)
			snprintf(rows[i].name, sizeof(rows[i].name), "%s", nops[i].name);
	}
	measure(title, rows, NR_ROWS, nr);
}

void measure_nops(void)
{
	char title[64];

	for (unsigned int i = 0; i < NR_ROWS; i++) {
		loops[i] = make_loop(i);
		straights[i] = make_straight(i);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(lines); i++)
		strcat(text, lines[i]);
	count_calls();
	arch_text_site_init();
	printf("\nA site that nobody traces: the kernel would choose '%s' here.\n", site_nop->name);

	measure_in("cycles per round of a loop", NULL, run_loop, LOOPS);
	measure_in("cycles per call of functions that do something", prepare_hot, run_hot,
		   HOTS * calls);
	snprintf(title, sizeof(title), "cycles per %u bytes of %u KiB of straight code", BLOCK,
		 SZ_64K / 1024);
	measure_in(title, NULL, run_straight, STRAIGHTS * BLOCKS);
}
