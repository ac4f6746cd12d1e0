// SPDX-License-Identifier: GPL-2.0
/*
 * Graph filters: where the function graph tracer begins to follow calls
 * (set_graph_function), and where it stops (set_graph_notrace).
 *
 * They do not change what is attached, unlike an ops' filter: the tracer looks
 * into them at each function.
 */
#include <linux/security.h>
#include <linux/slab.h>

#include "filter.h"
#include "filter_files.h"
#include "ops.h"

struct ftrace_hash __rcu *ftrace_graph_hash;
struct ftrace_hash __rcu *ftrace_graph_notrace_hash;

/* The two change under it. */
static DEFINE_MUTEX(graph_mutex);

/* A pattern or, behind a !, one to take away; but no number, unlike in others */
static int graph_word(struct filter_file *file, char *word)
{
	unsigned long before = file->filter->hash.count;
	bool away = *word == '!';
	int ret;

	if (isdigit(word[away]))
		return -EINVAL;
	scoped_guard(mutex, &ftrace_lock)
		ret = fentry_match(&file->filter, word, NULL);
	/* There must be something to take away. */
	return ret ?: away && file->filter->hash.count == before ? -EINVAL : 0;
}

/* The tracer knows an empty filter by NULL. */
static int graph_commit(const struct filter_file *file, struct fentry_filter *filter)
{
	struct ftrace_hash *new = filter->hash.count ? &filter->hash : NULL, *old;

	if (!new)
		kvfree(filter);
	old = rcu_replace_pointer(*file->slot, new, lockdep_is_held(&graph_mutex));
	fgraph_fast_update();
	/* The tracer looks with preemption off, also where RCU does not watch. */
	if (old)
		synchronize_rcu_tasks_rude();
	kvfree(fentry_filter(old));
	return 0;
}

static int graph_open(struct inode *inode, struct file *filp)
{
	const struct filter_file file = {
		.slot = inode->i_private, .slot_lock = &graph_mutex,
		.is_notrace = inode->i_private == &ftrace_graph_notrace_hash,
		.word = graph_word, .commit = graph_commit,
	};
	int ret = fentry_dead ? -ENODEV : security_locked_down(LOCKDOWN_TRACEFS);

	return ret ?: fentry_filter_file_open(filp, &file);
}

FENTRY_FILE_OPS(graph_fops, graph_open, ftrace_filter_write, ftrace_regex_release);

static char *function_param __initdata, *notrace_param __initdata;

static int __init graph_filter_setup(char *str)
{
	function_param = str;
	return 1;
}
__setup("ftrace_graph_filter=", graph_filter_setup);

static int __init graph_notrace_setup(char *str)
{
	notrace_param = str;
	return 1;
}
__setup("ftrace_graph_notrace=", graph_notrace_setup);

static int __init graph_max_depth_setup(char *str)
{
	return str && !kstrtouint(str, 0, &fgraph_max_depth);
}
__setup("ftrace_graph_max_depth=", graph_max_depth_setup);

static void __init graph_early_filter(struct ftrace_hash __rcu **slot, char *list)
{
	struct filter_file file = { .slot = slot };
	char *glob;

	if (!list || !*list)
		return;
	file.filter = fentry_filter_copy(NULL);
	if (!file.filter) {
		pr_warn("no memory for the graph filter '%s'\n", list);
		return;
	}
	while ((glob = strsep(&list, ","))) {
		if (graph_word(&file, glob))
			pr_warn("no function matches '%s'\n", glob);
	}
	guard(mutex)(&graph_mutex);
	graph_commit(&file, file.filter);
}

/* Before a tracer may start */
static int __init graph_early_filters(void)
{
	graph_early_filter(&ftrace_graph_hash, function_param);
	graph_early_filter(&ftrace_graph_notrace_hash, notrace_param);
	return 0;
}
early_initcall(graph_early_filters);

static int __init graph_files(void)
{
	if (tracing_init_dentry())
		return 0;
	trace_create_file("set_graph_function", TRACE_MODE_WRITE, NULL, &ftrace_graph_hash,
			  &graph_fops);
	trace_create_file("set_graph_notrace", TRACE_MODE_WRITE, NULL,
			  &ftrace_graph_notrace_hash, &graph_fops);
	return 0;
}
fs_initcall(graph_files);
