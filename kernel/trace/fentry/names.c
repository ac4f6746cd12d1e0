// SPDX-License-Identifier: GPL-2.0
/*
 * Names: of many functions, in the order of their addresses.
 *
 * kallsyms_lookup() searches for the symbol, and from the nearest marker for its name.
 * The kernel's symbols are sorted, as sites are, and so are their names: who asks for
 * the names of many sites in turn goes on from the one before.
 *
 * Those of a module are not sorted, and kallsyms goes over all of them for each address. So
 * it is noted for all sites of the module at once which symbol they belong to: for each
 * symbol, the first site behind it is found by binary search.
 */
#include <linux/module.h>
#include <linux/module_symbol.h>
#include <linux/slab.h>

#include "names.h"
#include "ops.h"
#include "set.h"
#include "../../kallsyms_internal.h"

/* The characters in each token, as char_bit() */
static u64 token_chars[256];

/* Some characters share a bit. */
static u64 char_bit(char c)
{
	return BIT_ULL(c % 64);
}

static const char *token_text(u8 token)
{
	return &kallsyms_token_table[kallsyms_token_index[token]];
}

/*
 * Only names that match a glob are of interest: fentry_name() may leave others out. It
 * does so, before it puts a name together, if that lacks a character of the glob.
 */
void fentry_names_match(struct fentry_names *names, const char *glob)
{
	const char *c;
	int i;

	for (i = 0; i < ARRAY_SIZE(token_chars); i++) {
		for (c = token_text(i); *c; c++)
			token_chars[i] |= char_bit(*c);
	}
	for (; *glob && *glob != '[' && *glob != '\\'; glob++) {
		if (*glob != '*' && *glob != '?')
			names->chars |= char_bit(*glob);
	}
}

/* The tokens of a name: in front is how many, in two bytes if there are many. */
static const u8 *tokens_begin(const u8 *tokens, unsigned int *nr)
{
	*nr = *tokens++;
	if (*nr & 0x80)
		*nr = (*nr & 0x7f) | *tokens++ << 7;
	return tokens;
}

/* To the next symbol with another address: of those with the same the first counts. */
static void names_next(struct fentry_names *names)
{
	unsigned int nr;

	names->start = names->end;
	names->tokens = names->end_tokens;
	do {
		names->end_tokens = tokens_begin(names->end_tokens, &nr);
		names->end_tokens += nr;
		names->end = ++names->end_symbol < kallsyms_num_syms ?
			     kallsyms_sym_address(names->end_symbol) : ULONG_MAX;
	} while (names->end == names->start);
}

/*
 * The name of a function, as kallsyms_lookup() says it: soon, if its address follows that
 * of the one before. Valid until another one is asked for. NULL if there is none.
 */
const char *fentry_name(struct fentry_names *names, unsigned long ip)
{
	const bool behind = names->tokens && ip >= names->start;
	char *to = names->name;
	unsigned int i, nr;
	const u8 *tokens;
	const char *c;
	u64 chars = 0;

	/* From a symbol of the kernel to _end, every address is the kernel's. */
	if (!(behind && ip < (unsigned long)_end) && !is_ksym_addr(ip)) {
		c = kallsyms_lookup(ip, NULL, NULL, NULL, names->name);
		names->len = c ? strlen(c) : 0;
		return c;
	}

	if (!behind) {
		names->end = kallsyms_sym_address(0);
		names->end_tokens = kallsyms_names;
		names->end_symbol = 0;
	}
	while (ip >= names->end)
		names_next(names);

	tokens = tokens_begin(names->tokens, &nr);
	for (i = 0; names->chars && i < nr; i++)
		chars |= token_chars[tokens[i]];
	if (names->chars & ~chars)
		return NULL;

	for (i = 0; i < nr; i++) {
		for (c = token_text(tokens[i]); *c; c++)
			*to++ = *c;
	}
	*to = '\0';
	names->len = to - names->name - 1;
	return names->name + 1;
}

/* Tables that have gone: what was noted before of any may be of another module's by now. */
static unsigned int generation;

/* A table of a module goes. Under ftrace_lock. */
void fentry_symbols_go(void)
{
	generation++;
}

/* Forget what was noted. */
void fentry_symbols_free(struct fentry_symbols *symbols)
{
	kvfree(symbols->symbol);
	*symbols = (struct fentry_symbols){};
}

/* When no more names are asked for */
void fentry_names_free(struct fentry_names *names)
{
	fentry_symbols_free(&names->symbols);
}

#ifdef CONFIG_MODULES
/* The number of the first site at @addr or behind it */
static unsigned int first_site_from(const struct text_site_table *table, unsigned long addr)
{
	unsigned int first = 0, end = table->nr;

	while (first < end) {
		const unsigned int mid = first + (end - first) / 2;

		if (text_site_addr(&table->sites[mid]) < addr)
			first = mid + 1;
		else
			end = mid;
	}
	return first;
}

