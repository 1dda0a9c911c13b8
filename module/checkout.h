/* SPDX-License-Identifier: GPL-2.0-only */
/* Takes frames back that were checked in to the page cache. */
#ifndef FKT_CHECKOUT_H
#define FKT_CHECKOUT_H

#include <linux/types.h>

struct address_space;
struct fkt_status;
struct folio;
struct page;

void fkt_checkout_start(u64 most, bool may);
bool fkt_checkout_can(void);
int fkt_checkout_add(struct address_space *mapping, struct folio *folio, pgoff_t index, gfp_t gfp);
void fkt_checkout_sent(struct page *frames);
void fkt_checkout_give_up(struct page *frames);
void fkt_checkout(struct address_space *mapping, loff_t from, loff_t upto);
struct page *fkt_checkout_frames(unsigned int cpu);
void fkt_checkout_stop(void);
void fkt_checkout_status(struct fkt_status *status);

#endif /* FKT_CHECKOUT_H */
