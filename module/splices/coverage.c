// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which instructions are executed at all: each open file of the device has sites of its own. A site that was hit is
 * disarmed, so that the cost of a recording goes to nothing.
 */

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include <fkt/ioctl.h>

#include "base/compat.h"
#include "coverage.h"
#include "sites.h"

/* How often hits are looked for. */
#define LOOK (HZ / 10)

struct coverage {
	u8 *states; /* FKT_COVER_*, by index of the place; NULL: nothing was armed yet */
	unsigned int count;
	struct delayed_work work;
};

/* ---- hits; callers must hold fkt_sites_lock ---- */

static void look_at(struct coverage *coverage, unsigned int number, struct list_head *gone)
{
	struct fkt_site *site = fkt_marking[number];

	/* A hit at any later moment is found by the next look. */
	if (!READ_ONCE(fkt_marks[number]) || !site || site->owner != coverage)
		return;
	coverage->states[site->index] = FKT_COVER_HIT;
	list_add_tail(&site->gone, gone);
}

/* Takes the hits that there were, and disarms what was hit. */
static void look(struct coverage *coverage)
{
	const u64 *marks = (const u64 *)fkt_marks;
	LIST_HEAD(gone);
	unsigned int i, j;

	for (i = 0; i < FKT_MARKERS / sizeof(*marks); i++) {
		if (!READ_ONCE(marks[i]))
			continue;
		for (j = 0; j < sizeof(*marks); j++)
			look_at(coverage, i * sizeof(*marks) + j, &gone);
	}
	fkt_sites_disarm(&gone, false);
}

/* Called before the site is freed, because its module is being unloaded. */
void fkt_coverage_loses(const struct fkt_site *site)
{
	const struct coverage *coverage = site->owner;

	coverage->states[site->index] = READ_ONCE(fkt_marks[site->number]) ? FKT_COVER_HIT : FKT_COVER_GONE;
}

static void look_regularly(struct work_struct *work)
{
	struct coverage *coverage = container_of(to_delayed_work(work), struct coverage, work);

	mutex_lock(&fkt_sites_lock);
	look(coverage);
	mutex_unlock(&fkt_sites_lock);
	queue_delayed_work(system_freezable_wq, &coverage->work, LOOK);
}

/* ---- arming ---- */

/* Makes sites of the places that have none. Caller must hold fkt_sites_lock. */
static int make_sites(struct coverage *coverage, const u64 *addresses, unsigned int count, struct fkt_site **sites)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		cond_resched();
		if (fkt_site_find(addresses[i]))
			continue;
		sites[i] = fkt_site_make(addresses[i], NULL);
		if (!sites[i])
			return -ENOMEM;
		sites[i]->owner = coverage;
		sites[i]->index = i;
	}
	return 0;
}

/* Caller must hold fkt_sites_lock. Returns the number of places that are armed, or -ENOMEM. */
static int arm(struct coverage *coverage, const u64 *addresses, unsigned int count, struct fkt_site **sites, u8 *states)
{
	int err = make_sites(coverage, addresses, count, sites), armed = 0;
	unsigned int i;

	if (!err)
		fkt_sites_arm(sites, count);
	for (i = 0; i < count; i++) {
		if (!sites[i])
			continue;
		if (!sites[i]->is_armed) {
			fkt_site_drop(sites[i]);
			continue;
		}
		states[i] = FKT_COVER_ARMED;
		armed++;
	}
	if (err)
		return err;
	coverage->states = states;
	coverage->count = count;
	return armed;
}

static bool do_ascend(const u64 *addresses, unsigned int count)
{
	unsigned int i;

	for (i = 1; i < count; i++)
		if (addresses[i] <= addresses[i - 1])
			return false;
	return true;
}

