/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations shared by the module's files. Data flow: probes -> ring.c -> drain.c -> an engine.
 * Control flow: control.c -> capture.c -> attach.c, ring.c, drain.c.
 */
#ifndef FKT_MODULE_H
#define FKT_MODULE_H

#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/condition.h>
#include <fkt/wire.h>

#include "writer.h"

/* Smallest and largest number of 4 KiB pages per CPU, as powers of two. */
#define FKT_POW_MIN 1
#define FKT_POW_MAX 16
#define FKT_POW_DEFAULT 10
/* Pages per CPU that a flight recorder keeps free, if the CPU has at least four times as many. */
#define FKT_AHEAD_PAGES 64U

/* Settings of one open file, in its private_data. */
struct fkt_opener {
	u32 pow; /* FKT_SETINITPOWPAGES */
	bool low; /* FKT_SETTRYDMA */
};

/* ---- ring.c: the CPUs' rings ---- */

/*
 * One page of a ring: 1 << order physically contiguous frames, each with its own reference count, so
 * that splice can hand them out one by one.
 */
struct fkt_page {
	struct fkt_page_header *header;
	struct list_head node; /* in a pool, one of fetch.c's lists, or drain.inherited */
	refcount_t refs; /* one for the pool, and one for each frame handed out by splice */
	u32 cpu;
	u32 events; /* copied from the header when the page was taken from its ring */
	u8 order;
	/* used by fetch.c only: */
	bool fetched; /* counted as written */
	bool copied; /* some frame is in two pipes */
	u32 unsent; /* first byte that must be handed out again, or FKT_ALL_SENT */
	/* used by lend.c only: */
	u32 number; /* place in the owner's mapping, or FKT_NO_NUMBER */
	bool lent; /* lent to the owner, or was when the owner died */
};

#define FKT_ALL_SENT U32_MAX
#define FKT_NO_NUMBER U32_MAX

/* The drain's data about one CPU. While recording, only the drain thread writes it, except where noted. */
struct fkt_cpu {
	struct fkt_ring *ring;
	struct fkt_page **pages; /* parallel to ring->slots */
	struct list_head pool; /* pages that are not queued; between recordings all of them */
	u32 pool_pages;
	u32 count; /* all pages of this CPU */
	u32 wanted; /* configured number of pages; those above it are extra pages */
	u32 extra; /* extra pages allocated in this recording */
	u32 lowest_free; /* smallest number of free pages found by the drain */
	u64 events; /* events in the pages taken */
	u64 lost; /* events lost before the last page taken; later losses in the ring's count are in no page yet */
	u64 written; /* pages */
	u64 discarded; /* events */
	u64 overwritten; /* events */
	/*
	 * Protects ready, pages, ring->slots and ring->tail against readers other than the drain side:
	 * while it is held, no page is taken from the ring, and none of the pages in it is freed.
	 */
	spinlock_t take_lock;
	bool ready; /* store-release by ring setup, load-acquire by the drain */
	bool closing; /* close_call is under way; set by the drain, cleared when it is done */
	call_single_data_t close_call; /* closes the open page, on its own CPU */
	struct irq_work wake_work;
};

DECLARE_PER_CPU(struct fkt_cpu, fkt_cpus);

/* Returns whether the CPU has a ring with pages; if true, the caller sees the completely set up ring. */
static inline bool fkt_cpu_ready(const struct fkt_cpu *c)
{
	/* Pairs with the store-release in ring.c, start_ring(). */
	return smp_load_acquire(&c->ready);
}

int fkt_rings_init(void);
void fkt_rings_exit(void);
int fkt_rings_start(u64 recording, bool stop_when_full);
void fkt_rings_close(void);
void fkt_rings_stop(void);
void fkt_wake_soon(void);
bool fkt_rings_full(void);
void fkt_ring_recycle(struct fkt_page *page);
void fkt_ring_refill(unsigned int cpu);
void fkt_ring_close_old(unsigned int cpu, u64 now, u64 ticks_per_s);
void fkt_rings_close_open(void);
void fkt_rings_pause(void);
void fkt_rings_resume(void);

/* ---- ring_take.c: what the drain side takes from the rings ---- */

void fkt_ring_fill(unsigned int cpu, u32 *filled, u32 *free);
bool fkt_ring_short(unsigned int cpu);
void fkt_ring_overwrite(unsigned int cpu);
struct fkt_page *fkt_ring_collect(unsigned int cpu);
bool fkt_ring_has_complete(unsigned int cpu);
u64 fkt_ring_events(unsigned int cpu);

/* ---- pages.c: the pages of the rings ---- */

