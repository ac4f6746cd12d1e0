// SPDX-License-Identifier: GPL-2.0
/*
 * Markers in tracefs: each is a tracing event, of the same name.
 *
 * The event comes with the first site of a marker and goes with the last. Its fields
 * have the names that the format gives, as in "dev=%s", or else arg1, arg2, ..., and
 * the types of the conversions; what it prints is the format. It is an event as all
 * are: enabling it connects a probe, once for each instance, and once for perf.
 *
 * Beside the events' own files there are two: available_markers lists the sites, and
 * set_marker, which each instance has, enables those of a pattern in one run of the
 * patcher, as events/enable does.
 *
 * Locks are taken in this order: mark_mutex, event_mutex, marker_mutex. The first is
 * held while events are made and taken away, the second for a batch.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/glob.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/tracefs.h>
#include <linux/uaccess.h>

#include <asm/setup.h>

#include "trace.h"
#include "trace_fast_layout.h"
#include "trace_output.h"

#define PATTERN_SIZE	256

/* An event is on one page of the buffer; this leaves room for what else is in it. */
#define STRINGS_MAX	(3 * 1024)

/* Strings are read in pieces of this many bytes, aligned, so that no piece is on two pages. */
#define CHUNK		64

/**
 * struct mark_field - an argument in an event
 * @offset: in the entry
 * @arg: what the format says of it
 * @name: of the field
 * @piece: the format from the end of the one before to the end of this one
 */
struct mark_field {
	unsigned int		offset;
	struct marker_arg	arg;
	const char		*name;
	char			*piece;
};

/**
 * struct mark_event - the event of a marker
 * @call: what it is to the tracing core
 * @class: the same
 * @list: all events
 * @marker: the marker
 * @name: the marker's; the event's own name is in it
 * @system: subsystem
 * @format: with the line's end, if it has one, taken away
 * @tail: what there is behind the last conversion
 * @size: of an entry without strings
 * @nr: how many fields
 * @strings: some are strings
 * @layout: the same in short, if none is
 * @field: the fields
 */
struct mark_event {
	struct trace_event_call		call;
	struct trace_event_class	class;
	struct list_head		list;
	struct marker			*marker;
	const char			*name;
	char				*system;
	char				*format;
	const char			*tail;
	unsigned int			size;
	unsigned int			nr;
	bool				strings;
	struct trace_fast_layout	layout;
	struct mark_field		field[MARKER_ARGS_MAX];
};

static DEFINE_MUTEX(mark_mutex);
static LIST_HEAD(mark_events);

/* Patterns of the command line: also for modules, when they come */
static char boot_patterns[COMMAND_LINE_SIZE] __ro_after_init;
static unsigned int nr_boot_patterns __ro_after_init;

static struct mark_event *event_of(struct trace_event_call *call)
{
	return container_of(call, struct mark_event, call);
}

static bool is_string(const struct mark_field *field)
{
	return field->arg.conversion == 's';
}

/* What is recorded of a string that is none */
static const char *no_string(unsigned long addr)
{
	return addr ? "(fault)" : "(null)";
}

/*
 * How much room a string of the kernel needs, with its NUL: one of at most @max bytes, and
 * no more than can be read. It may change until it is copied, and be shorter then.
 */
static unsigned int string_room(unsigned long addr, unsigned int max)
{
	char chunk[CHUNK] __uninitialized;
	unsigned int len = 0, n, found;

	while (len < max) {
		n = min(CHUNK - (unsigned int)((addr + len) % CHUNK), max - len);
		if (!addr || copy_from_kernel_nofault(chunk, (void *)(addr + len), n))
			return (len ?: strlen(no_string(addr))) + 1;
		found = strnlen(chunk, n);
		len += found;
		if (found < n)
			break;
	}
	return len + 1;
}

/* All together are cut off if they are too long: each has room for its NUL. */
static unsigned int strings_room(const struct mark_event *event, const u64 *args, u16 *room)
{
	unsigned int sum = 0, i;

	for (i = 0; i < event->nr; i++) {
		const unsigned int left = STRINGS_MAX - min(sum, STRINGS_MAX - 1u);
		const struct mark_field *field = &event->field[i];

		if (!is_string(field))
			continue;
		room[i] = min(string_room(args[i], min(field->arg.precision, left - 1)), left);
		sum += room[i];
	}
	return sum;
}

