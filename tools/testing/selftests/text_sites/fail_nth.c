// SPDX-License-Identifier: GPL-2.0
/*
 * fail_nth N write FILE TEXT
 * fail_nth N append FILE TEXT
 * fail_nth N load MODULE.ko
 *
 * Does that with the N'th allocation of memory failing. Prints "failed" if there were so
 * many, else "none": there is no further one to try. The exit code is 0 also if what is
 * done ends with an error.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int wrong_arguments(void)
{
	fprintf(stderr, "usage: fail_nth N write|append FILE TEXT | load FILE\n");
	return 2;
}

/* What a shell's redirection does; some files act as they are closed. */
static void put(const char *file, int flags, const char *text)
{
	int fd = open(file, O_WRONLY | flags);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		lseek(fd, 0, SEEK_CUR);
	close(fd);
}

static void load(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	syscall(SYS_finit_module, fd, "", 0);
	close(fd);
}

int main(int argc, char **argv)
{
	char line[4096], left[16] = "";
	int fd, len;

	if (argc < 4)
		return wrong_arguments();
	snprintf(line, sizeof(line), "%s\n", argc > 4 ? argv[4] : "");

	fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fd < 0) {
		perror("/proc/thread-self/fail-nth");
		return 1;
	}
	len = strlen(argv[1]);
	if (write(fd, argv[1], len) != len) {
		perror("fail-nth");
		return 1;
	}

	if (!strcmp(argv[2], "write") && argc == 5)
		put(argv[3], O_TRUNC, line);
	else if (!strcmp(argv[2], "append") && argc == 5)
		put(argv[3], O_APPEND, line);
	else if (!strcmp(argv[2], "load"))
		load(argv[3]);
	else
		return wrong_arguments();

	/* What is left of the count is more than 0 if none has failed. */
	if (pread(fd, left, sizeof(left) - 1, 0) < 0 || pwrite(fd, "0", 1, 0) != 1) {
		perror("fail-nth");
		return 1;
	}
	puts(atoi(left) ? "none" : "failed");
	return 0;
}
