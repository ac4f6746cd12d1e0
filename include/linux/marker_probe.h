/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probes whose arguments are those of their marker, with their C types:
 *
 *	MARKER_PROBE(count_drop, "dev=%s len=%u", const char *, dev, unsigned int, len)
 *	{
 *		struct sums *sums = private;
 *
 *		sums->bytes += len;
 *	}
 *
 *	marker_connect("net:drop", &count_drop, &sums);
 *
 * The compiler compares the types with the format as it does printk()'s, and the format is
 * compared with the marker's when the probe is connected.
 */
#ifndef _LINUX_MARKER_PROBE_H
#define _LINUX_MARKER_PROBE_H

#include <linux/args.h>
#include <linux/marker.h>

/**
 * struct marker_probe - a probe that MARKER_PROBE() has defined
 * @format: of the markers that it is for
 * @func: what they call
 */
struct marker_probe {
	const char		*format;
	marker_probe_func	*func;
};

/* How many pairs these are. Of what is no pair a macro is made that there is not. */
#define __MARKER_PAIRS(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15,	\
		       _16, nr, ...) nr
#define MARKER_PAIRS(args...)							\
	__MARKER_PAIRS(, ##args, 8, no_pair, 7, no_pair, 6, no_pair, 5, no_pair, 4, no_pair,	\
		       3, no_pair, 2, no_pair, 1, no_pair, 0)

