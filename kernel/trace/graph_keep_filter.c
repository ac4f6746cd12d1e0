// SPDX-License-Identifier: GPL-2.0
/*
 * The file graph_keep: which trees of calls function_graph writes. The syntax is that of the
 * filters of events, for an event that does not exist but for that: the return of a root.
 */
#include <linux/ctype.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracefs.h>
#include <linux/uaccess.h>

#include "graph_call.h"
#include "graph_keep.h"
#include "trace.h"

/**
 * struct graph_keep_root - what a filter is applied to
 * @ent: what each event begins with
 * @func: the root
 * @ret: the value it returns
 * @duration: what it took, in ns
 */
struct graph_keep_root {
	struct trace_entry	ent;
	unsigned long		func;
	s64			ret;
	u64			duration;
};

static struct trace_event_class graph_keep_class = {
	.system	= "ftrace",
	.fields	= LIST_HEAD_INIT(graph_keep_class.fields),
};

/* Never registered, only for the fields */
static struct trace_event_call graph_keep_event = {
	.class	= &graph_keep_class,
	.name	= "graph_keep",
};

#define graph_keep_field(type, item)							\
	trace_define_field(&graph_keep_event, #type, #item,				\
			   offsetof(struct graph_keep_root, item),			\
			   sizeof_field(struct graph_keep_root, item),			\
			   is_signed_type(type), FILTER_OTHER)

static int __init graph_keep_fields(void)
{
	return graph_keep_field(unsigned long, func) ?:
	       (IS_ENABLED(CONFIG_FUNCTION_GRAPH_RETVAL) ? graph_keep_field(s64, ret) : 0) ?:
	       graph_keep_field(u64, duration);
}

/*
 * An error that a function returns as an int has nothing in the upper half of a register of 64
 * bits. The tracer cannot know the type, but no other value is likely to look like that.
 */
static s64 root_value(unsigned long value)
{
	if (value == (u32)value && IS_ERR_VALUE((long)(s32)value))
		return (s32)value;
	return (long)value;
}

/**
 * graph_keep_matches - does the return of a root match the filter?
 * @keep: the filter
 * @trace: the return
 * @trace_ctx: the context
 *
 * Context: any.
 * Return: whether it does
 */
bool graph_keep_matches(const struct graph_keep *keep, const struct ftrace_graph_ret *trace,
			unsigned int trace_ctx)
{
	struct graph_keep_root root = {
		.func = trace->func,
		.ret = root_value(graph_ret_value(trace)),
		/* Clocks of CPUs may differ. */
		.duration = max_t(s64, trace->rettime - trace->calltime, 0),
	};

	tracing_generic_entry_update(&root.ent, 0, trace_ctx);
	return filter_match_preds(keep->filter, &root);
}

/* What a number is multiplied with that has this behind it, and how long that is; 0: no unit */
static u64 unit_of(const char *text, size_t len)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", NSEC_PER_USEC },
		{ "ms", NSEC_PER_MSEC },
		{ "s", NSEC_PER_SEC },
	};

	for (int i = 0; i < ARRAY_SIZE(units); i++)
		if (strlen(units[i].name) == len && !strncmp(text, units[i].name, len))
			return units[i].ns;
	return 0;
}

static size_t word_length(const char *text)
{
	size_t len = 0;

	while (isalnum(text[len]) || text[len] == '_')
		len++;
	return len;
}

/*
 * One word, with a number of ns in place of one with a unit. What is too large, or no number
 * with a unit, stays as it is, for the base to complain about.
 */
static int convert(const char *word, size_t len, char *to, size_t size)
{
	size_t digits = 0;
	u64 number = 0, unit;

	while (digits < len && isdigit(word[digits]) &&
	       !check_mul_overflow(number, 10, &number) &&
	       !check_add_overflow(number, word[digits] - '0', &number))
		digits++;
	unit = digits ? unit_of(word + digits, len - digits) : 0;
	if (unit && !check_mul_overflow(number, unit, &number))
		return snprintf(to, size, "%llu", number);
	return snprintf(to, size, "%.*s", (int)len, word);
}

/**
 * graph_keep_units - replace numbers that have a unit of time by such of ns
 * @text: the filter
 * @to: where to
 * @size: of that
 *
 * Strings are left alone.
 *
 * Return: how long it is, or -E2BIG
 */
