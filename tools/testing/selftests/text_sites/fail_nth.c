// SPDX-License-Identifier: GPL-2.0
/*
 * fail_nth N write FILE TEXT
 * fail_nth N append FILE TEXT
 * fail_nth N read FILE
 * fail_nth N mkdir DIRECTORY
 * fail_nth N rmdir DIRECTORY
 * fail_nth N load MODULE.ko
 * fail_nth N unload MODULE
 *
 * Does that with the N'th allocation of memory failing; with N- all from that on fail, if
 * the attributes of fault injection say so for tasks that are to fail. With 0, none fails.
 *
 * Prints "failed" if there were so many, else "none": there is no further one to try. Then
 * the error, 0 if there was none. The exit code is 0 also if what is done ends with an
 * error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int wrong_arguments(void)
{
	fprintf(stderr, "usage: fail_nth N[-] write|append FILE TEXT\n");
	fprintf(stderr, "       fail_nth N[-] read|mkdir|rmdir|load|unload WHAT\n");
	return 2;
}

/* What a shell's redirection does; some files act as they are closed. */
static int put(const char *file, int flags, const char *text)
{
	int fd = open(file, O_WRONLY | flags), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	if (close(fd) && !err)
		err = errno;
	return err;
}

static int get(const char *file)
{
	static char buf[65536];
	int fd = open(file, O_RDONLY), err = 0;
	ssize_t n;

	if (fd < 0)
		return errno;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		;
	if (n < 0)
		err = errno;
	close(fd);
	return err;
}

static int load(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (syscall(SYS_finit_module, fd, "", 0))
		err = errno;
	close(fd);
	return err;
}

static int unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? errno : 0;
}

static int make_dir(const char *dir)
{
	return mkdir(dir, 0755) ? errno : 0;
}

static int remove_dir(const char *dir)
{
	return rmdir(dir) ? errno : 0;
}

static const struct {
	const char	*name;
	int		(*func)(const char *what);
} commands[] = {
	{ "read",	get },
	{ "mkdir",	make_dir },
	{ "rmdir",	remove_dir },
	{ "load",	load },
	{ "unload",	unload },
};

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NR_COMMANDS	ARRAY_SIZE(commands)

static int open_own(const char *file)
{
	int fd = open(file, O_RDWR);

	if (fd < 0) {
		perror(file);
		exit(1);
	}
	return fd;
}

static void set_own(int fd, const char *value)
{
	if (pwrite(fd, value, strlen(value), 0) < 0) {
		perror("fail_nth");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	char line[4096], left[16] = "", nth[16];
	int nth_fd, all_fd, err;
	unsigned int i = 0;

	if (argc < 4)
		return wrong_arguments();
	snprintf(nth, sizeof(nth), "%d", atoi(argv[1]));
	if (!strcmp(argv[2], "write") || !strcmp(argv[2], "append")) {
		if (argc != 5)
			return wrong_arguments();
		snprintf(line, sizeof(line), "%s\n", argv[4]);
	} else {
		while (i < NR_COMMANDS && strcmp(commands[i].name, argv[2]))
			i++;
		if (i == NR_COMMANDS || argc != 4)
			return wrong_arguments();
	}

	/* If its own memory could not be had, it would try that again for ever. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
		perror("mlockall");
		return 1;
	}
	nth_fd = open_own("/proc/thread-self/fail-nth");
	all_fd = open_own("/proc/thread-self/make-it-fail");
	if (strchr(argv[1], '-'))
		set_own(all_fd, "1");
	set_own(nth_fd, nth);

	if (!strcmp(argv[2], "write"))
		err = put(argv[3], O_TRUNC, line);
	else if (!strcmp(argv[2], "append"))
		err = put(argv[3], O_APPEND, line);
	else
		err = commands[i].func(argv[3]);

	/* What is left of the count is more than 0 if none has failed. */
	set_own(all_fd, "0");
	if (pread(nth_fd, left, sizeof(left) - 1, 0) < 0) {
		perror("fail-nth");
		return 1;
	}
	set_own(nth_fd, "0");
	printf("%s %d\n", atoi(left) || !atoi(nth) ? "none" : "failed", err);
	return 0;
}
