// SPDX-License-Identifier: GPL-2.0
/*
 * Files: what tracefs shows of function entries, and the filters in it.
 *
 * A file is read as up to three parts, one after the other, and the position in
 * it is an index over all of them:
 *
 *   functions   sites of all tables; in a filter file, the filter's entries, or
 *               one line saying that it is empty
 *   requests    filters that wait for a module
 *   probes      functions with a command attached
 *
 * Writing builds a filter of one's own, which takes the place of the ops' when
 * the file is closed.
 */
#include <linux/kallsyms.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fentry.h"
#include "command.h"
#include "filter.h"

/* A pattern, wildcards included, is one word of at most this many bytes. */
#define WORD_MAX	(KSYM_SYMBOL_LEN + 4)

/**
 * struct fentry_file - an open file
 * @flags: FTRACE_ITER_*: which file it is
 * @ops: the ops whose filter it is
 * @tr: the instance it is in, may be NULL
 * @filter: the filter as it was when the file was opened, with the changes
 * @parser: the word that is being written
 * @write_lock: keeps @filter and @parser from changing, before ftrace_lock
 * @site: the current line, if it is a site
 * @ip: ... if it is a filter's entry, or a probe's
 * @request: ... if it is a request
 * @probe: ... if it is a probe
 */
struct fentry_file {
	unsigned int			flags;
	struct ftrace_ops		*ops;
	struct trace_array		*tr;
	struct fentry_filter		*filter;
	struct trace_parser		parser;
	struct mutex			write_lock;	/* see above */

	struct text_site		*site;
	unsigned long			ip;
	struct ftrace_mod_load		*request;
	struct ftrace_func_probe	*probe;
};

#define IS_FILTER	(FTRACE_ITER_FILTER | FTRACE_ITER_NOTRACE)

/* Is a site shown? */
static bool site_shown(const struct fentry_file *file, const struct text_site *site)
{
	if (site->state & TEXT_SITE_DEAD)
		return false;
	if (file->flags & FTRACE_ITER_ENABLED)
		return text_site_target_id(site);
	if (file->flags & FTRACE_ITER_TOUCHED)
		return site->state & FENTRY_TOUCHED;
	return true;
}

/*
 * The first part: looks for the line at *@pos or the first one after it. If there
 * is none, *@pos is where the next part begins.
 */
static bool find_site(struct fentry_file *file, loff_t *pos)
{
	struct text_site_table *table;
	loff_t first = 0;

	for_each_fentry_table(table) {
		for (; *pos < first + table->nr; ++*pos) {
			file->site = &table->sites[*pos - first];
			if (table->ready && site_shown(file, file->site))
				return true;
		}
		first += table->nr;
	}
	file->site = NULL;
	return false;
}

/* A filter file shows sites that are there: others may have gone since. */
static bool find_filter_entry(struct fentry_file *file, loff_t *pos)
{
	unsigned long count = file->filter->hash.count;

	file->ip = 0;
	if (ftrace_hash_empty(&file->filter->hash))
		return !*pos;

	for (; *pos < count; ++*pos) {
		file->ip = file->filter->ip[*pos];
		if (ftrace_location_range(file->ip, file->ip) == file->ip && file->ip)
			return true;
	}
	return false;
}

static loff_t first_part_size(const struct fentry_file *file)
{
	struct text_site_table *table;
	loff_t size = 0;

	if (file->flags & IS_FILTER)
		return ftrace_hash_empty(&file->filter->hash) ? 1 : file->filter->hash.count;

	for_each_fentry_table(table)
		size += table->nr;
	return size;
}

/*
 * The others: @pos counts from their beginning, and is reduced by their size if
 * the line is not in them.
 */
