// SPDX-License-Identifier: GPL-2.0
/*
 * Pids: tracing functions only in some tasks, or not in some.
 *
 * Whether a task is of interest is found out when it is switched to, and kept
 * for each CPU and instance. The callbacks of an instance with pid filters have
 * fentry_pid_func() in front, which looks at that.
 */
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/smp.h>

#include <trace/events/sched.h>

#include "fentry.h"

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

/**
 * fentry_pid_func - a callback that looks at the pid first
 * @ip: the site
 * @parent_ip: where the function was called from
 * @op: whose saved_func is the callback proper
 * @fregs: the registers
 */
void fentry_pid_func(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct trace_array *tr = op->private;
	int pid;

	if (tr) {
		pid = this_cpu_read(tr->array_buffer.data->ftrace_ignore_pid);
		if (pid == FTRACE_PID_IGNORE ||
		    (pid != FTRACE_PID_TRACE && pid != current->pid))
			return;
	}
	op->saved_func(ip, parent_ip, op, fregs);
}

/* The pid list of an instance that a file is about */
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

/*
 * The others are where ftrace_lock is held by somebody else: pid_write() waits
 * for the IPI.
 */
static void on_this_cpu(void *data)
{
	preempt_disable_notrace();
	look_at_task(data, current);
	preempt_enable_notrace();
}

static void follow(struct trace_array *tr, struct task_struct *self,
		   struct task_struct *task)
{
	trace_filter_add_remove_task(list_of(tr, TRACE_PIDS), self, task);
	trace_filter_add_remove_task(list_of(tr, TRACE_NO_PIDS), self, task);
}

static void on_fork(void *data, struct task_struct *self, struct task_struct *task)
{
	follow(data, self, task);
}

static void on_exit(void *data, struct task_struct *task)
{
	follow(data, NULL, task);
}

/**
 * ftrace_pid_follow_fork - have children of tasks in the lists be in them too
 * @tr: the instance
 * @enable: or not
 */
void ftrace_pid_follow_fork(struct trace_array *tr, bool enable)
{
	if (enable) {
		register_trace_sched_process_fork(on_fork, tr);
		register_trace_sched_process_free(on_exit, tr);
	} else {
		unregister_trace_sched_process_fork(on_fork, tr);
		unregister_trace_sched_process_free(on_exit, tr);
	}
}

static void pids_clear(struct trace_array *tr, int types)
{
	struct trace_pid_list *pids = list_of(tr, TRACE_PIDS);
	struct trace_pid_list *no_pids = list_of(tr, TRACE_NO_PIDS);
	int cpu;

	lockdep_assert_held(&ftrace_lock);

	if (!pid_type_enabled(types, pids, no_pids))
		return;

	if (!still_need_pid_events(types, pids, no_pids)) {
		unregister_trace_sched_switch(on_sched_switch, tr);
		for_each_possible_cpu(cpu) {
			struct trace_array_cpu *data = per_cpu_ptr(tr->array_buffer.data, cpu);

			data->ftrace_ignore_pid = FTRACE_PID_TRACE;
		}
	}

	if (types & TRACE_PIDS)
		rcu_assign_pointer(tr->function_pids, NULL);
	if (types & TRACE_NO_PIDS)
		rcu_assign_pointer(tr->function_no_pids, NULL);

	/* Pairs with the tracepoint callbacks, which look with preemption off */
	synchronize_rcu();

	if ((types & TRACE_PIDS) && pids)
		trace_pid_list_free(pids);
	if ((types & TRACE_NO_PIDS) && no_pids)
		trace_pid_list_free(no_pids);
}

/**
 * ftrace_clear_pids - drop the pid lists of an instance, which is going
 * @tr: the instance
 */
void ftrace_clear_pids(struct trace_array *tr)
{
	mutex_lock(&ftrace_lock);
	pids_clear(tr, TRACE_PIDS | TRACE_NO_PIDS);
	mutex_unlock(&ftrace_lock);
}

/* What stands in the file when there is no list: more than any pid */
#define NO_PIDS	((void *)(PID_MAX_LIMIT + 1))

