/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * module/drain/writeout.c and module/drain/page_index.c with rings, an engine and an output that a test controls: which
 * pages are complete, how each write ends and when, how much room the output has. Pages have 4096 bytes and one event each.
 */
#ifndef FKT_WRITEOUT_HARNESS_H
#define FKT_WRITEOUT_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WRITEOUT_PAGE 4096
#define WRITEOUT_MOST 1000 /* pages, and writes */

struct writeout_setup {
	uint64_t start, limit; /* bytes; limit 0: none */
	uint64_t most; /* largest size of the output */
	uint64_t reserve;
	uint32_t reserve_per_page;
	bool is_device, allocates;
};

/* One call of the engine. */
struct writeout_write {
	uint64_t at; /* position in the output of the first byte */
	uint32_t bytes, pages;
	void *chunk;
};

/* What became of everything so far. */
struct writeout_seen {
	struct writeout_write writes[WRITEOUT_MOST];
	uint32_t count; /* of writes */
	uint32_t recycled[WRITEOUT_MOST]; /* numbers of pages that went back to their ring, in order */
	uint32_t recycled_count;
	uint32_t pooled; /* pages that went to their pool instead */
	uint64_t written, discarded; /* pages and events of all CPUs */
	int ended; /* times that the recording was ended */
	int reason, error; /* enum fkt_stop_reason of the first end, errno */
	uint64_t room[WRITEOUT_MOST]; /* bytes of each allocation that was tried */
	uint32_t rooms;
	uint64_t truncated;
};

extern struct writeout_seen writeout_seen;
/* Results of the next writes that are not asynchronous; 0: all bytes. */
extern int32_t writeout_results[WRITEOUT_MOST];
extern bool writeout_asynchronous; /* writes end by writeout_finish() */
/* Bytes that can be allocated; -errno: what an allocation returns. */
extern int64_t writeout_room;
extern int writeout_no_room; /* what an allocation of more than that returns: -errno */

void writeout_begin(const struct writeout_setup *setup);
/* Completes a page of a CPU; pages are numbered from 0. inherited: it was the dead owner's, which may still read it. */
void writeout_add_page(uint32_t cpu, bool inherited);
bool writeout_move(bool all);
/* Ends a write: bytes or -errno. */
void writeout_finish(const struct writeout_write *write, int32_t result);
bool writeout_is_busy(void);
void writeout_truncate(void);
bool writeout_fits(uint64_t upto, uint64_t *need);
/* Copies the index entry of a page of the output, of which only the sequence number is told. Returns 0 or -errno. */
int writeout_index(uint64_t page, uint32_t *seq);
void writeout_end(void);

#ifdef __cplusplus
}
#endif

#endif /* FKT_WRITEOUT_HARNESS_H */
