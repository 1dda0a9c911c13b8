// SPDX-License-Identifier: GPL-2.0-only
/*
 * The handlers that other modules have registered (fkt/handler.h). A table of instruments has a reference to each of
 * its handlers and to the module that it is in, from before the first hit until after the last: until no probe uses
 * the table any more. So unloading a module whose handler is in use is refused, rather than made to wait: a recording
 * may go on for days, and rmmod says at once that the module is in use.
 */

#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "handlers.h"

struct fkt_handler {
	struct list_head list;
	char name[FKT_HANDLER_NAME_BYTES];
	fkt_handler_fn function;
	struct module *owner;
	unsigned int users; /* instruments */
};

/* `lock` protects the list and its handlers. */
static LIST_HEAD(handlers);
static DEFINE_MUTEX(lock);

static struct fkt_handler *find(const char *name)
{
	struct fkt_handler *handler;

	list_for_each_entry(handler, &handlers, list)
		if (!strcmp(handler->name, name))
			return handler;
	return NULL;
}

static bool is_name(const char *name)
{
	const size_t length = strnlen(name, FKT_HANDLER_NAME_BYTES);
	size_t i;

	for (i = 0; i < length; i++)
		if (!isalnum(name[i]) && name[i] != '_')
			return false;
	return length && length < FKT_HANDLER_NAME_BYTES;
}

/* See fkt/handler.h. */
int fkt_register_handler(const char *name, fkt_handler_fn function, struct module *owner)
{
	struct fkt_handler *handler;
	int err = 0;

	if (!is_name(name) || !function)
		return -EINVAL;
	handler = kzalloc(sizeof(*handler), GFP_KERNEL);
	if (!handler)
		return -ENOMEM;
	strscpy(handler->name, name, sizeof(handler->name));
	handler->function = function;
	handler->owner = owner;
	mutex_lock(&lock);
	if (find(name))
		err = -EEXIST;
	else
		list_add(&handler->list, &handlers);
	mutex_unlock(&lock);
	if (err)
		kfree(handler);
	return err;
}
EXPORT_SYMBOL_GPL(fkt_register_handler);

/* See fkt/handler.h. */
int fkt_unregister_handler(const char *name)
{
	struct fkt_handler *handler;
	int err = 0;

	mutex_lock(&lock);
	handler = find(name);
	if (!handler)
		err = -ENOENT;
	else if (handler->users)
		err = -EBUSY;
	else
		list_del(&handler->list);
	mutex_unlock(&lock);
	if (!err)
		kfree(handler);
	return err;
}
EXPORT_SYMBOL_GPL(fkt_unregister_handler);

/* Returns the handler with a reference; ERR_PTR(-EUNATCH): there is none, or its module is being unloaded. */
struct fkt_handler *fkt_handler_get(const char *name)
{
	struct fkt_handler *handler;

	mutex_lock(&lock);
	handler = find(name);
	if (handler && try_module_get(handler->owner))
		handler->users++;
	else
		handler = NULL;
	mutex_unlock(&lock);
	return handler ?: ERR_PTR(-EUNATCH);
}

/* Called when no probe can call it any more. handler: may be NULL. */
void fkt_handler_put(struct fkt_handler *handler)
{
	struct module *owner;

	if (!handler)
		return;
	mutex_lock(&lock);
	handler->users--;
	owner = handler->owner;
	mutex_unlock(&lock);
	/* Last: from here on the module may go. */
	module_put(owner);
}

fkt_handler_fn fkt_handler_function(const struct fkt_handler *handler)
{
	return handler->function;
}