static void store_string(char *to, unsigned int room, unsigned long addr)
{
	to[room - 1] = '\0';
	if (!addr || copy_from_kernel_nofault(to, (void *)addr, room - 1))
		strscpy(to, no_string(addr), room);
}

/*
 * Fill in an entry: the fields, and behind them the strings. Whether there are any is
 * known when this is compiled.
 */
static __always_inline void store_args(const struct mark_event *event, void *entry,
				       const u64 *args, const u16 *room, bool strings)
{
	const struct mark_field *field = event->field, *last = field + event->nr;
	unsigned int end = event->size;

	for (; field < last; field++, args++) {
		void *at = entry + field->offset;

		if (likely(field->arg.size == 8)) {
			*(u64 *)at = *args;
		} else if (field->arg.size == 4) {
			*(u32 *)at = *args;
		} else if (field->arg.size == 2) {
			*(u16 *)at = *args;
		} else if (strings && is_string(field)) {
			const u16 size = room[field - event->field];

			*(u32 *)at = size << 16 | end;
			store_string(entry + end, size, *args);
			end += size;
		} else {
			*(u8 *)at = *args;
		}
	}
}

/* Whether there are strings is known when this is compiled: it is run often. */
static __always_inline void record(struct trace_event_file *file, const u64 *args, bool strings)
{
	const struct mark_event *event = event_of(file->event_call);
	/* What is read of this has been filled in. */
	u16 room[MARKER_ARGS_MAX] __uninitialized;
	struct trace_event_buffer buffer __uninitialized;
	unsigned int size = event->size;
	void *entry;

	if (trace_trigger_soft_disabled(file))
		return;
	if (strings)
		size += strings_room(event, args, room);
	entry = trace_event_buffer_reserve(&buffer, file, size);
	if (!entry)
		return;
	store_args(event, entry, args, room, strings);
	trace_event_buffer_commit(&buffer);
}

/* The probe that writes to an instance's buffer, if there are no strings */
static void mark_event_probe(void *private, const u64 *args)
{
	record(private, args, false);
}

static void mark_string_event_probe(void *private, const u64 *args)
{
	record(private, args, true);
}

static marker_probe_func *event_probe(const struct mark_event *event)
{
	if (event->strings)
		return mark_string_event_probe;
	return event->layout.length ? trace_fast_probe : mark_event_probe;
}

#ifdef CONFIG_PERF_EVENTS
static void mark_perf_probe(void *private, const u64 *args)
{
	struct mark_event *event = private;
	struct hlist_head *head = this_cpu_ptr(event->call.perf_events);
	unsigned int size = event->size;
	u16 room[MARKER_ARGS_MAX];
	struct pt_regs *regs;
	void *entry;
	int rctx;

	/* A BPF program runs on all CPUs, whichever the perf event is on. */
	if (!bpf_prog_array_valid(&event->call) && hlist_empty(head))
		return;

	if (event->strings)
		size += strings_room(event, args, room);
	size = ALIGN(size + sizeof(u32), sizeof(u64)) - sizeof(u32);
	if (size > PERF_MAX_TRACE_SIZE)
		return;
	entry = perf_trace_buf_alloc(size, &regs, &rctx);
	if (!entry)
		return;
	perf_fetch_caller_regs(regs);
	store_args(event, entry, args, room, true);
	perf_trace_run_bpf_submit(entry, size, rctx, &event->call, 1, regs, head, NULL);
}
#endif

static int probe_register(const struct mark_event *event, marker_probe_func *probe, void *private)
{
	return marker_probe_register(event->name, marker_format(event->marker), probe, private);
}

