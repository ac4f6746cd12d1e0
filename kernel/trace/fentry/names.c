// SPDX-License-Identifier: GPL-2.0
/*
 * Names: of many functions, in the order of their addresses.
 *
 * kallsyms_lookup() searches for the symbol, and from the nearest marker for its name.
 * The kernel's symbols are sorted, as sites are, and so are their names: who asks for
 * the names of many sites in turn goes on from the one before.
 */
#include <linux/kallsyms.h>

#include "names.h"
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
	char *to = names->name;
	unsigned int i, nr;
	const u8 *tokens;
	const char *c;
	u64 chars = 0;

	if (!is_ksym_addr(ip))
		return kallsyms_lookup(ip, NULL, NULL, NULL, names->name);

	if (!names->tokens || ip < names->start) {
		names->end = kallsyms_sym_address(0);
		names->end_tokens = kallsyms_names;
		names->end_symbol = 0;
		names_next(names);
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
