/* SPDX-License-Identifier: GPL-2.0 */
/* Registering ops and changing what they trace */
#ifndef _FENTRY_REGISTER_H
#define _FENTRY_REGISTER_H

#include "filter.h"
#include "ops.h"

int fentry_ops_register(struct ftrace_ops *ops);
int fentry_ops_unregister(struct ftrace_ops *ops);
int fentry_ops_change_filter(struct ftrace_ops *ops, struct fentry_filter *filter,
			     bool is_notrace, struct ftrace_hash *sites);
void fentry_pids_changed(void);

/* For those who do not know what is different from the former filter */
static inline int fentry_ops_set_filter(struct ftrace_ops *ops, struct fentry_filter *filter,
					bool is_notrace)
{
	return fentry_ops_change_filter(ops, filter, is_notrace, NULL);
}

#endif /* _FENTRY_REGISTER_H */
