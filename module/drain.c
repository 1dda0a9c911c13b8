// SPDX-License-Identifier: GPL-2.0-only
/*
 * The drain: one kernel thread that takes complete pages from the rings, in order per CPU, gives
 * them to an engine in chunks that are consecutive in the output, and puts them back as free ones.
 *
 *   wait -> retire finished chunks -> gather pages -> make room in the file -> write
 *
 * Chunks retire in the order of the file, so what is written is always one piece from the start:
 * when a write fails, that is where the recording ends, and what lies behind it is counted as
 * discarded. The kernel knows nothing of the file's format: pages at an offset, nothing else.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/falloc.h>
#include <linux/file.h>
#include <linux/kthread.h>
#include <linux/mount.h>
#include <linux/poll.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "drain.h"

#define TICK (HZ / 2) /* looks at the rings at least so often */
#define ALLOCATE_MIN (1ULL << 20) /* bytes of file space per step: from this, doubling, */
#define ALLOCATE_MAX (64ULL << 20) /* ... to this */

struct fkt_drain {
	struct task_struct *task;
	struct completion ended; /* the thread has written all, and touches nothing any more */
	const struct fkt_engine *engine;
	struct file *out;
	wait_queue_head_t wait; /* the thread's */
	wait_queue_head_t readers; /* poll and fetch */
	bool kicked;

	struct fkt_chunk *chunks; /* FKT_CHUNKS of them, used in a circle */
	u32 head; /* next chunk to fill */
	u32 tail; /* oldest chunk in flight */

	loff_t pos; /* where the next chunk goes */
	loff_t start; /* where the first page went */
	loff_t end; /* first byte that no page may use; 0: no limit */
	loff_t allocated; /* file space up to here is ours */
	u64 step; /* of the next allocation */
	bool allocates; /* the file system can */
	u64 reserve;
	u32 reserve_per_page;

	bool full; /* no further page is written: the rest is discarded */
	bool failed; /* ... and what is in flight behind the failed write, too */
	bool stop; /* no page comes any more: the thread shall write what there is and end */
	bool stopping; /* it has seen that */
	bool stop_when_full; /* the first loss ends the recording */
	bool overwrite; /* until the stop pages stay, the oldest make room */
	bool warned;
	u64 ticks_per_s;
	u64 next_clock; /* when the next clock event is due (ticks) */
	unsigned int first_cpu; /* where gathering starts, for fairness */

	u64 pages_written;
	u64 cpu_ns; /* CPU time of a thread that has ended */
	u32 wakeups;
};

static struct fkt_drain drain = {
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(drain.wait),
	.readers = __WAIT_QUEUE_HEAD_INITIALIZER(drain.readers),
};

/* Wakes the thread and whoever waits for pages. From irq_work, interrupts, tasks; not from probes. */
void fkt_drain_kick(void)
{
	/* Paired by the wait queue: the flag is set before the waiters are looked at. */
	WRITE_ONCE(drain.kicked, true);
	wake_up(&drain.wait);
	wake_up_interruptible(&drain.readers);
}

wait_queue_head_t *fkt_drain_readers(void)
{
	return &drain.readers;
}

/* Do pages wait for the owner to fetch them? */
bool fkt_drain_fetched(void)
{
	return READ_ONCE(drain.engine) == &fkt_engine_fetch;
}

/* Do pages stay, for the time being, where they are? Before the stop of a flight recorder. */
bool fkt_drain_keeps(void)
{
	return READ_ONCE(drain.overwrite) && !READ_ONCE(drain.stop);
}

/* ---- retiring ---- */

/* An engine's answer, in any context. result: bytes or -errno of this one write. */
void fkt_drain_written(struct fkt_chunk *chunk, ssize_t result)
{
	chunk->result = result;
	/* Pairs with the load-acquire in retire(): who sees it finished sees the result too. */
	smp_store_release(&chunk->finished, true);
	fkt_drain_kick();
}

