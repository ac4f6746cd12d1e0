// SPDX-License-Identifier: GPL-2.0
/*
 * Functions to be traced. This is compiled twice, with NAME(x) x_sites and x_plain: once the
 * compiler makes a site at each function's entry, as in the kernel, and once it does not.
 */
#include <linux/compiler.h>
#include <linux/types.h>

#include "hot.h"

#define WORDS	64	/* at most, in a text */
#define SLOTS	256

struct word {
	const char	*start;
	unsigned int	len;
	unsigned int	seen;
};

static struct word words[WORDS];
static struct word *table[SLOTS];
static unsigned int nr_words;

noinline unsigned long NAME(traced)(unsigned long a, unsigned long b)
{
	return a + b;
}

static noinline unsigned int hash(const char *start, unsigned int len)
{
	unsigned int sum = 5381;

	while (len--)
		sum = sum * 33 + *start++;
	return sum;
}

static noinline bool same(const struct word *word, const char *start, unsigned int len)
{
	if (word->len != len)
		return false;
	for (unsigned int i = 0; i < len; i++) {
		if (word->start[i] != start[i])
			return false;
	}
	return true;
}

static noinline bool is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

static noinline struct word **find(const char *start, unsigned int len)
{
	unsigned int slot = hash(start, len) % SLOTS;

	while (table[slot] && !same(table[slot], start, len))
		slot = (slot + 1) % SLOTS;
	return &table[slot];
}

static noinline void count(const char *start, unsigned int len)
{
	struct word **slot = find(start, len);

	if (!*slot) {
		if (nr_words == WORDS)
			return;
		*slot = &words[nr_words++];
		**slot = (struct word){ start, len, 0 };
	}
	(*slot)->seen++;
}

static noinline bool less(const struct word *a, const struct word *b)
{
	return a->seen < b->seen;
}

static noinline void swap(struct word *a, struct word *b)
{
	struct word was = *a;

	*a = *b;
	*b = was;
}

static noinline void sink(unsigned int at, unsigned int nr)
{
	while (2 * at + 1 < nr) {
		unsigned int child = 2 * at + 1;

		if (child + 1 < nr && less(&words[child], &words[child + 1]))
			child++;
		if (!less(&words[at], &words[child]))
			return;
		swap(&words[at], &words[child]);
		at = child;
	}
}

static noinline void sort(void)
{
	for (unsigned int i = nr_words / 2; i--;)
		sink(i, nr_words);
	for (unsigned int i = nr_words; i-- > 1;) {
		swap(&words[0], &words[i]);
		sink(0, i);
	}
}

noinline unsigned int NAME(hot)(const char *text)
{
	nr_words = 0;
	for (unsigned int i = 0; i < SLOTS; i++)
		table[i] = NULL;

	while (*text) {
		const char *start = text;

		while (is_letter(*text))
			text++;
		if (text > start)
			count(start, text - start);
		else
			text++;
	}
	sort();
	return words[nr_words - 1].seen;
}
