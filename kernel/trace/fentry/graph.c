// SPDX-License-Identifier: GPL-2.0
/*
 * Graph filters: where the function graph tracer begins to follow calls
 * (set_graph_function), and where it stops (set_graph_notrace).
 *
 * Unlike an ops' filter they have nothing to do with what is attached: the
 * tracer looks into them at each function.
 */
#include <linux/ctype.h>
#include <linux/init.h>
#include <linux/rcupdate.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <asm/setup.h>

#include "fentry.h"
#include "filter.h"
#include "match.h"

#define WORD_MAX	(KSYM_SYMBOL_LEN + 4)

struct ftrace_hash __rcu *ftrace_graph_hash;
struct ftrace_hash __rcu *ftrace_graph_notrace_hash;

/* Under it, the two above change and are read, but for the tracer itself. */
static DEFINE_MUTEX(graph_mutex);

/**
 * struct graph_file - an open file
 * @slot: the filter it is
 * @filter: what is to take its place, with the writes so far; NULL if the file
 *	is only read
 * @parser: the word that is being written
 * @write_lock: for the last two
 */
struct graph_file {
	struct ftrace_hash __rcu	**slot;
	struct fentry_filter		*filter;
	struct trace_parser		parser;
	struct mutex			write_lock;	/* see above */
};

static struct fentry_filter *graph_filter(const struct graph_file *file)
{
	return fentry_filter(rcu_dereference_protected(*file->slot,
						       lockdep_is_held(&graph_mutex)));
}

/* Put a filter into use. An empty one means nothing: better none at all. */
static void graph_filter_use(struct ftrace_hash __rcu **slot, struct fentry_filter *filter)
{
	if (!filter->hash.count) {
		kvfree(filter);
		filter = NULL;
	}
	rcu_assign_pointer(*slot, filter ? &filter->hash : NULL);
}

static void *graph_start(struct seq_file *m, loff_t *pos)
{
	struct graph_file *file = m->private;
	struct fentry_filter *filter;

	mutex_lock(&graph_mutex);
	filter = graph_filter(file);
	if (!filter)
		return *pos ? NULL : SEQ_START_TOKEN;
	return *pos < filter->hash.count ? &filter->ip[*pos] : NULL;
}

static void *graph_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct fentry_filter *filter = graph_filter(m->private);

	++*pos;
	return v != SEQ_START_TOKEN && *pos < filter->hash.count ? &filter->ip[*pos] : NULL;
}

static void graph_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&graph_mutex);
}

static int graph_show(struct seq_file *m, void *v)
{
	struct graph_file *file = m->private;

	if (v != SEQ_START_TOKEN)
		seq_printf(m, "%ps\n", (void *)*(unsigned long *)v);
	else if (file->slot == &ftrace_graph_hash)
		seq_puts(m, "#### all functions enabled ####\n");
	else
		seq_puts(m, "#### no functions disabled ####\n");
	return 0;
}

static const struct seq_operations graph_seq_ops = {
	.start	= graph_start,
	.next	= graph_next,
	.stop	= graph_stop,
	.show	= graph_show,
};

static int graph_open_write(struct graph_file *file, bool truncate)
{
	struct fentry_filter *now;

	if (trace_parser_get_init(&file->parser, WORD_MAX))
		return -ENOMEM;

	mutex_lock(&graph_mutex);
	now = graph_filter(file);
	file->filter = fentry_filter_copy(truncate || !now ? NULL : &now->hash);
	mutex_unlock(&graph_mutex);
	if (file->filter)
		return 0;

	trace_parser_put(&file->parser);
	return -ENOMEM;
}

static void graph_free(struct graph_file *file)
{
	if (file->filter) {
		trace_parser_put(&file->parser);
		kvfree(file->filter);
	}
	kfree(file);
}

static int graph_open(struct file *filp, struct ftrace_hash __rcu **slot)
{
	struct graph_file *file;
	int ret;

	if (fentry_dead)
		return -ENODEV;
	ret = security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		return ret;

	file = kzalloc(sizeof(*file), GFP_KERNEL);
	if (!file)
		return -ENOMEM;
	file->slot = slot;
	mutex_init(&file->write_lock);

	if (filp->f_mode & FMODE_WRITE)
		ret = graph_open_write(file, filp->f_flags & O_TRUNC);
	if (!ret && (filp->f_mode & FMODE_READ)) {
		ret = seq_open(filp, &graph_seq_ops);
		if (!ret)
			((struct seq_file *)filp->private_data)->private = file;
	} else if (!ret) {
		filp->private_data = file;
	}
	if (ret)
		graph_free(file);
	return ret;
}

static int function_open(struct inode *inode, struct file *filp)
{
	return graph_open(filp, &ftrace_graph_hash);
}

