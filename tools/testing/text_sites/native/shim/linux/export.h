/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_EXPORT_H
#define _SHIM_LINUX_EXPORT_H

#define EXPORT_SYMBOL_GPL(_symbol)	extern typeof(_symbol) _symbol

#endif /* _SHIM_LINUX_EXPORT_H */
