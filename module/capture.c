// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state machine of the one recording:
 *
 *   IDLE --start--> RECORDING --stop, close--> STOPPED --free, close, start--> IDLE
 *                       \--limit, full, error--> STOPPING --stop, close-->/
 *
 * A start goes clock, filter, memory, drain, hooks, mask; a stop goes the same way back. Only when
 * the hooks are off and every probe has returned are the CPUs' open pages closed, and only then is
 * the drain told to finish.
 */

#include <linux/file.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>

#include "fkt.h"

u64 fkt_mask;
DEFINE_STATIC_KEY_FALSE(fkt_key_args);
DEFINE_STATIC_KEY_TRUE(fkt_key_pairs);
DEFINE_STATIC_KEY_FALSE(fkt_key_special);

static struct {
	struct mutex lock; /* of all below */
	enum fkt_state state; /* written under the lock, but for RECORDING -> STOPPING */
	struct file *owner;
	struct pid *recorder;
	wait_queue_head_t ready; /* FKT_WAITREADY */
	u64 recording;
	u64 mask; /* as last set, whatever state */
	u64 start_clock;
	u64 stop_clock;
	enum fkt_stop_reason reason;
	int error;
	bool asleep; /* the machine sleeps, or is about to: nothing is recorded */
	struct fkt_sleep sleep; /* since when, if there is a recording */
} capture = {
	.lock = __MUTEX_INITIALIZER(capture.lock),
	.ready = __WAIT_QUEUE_HEAD_INITIALIZER(capture.ready),
};

/* Lockless glance, for poll and fetch: both look again when they are woken. */
enum fkt_state fkt_capture_state(void)
{
	return READ_ONCE(capture.state);
}

bool fkt_capture_owner(struct file *file)
{
	/* Pairs with the store-release in prepare(): with the owner comes all that it may use. */
	return smp_load_acquire(&capture.owner) == file;
}

static bool running(void)
{
	return capture.state == FKT_RECORDING || capture.state == FKT_STOPPING;
}

/* ---- stop ---- */

/*
 * The recording ends by itself (limit, full disk, error); hooks stay until the owner stops it. Drain
 * thread, without the lock: the lock's holder may be waiting for that thread.
 */
void fkt_capture_end(enum fkt_stop_reason reason, int error)
{
	if (cmpxchg(&capture.state, FKT_RECORDING, FKT_STOPPING) != FKT_RECORDING)
		return;
	WRITE_ONCE(fkt_mask, 0);
	WRITE_ONCE(capture.stop_clock, fkt_clock());
	WRITE_ONCE(capture.error, error);
	/* Pairs with the load-acquire in fkt_capture_status(): with the reason come error and clock. */
	smp_store_release(&capture.reason, reason);
	fkt_drain_kick();
}

static void stop_locked(void)
{
	fkt_capture_end(FKT_STOP_ASKED, 0);
	/* Returns when every probe that was running has returned. */
	fkt_detach_all();
	fkt_filter_stop();
	fkt_rings_close();
	fkt_drain_stop();
	/* Now that the drain writes no event either. */
	fkt_when_stop();
	WRITE_ONCE(capture.state, FKT_STOPPED);
	wake_up_interruptible(fkt_drain_readers());
}

/* STOPPED -> IDLE: nothing can be fetched any more. Counts stay until the next start. */
static void finish_locked(void)
{
	struct file *owner = capture.owner;

	/* First, so that no fetch begins that would meet the rings when they are gone. */
	WRITE_ONCE(capture.owner, NULL);
	fkt_owner_reset(owner);
	fkt_drain_release();
	fkt_rings_stop();
	put_pid(capture.recorder);
	capture.recorder = NULL;
	WRITE_ONCE(capture.state, FKT_IDLE);
	module_put(THIS_MODULE);
}

/* FKT_STOP. */
int fkt_capture_stop(struct file *owner)
{
	int err = 0;

	mutex_lock(&capture.lock);
	if (capture.owner != owner)
		err = -ENODATA;
	else if (running())
		stop_locked();
	mutex_unlock(&capture.lock);
	return err;
}

