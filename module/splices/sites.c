// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arms and disarms sites (sites.h). Each is a jump in the place of one instruction, put there as the kernel puts
 * those of its static branches. kprobe_mutex, cpus_read_lock() and text_mutex are taken in this order, which is that of
 * kprobes. While they are held, neither kprobes nor ftrace nor the kernel change its text.
 *
 * Nobody else may own a byte of a site. The kernel's own patching never touches such instructions. Kprobes
 * are refused there by an entry in their blacklist; one that had been checked against it before, and came to its lock
 * after the site was armed, has saved the jump and will write it back: such a site stays.
 */

#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <asm/text-patching.h>

#include "arch/kernel_names.h"
#include "base/compat.h"
#include "code_walk.h"
#include "pool.h"
#include "sites.h"
#include "unwind.h"

/* Sites that are armed with the locks held once. */
#define TOGETHER 512

/* Addresses where the kernel refuses kprobes, for one or more sites. */
struct fkt_hidden {
	struct kprobe_blacklist_entry entry;
	unsigned int sites;
	struct list_head gone;
};

DEFINE_MUTEX(fkt_sites_lock);
struct rb_root fkt_sites = RB_ROOT;
u8 fkt_marks[FKT_MARKERS] __aligned(sizeof(u64));
struct fkt_site *fkt_marking[FKT_MARKERS];

/* Also read by sysfs, without the lock: hence WRITE_ONCE(). */
static unsigned int armed, watched;
module_param(armed, uint, 0444);
MODULE_PARM_DESC(armed, "number of splices that count or record now");
module_param(watched, uint, 0444);
MODULE_PARM_DESC(watched, "number of splices that mark what was executed");

/* ---- functions and variables of the kernel that are not exported ---- */

DEFINE_STATIC_CALL_RET0(fkt_splices_lookup_name, kallsyms_lookup_name);
DEFINE_STATIC_CALL_NULL(fkt_splices_queue, FKT_TEXT_POKE_QUEUE);
DEFINE_STATIC_CALL_NULL(fkt_splices_finish, FKT_TEXT_POKE_FINISH);
DEFINE_STATIC_CALL_RET0(fkt_splices_poke, text_poke);
DEFINE_STATIC_CALL_RET0(fkt_splices_kprobe_at, get_kprobe);
DEFINE_STATIC_CALL_RET0(fkt_splices_module_of, __module_address);

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
	void *lookup = fkt_find_lookup_name();

	if (IS_ERR(lookup))
		return PTR_ERR(lookup);
	static_call_update(fkt_splices_lookup_name, lookup);
	kernel_text_mutex = find("text_mutex");
	kernel_kprobe_mutex = find("kprobe_mutex");
	kernel_kprobe_blacklist = find("kprobe_blacklist");
	text_begin = (unsigned long)find("_stext");
	text_end = (unsigned long)find("_etext");
	if (!kernel_text_mutex || !kernel_kprobe_mutex || !kernel_kprobe_blacklist || !text_begin || !text_end ||
	    !fkt_set_call(fkt_splices_queue, find(__stringify(FKT_TEXT_POKE_QUEUE))) ||
	    !fkt_set_call(fkt_splices_finish, find(__stringify(FKT_TEXT_POKE_FINISH))) ||
	    !fkt_set_call(fkt_splices_poke, find("text_poke")) ||
	    !fkt_set_call(fkt_splices_kprobe_at, find("get_kprobe")) ||
	    !fkt_set_call(fkt_splices_module_of, find("__module_address")))
		return -ENOENT;
	return 0;
}

int __init fkt_sites_init(void)
{
	return find_kernel_functions() ?: fkt_code_walk_init(find) ?: fkt_unwind_init(find);
}