static int notrace_open(struct inode *inode, struct file *filp)
{
	return graph_open(filp, &ftrace_graph_notrace_hash);
}

static struct graph_file *graph_file(struct file *filp)
{
	struct seq_file *m = filp->private_data;

	return filp->f_mode & FMODE_READ ? m->private : filp->private_data;
}

/* A pattern or, behind a !, one to take away; but no number, unlike in others */
static int graph_match(struct fentry_filter **filter, char *word)
{
	unsigned int before = (*filter)->hash.count;
	bool away = *word == '!';
	int ret;

	if (fentry_dead)
		return -ENODEV;
	if (isdigit(word[away]))
		return -EINVAL;
	ret = fentry_match(filter, word, NULL);
	/* There must be something to take away. */
	return ret ?: away && (*filter)->hash.count == before ? -EINVAL : 0;
}

static int graph_word_done(struct graph_file *file)
{
	int ret = graph_match(&file->filter, file->parser.buffer);

	trace_parser_clear(&file->parser);
	return ret;
}

static ssize_t graph_write(struct file *filp, const char __user *ubuf, size_t cnt,
			   loff_t *ppos)
{
	struct graph_file *file = graph_file(filp);
	ssize_t read;
	int ret = 0;

	if (!cnt)
		return 0;

	mutex_lock(&file->write_lock);
	read = trace_get_user(&file->parser, ubuf, cnt, ppos);
	if (read >= 0 && trace_parser_loaded(&file->parser) &&
	    !trace_parser_cont(&file->parser))
		ret = graph_word_done(file);
	mutex_unlock(&file->write_lock);

	return ret ?: read;
}

static int graph_release(struct inode *inode, struct file *filp)
{
	struct graph_file *file = graph_file(filp);
	struct fentry_filter *old = NULL;
	int ret = 0;

	if (filp->f_mode & FMODE_READ)
		seq_release(inode, filp);

	if (filp->f_mode & FMODE_WRITE) {
		if (trace_parser_loaded(&file->parser))
			ret = graph_word_done(file);

		mutex_lock(&graph_mutex);
		old = graph_filter(file);
		graph_filter_use(file->slot, file->filter);
		mutex_unlock(&graph_mutex);
		trace_parser_put(&file->parser);
		file->filter = NULL;
	}

	/* The tracer looks with preemption off, also where RCU does not watch. */
	if (old)
		synchronize_rcu_tasks_rude();
	kvfree(old);
	graph_free(file);
	return ret;
}

static const struct file_operations function_fops = {
	.open		= function_open,
	.release	= graph_release,
	.read		= seq_read,
	.write		= graph_write,
	.llseek		= tracing_lseek,
};

static const struct file_operations notrace_fops = {
	.open		= notrace_open,
	.release	= graph_release,
	.read		= seq_read,
	.write		= graph_write,
	.llseek		= tracing_lseek,
};

/**
 * fentry_graph_files - the files of graph filters
 * @dir: of the top instance
 */
void __init fentry_graph_files(struct dentry *dir)
{
	trace_create_file("set_graph_function", TRACE_MODE_WRITE, dir, NULL, &function_fops);
	trace_create_file("set_graph_notrace", TRACE_MODE_WRITE, dir, NULL, &notrace_fops);
}

static char function_param[COMMAND_LINE_SIZE] __initdata;
static char notrace_param[COMMAND_LINE_SIZE] __initdata;

static int __init graph_filter_setup(char *str)
{
	strscpy(function_param, str);
	return 1;
}
__setup("ftrace_graph_filter=", graph_filter_setup);

static int __init graph_notrace_setup(char *str)
{
	strscpy(notrace_param, str);
	return 1;
}
__setup("ftrace_graph_notrace=", graph_notrace_setup);

static int __init graph_max_depth_setup(char *str)
{
	return str && !kstrtouint(str, 0, &fgraph_max_depth);
}
__setup("ftrace_graph_max_depth=", graph_max_depth_setup);

static void __init early_filter(struct ftrace_hash __rcu **slot, char *list)
{
	struct fentry_filter *filter = fentry_filter_copy(NULL);
	char *glob;

	if (!filter || !*list) {
		kvfree(filter);
		return;
	}
	while ((glob = strsep(&list, ","))) {
		if (graph_match(&filter, glob))
			pr_warn("no function matches '%s'\n", glob);
	}
	graph_filter_use(slot, filter);
}

/**
 * fentry_graph_early_filters - graph filters by boot parameters
 */
void __init fentry_graph_early_filters(void)
{
	early_filter(&ftrace_graph_hash, function_param);
	early_filter(&ftrace_graph_notrace_hash, notrace_param);
}
