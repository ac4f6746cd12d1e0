/* SPDX-License-Identifier: GPL-2.0 */
/* hot.c, compiled with sites and without */
#ifndef _NATIVE_HOT_H
#define _NATIVE_HOT_H

/* Counts the words of a text and sorts them. Returns how often the most frequent is there. */
unsigned int hot_sites(const char *text);
unsigned int hot_plain(const char *text);

/* The least that a function does. It begins with a site. */
unsigned long traced_sites(unsigned long a, unsigned long b);
unsigned long traced_plain(unsigned long a, unsigned long b);

/* The addresses of all sites */
extern const unsigned long __start___mcount_loc[], __stop___mcount_loc[];

#endif /* _NATIVE_HOT_H */
