/* SPDX-License-Identifier: GPL-2.0 */
/* Commands: the words of a filter file */
#ifndef _FENTRY_COMMAND_H
#define _FENTRY_COMMAND_H

#include <linux/types.h>

struct fentry_filter;
struct seq_file;
struct trace_array;

int fentry_command(struct trace_array *tr, struct fentry_filter **filter, char *word,
		   bool is_notrace);

/* probe.c */
void fentry_probes_show(struct seq_file *m, struct trace_array *tr);

#endif /* _FENTRY_COMMAND_H */
