/* SPDX-License-Identifier: GPL-2.0 */
/* What jump_watch has for other modules */
#ifndef _JUMP_WATCH_H
#define _JUMP_WATCH_H

#include <linux/jump_function.h>

struct module;

int jump_watch_target(void);
DECLARE_DYNFUNC(jump_watch_late, int (void));
int jump_watch(struct module *mod, int (*call)(void));

#endif /* _JUMP_WATCH_H */
