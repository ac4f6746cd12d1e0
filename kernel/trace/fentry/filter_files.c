// SPDX-License-Identifier: GPL-2.0
/*
 * Files with a filter: set_ftrace_filter and others like it.
 *
 * Writing changes the file's own copy of the filter, by words. The copy is put into
 * use when the file is closed. Reading shows the copy, then the filters that wait for
 * a module, then functions with a command attached. Of the graph tracer's files, it shows
 * what is in use.
 */
#include <linux/kallsyms.h>
#include <linux/slab.h>

#include "command.h"
#include "filter.h"
#include "filter_files.h"
#include "ops.h"
#include "register.h"
#include "set.h"
#include "waiting.h"

/* A word, wildcards included, has at most this many bytes. */
#define WORD_MAX	(KSYM_SYMBOL_LEN + 4)

/* Bytes of a name, on average: a buffer that is too small is filled again. */
#define LINE_GUESS	32

static void show_filter(struct seq_file *m, const struct filter_file *file,
			struct fentry_filter *filter)
{
	const unsigned long count = fentry_filter_count(filter);
	unsigned long i, ip;

	/* While a filter waits for its module, nothing is traced. */
	if (ftrace_hash_empty(filter ? &filter->hash : NULL))
		seq_printf(m, "#### %s ####\n", file->is_notrace ? "no functions disabled" :
								   "all functions enabled");
	for (i = 0; i < count && !seq_has_overflowed(m); i++) {
		/* %ps searches all symbols of a module, and there may be many functions. */
		cond_resched();
		ip = filter->ip[i];
		/* Of an ops' filter, only sites that are there: others may have gone since. */
		if (!file->ops || (ip && ftrace_location_range(ip, ip) == ip))
			seq_printf(m, "%ps\n", (void *)ip);
	}
}

static int filter_file_show(struct seq_file *m, void *v)
{
	struct filter_file *file = m->private;
	struct ftrace_mod_load *request;

	if (fentry_dead)
		return 0;
	guard(mutex)(&file->lock);
	if (file->ops) {
		show_filter(m, file, file->filter);
	} else {
		struct ftrace_hash *now;

		guard(mutex)(file->slot_lock);
		now = rcu_dereference_protected(*file->slot, lockdep_is_held(file->slot_lock));
		show_filter(m, file, fentry_filter(now));
	}
	if (!file->tr)
		return 0;
	scoped_guard(mutex, &ftrace_lock) {
		list_for_each_entry(request, fentry_waiting(file->tr, file->is_notrace), list)
			seq_printf(m, "%s:mod:%s\n", request->func, request->module);
	}
	if (!file->is_notrace)
		fentry_probes_show(m, file->tr);
	return 0;
}

static void filter_file_free(struct filter_file *file)
{
	if (!file)
		return;
	trace_parser_put(&file->parser);
	kvfree(file->filter);
	kfree(file);
}

DEFINE_FREE(filter_file, struct filter_file *, filter_file_free(_T))

/*
 * Open a file with a filter; @template has the members up to commit. Goes with
 * ftrace_filter_write(), seq_read(), tracing_lseek() and ftrace_regex_release(), which
 * puts the instance. Returns 0 or -ENOMEM.
 */
int fentry_filter_file_open(struct file *filp, const struct filter_file *template)
{
	struct filter_file *file __free(filter_file) = kmemdup(template, sizeof(*file),
							       GFP_KERNEL);
	struct ftrace_hash *now;
	size_t names = 0;
	int ret;

	if (!file || trace_parser_get_init(&file->parser, WORD_MAX))
		return -ENOMEM;
	mutex_init(&file->lock);
	INIT_LIST_HEAD(&file->former);
	/* The VFS clears O_TRUNC when the file has been opened. */
	file->anew = (filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC);

	scoped_guard(mutex, file->slot_lock) {
		now = rcu_dereference_protected(*file->slot, lockdep_is_held(file->slot_lock));
		file->filter = fentry_filter_copy(file->anew ? NULL : now);
	}
	if (!file->filter)
		return -ENOMEM;

	if (filp->f_mode & FMODE_READ)
		names = file->filter->hash.count * LINE_GUESS;
	ret = single_open_size(filp, filter_file_show, file, PAGE_SIZE + names);
	if (ret)
		return ret;
	/* seq_open() forbids pwrite(), which is harmless in a file that is not read. */
	if (!(filp->f_mode & FMODE_READ))
		filp->f_mode |= FMODE_PWRITE;
	retain_and_null_ptr(file);
	return 0;
}

