/* SPDX-License-Identifier: GPL-2.0 */
/* Names: of many functions, in the order of their addresses */
#ifndef _FENTRY_NAMES_H
#define _FENTRY_NAMES_H

#include <linux/kallsyms.h>
#include <linux/types.h>

struct mod_kallsyms;
struct text_site;
struct text_site_table;

/**
 * struct fentry_symbols - which symbols the sites of a module belong to
 * @table: the module's; NULL: of no module
 * @generation: of tables, when it was looked at
 * @kallsyms: in which it was looked
 * @symbol: for each site the number of the symbol there, 0: there is none
 */
struct fentry_symbols {
	const struct text_site_table	*table;
	unsigned int			generation;
	const struct mod_kallsyms	*kallsyms;
	u32				*symbol;
};

/**
 * struct fentry_names - goes along the kernel's symbols, and those of modules
 * @chars: characters that a name has to have, see fentry_names_match()
 * @start: address of the symbol that was looked at last
 * @end: address of the next one
 * @tokens: of the first name at @start, in kallsyms_names; NULL: at the beginning
 * @end_tokens: of the first name at @end
 * @end_symbol: its number
 * @symbols: of the last module
 * @len: length of the last name
 * @name: the last name, behind its type
 */
struct fentry_names {
	u64		chars;
	unsigned long	start, end;
	const u8	*tokens, *end_tokens;
	unsigned int	end_symbol;
	struct fentry_symbols	symbols;
	unsigned int	len;
	char		name[1 + KSYM_SYMBOL_LEN];
};

void fentry_names_match(struct fentry_names *names, const char *glob);
const char *fentry_name(struct fentry_names *names, unsigned long ip);
const char *fentry_site_name(struct fentry_names *names, const struct text_site_table *table,
			     const struct text_site *site);
void fentry_names_free(struct fentry_names *names);

unsigned long fentry_symbol_offset(struct fentry_symbols *symbols,
				   const struct text_site_table *table,
				   const struct text_site *site);
void fentry_symbols_free(struct fentry_symbols *symbols);
void fentry_symbols_go(void);

#endif /* _FENTRY_NAMES_H */