static int mark_event_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	struct mark_event *event = event_of(call);

	switch (type) {
	case TRACE_REG_REGISTER:
		event->layout.type = call->event.type;
		return probe_register(event, event_probe(event), data);
	case TRACE_REG_UNREGISTER:
		return marker_probe_unregister(event->name, event_probe(event), data);
#ifdef CONFIG_PERF_EVENTS
	case TRACE_REG_PERF_REGISTER:
		return probe_register(event, mark_perf_probe, event);
	case TRACE_REG_PERF_UNREGISTER:
		return marker_probe_unregister(event->name, mark_perf_probe, event);
#endif
	default:
		/* Nothing to do per perf event */
		return 0;
	}
}

static void print_field(struct trace_iterator *iter, const struct mark_field *field)
{
	const void *at = (void *)iter->ent + field->offset;

	if (is_string(field)) {
		trace_event_printf(iter, field->piece, (void *)iter->ent + (*(u32 *)at & 0xffff));
		return;
	}
	/* Signed or not: what is printed is cut to the size that the format says. */
	switch (field->arg.size) {
	case 1:
		trace_event_printf(iter, field->piece, *(u8 *)at);
		break;
	case 2:
		trace_event_printf(iter, field->piece, *(u16 *)at);
		break;
	case 4:
		trace_event_printf(iter, field->piece, *(u32 *)at);
		break;
	default:
		trace_event_printf(iter, field->piece, *(u64 *)at);
		break;
	}
}

static enum print_line_t mark_event_print(struct trace_iterator *iter, int flags,
					  struct trace_event *trace_event)
{
	const struct mark_event *event = container_of(trace_event, struct mark_event,
						      call.event);
	struct trace_seq *s = &iter->seq;
	unsigned int i;

	trace_seq_printf(s, "%s: ", event->call.name);
	for (i = 0; i < event->nr; i++)
		print_field(iter, &event->field[i]);
	/* Nothing to convert in it, but %% */
	trace_seq_printf(s, event->tail, 0);
	trace_seq_putc(s, '\n');
	return trace_handle_return(s);
}

static struct trace_event_functions mark_event_functions = {
	.trace	= mark_event_print,
};

static bool is_signed(const struct marker_arg *arg)
{
	return arg->conversion == 'i';
}

static const char *type_name(const struct marker_arg *arg)
{
	switch (arg->conversion) {
	case 's':
		return "__data_loc char[]";
	case 'p':
		return "void *";
	case 'c':
		return "char";
	}
	switch (arg->size) {
	case 1:
		return is_signed(arg) ? "signed char" : "unsigned char";
	case 2:
		return is_signed(arg) ? "short" : "unsigned short";
	case 4:
		return is_signed(arg) ? "int" : "unsigned int";
	}
	if (sizeof(long) < 8)
		return is_signed(arg) ? "long long" : "unsigned long long";
	return is_signed(arg) ? "long" : "unsigned long";
}

static_assert(TRACE_FAST_FIELDS == MARKER_ARGS_MAX);

static unsigned int field_size(const struct mark_field *field)
{
	return is_string(field) ? sizeof(u32) : field->arg.size;
}

static int define_fields(struct trace_event_call *call)
{
	struct mark_event *event = event_of(call);
	int ret = 0;

	for (unsigned int i = 0; i < event->nr && !ret; i++) {
		const struct mark_field *field = &event->field[i];

		ret = trace_define_field(call, type_name(&field->arg), field->name,
					 field->offset, field_size(field),
					 is_signed(&field->arg), FILTER_OTHER);
	}
	return ret;
}

static struct trace_event_fields fields_array[] = {
	{ .type = TRACE_FUNCTION_TYPE, .define_fields = define_fields },
	{}
};

static bool in_name(char c)
{
	return isalnum(c) || c == '_';
}

/*
 * Find the name that the format gives a conversion: the identifier in front of a = or :
 * that is in front of it, such as "dev" in "dev=%s", "dev: \"%s\"" and "dev = 0x%x". Returns its
 * length, which is 0 if there is none.
 */