/* Returns as arm(). */
static int arm_places(struct coverage *coverage, const u64 *addresses, unsigned int count)
{
	struct fkt_site **sites;
	int armed = -ENOMEM;
	u8 *states;

	if (!do_ascend(addresses, count))
		return -EINVAL;
	sites = kvcalloc(count, sizeof(*sites), GFP_KERNEL_ACCOUNT);
	states = kvzalloc(count, GFP_KERNEL_ACCOUNT);
	if (sites && states) {
		/* Until then what was disarmed before keeps its detours. */
		fkt_sites_wait();
		mutex_lock(&fkt_sites_lock);
		armed = coverage->states ? -EBUSY : arm(coverage, addresses, count, sites, states);
		mutex_unlock(&fkt_sites_lock);
	}
	kvfree(sites);
	if (armed < 0)
		kvfree(states);
	else
		queue_delayed_work(system_freezable_wq, &coverage->work, LOOK);
	return armed;
}

static int arm_cover(struct file *file, struct fkt_cover __user *user)
{
	struct fkt_cover cover;
	u64 *addresses;
	int armed;

	BUILD_BUG_ON(FKT_COVER_MOST != FKT_MARKERS);
	if (!file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN))
		return -EPERM;
	armed = security_locked_down(LOCKDOWN_TRACEFS);
	if (armed)
		return armed;
	if (copy_from_user(&cover, user, sizeof(cover)))
		return -EFAULT;
	if (!cover.count || cover.count > FKT_COVER_MOST)
		return -EINVAL;
	addresses = vmemdup_user(u64_to_user_ptr(cover.addresses), cover.count * sizeof(*addresses));
	if (IS_ERR(addresses))
		return PTR_ERR(addresses);
	armed = arm_places(file->private_data, addresses, cover.count);
	kvfree(addresses);
	return armed < 0 ? armed : put_user(armed, &user->armed);
}

/* ---- the device ---- */

static int cover_open(struct inode *inode, struct file *file)
{
	struct coverage *coverage = kzalloc(sizeof(*coverage), GFP_KERNEL_ACCOUNT);

	if (!coverage)
		return -ENOMEM;
	INIT_DELAYED_WORK(&coverage->work, look_regularly);
	file->private_data = coverage;
	return 0;
}

static int cover_release(struct inode *inode, struct file *file)
{
	struct coverage *coverage = file->private_data;
	struct rb_node *node;
	LIST_HEAD(gone);

	cancel_delayed_work_sync(&coverage->work);
	mutex_lock(&fkt_sites_lock);
	for (node = rb_first(&fkt_sites); node; node = rb_next(node)) {
		struct fkt_site *site = rb_entry(node, struct fkt_site, node);

		if (site->owner == coverage || site->is_stuck)
			list_add_tail(&site->gone, &gone);
	}
	fkt_sites_disarm(&gone, false);
	mutex_unlock(&fkt_sites_lock);
	kvfree(coverage->states);
	kfree(coverage);
	return 0;
}

static ssize_t cover_read(struct file *file, char __user *buffer, size_t bytes, loff_t *position)
{
	struct coverage *coverage = file->private_data;
	unsigned int count;

	mutex_lock(&fkt_sites_lock);
	count = coverage->count;
	if (count && !*position)
		look(coverage);
	mutex_unlock(&fkt_sites_lock);
	/* What was armed once is not freed before the file is closed. */
	return simple_read_from_buffer(buffer, bytes, position, coverage->states, count);
}

static long cover_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	u32 abi = FKT_ABI_VERSION;

	switch (cmd) {
	case FKT_GET_ABI:
		return copy_to_user(user, &abi, sizeof(abi)) ? -EFAULT : 0;
	case FKT_COVER_ARM:
		return arm_cover(file, user);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations cover_fops = {
	.owner = THIS_MODULE,
	.open = cover_open,
	.release = cover_release,
	.read = cover_read,
	.unlocked_ioctl = cover_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = default_llseek,
};

static struct miscdevice cover_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fkt_cover",
	.mode = 0600,
	.fops = &cover_fops,
};

int fkt_coverage_init(void)
{
	return misc_register(&cover_device);
}

void fkt_coverage_exit(void)
{
	misc_deregister(&cover_device);
}
