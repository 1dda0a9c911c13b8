// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arms and disarms splices (splices.h). Each is a jump in the place of one instruction, put there as the kernel puts
 * those of its static branches. kprobe_mutex, cpus_read_lock() and text_mutex are taken in this order, which is that of
 * kprobes. While they are held, neither kprobes nor ftrace nor the kernel change its text.
 *
 * Nobody else may own a byte of a splice. The kernel's own patching never touches such instructions. Kprobes
 * are refused there by an entry in their blacklist; one that had been checked against it before, and came to its lock
 * after the splice, has saved the jump and will write it back: such a splice stays.
 */

#include <linux/bitmap.h>
#include <linux/bsearch.h>
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/xarray.h>
#include <asm/text-patching.h>

#include "arch/kernel_names.h"
#include "base/compat.h"
#include "code_walk.h"
#include "detour.h"
#include "splices.h"
#include "unwind.h"

/* A splice that is armed. */
struct site {
	unsigned long address;
	const u64 __percpu *count;
	unsigned int number; /* of its detour */
	u8 length; /* of the instruction (bytes) */
	u8 skips; /* fkt_detour.skips */
	bool is_stuck; /* a kprobe keeps it from being disarmed: it has a reference to this module */
	u8 original[FKT_LONGEST_INSTRUCTION + 1];
	struct kprobe_blacklist_entry hidden;
	struct list_head gone;
};

/* Protects all below. Taken under the recording's lock. */
static DEFINE_MUTEX(lock);
static DEFINE_XARRAY(sites); /* by address */
static DECLARE_BITMAP(used, FKT_DETOURS);
static unsigned int armed; /* also read by sysfs, without the lock: hence WRITE_ONCE() */
module_param(armed, uint, 0444);
MODULE_PARM_DESC(armed, "number of splices that count now");

/* ---- functions and variables of the kernel that are not exported; static calls, because of IBT ---- */

static unsigned long no_lookup(const char *name)
{
	return 0;
}

static void no_queue(void *addr, const void *opcode, size_t len, const void *emulate)
{
}

static void no_finish(void)
{
}

static void *no_poke(void *addr, const void *opcode, size_t len)
{
	return NULL;
}

static struct kprobe *no_kprobe(void *addr)
{
	return NULL;
}

FKT_STANDS_FOR(no_lookup, kallsyms_lookup_name);
FKT_STANDS_FOR(no_queue, FKT_TEXT_POKE_QUEUE);
FKT_STANDS_FOR(no_finish, FKT_TEXT_POKE_FINISH);
FKT_STANDS_FOR(no_poke, text_poke);
FKT_STANDS_FOR(no_kprobe, get_kprobe);

DEFINE_STATIC_CALL(fkt_splices_lookup_name, no_lookup);
DEFINE_STATIC_CALL(fkt_splices_queue, no_queue);
DEFINE_STATIC_CALL(fkt_splices_finish, no_finish);
DEFINE_STATIC_CALL(fkt_splices_poke, no_poke);
DEFINE_STATIC_CALL(fkt_splices_kprobe_at, no_kprobe);

static struct mutex *kernel_text_mutex, *kernel_kprobe_mutex;
static struct list_head *kernel_kprobe_blacklist;
static unsigned long text_begin, text_end;

/* Returns the address of a function or variable of the kernel; NULL: it has none of this name. */
static void *find(const char *name)
{
	return (void *)static_call(fkt_splices_lookup_name)(name);
}

static int __init find_kernel_functions(void)
{
	void *lookup = fkt_find_lookup_name(), *queue, *finish, *poke, *kprobe_at;

	if (IS_ERR(lookup))
		return PTR_ERR(lookup);
	static_call_update(fkt_splices_lookup_name, lookup);
	queue = find(__stringify(FKT_TEXT_POKE_QUEUE));
	finish = find(__stringify(FKT_TEXT_POKE_FINISH));
	poke = find("text_poke");
	kprobe_at = find("get_kprobe");
	kernel_text_mutex = find("text_mutex");
	kernel_kprobe_mutex = find("kprobe_mutex");
	kernel_kprobe_blacklist = find("kprobe_blacklist");
	text_begin = (unsigned long)find("_stext");
	text_end = (unsigned long)find("_etext");
	if (!queue || !finish || !poke || !kprobe_at || !kernel_text_mutex || !kernel_kprobe_mutex ||
	    !kernel_kprobe_blacklist || !text_begin || !text_end)
		return -ENOENT;
	static_call_update(fkt_splices_queue, queue);
	static_call_update(fkt_splices_finish, finish);
	static_call_update(fkt_splices_poke, poke);
	static_call_update(fkt_splices_kprobe_at, kprobe_at);
	return 0;
}