static bool find_request(struct fentry_file *file, loff_t *pos)
{
	struct ftrace_mod_load *request;
	struct list_head *requests;

	if (!(file->flags & IS_FILTER) || !file->tr)
		return false;

	requests = fentry_mod_requests(file->tr, file->flags & FTRACE_ITER_NOTRACE);
	list_for_each_entry(request, requests, list) {
		if (!*pos) {
			file->request = request;
			return true;
		}
		--*pos;
	}
	return false;
}

static bool find_probe(struct fentry_file *file, loff_t *pos)
{
	if (!(file->flags & FTRACE_ITER_DO_PROBES) || !file->tr)
		return false;

	file->probe = fentry_probe_nth(file->tr, *pos, &file->ip);
	return file->probe;
}

/* The line at *@pos or after it, over all parts */
static void *find_line(struct fentry_file *file, loff_t *pos)
{
	loff_t left;
	bool found;

	file->request = NULL;
	file->probe = NULL;

	found = file->flags & IS_FILTER ? find_filter_entry(file, pos) :
					  find_site(file, pos);
	if (found)
		return file;

	left = *pos - first_part_size(file);
	return find_request(file, &left) || find_probe(file, &left) ? file : NULL;
}

static void *file_start(struct seq_file *m, loff_t *pos)
{
	struct fentry_file *file = m->private;

	/* The filter is replaced by writes to the same open file. */
	mutex_lock(&file->write_lock);
	mutex_lock(&ftrace_lock);
	return fentry_dead ? NULL : find_line(file, pos);
}

static void *file_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return find_line(m->private, pos);
}

static void file_stop(struct seq_file *m, void *v)
{
	struct fentry_file *file = m->private;

	mutex_unlock(&ftrace_lock);
	mutex_unlock(&file->write_lock);
}

static void show_name(struct seq_file *m, unsigned long ip)
{
	char name[KSYM_SYMBOL_LEN];
	char *modname;

	if (!kallsyms_lookup(ip, NULL, NULL, &modname, name)) {
		seq_printf(m, "0x%lx", ip);
		return;
	}
	seq_puts(m, name);
	if (modname)
		seq_printf(m, " [%s]", modname);
}

/* How many callbacks, of what nature, and by which trampoline they are called */
static void show_attached(struct seq_file *m, const struct text_site *site)
{
	const struct ops_set *set = fentry_site_set(site);
	unsigned int i;

	seq_printf(m, " (%u)%s%s%s%s%s", set->nr,
		   set->flags & FTRACE_OPS_FL_SAVE_REGS ? " R" : "  ",
		   set->flags & FTRACE_OPS_FL_IPMODIFY ? " I" : "  ",
		   set->direct ? " D" : "  ",
		   "  ",
		   site->state & FENTRY_MODIFIED ? " M " : "   ");

	for (i = 0; i < set->nr; i++) {
		struct ftrace_ops *ops = set->ops[i];

		if (fentry_ops_is_called(ops))
			seq_printf(m, "\ttramp: %pS (%pS) ->%pS",
				   (void *)set->tramp.addr, ops->func,
				   fentry_ops_callback(ops));
	}
	if (set->direct)
		seq_printf(m, "\n\tdirect-->%pS", (void *)set->direct);
}

static void show_site(struct seq_file *m, const struct fentry_file *file)
{
	unsigned long ip = text_site_addr(file->site);

	if (file->flags & FTRACE_ITER_ADDRS)
		seq_printf(m, "%lx ", ip);
	show_name(m, ip);
	if (file->flags & (FTRACE_ITER_ENABLED | FTRACE_ITER_TOUCHED))
		show_attached(m, file->site);
	seq_putc(m, '\n');
}

static int file_show(struct seq_file *m, void *v)
{
	struct fentry_file *file = v;

	if (file->probe)
		return fentry_probe_show(m, file->probe, file->ip);

	if (file->request) {
		seq_printf(m, "%s:mod:%s\n", file->request->func, file->request->module);
	} else if (file->site) {
		show_site(m, file);
	} else if (file->ip) {
		show_name(m, file->ip);
		seq_putc(m, '\n');
	} else {
		seq_printf(m, "#### %s ####\n",
			   file->flags & FTRACE_ITER_NOTRACE ? "no functions disabled" :
							       "all functions enabled");
	}
	return 0;
}

