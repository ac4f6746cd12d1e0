// SPDX-License-Identifier: GPL-2.0
/*
 * kshark_read FILE: what KernelShark's library makes of a file of trace-cmd: a line
 * "EVENT NUMBER" for each event.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kernelshark/libkshark.h>

#define EVENTS	1024

static struct {
	char		*name;
	unsigned long	nr;
} events[EVENTS];

static void count(const char *name)
{
	unsigned int i;

	for (i = 0; i < EVENTS && events[i].name; i++) {
		if (!strcmp(events[i].name, name)) {
			events[i].nr++;
			return;
		}
	}
	if (i == EVENTS) {
		fprintf(stderr, "kshark_read: more than %d events\n", EVENTS);
		exit(1);
	}
	events[i].name = strdup(name);
	events[i].nr = 1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(int argc, char **argv)
{
	struct kshark_context *context = NULL;
	struct kshark_entry **entries;
	unsigned int nr = 0;
	ssize_t total, i;
	int stream;

	if (argc != 2 || !kshark_instance(&context)) {
		fprintf(stderr, "usage: kshark_read FILE\n");
		return 1;
	}
	stream = kshark_open(context, argv[1]);
	if (stream < 0) {
		fprintf(stderr, "kshark_read: %s: error %d\n", argv[1], stream);
		return 1;
	}
	total = kshark_load_entries(context, stream, &entries);
	if (total < 0) {
		fprintf(stderr, "kshark_read: %s: no entries, error %zd\n", argv[1], total);
		return 1;
	}
	for (i = 0; i < total; i++) {
		char *name = kshark_get_event_name(entries[i]);

		count(name);
		free(name);
	}
	while (nr < EVENTS && events[nr].name)
		nr++;
	qsort(events, nr, sizeof(*events), by_name);
	for (i = 0; i < nr; i++)
		printf("%s %lu\n", events[i].name, events[i].nr);
	kshark_close(context, stream);
	return 0;
}
