// SPDX-License-Identifier: GPL-2.0
/*
 * The names and types of a traced function's arguments, and the type of what it returns, by BTF.
 *
 * To find a function in BTF, all of its types are looked at. What was found, or that nothing
 * was, is kept for some functions.
 */
#include <linux/btf.h>
#include <linux/err.h>
#include <linux/errname.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "func_args.h"
#include "trace_btf.h"

#define KNOWN_BITS	10

/**
 * struct known - a function that was looked for
 * @ip: its site, 0: none
 * @btf: where its type is, with a reference; NULL: it has none
 * @proto: its type
 */
static struct known {
	unsigned long		ip;
	struct btf		*btf;
	const struct btf_type	*proto;
} known[1 << KNOWN_BITS];

static DEFINE_MUTEX(known_mutex);	/* known[] */

static void forget(struct known *func)
{
	if (func->btf)
		btf_put(func->btf);
	*func = (struct known) { };
}

/* Another function of this name, in another module, may have other arguments. */
static bool is_of(const struct btf *btf, const char *modname)
{
	return *modname ? btf_is_module(btf) && !strcmp(btf_get_name(btf), modname) :
			  !btf_is_module(btf);
}

/*
 * The kernel verifies that modifiers in a module's BTF lead to a type, but not that the type
 * of a function refers to types that are there, nor that an integer has a size.
 */
static bool type_is_whole(const struct btf *btf, u32 id)
{
	const struct btf_type *type;

	if (!btf_type_by_id(btf, id))
		return false;
	type = btf_type_skip_modifiers(btf, id, NULL);
	return !btf_type_is_int(type) || type->size;
}

static bool is_whole(const struct btf *btf, const struct btf_type *proto)
{
	const struct btf_param *param = btf_params(proto);
	bool whole = type_is_whole(btf, proto->type);

	for (unsigned int i = 0; whole && i < btf_type_vlen(proto); i++)
		whole = type_is_whole(btf, param[i].type);
	return whole;
}

static void find(struct known *func, unsigned long ip)
{
	char name[KSYM_NAME_LEN], modname[MODULE_NAME_LEN] = "", *mod = NULL;
	const struct btf_type *proto;
	struct btf *btf;

	func->ip = ip;
	/* A module's name is valid inside of this. */
	scoped_guard(rcu) {
		if (!kallsyms_lookup(ip, NULL, NULL, &mod, name))
			return;
		if (mod)
			strscpy(modname, mod);
	}
	proto = btf_find_func_proto(name, &btf);
	if (IS_ERR_OR_NULL(proto))
		return;
	if (!is_of(btf, modname) || !is_whole(btf, proto)) {
		btf_put(btf);
		return;
	}
	func->btf = btf;
	func->proto = proto;
}

/* With a sign, if it can have one. */
static bool is_signed(const struct btf_type *type)
{
	return btf_type_is_int(type) ? btf_type_is_signed_int(type) : btf_type_kflag(type);
}

/* A caller, or who returns, sets only the low bytes of a register. */
static long extended(const struct btf_type *type, unsigned long word)
{
	const unsigned int unused = BITS_PER_LONG - 8 * type->size;

	return is_signed(type) ? (long)(word << unused) >> unused : word << unused >> unused;
}

static void print_int(struct trace_seq *s, const struct btf_type *type, unsigned long arg)
{
	if (btf_type_is_int(type) && (btf_int_encoding(type) & BTF_INT_BOOL))
		trace_seq_puts(s, (u8)arg ? "true" : "false");
	else
		trace_seq_printf(s, is_signed(type) ? "%ld" : "%lu", extended(type, arg));
}

static unsigned int print_struct(struct trace_seq *s, const struct btf_type *type,
				 const unsigned long *args, unsigned int nr)
{
	const unsigned int words = DIV_ROUND_UP(type->size, sizeof(long));

	/* A larger one is on the stack, which is not recorded. */
	if (words > 2 || words > nr) {
		trace_seq_puts(s, "{...}");
		return 0;
	}
	trace_seq_putc(s, '{');
	for (unsigned int i = 0; i < words; i++) {
		const unsigned int size = min(type->size - i * sizeof(long), sizeof(long));

		trace_seq_printf(s, "%s0x%lx", i ? ", " : "",
				 args[i] & (~0ul >> (BITS_PER_LONG - 8 * size)));
	}
	trace_seq_putc(s, '}');
	return words;
}

/* One argument, of which @nr words can be in registers. Returns how many are. */
static unsigned int print_arg(struct trace_seq *s, const struct btf_type *type,
			      const unsigned long *args, unsigned int nr)
{
	switch (type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN) {
	case BTF_KIND_INT:
		if (type->size > sizeof(long))
			return print_struct(s, type, args, nr);
		fallthrough;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		print_int(s, type, args[0]);
		return 1;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return print_struct(s, type, args, nr);
	case BTF_KIND_FLOAT:
		/* It is in another kind of register, which is not recorded. */
		trace_seq_puts(s, "{...}");
		return 0;
	default:
		trace_seq_printf(s, "0x%lx", args[0]);
		return 1;
	}
}

/* A type without its modifiers, NULL: it is void */
static const struct btf_type *type_of(const struct known *func, u32 id)
{
	return id ? btf_type_skip_modifiers(func->btf, id, NULL) : NULL;
}

/* A number of at most a word, or an address; or nothing */
static bool is_word(const struct btf_type *type)
{
	if (!type || btf_type_is_ptr(type))
		return true;
	return (btf_type_is_int(type) || btf_is_any_enum(type)) && type->size <= sizeof(long);
}