static void give_back(struct fkt_page *page, bool written)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, page->cpu);

	if (written)
		c->written++;
	else
		c->discarded += page->events;
	fkt_ring_recycle(page);
}

static void output_failed(struct fkt_drain *d, int error)
{
	bool full = error == -ENOSPC || error == -EDQUOT || error == -EFBIG;

	d->failed = true;
	if (d->full)
		return;
	d->full = true;
	fkt_capture_end(full ? FKT_STOP_FULL : FKT_STOP_ERROR, -error);
}

/* The oldest chunk is finished: counts its pages and frees it. False: it goes on with its rest. */
static bool retire_chunk(struct fkt_drain *d, struct fkt_chunk *chunk)
{
	u32 page_bytes = fkt_rings_page_bytes();
	u32 i, good;

	if (!d->failed && chunk->result > 0) {
		chunk->written += chunk->result;
		if (chunk->written < chunk->bytes) {
			chunk->finished = false;
			d->engine->write(d, chunk);
			return false;
		}
	}
	good = chunk->written / page_bytes;
	if (good < chunk->count)
		output_failed(d, chunk->result < 0 ? chunk->result : -EIO);
	for (i = 0; i < chunk->count; i++)
		give_back(chunk->pages[i], i < good);
	d->pages_written += good;
	fkt_tell(FKT_E_PAGES_WRITTEN, good, chunk->pos);
	fkt_tell(FKT_E_PAGES_RECYCLED, chunk->count, chunk->count - good);
	return true;
}

static void retire(struct fkt_drain *d)
{
	while (d->tail != d->head) {
		struct fkt_chunk *chunk = &d->chunks[d->tail % FKT_CHUNKS];

		/* Pairs with the store-release in fkt_drain_written(). */
		if (!smp_load_acquire(&chunk->finished))
			break;
		/* After a failure the chunks behind it count as not written, whatever became of them. */
		if (d->failed)
			chunk->written = 0;
		if (retire_chunk(d, chunk))
			d->tail++;
	}
}

/* ---- writing ---- */

/*
 * Allocates file space up to `upto` and what is reserved behind it, in big steps: inside allocated
 * space direct writes need not wait, and the recorder's own tail finds room on a full disk.
 */
static int make_room(struct fkt_drain *d, loff_t upto)
{
	u64 pages = (upto - d->start) / fkt_rings_page_bytes();
	loff_t need = upto + d->reserve + d->reserve_per_page * pages;
	int err;

	while (d->allocates && need > d->allocated) {
		loff_t goal = max_t(loff_t, need, d->allocated + d->step);

		if (d->end)
			goal = max_t(loff_t, need, min_t(loff_t, goal, d->end + d->reserve));
		err = vfs_fallocate(d->out, 0, d->allocated, goal - d->allocated);
		if (!err) {
			d->allocated = goal;
			d->step = min(d->step * 2, ALLOCATE_MAX);
		} else if (err == -EOPNOTSUPP || err == -ENODEV || err == -EINTR) {
			d->allocates = false; /* the writes themselves will find room, or say so */
		} else if (goal > need && err == -ENOSPC) {
			d->step = max(d->step / 2, 1ULL);
		} else {
			return err;
		}
	}
	return 0;
}

/* Takes up to FKT_CHUNK_PAGES complete pages, CPU after CPU; returns how many. */
static u32 gather(struct fkt_drain *d, struct fkt_chunk *chunk)
{
	unsigned int i, cpu = d->first_cpu;

	chunk->count = 0;
	for (i = 0; i < nr_cpu_ids && chunk->count < FKT_CHUNK_PAGES; i++) {
		struct fkt_page *page;

		while (cpu_possible(cpu) && chunk->count < FKT_CHUNK_PAGES) {
			page = fkt_ring_collect(cpu);
			if (!page)
				break;
			chunk->pages[chunk->count++] = page;
		}
		cpu = (cpu + 1) % nr_cpu_ids;
	}
	d->first_cpu = cpu;
	return chunk->count;
}