static size_t given_name(const char *piece, const char **name)
{
	/* There is no other % in a conversion. */
	const char *end = strrchr(piece, '%'), *start;

	if (end - piece > 2 && !memcmp(end - 2, "0x", 2))
		end -= 2;
	else if (end > piece && strchr("\"'([{<", end[-1]))
		end--;
	while (end > piece && end[-1] == ' ')
		end--;
	if (end == piece || (end[-1] != '=' && end[-1] != ':'))
		return 0;
	end--;
	while (end > piece && end[-1] == ' ')
		end--;
	for (start = end; start > piece && in_name(start[-1]); start--)
		;
	*name = start;
	return isdigit(*start) ? 0 : end - start;
}

/* Names that all events have, and those of fields without a name, are taken. */
static bool name_is_taken(const struct mark_event *event, const struct mark_field *new,
			  const char *name)
{
	if (str_has_prefix(name, "common_") ||
	    (str_has_prefix(name, "arg") && isdigit(name[strlen("arg")])))
		return true;
	for (const struct mark_field *field = event->field; field < new; field++) {
		if (!strcmp(field->name, name))
			return true;
	}
	return false;
}

/* The tracing core keeps the pointer. NULL: no memory */
static char *name_new(const struct mark_event *event, const struct mark_field *field)
{
	const char *start;
	size_t len = given_name(field->piece, &start);
	char *name = len ? kmemdup_nul(start, len, GFP_KERNEL) : NULL;

	if (len && (!name || !name_is_taken(event, field, name)))
		return name;
	kfree(name);
	return kasprintf(GFP_KERNEL, "arg%td", field - event->field + 1);
}

/* Cut the format at its conversions, and lay out the entry. */
static int parse_format(struct mark_event *event)
{
	const char *pos = event->format, *start = pos;
	struct marker_arg arg;

	event->size = sizeof(struct trace_entry);
	for (; marker_format_next(&pos, &arg) > 0; start = pos) {
		struct mark_field *field = &event->field[event->nr++];

		field->arg = arg;
		field->piece = kmemdup_nul(start, pos - start, GFP_KERNEL);
		if (!field->piece)
			return -ENOMEM;
		field->name = name_new(event, field);
		if (!field->name)
			return -ENOMEM;
		field->offset = ALIGN(event->size, field_size(field));
		event->size = field->offset + field_size(field);
		event->strings |= is_string(field);
		event->layout.field[event->nr - 1] = (struct trace_fast_field) {
			.at = field->offset, .size = field_size(field),
		};
	}
	event->tail = start;
	if (!event->strings) {
		event->layout.length = trace_fast_length(event->size);
		event->layout.slow = mark_event_probe;
		event->call.data = &event->layout;
	}
	return 0;
}

/* What tools print an entry by: "FORMAT", REC->len, __get_str(dev) */
static char *print_fmt_new(const struct mark_event *event)
{
	const size_t len = strlen(event->format);
	char *fmt = kasprintf(GFP_KERNEL, "\"%*pEcs\"", (int)len, event->format), *more;

	for (unsigned int i = 0; fmt && i < event->nr; i++) {
		const char *how = is_string(&event->field[i]) ? "%s, __get_str(%s)" : "%s, REC->%s";

		more = kasprintf(GFP_KERNEL, how, fmt, event->field[i].name);
		kfree(fmt);
		fmt = more;
	}
	return fmt;
}

static void event_free(struct mark_event *event)
{
	for (unsigned int i = 0; i < event->nr; i++) {
		kfree(event->field[i].name);
		kfree(event->field[i].piece);
	}
	kfree(event->call.print_fmt);
	kfree(event->format);
	kfree(event->system);
	kfree(event);
}

static int event_fill_in(struct mark_event *event, struct marker *marker)
{
	struct trace_event_call *call = &event->call;
	size_t len;

	event->marker = marker;
	event->name = marker_name(marker);
	event->system = kmemdup_nul(event->name, strchr(event->name, ':') - event->name,
				    GFP_KERNEL);
	event->format = kstrdup(marker_format(marker), GFP_KERNEL);
	if (!event->system || !event->format)
		return -ENOMEM;
	len = strlen(event->format);
	if (len && event->format[len - 1] == '\n')
		event->format[len - 1] = '\0';
	if (parse_format(event))
		return -ENOMEM;

	INIT_LIST_HEAD(&event->class.fields);
	event->class.system = event->system;
	event->class.fields_array = fields_array;
	event->class.reg = mark_event_reg;
	call->class = &event->class;
	call->name = (char *)strchr(event->name, ':') + 1;
	call->event.funcs = &mark_event_functions;
	call->flags = TRACE_EVENT_FL_DYNAMIC;
	call->print_fmt = print_fmt_new(event);
	return call->print_fmt ? 0 : -ENOMEM;
}

