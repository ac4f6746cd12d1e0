// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting filters: what a filter file says of modules that are not loaded yet. It gets
 * into the instance's filter when its module comes. The lists are under ftrace_lock.
 */
#include <linux/glob.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "filter.h"
#include "ops.h"
#include "register.h"
#include "set.h"
#include "waiting.h"

static void request_free(struct ftrace_mod_load *request)
{
	list_del(&request->list);
	kfree(request->module);
	kfree(request->func);
	kfree(request);
}

static bool module_is_loaded(const char *pattern)
{
	char sym[MODULE_NAME_LEN + sizeof(":__this_module")];
	struct text_site_table *table;

	for_each_fentry_table(table) {
		if (table->mod && table->ready && glob_match(pattern, module_name(table->mod)))
			return true;
	}
	/* One without functions: every module has this symbol. */
	return snprintf(sym, sizeof(sym), "%s:__this_module", pattern) < sizeof(sym) &&
	       module_kallsyms_lookup_name(sym);
}

static int request_add(struct list_head *requests, const char *func, const char *module)
{
	struct ftrace_mod_load *request;

	if (module_is_loaded(module))
		return -EINVAL;
	request = kzalloc(sizeof(*request), GFP_KERNEL);
	if (!request)
		return -ENOMEM;

	list_add(&request->list, requests);
	request->func = kstrdup(func, GFP_KERNEL);
	request->module = kstrdup(module, GFP_KERNEL);
	if (request->func && request->module)
		return 0;
	request_free(request);
	return -ENOMEM;
}

/* @func "*": of any pattern, @module NULL: for any module */
static int request_remove(struct list_head *requests, const char *func, const char *module)
{
	struct ftrace_mod_load *request, *next;
	int ret = -EINVAL;

	list_for_each_entry_safe(request, next, requests, list) {
		if ((!module || !strcmp(request->module, module)) &&
		    (!strcmp(func, "*") || !strcmp(request->func, func))) {
			request_free(request);
			ret = 0;
		}
	}
	return ret;
}

/*
 * Has a pattern of functions wait for a module that matches @module, a glob, or with ! in
 * front wait no longer.
 * Returns 0, -ENOMEM, or -EINVAL if the module is loaded, and so had no such function, or
 * if nothing like it waits. Under ftrace_lock.
 */
int fentry_waiting_change(struct trace_array *tr, const char *func, const char *module,
			  bool is_notrace)
{
	struct list_head *requests = fentry_waiting(tr, is_notrace);

	return func[0] == '!' ? request_remove(requests, func + 1, module) :
				request_add(requests, func, module);
}

/* Drops all requests of a list: an instance's, under ftrace_lock, or the caller's own. */
void fentry_waiting_drop(struct list_head *requests)
{
	request_remove(requests, "*", NULL);
}

/* Moves all that waits in an instance to the caller's list @taken. */
void fentry_waiting_take(struct trace_array *tr, bool is_notrace, struct list_head *taken)
{
	guard(mutex)(&ftrace_lock);
	list_splice_init(fentry_waiting(tr, is_notrace), taken);
}

/* Restores what was taken, and drops what has been added since. */
void fentry_waiting_put_back(struct trace_array *tr, bool is_notrace, struct list_head *taken)
{
	struct list_head *requests = fentry_waiting(tr, is_notrace);

	guard(mutex)(&ftrace_lock);
	fentry_waiting_drop(requests);
	list_splice_init(taken, requests);
}

/* Drops all that waits in an instance. */
void fentry_waiting_clear(struct trace_array *tr, bool is_notrace)
{
	guard(mutex)(&ftrace_lock);
	fentry_waiting_drop(fentry_waiting(tr, is_notrace));
}

/* Puts what waits for a module into the instance's filter. After an error, it waits on. */
static int requests_run(struct trace_array *tr, const char *modname, bool is_notrace)
{
	struct fentry_filter *filter __free(kvfree) = NULL;
	struct list_head *requests = fentry_waiting(tr, is_notrace);
	struct ftrace_mod_load *request, *next;
	LIST_HEAD(here);
	int ret = 0;

	guard(mutex)(&tr->ops->func_hash->regex_lock);
	guard(mutex)(&ftrace_lock);

	filter = fentry_filter_copy(fentry_ops_hash(tr->ops, is_notrace));
	list_for_each_entry_safe(request, next, requests, list) {
		if (!glob_match(request->module, modname))
			continue;
		if (filter && ret != -ENOMEM)
			ret = fentry_match(&filter, request->func, modname);
		list_move_tail(&request->list, &here);
	}
	if (list_empty(&here))
		return 0;

	if (filter && !is_notrace && list_empty(requests))
		filter->hash.flags &= ~FTRACE_HASH_FL_MOD;
	/* -EINVAL: it has no such function. */
	ret = !filter || ret == -ENOMEM ? -ENOMEM :
	      fentry_ops_set_filter(tr->ops, no_free_ptr(filter), is_notrace, NULL);
	if (ret)
		list_splice(&here, requests);
	else
		fentry_waiting_drop(&here);
	return ret;
}

/* A module has come: puts what waits for it into the filters of all instances. */
void fentry_waiting_run(const char *modname)
{
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		for (int is_notrace = 0; is_notrace < 2; is_notrace++) {
			int ret = 0;

			if (!list_empty(fentry_waiting(tr, is_notrace)))
				ret = requests_run(tr, modname, is_notrace);
			if (ret)
				pr_warn("%s: its filter could not be set (%d)\n", modname, ret);
		}
	}
}
