/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_ASM_ORC_TYPES_H
#define _SHIM_ASM_ORC_TYPES_H

#define ORC_REG_UNDEFINED	0
#define ORC_REG_SP		1
#define ORC_TYPE_CALL		2

struct orc_entry {
	short	sp_offset;
	int	sp_reg, bp_reg, type;
};

#endif /* _SHIM_ASM_ORC_TYPES_H */