static const struct seq_operations file_seq_ops = {
	.start	= file_start,
	.next	= file_next,
	.stop	= file_stop,
	.show	= file_show,
};

/* Files that only show sites */

static int open_sites(struct file *filp, unsigned int flags)
{
	struct fentry_file *file;

	file = __seq_open_private(filp, &file_seq_ops, sizeof(*file));
	if (!file)
		return -ENOMEM;

	mutex_init(&file->write_lock);
	file->flags = flags;
	return 0;
}

/* These say where functions are, which a locked down kernel does not tell. */
static int open_available(struct file *filp, unsigned int flags)
{
	int ret = security_locked_down(LOCKDOWN_TRACEFS);

	if (!ret && fentry_dead)
		ret = -ENODEV;
	return ret ?: open_sites(filp, flags);
}

static int available_open(struct inode *inode, struct file *filp)
{
	return open_available(filp, 0);
}

static int addrs_open(struct inode *inode, struct file *filp)
{
	return open_available(filp, FTRACE_ITER_ADDRS);
}

static int enabled_open(struct inode *inode, struct file *filp)
{
	return open_sites(filp, FTRACE_ITER_ENABLED);
}

static int touched_open(struct inode *inode, struct file *filp)
{
	return open_sites(filp, FTRACE_ITER_TOUCHED);
}

#define SITES_FOPS(_name)						\
static const struct file_operations _name##_fops = {			\
	.open		= _name##_open,					\
	.release	= seq_release_private,				\
	.read		= seq_read,					\
	.llseek		= seq_lseek,					\
}

SITES_FOPS(available);
SITES_FOPS(addrs);
SITES_FOPS(enabled);
SITES_FOPS(touched);

/* Files with a filter */

static struct fentry_file *fentry_file(struct file *filp)
{
	struct seq_file *m = filp->private_data;

	return filp->f_mode & FMODE_READ ? m->private : filp->private_data;
}

/* One's own copy of the filter. A file opened to be written anew starts empty. */
static int file_get_filter(struct fentry_file *file, bool truncate)
{
	struct ftrace_ops_hash *hashes = file->ops->func_hash;
	bool exclude = file->flags & FTRACE_ITER_NOTRACE;

	mutex_lock(&hashes->regex_lock);
	file->filter = fentry_filter_copy(truncate ? NULL :
					  fentry_ops_hash(file->ops, exclude));
	if (file->filter && truncate && file->tr)
		fentry_mod_requests_clear(fentry_mod_requests(file->tr, exclude));
	mutex_unlock(&hashes->regex_lock);

	return file->filter ? 0 : -ENOMEM;
}

static int file_open(struct fentry_file *file, struct file *filp)
{
	bool truncate = (filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC);
	int ret;

	if (trace_parser_get_init(&file->parser, WORD_MAX))
		return -ENOMEM;

	ret = file_get_filter(file, truncate);
	if (ret)
		goto err_parser;

	if (!(filp->f_mode & FMODE_READ)) {
		filp->private_data = file;
		return 0;
	}

	ret = seq_open(filp, &file_seq_ops);
	if (ret)
		goto err_filter;
	((struct seq_file *)filp->private_data)->private = file;
	return 0;

err_filter:
	kvfree(file->filter);
err_parser:
	trace_parser_put(&file->parser);
	return ret;
}

/**
 * ftrace_regex_open - open a file with an ops' filter
 * @tr: the instance, NULL: that of @ops, if any
 * @ops: whose filter; NULL: that of the instance, or the global one
 * @flag: FTRACE_ITER_FILTER or FTRACE_ITER_NOTRACE, and FTRACE_ITER_DO_PROBES
 * @inode: of the file
 * @file: the file
 *
 * Goes with ftrace_filter_write() or ftrace_notrace_write(), seq_read(),
 * tracing_lseek() and ftrace_regex_release().
 *
 * Return: 0, -ENODEV after ftrace_kill() or if the instance is gone, -ENOMEM.
 */