static void lock_text(void)
{
	mutex_lock(kernel_kprobe_mutex);
	cpus_read_lock();
	mutex_lock(kernel_text_mutex);
}

static void unlock_text(void)
{
	mutex_unlock(kernel_text_mutex);
	cpus_read_unlock();
	mutex_unlock(kernel_kprobe_mutex);
}

/* ---- callers must hold `lock`, and what lock_text() takes ---- */

static unsigned long place_of(const struct site *site)
{
	return (unsigned long)fkt_detour_pool[site->number];
}

/* Makes the bytes behind the jump instructions that do nothing: kprobes decode the function from its begin on. */
static void poke_tail(const struct site *site, const u8 *bytes)
{
	if (site->length > FKT_JUMP_BYTES)
		static_call(fkt_splices_poke)((void *)site->address + FKT_JUMP_BYTES, bytes,
					      site->length - FKT_JUMP_BYTES);
}

/* Returns whether the splice can be armed; the jump is only queued. site: has its address and count. */
static bool arm_one(struct site *site, struct fkt_code_walk *walk, const struct fkt_splice *splice, const u64 *mask)
{
	struct fkt_detour detour;
	struct fkt_code code;
	u8 jump[FKT_JUMP_BYTES];

	site->number = find_first_zero_bit(used, FKT_DETOURS);
	if (site->number == FKT_DETOURS || site->address < text_begin || site->address >= text_end ||
	    !fkt_code_may_be_replaced(walk, site->address, &code) ||
	    fkt_detour_make(&detour, &code, (const u8 *)site->address, site->address, place_of(site),
			    (__force u64)site->count, mask, splice->layer))
		return false;
	__set_bit(site->number, used);
	WRITE_ONCE(armed, armed + 1);
	site->length = detour.length;
	site->skips = detour.skips;
	memcpy(site->original, detour.original, sizeof(site->original));
	static_call(fkt_splices_poke)(fkt_detour_pool[site->number], detour.code, sizeof(detour.code));
	fkt_unwind_set(site->number, &detour, site->address);
	site->hidden.start_addr = site->address;
	site->hidden.end_addr = site->address + site->length;
	list_add_tail_rcu(&site->hidden.list, kernel_kprobe_blacklist);
	fkt_detour_jump(jump, site->address, place_of(site));
	static_call(fkt_splices_queue)((void *)site->address, jump, sizeof(jump), NULL);
	return true;
}

static void set_stuck(struct site *site, bool is_stuck)
{
	if (is_stuck)
		__module_get(THIS_MODULE);
	else
		module_put(THIS_MODULE);
	site->is_stuck = is_stuck;
}

/* Has the splice count nothing any more. */
static void mute(struct site *site)
{
	static const u8 always = FKT_SKIP_ALWAYS;

	static_call(fkt_splices_poke)(&fkt_detour_pool[site->number][site->skips], &always, sizeof(always));
	WRITE_ONCE(armed, armed - 1);
	set_stuck(site, true);
}

static bool has_kprobe(const struct site *site)
{
	unsigned int i;

	for (i = 0; i < site->length; i++)
		if (static_call(fkt_splices_kprobe_at)((void *)site->address + i))
			return true;
	return false;
}

/* Puts the instruction back; its first bytes are only queued. */
static void disarm_one(struct site *site)
{
	u8 jump[FKT_JUMP_BYTES];

	if (site->is_stuck)
		set_stuck(site, false);
	else
		WRITE_ONCE(armed, armed - 1);
	poke_tail(site, site->original + FKT_JUMP_BYTES);
	fkt_detour_jump(jump, site->address, place_of(site));
	static_call(fkt_splices_queue)((void *)site->address, site->original, sizeof(jump), jump);
}

/* ---- callers must hold `lock` ---- */

static struct site *make_site(const struct fkt_splice *splice)
{
	struct site *site = kzalloc(sizeof(*site), GFP_KERNEL_ACCOUNT);

	if (!site)
		return NULL;
	site->address = splice->address;
	site->count = splice->count;
	if (!xa_err(xa_store(&sites, splice->address, site, GFP_KERNEL_ACCOUNT)))
		return site;
	kfree(site);
	return NULL;
}

