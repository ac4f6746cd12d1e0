/* SPDX-License-Identifier: GPL-2.0 */
/* The callback of an ops that looks at pids */
#ifndef _FENTRY_PID_FUNC_H
#define _FENTRY_PID_FUNC_H

struct ftrace_ops;
struct ftrace_regs;

void fentry_pid_func(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *ops, struct ftrace_regs *fregs);

#endif /* _FENTRY_PID_FUNC_H */
