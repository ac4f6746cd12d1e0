// SPDX-License-Identifier: GPL-2.0
/*
 * Markers: which there are, and the probes that are connected to them.
 *
 *	trace_mark(net, drop, ...)	struct marker_place	any number of a name
 *		|				|
 *		+-------------------> struct marker		one a name
 *						|
 *				      struct marker_probes	an array, under RCU
 *
 * A marker is there while there are places or probes that name it. A place is on while
 * its marker has probes.
 *
 * All this changes under marker_mutex. Who passes a place that is on reads without a
 * lock: place->marker, which does not change while the place's code may run, and with
 * preemption off marker->probes:
 *
 *	connecting				disconnecting
 *	  fill in the new array			  make one without the probe, or none
 *	  marker->probes = new			  marker->probes = new
 *	  switch the places on, if off		  switch the places off, if it was the last
 *	  free the old one after RCU		  free the old one after RCU
 *
 * Who was on the way when the places were switched off finds no array, or that of
 * whoever has connected since. Who has the old array is done with it and with its
 * probes when RCU says so, which is what marker_synchronize() waits for.
 *
 * The code of a module's places does not run when they are connected and when they
 * are taken away; so a marker is freed when nobody can have it.
 *
 * Locks are taken in this order: event_mutex, marker_mutex, inline_mutex.
 */
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
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/stringhash.h>

struct marker_probe {
	marker_probe_func	*func;
	void			*private;
};

struct marker_probes {
	struct rcu_head		rcu;
	unsigned int		nr;
	struct marker_probe	probe[] __counted_by(nr);
};

/**
 * struct marker - what places and probes of one name have in common
 * @probes: what places call; NULL: they are off
 * @event: the tracing event, kernel/trace/trace_mark.c
 * @places: those that are connected
 * @node: all markers, by name
 * @format: of all places and probes; allocated together with this
 * @name: the same
 */
struct marker {
	struct marker_probes __rcu	*probes;
	void				*event;
	struct list_head		places;
	struct hlist_node		node;
	char				*format;
	char				name[];
};

static DEFINE_MUTEX(marker_mutex);
static DEFINE_HASHTABLE(markers, 8);
static LIST_HEAD(refused_places);

/* Who connects many probes, and has the places switched when all are. */
static struct task_struct *batching;

#define probes_of(marker)						\
	rcu_dereference_protected((marker)->probes, lockdep_is_held(&marker_mutex))

/* The nth string of a place's text */
static const char *place_text(const struct marker_place *place, unsigned int n)
{
	const char *text = place->text;

	while (n--)
		text += strlen(text) + 1;
	return text;
}

#define place_subsystem(place)	place_text(place, 0)
#define place_event(place)	place_text(place, 1)
#define place_format(place)	place_text(place, 2)
#define place_file(place)	place_text(place, 3)

/* Where preemption is not counted: how many markers this CPU is in */
static DEFINE_PER_CPU(unsigned int, nr_in_markers);

static __always_inline void in_marker(int add)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		this_cpu_add(nr_in_markers, add);
}

/* Not in a probe, for one */
static bool may_sleep(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
		return preemptible();
	return !in_interrupt() && !irqs_disabled() && !this_cpu_read(nr_in_markers);
}

/*
 * What calls a marker's probes: called by __marker_call(), and by nobody else.
 */
asmlinkage void marker_call(const struct marker_place *place, const u64 *args);

void marker_call(const struct marker_place *place, const u64 *args)
{
	const struct marker_probe *probe, *last;
	const struct marker_probes *probes;

	preempt_disable_notrace();
	in_marker(1);
	probes = rcu_dereference_sched(place->marker->probes);
	if (likely(probes)) {
		/* An array is never empty. */
		probe = probes->probe;
		last = probe + probes->nr;
		do {
			probe->func(probe->private, args);
		} while (++probe < last);
	}
	in_marker(-1);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(__marker_call);

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
	case 'z':
	case 't':
		size = sizeof(size_t);
		++*pos;
		break;
	}
	return size;
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
	const char *pos = *format;

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
	if (*pos == '.')
		pos += 1 + strspn(pos + 1, digits);
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
		if (arg->size != sizeof(int))
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
	INIT_LIST_HEAD(&marker->places);
	hash_add(markers, &marker->node, name_hash(name));
	return marker;
}