/**
 * struct pid_file - an open file
 * @tr: the instance
 * @type: TRACE_PIDS or TRACE_NO_PIDS
 */
struct pid_file {
	struct trace_array	*tr;
	int			type;
};

static void *pid_start(struct seq_file *m, loff_t *pos)
	__acquires(RCU)
{
	struct pid_file *file = m->private;
	struct trace_pid_list *pids;

	mutex_lock(&ftrace_lock);
	rcu_read_lock_sched();

	pids = list_of(file->tr, file->type);
	if (!pids)
		return *pos ? NULL : NO_PIDS;
	return trace_pid_start(pids, pos);
}

static void *pid_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct pid_file *file = m->private;

	if (v == NO_PIDS) {
		++*pos;
		return NULL;
	}
	return trace_pid_next(list_of(file->tr, file->type), v, pos);
}

static void pid_stop(struct seq_file *m, void *v)
	__releases(RCU)
{
	rcu_read_unlock_sched();
	mutex_unlock(&ftrace_lock);
}

static int pid_show(struct seq_file *m, void *v)
{
	if (v != NO_PIDS)
		return trace_pid_show(m, v);

	seq_puts(m, "no pid\n");
	return 0;
}

static const struct seq_operations pid_seq_ops = {
	.start	= pid_start,
	.next	= pid_next,
	.stop	= pid_stop,
	.show	= pid_show,
};

static int pid_open(struct inode *inode, struct file *filp, int type)
{
	struct trace_array *tr = inode->i_private;
	struct pid_file *file;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	file = __seq_open_private(filp, &pid_seq_ops, sizeof(*file));
	if (!file) {
		trace_array_put(tr);
		return -ENOMEM;
	}
	file->tr = tr;
	file->type = type;

	if ((filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC)) {
		mutex_lock(&ftrace_lock);
		pids_clear(tr, type);
		fentry_pids_changed();
		mutex_unlock(&ftrace_lock);
	}
	return 0;
}

static int pids_open(struct inode *inode, struct file *filp)
{
	return pid_open(inode, filp, TRACE_PIDS);
}

static int no_pids_open(struct inode *inode, struct file *filp)
{
	return pid_open(inode, filp, TRACE_NO_PIDS);
}

static int pid_release(struct inode *inode, struct file *filp)
{
	trace_array_put(inode->i_private);
	return seq_release_private(inode, filp);
}

static ssize_t pid_write(struct file *filp, const char __user *ubuf, size_t cnt,
			 loff_t *ppos)
{
	struct pid_file *file = ((struct seq_file *)filp->private_data)->private;
	struct trace_pid_list *old, *new, *other;
	struct trace_array *tr = file->tr;
	ssize_t ret;

	if (!cnt)
		return 0;

	mutex_lock(&ftrace_lock);

	old = list_of(tr, file->type);
	other = list_of(tr, file->type == TRACE_PIDS ? TRACE_NO_PIDS : TRACE_PIDS);

	ret = trace_pid_write(old, &new, ubuf, cnt);
	if (ret < 0)
		goto out;

	rcu_assign_pointer(*list_slot(tr, file->type), new);
	if (old) {
		/* Pairs with the tracepoint callbacks, as in pids_clear() */
		synchronize_rcu();
		trace_pid_list_free(old);
	} else if (new && !other) {
		register_trace_sched_switch(on_sched_switch, tr);
	}

	/* Tasks that run now are not switched to. */
	on_each_cpu(on_this_cpu, tr, 1);
	fentry_pids_changed();
out:
	mutex_unlock(&ftrace_lock);

	if (ret > 0)
		*ppos += ret;
	return ret;
}

static const struct file_operations pids_fops = {
	.open		= pids_open,
	.release	= pid_release,
	.read		= seq_read,
	.write		= pid_write,
	.llseek		= tracing_lseek,
};

static const struct file_operations no_pids_fops = {
	.open		= no_pids_open,
	.release	= pid_release,
	.read		= seq_read,
	.write		= pid_write,
	.llseek		= tracing_lseek,
};

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
