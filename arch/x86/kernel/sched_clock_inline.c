// SPDX-License-Identifier: GPL-2.0
/*
 * When may sched_clock() be read without calling it?
 */
#include <linux/init.h>

#include <asm/sched_clock_inline.h>

DEFINE_STATIC_KEY_FALSE_RO(sched_clock_is_tsc);

/*
 * By now the platform has chosen a clock: a paravirtual one, the time stamp counter or
 * jiffies. It does not change any more.
 */
static int __init sched_clock_inline_init(void)
{
	if (using_native_sched_clock() && static_key_enabled(&__use_tsc))
		static_branch_enable(&sched_clock_is_tsc);
	return 0;
}
core_initcall(sched_clock_inline_init);