int ftrace_regex_open(struct trace_array *tr, struct ftrace_ops *ops, int flag,
		      struct inode *inode, struct file *file)
{
	struct fentry_file *mine;
	int ret = -ENODEV;

	if (fentry_dead)
		return -ENODEV;

	if (!tr)
		tr = (ops ?: &global_ops)->private;
	if (tracing_check_open_get_tr(tr))
		return -ENODEV;

	ops = ops ?: tr ? tr->ops : &global_ops;
	if (WARN_ON_ONCE(!ops))
		goto err_put;
	fentry_ops_init(ops);

	ret = -ENOMEM;
	mine = kzalloc(sizeof(*mine), GFP_KERNEL);
	if (!mine)
		goto err_put;

	mine->flags = flag;
	mine->ops = ops;
	mine->tr = tr;
	mutex_init(&mine->write_lock);

	ret = file_open(mine, file);
	if (ret)
		goto err_free;
	return 0;

err_free:
	kfree(mine);
err_put:
	if (tr)
		trace_array_put(tr);
	return ret;
}

static int file_word_done(struct fentry_file *file)
{
	int ret = fentry_command(file->ops->private, &file->filter, file->parser.buffer,
				 file->flags & FTRACE_ITER_NOTRACE);

	trace_parser_clear(&file->parser);
	return ret;
}

static ssize_t file_write(struct file *filp, const char __user *ubuf, size_t cnt,
			  loff_t *ppos)
{
	struct fentry_file *file = fentry_file(filp);
	ssize_t read;
	int ret = 0;

	if (!cnt)
		return 0;
	if (fentry_dead)
		return -ENODEV;

	mutex_lock(&file->write_lock);
	read = trace_get_user(&file->parser, ubuf, cnt, ppos);
	if (read >= 0 && trace_parser_loaded(&file->parser) &&
	    !trace_parser_cont(&file->parser))
		ret = file_word_done(file);
	mutex_unlock(&file->write_lock);

	return ret < 0 ? ret : read;
}

/**
 * ftrace_filter_write - write to a file with a filter of what to trace
 * @file: opened by ftrace_regex_open()
 * @ubuf: words separated by white space: patterns, and commands
 * @cnt: bytes in @ubuf
 * @ppos: position in the file
 *
 * Return: how many bytes were taken: up to the end of one word. -EINVAL if a
 * pattern matches nothing or a word is no good, -ENODEV after ftrace_kill(),
 * -EFAULT, -ENOMEM, or the error of a command.
 */
ssize_t ftrace_filter_write(struct file *file, const char __user *ubuf, size_t cnt,
			    loff_t *ppos)
{
	return file_write(file, ubuf, cnt, ppos);
}

/**
 * ftrace_notrace_write - write to a file with a filter of what not to trace
 * @file: opened by ftrace_regex_open()
 * @ubuf: words separated by white space: patterns, and commands
 * @cnt: bytes in @ubuf
 * @ppos: position in the file
 *
 * Return: as ftrace_filter_write().
 */
ssize_t ftrace_notrace_write(struct file *file, const char __user *ubuf, size_t cnt,
			     loff_t *ppos)
{
	return file_write(file, ubuf, cnt, ppos);
}

