// SPDX-License-Identifier: GPL-2.0
/*
 * What parts of the engine take on the processor that this runs on, in cycles of its time
 * stamp counter. The sources that are measured are the kernel's, see compile.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <err.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/bits.h>

#include <asm/processor.h>

#include "native.h"

#define RUNS		61
#define SHORT_RUNS	3
#define SHORTER		50	/* times: the runs in short mode */

#define HYPERVISOR	BIT(31)	/* in CPUID 1, %ecx */
#define INVARIANT	BIT(8)	/* in CPUID 0x80000007, %edx */

bool in_short;
struct cpuinfo_x86 boot_cpu_data;

static double ghz;

void wrong(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("native: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* Everything before it is done, and nothing after it has begun. */
static u64 cycles(void)
{
	u32 low, high;

	asm volatile("lfence\n\trdtsc\n\tlfence" : "=a" (low), "=d" (high) : : "memory");
	return (u64)high << 32 | low;
}

static double run_once(const struct row *row, unsigned long nr)
{
	u64 start;

	if (row->prepare)
		row->prepare(row);
	/* Caches and predictors know what comes. */
	row->run(row, nr / 8 + 1);

	start = cycles();
	row->run(row, nr);
	return (double)(cycles() - start) / nr;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void measure(const char *title, const struct row *rows, unsigned int nr_rows, unsigned long nr)
{
	const unsigned int runs = in_short ? SHORT_RUNS : RUNS;
	double (*taken)[RUNS] = calloc(nr_rows, sizeof(*taken));
	unsigned int i, run;

	if (!taken)
		err(1, "no memory");
	if (in_short)
		nr = nr / SHORTER + 1;

	/* In turn, so that all rows see the same disturbances. The first run is not counted. */
	for (run = 0; run <= runs; run++) {
		for (i = 0; i < nr_rows; i++)
			taken[i][run ? run - 1 : 0] = run_once(&rows[i], nr);
	}

	printf("\n%-58s %9s %9s\n", title, "min", "median");
	for (i = 0; i < nr_rows; i++) {
		qsort(taken[i], runs, sizeof(**taken), compare);
		printf("  %-56s %9.2f %9.2f\n", rows[i].name, taken[i][0], taken[i][runs / 2]);
	}
	fflush(stdout);
	free(taken);
}

/* Each addition needs the result of the one before, which takes a cycle of the core. */
static void run_additions(const struct row *row, unsigned long nr)
{
	unsigned long sum = 0, one = 1;

	for (nr = (nr + 99) / 100; nr; nr--)
		asm volatile(".rept 100\n\tadd %1, %0\n\t.endr" : "+r" (sum) : "r" (one) : "cc");
}

/* The time, and the counter at that time: as close as this process gets to be left alone */
static u64 time_and_cycles(struct timespec *time)
{
	u64 best = -1ull, at = 0;

	for (int i = 0; i < 100; i++) {
		const u64 before = cycles();
		struct timespec now;
		u64 gap;

		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		gap = cycles() - before;
		if (gap >= best)
			continue;
		best = gap;
		at = before + gap / 2;
		*time = now;
	}
	return at;
}

/* Against the system's clock; some ms are enough for three digits. */
static void calibrate(void)
{
	struct timespec from, to;
	u64 start, end;

	start = time_and_cycles(&from);
	do {
		end = time_and_cycles(&to);
	} while (end - start < 50000000);
	ghz = (end - start) / ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec));
}

u32 tsc_scale(u32 *shift)
{
	*shift = 28;
	return (1ul << *shift) / ghz;
}

/* What the registers of a CPUID leaf spell */
static const char *spell(char *text, const u32 *regs, size_t size)
{
	memcpy(text, regs, size);
	text[size] = '\0';
	return text + strspn(text, " ");
}

static void identify(void)
{
	u32 a, b, c, d, regs[12] = {}, family, model;
	char text[sizeof(regs) + 1];

	__cpuid(0, a, b, c, d);
	regs[0] = b;
	regs[1] = d;
	regs[2] = c;
	spell(text, regs, 12);
	boot_cpu_data.x86_vendor = !strcmp(text, "GenuineIntel") ? X86_VENDOR_INTEL :
				   !strcmp(text, "AuthenticAMD") ? X86_VENDOR_AMD :
								   X86_VENDOR_UNKNOWN;

	__cpuid(1, a, b, c, d);
	family = a >> 8 & 15;
	model = a >> 4 & 15;
	if (family == 6 || family == 15)
		model |= a >> 12 & 0xf0;
	if (family == 15)
		family += a >> 20 & 0xff;
	boot_cpu_data.x86 = family;
	boot_cpu_data.x86_model = model;
	printf("processor  %s, family %u, model %u, stepping %u\n", text, family, model, a & 15);

	if (__get_cpuid_max(0x80000000, NULL) >= 0x80000004) {
		for (u32 leaf = 0; leaf < 3; leaf++) {
			u32 *part = &regs[4 * leaf];

			__cpuid(0x80000002 + leaf, part[0], part[1], part[2], part[3]);
		}
		printf("name       %s\n", spell(text, regs, sizeof(regs)));
	}

	if (c & HYPERVISOR) {
		__cpuid(0x40000000, a, regs[0], regs[1], regs[2]);
		printf("machine    virtual: CPUID has the hypervisor bit, of '%s'\n",
		       spell(text, regs, 12));
	} else {
		printf("machine    CPUID has no hypervisor bit\n");
	}

	d = 0;
	if (__get_cpuid_max(0x80000000, NULL) >= 0x80000007)
		__cpuid(0x80000007, a, b, c, d);
	printf("cycles     of the time stamp counter, %.2f GHz, which CPUID says is %sinvariant;\n"
	       "           the core's own frequency may differ from that and change\n",
	       ghz, d & INVARIANT ? "" : "not ");
}

/* On the CPU that it is on, for good */
static void stay(void)
{
	const int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "only on CPU %d: cannot be had", cpu);
}

int main(int argc, char **argv)
{
	static const struct row core = {
		.name = "each waits for the one before: a cycle of the core", .run = run_additions
	};

	in_short = argc == 2 && !strcmp(argv[1], "--short");
	if (argc > 1 && !in_short)
		errx(2, "usage: native [--short]");

	stay();
	calibrate();
	identify();
	measure("cycles per addition", &core, 1, 1000000);
	measure_trampolines();
	measure_ring_buffer();
	measure_nops();
	return 0;
}
