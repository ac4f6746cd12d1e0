// SPDX-License-Identifier: GPL-2.0
/*
 * A window onto text: some pages of it mapped writable, in a page table that no CPU has,
 * but for the one that writes, while its interrupts are off.
 *
 * It lies in the mm of text_poke(), around the two pages that one uses, and under
 * the same lock: text_mutex. The page table is there since boot and stays: opening
 * cannot fail.
 */
#include <linux/highmem.h>
#include <linux/kernel.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include <asm/text-patching.h>
#include <asm/tlbflush.h>

#include "run.h"

/* The page of a site's text. There is one: the text has been verified. */
static struct page *text_page(unsigned long addr)
{
	/* virt_to_page() is not traced: a traced function may trap in the middle of a batch. */
	return addr < MODULES_VADDR ? virt_to_page((void *)addr) : vmalloc_to_page((void *)addr);
}

/* Begin to lay out a window. */
void text_window_begin(struct text_window *window)
{
	window->nr = 0;
	window->last = 0;	/* there is no text */
}

/*
 * Have a window, begun and not mapped, include the pages of a site that is not in its last
 * page alone. Return: false if the window is full.
 */
bool text_window_extend(struct text_window *window, unsigned long addr, unsigned int size)
{
	const unsigned long pages[] = {
		addr >> PAGE_SHIFT, (addr + size - 1) >> PAGE_SHIFT,
	};
	unsigned int i;

	/* Room for two: a site that is in both finds one beside the other. */
	if (window->nr + ARRAY_SIZE(pages) > TEXT_WINDOW_PAGES)
		return false;

	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		if (window->last != pages[i]) {
			window->page[window->nr++] = pages[i];
			window->last = pages[i];
		}
	}
	window->distance = TEXT_WINDOW + (window->nr - 1) * PAGE_SIZE -
			   (window->last << PAGE_SHIFT);
	return true;
}

/*
 * Where the window is in its page table, which nobody else changes meanwhile. That is a page
 * table for user space, which may be in high memory.
 */
static pte_t *window_ptes_get(void)
{
	pmd_t *pmd = pmd_off(poking_mm, TEXT_WINDOW);

	if (IS_ENABLED(CONFIG_HIGHPTE))
		return kmap_local_page(pmd_page(*pmd));
	return pte_offset_kernel(pmd, TEXT_WINDOW);
}

static void window_ptes_put(pte_t *ptes)
{
	if (IS_ENABLED(CONFIG_HIGHPTE))
		kunmap_local(ptes);
}

/* Nobody can write anything until it is opened. Under text_mutex until text_window_unmap() */
void text_window_map(const struct text_window *window)
{
	const pgprot_t prot = __pgprot(pgprot_val(PAGE_KERNEL) & ~_PAGE_GLOBAL);
	pte_t *ptes = window_ptes_get();

	lockdep_assert(mutex_is_locked(&text_mutex));

	for (unsigned int i = 0; i < window->nr; i++)
		set_pte_at(poking_mm, TEXT_WINDOW + i * PAGE_SIZE, ptes + i,
			   mk_pte(text_page(window->page[i] << PAGE_SHIFT), prot));
	window_ptes_put(ptes);
}

/* Interrupts are off until text_window_close(). It can be opened again, on any CPU. */
void text_window_open(struct text_window *window)
{
	local_irq_save(window->irqs);
	window->prev = use_temporary_mm(poking_mm);
}

void text_window_close(struct text_window *window)
{
	/* What is to be written to it has been written before it goes. */
	barrier();
	unuse_temporary_mm(window->prev);
	local_irq_restore(window->irqs);
}

/*
 * No CPU has this mm any more, nor will before text_mutex is given up, or before there is
 * another window. The next one that has it drops what it knows of this one: no IPI.
 */
void text_window_unmap(struct text_window *window)
{
	pte_t *ptes = window_ptes_get();

	for (unsigned int i = 0; i < window->nr; i++)
		pte_clear(poking_mm, TEXT_WINDOW + i * PAGE_SIZE, ptes + i);
	window_ptes_put(ptes);
	flush_tlb_mm_range(poking_mm, TEXT_WINDOW, TEXT_WINDOW + window->nr * PAGE_SIZE,
			   PAGE_SHIFT, false);
}
