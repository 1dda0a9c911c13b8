/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of the recording: capture.c starts and stops it, steer.c changes it while it runs, power.c parks it. */
#ifndef FKT_CAPTURE_H
#define FKT_CAPTURE_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <fkt/ioctl.h>

struct file;
struct pid;

struct fkt_capture {
	/* protects all fields below; never held while waiting for the output or accessing user memory */
	struct mutex lock;
	enum fkt_state state; /* written under the lock, except RECORDING -> STOPPING */
	bool begun; /* in state RECORDING: the hooks are on, and probes write */
	struct file *owner;
	struct pid *recorder; /* changes under pid_lock as well */
	spinlock_t pid_lock;
	bool draining; /* the hooks are off, and the drain was told to end */
	bool orphan; /* draining, and the owner has closed its file: reap() does the rest */
	struct work_struct reap;
	wait_queue_head_t reaped;
	wait_queue_head_t ready; /* waiters of FKT_WAITREADY */
	/* the machine is about to sleep or still waking up: nothing is recorded, and no recording can start */
	bool parked;
	wait_queue_head_t awake; /* waiters for the end of `parked` */
	u64 recording;
	u64 mask; /* as last set, in any state */
	u64 start_clock;
	u64 stop_clock;
	enum fkt_stop_reason reason;
	int error;
};

extern struct fkt_capture fkt_capture;

/* Takes the lock in a call from user space. -EINTR: the caller is being killed. */
static inline int fkt_capture_lock(void)
{
	return mutex_lock_killable(&fkt_capture.lock);
}

static inline bool fkt_capture_running(void)
{
	return fkt_capture.state == FKT_RECORDING || fkt_capture.state == FKT_STOPPING;
}

/* Returns whether this owner has a recording that was not stopped yet. */
static inline bool fkt_capture_goes_on(const struct file *owner)
{
	return fkt_capture.owner == owner && fkt_capture_running() && !fkt_capture.draining;
}

int fkt_capture_start(struct file *owner, const struct fkt_start *start);
int fkt_capture_stop(struct file *owner);
int fkt_capture_opened(struct file *file);
void fkt_capture_closed(struct file *file);
void fkt_capture_end(enum fkt_stop_reason reason, int error);
void fkt_capture_glance(struct fkt_status *status);
void fkt_capture_drained(void);
void fkt_capture_exit(void);
bool fkt_capture_owner(const struct file *file);
enum fkt_state fkt_capture_state(void);
bool fkt_capture_begun(void);
void fkt_capture_set_mask(u64 mask);
void fkt_capture_finish(void);

#endif /* FKT_CAPTURE_H */
