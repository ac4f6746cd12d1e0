// SPDX-License-Identifier: GPL-2.0
/*
 * Markers in text that is patched: each copy that the compiler has made of a trace_mark() is
 * a value site, which depends on whether the marker site is on.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/value_site.h>

#include "marker.h"

EXPORT_SYMBOL_GPL(__marker_call);

extern struct text_site __start___marker_sites[], __stop___marker_sites[];
extern s32 __start___marker_refs[];

static struct text_site_kind marker_sites;

static struct marker_site *site_of(const void *on)
{
	return container_of(on, struct marker_site, on);
}

static bool is_of(const void *on, const void *marker)
{
	return site_of(on)->marker == marker;
}

int marker_sites_commit(const struct marker *marker)
{
	return value_sites_commit(&marker_sites, marker ? is_of : NULL, marker);
}

#ifdef CONFIG_MODULES
/* Does what each value site of a module depends on belong to a marker site? */
static int check_module_sites(const struct text_site_table *table)
{
	struct text_site *site;

	for_each_text_site(site, table) {
		const void *on = value_site_value(table, site);

		if (value_site_log(table, site) || !marker_site_is_good(table->mod, site_of(on))) {
			pr_err("%s: %pS depends on %pS, which is no marker\n",
			       module_name(table->mod), (void *)text_site_addr(site), on);
			return -EINVAL;
		}
		if (marker_site_check(site_of(on)))
			return -EINVAL;
	}
	return 0;
}
#else
static int check_module_sites(const struct text_site_table *table)
{
	return 0;
}
#endif

static int markers_take(struct text_site_table *table)
{
	int ret = value_sites_take(table);

	if (ret || !table->mod)
		return ret;
	ret = check_module_sites(table);
	if (!ret)
		/* An event whose module has gone must not decide which format is right. */
		marker_events_forget();
	return ret;
}

/* The code does not run: its module goes, or does not come. */
static void markers_disconnect(const struct text_site_table *table)
{
	struct text_site *text;

	for_each_text_site(text, table)
		marker_site_go(site_of(value_site_value(table, text)));
}

static int markers_coming(struct text_site_table *table)
{
	struct text_site *text;
	int ret;

	for_each_text_site(text, table) {
		ret = marker_site_come(site_of(value_site_value(table, text)), table->mod);
		if (ret) {
			markers_disconnect(table);
			return ret;
		}
	}
	return value_sites_coming(table);
}

static void markers_going(struct module *mod, struct text_site_table *table)
{
	marker_probes_go(mod);
	if (table) {
		guard(mutex)(&marker_mutex);
		markers_disconnect(table);
	}
	marker_events_forget();
}

static struct text_site_kind marker_sites = {
	.name		= "marker",
	.insn		= &text_insn_value,
	.section	= TEXT_SECTION_MARKERS,
	.refs		= TEXT_SECTION_MARKER_REFS,
	.reserved	= true,
	.lock		= &marker_mutex,
	.take		= markers_take,
	.coming		= markers_coming,
	.going		= markers_going,
};

/* Other CPUs come up after this, and text becomes read-only. */
static int __init marker_init(void)
{
	return text_site_kind_init(&marker_sites, __start___marker_sites,
				   __stop___marker_sites, __start___marker_refs);
}
early_initcall(marker_init);
