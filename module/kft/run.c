// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings that a write to /proc/kft begins. Such a recording belongs to an open file that is in no process's table,
 * and is started and stopped as those of /dev/fkt, so only one recording of either kind runs at a time. This file reads
 * the complete pages about 20 times a second and returns them to their rings.
 *
 * A complete recording ends and its file is closed, so that the log, which stays, keeps neither another recording from
 * starting nor the module from being unloaded.
 *
 * Caller must hold the lock of kft/proc.c unless noted otherwise.
 */

#include <linux/anon_inodes.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <fkt/events.h>

#include "control/capture.h"
#include "control/status.h"
#include "drain/engine.h"
#include "drain/reader.h"
#include "drain/recording.h"
#include "hits/call_context.h"
#include "ring/access.h"
#include "ring/clock.h"
#include "ring/cpu_ring.h"
#include "ring/flags.h"
#include "ring/page_pool.h"
#include "ring/write.h"
#include "run.h"

#define LOOK_EVERY max(HZ / 20, 1) /* jiffies between two looks */
#define ENTRY_BYTES 48 /* of a call in a page, with what belongs to it */
#define POW_MIN 5
#define POW_MAX 10 /* unless the calls must stay in the rings */

/* ---- the owner ---- */

static const struct file_operations owner_fops = { .owner = THIS_MODULE };

/*
 * Closes the file. Not by the file's own operation, which is called when the task returns to user space: until then no
 * other recording could begin.
 */
static void close_owner(struct fkt_kft_run *run)
{
	if (!run->owner)
		return;
	fkt_capture_closed(run->owner);
	fput(run->owner);
	run->owner = NULL;
}

/*
 * Size of the rings: calls wait in them for less than a second, or with `overwrite` until the end. Each CPU's has room
 * for the whole log if those of all CPUs together are a small part of the memory.
 */
static u32 pow_of(const struct fkt_kft_plan *plan)
{
	const u64 pages = DIV_ROUND_UP((u64)plan->logentries * ENTRY_BYTES, PAGE_SIZE);
	const u32 most = fkt_kft_says(plan->config, FKT_KFT_OVERWRITE) ? FKT_POW_MAX : POW_MAX;
	u32 pow = clamp_t(u32, order_base_2(pages), POW_MIN, most);

	while (pow > POW_MIN && !fkt_access_is_small(pow))
		pow--;
	return pow;
}

/* Returns a file that may record what `opener` may, or an ERR_PTR. */
static struct file *make_owner(struct fkt_recording *recording, const struct fkt_kft_plan *plan,
			       const struct cred *opener)
{
	const struct cred *old = override_creds(opener);
	struct file *owner = anon_inode_getfile("[fkt-kft]", &owner_fops, NULL, O_RDWR);
	int err;

	revert_creds(old);
	if (IS_ERR(owner))
		return owner;
	err = fkt_capture_opened(recording, owner);
	if (err) {
		fput(owner);
		return ERR_PTR(err);
	}
	((struct fkt_opener *)owner->private_data)->pow = pow_of(plan);
	return owner;
}

/* ---- the begin ---- */

/* Returns whether the hit of FKT_KFT_PRIMES begins the recording. */
static bool begins_when_primed(const struct fkt_kft_run *run)
{
	return run->plan->instruments[FKT_KFT_PRIMES].action == FKT_ACTION_START;
}

/* Returns whether the recording still waits to be primed by its configuration. */
static bool is_unprimed(const struct fkt_kft_run *run)
{
	if (!fkt_kft_is_primed_late(run->plan->config))
		return false;
	return begins_when_primed(run) ? fkt_recording_waits(run->recording) :
					 fkt_recording_is_unprimed(run->recording);
}

/* Primes a recording that waits for it. Does nothing while the machine goes to sleep: the next look tries again. */
static void prime_now(struct fkt_kft_run *run, enum fkt_kft_cause cause)
{
	preempt_disable();
	if (begins_when_primed(run))
		fkt_recording_begin_by(run->recording, FKT_KFT_PRIMES);
	else
		fkt_recording_prime_by(run->recording, FKT_KFT_PRIMES);
	preempt_enable();
	run->primed_by = cause;
	if (!begins_when_primed(run))
		return;
	fkt_recording_quicken(run->recording);
	/* With autorepeat, runs are begun by hits. */
	if (!fkt_kft_plan_repeats(run->plan))
		run->begun_by = cause;
}

