// SPDX-License-Identifier: GPL-2.0
/*
 * cost FILE TEXT: cycles of the time stamp counter that writing a line to a file
 * takes, from opening it, which truncates it, to closing it: where a filter is
 * applied.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

int main(int argc, char **argv)
{
	unsigned long long start, end;
	char line[4096];
	int fd, len;

	if (argc != 3) {
		fprintf(stderr, "usage: cost FILE TEXT\n");
		return 2;
	}
	len = snprintf(line, sizeof(line), "%s\n", argv[2]);
	if (len >= (int)sizeof(line)) {
		fprintf(stderr, "cost: the text is too long\n");
		return 2;
	}

	start = __rdtsc();
	fd = open(argv[1], O_WRONLY | O_TRUNC);
	if (fd < 0 || write(fd, line, len) != len || close(fd)) {
		perror(argv[1]);
		return 1;
	}
	end = __rdtsc();
	printf("%llu\n", end - start);
	return 0;
}
