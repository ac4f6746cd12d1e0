// SPDX-License-Identifier: GPL-2.0
/*
 * Markers: which there are, and the probes that are connected to them.
 *
 *	trace_mark(net, drop, ...)	struct marker_site	any number of a name
 *		|				|
 *		+-------------------> struct marker		one a name
 *						|
 *				      struct marker_probes	an array, under RCU
 *
 * A marker is there while there are sites or probes that name it. A site is on while its
 * marker has probes. What a site does about that is in kernel/marker_text.c or, where no
 * text is patched, in kernel/marker_data.c.
 *
 * All this changes under marker_mutex. A task that passes a site that is on reads without
 * a lock, with preemption off: site->marker, and from there marker->probes:
 *
 *	connecting				disconnecting
 *	  fill in the new array			  make one without the probe, or none
 *	  marker->probes = new			  marker->probes = new
 *	  switch the sites on, if off		  switch the sites off, if it was the last
 *	  free the old one after RCU		  free the old one after RCU
 *
 * A task that was on its way when the sites were switched off finds no array, or one that
 * was connected since. A task that has the old array is done with it and with its probes
 * when RCU says so, which is what marker_synchronize() waits for.
 *
 * The code of a module's sites does not run when they are connected, by
 * text_sites_module_coming(). When they are taken away, the functions of the module's
 * parameters may still run: the site has no marker from then on, and markers are freed
 * after a grace period.
 *
 * Locks are taken in this order: event_mutex, marker_mutex, text_mutex.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/stringhash.h>
#include <linux/text_site.h>
#include <linux/value_site.h>

#include "marker.h"

struct marker_callback {
	marker_probe_func	*func;
	void			*private;
};

struct marker_probes {
	struct rcu_head		rcu;
	unsigned int		nr;
	struct marker_callback	probe[] __counted_by(nr);
};

/**
 * struct marker - what sites and probes of one name have in common
 * @rcu: for it to be freed
 * @probes: what sites call; NULL: they are off
 * @event: the tracing event, kernel/trace/trace_mark.c
 * @sites: those that are connected
 * @node: all markers, by name
 * @format: of all sites and probes; allocated together with this
 * @name: the same
 */
struct marker {
	struct rcu_head			rcu;
	struct marker_probes __rcu	*probes;
	void				*event;
	struct list_head		sites;
	struct hlist_node		node;
	char				*format;
	char				name[];
};

DEFINE_MUTEX(marker_mutex);	/* all of this, see above */
static DEFINE_HASHTABLE(markers, 8);
static LIST_HEAD(refused_sites);	/* the kernel's; modules with such are not loaded */

/*
 * The task that connects many probes, and switches the sites when all are. It is referenced:
 * if it dies in a batch, no new task gets its address.
 */
static struct task_struct *batching;

/* In place of a marker's event: it could not be made before, and is to be tried again */
#define EVENT_AGAIN	ERR_PTR(-EAGAIN)

#define probes_of(marker)						\
	rcu_dereference_protected((marker)->probes, lockdep_is_held(&marker_mutex))

/* The nth string of a site's text */
static const char *site_text(const struct marker_site *site, unsigned int n)
{
	const char *text = site->text;

	while (n--)
		text += strlen(text) + 1;
	return text;
}

#define site_subsystem(site)	site_text(site, 0)
#define site_event(site)	site_text(site, 1)
#define site_format(site)	site_text(site, 2)
#define site_file(site)	site_text(site, 3)

/* Without CONFIG_PREEMPT_COUNT: the CPU's last task in a marker, and how many it is in */
static DEFINE_PER_CPU(struct task_struct *, in_marker_task);
static DEFINE_PER_CPU(unsigned int, nr_in_markers);

/* A task that dies in a probe never decrements the count, so other tasks start from 0. */
static __always_inline void in_marker(int add)
{
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
		return;
	if (unlikely(this_cpu_read(in_marker_task) != current)) {
		this_cpu_write(nr_in_markers, 0);
		this_cpu_write(in_marker_task, current);
	}
	this_cpu_add(nr_in_markers, add);
}

/* Not in a probe, for one */
static bool may_sleep(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
		return preemptible();
	return !in_interrupt() && !irqs_disabled() &&
	       (this_cpu_read(in_marker_task) != current || !this_cpu_read(nr_in_markers));
}

/* A function of its own, so that nothing is saved if there is one probe */
static noinline notrace void call_all(const struct marker_probes *probes, const u64 *args)
{
	for (unsigned int i = 0; i < probes->nr; i++)
		probes->probe[i].func(probes->probe[i].private, args);
}