/* Note for each site the last symbol before it: if several are there, the first of these. */
static void symbols_note(struct fentry_symbols *symbols, const struct mod_kallsyms *kallsyms)
{
	const struct text_site_table *table = symbols->table;
	const Elf_Sym *symtab = kallsyms->symtab;
	struct text_range text = {};
	u32 *symbol = symbols->symbol;
	unsigned int i, site;

	for (i = 1; i < kallsyms->num_symtab; i++) {
		const char *name = kallsyms->strtab + symtab[i].st_name;

		if (symtab[i].st_shndx == SHN_UNDEF || !*name || is_mapping_symbol(name))
			continue;
		site = first_site_from(table, symtab[i].st_value);
		if (site < table->nr && (!symbol[site] || symtab[i].st_value >
					 symtab[symbol[site]].st_value))
			symbol[site] = i;
	}

	/* Others belong to the one before, but not to one of another piece of text. */
	for (site = 0; site < table->nr; site++) {
		const unsigned long addr = text_site_addr(&table->sites[site]);

		if (addr < text.start || addr >= text.end)
			text_site_text(table, addr, &text);
		if (!symbol[site] && site)
			symbol[site] = symbol[site - 1];
		if (symtab[symbol[site]].st_value < text.start)
			symbol[site] = 0;
	}
}

/* Note the symbols of a table, unless they are noted. May sleep, under ftrace_lock. */
static void symbols_update(struct fentry_symbols *symbols, const struct text_site_table *table)
{
	if (symbols->table == table && symbols->generation == generation &&
	    symbols->kallsyms == rcu_access_pointer(table->mod->kallsyms))
		return;

	fentry_symbols_free(symbols);
	symbols->symbol = kvcalloc(table->nr, sizeof(*symbols->symbol), GFP_KERNEL_ACCOUNT);
	if (!symbols->symbol)
		return;
	guard(rcu)();
	symbols->table = table;
	symbols->generation = generation;
	symbols->kallsyms = rcu_dereference(table->mod->kallsyms);
	symbols_note(symbols, symbols->kallsyms);
}

/*
 * The symbol that a site belongs to, in *@kallsyms. After symbols_update(), in an RCU
 * read-side section: when initialisation ends, a module's symbols move, and the former
 * ones are freed a grace period later. NULL if they have just moved, if there was no memory
 * to note them, and if the site belongs to none.
 */
static const Elf_Sym *symbol_of(const struct fentry_symbols *symbols,
				const struct text_site_table *table, const struct text_site *site,
				const struct mod_kallsyms **kallsyms)
{
	u32 symbol;

	*kallsyms = rcu_dereference(table->mod->kallsyms);
	if (symbols->kallsyms != *kallsyms)
		return NULL;
	symbol = symbols->symbol[site - table->sites];
	return symbol ? &(*kallsyms)->symtab[symbol] : NULL;
}

/*
 * How far behind its symbol a module's site is, as kallsyms says it: ULONG_MAX if there is
 * no symbol. May sleep, under ftrace_lock.
 */
unsigned long fentry_symbol_offset(struct fentry_symbols *symbols,
				   const struct text_site_table *table,
				   const struct text_site *site)
{
	const unsigned long ip = text_site_addr(site);
	const struct mod_kallsyms *kallsyms;
	unsigned long size, offset;
	const Elf_Sym *symbol;

	symbols_update(symbols, table);
	guard(rcu)();
	symbol = symbol_of(symbols, table, site, &kallsyms);
	if (symbol)
		return ip - symbol->st_value;
	return kallsyms_lookup_size_offset(ip, &size, &offset) ? offset : ULONG_MAX;
}

/* NULL if kallsyms has to be asked */
static const char *module_site_name(struct fentry_names *names,
				    const struct text_site_table *table,
				    const struct text_site *site)
{
	const struct mod_kallsyms *kallsyms;
	const Elf_Sym *symbol;

	symbols_update(&names->symbols, table);
	guard(rcu)();
	symbol = symbol_of(&names->symbols, table, site, &kallsyms);
	if (!symbol)
		return NULL;
	/* A longer one is cut off, as kallsyms does it. */
	strscpy(names->name + 1, kallsyms->strtab + symbol->st_name, KSYM_NAME_LEN);
	names->len = strlen(names->name + 1);
	return names->name + 1;
}
#else
static const char *module_site_name(struct fentry_names *names,
				    const struct text_site_table *table,
				    const struct text_site *site)
{
	return NULL;
}
#endif

/* As fentry_name(), of a site, which may be in a module. May sleep, under ftrace_lock. */
const char *fentry_site_name(struct fentry_names *names, const struct text_site_table *table,
			     const struct text_site *site)
{
	const char *name = table->mod ? module_site_name(names, table, site) : NULL;

	return name ?: fentry_name(names, text_site_addr(site));
}