/* Begins a recording that waits. Does nothing while the machine goes to sleep, as above. */
static void begin_now(struct fkt_kft_run *run, enum fkt_kft_cause cause)
{
	if (is_unprimed(run))
		prime_now(run, cause);
	if (fkt_kft_plan_repeats(run->plan)) {
		fkt_flag_set(FKT_KFT_RUNS, true);
	} else {
		preempt_disable();
		fkt_recording_begin_by(run->recording, FKT_KFT_BEGINS);
		preempt_enable();
		fkt_recording_quicken(run->recording);
	}
	run->begun_by = cause;
}

static int start(struct fkt_kft_run *run)
{
	const bool overwrites = fkt_kft_says(run->plan->config, FKT_KFT_OVERWRITE);
	const struct fkt_start start = {
		.out_fd = -1,
		.flags = FKT_START_NO_PAIRS | FKT_START_ENGINE(FKT_ENGINE_KFT) |
			 (overwrites ? FKT_START_OVERWRITE : FKT_START_STOP_WHEN_FULL),
		.mask = 1ULL << FKT_L_INSTRUMENTS,
		.recording = get_random_u64() | 1,
		.clock = FKT_CLOCK_TSC,
		.filter = FKT_FILTER_NONE,
		.instruments = (unsigned long)&run->plan->given,
	};

	run->clocks.clock = FKT_CLOCK_TSC;
	fkt_clock_read(&run->clocks, false);
	if (!run->clocks.tsc_usable)
		return -EOPNOTSUPP;
	return fkt_capture_start_checked(run->recording, run->owner, &start, FKT_GIVEN_BY_KERNEL);
}

/* Primes or begins the recording as soon as its functions are armed. */
static void do_first(struct fkt_kft_run *run, enum fkt_kft_first first)
{
	if (first == FKT_KFT_AS_IT_SAYS && is_unprimed(run))
		return;
	if (first != FKT_KFT_BEGIN_NOW && is_unprimed(run))
		prime_now(run, FKT_KFT_BY_WRITE);
	if (first == FKT_KFT_BEGIN_NOW || !fkt_kft_plan_waits(run->plan))
		begin_now(run, FKT_KFT_BY_WRITE);
}

/*
 * Arms the functions of a plan. opener: whose credentials count. Returns an ERR_PTR as fkt_capture_start_checked(), and
 * sets *refused as FKT_REFUSED does. The run keeps the plan.
 */
struct fkt_kft_run *fkt_kft_run_arm(struct fkt_recording *recording, struct fkt_kft_plan *plan, u64 id,
				    const struct cred *opener, enum fkt_kft_first first, u64 *refused)
{
	struct fkt_kft_run *run = kzalloc(sizeof(*run), GFP_KERNEL_ACCOUNT);
	int err;

	*refused = 0;
	if (!run)
		return ERR_PTR(-ENOMEM);
	kref_init(&run->refs);
	run->recording = recording;
	run->id = id;
	run->plan = fkt_kft_plan_get(plan);
	err = fkt_kft_log_begin(&run->log, &run->plan->symbols, plan->logentries,
				fkt_kft_says(plan->config, FKT_KFT_OVERWRITE),
				fkt_kft_says(plan->config, FKT_KFT_WATCH));
	if (err) {
		fkt_kft_run_put(run);
		return ERR_PTR(err);
	}
	run->owner = make_owner(recording, plan, opener);
	err = PTR_ERR_OR_ZERO(run->owner);
	if (err)
		run->owner = NULL;
	else
		err = start(run);
	if (run->owner)
		*refused = READ_ONCE(((struct fkt_opener *)run->owner->private_data)->refused);
	if (err) {
		fkt_kft_run_put(run);
		return ERR_PTR(err);
	}
	do_first(run, first);
	return run;
}

/* Primes a recording that waits to be primed, before its trigger. -EALREADY: it is primed, or complete. */
int fkt_kft_run_prime(struct fkt_kft_run *run)
{
	if (fkt_kft_run_state(run) != FKT_KFT_NEW)
		return -EALREADY;
	prime_now(run, FKT_KFT_BY_WRITE);
	return 0;
}

/* Begins a recording before its trigger. -EALREADY: it has begun; -ENODATA: it is complete. */
int fkt_kft_run_begin(struct fkt_kft_run *run)
{
	enum fkt_kft_state state = fkt_kft_run_state(run);

	if (state == FKT_KFT_COMPLETE)
		return -ENODATA;
	if (state == FKT_KFT_TRIGGERED)
		return -EALREADY;
	begin_now(run, FKT_KFT_BY_WRITE);
	return 0;
}