static void free_if_unused(struct marker *marker)
{
	/* What stands for an event that could not be made keeps nothing. */
	if (!list_empty(&marker->places) || probes_of(marker) ||
	    !IS_ERR_OR_NULL(marker->event))
		return;
	hash_del(&marker->node);
	kfree(marker);
}

/* Say that @what has another format than what there is of its marker. */
static void complain_of_format(struct marker *marker, const char *what, const char *format)
{
	const struct marker_place *place = list_first_entry_or_null(&marker->places,
								    typeof(*place), list);
	const struct marker_probes *probes = probes_of(marker);
	char whose[KSYM_NAME_LEN];

	if (place)
		snprintf(whose, sizeof(whose), "%s:%u", place_file(place), place->line);
	else if (probes)
		snprintf(whose, sizeof(whose), "probe %ps", probes->probe[0].func);
	else
		strscpy(whose, "its event, still in use,");
	pr_err("marker: %s: %s has \"%s\", but %s has \"%s\": refused\n", marker->name, what,
	       format, whose, marker->format);
}

static struct marker *marker_of_place(const struct marker_place *place, const char *name)
{
	const char *format = place_format(place);
	struct marker *marker = marker_find(name);

	if (format_args(format) != place->nr_args) {
		pr_err("marker: %s: %s:%u has \"%s\", which is no marker's format: refused\n",
		       name, place_file(place), place->line, format);
		return NULL;
	}
	if (!marker)
		return marker_new(name, format);
	if (strcmp(marker->format, format)) {
		char what[KSYM_NAME_LEN];

		snprintf(what, sizeof(what), "%s:%u", place_file(place), place->line);
		complain_of_format(marker, what, format);
		return NULL;
	}
	return marker;
}

static void place_connect(void *value)
{
	struct marker_place *place = container_of(value, struct marker_place, on);
	char *name;

	/* One that was inlined or unrolled comes once for each site. */
	if (place->list.next)
		return;

	name = kasprintf(GFP_KERNEL, "%s:%s", place_subsystem(place), place_event(place));
	if (name)
		place->marker = marker_of_place(place, name);
	kfree(name);

	list_add_tail(&place->list, place->marker ? &place->marker->places : &refused_places);
	WRITE_ONCE(place->on, place->marker && probes_of(place->marker));
}

/*
 * Have a marker's places call other probes than before; the commit, of all that have
 * changed, is up to who has a batch.
 */
static int probes_set(struct marker *marker, struct marker_probes *probes)
{
	struct marker_place *place;

	rcu_assign_pointer(marker->probes, probes);
	list_for_each_entry(place, &marker->places, list)
		WRITE_ONCE(place->on, !!probes);
	return batching == current ? 0 : inline_sites_commit();
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
	new->probe[nr] = (struct marker_probe) { .func = func, .private = private };

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
	/* If places cannot be switched off, they find no probes. */
	probes_set(marker, new);
	kfree_rcu(old, rcu);
	return 0;
}

/* SUBSYSTEM:EVENT, as they can be in the source */
static bool name_is_good(const char *name)
{
	const char *colon = strchr(name, ':'), *c;

	if (!colon || colon == name || !colon[1])
		return false;
	for (c = name; *c; c++) {
		if (c != colon && !isalnum(*c) && *c != '_')
			return false;
	}
	return true;
}

