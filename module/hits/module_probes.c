// SPDX-License-Identifier: GPL-2.0-only
/*
 * Other modules' probes (include/fkt/probe.h): tracepoints whose names are descriptions. A probe is recorded while its
 * module is there, whether that came before the recording or comes later.
 */

#include <linux/capability.h>
#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include <fkt/ioctl.h>
#include <fkt/probe.h>

#include "base/compat.h"
#include "instruments/instruments_now.h"
#include "instruments/point_table.h"
#include "actions.h"
#include "module_probes.h"
#include "points.h"

/* A tracepoint that calls probe_hit() for a slot. A description has several if its macro stands in several places. */
struct attached {
	struct list_head list;
	struct tracepoint *tracepoint;
	struct fkt_point_slot *slot;
};

/*
 * Protected by `lock`. A module's notifier takes `lock` with the list of modules with tracepoints locked, so that list
 * must never be locked under `lock`. points: the table in force; arming: the next one while it is being armed; NULL:
 * none.
 */
static const struct fkt_point_table *points, *arming;
static LIST_HEAD(attached);
static int failed; /* why a probe was not attached */
static char description[FKT_PROBE_TEXT_BYTES];
static DEFINE_MUTEX(lock);

static bool has_notifier; /* protected by the recording's lock */

/* ---- descriptions ---- */

enum text { NO_PROBE, READABLE, BROKEN };

/*
 * Reads the name of a module's tracepoint into `text`. The module may be broken: the pointer may be wrong, and the text
 * unterminated.
 */
static enum text read_text(const struct tracepoint *tracepoint, char text[FKT_PROBE_TEXT_BYTES])
{
	const size_t magic = sizeof(FKT_PROBE_MAGIC) - 1;
	size_t i;

	for (i = 0; i < FKT_PROBE_TEXT_BYTES; i++) {
		if (copy_from_kernel_nofault(&text[i], &tracepoint->name[i], 1))
			return i < magic ? NO_PROBE : BROKEN;
		if (i < magic && text[i] != FKT_PROBE_MAGIC[i])
			return NO_PROBE;
		if (!text[i])
			return READABLE;
	}
	return BROKEN;
}

/* ---- a hit; called by a probe: preemption is disabled ---- */

static void probe_hit(void *data, const u64 *values, unsigned int count)
{
	FKT_TRACEPOINT_PROBE();
	const struct fkt_instrument_table *now = fkt_instruments();
	const struct fkt_point_slot *slot = data;

	/* During an exchange, functions of both tables are registered; only those of the table in force count hits. */
	if (unlikely(!now || now->points != slot->table))
		return;
	if (likely(count == slot->arguments))
		fkt_point_hit(slot, values, (unsigned long)__builtin_dwarf_cfa());
	else
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_FIELDS);
}

/* ---- modules come and go; callers must hold `lock` ---- */

static bool is_attached(const struct tracepoint *tracepoint, const struct fkt_point_slot *slot)
{
	const struct attached *one;

	list_for_each_entry(one, &attached, list)
		if (one->tracepoint == tracepoint && one->slot == slot)
			return true;
	return false;
}

static int attach(struct tracepoint *tracepoint, struct fkt_point_slot *slot)
{
	struct attached *one;
	int err;

	/* The compiler may duplicate code, and with it the entry in the list of tracepoints. */
	if (is_attached(tracepoint, slot))
		return 0;
	one = kmalloc(sizeof(*one), GFP_KERNEL_ACCOUNT);
	if (!one)
		return -ENOMEM;
	err = tracepoint_probe_register(tracepoint, probe_hit, slot);
	if (err) {
		kfree(one);
		return err;
	}
	one->tracepoint = tracepoint;
	one->slot = slot;
	list_add_tail(&one->list, &attached);
	return 0;
}

static void detach(struct attached *one)
{
	tracepoint_probe_unregister(one->tracepoint, probe_hit, one->slot);
	list_del(&one->list);
	kfree(one);
}

static void come_to(const struct fkt_point_table *table, const struct module *module, struct tracepoint *tracepoint)
{
	u32 i;

	for (i = 0; table && i < table->count; i++) {
		struct fkt_point_slot *slot = &table->slots[i];
		int err;

		if (!slot->probe || strcmp(slot->name, module->name) || strcmp(slot->probe, description))
			continue;
		err = attach(tracepoint, slot);
		if (err && !failed)
			failed = err;
	}
}

static void come(const struct module *module, struct tracepoint *tracepoint)
{
	if (read_text(tracepoint, description) != READABLE)
		return;
	come_to(points, module, tracepoint);
	come_to(arming, module, tracepoint);
}

/* Forgets a probe of a module whose code does not run any more. */
static void go(const struct tracepoint *tracepoint)
{
	struct attached *one, *next;

	list_for_each_entry_safe(one, next, &attached, list)
		if (one->tracepoint == tracepoint)
			detach(one);
}

/* Called for each module with tracepoints when the notifier is registered, and when one comes or goes later. */
static int on_module(struct notifier_block *unused, unsigned long state, void *data)
{
	const struct module *module = ((struct tp_module *)data)->mod;
	int i;

	mutex_lock(&lock);
	for (i = 0; i < module->num_tracepoints; i++) {
		struct tracepoint *tracepoint = tracepoint_ptr_deref(&module->tracepoints_ptrs[i]);

		if (state == MODULE_STATE_COMING)
			come(module, tracepoint);
		else if (state == MODULE_STATE_GOING)
			go(tracepoint);
	}
	mutex_unlock(&lock);
	return NOTIFY_OK;
}

static struct notifier_block notifier = { .notifier_call = on_module };

