// SPDX-License-Identifier: GPL-2.0
/*
 * cost: cycles of the time stamp counter that something takes
 *
 *   cost FILE TEXT	writing a line to a file, from opening it, which truncates it, to
 *			closing it: where a filter is applied
 *   cost -r FILE	reading all of a file
 *   cost -l FILE	loading a module, without reading it
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags);

	if (fd < 0)
		die(path);
	return fd;
}

static void write_line(const char *path, const char *line)
{
	int len = strlen(line), fd = open_or_die(path, O_WRONLY | O_TRUNC);

	if (write(fd, line, len) != len || close(fd))
		die(path);
}

static void read_all(const char *path)
{
	static char buffer[65536];
	int fd = open_or_die(path, O_RDONLY);
	ssize_t len;

	do {
		len = read(fd, buffer, sizeof(buffer));
	} while (len > 0);
	if (len < 0 || close(fd))
		die(path);
}

/* A file in memory, all of which is there */
static void *map(const char *path, size_t *size)
{
	int fd = open_or_die(path, O_RDONLY);
	struct stat stat;
	void *file;

	if (fstat(fd, &stat))
		die(path);
	*size = stat.st_size;
	file = mmap(NULL, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (file == MAP_FAILED)
		die(path);
	return file;
}

int main(int argc, char **argv)
{
	unsigned long long start;
	char line[4096];
	void *module;
	size_t size;

	if (argc != 3) {
		fprintf(stderr, "usage: cost FILE TEXT | -r FILE | -l FILE\n");
		return 2;
	}
	if (!strcmp(argv[1], "-r")) {
		start = __rdtsc();
		read_all(argv[2]);
	} else if (!strcmp(argv[1], "-l")) {
		module = map(argv[2], &size);
		start = __rdtsc();
		if (syscall(SYS_init_module, module, size, ""))
			die(argv[2]);
	} else if (snprintf(line, sizeof(line), "%s\n", argv[2]) < (int)sizeof(line)) {
		start = __rdtsc();
		write_line(argv[1], line);
	} else {
		fprintf(stderr, "cost: the text is too long\n");
		return 2;
	}
	printf("%llu\n", __rdtsc() - start);
	return 0;
}
