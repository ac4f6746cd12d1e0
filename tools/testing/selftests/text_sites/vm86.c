// SPDX-License-Identifier: GPL-2.0
/*
 * vm86 NUMBER: executes so many breakpoints in VM86 mode. Each must get to the task, with its
 * registers as they were. Ends with 4 if there is no such mode.
 */
#include <stdio.h>

#ifdef __i386__
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vm86.h>
#include <unistd.h>

#define BASE	0x10000		/* This segment's privilege level would be the kernel's. */
#define START	0x100
#define INT3	0xcc

static int trap_once(void)
{
	struct vm86plus_struct v86 = {
		.regs = {
			.eax = 1, .ebx = 2, .ecx = 3, .edx = 4, .esi = 5, .edi = 6, .ebp = 7,
			.cs = BASE / 16, .ss = BASE / 16, .ds = BASE / 16, .es = BASE / 16,
			.eip = START, .esp = 0x8000,
		},
	};
	const struct vm86plus_struct as_before = v86;
	const long ret = syscall(SYS_vm86, VM86_ENTER, &v86);

	if (ret < 0) {
		fprintf(stderr, "vm86: %s\n", strerror(errno));
		return 4;
	}
	if (VM86_TYPE(ret) != VM86_TRAP || VM86_ARG(ret) != 3) {
		fprintf(stderr, "vm86: it ended with %#lx, not the breakpoint\n", ret);
		return 1;
	}
	if (v86.regs.eip != START + 1 || v86.regs.esp != as_before.regs.esp ||
	    v86.regs.eax != 1 || v86.regs.ebx != 2 || v86.regs.ecx != 3 || v86.regs.edx != 4 ||
	    v86.regs.esi != 5 || v86.regs.edi != 6 || v86.regs.ebp != 7) {
		fprintf(stderr, "vm86: its registers have changed\n");
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned char *code;
	int status = 0;

	code = mmap((void *)BASE, 0x10000, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (code == MAP_FAILED) {
		perror("vm86: mmap");
		return 1;
	}
	code[START] = INT3;
	for (long nr = argc > 1 ? atol(argv[1]) : 1; nr > 0 && !status; nr--)
		status = trap_once();
	return status;
}
#else
int main(void)
{
	fprintf(stderr, "vm86: there is no such mode for 64-bit kernels\n");
	return 4;
}
#endif
