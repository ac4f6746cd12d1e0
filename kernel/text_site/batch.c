// SPDX-License-Identifier: GPL-2.0
/*
 * Text site batches: change any number of sites in one run of the patcher.
 *
 * A batch is no list of its own. It is the sites that are marked pending, and
 * for each target a pending site may hold, the target it is to get (next); value
 * sites become what their values say. So preparing one needs no memory, and
 * nothing can fail once patching has begun.
 */
#include <linux/cpu.h>
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/text_site.h>

static void table_reset(struct text_site_table *table)
{
	table->first = table->nr;
	table->last = 0;
	table->nr_pending = 0;
}

/**
 * text_site_abort - forget the batch being prepared
 * @kind: of which kind
 *
 * No text has been touched, and none will be.
 *
 * Context: under the lock of the kind's owner.
 */
void text_site_abort(struct text_site_kind *kind)
{
	struct text_site_table *table;
	unsigned int i;

	for_each_text_site_table_of(kind, table) {
		for (i = table->first; i < table->last; i++)
			table->sites[i].state &= ~TEXT_SITE_PENDING;
		table_reset(table);
	}
}

/* Is the text of every pending site what its state says? */
static int batch_verify(struct text_site_kind *kind, unsigned int *pending)
{
	struct text_site_table *table;
	int ret = 0;

	*pending = 0;
	for_each_text_site_table_of(kind, table) {
		*pending += table->nr_pending;
		ret = ret ?: kind->insn->verify(table);
	}
	return ret;
}

/**
 * text_site_commit - switch every pending site to its next target
 * @kind: the sites of which kind
 *
 * Three synchronisations of all CPUs, however many sites; none if no site is
 * pending. All sites are checked before the first is touched.
 *
 * Context: process context, sleeps, takes cpu_hotplug_lock for reading and
 * text_mutex. Under the lock of the kind's owner, who has made every target with
 * an address callable and filled in @next of each target that a pending site
 * holds. Value sites have no targets; their values stay as they are meanwhile.
 *
 * Return: 0, or -EINVAL with a message if a site's text is not what it should
 * be; then no site has changed and none is pending.
 */
int text_site_commit(struct text_site_kind *kind)
{
	struct text_site_table *table;
	unsigned int pending;
	int ret;

	/*
	 * A CPU that comes up runs traced functions before it can take a
	 * breakpoint, and before it gets IPIs.
	 */
	cpus_read_lock();
	mutex_lock(&text_mutex);
	ret = batch_verify(kind, &pending);
	if (!ret && pending)
		arch_text_site_patch(kind);
	mutex_unlock(&text_mutex);
	cpus_read_unlock();

	if (ret) {
		text_site_abort(kind);
		return ret;
	}

	for_each_text_site_table_of(kind, table)
		table_reset(table);
	return 0;
}