/* The file's filter takes the place of the ops'. */
static void file_put_filter(struct fentry_file *file)
{
	bool exclude = file->flags & FTRACE_ITER_NOTRACE;
	struct ftrace_ops_hash *hashes = file->ops->func_hash;
	int ret;

	mutex_lock(&hashes->regex_lock);
	mutex_lock(&ftrace_lock);
	if (!exclude && file->tr) {
		/* With only requests in it, it is not empty: nothing matches yet */
		if (list_empty(&file->tr->mod_trace))
			file->filter->hash.flags &= ~FTRACE_HASH_FL_MOD;
		else
			file->filter->hash.flags |= FTRACE_HASH_FL_MOD;
	}
	ret = fentry_ops_set_filter(file->ops, file->filter, exclude);
	mutex_unlock(&ftrace_lock);
	mutex_unlock(&hashes->regex_lock);

	/* Closing a file has no way to fail. */
	if (ret)
		pr_warn("a filter could not be set (%d), it stays as it was\n", ret);
}

/**
 * ftrace_regex_release - close a file with a filter
 * @inode: of the file
 * @file: opened by ftrace_regex_open()
 *
 * Return: 0.
 */
int ftrace_regex_release(struct inode *inode, struct file *file)
{
	struct fentry_file *mine = fentry_file(file);

	if (file->f_mode & FMODE_READ)
		seq_release(inode, file);

	/* The last word may have no white space behind it. */
	if (trace_parser_loaded(&mine->parser))
		file_word_done(mine);
	trace_parser_put(&mine->parser);

	if (file->f_mode & FMODE_WRITE)
		file_put_filter(mine);
	else
		kvfree(mine->filter);

	if (mine->tr)
		trace_array_put(mine->tr);
	kfree(mine);
	return 0;
}

static int filter_open(struct inode *inode, struct file *filp)
{
	return ftrace_regex_open(inode->i_private, NULL,
				 FTRACE_ITER_FILTER | FTRACE_ITER_DO_PROBES, inode, filp);
}

static int notrace_open(struct inode *inode, struct file *filp)
{
	return ftrace_regex_open(inode->i_private, NULL, FTRACE_ITER_NOTRACE, inode, filp);
}

static const struct file_operations filter_fops = {
	.open		= filter_open,
	.release	= ftrace_regex_release,
	.read		= seq_read,
	.write		= ftrace_filter_write,
	.llseek		= tracing_lseek,
};

static const struct file_operations notrace_fops = {
	.open		= notrace_open,
	.release	= ftrace_regex_release,
	.read		= seq_read,
	.write		= ftrace_notrace_write,
	.llseek		= tracing_lseek,
};

/**
 * ftrace_create_filter_files - the filter files of an instance
 * @tr: the instance, NULL for the top one
 * @parent: its directory
 */
void ftrace_create_filter_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_filter", TRACE_MODE_WRITE, parent, tr, &filter_fops);
	trace_create_file("set_ftrace_notrace", TRACE_MODE_WRITE, parent, tr, &notrace_fops);
}

/**
 * ftrace_destroy_filter_files - an instance's ops is about to be freed
 * @ops: the ops
 *
 * The files go with their directory.
 */
void ftrace_destroy_filter_files(struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_lock);

	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		ftrace_shutdown(ops, 0);
	ftrace_free_filter(ops);
	/* A file that is still open may not bring it back. */
	ops->flags |= FTRACE_OPS_FL_DELETED;
}

/**
 * ftrace_init_tracefs_toplevel - the files that only the top instance has
 * @tr: the top instance
 * @d_tracer: its directory
 */
void __init ftrace_init_tracefs_toplevel(struct trace_array *tr, struct dentry *d_tracer)
{
	static const struct {
		const char			*name;
		const struct file_operations	*fops;
	} files[] = {
		{ "available_filter_functions",		&available_fops },
		{ "available_filter_functions_addrs",	&addrs_fops },
		{ "enabled_functions",			&enabled_fops },
		{ "touched_functions",			&touched_fops },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		trace_create_file(files[i].name, TRACE_MODE_READ, d_tracer, NULL,
				  files[i].fops);

	ftrace_create_filter_files(NULL, d_tracer);
	fentry_graph_files(d_tracer);
	fentry_profile_files(d_tracer);
}
