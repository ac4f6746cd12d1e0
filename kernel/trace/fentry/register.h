/* SPDX-License-Identifier: GPL-2.0 */
/* Registering ops and changing what they trace */
#ifndef _FENTRY_REGISTER_H
#define _FENTRY_REGISTER_H

#include "filter.h"
#include "ops.h"

int fentry_ops_register(struct ftrace_ops *ops);
int fentry_ops_unregister(struct ftrace_ops *ops);
int fentry_ops_set_filter(struct ftrace_ops *ops, struct fentry_filter *filter, bool is_notrace,
			  struct ftrace_hash *sites);
void fentry_pids_changed(void);

#endif /* _FENTRY_REGISTER_H */
