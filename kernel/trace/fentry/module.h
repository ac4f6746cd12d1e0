/* SPDX-License-Identifier: GPL-2.0 */
/* Sites that come and go with their text, and filters that wait for them */
#ifndef _FENTRY_MODULE_H
#define _FENTRY_MODULE_H

#include <linux/text_site.h>

#include "../trace.h"

int fentry_add_table(struct text_site_table *table, struct text_site *sites,
		     unsigned int nr, struct text_site_report *report);
void fentry_mod_requests_clear(struct list_head *requests);
int fentry_mod_request(struct trace_array *tr, const char *func,
		       const char *module, bool is_notrace);

/* Filters that wait for modules, under ftrace_lock */
static inline struct list_head *fentry_mod_requests(struct trace_array *tr, bool is_notrace)
{
	return is_notrace ? &tr->mod_notrace : &tr->mod_trace;
}

#endif /* _FENTRY_MODULE_H */
