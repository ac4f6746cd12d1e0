// SPDX-License-Identifier: GPL-2.0
/*
 * Files that list sites: available_filter_functions and others like it. The position
 * in a file is an index over the sites of all tables.
 */
#include <linux/module.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "names.h"
#include "ops.h"
#include "set.h"

/* Which sites a file lists, and what it says of them, as its inode's i_private */
#define SHOW_ADDRS	BIT(0)
#define ONLY_ENABLED	BIT(1)
#define ONLY_TOUCHED	BIT(2)
#define SHOW_ATTACHED	(ONLY_ENABLED | ONLY_TOUCHED)

/* Bytes that are got together at once */
#define SITES_BUFFER	SZ_64K

/**
 * struct sites_reader - an open file
 * @flags: which sites it lists, and what it says of them
 * @table: while it is read: the table at the position
 * @first: the position of the first site there
 * @names: for their names
 * @state: of the last site, 0: there is none whose text is in the buffer
 * @attached: where in the buffer is what it said of the ops there
 * @end: where that ends
 */
struct sites_reader {
	unsigned long		flags;
	struct text_site_table	*table;
	loff_t			first;
	struct fentry_names	names;
	u32			state;
	size_t			attached, end;
};

static bool set_shown(const struct ops_set *set)
{
	return !set->off && (set->nr || set->shared);
}

static bool site_shown(const struct text_site *site, unsigned long flags)
{
	return !(site->state & TEXT_SITE_DEAD) &&
	       (!(flags & ONLY_ENABLED) || set_shown(fentry_site_set(site))) &&
	       (!(flags & ONLY_TOUCHED) || (site->state & FENTRY_TOUCHED));
}

/* The site at *@pos or the first one after it that is shown; not before @table's */
static struct text_site *find_site(struct sites_reader *reader, loff_t *pos)
{
	for (; reader->table; reader->table = reader->table->next) {
		for (; *pos < reader->first + reader->table->nr; ++*pos) {
			struct text_site *site = &reader->table->sites[*pos - reader->first];

			if (reader->table->ready && site_shown(site, reader->flags))
				return site;
		}
		reader->first += reader->table->nr;
	}
	return NULL;
}

static void *sites_start(struct seq_file *m, loff_t *pos)
{
	struct sites_reader *reader = m->private;

	mutex_lock(&ftrace_lock);
	reader->state = 0;
	reader->table = fentry_sites.tables;
	reader->first = 0;
	return fentry_dead ? NULL : find_site(reader, pos);
}

static void *sites_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return find_site(m->private, pos);
}

static void sites_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

/* The next ops attached to a site, whatever set it has; *@i counts those of its own. */
static struct ftrace_ops *next_attached(const struct text_site *site, struct ftrace_ops *ops,
					unsigned int *i)
{
	const struct ftrace_ops *last = ops ? fentry_ops_called(ops) : NULL;
	const struct ops_set *set = fentry_site_set(site);

	for (ops = set->shared ? ops : NULL; !ops && *i < set->nr; ++*i)
		ops = fentry_set_called(set, *i);
	if (!set->shared)
		return ops;

	while ((ops = fentry_member_next(ops))) {
		/* A manager is called once for all of its subops, which are adjacent. */
		if (fentry_ops_called(ops) == last)
			continue;
		if (ftrace_ops_test(ops, text_site_addr(site), NULL))
			break;
	}
	return ops;
}

/* The rest of a line: how many callbacks, of what nature, called by which trampoline */
static void show_attached(struct seq_file *m, const struct text_site *site)
{
	const struct ops_set *set = fentry_site_set(site);
	const unsigned long direct = ftrace_find_rec_direct(text_site_addr(site));
	unsigned long flags = set->flags;
	unsigned int nr = 0, i = 0;
	struct ftrace_ops *ops;

	for (ops = NULL; (ops = next_attached(site, ops, &i)); nr++)
		flags |= ops->flags;
	seq_printf(m, " (%u)%s%s%s  %s", nr,
		   flags & FTRACE_OPS_FL_SAVE_REGS ? " R" : "  ",
		   flags & FTRACE_OPS_FL_IPMODIFY ? " I" : "  ",
		   direct ? " D" : "  ",
		   site->state & FENTRY_MODIFIED ? " M " : "   ");

	for (i = 0, ops = NULL; (ops = next_attached(site, ops, &i)); ) {
		if (fentry_ops_is_called(fentry_ops_called(ops)))
			seq_printf(m, "\ttramp: %pS (%pS) ->%pS", (void *)set->tramp.addr,
				   fentry_ops_called(ops)->func,
				   fentry_ops_callback(fentry_ops_called(ops)));
	}
	if (direct)
		seq_printf(m, "\n\tdirect-->%pS", (void *)direct);
	seq_putc(m, '\n');
}