/* The device was closed, by whatever: a recording that still runs ends here, and stays readable. */
void fkt_capture_closed(struct file *owner)
{
	mutex_lock(&capture.lock);
	if (capture.owner == owner) {
		if (running()) {
			fkt_drain_inherit();
			stop_locked();
			fkt_drain_truncate();
		}
		finish_locked();
	}
	mutex_unlock(&capture.lock);
}

/* ---- start ---- */

static int check_start(const struct fkt_start *start)
{
	if (start->abi != FKT_ABI_VERSION || start->size != sizeof(*start))
		return -EPROTO;
	if (start->mask & ~fkt_all_layers())
		return -EINVAL;
	if (start->flags & ~(FKT_START_ARGS | FKT_START_STOP_WHEN_FULL | FKT_START_OVERWRITE |
			     FKT_START_NO_PAIRS | FKT_START_ENGINE(0xff)))
		return -EINVAL;
	if ((start->flags & FKT_START_STOP_WHEN_FULL) && (start->flags & FKT_START_OVERWRITE))
		return -EINVAL;
	if (FKT_START_ENGINE_OF(start->flags) == FKT_ENGINE_LEND && start->out_fd >= 0 &&
	    !(start->flags & FKT_START_OVERWRITE))
		return -EINVAL;
	if (start->out_fd >= 0 && (start->offset % PAGE_SIZE || (loff_t)start->offset < 0 ||
				   (loff_t)(start->offset + start->limit) < 0))
		return -EINVAL;
	return 0;
}

static struct file *get_output(const struct fkt_start *start)
{
	struct file *out;

	if (start->out_fd < 0)
		return NULL;
	out = fget(start->out_fd);
	if (!out)
		return ERR_PTR(-EBADF);
	if ((out->f_mode & FMODE_WRITE) && !(out->f_flags & O_APPEND) && out->f_op->write_iter &&
	    (S_ISREG(file_inode(out)->i_mode) || S_ISBLK(file_inode(out)->i_mode)))
		return out;
	fput(out);
	return ERR_PTR(-EBADF);
}

static void prepare(struct file *owner, const struct fkt_start *start)
{
	/* Pairs with the load-acquire in fkt_capture_owner(): rings and engine are there. */
	smp_store_release(&capture.owner, owner);
	capture.recorder = get_pid(task_tgid(current));
	capture.recording = start->recording;
	capture.mask = start->mask;
	capture.reason = FKT_STOP_NONE;
	capture.error = 0;
	capture.start_clock = fkt_clock();
	capture.stop_clock = 0;
	WRITE_ONCE(capture.state, FKT_RECORDING);
}

/* Sets what probes record; before that come the hooks, and the rings. */
static void set_mask(u64 mask)
{
	if (mask & ~fkt_mask & 1ULL << FKT_L_SYSTEM)
		fkt_when_calls_begin();
	/* Whoever sees the mask sees the rings. */
	smp_store_release(&fkt_mask, mask);
}

/* From here on probes write. Only now, so that switching the hooks on is not recorded. */
static void begin(void)
{
	capture.start_clock = fkt_clock();
	if (capture.asleep) {
		fkt_clock_sleep(&capture.sleep);
		return;
	}
	set_mask(capture.mask);
	fkt_drain_introduce();
}

