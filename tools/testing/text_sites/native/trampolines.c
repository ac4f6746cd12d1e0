// SPDX-License-Identifier: GPL-2.0
/*
 * What it takes to get from a traced function to its callbacks: by a trampoline of the
 * engine's generator (arch/x86/kernel/fentry/trampoline.c), which calls each, or by a list
 * of all ops, as the classic engine does.
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/kernel.h>

#include <asm/fentry.h>
#include <asm/text-patching.h>

#include "classic.h"
#include "hot.h"
#include "native.h"

#define CALLBACKS	16
#define ELSEWHERE	8	/* ops of other functions */
#define FILTER_BITS	6	/* and as many functions in a filter as buckets */
#define CALLS		20000

struct task *current_task = &(struct task){};
struct ops *ops_list;
u32 rcu_is_watching = 1;
u32 cpu_number;
u32 __preempt_count = PREEMPT_NEED_RESCHED;

static struct ops all_ops[CALLBACKS + ELSEWHERE];
/* Where each callback was called from, in all */
static unsigned long sums[CALLBACKS];

void preempt_schedule_notrace(void)
{
	wrong("preemption was switched on too often");
}

/* As many functions as callbacks: what predicts indirect calls has that much to know. */
#define CALLBACK(_n)							\
static void callback_##_n(unsigned long ip, unsigned long parent, struct ops *ops, void *regs) \
{									\
	sums[_n] += ip;							\
}

CALLBACK(0) CALLBACK(1) CALLBACK(2) CALLBACK(3)
CALLBACK(4) CALLBACK(5) CALLBACK(6) CALLBACK(7)
CALLBACK(8) CALLBACK(9) CALLBACK(10) CALLBACK(11)
CALLBACK(12) CALLBACK(13) CALLBACK(14) CALLBACK(15)

static const ops_func callbacks[CALLBACKS] = {
	callback_0, callback_1, callback_2, callback_3,
	callback_4, callback_5, callback_6, callback_7,
	callback_8, callback_9, callback_10, callback_11,
	callback_12, callback_13, callback_14, callback_15,
};

/* The address of a site is that of its function. */
static void *const site = traced_sites;

/* What a site calls that has some callbacks by a list: a trampoline with this */
static void list_func(unsigned long ip, unsigned long parent, struct ops *ops, void *regs)
{
	walk_list(ip, parent, regs);
}

/* The same where indirect calls are not safe */
__attribute__((indirect_branch("thunk-inline")))
static void list_func_retpoline(unsigned long ip, unsigned long parent, struct ops *ops,
				void *regs)
{
	walk_list(ip, parent, regs);
}

/* How a row gets from the site to the callbacks */
enum { NOTHING, TRAMPOLINE, LIST, RETPOLINE, ELSEWHERE_TOO, WAYS };

#define ARG(_way, _nr)		((_way) << 8 | (_nr))
#define WAY(_row)		((_row)->arg >> 8)
#define NR(_row)		((_row)->arg & 0xff)

static struct fentry_trampoline trampolines[WAYS][CALLBACKS + 1];
static struct fentry_callback all_calls[WAYS][CALLBACKS + 1][CALLBACKS];

static void generate(unsigned int way, unsigned int nr)
{
	struct fentry_callback *calls = all_calls[way][nr];
	const bool list = way != TRAMPOLINE;

	calls[0].func = way == RETPOLINE ? list_func_retpoline : list_func;
	for (unsigned int i = 0; i < nr && !list; i++)
		calls[i] = (struct fentry_callback){ .func = callbacks[i], .arg = &all_ops[i] };
	if (fentry_trampoline_create(&trampolines[way][nr], 0, calls, list ? 1 : nr, 0))
		wrong("there is no trampoline for %u callbacks", nr);
}

static void *zeroed(size_t size)
{
	void *mem = calloc(1, size);

	if (!mem)
		wrong("no memory");
	return mem;
}

