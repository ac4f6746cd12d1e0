/* SPDX-License-Identifier: GPL-2.0 */
/* Freed functions: names of functions of modules whose text is gone */
#ifndef _FENTRY_FREED_H
#define _FENTRY_FREED_H

#include <linux/types.h>

struct fentry_filter;
struct module;

void fentry_keep_symbols(struct module *mod, const struct fentry_filter *gone);
void fentry_drop_symbols(struct module *mod);
bool fentry_freed_nth(unsigned int *n, unsigned long *value, char *name, char *module_name);

#endif /* _FENTRY_FREED_H */
