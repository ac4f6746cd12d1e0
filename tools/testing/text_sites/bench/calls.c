// SPDX-License-Identifier: GPL-2.0
/*
 * calls: what ways of calling a function cost on the processor that this runs on, in
 * cycles of its time stamp counter, which the emulator cannot know.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CALLS	1000000
#define ROUNDS	21

/* Functions of as many instructions as it takes for the calls to be what is timed */
asm("	.text\n"
"	.balign 64\n"
"target:	lea 1(%rdi), %rax\n"
"	ret\n"
"	int3\n"
"	.balign 64\n"
"jump:	.byte 0xe9\n"
"	.long target - (. + 4)\n"
"	int3\n"
"	.balign 64\n"
"retpoline:\n"
"	call 2f\n"
"1:	pause\n"
"	lfence\n"
"	jmp 1b\n"
"2:	mov %r11, (%rsp)\n"
"	ret\n"
"	int3\n");

static inline uint64_t cycles(void)
{
	uint32_t low, high;

	asm volatile("lfence\n\trdtsc\n\tlfence" : "=a" (low), "=d" (high) :: "memory");
	return (uint64_t)high << 32 | low;
}

/* The least that CALLS of a call have taken in some rounds, each */
#define LEAST(call, ...) ({							\
	uint64_t least = ~0ull;							\
										\
	for (int round = 0; round < ROUNDS; round++) {				\
		uint64_t start = cycles(), taken;				\
										\
		for (long i = 0; i < CALLS; i++) {				\
			long arg = i;						\
										\
			asm volatile(call : "+D" (arg) : __VA_ARGS__		\
				     : "rax", "r11", "memory", "cc");		\
		}								\
		taken = cycles() - start;					\
		if (taken < least)						\
			least = taken;						\
	}									\
	(double)least / CALLS;							\
})

extern char target[];

/* In memory, as the pointer of a tracepoint is */
static void *pointer = target;

static void print_cpu(void)
{
	char line[256];
	FILE *file = fopen("/proc/cpuinfo", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "model name", 10)) {
			printf("%s", strchr(line, ':') + 2);
			break;
		}
	}
	if (file)
		fclose(file);
}

int main(void)
{
	/* Below the stack pointer is nobody's here: -mno-red-zone. */
	const struct {
		const char	*name;
		double		cycles;
	} ways[] = {
		{ "no call",		LEAST("", "i" (0)) },
		{ "direct call",	LEAST("call target", "i" (0)) },
		{ "jump function",	LEAST("call jump", "i" (0)) },
		{ "indirect call",	LEAST("call *%1", "m" (pointer)) },
		{ "retpoline",		LEAST("mov %1, %%r11\n\tcall retpoline", "m" (pointer)) },
	};

	print_cpu();
	printf("%-24s %12s %12s\n", "cycles a call", "in all", "over direct");
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		printf("%-24s %12.2f %12.2f\n", ways[i].name, ways[i].cycles,
		       ways[i].cycles - ways[1].cycles);
	return 0;
}
