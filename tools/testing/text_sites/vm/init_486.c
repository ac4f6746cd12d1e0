// SPDX-License-Identifier: GPL-2.0
/*
 * The first process where Debian's programs do not run, on a 486 or a Pentium: they have
 * conditional moves. It does by itself what nop.sh of the kselftests does with programs, prints
 * TAP on the second serial port, says there how it ended, as vm/init does, and switches the
 * machine off. On the kernel's command line: rdinit=/kselftest/init_486.
 */
#include <asm/termbits.h>
#include <linux/elf.h>

#define TRACING		"/sys/kernel/tracing/"
#define SITE_SIZE	5
#define MAX_SEGMENTS	64
#define AHEAD		65536

static const struct {
	const char	*name;
	unsigned char	bytes[SITE_SIZE];
} nops[] = {
	{ "nopl",	{ 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	{ "prefix",	{ 0x66, 0x66, 0x66, 0x66, 0x90 } },
	{ "jmp0",	{ 0xe9, 0x00, 0x00, 0x00, 0x00 } },
	{ "jmp3",	{ 0xeb, 0x03, 0x00, 0x00, 0x00 } },
	{ "lea",	{ 0x3e, 0x8d, 0x74, 0x26, 0x00 } },
};

#define CALL	0xe8

/* The NOP that the kernel says it has chosen, and how many sites it has */
static char chosen[16];
static const unsigned char *nop;
static unsigned int nr_sites;

static int tests, failed;

static void ok(int good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++tests, what);
	failed += !good;
}

static char *find(char *text, const char *what)
{
	const size_t len = strlen(what);

	for (; *text; text++) {
		if (!strncmp(text, what, len))
			return text;
	}
	return NULL;
}

/* All of a file, as far as there is room; terminated */
static int get(const char *path, char *text, int size)
{
	int fd = open(path, O_RDONLY), n, len = 0;

	if (fd >= 0) {
		while (len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
			len += n;
		close(fd);
	}
	text[len] = '\0';
	return len;
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC), n = -1;

	if (fd >= 0) {
		n = write(fd, text, strlen(text));
		close(fd);
	}
	if (n < 0)
		printf("# %s: no '%s'\n", path, text);
	return n;
}

static int contains(const char *path, const char *what)
{
	static char text[1 << 20];

	get(path, text, sizeof(text));
	return !!find(text, what);
}

/* What is behind @name on the kernel's command line; empty if it is not there */
static const char *parameter(const char *name)
{
	static char line[2048];
	char *at, *end;

	line[0] = ' ';
	get("/proc/cmdline", line + 1, sizeof(line) - 1);
	at = find(line, name);
	if (!at)
		return "";
	at += strlen(name);
	end = at;
	while (*end && *end != ' ' && *end != '\n')
		end++;
	*end = '\0';
	return at;
}

/* Of the line "fentry: 18000 sites, nop lea (..." */
static void find_chosen(void)
{
	static char log[1 << 18];
	int len = my_syscall3(__NR_syslog, 3, log, sizeof(log) - 1);
	char *at;
	unsigned int i;

	log[len < 0 ? 0 : len] = '\0';
	at = find(log, "fentry: ");
	if (!at)
		return;
	nr_sites = strtoul(at + 8, NULL, 10);
	at = find(at, "nop ");
	for (i = 0; at && i < sizeof(chosen) - 1 && at[4 + i] != ' '; i++)
		chosen[i] = at[4 + i];
	for (i = 0; i < sizeof(nops) / sizeof(nops[0]); i++) {
		if (!strcmp(nops[i].name, chosen))
			nop = nops[i].bytes;
	}
}

static int kcore;
static Elf32_Phdr segments[MAX_SEGMENTS];
static unsigned int nr_segments;

static void read_kcore(unsigned long offset, void *to, int size)
{
	lseek(kcore, offset, SEEK_SET);
	read(kcore, to, size);
}

static void open_kcore(void)
{
	Elf32_Ehdr header;

	kcore = open("/proc/kcore", O_RDONLY);
	read_kcore(0, &header, sizeof(header));
	nr_segments = header.e_phnum < MAX_SEGMENTS ? header.e_phnum : MAX_SEGMENTS;
	read_kcore(header.e_phoff, segments, nr_segments * sizeof(segments[0]));
}

/* Text that has been read, and from where */
static unsigned char text[AHEAD];
static unsigned long text_start;

/* The text there; addresses mostly ascend, and what is behind one is read with it */
static const unsigned char *text_at(unsigned long addr)
{
	unsigned int i;

	if (text_start && addr >= text_start && addr + SITE_SIZE <= text_start + AHEAD)
		return text + (addr - text_start);
	for (i = 0; i < nr_segments; i++) {
		unsigned long offset = addr - segments[i].p_vaddr;

		if (segments[i].p_type != PT_LOAD || addr < segments[i].p_vaddr ||
		    offset + SITE_SIZE > segments[i].p_memsz)
			continue;
		memset(text, 0, sizeof(text));
		read_kcore(segments[i].p_offset + offset, text, AHEAD);
		text_start = addr;
		return text;
	}
	return NULL;
}

static int is_call(const unsigned char *text)
{
	return text && text[0] == CALL;
}

static int is_site(const unsigned char *text)
{
	return 1;
}

static int is_nop(const unsigned char *text)
{
	return text && nop && !memcmp(text, nop, SITE_SIZE);
}

/* How many functions with this name, or all, have a site that @is */
static unsigned int count(int (*is)(const unsigned char *text), const char *name)
{
	static char buffer[4096];
	int fd = open(TRACING "available_filter_functions_addrs", O_RDONLY), n, len = 0;
	unsigned int nr = 0;

	/* What is there by now */
	text_start = 0;
	while ((n = read(fd, buffer + len, sizeof(buffer) - 1 - len)) > 0) {
		char *line = buffer, *end;

		len += n;
		buffer[len] = '\0';
		while ((end = strchr(line, '\n'))) {
			char *of;

			*end = '\0';
			of = strchr(line, ' ');
			if (of && (!name || !strcmp(of + 1, name)))
				nr += is(text_at(strtoul(line, NULL, 16)));
			line = end + 1;
		}
		len = buffer + len - line;
		memmove(buffer, line, len);
	}
	close(fd);
	return nr;
}

static void every_site(int (*is)(const unsigned char *text), const char *what)
{
	const unsigned int nr = count(is, NULL), of = count(is_site, NULL);

	printf("# %u of %u\n", nr, of);
	/* Those of init text are gone since it was said how many there are. */
	ok(nr == of && of > nr_sites / 2 && of <= nr_sites, what);
}

static void test_marker(void)
{
	static char path[512], module[1 << 18];
	struct utsname name;
	int len;

	uname(&name);
	strcpy(path, "/lib/modules/");
	strcpy(path + strlen(path), name.release);
	strcpy(path + strlen(path), "/kernel/samples/marker/marker_sample.ko");
	len = get(path, module, sizeof(module));
	ok(len && my_syscall3(__NR_init_module, module, len, "") == 0, "marker_sample is loaded");
	put(TRACING "trace", "\n");
	put("/sys/kernel/debug/marker_sample", "none\n");
	ok(!contains(TRACING "trace", " line: "), "a marker is nothing");
	put(TRACING "events/sample/line/enable", "1");
	put("/sys/kernel/debug/marker_sample", "four\n");
	ok(contains(TRACING "trace", " line: 1 \"four\" of 4\n"), "a marker is an event");
	put(TRACING "events/sample/line/enable", "0");
	put(TRACING "trace", "\n");
	put("/sys/kernel/debug/marker_sample", "five\n");
	ok(!contains(TRACING "trace", " line: "), "and no more");
}

static void test_all(void)
{
	const char *asked;

	find_chosen();
	open_kcore();
	printf("# %u sites, nop %s\n", nr_sites, chosen);
	ok(!!nop, "the kernel says which NOP it has chosen");
	asked = parameter(" chosen_nop=");
	if (*asked)
		ok(!strcmp(asked, chosen), "it is the one for this processor");
	asked = parameter(" text_nop=");
	if (*asked)
		ok(!strcmp(asked, chosen), "it is the one asked for");
	every_site(is_nop, "every site is that NOP");

	put(TRACING "set_ftrace_filter", "vfs_read");
	put(TRACING "current_tracer", "function");
	ok(count(is_call, "vfs_read") == 1 && count(is_call, NULL) == 1, "one site is a call");
	contains("/proc/version", "");
	ok(contains(TRACING "trace", ": vfs_read <-"), "the function is traced");
	put(TRACING "set_ftrace_filter", "\n");
	every_site(is_call, "every site is a call");
	put(TRACING "current_tracer", "nop");
	every_site(is_nop, "every site is a NOP again");
	put(TRACING "trace", "\n");
	contains("/proc/version", "");
	ok(!contains(TRACING "trace", ": vfs_read <-"), "nothing is traced");

	test_marker();
}

/* As they are: no carriage returns */
static void open_port(void)
{
	int fd = open("/dev/ttyS1", O_RDWR);
	struct termios settings;

	ioctl(fd, TCGETS, &settings);
	settings.c_oflag &= ~OPOST;
	settings.c_lflag &= ~(ECHO | ICANON | ISIG);
	ioctl(fd, TCSETS, &settings);
	dup2(fd, 1);
}

int main(void)
{
	static char end[128];

	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	open_port();
	printf("TAP version 13\n");
	test_all();
	printf("1..%d\n", tests);
	/* The host waits for this line and takes the newline before it away. */
	get("/run/job.end", end, sizeof(end));
	printf("\n%s %d\n", end, !!failed);
	fsync(1);
	ioctl(1, TCSBRK, (void *)1);
	reboot(LINUX_REBOOT_CMD_POWER_OFF);
	return 1;
}
