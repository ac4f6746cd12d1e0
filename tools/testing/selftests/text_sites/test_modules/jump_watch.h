/* SPDX-License-Identifier: GPL-2.0 */
/* What jump_watch has for other modules */
#ifndef _JUMP_WATCH_H
#define _JUMP_WATCH_H

struct module;

int jump_watch_target(void);
void jump_watch(struct module *mod, int (*call)(void));

#endif /* _JUMP_WATCH_H */