/*
 * What a site calls, or NULL. A site without a marker is on if something else has changed its
 * text, or if its module is going: see marker_site_go(). The caller has disabled preemption.
 */
static __always_inline const struct marker_probes *site_probes(const struct marker_site *site)
{
	const struct marker *marker = READ_ONCE(site->marker);

	return likely(marker) ? rcu_dereference_sched(marker->probes) : NULL;
}

asmlinkage notrace void marker_call(const struct marker_site *site, const u64 *args)
{
	const struct marker_probes *probes;

	preempt_disable_notrace();
	in_marker(1);
	probes = site_probes(site);
	/* An array is never empty. */
	if (likely(probes)) {
		if (likely(probes->nr == 1))
			probes->probe[0].func(probes->probe[0].private, args);
		else
			call_all(probes, args);
	}
	in_marker(-1);
	preempt_enable_notrace();
}

notrace bool marker_inline_begin(const struct marker_site *site, marker_probe_func *func,
				 void **private)
{
	const struct marker_probes *probes;

	preempt_disable_notrace();
	in_marker(1);
	probes = site_probes(site);
	if (likely(probes && probes->nr == 1 && probes->probe[0].func == func)) {
		*private = probes->probe[0].private;
		return true;
	}
	marker_inline_end();
	return false;
}

notrace void marker_inline_end(void)
{
	in_marker(-1);
	preempt_enable_notrace();
}

/* The length of an integer conversion's type, or of @conversion's own */
static u8 conversion_size(const char **pos)
{
	u8 size = sizeof(int);

	switch (**pos) {
	case 'h':
		size = sizeof(short);
		if (*++*pos == 'h') {
			size = sizeof(char);
			++*pos;
		}
		break;
	case 'l':
		size = sizeof(long);
		if (*++*pos == 'l') {
			size = sizeof(long long);
			++*pos;
		}
		break;
	case 'L':
		size = sizeof(long long);
		++*pos;
		break;
	case 'z':
	case 't':
		size = sizeof(size_t);
		++*pos;
		break;
	}
	return size;
}

/* The precision, if any, is behind the width. As in vsnprintf(), a dot alone is none. */
static u16 conversion_precision(const char **pos)
{
	unsigned int precision = 0;

	if (**pos != '.' || !isdigit(*++*pos))
		return MARKER_PRECISION_NONE;
	for (; isdigit(**pos); ++*pos)
		precision = min(10 * precision + **pos - '0', MARKER_PRECISION_NONE);
	return precision;
}

/**
 * marker_format_next - find the next conversion in a format
 * @format: where to look from on; is set to behind what was found
 * @arg: gets what it is
 *
 * Context: any.
 *
 * Return: 1; 0 if there is no other, and *@format is the end; -EINVAL if it is none
 * that a marker can have.
 */
int marker_format_next(const char **format, struct marker_arg *arg)
{
	static const char digits[] = "0123456789";
	const char *pos = *format, *type;

	for (;; pos += 2) {
		pos = strchrnul(pos, '%');
		if (!*pos) {
			*format = pos;
			return 0;
		}
		if (pos[1] != '%')
			break;
	}

	pos++;
	pos += strspn(pos, "-+ #0");
	pos += strspn(pos, digits);
	arg->precision = conversion_precision(&pos);
	type = pos;
	arg->size = conversion_size(&pos);
	arg->conversion = *pos;

	switch (*pos++) {
	case 'd':
	case 'i':
		arg->conversion = 'i';
		break;
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		break;
	case 'c':
	case 's':
		if (pos != type + 1)
			return -EINVAL;
		arg->size = sizeof(char);
		break;
	case 'p':
		arg->size = sizeof(void *);
		/* Others look at what it points to, which is gone when it is printed. */
		if (*pos && strchr("sSBx", *pos))
			pos++;
		if (isalnum(*pos))
			return -EINVAL;
		break;
	default:
		return -EINVAL;
	}
	*format = pos;
	return 1;
}

/* How many arguments a format is for, or -EINVAL */
static int format_args(const char *format)
{
	struct marker_arg arg;
	int nr = 0, ret;

	for (; (ret = marker_format_next(&format, &arg)) > 0; nr++)
		;
	return ret ?: nr <= MARKER_ARGS_MAX ? nr : -EINVAL;
}

const char *marker_name(const struct marker *marker)
{
	return marker->name;
}