/* do(INDEX, TYPE, NAME) for each pair of TYPE, NAME */
#define MARKER_MAP(do, args...)							\
	__MARKER_MAP(MARKER_PAIRS(args), do, ##args)
#define __MARKER_MAP(nr, do, args...)	CONCATENATE(__MARKER_MAP, nr)(nr, do, ##args)
#define __MARKER_MAP0(nr, do)
#define __MARKER_MAP1(nr, do, type, name)	do((nr) - 1, type, name)
#define __MARKER_MAP2(nr, do, type, name, more...)				\
	do((nr) - 2, type, name) __MARKER_MAP1(nr, do, more)
#define __MARKER_MAP3(nr, do, type, name, more...)				\
	do((nr) - 3, type, name) __MARKER_MAP2(nr, do, more)
#define __MARKER_MAP4(nr, do, type, name, more...)				\
	do((nr) - 4, type, name) __MARKER_MAP3(nr, do, more)
#define __MARKER_MAP5(nr, do, type, name, more...)				\
	do((nr) - 5, type, name) __MARKER_MAP4(nr, do, more)
#define __MARKER_MAP6(nr, do, type, name, more...)				\
	do((nr) - 6, type, name) __MARKER_MAP5(nr, do, more)
#define __MARKER_MAP7(nr, do, type, name, more...)				\
	do((nr) - 7, type, name) __MARKER_MAP6(nr, do, more)
#define __MARKER_MAP8(nr, do, type, name, more...)				\
	do((nr) - 8, type, name) __MARKER_MAP7(nr, do, more)

#define __MARKER_PARAMETER(index, type, name)	, type name
#define __MARKER_NAME(index, type, name)	, name
/* An integer of 64 bits is no pointer everywhere. */
#define __MARKER_ARGUMENT(index, type, name)					\
	, (type)__builtin_choose_expr(sizeof(type) == sizeof(u64), args[index],		\
				      (unsigned long)args[index])

/*
 * What a marker does that a probe is compiled into. A function, so that arguments are
 * evaluated once, and as those of other markers are: before preemption is off.
 */
#ifdef CONFIG_MARKERS
#define __MARKER_CALL_ALL(site, args...)	ARCH_MARKER_CALL(site, ##args)
#define __MARKER_DEFINE_INLINE(probe, params...)					\
static __always_inline __maybe_unused void						\
probe##_inline(const struct marker_site *__site MARKER_MAP(__MARKER_PARAMETER, ##params)) \
{											\
	void *__marker_private;								\
											\
	if (marker_inline_begin(__site, probe##_func, &__marker_private)) {		\
		probe##_typed(__marker_private MARKER_MAP(__MARKER_NAME, ##params));	\
		marker_inline_end();							\
	} else {									\
		__MARKER_CALL_ALL(__site MARKER_MAP(__MARKER_NAME, ##params));		\
	}										\
}
#else
#define __MARKER_DEFINE_INLINE(probe, params...)
#endif

/**
 * MARKER_PROBE - define a probe, whose body follows
 * @probe: its name, as a static struct marker_probe. What is called, and named in files and
 *	messages, is a function of this name with _func behind it.
 * @fmt: the format of its markers, a literal
 * @params: type and name of each argument, by turns. Strings and pointers are good while the
 *	probe runs at best. Before these, there is void *private, as the probe was connected.
 *
 * Context: the body's is that of the marker, with preemption off. It may not sleep, and not
 * pass the same marker.
 */
#define MARKER_PROBE(probe, fmt, params...)						\
static __always_inline void								\
probe##_typed(void *private MARKER_MAP(__MARKER_PARAMETER, ##params));			\
											\
static void probe##_func(void *private, const u64 *args)				\
{											\
	if (0)										\
		marker_check_format("" fmt MARKER_MAP(__MARKER_ARGUMENT, ##params));	\
	probe##_typed(private MARKER_MAP(__MARKER_ARGUMENT, ##params));			\
}											\
											\
__MARKER_DEFINE_INLINE(probe, ##params)							\
											\
static const struct marker_probe probe = {						\
	.format	= fmt,									\
	.func	= probe##_func,								\
};											\
											\
static __always_inline void								\
probe##_typed(void *private MARKER_MAP(__MARKER_PARAMETER, ##params))

#ifdef CONFIG_MARKERS
#define __MARKER_INLINE(probe, site, args...)	probe##_inline(site, ##args)

/**
 * trace_mark_inline - a marker that a probe is compiled into
 * @probe: of a MARKER_PROBE() above, which has arguments of these types
 * @subsystem: as for trace_mark()
 * @event: the same
 * @format: the same, and that of the probe
 * @args: the same. They get to @probe as they are, by no array; other probes get them as
 *	they are converted to the types of its arguments.
 *
 * Such a marker is one as any other, and @probe is connected to it, and to others, as any
 * other. While it is the only one, this marker executes its body in place. For code that
 * is not in modules.
 *
 * Context: any in which RCU watches.
 */
#define trace_mark_inline(probe, subsystem, event, format, args...)			\
	__trace_mark(__marker_##subsystem##_##event,					\
		     #subsystem "\0" #event "\0" format "\0" __FILE__, format,		\
		     __MARKER_INLINE, probe, ##args)
#else
#define trace_mark_inline(probe, subsystem, event, format, args...)			\
do {											\
	if (0)										\
		probe##_typed(NULL, ##args);						\
	trace_mark(subsystem, event, format, ##args);					\
} while (0)
#endif

/**
 * marker_connect - connect a probe to the markers of a name
 * @name: "subsystem:event"; there need not be one yet
 * @probe: of MARKER_PROBE()
 * @private: its first argument
 *
 * Context: as marker_probe_register().
 *
 * Return: as marker_probe_register(); -EINVAL also if the markers have another format.
 */
static inline int marker_connect(const char *name, const struct marker_probe *probe, void *private)
{
	return marker_probe_register(name, probe->format, probe->func, private);
}

/**
 * marker_disconnect - disconnect a probe
 * @name: as it was connected
 * @probe: the same
 * @private: the same
 *
 * Context: as marker_probe_unregister(). Others may be in the probe until
 * marker_synchronize().
 *
 * Return: as marker_probe_unregister().
 */
static inline int marker_disconnect(const char *name, const struct marker_probe *probe,
				    void *private)
{
	return marker_probe_unregister(name, probe->func, private);
}

#endif /* _LINUX_MARKER_PROBE_H */
