/* SPDX-License-Identifier: GPL-2.0 */
/* Names: of many functions, in the order of their addresses */
#ifndef _FENTRY_NAMES_H
#define _FENTRY_NAMES_H

#include <linux/kallsyms.h>
#include <linux/types.h>

/**
 * struct fentry_names - goes along the kernel's symbols
 * @chars: characters that a name has to have, see fentry_names_match()
 * @start: address of the symbol that was looked at last
 * @end: address of the next one
 * @tokens: of the first name at @start, in kallsyms_names; NULL: at the beginning
 * @end_tokens: of the first name at @end
 * @end_symbol: its number
 * @len: length of the last name
 * @name: the last name, behind its type
 */
struct fentry_names {
	u64		chars;
	unsigned long	start, end;
	const u8	*tokens, *end_tokens;
	unsigned int	end_symbol;
	unsigned int	len;
	char		name[1 + KSYM_SYMBOL_LEN];
};

void fentry_names_match(struct fentry_names *names, const char *glob);
const char *fentry_name(struct fentry_names *names, unsigned long ip);

#endif /* _FENTRY_NAMES_H */
