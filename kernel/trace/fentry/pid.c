// SPDX-License-Identifier: GPL-2.0
/*
 * Pids: tracing functions only in some tasks, or not in some.
 *
 * Whether a task is of interest is found out when it is switched to, and kept
 * for each CPU and instance, for pid_callback() to look at.
 */
#include <linux/seq_file.h>

#include <trace/events/sched.h>

#include "filter_files.h"
#include "ops.h"
#include "register.h"

/* The list of an instance that a file is about: @type is TRACE_PIDS or TRACE_NO_PIDS */
static struct trace_pid_list __rcu **list_slot(struct trace_array *tr, int type)
{
	return type == TRACE_PIDS ? &tr->function_pids : &tr->function_no_pids;
}

static struct trace_pid_list *list_of(struct trace_array *tr, int type)
{
	return rcu_dereference_check(*list_slot(tr, type),
				     lockdep_is_held(&ftrace_lock) ||
				     rcu_read_lock_sched_held());
}

static void look_at_task(struct trace_array *tr, struct task_struct *task)
{
	bool ignore = trace_ignore_this_task(list_of(tr, TRACE_PIDS),
					     list_of(tr, TRACE_NO_PIDS), task);

	this_cpu_write(tr->array_buffer.data->ftrace_ignore_pid,
		       ignore ? FTRACE_PID_IGNORE : task->pid);
}

static void on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	look_at_task(data, next);
}

/* With interrupts off, while the writer of a list waits for it under ftrace_lock */
static void on_this_cpu(void *data)
{
	look_at_task(data, current);
}

static void on_fork(void *data, struct task_struct *self, struct task_struct *task)
{
	trace_filter_add_remove_task(list_of(data, TRACE_PIDS), self, task);
	trace_filter_add_remove_task(list_of(data, TRACE_NO_PIDS), self, task);
}

/* A task without a parent is removed. */
static void on_exit(void *data, struct task_struct *task)
{
	on_fork(data, NULL, task);
}

static int follow_fork(struct trace_array *tr)
{
	int ret = register_trace_sched_process_fork(on_fork, tr);

	if (ret)
		return ret;
	ret = register_trace_sched_process_free(on_exit, tr);
	if (ret)
		unregister_trace_sched_process_fork(on_fork, tr);
	return ret;
}

/**
 * ftrace_pid_follow_fork - have children of tasks in the lists be in them too
 * @tr: the instance
 * @enable: start or stop doing so; must differ from the present state
 *
 * Context: process context, may sleep, under trace_types_lock.
 *
 * Return: 0; or with nothing changed -ENOMEM, or -EINVAL if a tracepoint's text is not what it
 * should be.
 */
int ftrace_pid_follow_fork(struct trace_array *tr, bool enable)
{
	if (enable)
		return follow_fork(tr);

	unregister_trace_sched_process_fork(on_fork, tr);
	unregister_trace_sched_process_free(on_exit, tr);
	return 0;
}

/* Put a list into use, NULL for none. On error @new stays the caller's. */
static int list_set(struct trace_array *tr, int type, struct trace_pid_list *new)
{
	bool other = list_of(tr, type == TRACE_PIDS ? TRACE_NO_PIDS : TRACE_PIDS);
	struct trace_pid_list *old = list_of(tr, type);
	int cpu, ret;

	if (new && !old && !other) {
		ret = register_trace_sched_switch(on_sched_switch, tr);
		if (ret)
			return ret;
	}
	rcu_assign_pointer(*list_slot(tr, type), new);
	if (!old)
		return 0;

	if (!new && !other)
		unregister_trace_sched_switch(on_sched_switch, tr);

	/* Tracepoint callbacks look with preemption off, and may look at @old. */
	synchronize_rcu();
	trace_pid_list_free(old);

	if (new || other)
		return 0;
	for_each_possible_cpu(cpu)
		per_cpu_ptr(tr->array_buffer.data, cpu)->ftrace_ignore_pid = FTRACE_PID_TRACE;
	return 0;
}

/**
 * ftrace_clear_pids - drop the pid lists of an instance, which is going
 * @tr: the instance
 */
void ftrace_clear_pids(struct trace_array *tr)
{
	guard(mutex)(&ftrace_lock);
	list_set(tr, TRACE_PIDS, NULL);
	list_set(tr, TRACE_NO_PIDS, NULL);
}

static const struct file_operations pids_fops, no_pids_fops;

/* The list that a file is about */
static int list_type(const struct file *filp)
{
	return filp->f_op == &pids_fops ? TRACE_PIDS : TRACE_NO_PIDS;
}

static int pid_show(struct seq_file *m, void *v)
{
	struct trace_pid_list *pids;
	loff_t pos = 0;

	guard(mutex)(&ftrace_lock);
	pids = list_of(m->private, list_type(m->file));
	if (!pids)
		seq_puts(m, "no pid\n");
	for (v = pids ? trace_pid_start(pids, &pos) : NULL; v && !seq_has_overflowed(m);
	     v = trace_pid_next(pids, v, &pos)) {
		cond_resched();
		trace_pid_show(m, v);
	}
	return 0;
}

static int pid_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	ret = single_open(filp, pid_show, tr);
	if (ret)
		trace_array_put(tr);

	if (!ret && (filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC)) {
		guard(mutex)(&ftrace_lock);
		list_set(tr, list_type(filp), NULL);
		fentry_pids_changed();
	}
	return ret;
}

static int pid_release(struct inode *inode, struct file *filp)
{
	trace_array_put(inode->i_private);
	return single_release(inode, filp);
}

static ssize_t pid_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file_inode(filp)->i_private;
	int ret, type = list_type(filp);
	struct trace_pid_list *new;
	ssize_t read;

	if (!cnt)
		return 0;

	guard(mutex)(&ftrace_lock);

	read = trace_pid_write(list_of(tr, type), &new, ubuf, cnt);
	if (read < 0)
		return read;
	ret = list_set(tr, type, new);
	if (ret) {
		trace_pid_list_free(new);
		return ret;
	}
	/* Tasks that run now are not switched to. */
	on_each_cpu(on_this_cpu, tr, 1);
	fentry_pids_changed();

	*ppos += read;
	return read;
}

FENTRY_FILE_OPS(pids_fops, pid_open, pid_write, pid_release);
FENTRY_FILE_OPS(no_pids_fops, pid_open, pid_write, pid_release);

/**
 * ftrace_init_tracefs - the pid files of an instance
 * @tr: the instance
 * @d_tracer: its directory
 */
void ftrace_init_tracefs(struct trace_array *tr, struct dentry *d_tracer)
{
	trace_create_file("set_ftrace_pid", TRACE_MODE_WRITE, d_tracer, tr, &pids_fops);
	trace_create_file("set_ftrace_notrace_pid", TRACE_MODE_WRITE, d_tracer, tr,
			  &no_pids_fops);
}
