/* SPDX-License-Identifier: GPL-2.0 */
/* Between the parts of this program */
#ifndef _NATIVE_H
#define _NATIVE_H

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * struct row - something that is measured
 * @name: in the table
 * @prepare: before each run, not timed; NULL: nothing to be done
 * @run: what is timed: does it @nr times
 * @arg: for both of them
 */
struct row {
	char		name[64];
	void		(*prepare)(const struct row *row);
	void		(*run)(const struct row *row, unsigned long nr);
	unsigned long	arg;
};

/* Fewer runs of less each: to see that everything works */
extern bool in_short;

/*
 * Measures each of @rows in turn, doing it @nr times, and all of them again and again; prints
 * a table with what doing it once takes.
 */
void measure(const char *title, const struct row *rows, unsigned int nr_rows, unsigned long nr);

/* Ends the program: what was measured would be something else. */
__printf(1, 2) void __noreturn wrong(const char *format, ...);

/* The parts. They print, and measure what they have found right. */
void measure_trampolines(void);
void measure_ring_buffer(void);
void measure_nops(void);

/* Nanoseconds for each cycle of the time stamp counter, times 2^@shift */
u32 tsc_scale(u32 *shift);

#endif /* _NATIVE_H */