/* Is there an event of this name that is no marker's? */
static bool event_exists(const struct mark_event *event)
{
	const struct trace_event_call *call;

	list_for_each_entry(call, &ftrace_events, list) {
		if (!strcmp(call->class->system, event->system) &&
		    !strcmp(trace_event_name((void *)call), event->call.name))
			return true;
	}
	return false;
}

/* trace_add_event_call() returns 0 even if there was no memory for fields or for files. */
static bool event_is_whole(struct mark_event *event)
{
	struct trace_event_file *file;
	struct trace_array *tr;

	if (list_count_nodes(&event->class.fields) != event->nr)
		return false;
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		/* An instance may be for the events of some systems only. */
		if (tr->system_names)
			continue;
		file = find_event_file(tr, event->system, event->call.name);
		if (!file || (tr->event_dir && !file->ei))
			return false;
	}
	return true;
}

static int event_register(struct mark_event *event)
{
	int ret;

	guard(mutex)(&event_mutex);

	if (event_exists(event))
		return -EEXIST;
	if (!register_trace_event(&event->call.event))
		return -ENODEV;
	ret = trace_add_event_call(&event->call);
	if (ret) {
		unregister_trace_event(&event->call.event);
		return ret;
	}
	if (event_is_whole(event))
		return 0;
	/* Nobody uses it yet. */
	trace_remove_event_call(&event->call);
	return -ENOMEM;
}

/**
 * is_marker_event - is this the event of a marker?
 * @call: any event
 *
 * Context: any.
 *
 * Return: whether it is.
 */
bool is_marker_event(const struct trace_event_call *call)
{
	return call->class->reg == mark_event_reg;
}

/* Terminates each pattern of a list, for glob_match(), in place. Returns the number of patterns. */
static unsigned int split_patterns(char *patterns)
{
	unsigned int nr = 1;

	while ((patterns = strchr(patterns, ','))) {
		*patterns++ = '\0';
		nr++;
	}
	return nr;
}

/* Does one of the @nr patterns of split_patterns() match the name? */
static bool one_matches(const char *patterns, unsigned int nr, const char *name)
{
	for (; nr; nr--, patterns += strlen(patterns) + 1) {
		if (glob_match(patterns, name))
			return true;
	}
	return false;
}

/*
 * Enable the events whose markers' names match one of @nr patterns, or disable them. An event that
 * fails keeps its state, and the tracing core reports why; the others change.
 */
static int enable_matching(struct trace_array *tr, const char *patterns, unsigned int nr, bool on)
{
	struct trace_event_file *file;
	int ret = -EINVAL, err = 0;

	lockdep_assert_held(&mark_mutex);

	guard(mutex)(&event_mutex);

	marker_batch_begin();
	list_for_each_entry(file, &tr->events, list) {
		if (!is_marker_event(file->event_call) ||
		    !one_matches(patterns, nr, event_of(file->event_call)->name))
			continue;
		ret = trace_event_enable_disable(file, on, 0);
		err = err ?: ret;
	}
	return marker_batch_end() ?: err ?: ret;
}

/* Enable the new events that markers= names, in one batch. The tracing core reports failures. */
static void boot_enable(const struct list_head *new)
{
	struct trace_array *tr = top_trace_array();
	struct trace_event_file *file;
	struct mark_event *event;

	/* A kernel that is locked down when it boots has no instance. */
	if (!tr)
		return;

	guard(mutex)(&event_mutex);

	marker_batch_begin();
	list_for_each_entry(event, new, list) {
		if (!one_matches(boot_patterns, nr_boot_patterns, event->name))
			continue;
		file = find_event_file(tr, event->system, event->call.name);
		if (file)
			trace_event_enable_disable(file, 1, 0);
	}
	marker_batch_end();
}

