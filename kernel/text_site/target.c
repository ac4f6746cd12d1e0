// SPDX-License-Identifier: GPL-2.0
/*
 * Text site targets: what sites of a kind can hold, by id.
 */
#include <linux/slab.h>
#include <linux/text_site.h>

/**
 * text_target_reserve - have memory for a target
 * @kind: of which kind
 * @id: the target's
 *
 * The memory stays for good: ids are what the breakpoint handler follows.
 *
 * Context: may sleep, under the lock of the kind's owner.
 *
 * Return: 0, or -ENOMEM.
 */
int text_target_reserve(struct text_site_kind *kind, u32 id)
{
	struct text_target **page = &kind->pages[id / TEXT_TARGET_PAGE], *new;

	if (*page)
		return 0;

	new = kcalloc(TEXT_TARGET_PAGE, sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;

	/*
	 * A site gets an id in this page after the first sync of a batch, or with
	 * its table, by text_site_table_add(): both are after this, and before the
	 * breakpoint handler follows the id. So is a plain store, if the site's text
	 * stays as it is: x86 does not reorder stores.
	 */
	WRITE_ONCE(*page, new);
	return 0;
}
