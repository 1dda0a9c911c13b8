/* SPDX-License-Identifier: GPL-2.0-only */
/* The ways for pages to leave the rings. */
#ifndef FKT_ENGINE_H
#define FKT_ENGINE_H

#include <linux/fs.h>
#include <linux/types.h>

#include <fkt/ioctl.h>

struct fkt_chunk;

/* A way for pages to leave. Common to all engines: whole pages, in order per CPU, each given back once. */
struct fkt_engine {
	enum fkt_engine_id id;
	const char *name;
	/*
	 * Writes a chunk at chunk->pos. Must lead to exactly one call of fkt_chunk_written(), now or
	 * later, in any context. NULL: the owner takes the pages.
	 */
	void (*write)(struct fkt_chunk *chunk);
	/* Optional: called before the first write and after the last. */
	int (*start)(struct file *out, loff_t pos, u64 ring_bytes);
	void (*stop)(void);
	/* A CPU copies every byte. */
	bool copies;
	/* A written page is on the disk unchanged, and its header is still in memory. */
	bool remembers;
	/* While the owner takes the pages, CPUs with few free pages get extra ones. */
	bool refills;
	/* Optional: adds the engine's own figures to a status whose bytes_copied is set from `copies`. Lockless. */
	void (*status)(struct fkt_status *status);
};

extern const struct fkt_engine fkt_engine_direct;
extern const struct fkt_engine fkt_engine_buffered;
extern const struct fkt_engine fkt_engine_fetch;
extern const struct fkt_engine fkt_engine_checkin;
extern const struct fkt_engine fkt_engine_lend;

#endif /* FKT_ENGINE_H */
