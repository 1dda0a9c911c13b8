/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of the recording. capture.c starts and stops it, steer.c changes it while it runs, power.c
 * parks it while the machine sleeps; the drain and the readers ask for it, and may end it.
 */
#ifndef FKT_RECORDING_H
#define FKT_RECORDING_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <fkt/ioctl.h>

struct file;
struct fkt_instrument_table;
struct pid;

struct fkt_recording {
	/* protects all fields below; never held while waiting for the output or accessing user memory */
	struct mutex lock;
	enum fkt_state state; /* written under the lock, except RECORDING -> STOPPING */
	bool begun; /* in state RECORDING: the hooks are on, and probes write */
	struct file *owner;
	struct pid *recorder; /* changes under pid_lock as well */
	spinlock_t pid_lock;
	bool draining; /* the hooks are off, and the drain was told to end */
	bool orphan; /* draining, and the owner has closed its file: `reap` does the rest */
	struct work_struct reap; /* finishes a recording whose owner has closed its file (capture.c) */
	wait_queue_head_t reaped;
	struct work_struct quicken; /* lets functions be recorded quickly after a begin by a hit (capture.c) */
	wait_queue_head_t ready; /* waiters of FKT_WAITREADY */
	wait_queue_head_t readers; /* tasks that wait in poll, splice or read for pages, or for the end */
	/* the machine is about to sleep or still waking up: nothing is recorded, and no recording can start */
	bool parked;
	wait_queue_head_t awake; /* waiters for the end of `parked` */
	bool overwrite; /* flight recorder: pages stay in the rings until the stop, the oldest are overwritten */
	bool leave; /* ... but at present they can be taken; changes under the reader's lock as well */
	bool closed; /* no more pages will be completed: the drain thread must write the rest and end */
	u64 recording; /* id */
	u64 mask; /* as last set, in any state */
	enum fkt_clock_source clock;
	bool waits; /* for a hit whose action is FKT_ACTION_START, unless started_by says that there was one */
	u32 started_by; /* index of that instrument, plus 1; 0: none. Set once, by its probe */
	bool primes; /* it waits for that only after a hit whose action is FKT_ACTION_PRIME, unless there was one */
	u32 primed_by; /* as started_by */
	u64 since; /* ticks: start_clock, or the time of that hit; set by its probe, likewise */
	u64 start_clock;
	u64 stop_clock;
	enum fkt_stop_reason reason;
	int error;
};

extern struct fkt_recording fkt_recording;

/* Takes the lock in a call from user space. -EINTR: the caller is being killed. */
static inline int fkt_recording_lock(void)
{
	return mutex_lock_killable(&fkt_recording.lock);
}

/* Caller must hold the lock. */
static inline bool fkt_recording_running(void)
{
	return fkt_recording.state == FKT_RECORDING || fkt_recording.state == FKT_STOPPING;
}

/*
 * Returns whether pages stay in the rings at present: in a flight recorder, except during a snapshot
 * and after the stop. Needs no lock; may change at once unless the caller holds the reader's lock, and
 * even then at the stop.
 */
static inline bool fkt_recording_keeps(void)
{
	return READ_ONCE(fkt_recording.overwrite) && !READ_ONCE(fkt_recording.leave) &&
	       !READ_ONCE(fkt_recording.closed);
}

/* Returns whether this owner has a recording that was not stopped yet. Caller must hold the lock. */
static inline bool fkt_recording_goes_on(const struct file *owner)
{
	return fkt_recording.owner == owner && fkt_recording_running() && !fkt_recording.draining;
}

int fkt_recording_lock_awake(void);
struct fkt_instrument_table *fkt_recording_instruments(void);
enum fkt_state fkt_recording_state(void);
bool fkt_recording_begun(void);
bool fkt_recording_owned_by(const struct file *file);
void fkt_recording_wake_readers(void);
void fkt_recording_end(enum fkt_stop_reason reason, int error);
void fkt_recording_drained(void);
bool fkt_recording_waits(void);
bool fkt_recording_is_unprimed(void);
void fkt_recording_prime_by(u32 instrument);
void fkt_recording_begin_by(u32 instrument);
void fkt_recording_quicken(void);
void fkt_recording_set_mask(u64 mask);
void fkt_recording_go_on(void);
void fkt_recording_wake_clock(void);
void fkt_recording_glance(struct fkt_status *status);
bool fkt_recording_owner_name(char *name, pid_t *number);

#endif /* FKT_RECORDING_H */
