/* SPDX-License-Identifier: GPL-2.0-only */
/* The ways for pages to leave the rings. */
#ifndef FKT_ENGINE_H
#define FKT_ENGINE_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/types.h>

#include <fkt/ioctl.h>

struct fkt_chunk;
struct fkt_recording;

/* The system calls by which the owner takes pages. */
enum fkt_engine_takes {
	FKT_TAKES_READ = 1, /* splice, sendfile, read */
	FKT_TAKES_LENT = 2, /* FKT_TAKE, FKT_GIVE, mmap */
	FKT_TAKES_ANY = FKT_TAKES_READ | FKT_TAKES_LENT,
	FKT_TAKES_KFT = 4, /* none: kft/run.c takes the pages of recordings that /proc/kft began */
};

/*
 * A way for pages to leave. Common to all engines: whole pages, in order per CPU, each given back once.
 * Either the drain thread writes the pages (`write`), or the owner takes them (`takes`).
 */
struct fkt_engine {
	enum fkt_engine_id id;

	/* ---- the drain thread writes ---- */

	/*
	 * Writes a chunk at chunk->pos. Must lead to exactly one call of fkt_chunk_written(), now or
	 * later, in any context. NULL: the owner takes the pages.
	 */
	void (*write)(struct fkt_chunk *chunk);
	/*
	 * Optional: called before the first write and after the last. charged: page cache that the engine
	 * fills must be charged to the memory cgroup in use (charge.c).
	 */
	int (*start)(struct fkt_recording *rec, struct file *out, loff_t pos, u64 ring_bytes, bool charged);
	void (*stop)(struct fkt_recording *rec);
	/* A CPU copies every byte. */
	bool copies;
	/* A written page is on the disk unchanged, and its header is still in memory. */
	bool keeps_header;

	/* ---- the owner takes; the operations are called under the reader's lock (reader.c) ---- */

	/* FKT_TAKES_*; 0: the drain thread writes. */
	u32 takes;
	/* CPUs with few free pages get extra ones. */
	bool refills;
	/* Returns whether the owner could take a page. */
	bool (*readable)(struct fkt_recording *rec);
	/*
	 * Optional: gives pages back to their rings that nothing else references any more. Returns true
	 * if some are still referenced: then the drain thread must call it again soon.
	 */
	bool (*reclaim)(struct fkt_recording *rec);
	/* Optional, flight recorder: overwrites a page that the engine has taken from its ring in advance. */
	void (*overwrite)(struct fkt_recording *rec);
	/* With `inherit`: returns whether the owner, which died after the stop, has left pages to be written. */
	bool (*left)(struct fkt_recording *rec);
	/*
	 * Optional: the owner died; moves all pages that it has to `list`, each CPU's oldest first. Returns how many
	 * pages stand before these in the output.
	 */
	u32 (*inherit)(struct fkt_recording *rec, struct list_head *list);
	/*
	 * Optional: the recording has no owner any more; drops all pages. Those that other holders reference are
	 * freed later, without waiting. owner: its file, or NULL if that is closed.
	 */
	void (*reset)(struct fkt_recording *rec, struct file *owner);

	/* Optional: adds the engine's own figures to a status whose bytes_copied is set from `copies`. Lockless. */
	void (*status)(const struct fkt_recording *rec, struct fkt_status *status);
};

extern const struct fkt_engine fkt_engine_direct;
extern const struct fkt_engine fkt_engine_buffered;
extern const struct fkt_engine fkt_engine_sendfile;
extern const struct fkt_engine fkt_engine_checkin;
extern const struct fkt_engine fkt_engine_uring;
extern const struct fkt_engine fkt_engine_kft;

#endif /* FKT_ENGINE_H */
