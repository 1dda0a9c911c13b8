/* SPDX-License-Identifier: GPL-2.0-only */
/* The pages of the rings, and the settings that say how many there are. */
#ifndef FKT_PAGE_POOL_H
#define FKT_PAGE_POOL_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct fkt_fetch;
struct fkt_recording;
struct page;

/* Smallest and largest number of 4 KiB pages per CPU, as powers of two. */
#define FKT_POW_MIN 1
#define FKT_POW_MAX 16
#define FKT_POW_DEFAULT 10

/*
 * For what is allocated beside the pages. These may have filled the caller's memory cgroup: then the start fails, and
 * the out-of-memory killer is not called.
 */
#define FKT_RING_GFP (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* An open file's recording and settings; in its private_data. */
struct fkt_opener {
	struct fkt_recording *recording;
	u32 pow; /* FKT_SETINITPOWPAGES */
	bool low; /* FKT_SETTRYDMA */
	u64 refused; /* FKT_REFUSED; not protected: of the last FKT_START or FKT_EXCHANGE that ended */
};

/*
 * One page of a ring: 1 << order physically contiguous frames, each with its own reference count, so
 * that splice can hand them out one by one.
 */
struct fkt_page {
	struct fkt_page_header *header;
	struct list_head node; /* in a pool, one of reader_splice.c's lists, or fkt_writeout.inherited */
	refcount_t refs; /* one for the pool, and one for each frame handed out by splice */
	u32 cpu;
	u32 events; /* copied from the header when the page was taken from its ring */
	u8 order;
	/* used by reader_splice.c only: */
	struct fkt_fetch *fetch; /* of the recording whose page it is, from when it is fetched */
	bool fetched; /* counted as written */
	bool copied; /* some frame is in two pipes */
	u32 unsent; /* first byte that must be handed out again, or FKT_ALL_SENT */
	/* used by reader_mmap.c only: */
	u32 number; /* place in the owner's mapping, or FKT_NO_NUMBER */
	bool lent; /* lent to the owner, or was when the owner died */
	u32 turn; /* position among the pages lent since the stop, from 1; 0: lent before the stop */
};

/* The pages of one CPU. */
struct fkt_pool {
	struct list_head pages; /* those that are not queued in the ring; between recordings all of them */
	unsigned int cpu;
	u32 kept; /* pages in the list */
	u32 count; /* all pages of this CPU */
	u32 wanted; /* configured number of pages; those above it are extra pages */
};

#define FKT_ALL_SENT U32_MAX
#define FKT_NO_NUMBER U32_MAX

u32 fkt_rings_page_bytes(void);
u32 fkt_pow_page_bytes(u32 pow);
u64 fkt_rings_bytes(void);
void fkt_pool_init(struct fkt_pool *pool, unsigned int cpu);
bool fkt_pool_suits(const struct fkt_opener *opener, u32 payer);
void fkt_pool_configure(const struct fkt_opener *opener, u32 payer);
int fkt_pool_fill(struct fkt_pool *pool);
int fkt_pool_add(struct fkt_pool *pool);
void fkt_pool_put(struct fkt_pool *pool, struct fkt_page *page);
void fkt_pool_free(struct fkt_pool *pool);
int fkt_page_renew(struct fkt_page *page);
void fkt_frames_put(struct page *frames, u32 bytes);
void fkt_page_unref(struct fkt_page *page);
bool fkt_page_alone(struct fkt_page *page);

#endif /* FKT_PAGE_POOL_H */
