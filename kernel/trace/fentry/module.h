/* SPDX-License-Identifier: GPL-2.0 */
/* Function entries that come and go with their text */
#ifndef _FENTRY_MODULE_H
#define _FENTRY_MODULE_H

int fentry_tables_init(void);

#endif /* _FENTRY_MODULE_H */