/* ---- while it goes on ---- */

/*
 * Takes the complete pages, at most as many as the rings have: others are completed meanwhile, perhaps faster than they
 * are taken. The rings stay: only finish() ends the recording. -EINTR: the task is being killed.
 */
static int collect(struct fkt_kft_run *run)
{
	const struct fkt_opener *opener = run->owner->private_data;
	u64 most = (u64)num_possible_cpus() << opener->pow;
	struct fkt_page *page;
	int err = 0;

	fkt_kft_log_refresh(&run->log);
	fkt_reader_lock_drain(run->recording);
	while (!err && most-- && (page = fkt_reader_collect(run->recording))) {
		fkt_kft_log_add(&run->log, page->header);
		per_cpu_ptr(&fkt_cpus, page->cpu)->written++;
		fkt_ring_recycle(page);
		cond_resched();
		err = fatal_signal_pending(current) ? -EINTR : 0;
	}
	fkt_reader_unlock(run->recording);
	return err;
}

static bool has_begun(const struct fkt_kft_run *run)
{
	return fkt_kft_plan_repeats(run->plan) || !fkt_recording_waits(run->recording);
}

enum fkt_kft_state fkt_kft_run_state(const struct fkt_kft_run *run)
{
	if (!run->owner)
		return FKT_KFT_COMPLETE;
	if (is_unprimed(run))
		return FKT_KFT_NEW;
	if (fkt_kft_plan_repeats(run->plan))
		return fkt_flag_is_set(FKT_KFT_RUNS) ? FKT_KFT_TRIGGERED : FKT_KFT_PRIMED;
	return has_begun(run) ? FKT_KFT_TRIGGERED : FKT_KFT_PRIMED;
}

static u64 ns_of(const struct fkt_kft_run *run, u64 ticks)
{
	return fkt_ticks_convert(ticks, NSEC_PER_MSEC, run->clocks.khz);
}

u64 fkt_kft_run_usecs(const struct fkt_kft_run *run, u64 ticks)
{
	return div_u64(ns_of(run, ticks), NSEC_PER_USEC);
}

/* Microseconds since the machine's start. */
u64 fkt_kft_run_since_boot(const struct fkt_kft_run *run, u64 clock)
{
	const u64 primed = div_u64(run->clocks.mono_ns, NSEC_PER_USEC);

	return clock >= run->clocks.clock ? primed + fkt_kft_run_usecs(run, clock - run->clocks.clock) :
					    primed - fkt_kft_run_usecs(run, run->clocks.clock - clock);
}

/* Nanoseconds until the stop's time; U64_MAX: there is none; 0: it has passed. */
static u64 left_of(const struct fkt_kft_run *run)
{
	const struct fkt_kft_trigger *stop = &run->plan->config->stop;
	u64 lasted;

	if (stop->moment != FKT_KFT_TIME || !has_begun(run))
		return U64_MAX;
	lasted = ns_of(run, fkt_ticks_between(READ_ONCE(run->recording->since), fkt_clock()));
	return lasted >= stop->time ? 0 : stop->time - lasted;
}

/* Returns what ends the recording; FKT_KFT_BY_NOTHING: it goes on. */
static enum fkt_kft_cause end_of(const struct fkt_kft_run *run)
{
	/* finish() has stopped it, and was interrupted. */
	if (run->ended_by)
		return run->ended_by;
	/* Set by probes, before the drain notices that the recording is over. */
	if (READ_ONCE(fkt_stopped_by))
		return FKT_KFT_BY_HIT;
	if (READ_ONCE(fkt_full) || fkt_recording_state(run->recording) != FKT_RECORDING)
		return FKT_KFT_BY_ROOM;
	if (!left_of(run))
		return FKT_KFT_BY_TIME;
	/* counts.kept includes calls that are still in the rings, log.count lines of stacks: the larger one decides. */
	if (!fkt_kft_says(run->plan->config, FKT_KFT_OVERWRITE) &&
	    max_t(u64, run->counts.kept, run->log.count) >= run->plan->logentries)
		return FKT_KFT_BY_LENGTH;
	return FKT_KFT_BY_NOTHING;
}

static int count(struct fkt_kft_run *run)
{
	run->lowest_stack = fkt_lowest_stack();
	run->counts = (struct fkt_hit_counts){ .instrument = FKT_KFT_CALLS, .cpu = FKT_ALL_CPUS };
	return fkt_status_hit_counts(run->recording, run->owner, &run->counts);
}