static struct filter_file *filter_file(struct file *filp)
{
	return ((struct seq_file *)filp->private_data)->private;
}

/* Apply the word that has been written. */
static int take_word(struct filter_file *file)
{
	const int ret = file->word(file, file->parser.buffer);

	file->no_memory |= ret == -ENOMEM;
	trace_parser_clear(&file->parser);
	return ret;
}

/**
 * ftrace_filter_write - write to a file with a filter
 * @filp: opened by ftrace_regex_open()
 * @ubuf: words separated by white space: patterns, and commands
 * @cnt: bytes in @ubuf
 * @ppos: position in the file
 *
 * Return: how many bytes were taken: up to the end of one word. -EINVAL if a
 * pattern matches nothing or a word is no good, -ENODEV after ftrace_kill(), -EFAULT,
 * -ENOMEM (see ftrace_regex_release()), or the error of a command.
 */
ssize_t ftrace_filter_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct filter_file *file = filter_file(filp);
	ssize_t read;
	int ret = 0;

	if (!cnt)
		return 0;
	if (fentry_dead)
		return -ENODEV;

	guard(mutex)(&file->lock);
	read = trace_get_user(&file->parser, ubuf, cnt, ppos);
	if (read >= 0 && trace_parser_loaded(&file->parser) && !trace_parser_cont(&file->parser))
		ret = take_word(file);
	return ret < 0 ? ret : read;
}

/**
 * ftrace_notrace_write - the same, of a file that was opened with FTRACE_ITER_NOTRACE
 * @filp: opened by ftrace_regex_open()
 * @ubuf: words separated by white space
 * @cnt: bytes in @ubuf
 * @ppos: position in the file
 *
 * Return: as ftrace_filter_write() does.
 */
ssize_t ftrace_notrace_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return ftrace_filter_write(filp, ubuf, cnt, ppos);
}

/**
 * ftrace_regex_release - close a file with a filter, and put the filter into use
 * @inode: of the file
 * @filp: opened by ftrace_regex_open()
 *
 * The filter in use stays if there was no memory for one of the words: if the file was
 * truncated, its copy may be empty, and putting that into use would trace everything.
 *
 * Return: 0.
 */
int ftrace_regex_release(struct inode *inode, struct file *filp)
{
	struct filter_file *file __free(filter_file) = filter_file(filp);
	int ret = 0;

	single_release(inode, filp);

	/* Owners free their ops after ftrace_kill() although they are registered. */
	if ((filp->f_mode & FMODE_WRITE) && !fentry_dead) {
		/* The last word may have no white space behind it. */
		if (trace_parser_loaded(&file->parser))
			take_word(file);
		guard(mutex)(file->slot_lock);
		ret = file->no_memory ? -ENOMEM :
					file->commit(file, no_free_ptr(file->filter));
	}
	/* Closing a file has no way to fail. */
	if (ret)
		pr_warn("a filter could not be set (%d), it stays as it was\n", ret);

	if (file->tr) {
		if (file->anew && (ret || fentry_dead))
			fentry_waiting_put_back(file->tr, file->is_notrace, &file->former);
		else
			fentry_waiting_drop(&file->former);
		trace_array_put(file->tr);
	}
	return 0;
}

/* Files with the filter of an ops */

static int ops_filter_word(struct filter_file *file, char *word)
{
	return fentry_command(file->ops->private, &file->filter, word, file->is_notrace);
}