long graph_keep_units(const char *text, char *to, unsigned int size)
{
	unsigned int at = 0;
	char quote = 0;
	size_t len;

	while (*text) {
		len = quote ? 0 : word_length(text);
		if (len) {
			at += convert(text, len, to + at, size - at);
			text += len;
		} else {
			if (quote ? *text == quote : *text == '"' || *text == '\'')
				quote = quote ? 0 : *text;
			to[at++] = *text++;
		}
		if (at >= size)
			return -E2BIG;
	}
	to[at] = 0;
	return at;
}

/**
 * graph_keep_free - free a filter
 * @keep: the filter, which nobody uses; NULL: does nothing
 *
 * Context: may sleep.
 */
void graph_keep_free(struct graph_keep *keep)
{
	if (!keep)
		return;
	free_event_filter(keep->filter);
	kfree(keep->text);
	kfree(keep);
}

/* The filter that @text says; an error is in the instance's error_log as well. */
static struct graph_keep *parse(struct trace_array *tr, const char *text)
{
	struct graph_keep *keep = kzalloc(sizeof(*keep), GFP_KERNEL);
	char *in_ns __free(kfree) = kmalloc(PAGE_SIZE, GFP_KERNEL);
	int ret = -ENOMEM;

	if (!keep || !in_ns)
		goto free;
	keep->text = kstrdup(text, GFP_KERNEL);
	if (!keep->text)
		goto free;
	ret = graph_keep_units(text, in_ns, PAGE_SIZE);
	if (ret < 0)
		goto free;
	mutex_lock(&event_mutex);
	ret = create_event_filter(tr, &graph_keep_event, in_ns, true, &keep->filter);
	mutex_unlock(&event_mutex);
	if (!ret)
		return keep;
	/* For some errors, the parser says that something is not permitted. */
	if (ret != -ENOMEM)
		ret = -EINVAL;
free:
	graph_keep_free(keep);
	return ERR_PTR(ret);
}

static ssize_t graph_keep_write(struct file *file, const char __user *ubuf, size_t cnt,
				loff_t *ppos)
{
	struct trace_array *tr = file_inode(file)->i_private;
	struct graph_keep *keep = NULL;
	char *buf __free(kfree) = NULL;
	char *text;
	int ret;

	/* As for the filters of events */
	if (cnt >= PAGE_SIZE)
		return -EINVAL;
	buf = memdup_user_nul(ubuf, cnt);
	if (IS_ERR(buf))
		return PTR_ERR(no_free_ptr(buf));
	text = strstrip(buf);
	if (*text && strcmp(text, "0")) {
		keep = parse(tr, text);
		if (IS_ERR(keep))
			return PTR_ERR(keep);
	}
	mutex_lock(&trace_types_lock);
	ret = graph_keep_set(tr, keep);
	mutex_unlock(&trace_types_lock);
	if (ret)
		return ret;
	*ppos += cnt;
	return cnt;
}

static int graph_keep_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = m->private;
	const struct graph_keep *keep;

	guard(mutex)(&trace_types_lock);
	keep = tr->graph_keep;
	seq_printf(m, "%s\n", keep ? keep->text : "none");
	if (keep && keep->pool)
		seq_printf(m, "# %u of %u pages in use, up to %u for a tree\n",
			   graph_keep_pool_used(keep->pool), keep->pool->nr, keep->pool->bound);
	return 0;
}

static int graph_keep_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	ret = single_open(file, graph_keep_show, tr);
	if (ret)
		trace_array_put(tr);
	return ret;
}

static int graph_keep_release(struct inode *inode, struct file *file)
{
	trace_array_put(inode->i_private);
	return single_release(inode, file);
}

static const struct file_operations graph_keep_fops = {
	.open		= graph_keep_open,
	.read		= seq_read,
	.write		= graph_keep_write,
	.llseek		= seq_lseek,
	.release	= graph_keep_release,
};

/**
 * graph_keep_create_file - create the file of an instance
 * @tr: the instance
 * @parent: its folder
 *
 * Context: may sleep.
 */
void graph_keep_create_file(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("graph_keep", TRACE_MODE_WRITE, parent, tr, &graph_keep_fops);
}

/* After the cache of fields is there, before there are files */
core_initcall(graph_keep_fields);
