/* SPDX-License-Identifier: GPL-2.0 */
/* Files with a filter, which words change and closing puts into use */
#ifndef _FENTRY_FILTER_FILES_H
#define _FENTRY_FILTER_FILES_H

#include <linux/seq_file.h>

#include "../trace.h"

struct fentry_filter;

/**
 * struct filter_file - an open file with a filter
 * @slot: the filter in use
 * @slot_lock: it changes under this lock
 * @is_notrace: it is what not to trace
 * @ops: the ops it belongs to, if any
 * @tr: the instance the file is in, may be NULL
 * @word: changes @filter as a word says; returns 0 or an error
 * @commit: puts a filter into use and takes it over, under @slot_lock; returns 0 or
 *	an error
 * @filter: a copy of the filter in use when the file was opened, with the changes
 * @parser: the word that is being written
 * @no_memory: a word failed for lack of memory, so @filter must not be put into use
 * @anew: it was truncated when it was opened, so @filter started empty
 * @former: what waited for modules before a truncation, to be put back on failure
 * @lock: keeps @filter, @parser and @no_memory from changing, before ftrace_lock
 */
struct filter_file {
	struct ftrace_hash __rcu	**slot;
	struct mutex			*slot_lock;	/* see above */
	bool				is_notrace;
	struct ftrace_ops		*ops;
	struct trace_array		*tr;
	int	(*word)(struct filter_file *file, char *word);
	int	(*commit)(const struct filter_file *file, struct fentry_filter *filter);

	struct fentry_filter		*filter;
	struct trace_parser		parser;
	bool				no_memory, anew;
	struct list_head		former;
	struct mutex			lock;		/* see above */
};

/* What is done with a file that is read as a whole, and changed by words */
#define FENTRY_FILE_OPS(_name, _open, _write, _release)				\
static const struct file_operations _name = {					\
	.open		= _open,						\
	.release	= _release,						\
	.read		= seq_read,						\
	.write		= _write,						\
	.llseek		= tracing_lseek,					\
}

int fentry_filter_file_open(struct file *filp, const struct filter_file *template);

#endif /* _FENTRY_FILTER_FILES_H */