/* Returns what began a recording with `autorepeat`: what primed it. */
static enum fkt_kft_cause begin_of_repeated(const struct fkt_kft_run *run)
{
	if (!fkt_kft_plan_repeats(run->plan))
		return FKT_KFT_BY_NOTHING;
	if (run->primed_by || !fkt_kft_is_primed_late(run->plan->config))
		return run->primed_by ?: FKT_KFT_BY_WRITE;
	return FKT_KFT_BY_HIT;
}

/* Returns 0, or -EINTR: the task is being killed, and the recording is not finished. */
static int finish(struct fkt_kft_run *run, enum fkt_kft_cause cause)
{
	const bool was_unprimed = is_unprimed(run), was_begun = has_begun(run) && !was_unprimed;
	int err;

	run->ended_by = cause;
	err = fkt_capture_stop(run->recording, run->owner) ?: count(run) ?: collect(run);
	if (err)
		return err;
	if (was_begun) {
		run->begun = run->log.begun ?: READ_ONCE(run->recording->since);
		if (!run->begun_by)
			run->begun_by = begin_of_repeated(run) ?: FKT_KFT_BY_HIT;
	}
	if (!was_unprimed && !run->primed_by && fkt_kft_is_primed_late(run->plan->config))
		run->primed_by = FKT_KFT_BY_HIT;
	run->ended = run->log.ended && cause == FKT_KFT_BY_HIT ? run->log.ended :
								 READ_ONCE(run->recording->stop_clock);
	close_owner(run);
	fkt_kft_log_finish(&run->log);
	return 0;
}

/* Ends the recording, if it goes on. -EINTR: the task is being killed. */
int fkt_kft_run_end(struct fkt_kft_run *run)
{
	enum fkt_kft_cause cause;

	if (!run->owner)
		return 0;
	cause = end_of(run);
	return finish(run, cause ?: FKT_KFT_BY_WRITE);
}

/* Nanoseconds until the trigger's time; U64_MAX: it has none. */
static u64 until(const struct fkt_kft_trigger *trigger)
{
	const u64 now = ktime_get_ns();

	if (trigger->moment != FKT_KFT_TIME)
		return U64_MAX;
	return now >= trigger->time ? 0 : trigger->time - now;
}

/* Nanoseconds until the recording begins by time; U64_MAX: it does not, or it has begun; 0: at once. */
static u64 until_begin(const struct fkt_kft_run *run)
{
	const struct fkt_kft_trigger *begin = &run->plan->config->start;

	if (has_begun(run))
		return U64_MAX;
	/* It should have begun at once, but the machine was going to sleep. */
	if (run->begun_by)
		return 0;
	return is_unprimed(run) ? U64_MAX : until(begin);
}

/* Nanoseconds until the recording is primed by time; U64_MAX: it is not, or it was; 0: at once. */
static u64 until_primed(const struct fkt_kft_run *run)
{
	if (!is_unprimed(run))
		return U64_MAX;
	/* As above. */
	return run->primed_by ? 0 : until(&run->plan->config->prime);
}

/* Does the work that is due. Returns the jiffies until the next look; 0: the recording is complete. */
unsigned long fkt_kft_run_look(struct fkt_kft_run *run)
{
	enum fkt_kft_cause cause;
	u64 next;

	if (!run->owner)
		return 0;
	/*
	 * The machine is going to sleep. A stop would wait for the drain thread, which may be frozen, while the freezer
	 * waits for the work item that this is called from.
	 */
	if (READ_ONCE(run->recording->parked))
		return LOOK_EVERY;
	if (collect(run))
		return LOOK_EVERY;
	if (!until_primed(run))
		prime_now(run, run->primed_by ?: FKT_KFT_BY_TIME);
	if (!until_begin(run))
		begin_now(run, run->begun_by ?: FKT_KFT_BY_TIME);
	if (count(run))
		return LOOK_EVERY;
	cause = end_of(run);
	if (cause && !finish(run, cause))
		return 0;
	next = min3(until_primed(run), until_begin(run), left_of(run));
	return min_t(u64, LOOK_EVERY, nsecs_to_jiffies64(next) + 1);
}

static void free_run(struct kref *refs)
{
	struct fkt_kft_run *run = container_of(refs, struct fkt_kft_run, refs);

	close_owner(run);
	fkt_kft_log_free(&run->log);
	fkt_kft_plan_put(run->plan);
	kfree(run);
}

/* Called with the lock or without it. run: may be NULL. */
void fkt_kft_run_put(struct fkt_kft_run *run)
{
	if (run)
		kref_put(&run->refs, free_run);
}
