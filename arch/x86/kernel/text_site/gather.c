// SPDX-License-Identifier: GPL-2.0
/*
 * Gathered pokes: text that static keys and static calls have changed, many places at once; and
 * text that is written before anybody runs it.
 *
 * text_poke_bp_batch() goes over its locations in three passes, as patch.c does over sites.
 * Each text_poke() maps a page, changes to another mm and back, and takes some 800
 * instructions. What is written in a pass, and to be seen when it ends, is written through
 * one window here.
 */
#include <linux/bug.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include <asm/text_site.h>

#include "run.h"

/*
 * How many places are written at once, with interrupts off. With 192, switching all events
 * would take only a thirtieth less: opening the window is a small part of its cost.
 */
#define GATHER_MAX	40

/* What is not written yet, under text_mutex: nothing when that is taken or given up */
static struct {
	struct text_window	window;
	unsigned int		nr;
	struct {
		void	*addr;
		u8	*at;
		u8	len;
		u8	text[POKE_MAX_OPCODE_SIZE];
	} todo[GATHER_MAX];
} gathered;

/**
 * text_poke_gather - change text, at text_poke_gathered() at the latest
 * @addr: what is changed, above everything that is gathered
 * @src: what it is to be, copied
 * @len: in bytes, up to POKE_MAX_OPCODE_SIZE
 *
 * Context: process context, under text_mutex, which the caller holds until
 * text_poke_gathered().
 */
void text_poke_gather(void *addr, const void *src, size_t len)
{
	lockdep_assert_held(&text_mutex);

	if (!gathered.nr || gathered.nr == GATHER_MAX ||
	    !text_window_add(&gathered.window, (unsigned long)addr, len)) {
		text_poke_gathered();
		text_window_begin(&gathered.window);
		text_window_add(&gathered.window, (unsigned long)addr, len);
	}
	gathered.todo[gathered.nr].addr = addr;
	gathered.todo[gathered.nr].at = addr + gathered.window.distance;
	gathered.todo[gathered.nr].len = len;
	memcpy(gathered.todo[gathered.nr++].text, src, len);
}

/**
 * text_poke_gathered - all that text_poke_gather() was given is in the text
 *
 * Context: as text_poke_gather(). Interrupts are off for GATHER_MAX places at a time.
 */
void text_poke_gathered(void)
{
	unsigned int i;

	lockdep_assert_held(&text_mutex);

	if (!gathered.nr)
		return;
	text_window_map(&gathered.window);
	text_window_open(&gathered.window);
	for (i = 0; i < gathered.nr; i++)
		memcpy(gathered.todo[i].at, gathered.todo[i].text, gathered.todo[i].len);
	text_window_close(&gathered.window);
	text_window_unmap(&gathered.window);
	/* Breakpoints that stay will be noticed. */
	for (i = 0; i < gathered.nr; i++)
		WARN_ON(memcmp(gathered.todo[i].addr, gathered.todo[i].text,
			       gathered.todo[i].len));
	gathered.nr = 0;
}

/**
 * text_write - write text that nobody runs
 * @addr: where
 * @src: what
 * @len: how many bytes
 *
 * A CPU has to serialise before it runs that.
 *
 * Context: process context, sleeps, takes text_mutex. Interrupts are off for PAGE_SIZE bytes at
 * a time.
 */
void text_write(void *addr, const void *src, size_t len)
{
	struct text_window *window = &gathered.window;
	size_t part;

	guard(mutex)(&text_mutex);
	for (; len; addr += part, src += part, len -= part) {
		part = min(len, PAGE_SIZE);
		text_window_begin(window);
		text_window_add(window, (unsigned long)addr, part);
		text_window_map(window);
		text_window_open(window);
		memcpy(addr + window->distance, src, part);
		text_window_close(window);
		text_window_unmap(window);
	}
}