/*
 * Make events for markers that have come. One that there is no memory for, or whose name another
 * event has, is tried again when this is called again: when a module comes, or somebody opens
 * set_marker.
 */
static void events_add(void)
{
	struct mark_event *event;
	struct marker *marker;
	LIST_HEAD(new);
	int ret = 0;
	bool again;

	/* A kernel that was locked down at boot has no instance for events to be in. */
	if (list_empty(&ftrace_trace_arrays))
		return;

	guard(mutex)(&mark_mutex);

	marker_retry_events();
	while (ret != -ENOMEM) {
		event = kzalloc(sizeof(*event), GFP_KERNEL);
		marker = marker_without_event(event, &again);
		if (!marker) {
			kfree(event);
			break;
		}
		if (!event) {
			pr_err("no memory for events of markers, later perhaps\n");
			break;
		}
		ret = event_fill_in(event, marker) ?: event_register(event);
		if (!ret) {
			list_add_tail(&event->list, &new);
			continue;
		}
		if (!again)
			pr_err("%s: no event (%d), later perhaps\n", marker_name(marker), ret);
		event_free(event);
		/* An error keeps it from being found again by this loop. */
		marker_set_event(marker, ret == -ENOMEM ? NULL : ERR_PTR(ret));
	}
	if (nr_boot_patterns && !list_empty(&new))
		boot_enable(&new);
	list_splice_tail(&new, &mark_events);
}

static int available_show(struct seq_file *m, void *v)
{
	marker_show_all(m);
	return 0;
}

static int available_open(struct inode *inode, struct file *filp)
{
	int ret = tracing_open_generic(inode, filp);

	return ret ?: single_open(filp, available_show, NULL);
}

static const struct file_operations available_fops = {
	.open		= available_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int set_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = m->private;
	struct trace_event_file *file;

	guard(mutex)(&event_mutex);
	list_for_each_entry(file, &tr->events, list) {
		if (is_marker_event(file->event_call) &&
		    (file->flags & EVENT_FILE_FL_ENABLED) &&
		    !(file->flags & EVENT_FILE_FL_SOFT_DISABLED))
			seq_printf(m, "%s\n", event_of(file->event_call)->name);
	}
	return 0;
}

/* The instance stays while its file is open. */
static int set_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;
	int ret = tracing_check_open_get_tr(tr);

	if (ret)
		return ret;
	events_add();
	if ((filp->f_mode & FMODE_WRITE) && (filp->f_flags & O_TRUNC)) {
		guard(mutex)(&mark_mutex);
		enable_matching(tr, "*", 1, false);
	}
	ret = single_open(filp, set_show, tr);
	if (ret)
		trace_array_put(tr);
	return ret;
}

static int set_release(struct inode *inode, struct file *filp)
{
	trace_array_put(inode->i_private);
	return single_release(inode, filp);
}

/* Patterns, with a ! in front to disable */
static int set_patterns(struct trace_array *tr, char *patterns)
{
	bool on = *patterns != '!';

	guard(mutex)(&mark_mutex);
	return enable_matching(tr, patterns + !on, split_patterns(patterns), on);
}

/* One pattern a call: whoever writes calls again. */
static ssize_t set_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file_inode(filp)->i_private;
	struct trace_parser parser;
	ssize_t ret;
	int err;

	if (!cnt)
		return 0;
	if (trace_parser_get_init(&parser, PATTERN_SIZE))
		return -ENOMEM;

	ret = tracing_update_buffers(tr);
	if (ret >= 0)
		ret = trace_get_user(&parser, ubuf, cnt, ppos);
	if (ret >= 0 && trace_parser_loaded(&parser)) {
		err = set_patterns(tr, parser.buffer);
		if (err)
			ret = err;
	}
	trace_parser_put(&parser);
	return ret;
}

static const struct file_operations set_fops = {
	.open		= set_open,
	.read		= seq_read,
	.write		= set_write,
	.llseek		= tracing_lseek,
	.release	= set_release,
};

