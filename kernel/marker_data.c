// SPDX-License-Identifier: GPL-2.0
/*
 * Markers where no text is patched: each reads whether it is on, see <asm-generic/marker.h>.
 * This knows them by the pointers that the build has left, of the kernel and of modules.
 *
 * Switching one on or off is a store, which CPUs see when they see it; whoever needs to know
 * that a probe is not called any more has marker_synchronize(). That a site is on is but a
 * hint: what it calls is marker->probes, under RCU, which may have become NULL.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/text_site.h>

#include "marker.h"

EXPORT_SYMBOL_GPL(marker_call);

extern struct marker_site *__start___marker_refs[], *__stop___marker_refs[];

/* Early, as a probe may be registered in any initcall; the others come when it is there. */
static int __init marker_init(void)
{
	guard(mutex)(&marker_mutex);

	for (struct marker_site **site = __start___marker_refs; site < __stop___marker_refs; site++)
		marker_site_come(*site, NULL);
	return 0;
}
early_initcall(marker_init);

#ifdef CONFIG_MODULES
static int check_sites(const struct module *mod, struct marker_site *const *sites, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (!marker_site_is_good(mod, sites[i])) {
			pr_err("%s: %s refers to %pS, which is no marker\n", mod->name,
			       text_section_names[TEXT_SECTION_MARKER_REFS], sites[i]);
			return -EINVAL;
		}
		if (marker_site_check(sites[i]))
			return -EINVAL;
	}
	return 0;
}

/* Those that did not come are left as they are. */
static void sites_go(struct marker_site *const *sites, unsigned int nr)
{
	guard(mutex)(&marker_mutex);

	while (nr--)
		marker_site_go(sites[nr]);
}

static int sites_come(const struct module *mod, struct marker_site *const *sites, unsigned int nr)
{
	guard(mutex)(&marker_mutex);

	for (unsigned int i = 0; i < nr; i++) {
		int ret = marker_site_come(sites[i], mod);

		if (ret)
			return ret;
	}
	return 0;
}

/**
 * text_sites_module_coming - a module is in place and relocated
 * @mod: the module, whose state is MODULE_STATE_UNFORMED: nobody else sees it
 *
 * All of its markers are checked before any is connected.
 *
 * Context: process context, sleeps.
 *
 * Return: 0; or with a message and nothing to be undone -EINVAL if something is no marker, or
 * one that is refused; -ENOMEM.
 */
int text_sites_module_coming(struct module *mod)
{
	struct text_section *section = &mod->text_sites[TEXT_SECTION_MARKER_REFS];
	struct marker_site *const *sites = section->start;
	const unsigned int nr = section->size / sizeof(*sites);
	int ret;

	if (!section->size)
		return 0;
	ret = text_section_check(mod, TEXT_SECTION_MARKER_REFS, sizeof(*sites),
				 __alignof__(*sites)) ?:
	      check_sites(mod, sites, nr);
	if (!ret) {
		/* An event whose module has gone must not decide which format is right. */
		marker_events_forget();
		ret = sites_come(mod, sites, nr);
		if (ret)
			sites_go(sites, nr);
	}
	if (ret) {
		/* text_sites_module_going() is to believe nothing of it. */
		section->size = 0;
		pr_err("%s: not loaded (%d)\n", mod->name, ret);
	}
	return ret;
}

/**
 * text_sites_module_going - a module goes, or does not come
 * @mod: the module. Of its functions, those of its parameters (struct kernel_param_ops) and
 *	work that it has begun may still run; all others do not.
 *
 * A second call finds nothing left.
 *
 * Context: process context, sleeps.
 */
void text_sites_module_going(struct module *mod)
{
	const struct text_section *section = &mod->text_sites[TEXT_SECTION_MARKER_REFS];

	marker_probes_go(mod);
	sites_go(section->start, section->size / sizeof(struct marker_site *));
	marker_events_forget();
}
#endif /* CONFIG_MODULES */
