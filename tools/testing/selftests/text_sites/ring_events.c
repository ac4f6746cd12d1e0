// SPDX-License-Identifier: GPL-2.0
/*
 * ring_events: reads the pages of a ring buffer that holds events of the module ring_test,
 * checks them, and counts the events.
 *
 * usage: ring_events [-f] [-p] [-g] [-c] FOLDER CPU
 *
 * FOLDER is that of an instance of tracefs. Reads what there is, or, with -f, waits for
 * more until a SIGTERM comes, and then reads the rest. Prints a line "reads - 0" when it
 * begins to read, and in the end a line "KIND CONTEXT COUNT" for each kind of events
 * (function, entry, exit, event, marker) in each context, and how many events the kernel
 * says are missing. Ends with 1 if something is wrong:
 *
 * - a page does not consist of whole events,
 * - time goes back,
 * - an event is earlier than the time it tells, or that time is earlier than the event
 *   before it in its context (not with -c: the clock is not "local"),
 * - the numbers of a kind in a context do not begin with 0, or one is left out where the
 *   kernel does not say that events are missing (with -g, they only have to rise).
 *
 * With -p, buffers are swapped or emptied meanwhile: as -g, and each page is looked at by
 * itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PAGE	0x100000
#define MISSED_EVENTS	0x80000000u
#define MISSED_STORED	0x40000000u
#define PADDING		29
#define TIME_EXTEND	30
#define TIME_STAMP	31
#define TIME_BITS	27
#define TIME_STAMP_BITS	59

/* Printed as such, whatever the width of a long */
typedef unsigned long long u64;

/* Of a page: time, and commit, which is a long */
enum { HEADER = sizeof(u64) + sizeof(long) };

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum { TASK, SOFTIRQ, HARDIRQ, NMI, CONTEXTS };

static const char * const contexts[CONTEXTS] = { "task", "softirq", "hardirq", "nmi" };

/* A kind of events, and what is known of it in each context */
static struct kind {
	const char	*name;
	const char	*folder;	/* of its format */
	bool		told;		/* it tells context, number and time */
	int		id;
	unsigned int	number, time;	/* their offsets, from its format */
	unsigned long	count[CONTEXTS];
	u64		next[CONTEXTS];	/* its number */
	bool		skip[CONTEXTS];	/* ... or a higher one */
} kinds[] = {
	{ .name = "function", .folder = "ftrace/function" },
	{ .name = "entry", .folder = "ftrace/funcgraph_entry" },
	{ .name = "exit", .folder = "ftrace/funcgraph_exit" },
	{ .name = "event", .folder = "ring_test/ring_test_pass", .told = true },
	{ .name = "marker", .folder = "ring_mark/pass", .told = true },
};

/* The data of an event begins so: a function is told by its address. */
struct data {
	uint16_t	type;
	uint8_t		flags, preempt_count;
	int32_t		pid;
	union {
		unsigned long	function;
		int32_t		context;
	};
};

static volatile bool follow;
static bool page_by_page, gaps, other_clock;
static const char *folder, *cpu;
static int file;
static unsigned long functions[CONTEXTS];
static unsigned long missing;
static u64 now, last[CONTEXTS];	/* the time of the last event; in each context */

static void die(const char *what, ...)
{
	va_list args;

	va_start(args, what);
	printf("# ring_events: CPU %s: ", cpu);
	vprintf(what, args);
	printf("\n");
	va_end(args);
	exit(1);
}

static void find_functions(void)
{
	FILE *module = fopen("/sys/module/ring_test/parameters/functions", "r");

	if (!module || fscanf(module, "%lx %lx %lx %lx", &functions[TASK], &functions[SOFTIRQ],
			      &functions[HARDIRQ], &functions[NMI]) != CONTEXTS)
		die("no functions of ring_test");
	fclose(module);
}

static void find_kinds(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		char path[512], line[512];
		FILE *format;

		snprintf(path, sizeof(path), "%s/events/%s/format", folder, kinds[i].folder);
		format = fopen(path, "r");
		kinds[i].id = -1;
		while (format && fgets(line, sizeof(line), format)) {
			const char *at = strstr(line, "offset:");
			unsigned int offset;

			if (sscanf(line, "ID: %d", &kinds[i].id) == 1)
				continue;
			/* They are its last two fields. */
			if (at && sscanf(at, "offset:%u", &offset) == 1) {
				kinds[i].number = kinds[i].time;
				kinds[i].time = offset;
			}
		}
		if (format)
			fclose(format);
	}
}

/* ip may be the site: behind ENDBR, if the function begins with that. */
static int context_of(const struct kind *kind, const struct data *data)
{
	if (kind->told)
		return data->context;
	for (int i = 0; i < CONTEXTS; i++)
		if (data->function - functions[i] <= 4)
			return i;
	return -1;
}

/* A number of 64 bits in an event */
static u64 field(const struct data *data, unsigned int offset)
{
	u64 value;

	memcpy(&value, (const char *)data + offset, sizeof(value));
	return value;
}

static void check_told(struct kind *kind, const struct data *data, int context)
{
	const u64 number = field(data, kind->number), time = field(data, kind->time);
	u64 next = kind->next[context];

	if (!other_clock) {
		if (time < last[context])
			die("%s %s %llu: passed at %llu, after an event at %llu", kind->name,
			    contexts[context], number, time, last[context]);
		if (now < time)
			die("%s %s %llu: passed at %llu, but is at %llu", kind->name,
			    contexts[context], number, time, now);
	}
	if (gaps || kind->skip[context] ? number < next : number != next)
		die("%s %s %llu instead of %llu", kind->name, contexts[context], number, next);
	kind->next[context] = number + 1;
	kind->skip[context] = false;
}