/**
 * marker_files_create - make the file of an instance that enables markers
 * @dir: the instance's directory
 * @tr: the instance
 *
 * Context: process context, sleeps. Without memory there is no file, with a message.
 */
void marker_files_create(struct dentry *dir, struct trace_array *tr)
{
	trace_create_file("set_marker", TRACE_MODE_WRITE, dir, tr, &set_fops);
}

static int __init mark_files_init(void)
{
	int ret = tracing_init_dentry();

	if (ret)
		return ret;
	trace_create_file("available_markers", TRACE_MODE_READ, NULL, NULL, &available_fops);
	return 0;
}
fs_initcall(mark_files_init);

/* As soon as the kernel's markers are known */
static int __init mark_events_init(void)
{
	events_add();
	return 0;
}
core_initcall(mark_events_init);

/* Is something attached to an event? With a trigger, the event's file is in soft mode. */
static bool event_busy(struct mark_event *event)
{
	struct trace_event_file *file;
	struct trace_array *tr;

	if (trace_event_dyn_busy(&event->call))
		return true;
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		list_for_each_entry(file, &tr->events, list) {
			if (file->event_call == &event->call &&
			    file->flags & EVENT_FILE_FL_SOFT_MODE)
				return true;
		}
	}
	return false;
}

/* Disable an event in every instance. */
static void event_disable(struct mark_event *event)
{
	struct trace_event_file *file;
	struct trace_array *tr;

	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		list_for_each_entry(file, &tr->events, list) {
			if (file->event_call == &event->call &&
			    file->flags & EVENT_FILE_FL_ENABLED)
				trace_event_enable_disable(file, 0, 0);
		}
	}
}

/**
 * marker_events_forget - take away the events of markers that have no sites any more
 *
 * An event that something is attached to, such as perf or a trigger, stays until the next
 * module goes, or comes with markers. Entries of the others may be in buffers, and another
 * event may get the same id: a buffer that any of them was enabled for is emptied.
 *
 * Context: process context, sleeps, takes event_mutex and trace_types_lock.
 */
void marker_events_forget(void)
{
	struct mark_event *event, *next;
	bool gone = false;
	LIST_HEAD(going);

	guard(mutex)(&mark_mutex);
	/* No other event gets one of the ids before the buffers are empty. */
	guard(mutex)(&event_mutex);

	list_for_each_entry_safe(event, next, &mark_events, list) {
		if (marker_has_sites(event->marker) || event_busy(event))
			continue;
		event_disable(event);
		list_move_tail(&event->list, &going);
	}
	/*
	 * One grace period for all events: nobody else can take event_mutex meanwhile. The probe
	 * of an event that was disabled before may still be running, too.
	 */
	if (!list_empty(&going))
		marker_synchronize();

	list_for_each_entry_safe(event, next, &going, list) {
		if (trace_remove_event_call(&event->call)) {
			list_move_tail(&event->list, &mark_events);
			continue;
		}
		list_del(&event->list);
		marker_set_event(event->marker, NULL);
		event_free(event);
		gone = true;
	}
	if (gone)
		tracing_reset_all_online_cpus();
}

#ifdef CONFIG_MODULES
static int module_notify(struct notifier_block *nb, unsigned long state, void *mod)
{
	if (state == MODULE_STATE_COMING)
		events_add();
	return NOTIFY_OK;
}

/*
 * A module's markers are connected before notifiers are called. When it goes they call
 * marker_events_forget(): from then on nobody can find their sites and make events again.
 */
static struct notifier_block module_nb = {
	.notifier_call	= module_notify,
};

static int __init modules_init(void)
{
	return register_module_notifier(&module_nb);
}
core_initcall(modules_init);
#endif /* CONFIG_MODULES */

static int __init set_boot_patterns(char *patterns)
{
	strscpy(boot_patterns, patterns, sizeof(boot_patterns));
	nr_boot_patterns = *boot_patterns ? split_patterns(boot_patterns) : 0;
	trace_set_ring_buffer_expanded(NULL);
	disable_tracing_selftest("running markers");
	return 1;
}
__setup("markers=", set_boot_patterns);
