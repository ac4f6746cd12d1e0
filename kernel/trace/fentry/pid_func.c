// SPDX-License-Identifier: GPL-2.0
/*
 * Callbacks that look at pids: an ops whose instance has pid filters has
 * fentry_pid_func() in front of its own callback. pid.c has the filters.
 */
#include "fentry.h"
#include "pid_func.h"

/**
 * ftrace_pids_enabled - does an ops look at pids?
 * @ops: any
 *
 * Return: true if it does.
 */
bool ftrace_pids_enabled(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->flags & FTRACE_OPS_FL_PID ? ops->private : NULL;

	return tr && (rcu_access_pointer(tr->function_pids) ||
		      rcu_access_pointer(tr->function_no_pids));
}

/* Call @ops->saved_func if the task is of interest. */
void fentry_pid_func(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct trace_array *tr = ops->private;
	int pid;

	if (tr) {
		pid = this_cpu_read(tr->array_buffer.data->ftrace_ignore_pid);
		if (pid == FTRACE_PID_IGNORE || (pid != FTRACE_PID_TRACE && pid != current->pid))
			return;
	}
	ops->saved_func(ip, parent_ip, ops, fregs);
}
