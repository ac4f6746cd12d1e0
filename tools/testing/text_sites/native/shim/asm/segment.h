/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_ASM_SEGMENT_H
#define _SHIM_ASM_SEGMENT_H

#define __KERNEL_CS		0x10
#define __KERNEL_DS		0x18

#endif /* _SHIM_ASM_SEGMENT_H */
