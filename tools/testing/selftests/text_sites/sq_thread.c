// SPDX-License-Identifier: GPL-2.0
/*
 * sq_thread: has a thread of the kernel in this process, that of a queue of io_uring, says "ready",
 * and waits for its standard input to end.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SQPOLL,
		.sq_thread_idle = 1,	/* ms */
	};
	char c;

	if (syscall(SYS_io_uring_setup, 1, &params) < 0) {
		fprintf(stderr, "sq_thread: %s\n", strerror(errno));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