/* Gives back, as discarded, what the size limit leaves no room for. */
static void cut_at_limit(struct fkt_drain *d, struct fkt_chunk *chunk)
{
	u32 room = chunk->count;

	if (d->end)
		room = min_t(u64, room, (d->end - d->pos) / fkt_rings_page_bytes());
	if (room == chunk->count && !d->full)
		return;
	if (d->full)
		room = 0;
	fkt_tell(FKT_E_PAGES_RECYCLED, chunk->count - room, chunk->count - room);
	while (chunk->count > room)
		give_back(chunk->pages[--chunk->count], false);
	if (!d->full) {
		d->full = true;
		fkt_capture_end(FKT_STOP_LIMIT, 0);
	}
}

/* Is there room for one more page that will be fetched? Under fetch.c's lock. */
bool fkt_drain_fetch_room(void)
{
	struct fkt_drain *d = &drain;

	if (d->end && d->pos + fkt_rings_page_bytes() > d->end) {
		fkt_capture_end(FKT_STOP_LIMIT, 0);
		return false;
	}
	d->pos += fkt_rings_page_bytes();
	return true;
}

static void submit(struct fkt_drain *d, struct fkt_chunk *chunk)
{
	u32 i, page_bytes = fkt_rings_page_bytes();

	for (i = 0; i < chunk->count; i++) {
		struct page *frame = virt_to_page(chunk->pages[i]->header);

		chunk->bvec[i] = (struct bio_vec){ .bv_page = frame, .bv_len = page_bytes };
	}
	chunk->drain = d;
	chunk->out = d->out;
	chunk->pos = d->pos;
	chunk->bytes = chunk->count * page_bytes;
	chunk->written = 0;
	chunk->finished = false;
	d->pos += chunk->bytes;
	d->head++;
	fkt_tell(FKT_E_PAGES_SUBMITTED, chunk->count, chunk->pos);
	d->engine->write(d, chunk);
}

/* Extra pages where few are left, as long as pages still come back. */
static void refill(struct fkt_drain *d)
{
	unsigned int cpu;

	if (d->full || d->stopping)
		return;
	for_each_possible_cpu(cpu)
		fkt_ring_refill(cpu);
}

/* Writes whatever is complete, as long as chunks are free. */
static void pump(struct fkt_drain *d)
{
	int err;

	while (d->head - d->tail < FKT_CHUNKS) {
		struct fkt_chunk *chunk = &d->chunks[d->head % FKT_CHUNKS];

		/* Before each write: it may take long. */
		refill(d);
		if (!gather(d, chunk))
			return;
		cut_at_limit(d, chunk);
		if (!chunk->count)
			continue;
		err = make_room(d, d->pos + (loff_t)chunk->count * fkt_rings_page_bytes());
		if (err) {
			output_failed(d, err);
			cut_at_limit(d, chunk);
			continue;
		}
		submit(d, chunk);
		retire(d);
	}
}

/* ---- the thread ---- */

/* A CPU that has lost events, or -1. */
static int cpu_with_losses(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(&fkt_rings, cpu)->lost))
			return cpu;
	return -1;
}

static void warn_of_losses(struct fkt_drain *d)
{
	int cpu = d->warned ? -1 : cpu_with_losses();

	if (cpu < 0)
		return;
	d->warned = true;
	pr_warn("no free page on CPU %d: its recording %s, losses are counted and marked\n", cpu,
		d->stop_when_full ? "ends" : "pauses");
}

static void housekeep(struct fkt_drain *d)
{
	u64 now = fkt_clock();
	unsigned int cpu;

	/*
	 * Not now if a CPU is coming or going: that may take long. Not in a flight recorder, where a
	 * page that is closed early costs as much history as a full one.
	 */
	if (!d->overwrite && cpus_read_trylock()) {
		for_each_online_cpu(cpu)
			fkt_ring_close_old(cpu, now, d->ticks_per_s);
		cpus_read_unlock();
	}
	warn_of_losses(d);
	if ((s64)(now - d->next_clock) >= 0) {
		d->next_clock += 60 * d->ticks_per_s;
		fkt_clock_emit();
	}
}