/*
 * The same, for a line that begins at @line. To say it in words takes long, and mostly the
 * site before has had the same ops: then it is said again, if it is still in the buffer.
 */
static void show_attached_again(struct seq_file *m, const struct text_site *site, size_t line)
{
	struct sites_reader *reader = m->private;
	const size_t now = m->count;

	if (site->state == reader->state && reader->end <= line)
		seq_write(m, m->buf + reader->attached, reader->end - reader->attached);
	else
		show_attached(m, site);
	reader->state = fentry_site_set(site)->shared ? 0 : site->state;
	reader->attached = now;
	reader->end = m->count;
}

static int sites_show(struct seq_file *m, void *v)
{
	struct sites_reader *reader = m->private;
	unsigned long ip = text_site_addr(v);
	const size_t line = m->count;
	const char *name;

	if (reader->flags & SHOW_ADDRS)
		seq_printf(m, "%lx ", ip);
	name = fentry_site_name(&reader->names, reader->table, v);
	if (name)
		seq_write(m, name, reader->names.len);
	else
		seq_printf(m, "%ps", (void *)ip);
	if (name && reader->table->mod)
		seq_printf(m, " [%s]", module_name(reader->table->mod));
	if (reader->flags & SHOW_ATTACHED)
		show_attached_again(m, v, line);
	else
		seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations sites_seq_ops = {
	.start	= sites_start,
	.next	= sites_next,
	.stop	= sites_stop,
	.show	= sites_show,
};

static int sites_open(struct inode *inode, struct file *filp)
{
	struct sites_reader *reader;
	struct seq_file *m;
	int ret = 0;

	/* A kernel that is locked down does not tell where all its functions are. */
	if (!((unsigned long)inode->i_private & SHOW_ATTACHED))
		ret = fentry_dead ? -ENODEV : security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		return ret;
	reader = __seq_open_private(filp, &sites_seq_ops, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->flags = (unsigned long)inode->i_private;
	/* The less often reading starts, the more is said again. Without it, a page will do. */
	m = filp->private_data;
	m->size = SITES_BUFFER;
	m->buf = kvmalloc(m->size, GFP_KERNEL_ACCOUNT);
	return 0;
}

static int sites_release(struct inode *inode, struct file *filp)
{
	struct seq_file *m = filp->private_data;
	struct sites_reader *reader = m->private;

	fentry_names_free(&reader->names);
	return seq_release_private(inode, filp);
}

static const struct file_operations sites_fops = {
	.open		= sites_open,
	.release	= sites_release,
	.read		= seq_read,
	.llseek		= seq_lseek,
};

/**
 * ftrace_init_tracefs_toplevel - the files that only the top instance has
 * @tr: the top instance
 * @d_tracer: its directory
 */
void __init ftrace_init_tracefs_toplevel(struct trace_array *tr, struct dentry *d_tracer)
{
	trace_create_file("available_filter_functions", TRACE_MODE_READ, d_tracer,
			  (void *)0, &sites_fops);
	trace_create_file("available_filter_functions_addrs", TRACE_MODE_READ, d_tracer,
			  (void *)SHOW_ADDRS, &sites_fops);
	trace_create_file("enabled_functions", TRACE_MODE_READ, d_tracer,
			  (void *)ONLY_ENABLED, &sites_fops);
	trace_create_file("touched_functions", TRACE_MODE_READ, d_tracer,
			  (void *)ONLY_TOUCHED, &sites_fops);
	ftrace_create_filter_files(NULL, d_tracer);
}