const char *marker_format(const struct marker *marker)
{
	return marker->format;
}

/* How much of a name can be a subsystem or an event in the source? */
static size_t word_len(const char *name)
{
	size_t len = 0;

	while (isalnum(name[len]) || name[len] == '_')
		len++;
	return len;
}

/* SUBSYSTEM:EVENT */
static bool name_is_good(const char *name)
{
	const size_t len = word_len(name);
	const char *event = name + len + 1;

	return len && name[len] == ':' && *event && !event[word_len(event)];
}

int marker_site_check(const struct marker_site *site)
{
	const char *subsystem = site_subsystem(site), *event = site_event(site);

	if (*subsystem && !subsystem[word_len(subsystem)] && *event && !event[word_len(event)] &&
	    format_args(site_format(site)) == site->nr_args)
		return 0;
	pr_err("%s:%s: %s:%u has \"%s\", which is no marker's name and format: refused\n",
	       subsystem, event, site_file(site), site->line, site_format(site));
	return -EINVAL;
}

static unsigned int name_hash(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

static struct marker *marker_find(const char *name)
{
	struct marker *marker;

	hash_for_each_possible(markers, marker, node, name_hash(name)) {
		if (!strcmp(marker->name, name))
			return marker;
	}
	return NULL;
}

static struct marker *marker_new(const char *name, const char *format)
{
	const size_t name_size = strlen(name) + 1, format_size = strlen(format) + 1;
	struct marker *marker = kzalloc(sizeof(*marker) + name_size + format_size, GFP_KERNEL);

	if (!marker)
		return NULL;
	memcpy(marker->name, name, name_size);
	marker->format = marker->name + name_size;
	memcpy(marker->format, format, format_size);
	INIT_LIST_HEAD(&marker->sites);
	hash_add(markers, &marker->node, name_hash(name));
	return marker;
}

static void free_if_unused(struct marker *marker)
{
	/* What stands for an event that could not be made keeps nothing. */
	if (!list_empty(&marker->sites) || probes_of(marker) ||
	    !IS_ERR_OR_NULL(marker->event))
		return;
	hash_del(&marker->node);
	/* A task at a site that has just been taken away may still use it: site_probes(). */
	kfree_rcu(marker, rcu);
}

#define WHO_SIZE	256	/* a longer name is cut off: there are two of them on a stack */

/* For messages: a site, or else a probe, or else the event of a marker without both */
static void say_who(char *who, const struct marker_site *site, marker_probe_func *probe)
{
	if (site)
		snprintf(who, WHO_SIZE, "%s:%u", site_file(site), site->line);
	else if (probe)
		snprintf(who, WHO_SIZE, "probe %ps", probe);
	else
		strscpy(who, "its event, still in use,", WHO_SIZE);
}

/* Say that a site, or a probe, has another format than what there is of its marker. */
static void complain_of_format(struct marker *marker, const struct marker_site *site,
			       marker_probe_func *probe, const char *format)
{
	const struct marker_probes *probes = probes_of(marker);
	char what[WHO_SIZE], whose[WHO_SIZE];

	say_who(what, site, probe);
	say_who(whose, list_first_entry_or_null(&marker->sites, typeof(*site), list),
		probes ? probes->probe[0].func : NULL);
	pr_err("%s: %s has \"%s\", but %s has \"%s\": refused\n", marker->name, what,
	       format, whose, marker->format);
}

/* The marker of a site, or of a probe; it is made if there is none. */
static struct marker *marker_get(const char *name, const char *format,
				 const struct marker_site *site, marker_probe_func *probe)
{
	struct marker *marker = marker_find(name);

	if (!marker)
		return marker_new(name, format) ?: ERR_PTR(-ENOMEM);
	if (!strcmp(marker->format, format))
		return marker;
	complain_of_format(marker, site, probe, format);
	return ERR_PTR(-EINVAL);
}

static int site_connect(struct marker_site *site)
{
	struct marker *marker;
	char *name;

	if (marker_site_check(site))
		return -EINVAL;
	name = kasprintf(GFP_KERNEL, "%s:%s", site_subsystem(site), site_event(site));
	marker = name ? marker_get(name, site_format(site), site, NULL) : ERR_PTR(-ENOMEM);
	kfree(name);
	if (marker == ERR_PTR(-ENOMEM))
		pr_err("%s:%s: %s:%u: no memory: refused\n", site_subsystem(site),
		       site_event(site), site_file(site), site->line);
	if (IS_ERR(marker))
		return PTR_ERR(marker);

	site->marker = marker;
	list_add_tail(&site->list, &marker->sites);
	WRITE_ONCE(site->on, !!probes_of(marker));
	return 0;
}

/*
 * Have a marker's sites call other probes than before; whoever has a batch commits all
 * that has changed.
 */
static int probes_set(struct marker *marker, struct marker_probes *probes)
{
	struct marker_site *site;

	rcu_assign_pointer(marker->probes, probes);
	list_for_each_entry(site, &marker->sites, list)
		WRITE_ONCE(site->on, !!probes);
	return batching == current ? 0 : marker_sites_commit(marker);
}

static struct marker_probes *probes_new(unsigned int nr, gfp_t more)
{
	struct marker_probes *probes = kzalloc(struct_size(probes, probe, nr),
					       GFP_KERNEL | more);

	if (probes)
		probes->nr = nr;
	return probes;
}

static unsigned int probe_find(const struct marker_probes *probes, marker_probe_func *func,
			       void *private)
{
	unsigned int i = 0;

	while (i < probes->nr &&
	       (probes->probe[i].func != func || probes->probe[i].private != private))
		i++;
	return i;
}

static int probe_add(struct marker *marker, marker_probe_func *func, void *private)
{
	struct marker_probes *old = probes_of(marker), *new;
	unsigned int nr = old ? old->nr : 0;
	int ret;

	if (old && probe_find(old, func, private) < nr)
		return -EEXIST;

	new = probes_new(nr + 1, 0);
	if (!new)
		return -ENOMEM;
	if (old)
		memcpy(new->probe, old->probe, array_size(nr, sizeof(*new->probe)));
	new->probe[nr] = (struct marker_callback) { .func = func, .private = private };

	ret = probes_set(marker, new);
	if (ret) {
		/* Its text has not changed; if it was on, the new one has been called. */
		probes_set(marker, old);
		marker_synchronize();
		kfree(new);
		return ret;
	}
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

static int probe_remove(struct marker *marker, marker_probe_func *func, void *private)
{
	struct marker_probes *old = probes_of(marker), *new = NULL;
	unsigned int i;

	if (!old)
		return -ENOENT;
	i = probe_find(old, func, private);
	if (i == old->nr)
		return -ENOENT;

	if (old->nr > 1) {
		/* Whoever removes it frees what it uses: it must not stay. */
		new = probes_new(old->nr - 1, __GFP_NOFAIL);
		memcpy(new->probe, old->probe, array_size(i, sizeof(*new->probe)));
		memcpy(new->probe + i, old->probe + i + 1,
		       array_size(new->nr - i, sizeof(*new->probe)));
	}
	/*
	 * A site that cannot be switched off finds no probes. The first commit fails because of
	 * it, but marks it dead, so the second one switches the other sites.
	 */
	if (probes_set(marker, new))
		marker_sites_commit(marker);
	kfree_rcu(old, rcu);
	return 0;
}

/**
 * marker_probe_register - connect a probe to a marker
 * @name: of the marker, "subsystem:event". If it is not there yet, the probe is
 *	connected when it comes, with its module.
 * @format: of the marker, to the letter
 * @probe: what to call
 * @private: for the probe
 *
 * When this returns, every site of the marker calls the probe. It may be called
 * before. Probes are called in the order in which they were registered.
 *
 * The probe's module may go at any time: its probes are unregistered then, with a
 * message. It is better to do that in its exit function. A probe cannot be __init.
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading and text_mutex.
 *
 * Return: 0; with nothing changed -EINVAL with a message if the format is not the
 * marker's or no marker's, the name is none, the probe's module is being unloaded or the
 * probe is in init text, or the text of a site is not what it should be; -EEXIST if this
 * probe is registered with this @private; -ENOMEM; -EWOULDBLOCK where one may not sleep, as
 * in a probe. Without CONFIG_MARKERS -ENOSYS.
 */
int marker_probe_register(const char *name, const char *format, marker_probe_func *probe,
			  void *private)
{
	struct marker *marker;
	int ret;

	if (!may_sleep())
		return -EWOULDBLOCK;
	if (!name_is_good(name) || format_args(format) < 0) {
		pr_err("%s: probe %ps has \"%s\": not a marker's name and format, refused\n",
		       name, probe, format);
		return -EINVAL;
	}

	guard(mutex)(&marker_mutex);

	/* In the common case without preempt_disable(), which may be a traced event itself */
	if (!is_kernel_text((unsigned long)dereference_function_descriptor(probe)) &&
	    !text_sites_may_call_module(probe)) {
		pr_err("%s: probe %ps is no function that stays: refused\n", name, probe);
		return -EINVAL;
	}
	marker = marker_get(name, format, NULL, probe);
	if (IS_ERR(marker))
		return PTR_ERR(marker);
	ret = probe_add(marker, probe, private);
	free_if_unused(marker);
	return ret;
}
EXPORT_SYMBOL_GPL(marker_probe_register);

/**
 * marker_probe_unregister - disconnect a probe from a marker
 * @name: as it was registered
 * @probe: the same
 * @private: the same
 *
 * When this returns, the probe is not called any more. It may still be running: see
 * marker_synchronize(). A probe that wants to be rid of itself can have work do it,
 * schedule_work() for one.
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading and text_mutex.
 *
 * Return: 0; with nothing changed -ENOENT if it is not registered, as without
 * CONFIG_MARKERS, or -EWOULDBLOCK where one may not sleep, as in a probe.
 */
int marker_probe_unregister(const char *name, marker_probe_func *probe, void *private)
{
	struct marker *marker;
	int ret;

	if (!may_sleep())
		return -EWOULDBLOCK;

	guard(mutex)(&marker_mutex);

	marker = marker_find(name);
	if (!marker)
		return -ENOENT;
	ret = probe_remove(marker, probe, private);
	free_if_unused(marker);
	return ret;
}
EXPORT_SYMBOL_GPL(marker_probe_unregister);

/**
 * marker_batch_begin - what this task connects and disconnects is one batch
 *
 * Context: process context, sleeps. Under event_mutex, until marker_batch_end().
 */
void marker_batch_begin(void)
{
	guard(mutex)(&marker_mutex);
	WARN_ON_ONCE(batching);
	batching = get_task_struct(current);
}

/**
 * marker_batch_end - have the batch take effect, in one run of the patcher
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading and text_mutex. Under
 * event_mutex.
 *
 * Return: 0, or -EINVAL with a message if the text of a site is not what it should be:
 * that one is not switched, the others are.
 */
int marker_batch_end(void)
{
	int ret;

	guard(mutex)(&marker_mutex);
	batching = NULL;
	put_task_struct(current);
	ret = marker_sites_commit(NULL);
	/* What is wrong is dead now, and does not keep the others from following. */
	if (ret)
		marker_sites_commit(NULL);
	return ret;
}

/**
 * marker_retry_events - let markers whose events could not be made try again
 *
 * The event that had the marker's name may have been removed, for one.
 *
 * Context: process context, sleeps.
 */
void marker_retry_events(void)
{
	struct marker *marker;
	unsigned int i;

	guard(mutex)(&marker_mutex);

	hash_for_each(markers, i, marker, node) {
		if (IS_ERR(marker->event))
			marker->event = EVENT_AGAIN;
	}
}

/**
 * marker_without_event - find a marker with sites that has no event
 * @event: it gets this; from then on it stays, also without sites and probes, until it
 *	gets none
 * @again: set, with a marker, to whether its event could not be made before
 *
 * Context: process context, sleeps.
 *
 * Return: the marker, or NULL.
 */
struct marker *marker_without_event(void *event, bool *again)
{
	struct marker *marker;
	unsigned int i;

	guard(mutex)(&marker_mutex);

	hash_for_each(markers, i, marker, node) {
		if ((!marker->event || marker->event == EVENT_AGAIN) &&
		    !list_empty(&marker->sites)) {
			*again = marker->event;
			marker->event = event;
			return marker;
		}
	}
	return NULL;
}

/**
 * marker_set_event - say what a marker's event is
 * @marker: which
 * @event: its event; NULL: it is gone, and the marker perhaps with it
 *
 * Context: process context, sleeps.
 */
void marker_set_event(struct marker *marker, void *event)
{
	guard(mutex)(&marker_mutex);
	marker->event = event;
	free_if_unused(marker);
}

/**
 * marker_has_sites - is a marker in the kernel or a module that is there?
 * @marker: which
 *
 * Context: process context, sleeps.
 *
 * Return: whether it is.
 */
bool marker_has_sites(const struct marker *marker)
{
	guard(mutex)(&marker_mutex);
	return !list_empty(&marker->sites);
}

static void show_site(struct seq_file *m, const struct marker_site *site)
{
	const char *state = !site->marker ? "refused" : site->on ? "on" : "off";

	seq_printf(m, "%s:%s %s %s:%u ", site_subsystem(site), site_event(site), state,
		   site_file(site), site->line);
	guard(preempt)();
	seq_printf(m, "[%s] ", module_name(__module_address((unsigned long)site)));
}

static void show_format_and_probes(struct seq_file *m, const char *format,
				   const struct marker_probes *probes)
{
	seq_puts(m, "\"");
	seq_escape_str(m, format, ESCAPE_SPACE | ESCAPE_SPECIAL, NULL);
	seq_puts(m, "\"");
	for (unsigned int i = 0; probes && i < probes->nr; i++)
		seq_printf(m, " %ps", probes->probe[i].func);
	seq_puts(m, "\n");
}

/**
 * marker_show_all - list all markers, a site a line
 * @m: where
 *
 * Context: process context, sleeps.
 */
void marker_show_all(struct seq_file *m)
{
	struct marker_site *site;
	struct marker *marker;
	unsigned int i;

	guard(mutex)(&marker_mutex);

	hash_for_each(markers, i, marker, node) {
		list_for_each_entry(site, &marker->sites, list) {
			show_site(m, site);
			show_format_and_probes(m, marker->format, probes_of(marker));
		}
		if (list_empty(&marker->sites)) {
			seq_printf(m, "%s waiting - - ", marker->name);
			show_format_and_probes(m, marker->format, probes_of(marker));
		}
	}
	list_for_each_entry(site, &refused_sites, list) {
		show_site(m, site);
		show_format_and_probes(m, site_format(site), NULL);
	}
}

int marker_site_come(struct marker_site *site, const struct module *mod)
{
	/* One that was inlined or unrolled comes once for each copy. */
	int ret = site->list.next ? 0 : site_connect(site);

	if (!ret || mod)
		return ret;
	list_add_tail(&site->list, &refused_sites);
	return 0;
}

void marker_site_go(struct marker_site *site)
{
	struct marker *marker = site->marker;

	if (!site->list.next)
		return;
	list_del(&site->list);
	site->list.next = NULL;
	/* Functions of the module's parameters may still get here, with the site switched on. */
	WRITE_ONCE(site->on, false);
	WRITE_ONCE(site->marker, NULL);
	free_if_unused(marker);
}

#ifdef CONFIG_MODULES
/*
 * As for the compiler, all begin at multiples of VALUE_SITE_ALIGN: so no other one begins
 * in this one if its magic number is at none of these.
 */
bool marker_site_is_good(const struct module *mod, const struct marker_site *site)
{
	const char *text = site->text, *end, *pos;

	if (!IS_ALIGNED((unsigned long)site, VALUE_SITE_ALIGN) ||
	    !text_site_in_data(mod, site, sizeof(*site)) ||
	    !text_site_in_data(mod, site, sizeof(*site) + site->size) ||
	    site->magic != MARKER_SITE_MAGIC || site->on || site->marker ||
	    site->list.next || site->list.prev)
		return false;

	end = text + site->size;
	for (pos = (const char *)site + VALUE_SITE_ALIGN; pos < end; pos += VALUE_SITE_ALIGN) {
		if (!memcmp(pos, &site->magic, sizeof(site->magic)))
			return false;
	}
	for (unsigned int i = 0; i < 4; i++) {
		if (text >= end)
			return false;
		text += strnlen(text, end - text) + 1;
	}
	return text == end;
}
#endif

/* Take away a marker's probes that are functions of a module: how many? */
static unsigned int remove_probes_in(struct marker *marker, struct module *mod)
{
	struct marker_probes *probes;
	unsigned int nr = 0, i = 0;

	while ((probes = probes_of(marker)) && i < probes->nr) {
		const struct marker_callback probe = probes->probe[i];

		if (!within_module((unsigned long)probe.func, mod)) {
			i++;
			continue;
		}
		pr_info("%ps goes with %s: unregistered from %s\n", probe.func,
			module_name(mod), marker->name);
		probe_remove(marker, probe.func, probe.private);
		nr++;
	}
	return nr;
}

void marker_probes_go(struct module *mod)
{
	struct hlist_node *next;
	struct marker *marker;
	unsigned int nr = 0, i;

	scoped_guard(mutex, &marker_mutex) {
		hash_for_each_safe(markers, i, next, marker, node) {
			nr += remove_probes_in(marker, mod);
			free_if_unused(marker);
		}
	}
	if (nr)
		marker_synchronize();
}
