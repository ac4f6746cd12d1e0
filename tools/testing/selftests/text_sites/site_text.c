// SPDX-License-Identifier: GPL-2.0
/*
 * site_text: says what the text of function entries is, as CPUs see it.
 *
 * Reads addresses (hexadecimal, first word of each line) and prints for each
 * kind of instruction found there how many hold it. Kernel text is read from
 * /proc/kcore, which has the form of the programs: it is compiled for the kernel's width.
 *
 * site_text KIND: prints the lines of those that hold it instead. It fails if none of the
 * addresses can be read.
 *
 * site_text START END: writes the text between these addresses.
 */
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SITE_SIZE	5
#define MAX_SEGMENTS	64
#define AHEAD		65536

static const struct {
	const char	*name;
	unsigned char	bytes[SITE_SIZE];
	int		len;
} kinds[] = {
	{ "nopl",	{ 0x0f, 0x1f, 0x44, 0x00, 0x00 }, 5 },
	{ "prefix",	{ 0x66, 0x66, 0x66, 0x66, 0x90 }, 5 },
	{ "jmp0",	{ 0xe9, 0x00, 0x00, 0x00, 0x00 }, 5 },
	{ "jmp3",	{ 0xeb, 0x03, 0x00, 0x00, 0x00 }, 5 },
	{ "lea",	{ 0x3e, 0x48, 0x8d, 0x76, 0x00 }, 5 },	/* in 64-bit code */
	{ "lea",	{ 0x3e, 0x8d, 0x74, 0x26, 0x00 }, 5 },	/* in 32-bit code */
	{ "call",	{ 0xe8 }, 1 },
	{ "int3",	{ 0xcc }, 1 },
};

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NR_KINDS	ARRAY_SIZE(kinds)

static ElfW(Phdr) segments[MAX_SEGMENTS];
static int nr_segments;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void read_headers(int fd)
{
	ElfW(Ehdr) ehdr;

	if (pread(fd, &ehdr, sizeof(ehdr), 0) != sizeof(ehdr))
		die("/proc/kcore: header");
	nr_segments = ehdr.e_phnum < MAX_SEGMENTS ? ehdr.e_phnum : MAX_SEGMENTS;
	if (pread(fd, segments, nr_segments * sizeof(segments[0]), ehdr.e_phoff) < 0)
		die("/proc/kcore: segments");
}

static int read_segments(int fd, unsigned long addr, unsigned char *bytes, unsigned long size)
{
	int i;

	for (i = 0; i < nr_segments; i++) {
		unsigned long offset = addr - segments[i].p_vaddr;

		if (segments[i].p_type == PT_LOAD && addr >= segments[i].p_vaddr &&
		    offset + size <= segments[i].p_memsz)
			return pread(fd, bytes, size, segments[i].p_offset + offset) ==
			       (ssize_t)size;
	}
	return 0;
}

/* Addresses mostly ascend: what is behind one is read with it, if there is anything. */
static int read_text(int fd, unsigned long addr, unsigned char *bytes)
{
	static unsigned char text[AHEAD];
	static unsigned long start;

	if (!start || addr < start || addr + SITE_SIZE > start + AHEAD) {
		start = 0;
		if (!read_segments(fd, addr, text, AHEAD))
			return read_segments(fd, addr, bytes, SITE_SIZE);
		start = addr;
	}
	memcpy(bytes, text + (addr - start), SITE_SIZE);
	return 1;
}

static int dump_text(int fd, unsigned long addr, unsigned long end)
{
	static unsigned char text[AHEAD];
	unsigned long size;

	for (; addr < end; addr += size) {
		size = end - addr < AHEAD ? end - addr : AHEAD;
		if (!read_segments(fd, addr, text, size))
			die("/proc/kcore: text");
		if (fwrite(text, 1, size, stdout) != size)
			die("output");
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long count[NR_KINDS] = { 0 }, other = 0, unreadable = 0, readable = 0;
	const char *only = argc == 2 ? argv[1] : NULL;
	int fd = open("/proc/kcore", O_RDONLY);
	char line[512];
	unsigned int i;

	if (fd < 0)
		die("/proc/kcore");
	read_headers(fd);
	if (argc == 3)
		return dump_text(fd, strtoul(argv[1], NULL, 16), strtoul(argv[2], NULL, 16));

	while (fgets(line, sizeof(line), stdin)) {
		unsigned long addr = strtoul(line, NULL, 16);
		unsigned char bytes[SITE_SIZE];

		if (!read_text(fd, addr, bytes)) {
			unreadable++;
			continue;
		}
		readable++;
		for (i = 0; i < NR_KINDS; i++) {
			if (!memcmp(bytes, kinds[i].bytes, kinds[i].len))
				break;
		}
		if (i < NR_KINDS && only && !strcmp(kinds[i].name, only))
			fputs(line, stdout);
		if (i < NR_KINDS)
			count[i]++;
		else if (!other++)
			fprintf(stderr, "%lx: %02x %02x %02x %02x %02x\n", addr, bytes[0],
				bytes[1], bytes[2], bytes[3], bytes[4]);
	}

	if (only)
		return !readable;
	for (i = 0; i < NR_KINDS; i++) {
		if (count[i])
			printf("%s %lu\n", kinds[i].name, count[i]);
	}
	if (other)
		printf("other %lu\n", other);
	if (unreadable)
		printf("unreadable %lu\n", unreadable);
	return 0;
}
