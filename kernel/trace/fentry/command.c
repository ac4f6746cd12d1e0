// SPDX-License-Identifier: GPL-2.0
/*
 * Commands: the words of a filter file, "pattern" and "pattern:command:...".
 *
 * "mod" narrows the pattern down to a module. Others register themselves.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fentry.h"
#include "filter.h"

static LIST_HEAD(commands);
static DEFINE_MUTEX(commands_mutex);

static struct ftrace_func_command *command_find(const char *name)
{
	struct ftrace_func_command *cmd;

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
	int ret = -EBUSY;

	mutex_lock(&commands_mutex);
	if (!command_find(cmd->name)) {
		list_add(&cmd->list, &commands);
		ret = 0;
	}
	mutex_unlock(&commands_mutex);
	return ret;
}

/**
 * unregister_ftrace_command - take a command for filter files away
 * @cmd: with the command's name
 *
 * Return: 0, or -ENODEV if there is none of that name.
 */
int __init unregister_ftrace_command(struct ftrace_func_command *cmd)
{
	struct ftrace_func_command *found;

	mutex_lock(&commands_mutex);
	found = command_find(cmd->name);
	if (found)
		list_del_init(&found->list);
	mutex_unlock(&commands_mutex);
	return found ? 0 : -ENODEV;
}

static int mod_command(struct trace_array *tr, struct fentry_filter **filter,
		       char *func, char *module, bool exclude)
{
	char *pattern;
	int ret;

	if (!tr)
		return -ENODEV;
	if (!module)
		return -EINVAL;

	/* Matching writes to it, and a request is to have it as it is. */
	pattern = kstrdup(func, GFP_KERNEL);
	if (!pattern)
		return -ENOMEM;

	ret = fentry_match(filter, pattern, module);
	kfree(pattern);
	if (!ret)
		return fentry_mod_request(tr, func, module, exclude);
	return ret < 0 ? ret : 0;
}

/**
 * fentry_command - do what a word of a filter file says
 * @tr: the instance, may be NULL
 * @filter: the filter, not in use; may be replaced
 * @text: the word; written to
 * @exclude: the file is about what not to trace
 *
 * Context: process context, sleeps, takes ftrace_lock.
 *
 * Return: 0, -EINVAL if no function matches or there is no such command,
 * -ENOMEM, or the error of the command.
 */
int fentry_command(struct trace_array *tr, struct fentry_filter **filter,
		   char *text, bool exclude)
{
	struct ftrace_func_command *cmd;
	char *func = strsep(&text, ":");
	char *name = strsep(&text, ":");
	int ret;

	if (!name) {
		ret = fentry_match(filter, func, NULL);
		return ret > 0 ? 0 : ret ?: -EINVAL;
	}

	if (!strcmp(name, "mod"))
		return mod_command(tr, filter, func, text, exclude);

	mutex_lock(&commands_mutex);
	cmd = command_find(name);
	ret = cmd ? cmd->func(tr, &(*filter)->hash, func, name, text, !exclude) : -EINVAL;
	mutex_unlock(&commands_mutex);
	return ret;
}
