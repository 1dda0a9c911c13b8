/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of the recording. capture.c starts and stops it, steer.c changes it while it runs, power.c
 * parks it while the machine sleeps; the drain and the readers ask for it, and may end it.
 */
#ifndef FKT_RECORDING_H
#define FKT_RECORDING_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/cache.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <fkt/ioctl.h>

#include "ring/page_pool.h"
#include "drain_state.h"
#include "reader_state.h"

struct fkt_instrument_table;
struct pid;

struct fkt_recording {
	/*
	 * Protects all fields below. Never held while waiting for the output, accessing user memory, or waiting for
	 * another process's memory map; but for as long as the kernel takes to arm or to disarm hundreds of functions
	 * or instructions (seconds), or to get memory, and for up to a second in which a free page is waited for
	 * (define.c).
	 */
	struct mutex lock;
	enum fkt_state state; /* written under the lock, except RECORDING -> STOPPING */
	bool begun; /* in state RECORDING: the hooks are on, and probes write */
	atomic_t openers; /* number of open files */
	struct file *owner;
	struct pid *recorder; /* changes under pid_lock as well */
	kuid_t uid; /* of the owner, also when it has closed its file */
	spinlock_t pid_lock;
	bool draining; /* the hooks are off, and the drain was told to end */
	bool orphan; /* the owner has closed its file, and pages have to be written: `reap` does the rest */
	struct work_struct reap; /* finishes a recording whose owner has closed its file (capture.c) */
	wait_queue_head_t reaped;
	/*
	 * Places in user programs are being armed or disarmed, without the lock: meanwhile no other caller starts or
	 * exchanges, and the recording does not stop.
	 */
	bool arming;
	wait_queue_head_t armed; /* waiters for the end of `arming` */
	struct work_struct disarm; /* disarms them after the end (capture.c) */
	struct work_struct quicken; /* lets functions be recorded quickly after a begin by a hit (capture.c) */
	wait_queue_head_t ready; /* waiters of FKT_WAITREADY */
	wait_queue_head_t readers; /* tasks that wait in poll, splice or read for pages, or for the end */
	/* the machine is about to sleep or still waking up: nothing is recorded, and no recording can start */
	bool parked;
	struct {
		u64 boot_ns;
		u64 mask;
	} at_park; /* the time and the mask when it was parked */
	struct notifier_block power; /* power.c */
	wait_queue_head_t awake; /* waiters for the end of `parked` */
	bool overwrite; /* flight recorder: pages stay in the rings until the stop, the oldest are overwritten */
	bool leave; /* ... but at present they can be taken; changes under the reader's lock as well */
	bool closed; /* no more pages will be completed: the drain thread must write the rest and end */
	u64 recording; /* id */
	u64 mask; /* as last set, in any state */
	u32 table; /* number of the table of instruments in force, from 0 (instruments.c) */
	enum fkt_clock_source clock;
	bool waits; /* for a hit whose action is FKT_ACTION_START, unless started_by is set */
	bool is_beginning; /* a hit is the one that sets `since` and `started_by` */
	u32 started_by; /* index of that instrument, plus 1; 0: none. Set once, by its probe */
	bool primes; /* first it waits for a hit whose action is FKT_ACTION_PRIME, unless primed_by is set */
	u32 primed_by; /* as started_by */
	u64 since; /* ticks: start_clock, or the time of the hit in started_by; set by its probe */
	u64 start_clock;
	u64 stop_clock;
	enum fkt_stop_reason reason;
	int error;

	/* Protected as each structure says, not by the lock. Not on the cache line of `since`, which probes read. */
	struct fkt_drain drain ____cacheline_aligned_in_smp;
	struct fkt_writeback writeback;
	struct fkt_reader reader;
	struct fkt_fetch fetch;
	struct fkt_lent lent;
};

/*
 * There is one: the rings and other data of the probes are static. Only probes, the open functions of the device and
 * of /proc/kft, and the module's initialisation name it; all other code gets it as an argument, or from an open file.
 */
extern struct fkt_recording fkt_recording;

/* Returns the recording that calls on this open file of the device are about. */
static inline struct fkt_recording *fkt_recording_of(const struct file *file)
{
	const struct fkt_opener *opener = file->private_data;

	return opener->recording;
}

/* Takes the lock in a call from user space. -EINTR: the caller is being killed. */
static inline int fkt_recording_lock(struct fkt_recording *rec)
{
	return mutex_lock_killable(&rec->lock);
}

/* Caller must hold the lock. */
static inline bool fkt_recording_running(const struct fkt_recording *rec)
{
	return rec->state == FKT_RECORDING || rec->state == FKT_STOPPING;
}

/*
 * Returns whether pages stay in the rings at present: in a flight recorder, except during a snapshot
 * and after the stop. Needs no lock; may change at once unless the caller holds the reader's lock, and
 * even then at the stop.
 */
static inline bool fkt_recording_keeps(const struct fkt_recording *rec)
{
	return READ_ONCE(rec->overwrite) && !READ_ONCE(rec->leave) && !READ_ONCE(rec->closed);
}

/* Returns whether this owner has a recording that was not stopped yet. Caller must hold the lock. */
static inline bool fkt_recording_goes_on(const struct fkt_recording *rec, const struct file *owner)
{
	return rec->owner == owner && fkt_recording_running(rec) && !rec->draining;
}

int fkt_recording_lock_now(struct fkt_recording *rec);
int fkt_recording_lock_awake(struct fkt_recording *rec);
int fkt_recording_lock_to_arm(struct fkt_recording *rec);
void fkt_recording_armed(struct fkt_recording *rec);
struct fkt_instrument_table *fkt_recording_instruments(const struct fkt_recording *rec);
enum fkt_state fkt_recording_state(const struct fkt_recording *rec);
bool fkt_recording_begun(const struct fkt_recording *rec);
bool fkt_recording_owned_by(const struct fkt_recording *rec, const struct file *file);
void fkt_recording_wake_readers(struct fkt_recording *rec);
void fkt_recording_end(struct fkt_recording *rec, enum fkt_stop_reason reason, int error);
void fkt_recording_drained(struct fkt_recording *rec);
bool fkt_recording_waits(const struct fkt_recording *rec);
bool fkt_recording_is_unprimed(const struct fkt_recording *rec);
void fkt_recording_prime_by(struct fkt_recording *rec, u32 instrument);
void fkt_recording_begin_by(struct fkt_recording *rec, u32 instrument);
void fkt_recording_quicken(struct fkt_recording *rec);
u64 fkt_recording_layers(const struct fkt_recording *rec);
void fkt_recording_set_mask(struct fkt_recording *rec, u64 mask);
void fkt_recording_go_on(struct fkt_recording *rec);
void fkt_recording_wake_clock(const struct fkt_recording *rec);
void fkt_recording_fill_status(struct fkt_recording *rec, struct fkt_status *status);
bool fkt_recording_owner_name(struct fkt_recording *rec, char *name, pid_t *number);

#endif /* FKT_RECORDING_H */
