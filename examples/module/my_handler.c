// SPDX-License-Identifier: GPL-2.0-only
/*
 * The example of docs/your-module.md, "Handle hits yourself": counts the hits that it is given, and adds up their first
 * values:
 *
 *	insmod my_handler.ko
 *	fkt_record -i 'call:ksys_read(count) do handler my_handler' -- cat /etc/hostname
 *	cat /sys/module/my_handler/parameters/hits /sys/module/my_handler/parameters/sum
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include <fkt/handler.h>

static atomic64_t hits, sum;

/* Called with preemption disabled, in any context. */
static void my_handler(const struct fkt_handler_hit *hit)
{
	atomic64_inc(&hits);
	if (hit->count)
		atomic64_add(hit->words[0], &sum);
}

static int show(char *text, const struct kernel_param *param)
{
	return sprintf(text, "%lld\n", atomic64_read(param->arg));
}

static const struct kernel_param_ops show_ops = { .get = show };

module_param_cb(hits, &show_ops, &hits, 0444);
module_param_cb(sum, &show_ops, &sum, 0444);

static int __init my_handler_init(void)
{
	return fkt_register_handler("my_handler", my_handler, THIS_MODULE);
}

/* Does not run while a recording uses the handler. */
static void __exit my_handler_exit(void)
{
	fkt_unregister_handler("my_handler");
}

module_init(my_handler_init);
module_exit(my_handler_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A handler of FKT's hits");
