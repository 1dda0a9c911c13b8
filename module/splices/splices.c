// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sites that count or record for fkt.ko (splices.h), and what concerns the whole module: its begin and end, and the
 * modules of the kernel that are unloaded while sites are in them.
 */

#include <linux/bsearch.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/slab.h>

#include "coverage.h"
#include "sites.h"
#include "splices.h"

/* ---- callers must hold fkt_sites_lock ---- */

/* Whether the site does for the splice, too. The functions also count, for whatever instrument is in force. */
static bool suffices(const struct fkt_site *site, const struct fkt_splice *splice)
{
	if (site->count)
		return site->count == splice->count;
	return site->takes_registers || !splice->takes_registers;
}

/* Sets what hits of the site do. is_changed: another thing than until now. */
static void set_hits(struct fkt_site *site, const struct fkt_splice *splice, const struct fkt_splice_hits *hits,
		     bool is_changed)
{
	/* A count of its own would have to begin at the moment of the exchange. */
	if (splice->count && !is_changed) {
		site->count = splice->count;
		site->mask = hits->mask;
		site->layer = splice->layer;
	} else {
		site->takes_registers = splice->takes_registers;
		site->function = splice->takes_registers ? hits->with_registers : hits->plain;
	}
}

/* Makes the sites that there are not yet, or not as they have to be. made: by splice; NULL: nothing is to be done. */
static int make_sites(struct fkt_splice *splices, unsigned int count, const struct fkt_splice_hits *hits,
		      struct fkt_site **made)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct fkt_site *site = fkt_site_find(splices[i].address);
		const bool is_ours = site && !site->owner && !site->is_stuck;

		splices[i].is_armed = is_ours && suffices(site, &splices[i]);
		if (splices[i].is_armed || (site && !is_ours))
			continue;
		made[i] = fkt_site_make(splices[i].address, site);
		if (!made[i])
			return -ENOMEM;
		set_hits(made[i], &splices[i], hits, site);
	}
	return 0;
}

/*
 * Counts or records what is executed at these addresses, which ascend, and lie in the text of the kernel or its
 * modules. An exchange arms what is armed already, too. Sets is_armed of each; those without are as they were. hits:
 * the same in all calls. Returns 0 or -ENOMEM.
 */
int fkt_splices_arm(struct fkt_splice *splices, unsigned int count, const struct fkt_splice_hits *hits)
{
	struct fkt_site **made = kvcalloc(count, sizeof(*made), GFP_KERNEL_ACCOUNT);
	unsigned int i;
	int err;

	if (!made)
		return -ENOMEM;
	mutex_lock(&fkt_sites_lock);
	err = make_sites(splices, count, hits, made);
	if (!err)
		fkt_sites_arm(made, count);
	for (i = 0; i < count; i++) {
		if (!made[i])
			continue;
		splices[i].is_armed = made[i]->is_armed;
		if (!made[i]->is_armed)
			fkt_site_drop(made[i]);
	}
	mutex_unlock(&fkt_sites_lock);
	kvfree(made);
	return err;
}
EXPORT_SYMBOL_GPL(fkt_splices_arm);

static int compare_addresses(const void *one, const void *other)
{
	const unsigned long a = *(const unsigned long *)one, b = *(const unsigned long *)other;

	return a < b ? -1 : a > b;
}

/*
 * Leaves only the splices at these addresses, which ascend. When this returns, no other one counts any more. One that a
 * kprobe was set on at the moment when it was armed stays until that has gone and this is called again; so long this
 * module is in use.
 */
void fkt_splices_disarm(const unsigned long *keep, unsigned int count)
{
	struct rb_node *node;
	LIST_HEAD(gone);

	mutex_lock(&fkt_sites_lock);
	for (node = rb_first(&fkt_sites); node; node = rb_next(node)) {
		struct fkt_site *site = rb_entry(node, struct fkt_site, node);

		if (!site->owner &&
		    !(count && bsearch(&site->address, keep, count, sizeof(*keep), compare_addresses)))
			list_add_tail(&site->gone, &gone);
	}
	fkt_sites_disarm(&gone, false);
	mutex_unlock(&fkt_sites_lock);
	/* The caller frees the counts. */
	fkt_sites_wait();
}
EXPORT_SYMBOL_GPL(fkt_splices_disarm);

/* ---- modules that go ---- */

/* No task runs their code any more, and the kernel has given up the kprobes in it. */
static int see_module(struct notifier_block *notifier, unsigned long event, void *data)
{
	struct module *module = data;
	struct rb_node *node;
	LIST_HEAD(gone);

	if (event != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&fkt_sites_lock);
	for (node = rb_first(&fkt_sites); node; node = rb_next(node)) {
		struct fkt_site *site = rb_entry(node, struct fkt_site, node);

		if (!within_module(site->address, module))
			continue;
		if (site->owner)
			fkt_coverage_loses(site);
		list_add_tail(&site->gone, &gone);
	}
	fkt_sites_disarm(&gone, true);
	mutex_unlock(&fkt_sites_lock);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = see_module };

/* ---- the module ---- */

static int __init splices_init(void)
{
	int err = fkt_sites_init();

	if (err)
		return err;
	err = register_module_notifier(&module_notifier);
	if (err)
		goto err_sites;
	err = fkt_coverage_init();
	if (!err)
		return 0;
	unregister_module_notifier(&module_notifier);
err_sites:
	fkt_sites_exit();
	return err;
}

static void __exit splices_exit(void)
{
	fkt_coverage_exit();
	unregister_module_notifier(&module_notifier);
	fkt_sites_exit();
}

module_init(splices_init);
module_exit(splices_exit);
MODULE_DESCRIPTION("Fast Kernel Tracing: instructions counted, recorded or marked by jumps in their places");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