void fkt_rings_configure(const struct fkt_opener *opener);
void fkt_rings_free(void);
u32 fkt_rings_page_bytes(void);
u32 fkt_pow_page_bytes(u32 pow);
u64 fkt_rings_bytes(void);
int fkt_pool_fill(struct fkt_cpu *c, unsigned int cpu);
int fkt_pool_add(struct fkt_cpu *c, unsigned int cpu);
void fkt_pool_put(struct fkt_cpu *c, struct fkt_page *page);
int fkt_page_renew(struct fkt_page *page);
void fkt_frames_put(struct page *frames, u32 bytes);
void fkt_page_unref(struct fkt_page *page);
bool fkt_page_alone(struct fkt_page *page);

/* ---- drain.c: takes complete pages, passes them to an engine, recycles them ---- */

#define FKT_CHUNK_PAGES 16 /* pages of one write */
#define FKT_CHUNKS 8 /* chunks in flight */

struct fkt_drain;
struct fkt_chunk;
struct fkt_index_entry;

/* A way for pages to leave. Common to all engines: whole pages, in order per CPU, each given back once. */
struct fkt_engine {
	enum fkt_engine_id id;
	const char *name;
	/*
	 * Writes a chunk at chunk->pos. Must lead to exactly one call of fkt_drain_written(), now or
	 * later, in any context. NULL: the owner takes the pages.
	 */
	void (*write)(struct fkt_drain *drain, struct fkt_chunk *chunk);
	/* Optional: called before the first write and after the last. */
	int (*start)(struct file *out, loff_t pos, u64 ring_bytes);
	void (*stop)(void);
	/* A CPU copies every byte. */
	bool copies;
	/* A written page is on the disk unchanged, and its header is still in memory. */
	bool remembers;
};

extern const struct fkt_engine fkt_engine_direct;
extern const struct fkt_engine fkt_engine_buffered;
extern const struct fkt_engine fkt_engine_fetch;
extern const struct fkt_engine fkt_engine_checkin;
extern const struct fkt_engine fkt_engine_lend;

bool fkt_checkin_possible(struct file *out);
u64 fkt_checkin_copied(void);

int fkt_drain_start(const struct fkt_start *start, struct file *out);
void fkt_drain_finish(void);
int fkt_drain_wait(void);
void fkt_drain_join(void);
bool fkt_drain_ended(void);
void fkt_drain_stop(void);
void fkt_drain_introduce(void);
void fkt_drain_release(void);
void fkt_drain_inherit(void);
void fkt_drain_truncate(void);
void fkt_drain_kick(void);
bool fkt_drain_park(void);
int fkt_drain_wait_parked(long limit);
void fkt_drain_unpark(void);
void fkt_drain_wake_readers(void);
bool fkt_drain_leaves_by(const struct fkt_engine *engine);
int fkt_drain_leave(bool leave);
bool fkt_drain_keeps(void);
bool fkt_drain_fetch_room(void);
void fkt_drain_status(struct fkt_status *status);
wait_queue_head_t *fkt_drain_readers(void);

/* ---- when.c: the condition whose coming true the owner is told of ---- */

struct fkt_when;
struct fkt_when *fkt_when_get(const struct fkt_start *start);
int fkt_when_start(struct fkt_when *condition);
void fkt_when_stop(void);
bool fkt_when_pairs(void);
bool fkt_when_pending(void);
int fkt_when_fired(struct fkt_fired *fired);
bool fkt_when_calls(void);
bool fkt_when_lockups(void);
bool fkt_when_measures(void);
void fkt_when_calls_begin(void);
void fkt_when_forget(pid_t tid);
void fkt_when_renumber(pid_t old, pid_t new_);
void fkt_when_entry(const struct task_struct *task, bool returns);
void fkt_when_exit(const struct task_struct *task, u32 id, long ret);

/* ---- own.c: how much of the recording the recorder causes itself ---- */

void fkt_own_start(const struct task_struct *drain);
void fkt_own_look(const struct fkt_page_header *header);
void fkt_own_status(struct fkt_status *status);

/* ---- index.c: index entries of the pages written last ---- */

void fkt_index_start(void);
void fkt_index_stop(void);
void fkt_index_add(const struct fkt_page_header *header);
int fkt_index_copy(const struct fkt_index *index, u32 done, struct fkt_index_entry *to, u32 count);
int fkt_index_give(struct file *file, const struct fkt_index *index);

/* ---- tell.c: events of layer fkt ---- */

void fkt_tell(u32 id, u32 pages, u64 word);
void fkt_tell_wake(void);

/* ---- owner.c: common parts of fetch.c and lend.c ---- */

