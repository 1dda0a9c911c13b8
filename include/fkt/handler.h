/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * For modules that handle hits of instruments themselves (fkt_record -i 'PLACE(VALUES) do handler NAME').
 *
 *	static void my_handler(const struct fkt_handler_hit *hit)
 *	{
 *		...
 *	}
 *
 *	err = fkt_register_handler("my_handler", my_handler, THIS_MODULE);
 *	...
 *	fkt_unregister_handler("my_handler");
 *
 * The module can be loaded only while fkt.ko is. It cannot be unloaded while a recording has an instrument with its
 * handler: the recording has a reference to it, so the handler never runs when the module's exit function does.
 */
#ifndef FKT_HANDLER_H
#define FKT_HANDLER_H

#include <linux/types.h>

#define FKT_HANDLER_NAME_BYTES 32 /* of a name, including the terminating zero */

#ifdef __KERNEL__

struct module;

/* A hit that the instrument's condition has kept. */
struct fkt_handler_hit {
	/*
	 * The instrument's values, in their order: a number is one word, sign-extended if its type is; a text as many
	 * words as its size takes, padded with zeros; a text that comes last only as many as it needs.
	 */
	const u64 *words;
	u32 count;
	u32 instrument; /* its index in the recording */
};

/*
 * Called with preemption disabled, in any context, NMIs included, on any CPU, also on several at a time: it must not
 * sleep, fault, or take a lock that the interrupted code may hold.
 */
typedef void (*fkt_handler_fn)(const struct fkt_handler_hit *hit);

/*
 * name: of letters, digits and underscores. owner: the module that the function is in, usually THIS_MODULE. -EINVAL:
 * invalid name; -EEXIST: there is a handler with this name; -ENOMEM. Called in tasks.
 */
int fkt_register_handler(const char *name, fkt_handler_fn function, struct module *owner);

/*
 * -ENOENT: there is no such handler; -EBUSY: a recording uses it, which cannot be in a module's exit function. After 0
 * the handler no longer runs. Called in tasks.
 */
int fkt_unregister_handler(const char *name);

#endif /* __KERNEL__ */
#endif /* FKT_HANDLER_H */