/* What the rings have; true: look again soon. */
static bool move_pages(struct fkt_drain *d)
{
	unsigned int cpu;

	if (d->overwrite && !d->stopping) {
		for_each_possible_cpu(cpu)
			fkt_ring_overwrite(cpu);
		return false;
	}
	if (!d->engine->write)
		return fkt_fetch_reclaim();
	retire(d);
	pump(d);
	return false;
}

static bool has_work(struct fkt_drain *d)
{
	return READ_ONCE(d->kicked) || (!d->stopping && READ_ONCE(d->stop));
}

static int drain_thread(void *data)
{
	struct fkt_drain *d = data;
	const struct cred *old = NULL;
	unsigned long next_look = jiffies;
	bool again = false; /* somebody still holds frames, and will not say when it lets go */

	/* Quotas and reserved blocks as they are for whoever opened the file. */
	if (d->out)
		old = override_creds(d->out->f_cred);
	do {
		wait_event_idle_timeout(d->wait, has_work(d), again ? HZ / 50 : TICK);
		/* Read before the rings: what is complete at a stop is seen by the last round. */
		d->stopping = READ_ONCE(d->stop);
		/*
		 * With a barrier: were the rings looked at while this store is on its way, it could undo
		 * the kick for a page that they did not show yet (tests/model, KICK_UNFENCED).
		 */
		smp_store_mb(d->kicked, false);
		d->wakeups++;
		fkt_tell_wake();
		/* Before pages come back, with which the CPU would go on behind its loss. */
		if (d->stop_when_full && cpu_with_losses() >= 0)
			fkt_capture_end(FKT_STOP_RING, 0);
		again = move_pages(d);
		if (time_after_eq(jiffies, next_look)) {
			next_look = jiffies + TICK;
			housekeep(d);
		}
		/* pump() leaves chunks in flight or the rings empty: a stop waits for the former. */
	} while (!d->stopping || d->head != d->tail);
	warn_of_losses(d);
	if (old)
		revert_creds(old);
	d->cpu_ns = current->se.sum_exec_runtime;
	complete(&d->ended);
	return 0;
}

static void set_limits(struct fkt_drain *d, const struct fkt_start *start)
{
	loff_t size = d->out ? i_size_read(d->out->f_mapping->host) : 0;

	d->pos = start->offset;
	d->start = start->offset;
	d->allocated = start->offset;
	d->end = start->limit ? start->offset + start->limit : 0;
	d->reserve = start->reserve;
	d->reserve_per_page = start->reserve_per_page;
	d->step = ALLOCATE_MIN;
	d->allocates = d->out && S_ISREG(file_inode(d->out)->i_mode);
	/* A device has the size that it has; the tail must fit behind the pages. */
	if (d->out && S_ISBLK(file_inode(d->out)->i_mode) && size > d->start + d->reserve) {
		u64 room = size - d->start - d->reserve;
		u32 page = fkt_rings_page_bytes();
		loff_t end = d->start + div_u64(room, page + d->reserve_per_page) * page;

		d->end = d->end ? min(d->end, end) : end;
	}
}

/* The engine asked for, the best one, or NULL if the output cannot do it. */
static const struct fkt_engine *choose_engine(const struct fkt_start *start, struct file *out)
{
	const struct fkt_engine *direct = NULL;

	if (!out)
		return &fkt_engine_fetch;
	if ((out->f_flags & O_DIRECT) && (out->f_mode & FMODE_CAN_ODIRECT))
		direct = &fkt_engine_direct;
	switch (FKT_START_ENGINE_OF(start->flags)) {
	case FKT_ENGINE_NONE:
		return direct ? direct : &fkt_engine_buffered;
	case FKT_ENGINE_DIRECT:
		return direct;
	case FKT_ENGINE_BUFFERED:
		return &fkt_engine_buffered;
	case FKT_ENGINE_CHECKIN:
		return fkt_checkin_possible(out) ? &fkt_engine_checkin : NULL;
	}
	return NULL;
}

