/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SIZES_H
#define _SHIM_LINUX_SIZES_H

#define SZ_64K		0x10000

#endif /* _SHIM_LINUX_SIZES_H */