static void count(const struct data *data, unsigned int length)
{
	for (struct kind *kind = kinds; kind < kinds + ARRAY_SIZE(kinds); kind++) {
		int context;

		if (kind->id != data->type)
			continue;
		if (length < sizeof(*data) || (kind->told && length < kind->time + sizeof(u64)))
			die("%s of %u bytes", kind->name, length);
		context = context_of(kind, data);
		if (context < 0 || context >= CONTEXTS)
			die("%s of no context at %llu", kind->name, now);
		if (kind->told)
			check_told(kind, data, context);
		kind->count[context]++;
		last[context] = now;
		return;
	}
	die("event of type %u at %llu", data->type, now);
}

/* Time that goes back by a step shows as one that is larger than any that is right. */
static void advance(u64 delta)
{
	if (delta >> (TIME_STAMP_BITS - 1))
		die("a step of %llu from %llu", delta, now);
	now += delta;
}

static void stamp(u64 time)
{
	time |= now >> TIME_STAMP_BITS << TIME_STAMP_BITS;
	if (time < now && !other_clock)
		die("time goes from %llu to %llu", now, time);
	now = time;
}

static void check_events(const unsigned char *at, const unsigned char *end)
{
	while (at < end) {
		const uint32_t *words = (const uint32_t *)at;
		uint32_t type = words[0] & 0x1f, delta = words[0] >> 5, length;

		if (end - at < 8 && type != PADDING)
			die("%td bytes are left", end - at);
		switch (type) {
		case PADDING:
			/* Of all that is left, or of what was discarded */
			if (!delta)
				return;
			length = 4 + words[1];
			advance(delta);
			break;
		case TIME_EXTEND:
			length = 8;
			advance(delta + ((u64)words[1] << TIME_BITS));
			break;
		case TIME_STAMP:
			length = 8;
			stamp(delta + ((u64)words[1] << TIME_BITS));
			break;
		default:
			length = type ? 4 + 4 * type : 4 + words[1];
			advance(delta);
			if (length > (size_t)(end - at))
				die("%u bytes, %td are left", length, end - at);
			count((const void *)(at + (type ? 4 : 8)), length - (type ? 4 : 8));
		}
		at += length;
	}
	if (at != end)
		die("events of %td bytes too many", at - end);
}

/* Some are missing: the next of each context may be on a later page. */
static void skip_some(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++)
		memset(kinds[i].skip, true, sizeof(kinds[i].skip));
}

/* Nothing is known of what was before this page. */
static void forget(void)
{
	now = 0;
	memset(last, 0, sizeof(last));
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++)
		memset(kinds[i].next, 0, sizeof(kinds[i].next));
}

static void check_page(const unsigned char *page, unsigned int size)
{
	u64 time = *(const u64 *)page;
	uint32_t commit = *(const uint32_t *)(page + 8);
	uint32_t used = commit & ~(MISSED_EVENTS | MISSED_STORED);

	if (used > size - HEADER)
		die("%u bytes in a page of %u", used, size);
	if (page_by_page)
		forget();
	if (time < now && !other_clock)
		die("a page of %llu after %llu", time, now);
	now = time;
	if (commit & MISSED_STORED)
		missing += *(const unsigned long *)(page + HEADER + used);
	if (commit & MISSED_EVENTS)
		skip_some();
	check_events(page + HEADER, page + HEADER + used);
}

/* Again and again, as it may come just before the read that would wait */
static void at_signal(int number)
{
	fcntl(file, F_SETFL, O_NONBLOCK);
	follow = false;
	alarm(1);
}

static void read_pages(void)
{
	static union { unsigned char bytes[MAX_PAGE]; u64 time; } page;

	for (;;) {
		ssize_t size = read(file, page.bytes, sizeof(page));

		if (size > HEADER)
			check_page(page.bytes, size);
		else if (size >= 0 ? !follow : errno == EAGAIN)
			return;
		else if (size < 0 && errno != EINTR)
			die("read: %s", strerror(errno));
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = at_signal };
	char path[512];
	int option;

	while ((option = getopt(argc, argv, "fpgc")) != -1) {
		switch (option) {
		case 'f':
			follow = true;
			break;
		case 'p':
			page_by_page = true;
			gaps = true;
			break;
		case 'g':
			gaps = true;
			break;
		case 'c':
			other_clock = true;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 2)
		return 2;
	folder = argv[optind];
	cpu = argv[optind + 1];
	find_functions();
	find_kinds();
	snprintf(path, sizeof(path), "%s/per_cpu/cpu%s/trace_pipe_raw", folder, cpu);
	file = open(path, O_RDONLY | (follow ? 0 : O_NONBLOCK));
	if (file < 0)
		die("%s: %s", path, strerror(errno));
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	printf("reads - 0\n");
	fflush(stdout);
	read_pages();

	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++)
		for (int context = 0; context < CONTEXTS; context++)
			if (kinds[i].count[context])
				printf("%s %s %lu\n", kinds[i].name, contexts[context],
				       kinds[i].count[context]);
	printf("missing - %lu\n", missing);
	return 0;
}