/* Starts the thread. out: where pages go (a reference is taken); NULL: they are fetched. */
int fkt_drain_start(const struct fkt_start *start, struct file *out)
{
	const struct fkt_engine *engine = choose_engine(start, out);
	struct fkt_drain *d = &drain;
	struct task_struct *task;
	int err;

	if (!engine)
		return -EOPNOTSUPP;
	d->chunks = kcalloc(FKT_CHUNKS, sizeof(*d->chunks), GFP_KERNEL);
	if (!d->chunks)
		return -ENOMEM;
	d->head = 0;
	d->tail = 0;
	d->full = false;
	d->failed = false;
	d->stop = false;
	init_completion(&d->ended);
	d->stopping = false;
	d->stop_when_full = start->flags & FKT_START_STOP_WHEN_FULL;
	d->overwrite = start->flags & FKT_START_OVERWRITE;
	d->warned = false;
	d->kicked = false;
	d->pages_written = 0;
	d->cpu_ns = 0;
	d->wakeups = 0;
	d->first_cpu = 0;
	d->out = out ? get_file(out) : NULL;
	d->engine = engine;
	d->ticks_per_s = fkt_clock_khz() * 1000;
	d->next_clock = fkt_clock() + 60 * d->ticks_per_s;
	set_limits(d, start);

	err = engine->start ? engine->start(out, d->pos, fkt_rings_bytes()) : 0;
	if (err) {
		fkt_drain_release();
		return err;
	}
	task = kthread_create(drain_thread, d, "fkt_drain");
	if (IS_ERR(task)) {
		if (engine->stop)
			engine->stop();
		fkt_drain_release();
		return PTR_ERR(task);
	}
	get_task_struct(task);
	fkt_filter_own(task);
	/* It has little to do, but what it does late is lost. */
	set_user_nice(task, MIN_NICE);
	d->task = task;
	wake_up_process(task);
	return 0;
}

/* Says the thread's name in the recording, whose list of tasks is older. */
void fkt_drain_introduce(void)
{
	fkt_process_introduce(drain.task);
}

/* After the rings are closed: returns when every complete page is written, or can be fetched. */
void fkt_drain_stop(void)
{
	if (!drain.task)
		return;
	/*
	 * kthread_stop() only when the thread has nothing left to do: on 6.1 it marks the thread as
	 * if a signal were pending, and file systems then refuse what they would wait for.
	 */
	WRITE_ONCE(drain.stop, true);
	fkt_drain_kick();
	wait_for_completion(&drain.ended);
	kthread_stop(drain.task);
	put_task_struct(drain.task);
	drain.task = NULL;
	if (drain.engine->stop)
		drain.engine->stop();
	wake_up_interruptible(&drain.readers);
}

/* Drops the output and the chunks. */
void fkt_drain_release(void)
{
	if (drain.out)
		fput(drain.out);
	drain.out = NULL;
	kfree(drain.chunks);
	drain.chunks = NULL;
}

/* The recorder died: gives back the file space behind the last page. */
void fkt_drain_truncate(void)
{
	struct file *out = drain.out;
	const struct cred *old;

	if (!out || !S_ISREG(file_inode(out)->i_mode))
		return;
	old = override_creds(out->f_cred);
	vfs_truncate(&out->f_path,
		     drain.start + drain.pages_written * (loff_t)fkt_rings_page_bytes());
	revert_creds(old);
}

void fkt_drain_status(struct fkt_status *status)
{
	struct task_struct *task = drain.task;

	status->drain_ns = task ? READ_ONCE(task->se.sum_exec_runtime) : drain.cpu_ns;
	status->wakeups = drain.wakeups;
	if (!drain.engine)
		return;
	status->engine = drain.engine->id;
	status->bytes_copied = drain.engine->copies ? status->bytes_written : 0;
	if (drain.engine == &fkt_engine_checkin)
		status->bytes_copied = fkt_checkin_copied();
}
