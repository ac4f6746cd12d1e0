// SPDX-License-Identifier: GPL-2.0
/*
 * While it is loaded, recording is switched on again as soon as the buffer has been switched
 * off: before whoever does that has noted it anywhere else.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static int switch_back(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	tracing_on();
	return 0;
}

static struct kretprobe probe = {
	.kp.symbol_name	= "ring_buffer_record_off",
	.handler	= switch_back,
};

static int __init switch_back_init(void)
{
	return register_kretprobe(&probe);
}
module_init(switch_back_init);

static void __exit switch_back_exit(void)
{
	unregister_kretprobe(&probe);
}
module_exit(switch_back_exit);

MODULE_DESCRIPTION("Test of recording that is switched on and off at the same time");
MODULE_LICENSE("GPL");
