/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Markers: tracing statements that are addressed by name, and free while off. See
 * Documentation/trace/markers.rst.
 *
 *	trace_mark(net, drop, "dev=%s len=%u", dev->name, skb->len);
 *
 * is a NOP of five bytes until a probe is connected to the marker "net:drop": the
 * tracing event of that name, or a function that <linux/marker_probe.h> defines. Where no
 * text is patched, it loads and tests a variable.
 */
#ifndef _LINUX_MARKER_H
#define _LINUX_MARKER_H

#include <linux/args.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/linkage.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/value_site.h>

struct dentry;
struct marker;
struct module;
struct seq_file;
struct trace_array;
struct trace_event_call;

/* The most arguments that a marker can have; more do not compile. */
#define MARKER_ARGS_MAX	8

/**
 * typedef marker_probe_func - what is called by a marker
 * @private: as it was registered with
 * @args: the arguments, as the format says. Each is extended to 64 bits as its type
 *	says; strings and pointers are addresses, good while the probe runs at best.
 *
 * Context: that of the marker, with preemption off. May not sleep, and not pass the
 * same marker.
 */
typedef void marker_probe_func(void *private, const u64 *args);

/**
 * struct marker_site - a trace_mark() in the source
 * @magic: MARKER_SITE_MAGIC
 * @size: of @text, in bytes
 * @nr_args: how many arguments it has
 * @on: whether there are probes; what its value sites depend on
 * @line: where in its file
 * @marker: which marker it belongs to; NULL: none yet, or it was refused
 * @list: all sites of the marker
 * @text: subsystem, event, format and file, each with its NUL
 */
struct marker_site {
	u32			magic;
	u16			size;
	u8			nr_args;
	unsigned int		line;
	bool			on __aligned(VALUE_SITE_ALIGN);
	struct marker		*marker;
	struct list_head	list;
	char			text[];
};

/* Its last byte is in no text. */
#define MARKER_SITE_MAGIC	0xff61726bu

#define MARKER_SITE(_line, _nr_args, _text) {				\
	.magic = MARKER_SITE_MAGIC,					\
	.size = sizeof(_text),						\
	.nr_args = (_nr_args),						\
	.line = (_line),						\
	.text = _text,							\
}

static inline __printf(1, 2) void marker_check_format(const char *format, ...) { }

#ifdef CONFIG_MARKERS

#ifdef CONFIG_TEXT_SITES
#include <asm/marker.h>
#else
#include <asm-generic/marker.h>
#endif

/* A site, what is checked of it, and @call(@probe, its address, @args) while there are probes */
#define __trace_mark(site, text, format, call, probe, args...)		\
do {									\
	static struct marker_site site =				\
		MARKER_SITE(__LINE__, COUNT_ARGS(args), text);		\
									\
	BUILD_BUG_ON_MSG(COUNT_ARGS(args) > MARKER_ARGS_MAX,		\
			 "too many arguments for a marker");		\
	if (0)								\
		marker_check_format(format, ##args);			\
	if (unlikely_notrace(ARCH_MARKER_ON(&site)))			\
		call(probe, &site, ##args);				\
} while (0)

#define __MARKER_CALL(probe, site, args...)	ARCH_MARKER_CALL(site, ##args)

/**
 * trace_mark - a marker
 * @subsystem: a word; with the event it is the name, "subsystem:event"
 * @event: a word
 * @format: as printk's, a literal. No %n, no '*', and of the extensions of %p only
 *	%ps, %pS, %pB and %px. "dev=%s" or "dev: %s" makes a field dev of the event.
 * @args: up to MARKER_ARGS_MAX. Evaluated only while there are probes.
 *
 * Any number of them may have one name, if their formats are the same: a module with one
 * that has another than those known before it is not loaded, with a message.
 *
 * Context: any in which RCU watches.
 */
#define trace_mark(subsystem, event, format, args...)			\
	__trace_mark(__marker_##subsystem##_##event,			\
		     #subsystem "\0" #event "\0" format "\0" __FILE__, format, \
		     __MARKER_CALL, , ##args)

int marker_probe_register(const char *name, const char *format, marker_probe_func *probe,
			  void *private);
int marker_probe_unregister(const char *name, marker_probe_func *probe, void *private);

/* What ARCH_MARKER_CALL() gets to: calls the probes of the marker that @site is of */
asmlinkage void marker_call(const struct marker_site *site, const u64 *args);
/* The same in place of a call, if @func is the only probe. Ends with marker_inline_end(). */
bool marker_inline_begin(const struct marker_site *site, marker_probe_func *func,
			 void **private);
void marker_inline_end(void);

/* For what a format says of an argument, and for kernel/trace/trace_mark.c */

/* The format limits no string: it ends at its NUL. */
#define MARKER_PRECISION_NONE	0xffff

/**
 * struct marker_arg - a conversion in a format
 * @conversion: its letter: one of "iuxXocsp"; i stands for d, too
 * @size: of its type, in bytes; of one character of a string
 * @precision: of how many bytes a string consists at most; MARKER_PRECISION_NONE also
 *	stands for anything larger
 */
struct marker_arg {
	char	conversion;
	u8	size;
	u16	precision;
};

int marker_format_next(const char **format, struct marker_arg *arg);

const char *marker_name(const struct marker *marker);
const char *marker_format(const struct marker *marker);
void marker_retry_events(void);
struct marker *marker_without_event(void *event, bool *again);
void marker_set_event(struct marker *marker, void *event);
bool marker_has_sites(const struct marker *marker);
void marker_batch_begin(void);
int marker_batch_end(void);
void marker_show_all(struct seq_file *m);

#ifdef CONFIG_MARKER_EVENTS
void marker_events_forget(void);
#else
static inline void marker_events_forget(void) { }
#endif

#else /* !CONFIG_MARKERS */

#define trace_mark(subsystem, event, format, args...)			\
do {									\
	if (0)								\
		marker_check_format(format, ##args);			\
} while (0)

static inline int marker_probe_register(const char *name, const char *format,
					marker_probe_func *probe, void *private)
{
	return -ENOSYS;
}

static inline int marker_probe_unregister(const char *name, marker_probe_func *probe,
					  void *private)
{
	return -ENOENT;
}

static inline void marker_batch_begin(void) { }
static inline int marker_batch_end(void) { return 0; }

#endif /* CONFIG_MARKERS */

#ifdef CONFIG_MARKER_EVENTS
void marker_files_create(struct dentry *dir, struct trace_array *tr);
bool is_marker_event(const struct trace_event_call *call);
#else
static inline void marker_files_create(struct dentry *dir, struct trace_array *tr) { }
static inline bool is_marker_event(const struct trace_event_call *call) { return false; }
#endif

/**
 * marker_synchronize - wait until no probe runs that was unregistered before
 *
 * After marker_probe_unregister(), CPUs may still be in the probe. When this returns
 * they are not: what the probe uses may be freed, and its module may go. One wait is
 * enough for any number of probes.
 *
 * Context: process context, sleeps.
 */
static inline void marker_synchronize(void)
{
	synchronize_rcu();	/* a probe runs with preemption off */
}

#endif /* _LINUX_MARKER_H */