/*
 * Each architecture passes words in one register each. How it passes anything else, and where to
 * it returns that, is known here of x86-64 only.
 */
static bool registers_are_known(const struct known *func)
{
	const struct btf_param *param = btf_params(func->proto);
	bool words = is_word(type_of(func, func->proto->type));

	if (IS_ENABLED(CONFIG_X86_64))
		return true;
	for (unsigned int i = 0; words && i < btf_type_vlen(func->proto); i++)
		words = is_word(type_of(func, param[i].type));
	return words;
}

/* Then the first register has the address where the function stores what it returns. */
static bool returns_in_memory(const struct known *func)
{
	const struct btf_type *type = type_of(func, func->proto->type);

	return type && btf_type_is_struct(type) && type->size > 2 * sizeof(long);
}

static void print_typed(struct trace_seq *s, const struct known *func, const unsigned long *args)
{
	const struct btf_param *param = btf_params(func->proto);
	unsigned int used = returns_in_memory(func);

	for (unsigned int i = 0; i < btf_type_vlen(func->proto); i++) {
		const struct btf_type *type = type_of(func, param[i].type);
		const char *name = btf_name_by_offset(func->btf, param[i].name_off);

		if (i)
			trace_seq_puts(s, ", ");
		/* Further arguments, and variable ones, are not recorded. */
		if (used == FUNC_ARGS || !param[i].type) {
			trace_seq_puts(s, "...");
			return;
		}
		if (name && *name)
			trace_seq_printf(s, "%s=", name);
		used += print_arg(s, type, args + used, FUNC_ARGS - used);
	}
}

/* The function of a site, under known_mutex; without BTF, nothing is known of it. */
static const struct known *look_up(unsigned long ip)
{
	struct known *func = &known[hash_long(ip, KNOWN_BITS)];

	if (func->ip != ip) {
		forget(func);
		find(func, ip);
	}
	return func;
}

/**
 * func_args_print_typed - print a function's arguments as BTF has them
 * @s: where to
 * @ip: the function's site
 * @args: FUNC_ARGS words, as they were in registers
 *
 * Context: process context, sleeps.
 * Return: whether BTF has the function, and it is known which argument is in which register; if
 * not, nothing is printed.
 */
bool func_args_print_typed(struct trace_seq *s, unsigned long ip, const unsigned long *args)
{
	const struct known *func;

	guard(mutex)(&known_mutex);
	func = look_up(ip);
	if (!func->btf || !registers_are_known(func))
		return false;
	print_typed(s, func, args);
	return true;
}

/* An error as a number, with its name */
static void print_error(struct trace_seq *s, long error)
{
	const char *name = errname(-error);

	trace_seq_printf(s, "%ld", error);
	if (name)
		trace_seq_printf(s, " (%s)", name);
}

static void print_value(struct trace_seq *s, const struct btf_type *type, unsigned long value)
{
	const bool is_ptr = btf_type_is_ptr(type);
	long error = 0;

	/* Only one register is recorded, which on x86-64 has a small structure, too. */
	if (!is_word(type) && !(IS_ENABLED(CONFIG_X86_64) && btf_type_is_struct(type) &&
				type->size <= sizeof(long))) {
		trace_seq_puts(s, "{...}");
		return;
	}
	if (is_ptr)
		error = value;
	else if ((btf_type_is_int(type) || btf_is_any_enum(type)) && is_signed(type))
		error = extended(type, value);
	if (IS_ERR_VALUE(error))
		print_error(s, error);
	else
		print_arg(s, type, &value, 1);
}

/**
 * func_value_print_typed - print what a function has returned, by its type in BTF
 * @s: where to
 * @ip: the function's site
 * @value: the word, as it was in a register
 *
 * Context: process context, sleeps.
 * Return: whether BTF has the function; if not, nothing is printed.
 */
bool func_value_print_typed(struct trace_seq *s, unsigned long ip, unsigned long value)
{
	const struct btf_type *type;
	const struct known *func;

	guard(mutex)(&known_mutex);
	func = look_up(ip);
	type = func->btf ? type_of(func, func->proto->type) : NULL;
	if (type)
		print_value(s, type, value);
	return type;
}

/**
 * func_is_void_typed - does a function return no value, by BTF?
 * @ip: the function's site
 *
 * Context: process context, sleeps.
 * Return: false also if BTF does not have the function
 */
bool func_is_void_typed(unsigned long ip)
{
	const struct known *func;

	guard(mutex)(&known_mutex);
	func = look_up(ip);
	return func->btf && !func->proto->type;
}

#ifdef CONFIG_MODULES
/*
 * A new module's functions may have the addresses of functions that are gone: no notifier
 * is called when init text is freed. Its BTF is there by now, and nothing of it has run. When
 * a module goes, the references to its BTF go, too.
 */
static int module_notify(struct notifier_block *nb, unsigned long state, void *mod)
{
	if (state == MODULE_STATE_COMING || state == MODULE_STATE_GOING) {
		guard(mutex)(&known_mutex);
		for (int i = 0; i < ARRAY_SIZE(known); i++)
			forget(&known[i]);
	}
	return NOTIFY_OK;
}

static struct notifier_block module_nb = {
	.notifier_call	= module_notify,
	.priority	= -1,	/* after that of BTF */
};

static int __init func_args_btf_init(void)
{
	return register_module_notifier(&module_nb);
}
fs_initcall(func_args_btf_init);
#endif
