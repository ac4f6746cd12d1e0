// SPDX-License-Identifier: GPL-2.0
/*
 * Commands: the words of a filter file, "pattern" and "pattern:command:...".
 *
 * "mod" narrows the pattern down to a module. Others register themselves.
 */

#include "command.h"
#include "filter.h"
#include "ops.h"
#include "waiting.h"

static LIST_HEAD(commands);
static DEFINE_MUTEX(commands_mutex);

static struct ftrace_func_command *command_find(const char *name)
{
	struct ftrace_func_command *cmd;

	lockdep_assert_held(&commands_mutex);
	list_for_each_entry(cmd, &commands, list) {
		if (!strcmp(cmd->name, name))
			return cmd;
	}
	return NULL;
}

/**
 * register_ftrace_command - add a command for filter files
 * @cmd: the command; its name is found by strcmp()
 *
 * Return: 0, or -EBUSY if there is one of that name.
 */
int __init register_ftrace_command(struct ftrace_func_command *cmd)
{
	guard(mutex)(&commands_mutex);
	if (command_find(cmd->name))
		return -EBUSY;
	list_add(&cmd->list, &commands);
	return 0;
}

/**
 * unregister_ftrace_command - remove a command for filter files
 * @cmd: has the command's name
 *
 * Return: 0, or -ENODEV if there is none of that name.
 */
int __init unregister_ftrace_command(struct ftrace_func_command *cmd)
{
	struct ftrace_func_command *found;

	guard(mutex)(&commands_mutex);
	found = command_find(cmd->name);
	if (!found)
		return -ENODEV;
	list_del_init(&found->list);
	return 0;
}

/* A @module of NULL, as in "pattern:mod", stands for any. */
static int mod_command(struct trace_array *tr, struct fentry_filter **filter,
		       const char *func, const char *module, bool is_notrace)
{
	int ret;

	if (!tr)
		return -ENODEV;

	guard(mutex)(&ftrace_lock);
	ret = fentry_match(filter, func, module);
	if (ret != -EINVAL || !module)
		return ret;
	/* The module may still come. */
	return fentry_waiting_change(tr, func, module, is_notrace);
}

/*
 * Do what a word of a filter file says: change *@filter, which is not in use, or run
 * a command in @tr, which may be NULL. Writes to @word. Returns 0, -EINVAL if no
 * function matches or there is no such command, -ENOMEM, or the error of the command.
 */
int fentry_command(struct trace_array *tr, struct fentry_filter **filter, char *word,
		   bool is_notrace)
{
	struct ftrace_func_command *cmd;
	char *func = strsep(&word, ":");
	char *name = strsep(&word, ":");

	if (!name) {
		guard(mutex)(&ftrace_lock);
		return fentry_match(filter, func, NULL);
	}
	if (!strcmp(name, "mod"))
		return mod_command(tr, filter, func, word, is_notrace);

	guard(mutex)(&commands_mutex);
	cmd = command_find(name);
	return cmd ? cmd->func(tr, &(*filter)->hash, func, name, word, !is_notrace) : -EINVAL;
}
