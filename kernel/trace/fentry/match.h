/* SPDX-License-Identifier: GPL-2.0 */
/* Matching: which sites a user's pattern means */
#ifndef _FENTRY_MATCH_H
#define _FENTRY_MATCH_H

struct fentry_filter;

int fentry_match(struct fentry_filter **filter, const char *func, const char *module);

#endif /* _FENTRY_MATCH_H */