void fkt_sites_exit(void)
{
	fkt_sites_wait();
	fkt_unwind_exit();
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

/* ---- the tree; callers must hold fkt_sites_lock ---- */

static int compare_address(const void *address, const struct rb_node *node)
{
	const unsigned long a = *(const unsigned long *)address;
	const unsigned long b = rb_entry(node, struct fkt_site, node)->address;

	return a < b ? -1 : a > b;
}

static bool is_before(struct rb_node *node, const struct rb_node *other)
{
	return compare_address(&rb_entry(node, struct fkt_site, node)->address, other) < 0;
}

/* Returns the site at this address; NULL: there is none. */
struct fkt_site *fkt_site_find(unsigned long address)
{
	struct rb_node *node = rb_find(&address, &fkt_sites, compare_address);

	return node ? rb_entry(node, struct fkt_site, node) : NULL;
}

/*
 * Returns a site, to be completed and armed; NULL: there is no memory. before: the armed site at this address, which it
 * takes the place of; NULL: there is none.
 */
struct fkt_site *fkt_site_make(unsigned long address, struct fkt_site *before)
{
	struct fkt_site *site = kzalloc(sizeof(*site), GFP_KERNEL_ACCOUNT);

	if (!site)
		return NULL;
	site->address = address;
	site->before = before;
	if (before)
		rb_replace_node(&before->node, &site->node, &fkt_sites);
	else
		rb_add(&site->node, &fkt_sites, is_before);
	return site;
}

/* Frees a site that is not armed. The one before it stays. */
void fkt_site_drop(struct fkt_site *site)
{
	if (site->before)
		rb_replace_node(&site->node, &site->before->node, &fkt_sites);
	else
		rb_erase(&site->node, &fkt_sites);
	kfree(site);
}

/* ---- the pools; as above ---- */

static bool marks(const struct fkt_site *site)
{
	return !site->count && !site->function;
}

static struct fkt_pool *pool_of(const struct fkt_site *site)
{
	return &fkt_pools[marks(site) ? FKT_POOL_MARKERS : FKT_POOL_COUNTERS];
}

static unsigned long place_of(const struct fkt_site *site)
{
	return (unsigned long)fkt_pool_place(pool_of(site), site->number);
}

/* Adds to the number of those that are armed. */
static void add_armed(const struct fkt_site *site, int difference)
{
	unsigned int *number = marks(site) ? &watched : &armed;

	WRITE_ONCE(*number, *number + difference);
}

/* ---- arming; callers must hold fkt_sites_lock, and what lock_text() takes ---- */

struct arming {
	struct fkt_code_walk walk;
	struct fkt_hidden *hidden; /* the last one */
};

/*
 * Hides what is armed from kprobes: of sites that mark, the whole function, and with it those directly behind, to keep
 * the kernel's list short; of others the instruction, since kprobes are at others of the function.
 */
static bool hide(struct arming *arming, struct fkt_site *site)
{
	unsigned long begin = site->address, end = begin + site->code.length;
	struct fkt_hidden *hidden = arming->hidden;

	if (marks(site)) {
		begin = arming->walk.begin;
		end = arming->walk.end;
	}
	if (marks(site) && hidden && begin >= hidden->entry.start_addr && begin <= hidden->entry.end_addr) {
		/* Read by kprobes with preemption disabled alone. */
		WRITE_ONCE(hidden->entry.end_addr, end);
	} else {
		/* Not to wait for memory under locks of the kernel. */
		hidden = kzalloc(sizeof(*hidden), GFP_NOWAIT | __GFP_NOWARN);
		if (!hidden)
			return false;
		hidden->entry.start_addr = begin;
		hidden->entry.end_addr = end;
		list_add_tail_rcu(&hidden->entry.list, kernel_kprobe_blacklist);
		arming->hidden = hidden;
	}
	hidden->sites++;
	site->hidden = hidden;
	return true;
}

/* Makes the bytes behind the jump instructions that do nothing: kprobes decode the function from its begin on. */
static void poke_tail(const struct fkt_site *site, const u8 *bytes)
{
	if (site->code.length > FKT_JUMP_BYTES)
		static_call(fkt_splices_poke)((void *)site->address + FKT_JUMP_BYTES, bytes,
					      site->code.length - FKT_JUMP_BYTES);
}

/*
 * Sets the module with this code; NULL: the kernel. Returns whether it stays until a notifier says that it goes. The
 * caller's fkt_sites_lock keeps that notifier from returning.
 */
static bool stays(unsigned long address, const struct module **module)
{
	bool stays;

	*module = NULL;
	if (address >= text_begin && address < text_end)
		return true;
	preempt_disable();
	*module = static_call(fkt_splices_module_of)(address);
	stays = *module && *module != THIS_MODULE && READ_ONCE((*module)->state) == MODULE_STATE_LIVE &&
		!within_module_init(address, *module);
	preempt_enable();
	return stays;
}

static int make_detour(struct fkt_detour *detour, const struct fkt_site *site)
{
	const u8 *original = site->original;

	if (site->count)
		return fkt_detour_make(detour, &site->code, original, site->address, place_of(site),
				       (__force u64)site->count, site->mask, site->layer);
	if (site->function)
		return fkt_detour_make_call(detour, &site->code, original, site->address, place_of(site),
					    site->function,
					    (site->takes_registers ? FKT_CALL_WITH_FLAGS : 0) |
						    (site->closes_access ? FKT_CALL_CLOSES_ACCESS : 0));
	return fkt_detour_make_marker(detour, &site->code, original, site->address, place_of(site),
				      &fkt_marks[site->number]);
}

static bool has_kprobe(const struct fkt_site *site)
{
	unsigned int i;

	for (i = 0; i < site->code.length; i++)
		if (static_call(fkt_splices_kprobe_at)((void *)site->address + i))
			return true;
	return false;
}

/* Sets the instruction of the site. Returns whether it may be replaced. */
static bool get_instruction(struct arming *arming, struct fkt_site *site)
{
	if (!site->before) {
		if (!fkt_code_may_be_replaced(&arming->walk, site->address, &site->code))
			return false;
		memcpy(site->original, (const void *)site->address, site->code.length);
		site->closes_access = arming->walk.opens_access;
		return true;
	}
	site->code = site->before->code;
	site->closes_access = site->before->closes_access;
	memcpy(site->original, site->before->original, sizeof(site->original));
	/* It would write the jump back to the detour of before. */
	return !has_kprobe(site);
}

/* Hides the site, or takes over what hides the one before. */
static bool hide_or_take(struct arming *arming, struct fkt_site *site)
{
	if (!site->before)
		return hide(arming, site);
	site->hidden = site->before->hidden;
	return true;
}

/* Code of detours that lie one behind the other, and are written together. Protected by fkt_sites_lock. */
static struct {
	unsigned long place;
	unsigned int bytes;
	u8 code[2048];
} unwritten;

static void write_detours(void)
{
	if (unwritten.bytes)
		static_call(fkt_splices_poke)((void *)unwritten.place, unwritten.code, unwritten.bytes);
	unwritten.bytes = 0;
}

/* The detour is there after write_detours(). */
static void put_detour(unsigned long place, const struct fkt_detour *detour, unsigned int bytes)
{
	if (unwritten.place + unwritten.bytes != place || unwritten.bytes + bytes > sizeof(unwritten.code))
		write_detours();
	if (!unwritten.bytes)
		unwritten.place = place;
	memcpy(unwritten.code + unwritten.bytes, detour->code, bytes);
	unwritten.bytes += bytes;
}

/* Prepares the site if it can be armed: nothing leads to its detour yet. */
static void prepare(struct arming *arming, struct fkt_site *site)
{
	const struct fkt_pool *pool = pool_of(site);
	const struct module *module;
	struct fkt_detour detour;

	if (!stays(site->address, &module) || !get_instruction(arming, site) ||
	    !fkt_pool_take(pool_of(site), &site->number))
		return;
	if (make_detour(&detour, site) || !hide_or_take(arming, site)) {
		fkt_pool_give(pool_of(site), site->number);
		return;
	}
	site->skips = detour.skips;
	site->calls = detour.calls;
	site->is_armed = true;
	if (!site->before)
		add_armed(site, 1);
	if (marks(site))
		fkt_marking[site->number] = site;
	put_detour(place_of(site), &detour, pool->bytes);
	fkt_unwind_set(pool, site->number, &detour, site->address, module);
}

/* Queues the jump to the detour, which the kernel may put there from now on. */
static void queue_jump(const struct fkt_site *site)
{
	u8 jump[FKT_JUMP_BYTES];

	fkt_detour_jump(jump, site->address, place_of(site));
	static_call(fkt_splices_queue)((void *)site->address, jump, sizeof(jump), NULL);
}

/* Arms some. Returns how many elements of the array are done: whole functions. */
static unsigned int arm_some(struct fkt_site **sites, unsigned int count)
{
	static const u8 nops[FKT_LONGEST_INSTRUCTION] = { [0 ... FKT_LONGEST_INSTRUCTION - 1] = 0x90 };
	struct arming arming = {};
	unsigned int i, done;

	for (done = 0; done < count; done++) {
		if (!sites[done])
			continue;
		if (done >= TOGETHER && sites[done]->address >= arming.walk.end)
			break;
		prepare(&arming, sites[done]);
	}
	write_detours();
	for (i = 0; i < done; i++)
		if (sites[i] && sites[i]->is_armed)
			queue_jump(sites[i]);
	static_call(fkt_splices_finish)();
	for (i = 0; i < done; i++)
		if (sites[i] && sites[i]->is_armed && !sites[i]->before)
			poke_tail(sites[i], nops);
	return done;
}

/* ---- disarming; callers must hold fkt_sites_lock, and what lock_text() takes ---- */

/*
 * Leaves the jump in place, but makes its detour neither count nor call nor mark, and takes the site from its owner.
 * The end of a call is only queued.
 */
static void mute(struct fkt_site *site)
{
	static const u8 always = FKT_SKIP_ALWAYS, nop[FKT_JUMP_BYTES] = { 0x0f, 0x1f, 0x44, 0, 0 };

	if (site->is_stuck)
		return;
	if (site->count)
		static_call(fkt_splices_poke)((void *)place_of(site) + site->skips, &always, sizeof(always));
	else if (site->function)
		static_call(fkt_splices_queue)((void *)place_of(site) + site->calls, nop, sizeof(nop), NULL);
	else
		fkt_marking[site->number] = NULL;
	site->owner = NULL;
	add_armed(site, -1);
	__module_get(THIS_MODULE);
	site->is_stuck = true;
}

/* Puts the instruction back; its first bytes are only queued. */
static void disarm_one(struct fkt_site *site)
{
	u8 jump[FKT_JUMP_BYTES];

	if (site->is_stuck)
		module_put(THIS_MODULE);
	else
		add_armed(site, -1);
	if (marks(site))
		fkt_marking[site->number] = NULL;
	poke_tail(site, site->original + FKT_JUMP_BYTES);
	fkt_detour_jump(jump, site->address, place_of(site));
	static_call(fkt_splices_queue)((void *)site->address, site->original, sizeof(jump), jump);
}

/* Disarmed sites whose detours a task may still be executing, until reap(). Protected by fkt_sites_lock. */
static LIST_HEAD(dying_sites);
static LIST_HEAD(dying_hidden);

static void unhide(const struct fkt_site *site)
{
	if (--site->hidden->sites)
		return;
	list_del_rcu(&site->hidden->entry.list);
	list_add(&site->hidden->gone, &dying_hidden);
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

/* Caller must hold fkt_sites_lock. */
static void free_all(struct list_head *sites, struct list_head *all_hidden)
{
	struct fkt_hidden *hidden, *next_hidden;
	struct fkt_site *site, *next;

	list_for_each_entry_safe(site, next, sites, gone) {
		if (marks(site))
			WRITE_ONCE(fkt_marks[site->number], 0);
		fkt_pool_give(pool_of(site), site->number);
		kfree(site);
	}
	list_for_each_entry_safe(hidden, next_hidden, all_hidden, gone)
		kfree(hidden);
}

/* Frees the disarmed sites after a grace period, which can take seconds: it waits without fkt_sites_lock. */
static void reap(struct work_struct *work)
{
	LIST_HEAD(sites);
	LIST_HEAD(hidden);

	mutex_lock(&fkt_sites_lock);
	list_splice_init(&dying_sites, &sites);
	list_splice_init(&dying_hidden, &hidden);
	mutex_unlock(&fkt_sites_lock);
	wait_for_all();
	mutex_lock(&fkt_sites_lock);
	free_all(&sites, &hidden);
	mutex_unlock(&fkt_sites_lock);
}

static DECLARE_WORK(reap_work, reap);

/* No jump leads to the detour of the site before any more. */
static void replaced(struct fkt_site *site)
{
	list_add(&site->before->gone, &dying_sites);
	site->before = NULL;
	schedule_work(&reap_work);
}

/*
 * Arms the sites, whose addresses ascend, and of which some may be NULL. Sets is_armed of each: an instruction that
 * cannot be replaced stays as it is, and so does the rest if the task is killed. Caller must hold fkt_sites_lock.
 */
void fkt_sites_arm(struct fkt_site **sites, unsigned int count)
{
	unsigned int done = 0;

	while (done < count && !fatal_signal_pending(current)) {
		lock_text();
		done += arm_some(sites + done, count - done);
		unlock_text();
		cond_resched();
	}
	for (done = 0; done < count; done++)
		if (sites[done] && sites[done]->is_armed && sites[done]->before)
			replaced(sites[done]);
}

/* Waits until what was disarmed before is not executed any more. Caller must not hold fkt_sites_lock. */
void fkt_sites_wait(void)
{
	flush_work(&reap_work);
}

/*
 * Disarms the sites of the list, linked by their `gone`. No CPU enters them any more when this returns, and none is in
 * them after fkt_sites_wait(). One that a kprobe was set on at the moment when it was armed stays until that has gone
 * and this is called for it again; so long this module is in use. ignores_kprobes: there are none that will
 * write their instruction back, since the module with the sites is being unloaded. Caller must hold fkt_sites_lock.
 */
void fkt_sites_disarm(struct list_head *gone, bool ignores_kprobes)
{
	struct fkt_site *site, *next;

	if (list_empty(gone))
		return;
	lock_text();
	list_for_each_entry_safe(site, next, gone, gone) {
		if (!ignores_kprobes && has_kprobe(site)) {
			mute(site);
			list_del(&site->gone);
			continue;
		}
		disarm_one(site);
	}
	static_call(fkt_splices_finish)();
	list_for_each_entry(site, gone, gone) {
		unhide(site);
		rb_erase(&site->node, &fkt_sites);
	}
	unlock_text();
	list_splice_tail(gone, &dying_sites);
	schedule_work(&reap_work);
}
