// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate values: value sites that an imv_read() or imv_cond() has left.
 *
 * The values and their sites change under imv_mutex.
 */
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/immediate.h>
#include <linux/init.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/value_site.h>

extern struct text_site __start___value_sites[], __stop___value_sites[];
extern s32 __start___value_refs[];

static DEFINE_MUTEX(imv_mutex);

static struct text_site_kind imv_sites = {
	.name		= "immediate value",
	.insn		= &text_insn_value,
	.section	= TEXT_SECTION_VALUES,
	.refs		= TEXT_SECTION_VALUE_REFS,
	.reserved	= true,
	.lock		= &imv_mutex,
	.take		= value_sites_take,
	.coming		= value_sites_coming,
};

static void value_put(void *value, unsigned int size, u64 to)
{
	switch (size) {
	case 1:
		WRITE_ONCE(*(u8 *)value, to);
		break;
	case 2:
		WRITE_ONCE(*(u16 *)value, to);
		break;
	case 4:
		WRITE_ONCE(*(u32 *)value, to);
		break;
	default:
		WRITE_ONCE(*(u64 *)value, to);
	}
}

static bool is_value(const void *value, const void *which)
{
	return value == which;
}

/* See imv_set(). */
int __imv_set(void *value, unsigned int size, u64 to)
{
	u64 was;
	int ret;

	guard(mutex)(&imv_mutex);

	was = value_get(value, ilog2(size));
	value_put(value, size, to);
	ret = value_sites_commit(&imv_sites, is_value, value);
	if (ret)
		value_put(value, size, was);
	return ret;
}
EXPORT_SYMBOL_GPL(__imv_set);

/* See imv_assign(). */
void __imv_assign(void *value, unsigned int size, u64 to)
{
	/* Not while a commit writes the value into text */
	guard(mutex)(&imv_mutex);

	value_put(value, size, to);
}
EXPORT_SYMBOL_GPL(__imv_assign);

int imv_commit(void)
{
	guard(mutex)(&imv_mutex);

	return value_sites_commit(&imv_sites, NULL, NULL);
}
EXPORT_SYMBOL_GPL(imv_commit);

/* Other CPUs come up after this, and text becomes read-only. */
static int __init imv_init(void)
{
	return text_site_kind_init(&imv_sites, __start___value_sites, __stop___value_sites,
				   __start___value_refs);
}
early_initcall(imv_init);