bool fkt_owner_may(struct file *file, const struct fkt_engine *engine);
int fkt_owner_lock(struct file *file, const struct fkt_engine *engine);
void fkt_owner_lock_drain(void);
void fkt_owner_relock(void);
bool fkt_owner_trylock(void);
void fkt_owner_unlock(void);
struct fkt_page *fkt_owner_collect(void);
bool fkt_owner_complete(void);
bool fkt_owner_readable(struct file *file);
void fkt_owner_reset(struct file *file);

/* ---- fetch.c: splice, sendfile and read by the owner ---- */

ssize_t fkt_fetch_splice(struct file *file, loff_t *ppos, struct pipe_inode_info *pipe, size_t len,
			 unsigned int flags);
ssize_t fkt_fetch_read(struct kiocb *iocb, struct iov_iter *to);
bool fkt_fetch_readable(void);
bool fkt_fetch_reclaim(void);
void fkt_fetch_reset(void);

/* ---- lend.c: pages lent to the owner in a mapping ---- */

int fkt_lend_take(struct file *file, struct fkt_lend *lend);
int fkt_lend_give(struct file *file, const struct fkt_lend *lend);
int fkt_lend_mmap(struct file *file, struct vm_area_struct *vma);
bool fkt_lend_readable(void);
void fkt_lend_overwrite(void);
void fkt_lend_inherit(struct list_head *list);
void fkt_lend_reset(struct file *file);

/* ---- start.c: checks the arguments of FKT_START ---- */

int fkt_start_check(const struct fkt_start *start);
struct file *fkt_start_output(const struct fkt_start *start);

/* ---- capture.c, steer.c: the state machine of the recording, and requests to it ---- */

int fkt_capture_start(struct file *owner, const struct fkt_start *start);
int fkt_capture_stop(struct file *owner);
int fkt_capture_opened(struct file *file);
void fkt_capture_closed(struct file *file);
void fkt_capture_end(enum fkt_stop_reason reason, int error);
int fkt_capture_mask(struct file *file, u64 set, u64 clear);
void fkt_capture_glance(struct fkt_status *status);
void fkt_capture_drained(void);
void fkt_capture_exit(void);
int fkt_capture_wait_ready(void);
int fkt_capture_free(struct file *file);
int fkt_capture_set_pow(struct file *file, u32 pow);
int fkt_capture_set_dma(struct file *file, u32 low);
int fkt_capture_join(struct file *file);
int fkt_capture_flight(struct file *file, enum fkt_flight_step step);
int fkt_capture_fired(struct file *file, struct fkt_fired *fired);
int fkt_capture_index(struct file *file, const struct fkt_index *index, u32 done,
		      struct fkt_index_entry *entries, u32 count);
bool fkt_capture_owner(const struct file *file);
enum fkt_state fkt_capture_state(void);

/* ---- status.c: FKT_STATUS and FKT_CPU_STATUS ---- */

void fkt_status(const struct file *file, struct fkt_status *status);
int fkt_cpu_status(struct fkt_cpu_status *status);

/* ---- attach.c: switches the hooks ---- */

int fkt_attach_init(void);
void fkt_attach_exit(void);
int fkt_attach_layers(u64 layers);
void fkt_detach_all(void);
void fkt_attach_wait(void);
u64 fkt_attach_missing(void);
void fkt_attach_start(void);
u64 fkt_attach_missed(void);

/* ---- access.c: what an opener may record ---- */

bool fkt_access_all(const struct file *file);
int fkt_access_start(const struct file *file, const struct fkt_start *start);
bool fkt_access_steer(const struct file *file, const struct file *owner);
bool fkt_access_memory(const struct file *file, u32 pow);
bool fkt_access_own(const struct cred *opener, const struct task_struct *task);

/* ---- filter.c: selects whose events are recorded ---- */

int fkt_filter_start(const struct file *owner, enum fkt_filter filter, pid_t pid);
int fkt_filter_adopt(void);
void fkt_filter_stop(void);
int fkt_filter_join(void);
void fkt_filter_own(const struct task_struct *task);

/* ---- probes/process.c ---- */

void fkt_process_introduce(const struct task_struct *task);

/* ---- clock.c ---- */

int fkt_clock_start(enum fkt_clock_source source);
u64 fkt_clock_khz(void);
int fkt_clock_read(struct fkt_clocks *clocks, bool recording);
void fkt_clock_emit(void);
void fkt_clock_park(void);
bool fkt_clock_wake(void);
u64 fkt_clock_slept_ns(void);

/* ---- power.c: suspend and hibernation ---- */

int fkt_power_init(void);
void fkt_power_exit(void);
void fkt_power_wake_clock(void);
int fkt_power_read_clocks(const struct file *file, struct fkt_clocks *clocks);

#endif /* FKT_MODULE_H */
