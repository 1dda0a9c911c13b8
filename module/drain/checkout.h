/* SPDX-License-Identifier: GPL-2.0-only */
/* Takes frames back that were checked in to the page cache. */
#ifndef FKT_CHECKOUT_H
#define FKT_CHECKOUT_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct address_space;
struct fkt_status;
struct folio;
struct page;

/*
 * Pages are linked by the `lru` field of their first frame, which is free for this use while the frame
 * is on no list of the kernel.
 */
struct fkt_checkout {
	spinlock_t lock; /* protects the fields below; taken by the drain and the synchronising thread */
	struct list_head cached; /* pages in the page cache, in file order */
	struct list_head returned; /* pages that came back, in address order */
	u32 returned_pages; /* pages in `returned` */
	u32 returned_limit; /* largest number of pages to keep in `returned` */
	bool enabled; /* frames come back: this kernel allows it, and they need not be charged */
	u32 frames; /* frames per page */
	u64 pages_back, pages_given; /* pages that came back, and pages that did not */
};

void fkt_checkout_start(struct fkt_checkout *checkout, u64 most, bool may);
bool fkt_checkout_can(const struct fkt_checkout *checkout);
int fkt_checkout_add(struct address_space *mapping, struct folio *folio, pgoff_t index, gfp_t gfp);
void fkt_checkout_sent(struct fkt_checkout *checkout, struct page *frames);
void fkt_checkout_give_up(struct fkt_checkout *checkout, struct page *frames);
void fkt_checkout(struct fkt_checkout *checkout, struct address_space *mapping, loff_t from, loff_t upto);
struct page *fkt_checkout_frames(struct fkt_checkout *checkout, unsigned int cpu);
void fkt_checkout_stop(struct fkt_checkout *checkout);
void fkt_checkout_status(const struct fkt_checkout *checkout, struct fkt_status *status);

#endif /* FKT_CHECKOUT_H */
