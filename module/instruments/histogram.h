/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms of the values of hits, by key. Each CPU has a table of its own, so that hits are counted without locks. */
#ifndef FKT_HISTOGRAM_H
#define FKT_HISTOGRAM_H

#include <linux/types.h>

struct fkt_histogram;
struct fkt_histogram_row;
struct fkt_instrument;

struct fkt_histogram *fkt_histogram_make(const struct fkt_instrument *instrument);
void fkt_histogram_free(struct fkt_histogram *histogram);
size_t fkt_histogram_bytes(const struct fkt_instrument *instrument);
bool fkt_histogram_add(const struct fkt_histogram *histogram, const u64 *words, u32 n);
u32 fkt_histogram_read(const struct fkt_histogram *histogram, u32 *from, struct fkt_histogram_row *rows, u32 most);

#endif /* FKT_HISTOGRAM_H */
