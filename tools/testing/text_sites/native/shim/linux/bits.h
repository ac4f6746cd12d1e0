/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_BITS_H
#define _SHIM_LINUX_BITS_H

#define BITS_PER_LONG		64
#define BIT(_nr)		(1UL << (_nr))
#define GENMASK(_high, _low)	((BIT((_high) + 1) - 1) & ~(BIT(_low) - 1))

#endif /* _SHIM_LINUX_BITS_H */