static void filter_add(struct filter *filter, unsigned long ip)
{
	struct filter_entry *entry = zeroed(sizeof(*entry));
	struct filter_entry **bucket = &filter->buckets[filter_bucket(filter, ip)];

	entry->ip = ip;
	entry->next = *bucket;
	*bucket = entry;
	filter->nr++;
}

static void make_ops(struct ops *ops, ops_func func, unsigned long ip)
{
	struct filter *only = zeroed(sizeof(*only));

	only->bits = FILTER_BITS;
	if (ip)
		filter_add(only, ip);
	/* Others, at distances as between functions */
	while (only->nr < 1 << FILTER_BITS)
		filter_add(only, 0xffffffff81000000 + random() % 100000 * 16);
	ops->func = func;
	ops->filters = zeroed(sizeof(*ops->filters));
	ops->filters->only = only;
}

/* Has the site call @to, or nothing. */
static void patch(unsigned long to)
{
	static u8 nop[CALL_INSN_SIZE];
	u8 insn[CALL_INSN_SIZE] = { CALL_INSN_OPCODE };
	const s32 offset = to - ((unsigned long)site + CALL_INSN_SIZE);

	if (!nop[0])
		memcpy(nop, site, sizeof(nop));
	memcpy(insn + 1, &offset, sizeof(offset));
	text_write(site, to ? insn : nop, sizeof(insn));
}

static void prepare(const struct row *row)
{
	struct ops **last = &ops_list;
	unsigned int i;

	for (i = 0; i < CALLBACKS + ELSEWHERE; i++) {
		if (i < NR(row) || (i >= CALLBACKS && WAY(row) == ELSEWHERE_TOO)) {
			*last = &all_ops[i];
			last = &all_ops[i].next;
		}
	}
	*last = NULL;
	patch(trampolines[WAY(row)][NR(row)].addr);
}

static void run(const struct row *row, unsigned long nr)
{
	for (; nr; nr--)
		traced_sites(nr, 1);
}

static void run_plain(const struct row *row, unsigned long nr)
{
	for (; nr; nr--)
		traced_plain(nr, 1);
}

/* Is each callback called once that should be, with the right site, and no other? */
static void check(const struct row *row)
{
	unsigned int i;

	memset(sums, 0, sizeof(sums));
	prepare(row);
	if (traced_sites(40, 2) != 42)
		wrong("%s: the traced function returns something else", row->name);
	for (i = 0; i < CALLBACKS; i++) {
		if (sums[i] != (i < NR(row) ? (unsigned long)site : 0))
			wrong("%s: callback %u was not called as it should be", row->name, i);
	}
}

void measure_trampolines(void)
{
	static const char *const names[WAYS] = {
		[TRAMPOLINE]	= "trampoline",
		[LIST]		= "list",
		[RETPOLINE]	= "list, with a retpoline for each call",
		[ELSEWHERE_TOO]	= "list, and 8 ops at other functions",
	};
	static const unsigned int numbers[] = { 1, 2, 4, 8, 16 };
	static struct row rows[2 + WAYS * ARRAY_SIZE(numbers)] = {
		{ "not traced, compiled without a site", NULL, run_plain, 0 },
		{ "not traced, a NOP", prepare, run, ARG(NOTHING, 0) },
	};
	unsigned int nr_rows = 2, i, way;

	for (i = 0; i < CALLBACKS + ELSEWHERE; i++)
		make_ops(&all_ops[i], callbacks[i % CALLBACKS],
			 i < CALLBACKS ? (unsigned long)site : 0);

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		for (way = TRAMPOLINE; way < WAYS; way++) {
			struct row *row = &rows[nr_rows++];

			generate(way, numbers[i]);
			snprintf(row->name, sizeof(row->name), "%2u callback%s: %s", numbers[i],
				 numbers[i] > 1 ? "s" : "", names[way]);
			row->prepare = prepare;
			row->run = run;
			row->arg = ARG(way, numbers[i]);
		}
	}
	for (i = 1; i < nr_rows; i++)
		check(&rows[i]);
	printf("\nEach callback is called once, with the address of the site.\n");

	measure("cycles per call of a function", rows, nr_rows, CALLS);
	prepare(&rows[1]);
}