/**
 * marker_probe_register - connect a probe to a marker
 * @name: of the marker, "subsystem:event". If it is not there yet, the probe is
 *	connected when it comes, with its module.
 * @format: of the marker, to the letter
 * @probe: what to call
 * @private: for the probe
 *
 * When this returns, every place of the marker calls the probe. It may be called
 * before. Probes are called in the order in which they were registered.
 *
 * The probe's module may go at any time: its probes are unregistered then, with a
 * message. It is better to do that in its exit function.
 *
 * Context: process context, sleeps.
 *
 * Return: 0; with nothing changed -EINVAL with a message if the format is not the
 * marker's or no marker's, or the name is none; -EEXIST if this probe is registered
 * with this @private; -ENOMEM; -EWOULDBLOCK where one may not sleep, as in a probe.
 */
int marker_probe_register(const char *name, const char *format, marker_probe_func *probe,
			  void *private)
{
	struct marker *marker;
	int ret;

	if (!may_sleep())
		return -EWOULDBLOCK;
	if (!name_is_good(name) || format_args(format) < 0) {
		pr_err("marker: %s: probe %ps has \"%s\": not a marker's name and format, refused\n",
		       name, probe, format);
		return -EINVAL;
	}

	guard(mutex)(&marker_mutex);

	marker = marker_find(name);
	if (!marker)
		marker = marker_new(name, format);
	if (!marker)
		return -ENOMEM;
	if (strcmp(marker->format, format)) {
		char what[KSYM_NAME_LEN];

		snprintf(what, sizeof(what), "probe %ps", probe);
		complain_of_format(marker, what, format);
		return -EINVAL;
	}
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
 * Context: process context, sleeps.
 *
 * Return: 0; with nothing changed -ENOENT if it is not registered, or -EWOULDBLOCK
 * where one may not sleep, as in a probe.
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
 * marker_add_probe - marker_probe_register() for the tracing event of a marker
 * @marker: which
 * @probe: what to call
 * @private: for the probe
 *
 * Context: process context, sleeps.
 *
 * Return: as marker_probe_register().
 */
int marker_add_probe(struct marker *marker, marker_probe_func *probe, void *private)
{
	guard(mutex)(&marker_mutex);
	return probe_add(marker, probe, private);
}

/**
 * marker_remove_probe - marker_probe_unregister() for the tracing event of a marker
 * @marker: which
 * @probe: as it was added
 * @private: the same
 *
 * Context: process context, sleeps.
 *
 * Return: as marker_probe_unregister().
 */
int marker_remove_probe(struct marker *marker, marker_probe_func *probe, void *private)
{
	guard(mutex)(&marker_mutex);
	return probe_remove(marker, probe, private);
}

/**
 * marker_batch_begin - what this task connects and disconnects is one batch
 *
 * Context: process context, sleeps. One task at a time.
 */
void marker_batch_begin(void)
{
	guard(mutex)(&marker_mutex);
	WARN_ON_ONCE(batching);
	batching = current;
}

/**
 * marker_batch_end - have the batch take effect, in one run of the patcher
 *
 * Context: process context, sleeps.
 *
 * Return: 0, or -EINVAL with a message if places are not switched because the text of
 * one is not what it should be.
 */
int marker_batch_end(void)
{
	guard(mutex)(&marker_mutex);
	batching = NULL;
	return inline_sites_commit();
}

/**
 * marker_without_event - find a marker with places that has no event
 * @event: it gets this; from then on it stays, also without places and probes, until it
 *	gets none
 *
 * Context: process context, sleeps.
 *
 * Return: the marker, or NULL.
 */
struct marker *marker_without_event(void *event)
{
	struct marker *marker;
	unsigned int i;

	guard(mutex)(&marker_mutex);

	hash_for_each(markers, i, marker, node) {
		if (!marker->event && !list_empty(&marker->places)) {
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
 * marker_has_places - is a marker in the kernel or a module that is there?
 * @marker: which
 *
 * Context: process context, sleeps.
 *
 * Return: whether it is.
 */
bool marker_has_places(const struct marker *marker)
{
	guard(mutex)(&marker_mutex);
	return !list_empty(&marker->places);
}

static void show_place(struct seq_file *m, const struct marker_place *place)
{
	const char *state = !place->marker ? "refused" : place->on ? "on" : "off";
	seq_printf(m, "%s:%s %s %s:%u ", place_subsystem(place), place_event(place), state,
		   place_file(place), place->line);
	guard(preempt)();
	seq_printf(m, "[%s] ", module_name(__module_address((unsigned long)place)));
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
 * marker_show_all - list all markers, a place a line
 * @m: where
 *
 * Context: process context, sleeps.
 */
void marker_show_all(struct seq_file *m)
{
	struct marker_place *place;
	struct marker *marker;
	unsigned int i;

	guard(mutex)(&marker_mutex);

	hash_for_each(markers, i, marker, node) {
		list_for_each_entry(place, &marker->places, list) {
			show_place(m, place);
			show_format_and_probes(m, marker->format, probes_of(marker));
		}
		if (list_empty(&marker->places)) {
			seq_printf(m, "%s waiting - - ", marker->name);
			show_format_and_probes(m, marker->format, probes_of(marker));
		}
	}
	list_for_each_entry(place, &refused_places, list) {
		show_place(m, place);
		show_format_and_probes(m, place_format(place), NULL);
	}
}

static int __init marker_init(void)
{
	guard(mutex)(&marker_mutex);
	inline_sites_for_each(NULL, INLINE_VALUE_MARKER, place_connect);
	return inline_sites_commit();
}

/* After that of the inline sites: the order in which these are linked */
early_initcall(marker_init);

#ifdef CONFIG_MODULES
/* Their module goes; its text is not known any more, and not patched. */
static void place_disconnect(void *value)
{
	struct marker_place *place = container_of(value, struct marker_place, on);

	if (!place->list.next)
		return;
	list_del(&place->list);
	place->list.next = NULL;
	if (place->marker)
		free_if_unused(place->marker);
}

/* Take away a marker's probes that are functions of a module: how many? */
static unsigned int remove_probes_in(struct marker *marker, const struct module *mod)
{
	struct marker_probes *probes;
	unsigned int nr = 0, i = 0;

	while ((probes = probes_of(marker)) && i < probes->nr) {
		const struct marker_probe probe = probes->probe[i];

		if (!within_module((unsigned long)probe.func, mod)) {
			i++;
			continue;
		}
		pr_info("marker: %ps goes with %s: unregistered from %s\n", probe.func,
			mod->name, marker->name);
		probe_remove(marker, probe.func, probe.private);
		nr++;
	}
	return nr;
}

static void module_going(const struct module *mod)
{
	struct hlist_node *next;
	struct marker *marker;
	unsigned int nr = 0, i;

	mutex_lock(&marker_mutex);
	hash_for_each_safe(markers, i, next, marker, node) {
		nr += remove_probes_in(marker, mod);
		free_if_unused(marker);
	}
	inline_sites_for_each(mod, INLINE_VALUE_MARKER, place_disconnect);
	mutex_unlock(&marker_mutex);

	if (nr)
		marker_synchronize();
}

static int module_coming(const struct module *mod)
{
	int ret;

	mutex_lock(&marker_mutex);
	inline_sites_for_each(mod, INLINE_VALUE_MARKER, place_connect);
	ret = inline_sites_commit();
	mutex_unlock(&marker_mutex);

	/* Nobody else tells us then that it goes. */
	if (ret)
		module_going(mod);
	return ret;
}

static int module_notify(struct notifier_block *nb, unsigned long state, void *mod)
{
	int ret = 0;

	if (state == MODULE_STATE_COMING)
		ret = module_coming(mod);
	else if (state == MODULE_STATE_GOING)
		module_going(mod);
	return notifier_from_errno(ret);
}

/* After that of the inline sites, before that of the tracing events */
static struct notifier_block module_nb = {
	.notifier_call	= module_notify,
	.priority	= INT_MAX - 1,
};

static int __init modules_init(void)
{
	return register_module_notifier(&module_nb);
}
early_initcall(modules_init);
#endif /* CONFIG_MODULES */