static void set_key(struct static_key_false *key, bool on)
{
	if (on)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

static void set_keys(const struct fkt_start *start)
{
	bool args = start->flags & FKT_START_ARGS;

	set_key(&fkt_key_args, args);
	if (start->flags & FKT_START_NO_PAIRS || start->clock != FKT_CLOCK_TSC || !fkt_when_pairs())
		static_branch_disable(&fkt_key_pairs);
	else
		static_branch_enable(&fkt_key_pairs);
	set_key(&fkt_key_special,
		args || start->filter != FKT_FILTER_NONE || start->clock != FKT_CLOCK_TSC);
}

/* `condition` is freed in any case. */
static int start_locked(struct file *owner, const struct fkt_start *start, struct file *out,
			struct fkt_when *condition)
{
	int err;

	err = fkt_when_start(condition);
	if (err)
		return err;
	err = fkt_clock_start(start->clock);
	if (err)
		goto err_when;
	err = fkt_filter_start(start->filter, start->filter_pid);
	if (err)
		goto err_when;
	err = fkt_rings_start(start->recording);
	if (err)
		goto err_filter;
	err = fkt_drain_start(start, out);
	if (err)
		goto err_rings;
	set_keys(start);
	fkt_attach_start();
	__module_get(THIS_MODULE);
	prepare(owner, start);
	err = fkt_attach_layers(start->mask);
	if (!err)
		err = fkt_filter_adopt();
	if (!err) {
		begin();
		return 0;
	}
	stop_locked();
	finish_locked();
	return err;

err_rings:
	fkt_rings_stop();
err_filter:
	fkt_filter_stop();
err_when:
	fkt_when_stop();
	return err;
}

/* Two recordings cannot be: the second one's condition is nobody's. */
static int start_or_refuse(struct file *owner, const struct fkt_start *start, struct file *out,
			   struct fkt_when *condition)
{
	int err = -EBUSY;

	mutex_lock(&capture.lock);
	if (capture.owner == owner && capture.state == FKT_STOPPED)
		finish_locked();
	if (!capture.owner)
		err = start_locked(owner, start, out, condition);
	else
		kvfree(condition);
	mutex_unlock(&capture.lock);
	return err;
}

/* FKT_START. EBUSY: another open file records; EPROTO: another ABI. */
int fkt_capture_start(struct file *owner, const struct fkt_start *start)
{
	struct fkt_when *condition;
	struct file *out;
	int err;

	err = check_start(start);
	if (err)
		return err;
	condition = fkt_when_get(start);
	if (IS_ERR(condition))
		return PTR_ERR(condition);
	out = get_output(start);
	if (IS_ERR(out)) {
		kvfree(condition);
		return PTR_ERR(out);
	}
	err = start_or_refuse(owner, start, out, condition);
	if (out)
		fput(out);
	if (!err)
		wake_up_all(&capture.ready);
	return err;
}

/* ---- while recording ---- */

/* Says in the recording that from here on other layers are in it. */
static void emit_mask(u64 mask)
{
	preempt_disable_notrace();
	fkt_emit(FKT_E_MASK, 0, &mask, FKT_N_MASK);
	preempt_enable_notrace();
}

/* If the recording ends by itself meanwhile, the mask must stay 0: looks at the state after setting it. */
static void set_mask_if_recording(u64 mask)
{
	set_mask(mask);
	smp_mb(); /* pairs with the cmpxchg in fkt_capture_end() */
	if (READ_ONCE(capture.state) != FKT_RECORDING)
		WRITE_ONCE(fkt_mask, 0);
}

/* New mask = (old | set) & ~clear. ENODATA: nothing is being recorded. */
int fkt_capture_mask(u64 set, u64 clear)
{
	u64 mask;
	int err = 0;

	if (set & ~fkt_all_layers())
		return -EINVAL;
	mutex_lock(&capture.lock);
	if (capture.state != FKT_RECORDING) {
		err = -ENODATA;
	} else {
		mask = (capture.mask | set) & ~clear;
		/* Hooks before the mask when layers come, after it when they go. */
		err = fkt_attach_layers(mask | capture.mask);
		if (!err) {
			capture.mask = mask;
			if (!capture.asleep) {
				set_mask_if_recording(mask);
				emit_mask(mask);
			}
		}
		fkt_attach_layers(capture.mask);
	}
	mutex_unlock(&capture.lock);
	return err;
}

/*
 * The machine is about to sleep: from here on nothing is recorded, and what was is written when this
 * returns. EBUSY: the output does not take it; the recording goes on.
 */
int fkt_capture_pause(void)
{
	int err = 0;

	mutex_lock(&capture.lock);
	capture.asleep = true;
	if (running()) {
		WRITE_ONCE(fkt_mask, 0);
		fkt_attach_wait();
		if (capture.state == FKT_RECORDING)
			emit_mask(0);
		fkt_clock_sleep(&capture.sleep);
		fkt_rings_close_open();
		err = fkt_drain_pause();
	}
	mutex_unlock(&capture.lock);
	if (err)
		fkt_capture_resume();
	return err;
}

/* What was recorded until capture.sleep was recorded by this clock, what comes now by another one. */
static bool wake_clock(void)
{
	if (!fkt_clock_wake(&capture.sleep))
		return false;
	static_branch_disable(&fkt_key_pairs);
	static_branch_enable(&fkt_key_special);
	return true;
}

/* The machine is awake. */
void fkt_capture_resume(void)
{
	mutex_lock(&capture.lock);
	if (capture.asleep && running()) {
		bool restarted = wake_clock();
		u64 words[FKT_N_ASLEEP] = {
			capture.sleep.clock, ktime_get_boottime_ns() - capture.sleep.boot_ns,
		};

		fkt_drain_resume();
		if (capture.state == FKT_RECORDING) {
			preempt_disable_notrace();
			fkt_emit(FKT_E_ASLEEP, restarted, words, FKT_N_ASLEEP);
			preempt_enable_notrace();
			emit_mask(capture.mask);
			set_mask_if_recording(capture.mask);
			fkt_clock_emit();
		}
	}
	capture.asleep = false;
	mutex_unlock(&capture.lock);
}

/* FKT_WAITREADY. */
int fkt_capture_wait_ready(void)
{
	return wait_event_interruptible(capture.ready, fkt_capture_state() == FKT_RECORDING);
}

/* FKT_JOIN. */
int fkt_capture_join(void)
{
	int err;

	mutex_lock(&capture.lock);
	err = running() ? fkt_filter_join() : -ENODATA;
	mutex_unlock(&capture.lock);
	return err;
}

/* FKT_FIRED. EAGAIN: the condition did not come true. */
int fkt_capture_fired(struct file *file, struct fkt_fired *fired)
{
	int err = -ENODATA;

	mutex_lock(&capture.lock);
	if (capture.owner == file && running())
		err = fkt_when_fired(fired);
	mutex_unlock(&capture.lock);
	return err;
}

/* FKT_FLIGHT: a snapshot of a flight recorder begins, is about to end, has ended. */
int fkt_capture_flight(struct file *file, enum fkt_flight_step step)
{
	int err = 0;

	mutex_lock(&capture.lock);
	if (capture.owner != file || !running()) {
		err = -ENODATA;
	} else if (step == FKT_FLIGHT_STAY) {
		err = fkt_drain_leave(false);
	} else if (step == FKT_FLIGHT_LEAVE || step == FKT_FLIGHT_CLOSE) {
		/* Before, so that what happens from now on does not push out what was there. */
		if (step == FKT_FLIGHT_LEAVE)
			err = fkt_drain_leave(true);
		if (!err)
			fkt_rings_close_open();
	} else {
		err = -EINVAL;
	}
	mutex_unlock(&capture.lock);
	return err;
}

/* FKT_INDEX. */
int fkt_capture_index(struct file *file, const struct fkt_index *index)
{
	int err = -ENODATA;

	mutex_lock(&capture.lock);
	if (capture.owner == file && capture.state == FKT_STOPPED)
		err = fkt_index_give(index);
	mutex_unlock(&capture.lock);
	return err;
}

/* ---- memory ---- */

/* Runs `change` when no recording uses the pages; EBUSY otherwise. */
static int with_idle_rings(int (*change)(u32), u32 value)
{
	int err = -EBUSY;

	mutex_lock(&capture.lock);
	if (capture.state == FKT_IDLE)
		err = change(value);
	mutex_unlock(&capture.lock);
	return err;
}

static int set_dma(u32 low)
{
	fkt_rings_set_dma(low);
	return 0;
}

static int free_rings(u32 unused)
{
	fkt_rings_free();
	return 0;
}

int fkt_capture_set_pow(u32 pow)
{
	return with_idle_rings(fkt_rings_set_pow, pow);
}

int fkt_capture_set_dma(u32 low)
{
	return with_idle_rings(set_dma, low);
}

/* FKT_FREEBUFFER: ends a stopped recording first, if it is the caller's. */
int fkt_capture_free(struct file *file)
{
	mutex_lock(&capture.lock);
	if (capture.owner == file && capture.state == FKT_STOPPED)
		finish_locked();
	mutex_unlock(&capture.lock);
	return with_idle_rings(free_rings, 0);
}

/* ---- status ---- */

static void add_cpu(struct fkt_status *status, unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	status->events += fkt_ring_events(cpu);
	status->lost += READ_ONCE(c->ring->lost);
	status->clock_back += READ_ONCE(c->ring->clock_back);
	status->discarded += READ_ONCE(c->discarded);
	status->overwritten += READ_ONCE(c->overwritten);
	status->pages_written += READ_ONCE(c->written);
	status->pages_total += c->count;
	status->pages_extra += c->extra;
	if (c->ready && c->lowest_free < status->lowest_free)
		status->lowest_free = c->lowest_free;
	if (fkt_cpu_ready(c)) {
		status->pages_free += fkt_ring_free(c->ring);
		status->cpus_paused += fkt_ring_in_gap(READ_ONCE(c->ring->word));
	}
	status->cpus = cpu + 1;
}

/* FKT_STATUS. */
int fkt_capture_status(struct fkt_status *status)
{
	unsigned int cpu;

	memset(status, 0, sizeof(*status));
	mutex_lock(&capture.lock);
	status->state = capture.state;
	/* Pairs with the store-release in fkt_capture_end(). */
	status->stop_reason = smp_load_acquire(&capture.reason);
	status->error = READ_ONCE(capture.error);
	status->recorder = pid_vnr(capture.recorder);
	status->recording = capture.recording;
	status->mask = capture.state == FKT_RECORDING ? capture.mask : 0;
	status->missing = fkt_attach_missing();
	status->missed = fkt_attach_missed();
	status->start_clock = capture.start_clock;
	status->stop_clock = READ_ONCE(capture.stop_clock);
	status->page_bytes = fkt_rings_page_bytes();
	status->lowest_free = U32_MAX;
	for_each_possible_cpu(cpu)
		add_cpu(status, cpu);
	if (status->lowest_free == U32_MAX)
		status->lowest_free = 0;
	status->bytes_written = status->pages_written * status->page_bytes;
	fkt_drain_status(status);
	fkt_own_status(status);
	mutex_unlock(&capture.lock);
	return 0;
}

/* FKT_CPU_STATUS. */
int fkt_capture_cpu_status(struct fkt_cpu_status *status)
{
	struct fkt_cpu *c;
	u32 cpu = status->cpu;

	if (cpu >= nr_cpu_ids)
		return -ENXIO;
	memset(status, 0, sizeof(*status));
	status->cpu = cpu;
	if (!cpu_possible(cpu))
		return 0;
	mutex_lock(&capture.lock);
	c = per_cpu_ptr(&fkt_cpus, cpu);
	status->events = fkt_ring_events(cpu);
	status->lost = READ_ONCE(c->ring->lost);
	status->discarded = c->discarded;
	status->overwritten = c->overwritten;
	status->pages_written = c->written;
	if (c->ready)
		status->pages_free = fkt_ring_free(c->ring);
	if (fkt_ring_in_gap(READ_ONCE(c->ring->word))) {
		status->gap_from = c->ring->gap_from;
		status->gap_lost = c->ring->lost - c->lost;
	} else if (capture.state == FKT_STOPPED && c->ring->lost != c->lost) {
		/*
		 * Who lost an event was interrupted before it counted that, and the gap was over when it
		 * did: the next page's header would say so, but there is none.
		 */
		status->gap_from = capture.stop_clock;
		status->gap_lost = c->ring->lost - c->lost;
	}
	mutex_unlock(&capture.lock);
	return 0;
}