/*
 * Called for each module with tracepoints when the notifier is registered, to attach the probes of the table that is
 * being armed; a module that is loaded or unloaded meanwhile comes to on_module() as well.
 */
static int on_search(struct notifier_block *unused, unsigned long state, void *data)
{
	return state == MODULE_STATE_COMING ? on_module(unused, state, data) : NOTIFY_OK;
}

static struct notifier_block search = { .notifier_call = on_search };

/* ---- arming and disarming; callers must hold the recording's lock ---- */

static bool has_probes(const struct fkt_point_table *table)
{
	u32 i;

	for (i = 0; i < table->count; i++)
		if (table->slots[i].probe)
			return true;
	return false;
}

/* Registers the notifier, which attaches the probes of all modules. The first time it stays registered. */
static int attach_all(void)
{
	int err = register_tracepoint_module_notifier(has_notifier ? &search : &notifier);

	if (err)
		return err;
	if (has_notifier)
		unregister_tracepoint_module_notifier(&search);
	has_notifier = true;
	return 0;
}

/*
 * Attaches the table's probes, besides those of the table in force. Their hits count when the table is in force. After
 * an error the caller must go back with fkt_record_module_probes_disarm(), or end.
 */
int fkt_record_module_probes_arm(const struct fkt_point_table *table)
{
	int err;

	if (!table || !has_probes(table))
		return 0;
	mutex_lock(&lock);
	arming = table;
	failed = 0;
	mutex_unlock(&lock);
	err = attach_all();
	mutex_lock(&lock);
	err = err ?: failed;
	mutex_unlock(&lock);
	return err;
}

/*
 * Leaves only the probes of this table, which was armed and is in force. table: may be NULL. When this returns, no hit
 * of other probes is being recorded.
 */
void fkt_record_module_probes_disarm(const struct fkt_point_table *table)
{
	struct attached *one, *next;
	bool has_detached = false;

	mutex_lock(&lock);
	/* For modules that are loaded from here on. */
	points = table;
	arming = NULL;
	list_for_each_entry_safe(one, next, &attached, list) {
		if (one->slot->table == table)
			continue;
		detach(one);
		has_detached = true;
	}
	mutex_unlock(&lock);
	if (has_detached)
		tracepoint_synchronize_unregister();
}

/* When this returns, no hit is being recorded. */
void fkt_record_module_probes_end(void)
{
	fkt_record_module_probes_disarm(NULL);
	if (has_notifier)
		unregister_tracepoint_module_notifier(&notifier);
	has_notifier = false;
}

/* ---- FKT_MODULE_PROBES ---- */

struct listing {
	struct notifier_block notifier;
	char description[FKT_PROBE_TEXT_BYTES];
	char *text;
	u32 room, used; /* bytes */
};

static void add(struct listing *list, const char *text, size_t bytes)
{
	if (list->used + bytes <= list->room)
		memcpy(list->text + list->used, text, bytes);
	list->used += bytes;
}

static void add_probe(struct listing *list, const struct module *module, const struct tracepoint *tracepoint)
{
	enum text is = read_text(tracepoint, list->description);
	size_t i, bytes;

	if (is == NO_PROBE)
		return;
	bytes = is == READABLE ? strlen(list->description) : 0;
	for (i = 0; i < bytes; i++)
		if (!isascii(list->description[i]) || !isprint(list->description[i]))
			list->description[i] = '?';
	add(list, module->name, strlen(module->name));
	add(list, "\t", 1);
	add(list, list->description, bytes);
	add(list, "\n", 1);
}

static int on_listed(struct notifier_block *block, unsigned long state, void *data)
{
	const struct module *module = ((struct tp_module *)data)->mod;
	struct listing *list = container_of(block, struct listing, notifier);
	int i;

	/* When the notifier is unregistered, it is called for each module as if that were unloaded. */
	for (i = 0; state == MODULE_STATE_COMING && i < module->num_tracepoints; i++)
		add_probe(list, module, tracepoint_ptr_deref(&module->tracepoints_ptrs[i]));
	return NOTIFY_OK;
}

static int make_list(struct listing *list, u32 room)
{
	int err;

	list->notifier.notifier_call = on_listed;
	list->room = room;
	list->text = kvmalloc(max(room, 1U), GFP_KERNEL_ACCOUNT);
	if (!list->text)
		return -ENOMEM;
	err = register_tracepoint_module_notifier(&list->notifier);
	if (!err)
		unregister_tracepoint_module_notifier(&list->notifier);
	return err;
}

static long give(struct listing *list, struct fkt_probe_list *want, struct fkt_probe_list __user *arg)
{
	long err = make_list(list, want->bytes);

	if (err)
		return err;
	want->used = list->used;
	if (copy_to_user(arg, want, sizeof(*want)))
		return -EFAULT;
	if (list->used > list->room)
		return -ERANGE;
	return copy_to_user(u64_to_user_ptr(want->text), list->text, list->used) ? -EFAULT : 0;
}

long fkt_module_probes_give(const struct file *file, struct fkt_probe_list __user *arg)
{
	struct fkt_probe_list want;
	struct listing *list;
	long err;

	if (!file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN))
		return -EPERM;
	if (copy_from_user(&want, arg, sizeof(want)))
		return -EFAULT;
	if (want.bytes > FKT_PROBE_LIST_BYTES)
		return -EINVAL;
	list = kzalloc(sizeof(*list), GFP_KERNEL_ACCOUNT);
	if (!list)
		return -ENOMEM;
	err = give(list, &want, arg);
	kvfree(list->text);
	kfree(list);
	return err;
}
