/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between markers and what their sites are: kernel/marker.c calls marker_sites_commit(), all
 * else is called by kernel/marker_text.c or kernel/marker_data.c.
 */
#ifndef _KERNEL_MARKER_H
#define _KERNEL_MARKER_H

#include <linux/marker.h>
#include <linux/mutex.h>

extern struct mutex marker_mutex;

/* A name and a format that sites can have, with as many arguments as it has? Or -EINVAL */
int marker_site_check(const struct marker_site *site);
/* Is it one, in a module's data, with all of its strings? */
bool marker_site_is_good(const struct module *mod, const struct marker_site *site);

/*
 * Under marker_mutex, while the site's code does not run, but for that of a module's parameters
 * when it goes. One of the kernel's, where @mod is NULL, always comes, even if it is refused.
 */
int marker_site_come(struct marker_site *site, const struct module *mod);
void marker_site_go(struct marker_site *site);

/* A module goes, and with it its probes */
void marker_probes_go(struct module *mod);

#ifdef CONFIG_TEXT_SITES
/* Have sites do what marker_site.on says: as value_sites_commit(), of one marker or of all */
int marker_sites_commit(const struct marker *marker);
#else
/* They do so by themselves. */
static inline int marker_sites_commit(const struct marker *marker) { return 0; }
#endif

#endif /* _KERNEL_MARKER_H */