/* Makes the sites that there are not yet. made: by splice; NULL: it is there. */
static int make_sites(struct fkt_splice *splices, unsigned int count, struct site **made)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		const struct site *site = xa_load(&sites, splices[i].address);

		splices[i].is_armed = site && !site->is_stuck;
		/* Another count than before would have to begin at the moment of the exchange. */
		if (splices[i].is_armed && site->count != splices[i].count)
			return -EBUSY;
		if (site)
			continue;
		made[i] = make_site(&splices[i]);
		if (!made[i])
			return -ENOMEM;
	}
	return 0;
}

static void arm_sites(struct fkt_splice *splices, unsigned int count, struct site **made, const u64 *mask)
{
	static const u8 nops[FKT_LONGEST_INSTRUCTION] = { [0 ... FKT_LONGEST_INSTRUCTION - 1] = 0x90 };
	struct fkt_code_walk walk = {};
	unsigned int i;

	lock_text();
	for (i = 0; i < count; i++)
		if (made[i])
			splices[i].is_armed = arm_one(made[i], &walk, &splices[i], mask);
	static_call(fkt_splices_finish)();
	for (i = 0; i < count; i++)
		if (made[i] && splices[i].is_armed)
			poke_tail(made[i], nops);
	unlock_text();
}

static void drop_site(struct site *site)
{
	xa_erase(&sites, site->address);
	kfree(site);
}

/*
 * Counts what is executed at these addresses, which ascend, and lie in the kernel's text. An exchange arms what is
 * armed already, too. Sets is_armed of each; those without are as they were. Returns 0, -ENOMEM or, with nothing
 * changed, -EBUSY: one is armed with another count.
 */
int fkt_splices_arm(struct fkt_splice *splices, unsigned int count, const u64 *mask)
{
	struct site **made = kvcalloc(count, sizeof(*made), GFP_KERNEL_ACCOUNT);
	unsigned int i;
	int err;

	if (!made)
		return -ENOMEM;
	mutex_lock(&lock);
	err = make_sites(splices, count, made);
	if (!err)
		arm_sites(splices, count, made, mask);
	for (i = 0; i < count; i++)
		if (made[i] && (err || !splices[i].is_armed))
			drop_site(made[i]);
	mutex_unlock(&lock);
	kvfree(made);
	return err;
}
EXPORT_SYMBOL_GPL(fkt_splices_arm);

static int compare_addresses(const void *one, const void *other)
{
	const unsigned long a = *(const unsigned long *)one, b = *(const unsigned long *)other;

	return a < b ? -1 : a > b;
}

/* Waits until no task is in a detour that no jump leads to any more, and no reader of the blacklist has its entry. */
static void wait_for_all(void)
{
	/* Tasks that are in a detour leave it before they sleep. */
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
	/* The blacklist is read with preemption disabled. */
	synchronize_rcu();
}

/* Moves those to disarm to the list. Returns whether there is something to wait for. */
static bool take_away(const unsigned long *keep, unsigned int count, struct list_head *gone)
{
	unsigned long address;
	bool is_changed = false;
	struct site *site;

	lock_text();
	xa_for_each(&sites, address, site) {
		const bool stays = has_kprobe(site);

		if ((count && bsearch(&address, keep, count, sizeof(*keep), compare_addresses)) ||
		    (stays && site->is_stuck))
			continue;
		is_changed = true;
		if (stays) {
			mute(site);
			continue;
		}
		disarm_one(site);
		list_add_tail(&site->gone, gone);
	}
	static_call(fkt_splices_finish)();
	list_for_each_entry(site, gone, gone)
		list_del_rcu(&site->hidden.list);
	unlock_text();
	return is_changed;
}

/*
 * Leaves only the splices at these addresses, which ascend. When this returns, no other one counts any more. One that a
 * kprobe was set on at the moment when it was armed stays until that has gone and this is called again; so long this
 * module is in use.
 */
void fkt_splices_disarm(const unsigned long *keep, unsigned int count)
{
	struct site *site, *next;
	LIST_HEAD(gone);

	mutex_lock(&lock);
	if (take_away(keep, count, &gone))
		wait_for_all();
	list_for_each_entry_safe(site, next, &gone, gone) {
		__clear_bit(site->number, used);
		drop_site(site);
	}
	mutex_unlock(&lock);
}
EXPORT_SYMBOL_GPL(fkt_splices_disarm);

static int __init splices_init(void)
{
	return find_kernel_functions() ?: fkt_code_walk_init(find) ?: fkt_unwind_init(find);
}

static void __exit splices_exit(void)
{
	fkt_unwind_exit();
}

module_init(splices_init);
module_exit(splices_exit);
MODULE_DESCRIPTION("Fast Kernel Tracing: instructions counted by jumps in their places");
MODULE_LICENSE("GPL");
