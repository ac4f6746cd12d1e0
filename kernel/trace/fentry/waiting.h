/* SPDX-License-Identifier: GPL-2.0 */
/* Filters that wait for modules */
#ifndef _FENTRY_WAITING_H
#define _FENTRY_WAITING_H

#include "../trace.h"

void fentry_waiting_take(struct trace_array *tr, bool is_notrace, struct list_head *taken);
void fentry_waiting_put_back(struct trace_array *tr, bool is_notrace, struct list_head *taken);
void fentry_waiting_drop(struct list_head *requests);
void fentry_waiting_clear(struct trace_array *tr, bool is_notrace);
int fentry_waiting_change(struct trace_array *tr, const char *func, const char *module,
			  bool is_notrace);
void fentry_waiting_run(const char *modname);

/* What waits in an instance: a list of struct ftrace_mod_load, under ftrace_lock */
static inline struct list_head *fentry_waiting(struct trace_array *tr, bool is_notrace)
{
	return is_notrace ? &tr->mod_notrace : &tr->mod_trace;
}

#endif /* _FENTRY_WAITING_H */