static int ops_filter_commit(const struct filter_file *file, struct fentry_filter *filter)
{
	guard(mutex)(&ftrace_lock);
	/* With only requests in it, it is not empty: nothing matches yet */
	if (!file->is_notrace && file->tr)
		filter->hash.flags = list_empty(&file->tr->mod_trace) ? 0 : FTRACE_HASH_FL_MOD;
	return fentry_ops_set_filter(file->ops, filter, file->is_notrace, NULL);
}

/**
 * ftrace_regex_open - open a file with an ops' filter
 * @tr: the instance, NULL: that of @ops, if any
 * @ops: whose filter; NULL: that of the instance, or the global one
 * @flag: FTRACE_ITER_FILTER or FTRACE_ITER_NOTRACE
 * @inode: of the file
 * @filp: the file
 *
 * Goes with ftrace_filter_write(), seq_read(), tracing_lseek() and
 * ftrace_regex_release().
 *
 * Return: 0, -ENOMEM, -ENODEV after ftrace_kill(), if the instance is gone, or if the
 * kernel is locked down.
 */
int ftrace_regex_open(struct trace_array *tr, struct ftrace_ops *ops, int flag,
		      struct inode *inode, struct file *filp)
{
	struct filter_file file = {
		.is_notrace = flag & FTRACE_ITER_NOTRACE,
		.tr = tr ?: (ops ?: &global_ops)->private,
		.word = ops_filter_word, .commit = ops_filter_commit,
	};
	int ret;

	if (fentry_dead || tracing_check_open_get_tr(file.tr))
		return -ENODEV;

	file.ops = ops ?: file.tr ? file.tr->ops : &global_ops;
	fentry_ops_init(file.ops);
	file.slot_lock = &file.ops->func_hash->regex_lock;
	file.slot = file.is_notrace ? &file.ops->func_hash->notrace_hash :
				      &file.ops->func_hash->filter_hash;
	ret = fentry_filter_file_open(filp, &file);
	if (!file.tr)
		return ret;
	if (ret)
		trace_array_put(file.tr);
	else if (filter_file(filp)->anew)
		fentry_waiting_take(file.tr, file.is_notrace, &filter_file(filp)->former);
	return ret;
}

static int set_filter_open(struct inode *inode, struct file *filp)
{
	return ftrace_regex_open(inode->i_private, NULL, FTRACE_ITER_FILTER, inode, filp);
}

static int set_notrace_open(struct inode *inode, struct file *filp)
{
	return ftrace_regex_open(inode->i_private, NULL, FTRACE_ITER_NOTRACE, inode, filp);
}

FENTRY_FILE_OPS(set_filter_fops, set_filter_open, ftrace_filter_write, ftrace_regex_release);
FENTRY_FILE_OPS(set_notrace_fops, set_notrace_open, ftrace_filter_write, ftrace_regex_release);

/**
 * ftrace_create_filter_files - the filter files of an instance
 * @tr: the instance, NULL for the top one
 * @parent: its directory
 */
void ftrace_create_filter_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_filter", TRACE_MODE_WRITE, parent, tr, &set_filter_fops);
	trace_create_file("set_ftrace_notrace", TRACE_MODE_WRITE, parent, tr, &set_notrace_fops);
}

/**
 * ftrace_destroy_filter_files - an instance's ops is about to be freed
 * @ops: the ops
 *
 * The files go with their directory.
 *
 * Context: process context, takes ftrace_lock and what ftrace_shutdown() takes; sleeps: for
 * long, until no task is in the ops, if it has ever been registered.
 */
void ftrace_destroy_filter_files(struct ftrace_ops *ops)
{
	fentry_waiting_clear(ops->private, false);
	fentry_waiting_clear(ops->private, true);
	scoped_guard(mutex, &ftrace_lock) {
		if (ops->flags & FTRACE_OPS_FL_ENABLED)
			ftrace_shutdown(ops, 0);
		ftrace_free_filter(ops);
		/* A file that is still open may not bring it back. */
		ops->flags |= FTRACE_OPS_FL_DELETED;
	}
	/* Set when it was first registered: without that, no task has ever called it. */
	if (ops->saved_func)
		fentry_sets_sync();
}
